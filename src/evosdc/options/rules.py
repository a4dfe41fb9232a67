"""The primary rules, once: where each is, an example, and what the public is told.

Strings alone: help texts and reports read them without importing a rule. A new rule is
a module of `evosdc.rules` and a line of `RULES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class ListedRule(NamedTuple):
    """A rule of the registry.

    Attributes
    ----------
    home
        Its module and class.
    example
        The short form that help texts show.
    public
        Its name in the report to share, which tells no parameter.
    """

    home: str
    example: str
    public: str


RULES: Mapping[str, ListedRule] = MappingProxyType(
    {
        "p": ListedRule("evosdc.rules.concentration:PPercent", "p:15", "the p % rule"),
        "nk": ListedRule(
            "evosdc.rules.concentration:Dominance", "nk:1,75", "the dominance rule"
        ),
        "pq": ListedRule(
            "evosdc.rules.concentration:PriorPosterior",
            "pq:10,100",
            "the prior-posterior rule",
        ),
        "freq": ListedRule(
            "evosdc.rules.counting:Frequency", "freq:3", "a minimum frequency"
        ),
        "zero": ListedRule(
            "evosdc.rules.counting:ZeroUnsafe", "zero:10", "empty cells"
        ),
        "req": ListedRule(
            "evosdc.rules.counting:Request", "req:70", "requests of respondents"
        ),
        "group": ListedRule(
            "evosdc.rules.group:Group", "group", "groups that are all of one kind"
        ),
    }
)

# Sets of rules in common use.
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


def rules_help() -> str:
    """Return the rules and presets as a help text lists them."""
    examples = ", ".join(rule.example for rule in RULES.values())
    return f"{examples}, a preset ({', '.join(PRESETS)}), or none."
