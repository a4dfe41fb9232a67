"""Seeded generators of every benchmark family, and a set of firms for the demo."""

from evosdc.instances.business import Business, business
from evosdc.instances.registry import Family, families, find_family, make

__all__ = ["Business", "Family", "business", "families", "find_family", "make"]
