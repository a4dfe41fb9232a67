"""Undeclared totals: which code is the total, and is any code a sub-total?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError, NotAdditiveError, TableError
from evosdc.table.build import complete
from evosdc.table.hierarchy import (
    TOTAL,
    Dimension,
    Hierarchy,
    is_total_word,
    listed,
    may_be_total,
    tidy_code,
)
from evosdc.table.index import cell_keys
from evosdc.table.subtotals import (
    CodeRows,
    Sum,
    find_sum,
    find_sums,
    sums_of_all,
)

# Entries that are examined at most: of larger tables only some columns are.
_MAX_ENTRIES = 200_000
# Lines of a suggested hierarchy that a message shows.
_MAX_LINES = 12
# Bits of evidence beyond chance from which a code counts as the total whatever its
# name: with several entries, and with a single one.
_TOTAL_BITS, _TOTAL_BITS_OF_ONE = 3.0, 8.0
# The same from which a possible sub-total is noted, from which a code is a sub-total
# although the total adds up with it as a part, and for codes of records, where sums of
# small numbers agree now and then.
_NOTE_BITS = 3.0
_BITS_AGAINST_TOTALS = 20.0
_BITS_IN_RECORDS = 20.0

Codes = NDArray[np.integer[Any]]


def choose_total(
    column: str,
    names: Sequence[str],
    k: int,
    codes: Codes,
    values: NDArray[np.float64],
    total: str | None,
) -> tuple[str, list[str]]:
    """Return the code of the total of a flat dimension, and notes on the choice.

    The total that was asked for if the column has it, else ``Total``, else a word for a
    total, else a code that is the sum of all others whatever its name.

    Parameters
    ----------
    k, codes, values
        The column of `codes` that holds numbers of `names`, and the cells.
    """
    wanted = TOTAL if total is None else tidy_code(total)
    if wanted in names:
        return wanted, []
    words = [name for name in names if is_total_word(name)]
    if len(words) > 1:
        raise TableError(
            f"column {column!r} has several codes that sound like totals: "
            f"{listed(words)}",
            expected="one code for the total",
            hint=f"name it (--total, totals={{{column!r}: ...}}) and remove the others",
        )
    note = "column {!r}: {!r} is taken for the total{}"
    if words:
        return words[0], [note.format(column, words[0], "")]
    rows = _rows_of(names, k, codes, values, None, np.ones(len(codes), dtype=bool))
    for number, bits, entries in sums_of_all(rows):
        name = names[number]
        if may_be_total(name) or bits >= (
            _TOTAL_BITS if entries > 1 else _TOTAL_BITS_OF_ONE
        ):
            why = ", because its rows are the sums of all others"
            return name, [note.format(column, name, why)]
    return wanted, []


def name_total(
    column: str, tree: Hierarchy, words: Sequence[str]
) -> tuple[Hierarchy, list[str]]:
    """Give the root of a tree the code that the total has in the column.

    Otherwise a second total would be computed above that code.
    """
    if tree.total in words:
        return tree, []
    top = tree.parts[0]
    note = "column {!r}: {!r} is taken for the total"
    if len(top) == 1 and tree.parts[top[0]]:
        # The file lists the total itself, above all other codes.
        name = tree.codes[top[0]]
        if name in words or is_total_word(name):
            # It is node 1, and all the others are below it.
            parents = (-1, *(parent - 1 for parent in tree.parents[2:]))
            return Hierarchy(tree.codes[1:], parents), [note.format(column, name)]
    strange = [w for w in words if w not in tree.node_of and is_total_word(w)]
    if len(strange) == 1:
        named = Hierarchy((strange[0], *tree.codes[1:]), tree.parents)
        return named, [note.format(column, strange[0])]
    return tree, []


def _rows_of(
    names: Sequence[str],
    k: int,
    codes: Codes,
    values: NDArray[np.float64],
    counts: NDArray[np.int64] | None,
    given: NDArray[np.bool_],
    totals: NDArray[np.bool_] | None = None,
) -> CodeRows:
    """Arrange cells as rows, one per code of column `k`.

    `totals` says which codes of each cell are totals, one column per dimension: the
    columns of rows are grouped by that.
    """
    n, others = len(names), np.delete(codes, k, axis=1)
    keys = cell_keys((others.max(axis=0, initial=0) + 1).tolist(), others)
    found, first, column, size = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    most = max(50, _MAX_ENTRIES // n)
    if len(found) > most:
        # Columns with most entries give most evidence.
        kept = np.sort(np.argsort(-size, kind="stable")[:most])
        place = np.full(len(found), -1)
        place[kept] = np.arange(most)
        inside = place[column] >= 0
        codes, values, given = codes[inside], values[inside], given[inside]
        counts = None if counts is None else counts[inside]
        column, first = place[column[inside]], first[kept]
    shape = (n, len(first))
    numbers, known = np.zeros(shape), np.zeros(shape, dtype=bool)
    np.add.at(numbers, (codes[:, k], column), values)
    known[codes[given, k], column[given]] = True
    kind = np.zeros(len(first), dtype=np.int64)
    if totals is not None:
        for side in np.delete(totals, k, axis=1)[first].T:
            kind = 2 * kind + side
    if counts is not None:
        frequencies = np.zeros(shape)
        np.add.at(frequencies, (codes[:, k], column), counts)
        numbers = np.hstack([numbers, frequencies])
        known, kind = np.hstack([known, known]), np.tile(kind, 2)
    return CodeRows(tuple(names), numbers, known, kind)


def find_hidden_sums(
    dimensions: Sequence[Dimension],
    codes: NDArray[np.int32],
    values: NDArray[np.float64],
    counts: NDArray[np.int64] | None,
    *,
    skip: Collection[str] = (),
    chance: Collection[str] = (),
) -> list[str]:
    """Refuse codes that are sums of their siblings; return notes on possible ones.

    Given totals that add up are evidence against a sub-total among their parts: more
    evidence is required there that they count some parts twice.

    Parameters
    ----------
    skip
        Dimensions that are not examined.
    chance
        Dimensions in which sums are declared to be chance: noted, not refused.
    """
    if all(d.name in skip for d in dimensions):
        return []
    full, numbers, frequencies = complete(dimensions, codes, values, counts)
    given = np.arange(len(full)) < len(codes)
    upper = np.column_stack(
        [~d.hierarchy.is_leaf[full[:, k]] for k, d in enumerate(dimensions)]
    )
    notes: list[str] = []
    for k, d in enumerate(dimensions):
        if d.name in skip:
            continue
        for node, parts in enumerate(d.hierarchy.parts):
            if len(parts) < 2:
                continue
            members = [node, *parts]
            place = np.full(len(d.hierarchy), -1, dtype=np.int64)
            place[members] = np.arange(len(members))
            inside = place[full[:, k]] >= 0
            local = full[inside].astype(np.int64)
            local[:, k] = place[local[:, k]]
            rows = _rows_of(
                [d.hierarchy.codes[m] for m in members],
                k,
                local,
                numbers[inside],
                None if frequencies is None else frequencies[inside],
                given[inside],
                upper[inside],
            )
            notes += _examine(d, rows, chance=d.name in chance)
    return notes


def refuse_totals_in_records(
    dimensions: Sequence[Dimension],
    codes: NDArray[np.int32],
    values: NDArray[np.float64],
    names: Collection[str],
) -> None:
    """Refuse codes of flat dimensions whose records are sums of those of other codes.

    Every total would count them twice, and hidden parts would follow by subtraction.
    """
    for k, d in enumerate(dimensions):
        if d.name not in names or len(d.hierarchy) < 4:
            continue
        local = codes.astype(np.int64)
        local[:, k] -= 1
        rows = _rows_of(
            d.hierarchy.codes[1:],
            k,
            local,
            values,
            None,
            np.ones(len(codes), dtype=bool),
        )
        for found in find_sums(rows):
            if not found.sure or found.bits < _BITS_IN_RECORDS or len(found.parts) < 2:
                continue
            parts = [rows.names[p] for p in found.parts]
            raise InputError(
                f"the records of {d.name}={rows.names[found.code]!r} add up to those "
                f"of {listed(parts, 8)} in every cell",
                expected="records of the parts only: totals are computed",
                hint="leave the records of totals out; if it is chance, say so: "
                f"--flat {d.name} (Read(flat=[{d.name!r}]))",
            )


def _examine(d: Dimension, rows: CodeRows, *, chance: bool) -> list[str]:
    """Refuse or note sums among the parts of a total, which is row 0."""
    parts = list(range(1, len(rows.names)))
    stated = bool(np.any(rows.given[0] & (rows.numbers[0] != 0)))
    adds_up = stated and rows.holds(0, parts)
    sums = find_sums(rows, leave_out=[0], trusting=stated and not adds_up)
    sure = [s for s in sums if s.sure]
    if adds_up:
        # The total was computed from all rows, sub-totals included.
        sums = sure = [
            s
            for s in sure
            if s.bits >= _BITS_AGAINST_TOTALS and not s.near and len(s.parts) > 1
        ]
        stated = False
    if chance:
        return [f"{_sentence(d.name, rows, s)}, by chance (--flat)" for s in sure]
    if not stated:
        if sure:
            raise TableError(
                "; ".join(_sentence(d.name, rows, s) for s in sure[:3])
                + _more(len(sure) - 3),
                expected="codes that are not sums of other codes, or the tree they "
                "form: a hidden cell would follow by subtraction",
                hint=_hint(d, rows, sure),
            )
        return [
            _sentence(d.name, rows, s)
            + ", which may be chance; if it is a sub-total, give the tree: "
            f"--hierarchy {d.name}=FILE"
            for s in sums
            if s.bits >= _NOTE_BITS
        ]
    for chosen in (sums, sure):
        below = {p for s in chosen for p in s.parts}
        if below and rows.holds(0, [p for p in parts if p not in below]):
            sure = list(chosen)
            break
    if sure:
        raise NotAdditiveError(
            f"the totals {d.name}={rows.names[0]} do not add up, because "
            + "; ".join(_sentence(d.name, rows, s) for s in sure[:3])
            + _more(len(sure) - 3),
            expected="parts that are counted once, or the tree they form",
            hint=_hint(d, rows, sure),
        )
    whole = find_sum(rows, 0, np.arange(len(rows.names)) > 0)
    if whole is not None and len(whole.parts) < len(parts):
        rest = [rows.names[p] for p in parts if p not in whole.parts]
        raise NotAdditiveError(
            f"the totals {d.name}={rows.names[0]} do not add up: they are the sums of "
            f"{listed([rows.names[p] for p in whole.parts])} alone, and not of "
            f"{listed(rest)}",
            expected="a total of all codes",
            hint=f"if {listed(rest)} are parts of other codes, give the tree they "
            f"form: --hierarchy {d.name}=FILE; do not leave the totals out, or a "
            "sub-total becomes an ordinary code",
        )
    return []


def _sentence(name: str, rows: CodeRows, found: Sum) -> str:
    parts = [rows.names[p] for p in found.parts]
    if len(parts) == 1:
        return (
            f"the rows of {name}={rows.names[found.code]!r} equal those of {parts[0]!r}"
        )
    return (
        f"the rows of {name}={rows.names[found.code]!r} are the sums of "
        f"{listed(parts, 8)}{', to within rounding' * found.near}"
    )


def _more(count: int) -> str:
    return f"; and {count} more such codes" if count > 0 else ""


def _hint(d: Dimension, rows: CodeRows, sums: Sequence[Sum]) -> str:
    """Suggest the hierarchy, and how to declare that there is none."""
    lines = _tree_lines(rows, sums, leave_out=[0])
    top = [line for line in lines if not line.startswith("@")]
    name, total = d.name, ""
    if len(top) == 1 and d.hierarchy.is_flat:
        # The code above all others is the total, which a tree does not list.
        total = f" --total {top[0]!r}"
        lines = [line[1:] for line in lines[1:]]
    shown = ", ".join(lines[:_MAX_LINES]) + (", ..." * (len(lines) > _MAX_LINES))
    kind = (
        "give the tree"
        if d.hierarchy.is_flat
        else "correct the tree, so that they hang under it"
    )
    if all("@" not in line for line in lines) and total:
        return (
            f"name the total:{total}; if it is chance, say so: --flat {name} "
            f"(Read(flat=[{name!r}]))"
        )
    return (
        f"{kind}: --hierarchy {name}=FILE{total}, where FILE is a .hrc with one code "
        f"per line: {shown}; if it is chance, say so: --flat {name} "
        f"(Read(flat=[{name!r}]))"
    )


def _tree_lines(
    rows: CodeRows, sums: Sequence[Sum], leave_out: Sequence[int]
) -> list[str]:
    """Return the lines of a ``.hrc`` file with the sums that were found."""
    parts = {s.code: s.parts for s in sums}
    below = {p for s in sums for p in s.parts}
    lines: list[str] = []
    stack = [
        (c, 0)
        for c in reversed(range(len(rows.names)))
        if c not in below and c not in set(leave_out)
    ]
    while stack:
        code, depth = stack.pop()
        lines.append("@" * depth + rows.names[code])
        stack += [(p, depth + 1) for p in sorted(parts.get(code, ()), reverse=True)]
    return lines
