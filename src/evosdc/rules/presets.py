"""Sets of rules in common use, as data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PRESETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # Magnitudes of firms: the p % rule with a minimum of three contributors, which
        # the Handbook on Statistical Disclosure Control prefers to dominance.
        "business": ("p:10", "freq:3"),
        # French business statistics: one firm above 85 %, fewer than three firms.
        "dominance": ("nk:1,85", "freq:3"),
        # Foreign trade: passive confidentiality, hidden only on request.
        "trade": ("req:70",),
        # Counts of people.
        "counts": ("freq:3",),
    }
)
