"""The verbs of the library."""
