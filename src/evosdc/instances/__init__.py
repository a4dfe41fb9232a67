"""Seeded generators of every benchmark family."""
