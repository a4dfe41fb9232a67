"""Tables built from frames with one row per cell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.errors import InputError, TableError, refuse_unknown
from evosdc.frames import to_arrow
from evosdc.io.columns import lowercase_column, number_column, read_codes
from evosdc.io.numbers import may_be_numbers, shapes_of
from evosdc.table import (
    Contributions,
    Dimension,
    Hierarchy,
    Origin,
    Table,
    build_table,
)
from evosdc.table.build import count_missing, refuse_duplicates
from evosdc.table.contributions import AMOUNTS, COLUMNS, CONTRIBUTING, CONTRIBUTORS
from evosdc.table.hidden_totals import choose_total, find_hidden_sums, name_total
from evosdc.table.hierarchy import MERGED, listed, tidy_code
from evosdc.table.index import cell_keys, first_of, label_of, nodes_of
from evosdc.table.knowledge import as_counts
from evosdc.table.origin import AUTO
from evosdc.table.status import LEVELS, PRIMARY, STATUSES
from evosdc.table.table import default_columns, refuse_too_large

# Columns of files of tables that are no codes; the values are one more.
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
    *COLUMNS,
    "unshown",
)
# The column of values, unless another one is named.
VALUE = "value"
# Names of values that count people or firms.
_COUNTS = ("count", "counts", "n", "freq", "frequency", "number", "persons", "people")
_MOST_TOTALS = 8
# With fewer rows, any column may seem to be determined by the others.
_FEW_ROWS = 6


def table_from_frame(
    frame: Any,
    *,
    dimensions: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    totals: Mapping[str, str] | str | None = None,
    value: str = "value",
    missing: Literal["error", "empty"] = "error",
    level_percent: float | None = None,
    name: str | None = None,
    origin: Origin | None = None,
    flat: Collection[str] = (),
    trusted: Collection[str] | None = None,
) -> Table:
    """Build a table from a frame with one row per cell.

    What was assumed (totals that were computed or recognised, spellings that were
    merged) is in the table's `notes`.

    Parameters
    ----------
    frame
        A frame of any kind or a dict of columns, with one column per dimension, the
        values, and any of weight (or cost), status, lower, upper, lpl, upl, spl,
        frequency and holdings. A blank means the default: weight ``|value|``, status
        safe (fixed for zeros), lower bound 0 unless the value is negative, no other
        bound, level 0.
    dimensions
        The columns of codes; all that are not recognised where None.
    hierarchies
        The hierarchies of codes; a dimension without one is flat.
    totals
        The code of the total of flat dimensions, one for all or one for each. If None
        it is ``Total``, a word such as ``ALL`` or ``Insgesamt``, or the code that is
        the sum of all others.
    value
        The column of values.
    missing
        What an inner cell that is not in the frame means: an error or an empty cell.
    level_percent
        Levels of primaries that have none: this percentage of ``|value|`` both ways.
    name
        The name of the values; the name of the column if None.
    origin
        How the table was made, if that is known. Otherwise cells count people or firms
        if the values are the frequencies, or are called count, n, frequency or the
        like; and prior knowledge is that of the columns lower and upper, if any.
    flat
        Dimensions that are known to have no sub-totals beyond their hierarchy, even if
        some rows are sums of others.
    trusted
        Dimensions that were written with their hierarchies, in which no sub-totals are
        looked for; if there are any, absent inner cells are known to be empty.

    Raises
    ------
    TableError
        If codes of a dimension are sums of other codes, and so sub-totals that the
        table does not know; `NotAdditiveError` if its totals then do not add up.
    """
    rows = to_arrow(frame)
    names = _dimension_names(rows, dimensions, value)
    trees = dict(hierarchies or {})
    for what, known in (("a hierarchy", trees), ("an entry of flat", flat)):
        wrong = f"there is {what} for {{}}, which is not a dimension"
        refuse_unknown(known, names, wrong)
    notes: list[str] = []
    dims: list[Dimension] = []
    distinct, codes = [], np.empty((rows.num_rows, len(names)), dtype=np.int32)
    for k, column in enumerate(names):
        found, codes[:, k], said = read_codes(rows, column)
        distinct.append(found)
        notes += said
    plain = number_column(rows, value)
    with np.errstate(over="ignore"):
        size = np.abs(plain[np.isfinite(plain)]).sum()
    refuse_too_large(size, f"the numbers of column {value!r}")
    for k, column in enumerate(names):
        tree = trees.get(column)
        if tree is None:
            total = totals if isinstance(totals, str) else (totals or {}).get(column)
            # Blank values are refused below, with the cell's name.
            total, said = choose_total(
                column, distinct[k], k, codes, np.nan_to_num(plain), total
            )
            notes += said
            tree = Hierarchy.flat(distinct[k], total)
        else:
            tree, said = name_total(column, tree, distinct[k])
            notes += said
        dims.append(Dimension(column, tree))
    for k, d in enumerate(dims):
        codes[:, k] = _nodes(d.name, d.hierarchy, distinct[k])[codes[:, k]]
    cells = _Cells(rows, dims, codes)
    values = cells.finite(value)
    frequency = cells.counts("frequency")
    called = value if name is None else name
    given = cells.has("lower") or cells.has("upper")
    columns = cells.optional(values, level_percent)
    try:
        refuse_duplicates(dims, codes)
    except TableError as error:
        merged = [note for note in notes if MERGED in note]
        raise TableError(
            "; ".join([error.what, *merged]), expected=error.expected, hint=error.hint
        ) from None
    notes += find_hidden_sums(
        dims, codes, values, frequency, skip=trusted or (), chance=flat
    )
    table = build_table(
        dims,
        codes,
        values,
        missing=missing,
        name=called,
        frequency=frequency,
        holdings=cells.counts("holdings"),
        respondent=cells.text("respondent"),
        contributions=cells.contributions(),
        unshown=cells.counts("unshown"),
        origin=_with_percent(
            origin or Origin(bounds="columns" if given else AUTO), level_percent
        ),
        **columns,
    )
    notes += _computed(table, len(codes))
    silent = bool(trusted) or missing == "error"
    absent = 0 if silent else count_missing(dims, codes)
    if absent:
        notes.append(
            f"{absent:,} inner cells are not in the table: they are taken for zeros "
            "that everybody knows"
        )
    if origin is None and _counts(called, values, frequency):
        table = as_counts(table)
        notes.append("cells are taken for counts of people or firms (--magnitudes)")
    return replace(table, notes=tuple(notes))


def _with_percent(origin: Origin, percent: float | None) -> Origin:
    if percent is None:
        return origin
    note = f"levels of {percent:g} % of the value where there were none"
    return replace(origin, by_hand=(*origin.by_hand, note))


def _counts(
    name: str, values: NDArray[np.float64], frequency: NDArray[np.int64] | None
) -> bool:
    """Whether values count somebody, as far as can be told."""
    if not np.all((values >= 0) & (values == np.rint(values))):
        return False
    if frequency is not None and np.array_equal(frequency, values):
        return True
    return name.strip().casefold() in _COUNTS


def _computed(table: Table, given: int) -> list[str]:
    """Return a note that names the totals that were not given."""
    extra = table.codes[given:]
    if not len(extra):
        return []
    names: list[str] = []
    for k, d in enumerate(table.dimensions):
        upper = ~d.hierarchy.is_leaf
        stated = np.zeros(len(upper), dtype=bool)
        stated[table.codes[:given, k]] = True
        made = np.zeros(len(upper), dtype=bool)
        made[extra[:, k]] = True
        for node in np.flatnonzero(upper & made & ~stated):
            names.append(f"{d.name}={d.hierarchy.codes[node]}")
    if not names:
        names = [f"among them {table.label(given)}"]
    more = len(names) - _MOST_TOTALS
    listing = ", ".join(names[:_MOST_TOTALS]) + (
        f" and {more} more" if more > 0 else ""
    )
    count = len(extra)
    return [
        f"{count:,} {'total is' if count == 1 else 'totals are'} computed, not given: "
        f"{listing}"
    ]


class _Cells:
    """The rows of a frame, with their labels for the errors."""

    def __init__(
        self, rows: Any, dims: Sequence[Dimension], codes: NDArray[np.int32]
    ) -> None:
        self.rows, self.dims, self.codes = rows, dims, codes

    def has(self, name: str) -> bool:
        return name in self.rows.column_names

    def fail(self, bad: NDArray[np.bool_], what: str, expected: str, hint: str) -> None:
        """Raise for the first row where `bad` holds."""
        if bad.any():
            where = first_of(bad, lambda row: label_of(self.dims, self.codes[row]))
            raise TableError(f"{what} at {where}", expected=expected, hint=hint)

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

    def text(self, name: str) -> NDArray[np.str_] | None:
        return lowercase_column(self.rows, name) if self.has(name) else None

    def contributions(self) -> Contributions | None:
        """Return the largest contributors of each cell, if the columns name them."""
        given: dict[str, NDArray[Any] | None] = {
            CONTRIBUTING: self.counts(CONTRIBUTING),
            **{name: self.text(name) for name in CONTRIBUTORS},
            **{name: self.finite(name) for name in AMOUNTS if self.has(name)},
        }
        return Contributions.of_columns(
            {name: column for name, column in given.items() if column is not None}
        )

    def optional(
        self, values: NDArray[np.float64], level_percent: float | None
    ) -> dict[str, NDArray[Any]]:
        """Return the weights, statuses, bounds and levels that are given."""
        columns: dict[str, NDArray[Any]] = {}
        defaults = default_columns(values)
        default_status = defaults.pop("status")
        blank: dict[str, NDArray[np.bool_]] = {}
        for name, default in defaults.items():
            source = "cost" if name == "weight" and not self.has("weight") else name
            if self.has(source):
                given = number_column(self.rows, source)
                blank[name] = np.isnan(given)
                columns[name] = np.where(blank[name], default, given)
        if self.has("status"):
            columns["status"] = self._status(default_status)
            self._levels(columns, blank, values, level_percent)
        return columns

    def _status(self, default: NDArray[np.str_]) -> NDArray[np.str_]:
        letters = lowercase_column(self.rows, "status")
        known = np.isin(letters, (*STATUSES, ""))
        found = "" if known.all() else str(letters[~known][0])[:30]
        self.fail(
            ~known,
            f"unknown status {found!r}",
            "s (safe), u (primary), m (secondary) or z (fixed)",
            "correct the column 'status'",
        )
        return np.where(letters == "", default, letters).astype("U1")

    def _levels(
        self,
        columns: dict[str, NDArray[Any]],
        blank: Mapping[str, NDArray[np.bool_]],
        values: NDArray[np.float64],
        percent: float | None,
    ) -> None:
        """Set the levels of primaries that have none."""
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


def _dimension_names(
    rows: Any, dimensions: Sequence[str] | None, value: str
) -> list[str]:
    columns: list[str] = rows.column_names
    if value not in columns:
        raise InputError(
            f"there is no column {value!r} "
            + (f"among {', '.join(map(repr, columns))}" if columns else "and no other"),
            expected="a column of values",
            hint="name it (value=..., --value); evosdc tabulate makes a table of "
            "single records",
        )
    if dimensions is None:
        names = _guess_dimensions(rows, value)
    else:
        names = list(dimensions)
        refuse_unknown(names, columns, "there is no column {}, named as a dimension")
        refuse_reserved(names, value)
    if not names:
        raise InputError(
            "no column is a dimension",
            expected="at least one column of codes",
            hint="add the codes of the cells",
        )
    return names


def refuse_reserved(names: Iterable[str], value: str = VALUE) -> None:
    """Refuse dimensions whose columns would be taken for others in a file of a table.

    Files have the column `VALUE` whatever the values are called. Names are compared as
    files are read: without blanks around, capitals count.
    """
    taken = dict.fromkeys((VALUE, value, *RESERVED))
    for name in names:
        if tidy_code(name) in taken:
            raise InputError(
                f"column {name!r} cannot be a dimension",
                expected=f"a name other than {', '.join(taken)}, which are columns of "
                "every table's file",
                hint=f"rename the column, such as {tidy_code(name) + '_class'!r} (in "
                "Python: give a frame with the other name)",
            )


def _guess_dimensions(frame: Any, value: str) -> list[str]:
    """Return every column that is not recognised as something else.

    Raises
    ------
    InputError
        For a column that differs from a recognised one in case only: read as codes,
        statuses would mark nothing. For a column of many numbers that the other
        columns determine: that is a property of the cells, not a dimension.
    """
    columns: list[str] = frame.column_names
    names = [c for c in columns if c not in RESERVED and c != value]
    known = {text.casefold(): text for text in (*RESERVED, value)}
    for name in names:
        meant = known.get(tidy_code(name).casefold())
        if meant is not None:
            raise InputError(
                f"column {name!r} is not {meant!r}, and would be read as codes",
                expected=f"the name {meant!r} exactly",
                hint="rename the column, or name the dimensions (dimensions=[...])",
            )
    refuse_reserved(names, value)
    if len(names) > 1:
        _refuse_properties(frame, names)
    return names


def _refuse_properties(frame: Any, names: Sequence[str]) -> None:

    suspects = []
    codes = np.empty((frame.num_rows, len(names)), dtype=np.int64)
    for k, name in enumerate(names):
        distinct, codes[:, k], _ = read_codes(frame, name)
        many = frame.num_rows >= _FEW_ROWS and 2 * len(distinct) > frame.num_rows
        if many and may_be_numbers(shapes_of(pa.array(distinct)).to_pylist()):
            suspects.append(k)
    sizes = (codes.max(axis=0, initial=0) + 1).tolist()
    every = len(np.unique(cell_keys(sizes, codes)))
    for k in suspects:
        rest = cell_keys(sizes[:k] + sizes[k + 1 :], np.delete(codes, k, axis=1))
        # Repeated rows are another error, which is found later.
        if every == frame.num_rows == len(np.unique(rest)):
            others = ", ".join(name for name in names if name != names[k])
            raise InputError(
                f"column {names[k]!r} holds numbers that the columns {others} "
                "determine",
                expected="columns of codes: each combination in one row",
                hint="remove the column if it is a property of the cells, or name the "
                "dimensions (dimensions=[...])",
            )


def _nodes(column: str, tree: Hierarchy, distinct: Sequence[str]) -> NDArray[np.int32]:
    """Return the node of each code."""
    nodes = nodes_of(tree, distinct)
    unknown = [distinct[k] for k in np.flatnonzero(nodes < 0).tolist()]
    if unknown:
        raise InputError(
            f"codes {listed(unknown, 3)} of column {column!r} are not in its hierarchy",
            expected=f"codes under {tree.total!r}, for instance "
            f"{', '.join(map(repr, tree.codes[1:4]))}",
            hint="add them to the hierarchy, or correct the codes",
        )
    return nodes.astype(np.int32)
