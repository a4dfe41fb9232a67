"""The small shared engine: population, selection, replacement, stopping, record."""
