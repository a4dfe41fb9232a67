"""What options that several methods share may be."""

from __future__ import annotations

# The two readings of the relaxed check.
CHECKS = ("slack", "claims")
# Orders of the sensitive cells.
ORDERS = ("weight", "given")
# What makes a cell good to hide.
RULES = ("cheapest", "per-unit", "largest", "ahead")
