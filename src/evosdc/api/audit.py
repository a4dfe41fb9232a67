"""The verb audit: the judge's word on a pattern as it would be published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.api.judging import judge_all
from evosdc.api.options import NOT_GIVEN, Attacker, NotGiven, one_way
from evosdc.api.sources import as_table, assumed, known_before
from evosdc.compile import small_jobs
from evosdc.compile.clock import moment
from evosdc.errors import InputError
from evosdc.io import read_pattern, table_from_frame
from evosdc.io.cells import read_published
from evosdc.options import checked
from evosdc.parallel import joined
from evosdc.results.claims import claim_of
from evosdc.results.next_steps import with_next_steps
from evosdc.results.tables import Audit
from evosdc.table import Table
from evosdc.table.status import PRIMARY


@checked(
    as_table,
    table_from_frame,
    least={"workers": 1, "time_limit": 0, "level_percent": 0},
    unchecked=("hierarchies",),
)
@small_jobs.job()
def audit(
    table: Any,
    pattern: Any = None,
    *,
    published: Any = None,
    earlier: Any = None,
    attacker: Attacker | None = None,
    bounds: str | None = None,
    counts: bool | None = None,
    threshold: int | None = None,
    whole_numbers: bool | None = None,
    rules: str | Sequence[str] | None = None,
    time_limit: float | None = None,
    workers: int | None = None,
    cluster: Any = None,
    strict: bool | NotGiven = NOT_GIVEN,
    attackers: Any = NOT_GIVEN,
    coalitions: Any = NOT_GIVEN,
    singletons: bool | NotGiven | None = NOT_GIVEN,
    secondaries: bool | NotGiven = NOT_GIVEN,
    **reading: Any,
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
    earlier
        Earlier publications that everyone has: files or frames.
    attacker
        Against whom, and how far, cells must be protected; the keywords `strict`,
        `attackers`, `coalitions` and `secondaries` do the same.
    bounds, counts, threshold, whole_numbers, rules
        As in `protect`.
    time_limit
        Seconds; cells that are then not decided are open.
    workers, cluster
        As in `protect`: who looks for witnesses where it takes long. The answer is the
        same, unless time runs out.

    Examples
    --------
    >>> import evosdc
    >>> cells = {
    ...     "region": ["N", "S", "E"],
    ...     "value": [5, 20, 30],
    ...     "status": ["u", "m", "s"],
    ...     "upl": [2, 0, 0],
    ... }
    >>> evosdc.audit(cells, attacker=evosdc.Attacker(strict=True)).safe
    True
    >>> cells["status"] = ["u", "s", "s"]  # alone, it is the total less the others
    >>> evosdc.audit(cells).safe
    False
    """
    against = one_way(
        Attacker,
        "attacker",
        attacker,
        {
            "strict": strict,
            "attackers": attackers,
            "coalitions": coalitions,
            "singletons": singletons,
            "secondaries": secondaries,
        },
    )
    start = moment()
    end = None if time_limit is None else start + time_limit
    resolved = assumed(
        as_table(table, **reading),
        bounds=bounds,
        counts=counts,
        threshold=threshold,
        whole_numbers=whole_numbers,
        rules=rules,
    )
    small_jobs.has(len(resolved))
    before = known_before(resolved, earlier)
    known = before.cells.copy()
    if pattern is not None and published is not None:
        raise InputError(
            "a pattern and a publication",
            expected="one of the two",
            hint="audit them one after the other",
        )
    if pattern is not None or published is not None:
        hidden = (
            _mask(resolved, pattern)
            if published is None
            else read_published(published, resolved)
        )
        sensitive = resolved.status == PRIMARY
        known |= sensitive & ~hidden
        resolved = resolved.with_pattern(hidden | sensitive)
    with joined(cluster, workers) as found_workers:
        verdict, certificate = judge_all(
            resolved,
            against,
            known=known,
            deadline=end,
            workers=found_workers,
        )
    verdict = with_next_steps(
        verdict, resolved, earlier=before.cells, limited=end is not None
    )
    claim = claim_of(
        resolved,
        verdict,
        strict=against.strict,
        secondaries=against.secondaries,
        earlier=before.words,
        known=before.cells,
        attackers=against.kind(resolved),
        coalitions=len(against.coalitions),
    )
    open_primaries = int((known & ~before.cells & (resolved.status == PRIMARY)).sum())
    if open_primaries:
        claim = claim.changed(
            publication=f"{claim.publication}; {open_primaries:,} sensitive cells are "
            "published",
        )
    settings = {
        "time_limit": time_limit,
        "strict": against.strict,
        **against.settings(resolved),
        "secondaries": against.secondaries,
        "earlier": list(before.words),
    }
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
