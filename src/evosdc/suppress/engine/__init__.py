"""Patterns on a table that stay safe while they change, by network or in general."""
