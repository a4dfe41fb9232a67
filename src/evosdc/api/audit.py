"""The verb audit, and the judge's verdict on a table for every verb.

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

from evosdc.api.sources import TableQuestion, verb
from evosdc.attack import Requirements, judge, judge_attackers
from evosdc.attack.hints import Hint
from evosdc.compile.clock import moment
from evosdc.errors import InputError
from evosdc.io import read_pattern
from evosdc.io.cells import read_published
from evosdc.options import tables as options
from evosdc.parallel import Workers, open_workers
from evosdc.results import Certificate, TableVerdict
from evosdc.results.next_steps import with_next_steps
from evosdc.results.tables import Audit
from evosdc.table import Table
from evosdc.table.attackers import (
    AttackerKnowledge,
    find_attackers,
)
from evosdc.table.status import PRIMARY

_RING = "what linked tables in a ring say together of cells that none of them shows"


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


@verb(options.AUDIT)
def audit(
    table: Any,
    pattern: Any = None,
    *,
    published: Any = None,
    time_limit: options.Seconds = "auto",
    workers: int | None = None,
    attackers: options.Attackers | None = None,
    prior: options.Prior | None = None,
    read: options.Read | None = None,
    run: options.Run | None = None,
) -> Audit:
    """Judge a pattern from the table alone.

    Parameters
    ----------
    table
        As in `protect`.
    pattern
        Which cells are hidden: a mask, a frame or file with a status per cell, or
        nothing to take the statuses in the table. It is judged as it would be
        published: a sensitive cell that it does not hide is exposed.
    published
        The publication itself instead: a frame or file with the values of the cells
        that are not hidden.
    time_limit
        Seconds; cells that are then not decided are open. ``"auto"`` and None: no
        limit.
    workers
        Processes at most. The answer is the same for any number of them, unless time
        runs out.
    attackers, prior, read, run
        As in `protect`; of `run` only the cluster.

    Examples
    --------
    >>> import evosdc
    >>> cells = {
    ...     "region": ["N", "S", "E"],
    ...     "value": [5, 20, 30],
    ...     "status": ["u", "m", "s"],
    ...     "upl": [2, 0, 0],
    ... }
    >>> evosdc.audit(cells, attackers=evosdc.Attackers(strict=True)).safe
    True
    >>> cells["status"] = ["u", "s", "s"]  # alone, it is the total less the others
    >>> evosdc.audit(cells).safe
    False
    """
    limit = options.AuditKeywords(time_limit=time_limit, workers=workers).seconds
    given = options.VerbOptions.of(
        options.AUDIT, attackers=attackers, prior=prior, read=read, run=run
    )
    start = moment()
    question = TableQuestion.of(table, given)
    resolved, before = question.table, question.before
    known = before.cells.copy()
    if pattern is not None and published is not None:
        raise InputError(
            "a pattern and a publication",
            expected="one of the two",
            hint="audit them one after the other",
        )
    if pattern is not None or published is not None:
        if published is not None:
            hidden = read_published(published, resolved)
        else:
            hidden = _mask(resolved, pattern)
        sensitive = resolved.status == PRIMARY
        known |= sensitive & ~hidden
        resolved = resolved.with_pattern(hidden | sensitive)
    end = None if limit is None else start + limit
    with open_workers(given.run.cluster, workers) as found_workers:
        verdict, certificate = judge_all(
            resolved,
            question.against,
            known=known,
            deadline=end,
            workers=found_workers,
        )
    verdict = with_next_steps(
        verdict, resolved, earlier=before.cells, limited=limit is not None
    )
    claim = question.claim(resolved, verdict)
    open_primaries = int((known & ~before.cells & (resolved.status == PRIMARY)).sum())
    if open_primaries:
        claim = claim.changed(
            publication=f"{claim.publication}; {open_primaries:,} sensitive cells are "
            "published",
        )
    settings = {"time_limit": limit, **attacker_settings(question.against)}
    settings["already_published"] = list(before.words)
    return Audit(
        resolved, verdict, claim, certificate, known, settings, moment() - start
    )


def _mask(table: Table, pattern: Any) -> NDArray[np.bool_]:
    if isinstance(pattern, np.ndarray) and pattern.dtype == bool:
        if pattern.shape != (len(table),):
            raise InputError(
                f"a pattern of {len(pattern)} cells for a table of {len(table)}",
                expected="one entry per cell",
            )
        return pattern
    return read_pattern(pattern, table)
