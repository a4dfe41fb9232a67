"""Labelled cells -> table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError, TableError
from evosdc.io.arrow import to_arrow
from evosdc.io.columns import code_column, letter_column, number_column
from evosdc.table import TOTAL, Dimension, Hierarchy, Origin, Table, build_table
from evosdc.table.knowledge import as_counts
from evosdc.table.origin import AUTO
from evosdc.table.status import FIXED, PRIMARY, STATUSES

LEVELS = ("lpl", "upl", "spl")
RESERVED = (
    "cell_id",
    "weight",
    "cost",
    "status",
    "lower",
    "upper",
    *LEVELS,
    "frequency",
    "holdings",
    "respondent",
)
# Names of values that count people or firms.
_COUNTS = ("count", "counts", "n", "freq", "frequency", "number", "persons", "people")
# Spellings of a total that are surely not an ordinary code.
_TOTALS = ("total", "totals", "tot", "_t")


def table_from_frame(
    frame: Any,
    *,
    dimensions: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    totals: Mapping[str, str] | str = TOTAL,
    value: str = "value",
    missing: Literal["error", "empty"] = "error",
    level_percent: float | None = None,
    name: str | None = None,
    origin: Origin | None = None,
) -> Table:
    """Build a table from a frame with a row a cell.

    Parameters
    ----------
    frame
        A pandas, polars or Arrow table or a dict of arrays, with a column a dimension,
        the values, and any of weight (or cost), status, lower, upper, lpl, upl, spl,
        frequency and holdings. A blank there means the default: weight ``|value|``,
        status safe (fixed for zeros), no bound but 0 for values that are not negative,
        level 0.
    dimensions
        The columns of codes; all that are not recognised where None.
    hierarchies
        Trees of codes; a dimension without one is flat.
    totals
        The code of the total of flat dimensions, one for all or one for each.
    value
        The column of values.
    missing
        What an inner cell that is not in the frame means: an error or an empty cell.
    level_percent
        Levels of primaries that have none: this percentage of ``|value|`` both ways.
    name
        What to call the values; the column's name where None.
    origin
        How the table was made, where that is known. Otherwise cells count people or
        firms if the values are the frequencies, or are called count, n, frequency or
        the like; and prior knowledge is that of the columns lower and upper, if any.
    """
    rows = to_arrow(frame)
    _refuse_twice(rows.column_names)
    names = _dimension_names(rows.column_names, dimensions, value)
    trees = dict(hierarchies or {})
    unused = sorted(set(trees) - set(names))
    if unused:
        raise InputError(
            f"there is a hierarchy for {unused[0]!r}, which is not a dimension",
            expected=f"hierarchies for some of {', '.join(names)}",
            hint="check the spelling of the column",
        )
    dims: list[Dimension] = []
    codes = np.empty((rows.num_rows, len(names)), dtype=np.int32)
    for k, column in enumerate(names):
        words, numbers = code_column(rows, column)
        total = totals if isinstance(totals, str) else totals.get(column, TOTAL)
        tree = trees.get(column) or _flat(column, words, total)
        dims.append(Dimension(column, tree))
        codes[:, k] = _nodes(column, tree, words)[numbers]
    cells = _Cells(rows, dims, codes)
    values = cells.finite(value)
    frequency = cells.counts("frequency")
    called = value if name is None else name
    given = cells.has("lower") or cells.has("upper")
    table = build_table(
        dims,
        codes,
        values,
        missing=missing,
        name=called,
        frequency=frequency,
        holdings=cells.counts("holdings"),
        respondent=cells.words("respondent"),
        origin=origin or Origin(bounds="columns" if given else AUTO),
        **cells.optional(values, level_percent),
    )
    if origin is None and _counts(called, values, frequency):
        return as_counts(table)
    return table


def _counts(
    name: str, values: NDArray[np.float64], frequency: NDArray[np.int64] | None
) -> bool:
    """Whether values count somebody, as far as can be told."""
    if not np.all((values >= 0) & (values == np.rint(values))):
        return False
    if frequency is not None and np.array_equal(frequency, values):
        return True
    return name.strip().casefold() in _COUNTS


class _Cells:
    """The rows of a frame with their labels, for the errors."""

    def __init__(
        self, rows: Any, dims: Sequence[Dimension], codes: NDArray[np.int32]
    ) -> None:
        self.rows, self.dims, self.codes = rows, dims, codes

    def has(self, name: str) -> bool:
        return name in self.rows.column_names

    def fail(self, bad: NDArray[np.bool_], what: str, expected: str, hint: str) -> None:
        """Raise for the first row where `bad` holds."""
        if not bad.any():
            return
        row = int(np.argmax(bad))
        label = ", ".join(
            f"{d.name}={d.hierarchy.codes[c]}"
            for d, c in zip(self.dims, self.codes[row], strict=True)
        )
        count = int(bad.sum())
        more = f" and {count - 1} more" if count > 1 else ""
        raise TableError(f"{what} at {label}{more}", expected=expected, hint=hint)

    def finite(self, name: str) -> NDArray[np.float64]:
        numbers = number_column(self.rows, name)
        self.fail(
            ~np.isfinite(numbers),
            f"column {name!r} is blank, NaN or infinite",
            "a finite number in every row",
            "fill it in, or remove the row and say that absent cells are empty",
        )
        return numbers

    def counts(self, name: str) -> NDArray[np.int64] | None:
        if not self.has(name):
            return None
        counts = self.finite(name)
        self.fail(
            (counts < 0) | (counts != np.rint(counts)),
            f"a number of column {name!r} that is not whole",
            "counts of 0 or more",
            f"correct the column {name!r}",
        )
        return counts.astype(np.int64)

    def words(self, name: str) -> NDArray[np.str_] | None:
        return letter_column(self.rows, name) if self.has(name) else None

    def optional(
        self, values: NDArray[np.float64], level_percent: float | None
    ) -> dict[str, NDArray[Any]]:
        """Return weights, statuses, bounds and levels as far as they are given."""
        columns: dict[str, NDArray[Any]] = {}
        defaults = {
            "weight": np.abs(values),
            "lower": np.full(len(values), np.nan),  # as in `Table.of`
            "upper": np.full(len(values), np.inf),
        } | {level: np.zeros(len(values)) for level in LEVELS}
        blank: dict[str, NDArray[np.bool_]] = {}
        for name, default in defaults.items():
            source = "cost" if name == "weight" and not self.has("weight") else name
            if self.has(source):
                given = number_column(self.rows, source)
                blank[name] = np.isnan(given)
                columns[name] = np.where(blank[name], default, given)
        if self.has("status"):
            columns["status"] = self._status(values)
            self._levels(columns, blank, values, level_percent)
        return columns

    def _status(self, values: NDArray[np.float64]) -> NDArray[np.str_]:
        letters = letter_column(self.rows, "status")
        known = np.isin(letters, (*STATUSES, ""))
        found = "" if known.all() else str(letters[~known][0])[:30]
        self.fail(
            ~known,
            f"unknown status {found!r}",
            "s (safe), u (primary), m (secondary) or z (fixed)",
            "correct the column 'status'",
        )
        default = np.where(values == 0, FIXED, "s")
        return np.where(letters == "", default, letters).astype("U1")

    def _levels(
        self,
        columns: dict[str, NDArray[Any]],
        blank: Mapping[str, NDArray[np.bool_]],
        values: NDArray[np.float64],
        percent: float | None,
    ) -> None:
        """Give levels to the primaries that have none."""
        primary = columns["status"] == PRIMARY
        nothing = np.ones(len(values), dtype=bool)
        for level in LEVELS:
            nothing &= blank.get(level, np.True_)
        bare = primary & nothing
        if percent is None:
            self.fail(
                bare,
                "a primary without protection levels",
                "columns lpl and upl (distances below and above the value)",
                "add them, or give a percentage of the value (level_percent, "
                "--level-percent)",
            )
        elif bare.any():
            for level in ("lpl", "upl"):
                given = columns.get(level, np.zeros(len(values)))
                columns[level] = np.where(bare, np.abs(values) * percent / 100, given)
        if "lower" in columns and "upper" in columns:
            self.fail(
                primary & (columns["lower"] == columns["upper"]),
                "a primary that is fixed by its bounds",
                "bounds that leave room around a sensitive value",
                "widen the bounds, or give the cell status z",
            )


def _refuse_twice(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise InputError(
            f"column {twice[0]!r} stands twice",
            expected="each column once",
            hint="rename one of them",
        )


def _dimension_names(
    columns: Sequence[str], dimensions: Sequence[str] | None, value: str
) -> list[str]:
    if value not in columns:
        raise InputError(
            f"there is no column {value!r} among {', '.join(map(repr, columns))}",
            expected="a column of values",
            hint="name it (value=..., --value); evosdc tabulate makes a table of "
            "single records",
        )
    if dimensions is None:
        names = [c for c in columns if c not in RESERVED and c != value]
    else:
        names = list(dimensions)
        for name in names:
            if name not in columns:
                raise InputError(
                    f"there is no column {name!r} among "
                    f"{', '.join(map(repr, columns))}",
                    expected="dimensions that are columns",
                    hint="check the spelling",
                )
            if name in RESERVED or name == value:
                raise InputError(
                    f"column {name!r} cannot be a dimension",
                    expected=f"a name other than {', '.join(RESERVED)}",
                    hint="rename the column",
                )
    if not names:
        raise InputError(
            "no column is a dimension",
            expected="at least one column of codes",
            hint="add the codes of the cells",
        )
    return names


def _flat(column: str, words: Sequence[str], total: str) -> Hierarchy:
    """A total and its parts; refuses a total under another spelling."""
    if total not in words:
        other = [w for w in words if w.casefold() in (total.casefold(), *_TOTALS)]
        if other:
            raise InputError(
                f"column {column!r} has a code {other[0]!r} and no code {total!r}",
                expected=f"the total under the code {total!r}, or no totals at all",
                hint=f"name the total: totals={{{column!r}: {other[0]!r}}}, "
                f"or --total {other[0]}",
            )
    return Hierarchy.flat(words, total)


def _nodes(column: str, tree: Hierarchy, words: Sequence[str]) -> NDArray[np.int32]:
    """Node number of each word; hierarchies with padded codes match stripped ones."""
    node_of = {code.strip(): node for code, node in tree.node_of.items()}
    unknown = [word for word in words if word not in node_of]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise InputError(
            f"codes {', '.join(map(repr, unknown[:3]))}{more} of column {column!r} "
            "are not in its hierarchy",
            expected=f"codes under {tree.total!r}, for instance "
            f"{', '.join(map(repr, tree.codes[1:4]))}",
            hint="add them to the hierarchy, or correct the codes",
        )
    return np.array([node_of[word] for word in words], dtype=np.int32)
