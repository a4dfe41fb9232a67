"""One file per method (registry.py finds them by name)."""
