"""Sums of cells of one respondent: the judge asks how far each can be moved.

A sum is judged like a cell of its own: one more column of the table, which an equation
ties to its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.attack.certificate import Witness, assemble
from evosdc.attack.demands import strict_margin
from evosdc.attack.hints import Hint
from evosdc.attack.judge import judge
from evosdc.parallel import Workers
from evosdc.results import Certificate, Exposure, TableVerdict
from evosdc.table import Table
from evosdc.table.attackers import RespondentSums
from evosdc.table.status import PRIMARY


def judge_sums(
    table: Table,
    sums: RespondentSums,
    numbers: Sequence[int],
    *,
    strict: bool,
    deadline: float | None,
    known: NDArray[np.bool_] | None,
    whole: bool,
    hints: Sequence[Hint],
    workers: Workers,
) -> tuple[TableVerdict, dict[int, Exposure], Certificate]:
    """Judge some sums, by number, as the public sees the table.

    Returns
    -------
    :
        The verdict on them, the exposed ones by number, and witnesses over the cells of
        the table.
    """
    parts = [sums.cells(number) for number in numbers]
    n, more = len(table), len(parts)
    larger = _with_columns(table, sums, numbers, strict)
    of_sum = np.arange(n + more) >= n
    nobody = np.zeros(n, dtype=bool)
    verdict, found = judge(
        larger,
        deadline=deadline,
        known=np.append(nobody if known is None else known, np.zeros(more, bool)),
        whole=whole,
        among=of_sum,
        hints=_with_sums(hints, parts, n),
        workers=workers,
    )
    exposed = {
        numbers[e.cell - n]: replace(
            e,
            cell=int(parts[e.cell - n][0]),
            label=describe(table, sums, numbers[e.cell - n]),
        )
        for e in verdict.exposed
    }
    return verdict, exposed, _without_sums(found, n)


def describe(table: Table, sums: RespondentSums, number: int) -> str:
    """Name a sum by its cells, without values."""
    cells = [table.label(int(cell)) for cell in sums.cells(number)]
    return f"the sum of {'; '.join(cells)} (one respondent)"


def _with_columns(
    table: Table, sums: RespondentSums, numbers: Sequence[int], strict: bool
) -> Table:
    """Return a table with a column for each sum; its levels have their margin."""
    parts = [sums.cells(number) for number in numbers]
    more = len(parts)
    row = np.repeat(np.arange(more), [len(cells) for cells in parts])
    tie = sparse.csr_array(
        (np.ones(len(row)), (row, np.concatenate(parts))), shape=(more, len(table))
    )
    matrix = sparse.csr_array(
        sparse.block_array([[table.matrix, None], [tie, -sparse.eye_array(more)]])
    )
    margin = strict_margin(table)
    levels: list[list[float]] = []
    bounds = (table.upper - table.value, table.value - table.lower)
    for asked, room in zip((sums.upl, sums.lpl), bounds, strict=True):
        side = []
        for number, cells in zip(numbers, parts, strict=True):
            level = float(asked[number])
            if strict:
                most = float(np.maximum(room[cells], 0.0).sum())
                level = min(level + float(margin[cells].max()), max(level, most))
            side.append(level)
        levels.append(side)
    none = np.zeros(more)
    return Table.of(
        np.append(table.value, tie @ table.value),
        matrix,
        rhs=np.append(table.rhs, none),
        weight=np.append(table.weight, none),
        status=np.append(table.status, np.full(more, PRIMARY)),
        # The bounds of its parts are all that bounds a sum.
        lower=np.append(table.lower, none - np.inf),
        upper=np.append(table.upper, none + np.inf),
        lpl=np.append(table.lpl, levels[1]),
        upl=np.append(table.upl, levels[0]),
        spl=np.append(table.spl, none),
        origin=table.origin,
    )


def _with_sums(
    hints: Sequence[Hint], parts: list[NDArray[np.int64]], n: int
) -> list[Hint]:
    """Return the hints that move a sum, with what they move it by."""
    place: dict[int, list[int]] = {}
    for k, cells in enumerate(parts):
        for cell in cells.tolist():
            place.setdefault(cell, []).append(k)
    out = []
    for cells, by in hints:
        moved: dict[int, float] = {}
        for cell, step in zip(cells.tolist(), by.tolist(), strict=True):
            for k in place.get(cell, ()):
                moved[k] = moved.get(k, 0.0) + step
        # What cancels out in its parts moves no sum.
        least = 1e-9 * float(np.abs(by).max(initial=0.0))
        moved = {k: step for k, step in moved.items() if abs(step) > least}
        if moved:
            at = np.append(cells, [n + k for k in moved])
            out.append((at, np.append(by, list(moved.values()))))
    return out


def _without_sums(certificate: Certificate, n: int) -> Certificate:
    """Return the witnesses as deviations of the cells of the table alone."""
    c = certificate
    out = []
    for w in range(len(c.cells)):
        part = slice(int(c.indptr[w]), int(c.indptr[w + 1]))
        own = c.indices[part] < n
        cells, steps = c.indices[part][own], c.numerators[part][own].tolist()
        first = next(j for j, step in enumerate(steps) if step)
        sign = 1 if steps[first] > 0 else -1
        out.append(
            Witness(int(cells[first]), sign, cells, steps, int(c.denominators[w]), "")
        )
    return assemble(out)
