"""Primary rules on contributors: what makes a cell sensitive, and by how much."""

from evosdc.rules.concentration import (
    Dominance,
    PPercent,
    PriorPosterior,
    rest_limit,
)
from evosdc.rules.contributors import CellContributors
from evosdc.rules.counting import Frequency, Manual, Request, ZeroUnsafe
from evosdc.rules.group import Group
from evosdc.rules.mark import Marks, Rule, mark, rule_text
from evosdc.rules.parse import parse_rule, parse_rules
from evosdc.rules.presets import PRESETS
from evosdc.rules.status import set_status

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
