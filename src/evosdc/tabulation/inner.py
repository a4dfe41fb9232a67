"""The finest cells: one aggregation of all records, where they are."""

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
from evosdc.table.codes import is_total_word, tidy_code
from evosdc.table.index import nodes_of
from evosdc.table.rounding import significant
from evosdc.tabulation.check import CheckedRecords, Facts, measures_of
from evosdc.tabulation.identity import DIGITS, HASHES, PRIME, hashing
from evosdc.tabulation.source import Columns, tidied

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
    """Aggregates of cells, a row each; what `roll_up` adds up.

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
    who
        The record that is alone in a cell, as a number; 0 where there are more. Records
        that contribute nothing do not count beside one that does.
    amount, by
        The two largest contributions to the response itself, weighted, and the records
        that they are of; None where nobody asked.
    """

    codes: NDArray[np.int32]
    sums: NDArray[np.float64]
    top: NDArray[np.float64]
    top_weight: NDArray[np.float64] | None
    asking: NDArray[np.float64] | None
    who: NDArray[np.int64]
    amount: NDArray[np.float64] | None = None
    by: NDArray[np.int64] | None = None


def group_records(task: CheckedRecords) -> None:
    """Aggregate the records by their codes as they are written, and keep the answer.

    Where contributors are records, that which is alone in a group is told, and the
    largest. Where they are holdings, see `evosdc.tabulation.holdings`.

    DuckDB's ``max(x, n)`` keeps the n largest of each group on the way: measured on ten
    million records it costs a fifth more than the sums alone, in the same memory. Other
    engines number the records of each group from the largest down.
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
    active = is_active(dialect)
    wanted = task.plain(codes)
    wanted += ["count(*) AS n", f"{count_active(dialect, columns)} AS nz"]
    if identify:
        numbers, hashes = hashing(records)
        first += numbers
        second += hashes
        wanted += [
            f"CASE WHEN {count_active(dialect, columns)} = 1 THEN "
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
    records.keep(
        GROUPS,
        f"SELECT {', '.join(wanted)} FROM ({query}) AS v GROUP BY {', '.join(keys)}",
    )


def inner_cells(task: CheckedRecords) -> pa.Table:
    """Return the finest cells: groups by tidy codes, with their sums put together."""
    records, columns, facts = task.records, task.columns, task.facts
    keys = [f"d{k}" for k in range(len(columns.by))]
    house = records.house
    names = [row[0] for row in house.sql(f"DESCRIBE {GROUPS}").fetchall()]
    codes = ", ".join(
        f"{tidied(key, columns.digits.get(name))} AS {key}"
        for key, name in zip(keys, columns.by, strict=True)
    )
    listed = ", ".join(keys)
    others = ", ".join(name for name in names if name not in keys)
    house.execute(
        f"CREATE OR REPLACE TEMP VIEW tidy AS SELECT {codes}, {others} FROM {GROUPS}"
    )
    many, distinct = house.sql(
        f"SELECT count(*), count(DISTINCT ({listed},)) FROM tidy"
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
            parts.append(f"{fixed.together(name)} AS {name}")
    parts += [name for name in names if name.startswith((*_LISTS, "ask"))]
    if "units0" not in names:
        parts.append("CAST(n AS DOUBLE) AS units")
    return house.sql(
        f"SELECT {', '.join(parts)} FROM {cells} ORDER BY {listed}"
    ).to_arrow_table()


def _merged(names: Sequence[str], keys: Sequence[str]) -> str:
    """Write the query that merges groups whose codes are one code when tidied."""
    listed = ", ".join(keys)
    sums = []
    for name in names:
        if name in keys or name.startswith(_LISTS):
            continue
        if name in HASHES:
            # Beside a record that contributes, those that contribute nothing are none.
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
    return f"SELECT {listed}, {', '.join(sums)} FROM tidy GROUP BY {listed}"


def is_active(dialect: Dialect) -> str:
    """Return the condition that a record contributes to the response, up or down."""
    return f"x <> {dialect.constant(0.0)}"


def count_active(dialect: Dialect, columns: Columns) -> str:
    """Return the number of records that contribute; those of counts all do."""
    if columns.value is None:
        return "count(*)"
    return f"count(CASE WHEN {is_active(dialect)} THEN 1 END)"


def dimensions_of(
    rows: pa.Table,
    by: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    total: str,
    flat: Collection[str] = (),
) -> tuple[tuple[Dimension, ...], NDArray[np.int32]]:
    """Return the dimensions and the node numbers of the finest cells.

    Codes of `flat` are taken as they are, even where they sound like totals.
    """
    counts = rows.column("n").to_numpy()
    dimensions: list[Dimension] = []
    codes = np.empty((len(rows), len(by)), dtype=np.int32)
    for k, name in enumerate(by):
        encoded = pc.dictionary_encode(rows.column(f"d{k}").combine_chunks())
        words: list[str] = encoded.dictionary.to_pylist()
        index = encoded.indices.to_numpy(zero_copy_only=False)
        per_word = np.zeros(len(words))
        np.add.at(per_word, index, counts)
        tree = hierarchies.get(name)
        if tree is None:
            tree = _flat(name, words, per_word, total)
            if name not in flat:
                _refuse_total_words(name, words, per_word)
        nodes = _nodes(name, words, per_word, tree)
        codes[:, k] = nodes[index]
        dimensions.append(Dimension(name, tree))
    return tuple(dimensions), codes


def cells_of(rows: pa.Table, codes: NDArray[np.int32], facts: Facts) -> Cells:
    """Turn the aggregated rows into arrays."""

    def column(name: str) -> NDArray[np.float64]:
        return rows.column(name).to_numpy().astype(np.float64)

    def tidy(name: str) -> NDArray[np.float64]:
        # Totals are added from these: digits beyond would depend on how they nest.
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
        who=rows.column("who").to_numpy().astype(np.int64),
        amount=_matrix(rows, "amount") if "amount0" in names else None,
        by=_matrix(rows, "whose", np.int64) if "whose0" in names else None,
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
    name: str, words: list[str], counts: NDArray[np.float64]
) -> None:
    found = np.array([k for k, word in enumerate(words) if is_total_word(word)], int)
    if len(found):
        raise InputError(
            f"column {name!r} has {_listed(words, found, counts)}, which sounds like "
            "a total",
            expected="records of the parts only: totals are computed",
            hint="leave those records out; if it is an ordinary code, say so: "
            f"--flat {name} (Read(flat=[{name!r}]))",
        )


def _flat(
    name: str, words: list[str], counts: NDArray[np.float64], total: str
) -> Hierarchy:
    total = tidy_code(total)
    if total in words:
        raise InputError(
            f"column {name!r} has the code of the total, {total!r}, in "
            f"{counts[words.index(total)]:.0f} records",
            expected="records of the parts only",
            hint="leave those records out, or give the total another code",
        )
    whole = all(word.isascii() and word.isdigit() for word in words)
    order = (
        sorted(words, key=lambda word: (int(word), word)) if whole else sorted(words)
    )
    return Hierarchy.flat(order, total)


def _nodes(
    name: str, words: list[str], counts: NDArray[np.float64], tree: Hierarchy
) -> NDArray[np.int64]:
    nodes = nodes_of(tree, words)
    unknown = np.flatnonzero(nodes < 0)
    if len(unknown):
        raise InputError(
            f"column {name!r} has {_listed(words, unknown, counts)}, unknown to its "
            "hierarchy",
            expected="the codes of the hierarchy",
            hint=_lost_zeros(name, [words[i] for i in unknown], tree)
            or "add the codes to the hierarchy, or correct the records",
        )
    upper = np.flatnonzero(~tree.is_leaf[nodes])
    if len(upper):
        raise InputError(
            f"column {name!r} has {_listed(words, upper, counts)}, which have parts",
            expected="codes without parts: a total is the sum of its parts",
            hint="code the records finer, or add a part for the rest",
        )
    return nodes


def _lost_zeros(name: str, unknown: list[str], tree: Hierarchy) -> str:
    """What to do where only leading zeros are missing, which spreadsheets drop."""
    for width in range(2, 1 + max(map(len, tree.codes))):
        if all(w.isdigit() and w.zfill(width) in tree.node_of for w in unknown):
            return (
                f"if leading zeros were lost, say how many digits the codes have: "
                f"--digits {name}={width} (Read(digits={{{name!r}: {width}}}))"
            )
    return ""


def _listed(
    words: list[str], which: NDArray[np.int64], counts: NDArray[np.float64]
) -> str:
    first = ", ".join(repr(words[i]) for i in which[:5])
    more = f" and {len(which) - 5} more" if len(which) > 5 else ""
    noun = "code" if len(which) == 1 else "codes"
    return f"{noun} {first}{more} ({counts[which].sum():.0f} records)"
