"""Rules on the largest contributions: dominance, p % and prior-posterior.

All of them see contributions without sign and, with a shadow variable, give levels
rescaled to the response (tau-Argus manual, section on protection levels).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evosdc.rules.rule import CellContributors, Marking, Numbers, require
from evosdc.table.rounding import ROUNDING

# Share of the largest contribution that the others must have, where no rule says it.
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
        require(self.n >= 1, f"dominance of {self.n} contributors", "at least 1")
        require(0 < self.k < 100, f"dominance above {self.k:g} %", "0 < k < 100")

    @property
    def rest(self) -> float | None:
        """Share of the largest contribution that must be left over; of n = 1 only."""
        return 100.0 / self.k - 1.0 if self.n == 1 else None

    @property
    def needs(self) -> int:
        """Number of the largest contributions that the rule uses."""
        return self.n

    def apply(self, contributors: CellContributors) -> Marking:
        """Say which cells are unsafe and how far they must be covered up and down."""
        missing = 100.0 / self.k * contributors.leading(self.n) - contributors.total
        if contributors.target is not None:
            # Safe where all of those who dominate consented.
            last = contributors.largest[:, self.n - 1]
            others = (contributors.target < last) | ~contributors.has_protected
            missing = np.where(others, 0.0, missing)
        return _marked(contributors, missing)


class _Estimation:
    """What the p % and the prior-posterior rule share: someone estimates the largest.

    The second largest (or the next `n_coalition` together) subtract what they know from
    the cell; what is left over the largest must be at least the share `rest` of it.
    """

    n_coalition: int

    @property
    @abstractmethod
    def rest(self) -> float:
        """Share of the largest contribution that must be left over."""

    @property
    def needs(self) -> int:
        """Number of the largest contributions that the rule uses."""
        return self.n_coalition + 1

    def apply(self, contributors: CellContributors) -> Marking:
        """Say which cells are unsafe and how far they must be covered up and down."""
        top, coalition = contributors.largest, self.n_coalition
        first = top[:, 0] if top.shape[1] else np.zeros(len(contributors))
        known = contributors.leading(coalition + 1)
        if contributors.target is not None:
            # The largest who did not consent is estimated by the largest of the others.
            first = contributors.target
            among = first >= top[:, coalition]
            known = np.where(among, known, first + contributors.leading(coalition))
        missing = self.rest * first - (contributors.total - known)
        return _marked(contributors, np.where(contributors.has_protected, missing, 0.0))


@dataclass(frozen=True)
class PPercent(_Estimation):
    """Unsafe when someone can estimate the largest contribution to within `p` %.

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
        require(self.p > 0, f"a p % rule with p = {self.p:g}", "p above 0")
        require(
            self.n_coalition >= 1, f"a coalition of {self.n_coalition}", "at least 1"
        )

    @property
    def rest(self) -> float:
        """Share of the largest contribution that must be left over."""
        return self.p / 100.0


@dataclass(frozen=True)
class PriorPosterior(_Estimation):
    """The p % rule for an attacker who already knew the others to within `q` %.

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
        require(
            0 < self.p < self.q,
            f"a (p,q) rule with p = {self.p:g} and q = {self.q:g}",
            "0 < p < q",
        )
        require(
            self.n_coalition >= 1, f"a coalition of {self.n_coalition}", "at least 1"
        )

    @property
    def rest(self) -> float:
        """Share of the largest contribution that must be left over."""
        return self.p / self.q


def rest_limit(rules: Iterable[object]) -> float:
    """Return the share of the largest contribution that the rules want left over.

    Where the others together have less than this share of the largest contribution,
    the largest contributor knows the cell more closely than the rules let anyone know
    a contribution. A tenth where no rule says it.
    """
    found = [getattr(rule, "rest", None) for rule in rules]
    return max((x for x in found if x is not None), default=_DEFAULT_REST)


def _marked(contributors: CellContributors, missing: Numbers) -> Marking:
    unsafe = missing > ROUNDING * contributors.total
    level = np.where(unsafe, missing * contributors.scale, 0.0)
    return unsafe, level, level.copy()
