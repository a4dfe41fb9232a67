"""Evolutionary operators of both jobs: selection, replacement, rates, stopping."""
