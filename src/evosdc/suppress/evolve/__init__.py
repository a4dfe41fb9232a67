"""Evolutionary and local search for cheaper patterns."""
