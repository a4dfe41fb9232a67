"""The table: cells, sparse equations and protection levels.

Hierarchies, dimensions and links are only more equations of one sparse matrix; labels
serve readers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evosdc.errors import InputError, NotAdditiveError, TableError
from evosdc.table.contributions import Contributions
from evosdc.table.hierarchy import Dimension
from evosdc.table.index import CellIndex, first_of, label_of
from evosdc.table.origin import Origin
from evosdc.table.rounding import at_the_bound
from evosdc.table.status import (
    FIXED,
    HIDDEN,
    LEVELS,
    PRIMARY,
    SAFE,
    SECONDARY,
    STATUSES,
)
from evosdc.table.structure import Network, detect_network, natural_floor

# A table is additive when each equation holds to this share of its largest term:
# totals read from text are rounded to the last digit printed.
ADDITIVITY = 1e-6
# Solvers take numbers of this size for infinite.
LARGEST = 1e20
_COLUMNS = ("weight", "status", "lower", "upper", *LEVELS)


def default_columns(value: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return default columns; the lower bounds, NaN here, depend on the equations."""
    n = len(value)
    return {
        "weight": np.abs(value),
        "status": np.where(value == 0, FIXED, SAFE).astype("U1"),
        "lower": np.full(n, np.nan),
        "upper": np.full(n, np.inf),
        **{level: np.zeros(n) for level in LEVELS},
    }


def refuse_too_large(size: float, what: str) -> None:
    """Refuse numbers whose sizes add up to more than can be computed with."""
    if not size < LARGEST:
        raise InputError(
            f"{what} add up to {LARGEST:g} or more",
            expected="smaller numbers, with which a computer can add and compare",
            hint="correct them, or give them in a larger unit, such as millions",
        )


def _copied(column: ArrayLike | None, dtype: Any) -> NDArray[Any] | None:
    return None if column is None else np.array(column, dtype)


