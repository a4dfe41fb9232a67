"""Sums of cells of one respondent, judged like cells.

Each sum becomes one more cell of the table, with an equation that ties it to its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.attack.certificate import assemble, witness_of
from evosdc.attack.hints import Hint
from evosdc.attack.judge import answer
from evosdc.attack.model import strict_margin
from evosdc.attack.question import Question
from evosdc.parallel import Workers
from evosdc.results import Certificate, Exposure, TableVerdict
from evosdc.table import Table
from evosdc.table.attackers import RespondentSums
from evosdc.table.status import PRIMARY


def judge_sums(
    question: Question,
    sums: RespondentSums,
    numbers: Sequence[int],
    *,
    deadline: float | None,
    hints: Sequence[Hint],
    workers: Workers | None,
) -> tuple[TableVerdict, dict[int, Exposure], Certificate]:
    """Judge some sums, by number, as the public sees the table.

    Returns
    -------
    :
        The verdict on them, the exposed ones by number, and witnesses over the cells of
        the table.
    """
    table, known = question.table, question.known
    parts = [sums.cells(number) for number in numbers]
    n, more = len(table), len(parts)
    none = np.zeros(n, dtype=bool)
    verdict, found = answer(
        Question(
            table=_with_columns(table, sums, numbers, question.strict),
            whole=question.whole,
            known=np.append(none if known is None else known, np.zeros(more, bool)),
            among=np.arange(n + more) >= n,
        ),
        deadline=deadline,
        hints=_with_sums(hints, parts, n),
        workers=workers,
    )
    exposed = {
        numbers[e.cell - n]: replace(
            e,
            cell=int(parts[e.cell - n][0]),
            label=describe_sum(table, sums, numbers[e.cell - n]),
        )
        for e in verdict.exposed
    }
    return verdict, exposed, _without_sums(found, n)


def describe_sum(table: Table, sums: RespondentSums, number: int) -> str:
    """Name a sum by its cells, without values."""
    cells = [table.label(int(cell)) for cell in sums.cells(number)]
    return f"the sum of {'; '.join(cells)} (one respondent)"


def _with_columns(
    table: Table, sums: RespondentSums, numbers: Sequence[int], strict: bool
) -> Table:
    """Return a table with a cell for each sum, strict margins in its levels."""
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
    for wanted, room in zip((sums.upl, sums.lpl), bounds, strict=True):
        side = []
        for number, cells in zip(numbers, parts, strict=True):
            level = float(wanted[number])
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
        # Only the bounds of its parts bound a sum.
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
    """Return the hints that move a sum, with the move of the sum added."""
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
        # Moves of parts that cancel out do not move the sum.
        least = 1e-9 * float(np.abs(by).max(initial=0.0))
        moved = {k: step for k, step in moved.items() if abs(step) > least}
        if moved:
            at = np.append(cells, [n + k for k in moved])
            out.append((at, np.append(by, list(moved.values()))))
    return out


def _without_sums(certificate: Certificate, n: int) -> Certificate:
    """Return the witnesses as deviations of the cells of the table alone."""
    out = []
    for w in range(len(certificate.cells)):
        witness = witness_of(certificate, w)
        own = witness.indices < n
        cells, moves = witness.indices[own], np.array(witness.numerators, object)[own]
        first = int(np.flatnonzero(moves)[0])
        out.append(
            replace(
                witness,
                cell=int(cells[first]),
                sign=1 if moves[first] > 0 else -1,
                indices=cells,
                numerators=moves.tolist(),
            )
        )
    return assemble(out)
