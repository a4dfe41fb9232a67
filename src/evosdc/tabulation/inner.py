"""The finest cells, by one aggregation of all records, and all totals of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evosdc.databases import Dialect
from evosdc.errors import InputError
from evosdc.table import Dimension, Hierarchy
from evosdc.table.build import add_totals
from evosdc.table.hierarchy import is_total_word, listed, tidy_code
from evosdc.table.index import CellIndex, nodes_of
from evosdc.table.rounding import significant
from evosdc.tabulation.check import CheckedRecords, Facts, measures_of
from evosdc.tabulation.identity import DIGITS, HASHES, PRIME, hashing
from evosdc.tabulation.source import tidied

GROUPS = "groups"

# A record as one number, from those that it is hashed to.
_RECORD = f"h0 * {PRIME} + h1 + 1"
# What the largest of a group are listed with, by name: sizes as the rules see them, and
# contributions to the response with the record that each is of.
_TOP = (("top", "abs(s)"), ("top_weight", "w"))
_CONTRIBUTION = (("amount", "abs(x * w)"), ("whose", _RECORD))
_LISTS = tuple(name for name, _ in _TOP + _CONTRIBUTION)

COUNT, UNITS, VALUE, SIZE, TOTAL, COST, ACTIVE, ACTIVE_UNITS = range(8)


@dataclass(frozen=True, eq=False)
class Cells:
    """Aggregates of cells, one row per cell, which `roll_up` adds up.

    Attributes
    ----------
    codes
        Node numbers, a column per dimension.
    sums
        Columns COUNT to ACTIVE_UNITS, which add up: records and the units they stand
        for, response, its size, what rules look at, costs; and records and units whose
        contribution to the response is not zero.
    top, top_weight
        The largest contributions, downwards, 0 where there are no more, and their
        sampling weights.
    asking
        Largest contribution of those who ask for protection, a column per code.
    lone
        The record that is alone in a cell, as a number; 0 where there are more. Records
        that contribute nothing do not count where one contributes.
    amount, largest
        The two largest contributions to the response itself, weighted, and the records
        that they are of; None where the table keeps none.
    """

    codes: NDArray[np.int32]
    sums: NDArray[np.float64]
    top: NDArray[np.float64]
    top_weight: NDArray[np.float64] | None
    asking: NDArray[np.float64] | None
    lone: NDArray[np.int64]
    amount: NDArray[np.float64] | None = None
    largest: NDArray[np.int64] | None = None


def group_records(task: CheckedRecords) -> None:
    """Aggregate the records by their codes as they are written, and keep the answer.

    Where contributors are records, the answer has the lone record of a group and the
    largest ones. Where they are holdings, see `evosdc.tabulation.holdings`.

    DuckDB's ``max(x, n)`` finds the n largest of each group in the same pass: on ten
    million records it takes a fifth more time than the sums alone, in the same memory.
    Other engines number the records of each group from the largest down.
    """
    records, columns, facts = task.records, task.columns, task.facts
    if columns.holding is not None:
        task = replace(task, n_top=0, asked=None, largest=False)
    identify, dialect = columns.holding is None, records.dialect
    codes = {f"d{k}": name for k, name in enumerate(columns.by)}
    keys, asked = list(codes), task.asked or ()
    first = task.selected(codes)
    second = [*keys, "x", "s", "w"]
    second += ["c"] if columns.cost is not None else []
    second += [f"a{i}" for i in range(len(asked))]
    active = f"x <> {dialect.constant(0.0)}"
    # Of counts all records contribute.
    counted = (
        f"count(CASE WHEN {active} THEN 1 END)"
        if columns.value is not None
        else "count(*)"
    )
    wanted = task.as_text(codes)
    wanted += ["count(*) AS n", f"{counted} AS nz"]
    if identify:
        numbers, hashes = hashing(records)
        first += numbers
        second += hashes
        wanted += [
            f"CASE WHEN {counted} = 1 THEN "
            f"min(CASE WHEN {active} THEN {h} END) "
            f"WHEN count(*) = 1 THEN min({h}) END AS {h}"
            for h in HASHES
        ]
    for name, expression in measures_of(columns).items():
        fixed = facts.fixed(name)
        if name in ("value", "units", "cost"):
            wanted += fixed.sums(dialect, expression, name)
        if name == "units":
            zero = dialect.constant(0.0)
            some = f"CASE WHEN {active} THEN {expression} ELSE {zero} END"
            wanted += fixed.sums(dialect, some, "active")
        if name in ("value", "total") and (name == "value" or columns.shadow):
            absolute = {"value": "size", "total": "total"}[name]
            wanted += fixed.sums(dialect, f"abs({expression})", absolute)
    weighted = columns.weight is not None
    wanted += _largest(_TOP[: 1 + weighted], task.n_top, dialect, "place")
    wanted += _largest(_CONTRIBUTION, 2 * task.largest, dialect, "nth")
    for i in range(len(asked)):
        zero = dialect.constant(0.0)
        wanted.append(
            f"coalesce(max(CASE WHEN a{i} THEN abs(s) END), {zero}) AS ask{i}"
        )
    if task.n_top and not dialect.largest:
        order = "abs(s) DESC, w DESC" if weighted else "abs(s) DESC"
        within = f"PARTITION BY {', '.join(keys)} ORDER BY {order}"
        second.append(f"row_number() OVER ({within}) AS place")
    fence = dialect.fence if identify else ""
    query = (
        f"SELECT {', '.join(second)} FROM (SELECT {', '.join(first)} "
        f"FROM {records.relation} AS t{columns.where(dialect)}{fence}) AS u"
    )
    if task.largest and not dialect.largest:
        order = ", ".join(f"{number} DESC" for _, number in _CONTRIBUTION)
        within = f"PARTITION BY {', '.join(keys)} ORDER BY {order}"
        query = f"SELECT r.*, row_number() OVER ({within}) AS nth FROM ({query}) AS r"
    records.store(
        GROUPS,
        f"SELECT {', '.join(wanted)} FROM ({query}) AS v GROUP BY {', '.join(keys)}",
    )


def inner_cells(task: CheckedRecords) -> pa.Table:
    """Return the finest cells: groups by tidy codes, with their sums combined."""
    records, columns, facts = task.records, task.columns, task.facts
    keys = [f"d{k}" for k in range(len(columns.by))]
    local = records.local
    names = [row[0] for row in local.sql(f"DESCRIBE {GROUPS}").fetchall()]
    codes = ", ".join(
        f"{tidied(key, columns.digits.get(name))} AS {key}"
        for key, name in zip(keys, columns.by, strict=True)
    )
    key_list = ", ".join(keys)
    others = ", ".join(name for name in names if name not in keys)
    local.execute(
        f"CREATE OR REPLACE TEMP VIEW tidy AS SELECT {codes}, {others} FROM {GROUPS}"
    )
    many, distinct = local.sql(
        f"SELECT count(*), count(DISTINCT ({key_list},)) FROM tidy"
    ).fetchall()[0]
    cells = "tidy" if many == distinct else f"({_merged(names, keys)})"
    parts = [*keys, "CAST(n AS BIGINT) AS n", "CAST(nz AS BIGINT) AS nz"]
    if "h0" in names:
        parts.append(f"CASE WHEN nz = 1 OR n = 1 THEN {_RECORD} ELSE 0 END AS who")
    else:
        parts.append("0 AS who")
    scales = {"size": "value", "active": "units"}
    for name in ("value", "size", "units", "active", "total", "cost"):
        if f"{name}0" in names:
            fixed = facts.fixed(scales.get(name, name))
            parts.append(f"{fixed.as_double(name)} AS {name}")
    parts += [name for name in names if name.startswith((*_LISTS, "ask"))]
    if "units0" not in names:
        parts.append("CAST(n AS DOUBLE) AS units")
    return local.sql(
        f"SELECT {', '.join(parts)} FROM {cells} ORDER BY {key_list}"
    ).to_arrow_table()


def _merged(names: Sequence[str], keys: Sequence[str]) -> str:
    """Write the query that merges groups whose codes are one code when tidied."""
    key_list = ", ".join(keys)
    sums = []
    for name in names:
        if name in keys or name.startswith(_LISTS):
            continue
        if name in HASHES:
            # Records that contribute nothing do not count where one contributes.
            one = f"max(CASE WHEN nz = 1 THEN {name} END)"
            sums.append(f"CASE WHEN sum(nz) = 1 THEN {one} ELSE max({name}) END {name}")
            continue
        how = "max" if name.startswith("ask") else "sum"
        sums.append(f"{how}({name}) AS {name}")
    for together in (_TOP, _CONTRIBUTION):
        kinds = [name for name, _ in together if f"{name}0" in names]
        n = sum(f"{kind}{i}" in names for kind in kinds[:1] for i in range(len(names)))
        each = ", ".join(
            "{" + ", ".join(f"'{kind}': {kind}{i}" for kind in kinds) + "}"
            for i in range(n)
        )
        largest = f"list_reverse_sort(flatten(list([{each}])))"
        sums += [
            f"{largest}[{i + 1}].{kind} AS {kind}{i}"
            for i in range(n)
            for kind in kinds
        ]
    return f"SELECT {key_list}, {', '.join(sums)} FROM tidy GROUP BY {key_list}"


def dimensions_of(
    rows: pa.Table,
    by: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    total: str,
    flat: Collection[str] = (),
) -> tuple[tuple[Dimension, ...], NDArray[np.int32]]:
    """Return the dimensions and the node numbers of the finest cells.

    Codes of `flat` are taken as they are, even words for totals.
    """
    counts = rows.column("n").to_numpy()
    dimensions: list[Dimension] = []
    codes = np.empty((len(rows), len(by)), dtype=np.int32)
    for k, name in enumerate(by):
        encoded = pc.dictionary_encode(rows.column(f"d{k}").combine_chunks())
        labels: list[str] = encoded.dictionary.to_pylist()
        index = encoded.indices.to_numpy(zero_copy_only=False)
        records_of = np.zeros(len(labels))
        np.add.at(records_of, index, counts)
        tree = hierarchies.get(name)
        if tree is None:
            tree = _flat(name, labels, records_of, total)
            if name not in flat:
                _refuse_total_words(name, labels, records_of)
        nodes = _nodes(name, labels, records_of, tree)
        codes[:, k] = nodes[index]
        dimensions.append(Dimension(name, tree))
    return tuple(dimensions), codes


def cells_of(rows: pa.Table, codes: NDArray[np.int32], facts: Facts) -> Cells:
    """Turn the aggregated rows into arrays."""

    def column(name: str) -> NDArray[np.float64]:
        return rows.column(name).to_numpy().astype(np.float64)

    def tidy(name: str) -> NDArray[np.float64]:
        # Totals are added from these: further digits would depend on how they nest.
        found = column(name)
        return found if facts.unit is not None else significant(found, DIGITS)

    names = set(rows.column_names)
    size, free = tidy("size"), np.zeros(len(rows))
    sums = np.column_stack(
        [
            column("n"),
            significant(column("units"), DIGITS),
            tidy("value"),
            size,
            significant(column("total"), DIGITS) if "total" in names else size,
            significant(column("cost"), DIGITS) if "cost" in names else free,
            column("nz"),
            significant(column("active" if "active" in names else "nz"), DIGITS),
        ]
    )
    return Cells(
        codes=codes,
        sums=sums,
        top=_matrix(rows, "top"),
        top_weight=_matrix(rows, "top_weight") if "top_weight0" in names else None,
        asking=_matrix(rows, "ask") if "ask0" in names else None,
        lone=rows.column("who").to_numpy().astype(np.int64),
        amount=_matrix(rows, "amount") if "amount0" in names else None,
        largest=_matrix(rows, "whose", np.int64) if "whose0" in names else None,
    )


def _largest(
    fields: Sequence[tuple[str, str]], n: int, dialect: Dialect, place: str
) -> list[str]:
    """Write the n largest by the first field, and of equal ones by the next.

    `place` is the column that numbers them in engines that cannot list them.
    """
    if not dialect.largest:
        return [
            f"coalesce(max(CASE WHEN {place} = {i + 1} THEN {number} END), 0) "
            f"AS {name}{i}"
            for name, number in fields
            for i in range(n)
        ]
    if len(fields) == 1:
        ((name, number),) = fields
        return [
            f"coalesce((max({number}, {n}))[{i + 1}], 0.0) AS {name}{i}"
            for i in range(n)
        ]
    each = ", ".join(f"'{name}': {number}" for name, number in fields)
    return [
        f"coalesce((max({{{each}}}, {n}))[{i + 1}].{name}, 0) AS {name}{i}"
        for name, _ in fields
        for i in range(n)
    ]


def _matrix(rows: pa.Table, prefix: str, kind: Any = np.float64) -> NDArray[Any]:
    found: list[NDArray[Any]] = []
    while f"{prefix}{len(found)}" in rows.column_names:
        found.append(rows.column(f"{prefix}{len(found)}").to_numpy())
    if not found:
        return np.zeros((len(rows), 0))
    return np.column_stack(found).astype(kind)


def _refuse_total_words(
    name: str, labels: list[str], counts: NDArray[np.float64]
) -> None:
    found = np.array([k for k, label in enumerate(labels) if is_total_word(label)], int)
    if len(found):
        raise InputError(
            f"column {name!r} has {_listed(labels, found, counts)}, which sounds like "
            "a total",
            expected="records of the parts only: totals are computed",
            hint="leave those records out; if it is an ordinary code, say so: "
            f"--flat {name} (Read(flat=[{name!r}]))",
        )


def _flat(
    name: str, labels: list[str], counts: NDArray[np.float64], total: str
) -> Hierarchy:
    total = tidy_code(total)
    if total in labels:
        raise InputError(
            f"column {name!r} has the code of the total, {total!r}, in "
            f"{counts[labels.index(total)]:.0f} records",
            expected="records of the parts only",
            hint="leave those records out, or give the total another code",
        )
    whole = all(word.isascii() and word.isdigit() for word in labels)
    order = (
        sorted(labels, key=lambda word: (int(word), word)) if whole else sorted(labels)
    )
    return Hierarchy.flat(order, total)


def _nodes(
    name: str, labels: list[str], counts: NDArray[np.float64], tree: Hierarchy
) -> NDArray[np.int64]:
    nodes = nodes_of(tree, labels)
    unknown = np.flatnonzero(nodes < 0)
    if len(unknown):
        raise InputError(
            f"column {name!r} has {_listed(labels, unknown, counts)}, unknown to its "
            "hierarchy",
            expected="the codes of the hierarchy",
            hint=_hint_at_zeros(name, [labels[i] for i in unknown], tree)
            or "add the codes to the hierarchy, or correct the records",
        )
    upper = np.flatnonzero(~tree.is_leaf[nodes])
    if len(upper):
        raise InputError(
            f"column {name!r} has {_listed(labels, upper, counts)}, which have parts",
            expected="codes without parts: a total is the sum of its parts",
            hint="code the records finer, or add a part for the rest",
        )
    return nodes


def _hint_at_zeros(name: str, unknown: list[str], tree: Hierarchy) -> str:
    """Return a hint where codes only lack leading zeros, which spreadsheets drop."""
    for width in range(2, 1 + max(map(len, tree.codes))):
        if all(w.isdigit() and w.zfill(width) in tree.node_of for w in unknown):
            return (
                f"if leading zeros were lost, say how many digits the codes have: "
                f"--digits {name}={width} (Read(digits={{{name!r}: {width}}}))"
            )
    return ""


def _listed(
    codes: list[str], which: NDArray[np.int64], counts: NDArray[np.float64]
) -> str:
    noun = "code" if len(which) == 1 else "codes"
    named = listed([codes[i] for i in which])
    return f"{noun} {named} ({counts[which].sum():.0f} records)"


def roll_up(dimensions: Sequence[Dimension], cells: Cells) -> Cells:
    """Add all totals and sort the cells by their codes.

    Sums add, and the largest contributions of a total are the largest among the largest
    of its parts.
    """
    codes = cells.codes
    for more, parts, group in add_totals(dimensions, cells.codes):
        codes = more
        cells = _joined(cells, _totals_of(_taken(cells, parts), group))
    order = CellIndex.of(dimensions, codes).order
    return _taken(replace(cells, codes=codes), order)


def _totals_of(parts: Cells, group: NDArray[np.int64]) -> Cells:
    """Merge parts of the same total; the caller sets the codes."""
    order = np.argsort(group, kind="stable")
    parts, group = _taken(parts, order), group[order]
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    top, weight = _largest_of_group(group, parts.top, parts.top_weight)
    amount, largest = None, None
    if parts.amount is not None:
        amount, largest = _largest_of_group(group, parts.amount, parts.largest)
    sums = np.add.reduceat(parts.sums, starts, axis=0)
    anyone = np.maximum.reduceat(parts.lone, starts)
    # Records that contribute nothing do not count where one contributes.
    active = np.where(parts.sums[:, ACTIVE] > 0, parts.lone, 0)
    active = np.maximum.reduceat(active, starts)
    lone = np.where(sums[:, ACTIVE] == 1, active, 0)
    return Cells(
        codes=parts.codes[starts],
        sums=sums,
        top=top,
        top_weight=weight,
        asking=(
            None
            if parts.asking is None
            else np.maximum.reduceat(parts.asking, starts, axis=0)
        ),
        lone=np.where(sums[:, COUNT] == 1, anyone, lone),
        amount=amount,
        largest=largest,
    )


def _largest_of_group(
    group: NDArray[np.int64], top: NDArray[np.float64], weight: NDArray[Any] | None
) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
    """Return the largest entries of each group of rows; `group` is sorted.

    Of equal ones that with the larger `weight` comes first.
    """
    n = top.shape[1]
    groups = int(group[-1]) + 1
    if n == 0:
        return np.zeros((groups, 0)), None if weight is None else np.zeros((groups, 0))
    owner, size = np.repeat(group, n), top.ravel()
    if weight is None:
        order = np.lexsort((-size, owner))
    else:
        order = np.lexsort((-weight.ravel(), -size, owner))
    first = np.searchsorted(owner, np.arange(groups))
    # Each row brings n entries, so each group has at least n.
    chosen = order[first[:, None] + np.arange(n)]
    return size[chosen], None if weight is None else weight.ravel()[chosen]


def _taken(cells: Cells, rows: NDArray[np.int64]) -> Cells:
    taken: dict[str, Any] = {
        name: None if column is None else column[rows]
        for name, column in vars(cells).items()
    }
    return Cells(**taken)


def _joined(first: Cells, second: Cells) -> Cells:
    both: dict[str, Any] = {
        name: None if column is None else np.concatenate([column, vars(second)[name]])
        for name, column in vars(first).items()
    }
    return Cells(**both)