@dataclass(frozen=True, eq=False)
class Table:
    """A table of magnitudes or counts and its equations; never changed in place.

    Attributes
    ----------
    value, weight
        The content of each cell and what hiding it costs.
    status
        One letter per cell: see `evosdc.table.status`.
    lower, upper
        External bounds: what everyone knows of the cell beforehand. May be infinite.
    lpl, upl, spl
        Protection levels, as distances: an attacker's interval must reach
        ``value - lpl`` and ``value + upl`` and be at least ``spl`` wide.
    matrix, rhs
        Equations ``matrix @ value = rhs``, as CSR.
    dimensions, codes
        Labels: node numbers in the hierarchies of `dimensions`, one row per cell.
        Empty where only equations are known (JJ files).
    frequency
        Number of contributors of each cell, where known.
    holdings
        Number of contributors with each holding counted once, where known.
    respondent
        The lone contributor of each cell as a keyed hash; blank where there are more.
        None where unknown: totals then tell which cells have the same one.
    contributions
        The two largest contributors of each cell and their contributions; None where
        they were not tabulated.
    unshown
        Cells that no table shows and whose sums linked tables are: never published and
        never judged. None where there are none.
    origin
        How the table was made: rules, prior knowledge, consent.
    name
        The response variable, for display.
    notes
        Sentences on what was assumed when the table was read.
    """

    value: NDArray[np.float64]
    weight: NDArray[np.float64]
    status: NDArray[np.str_]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    lpl: NDArray[np.float64]
    upl: NDArray[np.float64]
    spl: NDArray[np.float64]
    matrix: Any
    rhs: NDArray[np.float64]
    dimensions: tuple[Dimension, ...] = ()
    codes: NDArray[np.int32] = field(
        default_factory=lambda: np.empty((0, 0), dtype=np.int32)
    )
    frequency: NDArray[np.int64] | None = None
    name: str = "value"
    holdings: NDArray[np.int64] | None = None
    respondent: NDArray[np.str_] | None = None
    contributions: Contributions | None = None
    unshown: NDArray[np.bool_] | None = None
    origin: Origin = field(default_factory=Origin)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        value: ArrayLike,
        matrix: Any,
        *,
        rhs: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        status: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        lpl: ArrayLike | None = None,
        upl: ArrayLike | None = None,
        spl: ArrayLike | None = None,
        dimensions: Iterable[Dimension] = (),
        codes: ArrayLike | None = None,
        frequency: ArrayLike | None = None,
        name: str = "value",
        holdings: ArrayLike | None = None,
        respondent: ArrayLike | None = None,
        contributions: Contributions | None = None,
        unshown: ArrayLike | None = None,
        origin: Origin | None = None,
        notes: Iterable[str] = (),
    ) -> Table:
        """Build a table from arrays, fill in the defaults and check it.

        Weight defaults to ``|value|``, status to safe (fixed for zeros), levels to 0.
        A lower bound that is not given (or NaN) is 0, and open for negative values and
        for totals of negative parts; an upper bound is open.
        """
        v = np.array(value, dtype=np.float64).ravel()
        n = len(v)
        columns = default_columns(v)
        given = (weight, status, lower, upper, lpl, upl, spl)
        for (key, default), column in zip(columns.items(), given, strict=True):
            if column is not None:
                filled = np.broadcast_to(np.asarray(column, default.dtype), (n,))
                columns[key] = filled.copy()
        rows = sparse.csr_array(matrix, dtype=np.float64)
        unknown = np.isnan(columns["lower"])
        if unknown.any() and rows.shape[1] == n:
            columns["lower"][unknown] = natural_floor(v, rows)[unknown]
        right = np.zeros(rows.shape[0]) if rhs is None else rhs
        labels = np.empty((n, 0)) if codes is None else np.reshape(codes, (n, -1))
        table = cls(
            value=v,
            **columns,
            matrix=rows,
            rhs=np.array(right, dtype=np.float64).ravel(),
            dimensions=tuple(dimensions),
            codes=np.array(labels, dtype=np.int32),
            frequency=_copied(frequency, np.int64),
            name=name,
            holdings=_copied(holdings, np.int64),
            respondent=_copied(respondent, str),
            contributions=contributions,
            unshown=_copied(unshown, bool),
            origin=origin or Origin(),
            notes=tuple(notes),
        )
        table.check()
        return table._with_levels_that_meet_bounds()

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        dims = " x ".join(f"{d.name}({len(d.hierarchy)})" for d in self.dimensions)
        return (
            f"Table({dims or 'unlabelled'}: {len(self)} cells, "
            f"{self.matrix.shape[0]} equations, {len(self.primaries)} primaries)"
        )

    @cached_property
    def primaries(self) -> NDArray[np.int64]:
        """Numbers of the sensitive cells."""
        return np.flatnonzero(self.status == PRIMARY)

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """Which cells are not published."""
        return np.isin(self.status, HIDDEN)

    @cached_property
    def columns(self) -> Any:
        """`matrix` as CSC: the equations of each cell."""
        return sparse.csc_array(self.matrix)

    @cached_property
    def index(self) -> CellIndex:
        """Which cell has which codes."""
        return CellIndex.of(self.dimensions, self.codes)

    @cached_property
    def network(self) -> Network | None:
        """The equations as a network, where they form one."""
        return detect_network(self.matrix)

    @cached_property
    def is_integer(self) -> bool:
        """Whether values, bounds and levels are whole numbers (or infinite)."""
        return all(
            bool(np.all((a == np.rint(a)) | np.isinf(a)))
            for a in (self.value, self.lower, self.upper, self.lpl, self.upl, self.spl)
        )

    def label(self, cell: int) -> str:
        """Name a cell for messages: its codes, or its number where there are none."""
        if not self.dimensions:
            return f"cell {cell}"
        return label_of(self.dimensions, self.codes[cell])

    def with_pattern(self, hidden: NDArray[np.bool_]) -> Table:
        """Return the table with exactly these cells hidden, the primaries among them.

        Raises
        ------
        TableError
            For a pattern that hides a fixed cell or publishes a sensitive one.
        """
        hidden = hidden | ~self.shown
        bare = np.flatnonzero(~hidden & (self.status == PRIMARY))
        if len(bare):
            raise TableError(
                f"a pattern publishes {len(bare)} sensitive cells, the first: "
                f"{self.label(int(bare[0]))}",
                expected="a pattern that hides every sensitive cell",
                hint="hide it too; evosdc.audit judges such a pattern as it stands",
            )
        status = self.status.copy()
        status[status == SECONDARY] = "s"
        wrong = np.flatnonzero(hidden & (status == FIXED))
        if len(wrong):
            raise TableError(
                f"a fixed cell is hidden: {self.label(int(wrong[0]))}",
                expected="only cells that are not fixed among the secondaries",
                hint="give the cell another status, or leave it published",
            )
        status[hidden & (status != PRIMARY)] = SECONDARY
        return self.replace(status=status)

    @cached_property
    def shown(self) -> NDArray[np.bool_]:
        """Which cells some table shows, hidden or not."""
        if self.unshown is None:
            return np.ones(len(self), dtype=bool)
        return ~self.unshown

    def visible(self) -> Table:
        """Return the table of the cells that are shown."""
        if self.unshown is None:
            return self
        keep = np.flatnonzero(self.shown)
        unshown = self.matrix[:, np.flatnonzero(self.unshown)]
        rows = np.flatnonzero(np.diff(sparse.csr_array(unshown).indptr) == 0)
        columns = ("value", *_COLUMNS)
        maybe = ("frequency", "holdings", "respondent", "contributions")
        return self.replace(
            **{name: getattr(self, name)[keep] for name in columns},
            **{
                name: None if getattr(self, name) is None else getattr(self, name)[keep]
                for name in maybe
            },
            codes=self.codes[keep],
            matrix=sparse.csr_array(self.matrix[rows][:, keep]),
            rhs=self.rhs[rows],
            unshown=None,
        )

    def replace(self, **changes: Any) -> Table:
        """Return a copy with some attributes changed, checked again."""
        table = replace(self, **changes)
        table.check()
        if not changes.keys().isdisjoint(("value", "lower", "upper", "lpl", "upl")):
            table = table._with_levels_that_meet_bounds()
        if table.matrix is self.matrix:
            # The judge uses them once per pattern and lone respondent.
            for name in ("columns", "network"):
                if name in self.__dict__:
                    table.__dict__[name] = self.__dict__[name]
        return table

    def _with_levels_that_meet_bounds(self) -> Table:
        """Return the table without rounding errors of levels: see `at_the_bound`."""
        lower, upper, lpl, upl = (
            np.array(column, dtype=np.float64)
            for column in (self.lower, self.upper, self.lpl, self.upl)
        )
        lower, lpl = at_the_bound(self.value, lower, lpl)
        upper, upl = at_the_bound(self.value, upper, upl)
        return replace(self, lower=lower, upper=upper, lpl=lpl, upl=upl)

    def residuals(self) -> NDArray[np.float64]:
        """Return the error of each equation."""
        return np.asarray(self.matrix @ self.value - self.rhs)

    def check(self) -> None:
        """Raise a `TableError` where attributes do not form a table."""
        self._check_shapes()
        self._check_numbers()
        self._check_additive()

    def _check_shapes(self) -> None:
        n = len(self.value)
        if n == 0:
            raise TableError(
                "the table has no cells",
                expected="at least one cell",
                hint="check that the file is not empty",
            )
        for name in _COLUMNS:
            if len(getattr(self, name)) != n:
                raise TableError(
                    f"{len(getattr(self, name))} entries of {name} for {n} cells",
                    expected=f"one {name} for each cell",
                )
        if self.contributions is not None and len(self.contributions) != n:
            raise TableError(
                f"contributions to {len(self.contributions)} cells for {n} cells",
                expected="an entry for each cell",
            )
        if self.matrix.shape != (len(self.rhs), n):
            raise TableError(
                f"a matrix of {self.matrix.shape[0]} x {self.matrix.shape[1]} for "
                f"{len(self.rhs)} right-hand sides and {n} cells",
                expected="a row per equation and a column per cell",
            )
        if self.dimensions and self.codes.shape != (n, len(self.dimensions)):
            raise TableError(
                f"codes of shape {self.codes.shape} for {n} cells and "
                f"{len(self.dimensions)} dimensions",
                expected="a row per cell and a column per dimension",
            )

    def _check_numbers(self) -> None:
        def complain(bad: NDArray[np.bool_], what: str, expected: str) -> None:
            if bad.any():
                where = first_of(bad, self.label)
                raise TableError(f"{what} at {where}", expected=expected)

        complain(
            ~np.isfinite(self.value),
            "a value that is not a finite number",
            "a finite number in every cell",
        )
        complain(
            np.abs(self.value) >= LARGEST,
            f"a value of {LARGEST:g} or more",
            "smaller values, such as in millions",
        )
        complain(
            ~np.isfinite(self.weight) | (self.weight < 0),
            "a weight that is negative or not finite",
            "weights of 0 or more",
        )
        complain(
            ~np.isin(self.status, STATUSES),
            "an unknown status",
            "s (safe), u (primary), m (secondary) or z (fixed)",
        )
        for name in LEVELS:
            level = getattr(self, name)
            complain(
                ~np.isfinite(level) | (level < 0),
                f"a protection level {name} that is negative or not finite",
                "levels of 0 or more",
            )
        slack = ADDITIVITY * np.maximum(1.0, np.abs(self.value))
        complain(
            np.isnan(self.lower)
            | np.isnan(self.upper)
            | (self.lower > self.value + slack)
            | (self.upper < self.value - slack),
            "a value outside its external bounds",
            "lower bound <= value <= upper bound",
        )
        if not np.all(np.isfinite(self.matrix.data)) or not np.all(
            np.isfinite(self.rhs)
        ):
            raise TableError(
                "an equation with a coefficient that is not finite",
                expected="finite coefficients and right-hand sides",
            )

    def _check_additive(self) -> None:
        off = np.abs(self.residuals())
        # Errors far below the largest cell are rounding, in tables of any magnitude.
        floor = min(1.0, 1e-9 * float(np.abs(self.value).max()))
        terms = abs(self.matrix) @ np.abs(self.value) + np.abs(self.rhs)
        size = np.maximum(max(floor, np.finfo(float).tiny), terms)
        bad = np.flatnonzero(off > ADDITIVITY * size)
        if not len(bad):
            return
        worst = bad[np.argsort(-(off[bad] / size[bad]), kind="stable")[:5]]
        lines = "; ".join(
            f"{self.describe_equation(int(e))} "
            f"(off by {100 * off[e] / size[e]:.3g} % of its terms)"
            for e in worst
        )
        raise NotAdditiveError(
            f"{len(bad)} of {len(off)} equations do not add up; the worst: {lines}",
            expected="every total to be the sum of its parts",
            hint="correct the totals; where some codes are parts of other codes, say "
            "so with a hierarchy (--hierarchy NAME=FILE)",
        )

    def describe_equation(self, equation: int) -> str:
        """Name an equation by the total in it, else by its first cell."""
        start, end = self.matrix.indptr[equation : equation + 2]
        cells = self.matrix.indices[start:end]
        coefficients = self.matrix.data[start:end]
        totals = cells[coefficients < 0]
        if len(cells) == 0:
            return f"equation {equation}"
        head = int(totals[0] if len(totals) == 1 else cells[0])
        return f"equation {equation} of {self.label(head)}"
