"""What a primary rule is."""

from __future__ import annotations

from typing import Protocol

from evosdc.errors import InputError
from evosdc.rules.contributors import CellContributors, Marking


class Rule(Protocol):
    """Something that calls cells unsafe, and says how far each must be covered.

    A rule on the largest contributions may also have `rest`: the share of the largest
    below which what the others have is too little (see `evosdc.rules.rest_limit`).

    Examples
    --------
    >>> import evosdc
    >>> rule: evosdc.Rule = evosdc.PPercent(10)
    >>> rule.name, rule.needs
    ('p', 2)
    """

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        ...

    @property
    def needs(self) -> int:
        """Number of the largest contributions that it uses."""
        ...

    def apply(self, contributors: CellContributors) -> Marking:
        """Return which cells are unsafe, their upper and their lower levels."""
        ...


def require(holds: bool, what: str, expected: str) -> None:
    """Refuse a parameter of a rule that is out of its range."""
    if not holds:
        raise InputError(what, expected=expected, hint="change the rule")
