"""Building a safe pattern from nothing."""
