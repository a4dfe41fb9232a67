"""Rules on the largest contributions: dominance, p % and prior-posterior.

All of them see contributions without sign and, with a shadow variable, give levels
rescaled to the response (tau-Argus manual, section on protection levels).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evosdc.errors import InputError
from evosdc.rules.contributors import CellContributors, Marking, Numbers
from evosdc.table.rounding import ROUNDING

# What is too little for the others, as a share of the largest, where no rule says it.
_DEFAULT_REST = 0.1


@dataclass(frozen=True)
class Dominance:
    """Unsafe when the `n` largest contribute more than `k` % of the cell.

    The level is what the cell must grow by for them to be `k` % of it:
    ``(100 / k) * (x1 + ... + xn) - X``.

    Examples
    --------
    >>> import evosdc
    >>> firms = {"region": ["N", "N", "N", "S"], "sales": [90, 8, 7, 40]}
    >>> rules = [evosdc.Dominance(n=1, k=75)]
    >>> evosdc.tabulate(firms, ["region"], "sales", rules=rules).table.origin.rules
    (('nk:1,75', 2),)
    """

    n: int
    k: float
    name: ClassVar[str] = "nk"

    def __post_init__(self) -> None:
        _require(self.n >= 1, f"dominance of {self.n} contributors", "at least 1")
        _require(0 < self.k < 100, f"dominance above {self.k:g} %", "0 < k < 100")

    @property
    def needs(self) -> int:
        """How many of the largest contributions are looked at."""
        return self.n

    def apply(self, contributors: CellContributors) -> Marking:
        """Say which cells are unsafe and how far they must be covered up and down."""
        missing = 100.0 / self.k * contributors.leading(self.n) - contributors.total
        if contributors.target is not None:
            # Nobody who needs protection is among those who dominate.
            last = contributors.largest[:, self.n - 1]
            others = (contributors.target < last) | ~contributors.someone
            missing = np.where(others, 0.0, missing)
        return _verdict(contributors, missing)


@dataclass(frozen=True)
class PPercent:
    """Unsafe when someone can tell the largest contribution to within `p` %.

    The second largest (or the next `n_coalition` together) subtract what they know from
    the cell; what is left over the largest must be at least `p` % of it. The level is
    what is missing: ``(p / 100) * x1 - (X - x1 - ... - x(n_coalition + 1))``. A cell of
    one or two contributors is thus always unsafe, with `p` % of the largest as level.

    Examples
    --------
    >>> import evosdc
    >>> firms = {"region": ["N", "N", "N", "S"], "sales": [90, 8, 7, 40]}
    >>> rules = [evosdc.PPercent(p=10)]
    >>> evosdc.tabulate(firms, ["region"], "sales", rules=rules).table.origin.rules
    (('p:10', 2),)
    """

    p: float
    n_coalition: int = 1
    name: ClassVar[str] = "p"

    def __post_init__(self) -> None:
        _require(self.p > 0, f"a p % rule with p = {self.p:g}", "p above 0")
        _require(
            self.n_coalition >= 1, f"a coalition of {self.n_coalition}", "at least 1"
        )

    @property
    def needs(self) -> int:
        """How many of the largest contributions are looked at."""
        return self.n_coalition + 1

    def apply(self, contributors: CellContributors) -> Marking:
        """Say which cells are unsafe and how far they must be covered up and down."""
        return _estimate(contributors, self.p / 100.0, self.n_coalition)


@dataclass(frozen=True)
class PriorPosterior:
    """The p % rule for an insider who already knew the others to within `q` %.

    The level is that of the p % rule with ``p / q`` for ``p / 100``.

    Examples
    --------
    >>> import evosdc
    >>> firms = {"region": ["N", "N", "N", "S"], "sales": [90, 8, 7, 40]}
    >>> rules = [evosdc.PriorPosterior(p=10, q=100)]
    >>> evosdc.tabulate(firms, ["region"], "sales", rules=rules).table.origin.rules
    (('pq:10,100', 2),)
    """

    p: float
    q: float
    n_coalition: int = 1
    name: ClassVar[str] = "pq"

    def __post_init__(self) -> None:
        _require(
            0 < self.p < self.q,
            f"a (p,q) rule with p = {self.p:g} and q = {self.q:g}",
            "0 < p < q",
        )
        _require(
            self.n_coalition >= 1, f"a coalition of {self.n_coalition}", "at least 1"
        )

    @property
    def needs(self) -> int:
        """How many of the largest contributions are looked at."""
        return self.n_coalition + 1

    def apply(self, contributors: CellContributors) -> Marking:
        """Say which cells are unsafe and how far they must be covered up and down."""
        return _estimate(contributors, self.p / self.q, self.n_coalition)


def rest_limit(rules: Iterable[object]) -> float:
    """Return what share of the largest contribution the rules call too close.

    A contributor beside whom the others have less than this knows the cell as closely
    as no rule lets anyone know a contribution. A tenth where no rule says it.
    """
    found = [
        rule.p / 100.0
        if isinstance(rule, PPercent)
        else rule.p / rule.q
        if isinstance(rule, PriorPosterior)
        else 100.0 / rule.k - 1.0
        for rule in rules
        if isinstance(rule, (PPercent, PriorPosterior))
        or (isinstance(rule, Dominance) and rule.n == 1)
    ]
    return max(found, default=_DEFAULT_REST)


def _estimate(contributors: CellContributors, share: float, coalition: int) -> Marking:
    top = contributors.largest
    first = top[:, 0] if top.shape[1] else np.zeros(len(contributors))
    known = contributors.leading(coalition + 1)
    if contributors.target is not None:
        # The largest who did not consent is looked for, by the largest of the others.
        first = contributors.target
        among = first >= top[:, coalition]
        known = np.where(among, known, first + contributors.leading(coalition))
    missing = share * first - (contributors.total - known)
    return _verdict(contributors, np.where(contributors.someone, missing, 0.0))


def _verdict(contributors: CellContributors, missing: Numbers) -> Marking:
    unsafe = missing > ROUNDING * contributors.total
    level = np.where(unsafe, missing * contributors.scale, 0.0)
    return unsafe, level, level.copy()


def _require(holds: bool, what: str, expected: str) -> None:
    if not holds:
        raise InputError(what, expected=expected, hint="change the rule")
