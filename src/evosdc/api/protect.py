"""The verb protect: read, pose, solve, judge; and its methods.

Frames in, frames out: whatever kind of frame is given, the frames in the answer are of
the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from evosdc import __version__
from evosdc.api.pose import Posed, pose
from evosdc.api.solve import Solution, settings_of, solve
from evosdc.api.sources import TableQuestion, verb
from evosdc.evolution.stopping import gap as gap_of
from evosdc.frames import like
from evosdc.io import pattern_frame, published_frame
from evosdc.io.checkpoint import as_checkpoint
from evosdc.io.delimited import formula_notes
from evosdc.options import tables as options
from evosdc.parallel import open_workers
from evosdc.results.next_steps import Searched, with_next_steps
from evosdc.results.tables import Protection, Tabulation
from evosdc.suppress.run.registry import load_methods
from evosdc.suppress.running import lower_bound
from evosdc.table.status import PRIMARY


@verb(options.PROTECT)
def protect(
    table: Any,
    *,
    method: str = "auto",
    time_limit: options.Seconds = "auto",
    seed: int = 0,
    workers: int | None = None,
    stop: options.Stop | None = None,
    attackers: options.Attackers | None = None,
    cells: options.CellRequests | None = None,
    prior: options.Prior | None = None,
    read: options.Read | None = None,
    run: options.Run | None = None,
) -> Protection:
    """Hide the cheapest cells that make a table safe, and prove it.

    Parameters
    ----------
    table
        A `Table`, a `Tabulation`, linked tables, a frame of labelled cells, or the
        path of a table; a list of these is linked first.
    method
        A name listed by ``evosdc methods``; ``auto`` takes the best for the table.
    time_limit
        Seconds for everything after reading, compiling on first use aside; None for no
        limit. ``"auto"`` is 60, or none where `stop` has a budget of evaluations. What
        the judge has no time for is said to be open.
    seed, workers
        The same seed gives the same answer for any number of workers, unless a limit
        of time ends the run. By default all cores: ``auto`` and ``hybrid`` under a
        limit of time and ``hitas`` use processes, ``order-ga`` threads, others one.
    stop, attackers, cells, prior, read, run
        When the search ends before; against whom cells are protected; what is asked of
        single cells; what everyone knows; how the table is read; how the run is
        carried out. See `evosdc.Stop` and the others.

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
    keywords = options.ProtectKeywords(
        method=method, time_limit=time_limit, seed=seed, workers=workers
    )
    given = options.VerbOptions.of(
        options.PROTECT,
        stop=stop,
        attackers=attackers,
        cells=cells,
        prior=prior,
        read=read,
        run=run,
    )
    checkpoint = as_checkpoint(given.run.checkpoint, resume=given.run.resume)
    question = TableQuestion.of(table, given)
    # Joined before the clock of the run starts: a wrong address is reported first.
    with open_workers(given.run.cluster, workers) as found_workers:
        posed = pose(question, keywords.seconds(given.stop))
        solution = solve(posed, keywords, checkpoint, found_workers)
    first = table[0] if isinstance(table, (list, tuple)) else table
    template = first.frame if isinstance(first, Tabulation) else first
    result = _result(solution, keywords, template)
    if checkpoint is not None and not checkpoint.keep:
        checkpoint.remove()
    return result


def _result(
    solution: Solution, keywords: options.ProtectKeywords, template: Any
) -> Protection:
    """Bound the cost; answer in frames of the kind that `template` is."""
    posed, search, judged = solution.posed, solution.search, solution.judged
    question, clock = posed.question, posed.clock
    assert judged is not None
    table, before, seconds = judged.table, question.before, search.seconds
    cost, paid = posed.cost_of(table), float(posed.price[posed.kept].sum())
    bound = lower_bound(solution.problem, cost - paid, search, clock.left())
    bound = None if bound is None else bound + paid
    beyond = bool(posed.unreachable.any())
    verdict = with_next_steps(
        judged.verdict,
        table,
        earlier=before.cells,
        limited=clock.end is not None,
        searched=Searched(search.reason or "", clock.over(), beyond),
    )
    return Protection(
        table=table,
        method=solution.method.name,
        cost=cost,
        lower_bound=bound,
        gap=gap_of(cost, bound),
        verdict=verdict,
        claim=question.claim(
            table, verdict, None if bound is None else search.bound_source
        ),
        certificate=judged.certificate,
        record=tuple(search.record.entries),
        seconds=seconds,
        evaluations=search.evaluations,
        seed=keywords.seed,
        version=__version__,
        reason=search.reason or "finished",
        settings=settings_of(posed, keywords, solution.method.name, table),
        notes=_notes(posed, solution.notes),
        known=before.cells if before.words else None,
        earlier=before.files,
        accepted=posed.accepted,
        wished=(posed.judged.status == PRIMARY) & (question.table.status != PRIMARY),
        pattern=like(pattern_frame(table), template),
        published=like(published_frame(table), template),
    )


def _notes(posed: Posed, found: tuple[str, ...]) -> tuple[str, ...]:
    given, more = posed.question.table, list[str]()
    if not len(posed.judged.primaries):
        more.append(
            "the table has no sensitive cells, so there was nothing to protect"
            if given.origin.rules
            else "no cell is sensitive and no rule looked for any: not judged"
        )
    return (
        *given.notes,
        *posed.question.before.notes,
        *posed.notes,
        *posed.beyond_attackers(),
        *found,
        *formula_notes({d.name: d.hierarchy.codes for d in given.dimensions}),
        *more,
    )


@dataclass(frozen=True)
class MethodInfo:
    """A method of `protect`: what it does, takes, and where it was published.

    `options` are its parameters with their published defaults.
    """

    name: str
    summary: str
    tables: str
    options: Mapping[str, Any]
    source: str

    def as_json(self) -> dict[str, Any]:
        """Return an entry of the list that ``evosdc methods --json`` prints."""
        return {
            "method": self.name,
            "summary": self.summary,
            "tables": self.tables,
            "options": dict(self.options),
            "source": self.source,
        }


def methods() -> tuple[MethodInfo, ...]:
    """List every method: what tables it takes, its options and its source.

    Examples
    --------
    >>> import evosdc
    >>> [m.name for m in evosdc.methods() if m.tables == "two-dimensional"][:3]
    ['sp', 'hypercube-2d', 'castro']
    """
    return tuple(
        MethodInfo(
            name=m.name,
            summary=m.summary,
            tables=m.tables,
            options={f.name: f.default for f in fields(m.parameters)},
            source=m.source,
        )
        for m in load_methods().values()
    )
