"""Utility and risk of synthetic data, one class a metric."""
