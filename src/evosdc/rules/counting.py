"""Rules that count or look at requests: frequency, zeros, requests, manual status.

Their levels are a share of the response that the user sets, or an absolute range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.rules.rule import CellContributors, Marking, require
from evosdc.table.rounding import ROUNDING


@dataclass(frozen=True)
class Frequency:
    """Unsafe with fewer than `n` contributors; the level is `percent` % of the cell.

    Who contributes nothing to a magnitude is no contributor: three firms of which two
    report 0 are one. A cell of zeros only is left to `ZeroUnsafe`. With sampling
    weights the contributors are those in the population, the sum of weights, as
    tau-Argus counts them. Where records belong to holdings, holdings are counted,
    unless `count` says records. The share is of the contributions without
    their sign and never below the floor of the table: +500 and -500 are not nothing.

    Examples
    --------
    >>> import evosdc
    >>> firms = {"region": ["N", "N", "N", "S"], "sales": [90, 8, 7, 40]}
    >>> rules = [evosdc.Frequency(n=3)]
    >>> evosdc.tabulate(firms, ["region"], "sales", rules=rules).table.origin.rules
    (('freq:3', 1),)
    """

    n: int
    percent: float = 30.0
    count: Literal["contributors", "records"] = "contributors"
    name: ClassVar[str] = "freq"
    needs: ClassVar[int] = 0

    def __post_init__(self) -> None:
        require(self.n >= 1, f"a minimum frequency of {self.n}", "at least 1")
        require(
            self.count in ("contributors", "records"),
            f"a frequency rule that counts {self.count!r}",
            "contributors or records",
        )
        _check_percent(self.percent)

    def apply(self, contributors: CellContributors) -> Marking:
        """Say which cells are unsafe and how far they must be covered up and down."""
        every: NDArray[Any] = contributors.units
        active: NDArray[Any] | None = contributors.active
        if contributors.holdings is not None and self.count == "contributors":
            every, active = contributors.holdings, contributors.active_holdings
        counted = np.asarray(every if active is None else active, dtype=np.float64)
        few = (counted > 0) & (counted < self.n * (1 - ROUNDING))
        return _share(contributors, few & contributors.has_protected, self.percent)


@dataclass(frozen=True)
class ZeroUnsafe:
    """Unsafe when contributors sum to 0: everyone learns that each of them has nothing.

    The upper level is an absolute `range`; there is no lower one, as nobody doubts that
    the value is 0 or more.

    Examples
    --------
    >>> import evosdc
    >>> firms = {"region": ["N", "N", "N", "S"], "sales": [90, 8, 7, 40]}
    >>> rules = [evosdc.ZeroUnsafe(range=10)]
    >>> evosdc.tabulate(firms, ["region"], "sales", rules=rules).table.origin.rules
    (('zero:10', 0),)
    """

    range: float
    name: ClassVar[str] = "zero"
    needs: ClassVar[int] = 0

    def __post_init__(self) -> None:
        require(
            bool(np.isfinite(self.range) and self.range > 0),
            f"a range of {self.range:g} for zeros",
            "a number above 0",
        )

    def apply(self, contributors: CellContributors) -> Marking:
        """Say which cells are unsafe and how far they must be covered up."""
        unsafe = (contributors.value == 0) & (contributors.units > 0)
        unsafe &= contributors.has_protected
        return unsafe, np.where(unsafe, self.range, 0.0), np.zeros(len(contributors))


@dataclass(frozen=True)
class Request:
    """Unsafe when one who asked for protection has too large a share.

    tau-Argus' request rule, used in foreign trade: records carry one of two `codes` of
    request (or none), and a cell is unsafe when the contribution of someone who asked
    exceeds `percent` (first code) or `percent_second` (second code) of the cell. The
    level is `margin` % of the value. With sampling weights one contribution is compared
    with the weighted cell.

    Examples
    --------
    >>> import evosdc
    >>> evosdc.Request(percent=70, margin=10).name
    'req'
    """

    percent: float
    percent_second: float | None = None
    margin: float = 20.0
    codes: tuple[str, str] = ("1", "2")
    name: ClassVar[str] = "req"
    needs: ClassVar[int] = 0

    def __post_init__(self) -> None:
        for share in (self.percent, self.percent_second):
            if share is not None:
                require(
                    0 <= share < 100,
                    f"a request rule with a share of {share:g} %",
                    "a share from 0 to below 100",
                )
        _check_percent(self.margin)

    def apply(self, contributors: CellContributors) -> Marking:
        """Say which cells are unsafe and how far they must be covered up and down."""
        if contributors.asking is None:
            raise InputError(
                "a request rule, but nobody was asked",
                expected="a request column in the records",
                hint="name the column of the request, or leave the rule out",
            )
        second = self.percent if self.percent_second is None else self.percent_second
        limit = np.outer(contributors.total, [self.percent / 100, second / 100])
        slack = ROUNDING * contributors.total[:, None]
        unsafe = np.any(contributors.asking > limit + slack, axis=1)
        return _share(contributors, unsafe, self.margin)


@dataclass(frozen=True)
class Manual:
    """Every cell that it is given is unsafe, with `percent` % of it as level.

    Not for a whole table: `set_status` gives it the cells that a user calls unsafe.

    Examples
    --------
    >>> import evosdc
    >>> evosdc.Manual(percent=10).name
    'man'
    """

    percent: float = 20.0
    name: ClassVar[str] = "man"
    needs: ClassVar[int] = 0

    def __post_init__(self) -> None:
        _check_percent(self.percent)

    def apply(self, contributors: CellContributors) -> Marking:
        """Mark every cell and say how far it must be covered up and down."""
        return _share(contributors, np.ones(len(contributors), bool), self.percent)


def _share(
    contributors: CellContributors, unsafe: np.ndarray, percent: float
) -> Marking:
    size = np.maximum(contributors.size, np.abs(contributors.value))
    share = np.maximum(percent / 100.0 * size, contributors.floor)
    level = np.where(unsafe, share, 0.0)
    return unsafe, level, level.copy()


def _check_percent(percent: float) -> None:
    require(
        bool(np.isfinite(percent) and percent >= 0),
        f"a safety margin of {percent:g} %",
        "a number of 0 or more",
    )
