"""The verb audit: the judge's verdict on a pattern as it would be published."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.api.judging import attacker_settings, judge_all
from evosdc.api.sources import TableQuestion, verb
from evosdc.compile.clock import moment
from evosdc.errors import InputError
from evosdc.io import read_pattern
from evosdc.io.cells import read_published
from evosdc.options import tables as options
from evosdc.parallel import open_workers
from evosdc.results.next_steps import with_next_steps
from evosdc.results.tables import Audit
from evosdc.table import Table
from evosdc.table.status import PRIMARY


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
