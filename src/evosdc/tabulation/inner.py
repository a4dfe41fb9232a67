"""The finest cells: one aggregation of all records in DuckDB."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.table import Dimension, Hierarchy
from evosdc.table.codes import is_total_word, tidy_code
from evosdc.table.rounding import significant
from evosdc.tabulation.check import Facts
from evosdc.tabulation.source import Columns, literal

# Digits of a sum that do not depend on the order of adding.
DIGITS = 14

COUNT, UNITS, VALUE, SIZE, TOTAL, COST = range(6)


@dataclass(frozen=True, eq=False)
class Cells:
    """Aggregates of cells, a row each; what `roll_up` adds up.

    Attributes
    ----------
    codes
        Node numbers, a column per dimension.
    sums
        Columns COUNT, UNITS, VALUE, SIZE, TOTAL and COST, which add up.
    top, top_weight
        The largest contributions, downwards, 0 where there are no more, and their
        sampling weights.
    asking
        Largest contribution of those who ask for protection, a column per code.
    who
        The record that is alone in a cell, as a number; 0 where there are more.
    """

    codes: NDArray[np.int32]
    sums: NDArray[np.float64]
    top: NDArray[np.float64]
    top_weight: NDArray[np.float64] | None
    asking: NDArray[np.float64] | None
    who: NDArray[np.uint64]


def inner_cells(
    connection: Any,
    columns: Columns,
    facts: Facts,
    n_top: int,
    request_codes: Sequence[str] | None,
) -> pa.Table:
    """Aggregate the records to their finest cells.

    DuckDB's ``max(x, n)`` keeps the n largest of each group on the way: measured on ten
    million records it costs a fifth more than the sums alone, in the same memory.
    """
    unit = facts.unit
    if unit is not None:
        # Whole numbers below 2**53: every order of adding gives the same sum.
        value = f"sum(round(x * w * {unit!r}))"
        size = f"sum(abs(round(x * w * {unit!r})))"
    else:
        value, size = "fsum(x * w)", "fsum(abs(x * w))"
    shadowed = columns.shadow is not None
    parts = [
        *(f"d{k}" for k in range(len(columns.by))),
        "count(*) AS n",
        ("fsum(w)" if columns.weight else "count(*)") + "::DOUBLE AS units",
        f"{value} AS value",
        f"{size} AS size",
        "CASE WHEN count(*) = 1 THEN any_value(who) ELSE 0 END::UBIGINT AS who",
    ]
    if shadowed:
        parts.append("fsum(abs(s * w)) AS total")
    if columns.cost is not None:
        parts.append("fsum(c * w) AS cost")
    parts += _tops(n_top, weighted=columns.weight is not None)
    if request_codes is not None:
        for i, code in enumerate(request_codes):
            parts.append(
                f"coalesce(max(abs(s)) FILTER (r = {literal(code)}), 0.0) AS ask{i}"
            )
    keys = ", ".join(f"d{k}" for k in range(len(columns.by)))
    return connection.sql(
        f"SELECT {', '.join(parts)} FROM records GROUP BY {keys} ORDER BY {keys}"
    ).to_arrow_table()


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
        # Threads add up in any order: the last digits of such sums mean nothing.
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
        ]
    )
    return Cells(
        codes=codes,
        sums=sums,
        top=_matrix(rows, "top"),
        top_weight=_matrix(rows, "top_weight") if "top_weight0" in names else None,
        asking=_matrix(rows, "ask") if "ask0" in names else None,
        who=rows.column("who").to_numpy(),
    )


def _tops(n_top: int, *, weighted: bool) -> list[str]:
    if n_top == 0:
        return []
    if not weighted:
        return [
            f"coalesce((max(abs(s), {n_top}))[{i + 1}], 0.0) AS top{i}"
            for i in range(n_top)
        ]
    # Largest first, and of equal ones the heavier first: the order is part of the rule.
    pairs = f"(max({{'s': abs(s), 'w': w}}, {n_top}))"
    return [
        f"coalesce({pairs}[{i + 1}].{field}, 0.0) AS {name}{i}"
        for field, name in (("s", "top"), ("w", "top_weight"))
        for i in range(n_top)
    ]


def _matrix(rows: pa.Table, prefix: str) -> NDArray[np.float64]:
    found: list[NDArray[np.float64]] = []
    while f"{prefix}{len(found)}" in rows.column_names:
        found.append(rows.column(f"{prefix}{len(found)}").to_numpy())
    if not found:
        return np.zeros((len(rows), 0))
    return np.column_stack(found).astype(np.float64)


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
            f"--flat {name} (flat=[{name!r}])",
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
) -> NDArray[np.int32]:
    nodes = np.array([tree.node_of.get(word, -1) for word in words], dtype=np.int32)
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
                f"--digits {name}={width} (digits={{{name!r}: {width}}})"
            )
    return ""


def _listed(
    words: list[str], which: NDArray[np.int64], counts: NDArray[np.float64]
) -> str:
    first = ", ".join(repr(words[i]) for i in which[:5])
    more = f" and {len(which) - 5} more" if len(which) > 5 else ""
    noun = "code" if len(which) == 1 else "codes"
    return f"{noun} {first}{more} ({counts[which].sum():.0f} records)"
