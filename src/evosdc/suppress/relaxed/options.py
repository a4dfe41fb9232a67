"""Options that several methods share, and how they are refused."""

from __future__ import annotations

from collections.abc import Iterable

from evosdc.errors import MethodError

# The two readings of the relaxed check.
CHECKS = ("slack", "claims")
# Orders of the sensitive cells.
ORDERS = ("weight", "given")
# What makes a cell good to hide.
RULES = ("cheapest", "per-unit", "largest", "ahead")


def known(name: str, value: str, choices: Iterable[str]) -> None:
    """Refuse an option that is not among its choices."""
    if value not in choices:
        raise MethodError(f"{name} {value!r}", expected=f"one of {', '.join(choices)}")


def at_least(least: float, **numbers: float) -> None:
    """Refuse numbers that are too small."""
    for name, value in numbers.items():
        if not value >= least:
            raise MethodError(f"{name} is {value}", expected=f"at least {least:g}")
