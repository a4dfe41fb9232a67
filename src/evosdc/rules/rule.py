"""What a primary rule is, and the contributors of each cell that it looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.table.rounding import ROUNDING

Numbers = NDArray[np.float64]
Marking = tuple[NDArray[np.bool_], Numbers, Numbers]


@dataclass(frozen=True, eq=False)
class CellContributors:
    """The contributors of each cell, one entry per cell.

    Contributions are taken without their sign, as GaussSuppression takes them: what a
    contributor can work out depends on how large the others are, not on their sign.
    Contributions of one holding are summed, with sign, before that.

    Attributes
    ----------
    value
        The response of the cell, as published.
    size
        Sum of the contributions to the response without sign, sampling weights applied.
        Equals `value` where nothing is negative.
    total
        The same of the variable rules look at: the shadow variable, else the response.
    units
        Number of records, or the number they stand for where there are weights.
    active, active_holdings
        The units and holdings whose contribution to the response is not zero: those
        that a minimum frequency counts. None means all of them.
    largest
        The largest contributions of the variable rules look at, one row per cell, in
        descending order, 0 where there are no more. Without sampling weights.
    weights
        Sampling weights that go with `largest`; None means 1.
    holdings
        Number of holdings, where records belong to holdings.
    asking
        Largest contribution of those who asked for protection, a column for each of
        the two codes of the request; None where nobody was asked.
    shadow
        Whether `total` and `largest` are of another variable than the response.
    floor
        The lowest level of rules whose level is a share of the value: a share of zero
        would protect nobody.
    target, needing
        Where some contributors consented: the largest contribution of those who did
        not, and how many they are. None where nobody was asked for consent.
    """

    value: Numbers
    size: Numbers
    total: Numbers
    units: Numbers
    largest: Numbers
    active: Numbers | None = None
    weights: Numbers | None = None
    holdings: NDArray[np.int64] | None = None
    active_holdings: NDArray[np.int64] | None = None
    asking: Numbers | None = None
    shadow: bool = False
    floor: float = 0.0
    target: Numbers | None = None
    needing: Numbers | None = None

    @classmethod
    def of(
        cls,
        contributions: list[list[float]],
        weights: list[list[float]] | None = None,
        **others: Any,
    ) -> CellContributors:
        """List every contribution of every cell; for small tables and examples."""
        # Padded with zeros: no rule in use looks at more than ten contributions.
        width = max([10, *(len(row) for row in contributions)])
        largest = np.zeros((len(contributions), width))
        weight = np.zeros_like(largest)
        value, size, units, active = (np.zeros(len(contributions)) for _ in range(4))
        for cell, row in enumerate(contributions):
            x = np.array(row, dtype=np.float64)
            w = np.ones(len(x)) if weights is None else np.array(weights[cell])
            order = np.lexsort((-w, -np.abs(x)))
            largest[cell, : len(x)] = np.abs(x)[order]
            weight[cell, : len(x)] = w[order]
            value[cell], size[cell] = x @ w, np.abs(x) @ w
            units[cell], active[cell] = w.sum(), w[x != 0].sum()
        columns: dict[str, Any] = {
            "value": value,
            "size": size,
            "total": size,
            "units": units,
            "active": active,
            "largest": largest,
            "weights": None if weights is None else weight,
        }
        return cls(**(columns | others))

    def __len__(self) -> int:
        return len(self.value)

    @property
    def scale(self) -> Numbers:
        """Units of the response per unit of the variable that rules look at.

        1 without a shadow variable; 0 where there is nothing to look at.
        """
        if not self.shadow:
            return np.ones(len(self))
        safe = np.where(self.total > 0, self.total, 1.0)
        return np.where(self.total > 0, self.size / safe, 0.0)

    @property
    def has_protected(self) -> NDArray[np.bool_]:
        """Whether a cell has a contributor who did not consent."""
        if self.needing is None:
            return np.ones(len(self), dtype=bool)
        return np.asarray(self.needing > 0)

    def dominated(self, limit: float) -> NDArray[np.bool_]:
        """Whether one contributor has nearly all of a cell with other contributors.

        The others together have less than `limit` times the largest contribution.
        """
        largest = self.leading(1)
        rest = self.total - largest
        others = rest > ROUNDING * self.total
        return np.asarray(others & (rest < limit * largest * (1 - ROUNDING)))

    def leading(self, n: int) -> Numbers:
        """Sum of the `n` largest contributions in the population of each cell.

        With sampling weights a record of weight 2.3 stands for 2.3 contributors of its
        size and fills as many of the `n` places; the last one in fills what is left
        (Hundepool et al. 2012, Statistical Disclosure Control, p. 151; so does
        tau-Argus). At most `n` records are used, also when weights are below 1.
        """
        if self.largest.shape[1] < n:
            raise InputError(
                f"{self.largest.shape[1]} largest contributions of a cell",
                expected=f"the {n} largest, which the rule looks at",
                hint="keep as many contributions of each cell as the rules need",
            )
        top = self.largest[:, :n]
        if self.weights is None:
            return np.asarray(top.sum(axis=1))
        weight = self.weights[:, :n]
        before = np.cumsum(weight, axis=1) - weight
        places = np.clip(n - before, 0.0, weight)
        return np.asarray((top * places).sum(axis=1))


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
