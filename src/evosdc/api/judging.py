"""The judge's verdict on a table, and what a pattern without one can do with another.

Suppressing more leaves every deviation of hidden cells possible. So the witnesses of
two patterns hold of their union: a pattern of which some cells could not be judged is
completed by those that the witnesses of a judged one need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack import Requirements, judge, judge_attackers
from evosdc.attack.hints import Hint
from evosdc.io.cells import coalitions_of
from evosdc.options import tables as options
from evosdc.parallel import Workers
from evosdc.results import Certificate, TableVerdict
from evosdc.table import Table
from evosdc.table.attackers import (
    LONE,
    PUBLIC,
    AttackerKnowledge,
    find_attackers,
    knows_contributors,
)
from evosdc.table.status import PRIMARY

_RING = "what linked tables in a ring say together of cells that none of them shows"


def attackers_asked(given: options.Attackers, table: Table) -> Requirements:
    """Return who is asked about; of some tables nobody knows any contributor."""
    usual = LONE if knows_contributors(table) else PUBLIC
    return Requirements.of(given, coalitions_of(given.coalitions), usual)


def attacker_settings(asked: Requirements) -> dict[str, Any]:
    """Return the attackers by the names of options."""
    return {
        "attackers": asked.attackers,
        "coalitions": [[one.name, *one.members] for one in asked.coalitions],
        "strict": asked.strict,
        "protect_secondaries": asked.secondaries,
    }


def judge_all(
    table: Table,
    asked: Requirements,
    *,
    attackers: AttackerKnowledge | None = None,
    known: NDArray[np.bool_] | None = None,
    deadline: float | None = None,
    hints: Sequence[Hint] = (),
    workers: Workers | None = None,
    seen: Certificate | None = None,
) -> tuple[TableVerdict, Certificate]:
    """Judge a table against the public and against each attacker who knows more.

    Nothing judged is SAFE only where rules looked and found nothing. `attackers` are
    those that `asked` names, where they are known already.
    """
    given: dict[str, Any] = {
        "strict": asked.strict,
        "known": known,
        "deadline": deadline,
        "hints": hints,
        "workers": workers,
    }
    verdict, certificate = judge(
        table, secondaries=asked.secondaries, seen=seen, **given
    )
    if asked.beyond_public:
        found = attackers
        if found is None:
            found = find_attackers(table, asked.attackers, asked.coalitions)
        verdict, certificate = judge_attackers(
            table, verdict, certificate, attackers=found, **given
        )
    if not verdict.judged and not table.origin.rules:
        verdict = replace(verdict, ok=None)
    if verdict.ok and verdict.judged and table.origin.ring:
        verdict = replace(verdict, ok=None, open=(_RING,))
    return verdict, certificate


def undecided(table: Table, verdict: TableVerdict) -> NDArray[np.int64]:
    """Return the sensitive cells that a verdict leaves open or finds exposed."""
    open_labels = set(verdict.open)
    cells = {e.cell for e in verdict.exposed}
    cells |= {
        cell
        for cell in np.flatnonzero(table.status == PRIMARY).tolist()
        if table.label(cell) in open_labels
    }
    return np.array(sorted(cells), dtype=np.int64)


def cells_for(
    table: Table,
    cells: NDArray[np.int64],
    hidden: NDArray[np.bool_],
    cost: NDArray[np.float64],
    safe: Certificate,
    against_all: bool,
) -> NDArray[np.bool_]:
    """Return what has to be hidden for the witnesses of a certificate to cover cells.

    `hidden` is hidden anyway. For each level the cheapest witness is taken; with
    `against_all`, and for sliding levels, all that were made for the cell are.
    """
    needed = np.zeros(len(table), dtype=bool)
    for cell in cells.tolist():
        for sign, level in ((1, table.upl[cell]), (-1, table.lpl[cell])):
            least, chosen = np.inf, None
            for moved, far in _witnesses(safe, cell, sign):
                extra = float(cost[moved[~(hidden | needed)[moved]]].sum())
                if far >= level and extra < least:
                    least, chosen = extra, moved
            if chosen is not None:
                needed[chosen] = True
        if not against_all and table.spl[cell] <= table.upl[cell] + table.lpl[cell]:
            continue
        for w in np.flatnonzero(safe.cells == cell).tolist():
            needed[safe.indices[safe.indptr[w] : safe.indptr[w + 1]]] = True
    return needed


def _witnesses(
    safe: Certificate, cell: int, sign: int
) -> Iterator[tuple[NDArray[np.int64], float]]:
    """Yield the cells of each witness that moves a cell one way, and how far."""
    for entry in np.flatnonzero(safe.indices == cell).tolist():
        w = int(np.searchsorted(safe.indptr, entry, side="right")) - 1
        move = safe.numerators[entry] / safe.denominators[w]
        if move * sign > 0:
            yield safe.indices[safe.indptr[w] : safe.indptr[w + 1]], abs(float(move))
