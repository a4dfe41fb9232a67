"""One file per method (run/registry.py finds them by name)."""
