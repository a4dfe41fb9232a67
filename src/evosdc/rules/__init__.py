"""Primary rules on contributors: what makes a cell sensitive, and by how much."""

from evosdc.options.rules import PRESETS
from evosdc.rules.concentration import (
    Dominance,
    PPercent,
    PriorPosterior,
    rest_limit,
)
from evosdc.rules.counting import Frequency, Manual, Request, ZeroUnsafe
from evosdc.rules.group import Group
from evosdc.rules.rule import CellContributors, Rule
from evosdc.rules.status import set_status
from evosdc.rules.text import Marks, mark, parse_rule, parse_rules, rule_text

__all__ = [
    "PRESETS",
    "CellContributors",
    "Dominance",
    "Frequency",
    "Group",
    "Manual",
    "Marks",
    "PPercent",
    "PriorPosterior",
    "Request",
    "Rule",
    "ZeroUnsafe",
    "mark",
    "parse_rule",
    "parse_rules",
    "rest_limit",
    "rule_text",
    "set_status",
]
