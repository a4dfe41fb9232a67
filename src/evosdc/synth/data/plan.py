"""In which order tables are counted, and which follow from a larger one by addition.

A table of three variables is the sum of one of four over the fourth. Adding up a
small table is far cheaper than visiting every record again, so only tables that no
other table of the objective contains are counted from records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# Tables up to this many cells are counted by cell number in 16 bits.
SMALL = 1 << 14


class Plan(NamedTuple):
    """The order of counting; plain arrays for kernels.

    `visit` names the tables, each right after those that it follows from. `level` is
    0 for a table counted from records; else it is summed from the last table of the
    level before, over a variable with stride and size `summed`.
    """

    visit: Ints
    level: Ints
    summed: Ints


def build_plan(tables: list[tuple[int, ...]], sizes: Ints) -> Plan:
    """Choose for each table the cheapest other one that contains it."""
    cells = [int(np.prod(sizes[list(t)], dtype=object)) for t in tables]
    place = {t: k for k, t in reversed(list(enumerate(tables)))}
    below: dict[int, list[int]] = {}
    summed = np.zeros((len(tables), 2), np.int64)
    roots = []
    for k, table in enumerate(tables):
        best = _source(table, place, cells, sizes)
        if best is None or place[table] != k:
            roots.append(k)
            continue
        source, extra = best
        lower = list(tables[source][: tables[source].index(extra)])
        summed[k] = int(np.prod(sizes[lower], dtype=object)), sizes[extra]
        below.setdefault(source, []).append(k)
    visit: list[int] = []
    level = np.zeros(len(tables), np.int64)
    stack = [(k, 0) for k in sorted(roots, key=lambda k: tables[k], reverse=True)]
    while stack:
        k, depth = stack.pop()
        visit.append(k)
        level[k] = depth
        stack += [(s, depth + 1) for s in below.get(k, [])]
    return Plan(np.array(visit, np.int64), level, summed)


def _source(
    table: tuple[int, ...],
    place: dict[tuple[int, ...], int],
    cells: list[int],
    sizes: Ints,
) -> tuple[int, int] | None:
    """Return the smallest table with one variable more, and that variable."""
    found = []
    for extra in range(len(sizes)):
        for at in range(len(table) + 1):
            k = place.get((*table[:at], extra, *table[at:]), -1)
            if k >= 0 and cells[k] <= SMALL:
                # Of two alike the later place: additions run over longer rows.
                found.append((cells[k], -at, k, extra))
    if not found:
        return None
    *_, k, extra = min(found)
    return k, extra
