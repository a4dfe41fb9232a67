"""The verb protect: read, pose, solve, judge; the result is written by `write`.

Frames in, frames out: whatever kind of frame is given, the frames in the answer are of
the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evosdc import __version__
from evosdc.api.options import NOT_GIVEN, Attacker, NotGiven, Requests, Stop, one_way
from evosdc.api.pose import Posed, Task, pose
from evosdc.api.requests import Labels, Preferences
from evosdc.api.solve import Solution, settings_of, solve
from evosdc.api.sources import as_table, assumed, known_before, template_of
from evosdc.compile import small_jobs
from evosdc.evolution.record import Entry
from evosdc.evolution.stopping import gap as gap_of
from evosdc.frames import like
from evosdc.io import pattern_frame, published_frame, table_from_frame
from evosdc.io.checkpoint import Checkpoint, as_checkpoint
from evosdc.io.paths import PathLike
from evosdc.io.text import formula_notes
from evosdc.options import checked
from evosdc.parallel import joined
from evosdc.results.claims import claim_of
from evosdc.results.next_steps import Searched, with_next_steps
from evosdc.results.tables import Protection
from evosdc.suppress.running import lower_bound
from evosdc.table import Table
from evosdc.table.status import PRIMARY


@checked(
    as_table,
    table_from_frame,
    least={"seed": 0, "workers": 1, "level_percent": 0},
    unchecked=("hierarchies",),
)
@small_jobs.job()
def protect(
    table: Any,
    *,
    method: str = "auto",
    cost: str = "weight",
    stop: Stop | None = None,
    attacker: Attacker | None = None,
    cells: Requests | None = None,
    seed: int = 0,
    workers: int | None = None,
    cluster: Any = None,
    options: Mapping[str, Any] | None = None,
    on_progress: Callable[[Entry], None] | None = None,
    on_pattern: Callable[[Table], None] | None = None,
    checkpoint: PathLike | Checkpoint | None = None,
    resume: bool = False,
    bounds: str | None = None,
    counts: bool | None = None,
    threshold: int | None = None,
    whole_numbers: bool | None = None,
    earlier: Any = None,
    rules: str | Sequence[str] | None = None,
    time_limit: float | NotGiven | None = NOT_GIVEN,
    evaluations: int | NotGiven | None = NOT_GIVEN,
    gap: float | NotGiven = NOT_GIVEN,
    strict: bool | NotGiven = NOT_GIVEN,
    attackers: Any = NOT_GIVEN,
    coalitions: Any = NOT_GIVEN,
    singletons: bool | NotGiven | None = NOT_GIVEN,
    secondaries: bool | NotGiven = NOT_GIVEN,
    hide: Labels | NotGiven = NOT_GIVEN,
    publish: Labels | NotGiven = NOT_GIVEN,
    prefer: Preferences | NotGiven = NOT_GIVEN,
    keep_secondaries: bool | NotGiven = NOT_GIVEN,
    **reading: Any,
) -> Protection:
    """Hide the cheapest cells that make a table safe, and prove it.

    Parameters
    ----------
    table
        A `Table`, a `Tabulation`, linked tables, a frame of labelled cells, or the
        path of a table; a list of these is linked first.
    method
        A name listed by ``evosdc methods``; ``auto`` takes the best for the table.
    cost
        What hiding a cell costs: see `evosdc.suppress.problem.requests.costs`.
    stop
        When the search ends; the keywords `time_limit`, `evaluations` and `gap` do the
        same.
    attacker
        Against whom, and how far, cells are protected; the keywords `strict`,
        `attackers`, `coalitions` and `secondaries` do the same.
    cells
        Cells that must be hidden or published, that cost more or less to hide, or
        that stay hidden; the keywords `hide`, `publish`, `prefer` and
        `keep_secondaries` do the same.
    seed, workers
        The same seed gives the same answer for any number of workers, unless a limit
        of time ends the run. By default all cores: ``auto`` and ``hybrid`` under a
        limit of time and ``hitas`` use processes, ``order-ga`` threads, others one.
    cluster
        Dask workers in place of processes: the address of a scheduler such as
        ``"tcp://host:8786"``, or a `distributed.Client`. `workers` is then the most of
        them that are used.
    options
        Parameters of the method.
    on_progress
        Called with every improvement.
    on_pattern
        Called with the table and its final statuses before it is audited.
    checkpoint, resume
        A file that the best pattern so far is written to every ten seconds, removed
        when the verb returns; after a crash `resume` goes on from it, and what the run
        had spent counts against its limits. It is confidential.
    bounds
        What everyone knows of a cell beforehand, where it is not what the table says:
        ``"0:inf"``, ``"percent:50"``, ``"columns"``, ``"auto"``. See
        `evosdc.table.knowledge`.
    counts
        Whether the cells count people or firms; None leaves it to the table.
    threshold
        The minimum frequency, where it is published: attackers know then that hidden
        sensitive counts are below it.
    whole_numbers
        Whether attackers know that magnitudes are whole numbers; by default where all
        values are. Levels are then at least one unit, and intervals are rounded inwards
        before they are judged.
    earlier
        Earlier publications that everyone has: files or frames, one or several.
    rules
        ``"none"`` for a table without sensitive cells to which no rule applies: it is
        not judged then. Rules themselves belong to `tabulate`.
    reading
        How to read a frame or a file, as in `evosdc.io.table_from_frame`; and `link`
        for several tables, as in `evosdc.table.link_tables`.

    Returns
    -------
    Protection
        With the judge's verdict. After Ctrl-C or the time limit it holds the best
        complete pattern so far.

    Examples
    --------
    >>> import evosdc
    >>> cells = {
    ...     "region": ["N", "N", "S", "S"],
    ...     "size": ["a", "b", "a", "b"],
    ...     "value": [5, 20, 30, 40],
    ...     "status": ["u", "s", "s", "s"],
    ...     "upl": [2, 0, 0, 0],
    ... }
    >>> result = evosdc.protect(cells, stop=evosdc.Stop(evaluations=10))
    >>> result.safe, result.secondaries, result.cost
    (True, 3, 90.0)
    """
    task = Task(
        method=method,
        cost=cost,
        stop=one_way(
            Stop,
            "stop",
            stop,
            {"time_limit": time_limit, "evaluations": evaluations, "gap": gap},
        ),
        attacker=one_way(
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
        ),
        requests=one_way(
            Requests,
            "cells",
            cells,
            {
                "hide": hide,
                "publish": publish,
                "prefer": prefer,
                "keep_secondaries": keep_secondaries,
            },
            {"keep_secondaries": "keep"},
        ),
        seed=seed,
        workers=workers,
        options=options or {},
        on_progress=on_progress,
        checkpoint=as_checkpoint(checkpoint, resume=resume),
    )
    resolved = assumed(
        as_table(table, **reading),
        bounds=bounds,
        counts=counts,
        threshold=threshold,
        whole_numbers=whole_numbers,
        rules=rules,
        by_hand=bool(task.requests.hide),
    )
    small_jobs.has(len(resolved))
    # Joined before the clock of the run starts: a wrong address is told at once.
    with joined(cluster, workers) as found_workers:
        posed = pose(resolved, known_before(resolved, earlier), task)
        result = _result(solve(posed, found_workers, on_pattern))
    template = template_of(table)
    answer = replace(
        result,
        pattern=like(pattern_frame(result.table), template),
        published=like(published_frame(result.table), template),
    )
    if task.checkpoint is not None and not task.checkpoint.keep:
        task.checkpoint.remove()
    return answer


def _result(solution: Solution) -> Protection:
    """Bound the cost, and say what was done and what it is worth."""
    posed, search, judged = solution.posed, solution.search, solution.judged
    task, before, clock = posed.task, posed.before, posed.clock
    assert judged is not None
    table, attacker = judged.table, task.attacker
    seconds = search.seconds
    cost, paid = posed.cost_of(table), float(posed.price[posed.kept].sum())
    bound = lower_bound(solution.problem, cost - paid, search, clock.left())
    bound = None if bound is None else bound + paid
    verdict = with_next_steps(
        judged.verdict,
        table,
        earlier=before.cells,
        limited=clock.end is not None,
        searched=Searched(
            search.reason or "", clock.over(), bool(posed.unreachable.any())
        ),
    )
    return Protection(
        table=table,
        method=solution.method.name,
        cost=cost,
        lower_bound=bound,
        gap=gap_of(cost, bound),
        verdict=verdict,
        claim=claim_of(
            table,
            verdict,
            strict=attacker.strict,
            secondaries=attacker.secondaries,
            earlier=before.words,
            known=before.cells,
            attackers=attacker.kind(table),
            coalitions=len(attacker.coalitions),
            bound=None if bound is None else search.bound_source,
        ),
        certificate=judged.certificate,
        record=tuple(search.record.entries),
        seconds=seconds,
        evaluations=search.evaluations,
        seed=task.seed,
        version=__version__,
        reason=search.reason or "finished",
        settings=settings_of(posed, solution.method.name, table),
        notes=_notes(posed, solution.notes),
        known=before.cells if before.words else None,
        earlier=before.files,
        accepted=posed.accepted,
        wished=(posed.judged.status == PRIMARY) & (posed.given.status != PRIMARY),
    )


def _notes(posed: Posed, found: tuple[str, ...]) -> tuple[str, ...]:
    given, before = posed.given, posed.before
    codes = {d.name: d.hierarchy.codes for d in given.dimensions}
    notes = (
        *given.notes,
        *before.notes,
        *posed.notes,
        *posed.beyond_attackers(),
        *found,
        *formula_notes(codes),
    )
    if len(posed.judged.primaries):
        return notes
    if given.origin.rules:
        return (
            *notes,
            "the table has no sensitive cells, so there was nothing to protect",
        )
    return (*notes, "no cell is sensitive and no rule looked for any: not judged")
