"""One run of a method: its budget, its entry in the registry, its workers."""
