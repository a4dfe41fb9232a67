"""The verb lower_bound: how cheap any safe pattern of a table can be at best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evosdc.api.pose import pose
from evosdc.api.sources import TableQuestion, verb
from evosdc.compile.clock import moment
from evosdc.options import tables as options
from evosdc.parallel import open_workers
from evosdc.suppress.bounds.cut_loop import cut_bound, node_bound
from evosdc.suppress.methods.contracted import contracted
from evosdc.table.knowledge import knowledge_words


@dataclass(frozen=True)
class LowerBound:
    """A lower bound on the cost of every safe pattern: none costs less than `value`.

    `method` is ``node`` or ``cut``. `complete` says whether it came to its end; stopped
    early, the bound holds all the same. `knowledge` is what an attacker is assumed to
    know beforehand.
    """

    value: float
    method: str
    seconds: float
    cuts: int
    complete: bool
    knowledge: str

    def summary(self) -> dict[str, Any]:
        """Return the object that ``evosdc lower-bound --json`` prints."""
        return {
            "lower_bound": self.value,
            "method": self.method,
            "seconds": self.seconds,
            "complete": self.complete,
            "knowledge": self.knowledge,
        }


@verb(options.LOWER_BOUND)
def lower_bound(
    table: Any,
    *,
    method: str = "cut",
    time_limit: options.Seconds = "auto",
    workers: int | None = None,
    attackers: options.Attackers | None = None,
    cells: options.CellRequests | None = None,
    prior: options.Prior | None = None,
    read: options.Read | None = None,
    run: options.Run | None = None,
) -> LowerBound:
    """Return a lower bound on the cost of every safe pattern.

    Parameters
    ----------
    table
        As in `protect`.
    method
        ``node``: the cuts of single equations, at once. ``cut``: goes on to separate
        cuts until none is violated.
    time_limit
        Seconds; None for no limit; ``"auto"`` is 60. The bound is valid whenever it
        stops.
    workers
        Processes, all cores unless given, for the attacks on tables that are no
        two-dimensional networks where these take long. The bound is the same for any
        number of them unless time ends it.
    attackers, cells, prior, read, run
        As in `protect`: a cost is to be compared with a bound of the same question. Of
        `run` only the cluster. Secondaries that must be safe make patterns more
        expensive, so that the bound, which leaves them aside, holds with them too.

    Examples
    --------
    >>> import evosdc
    >>> cells = {"region": ["N", "S", "E"], "value": [5, 20, 30]}
    >>> cells |= {"status": ["u", "s", "s"], "upl": [2, 0, 0]}
    >>> evosdc.lower_bound(cells).value
    20.0
    """
    limit = options.BoundKeywords(
        method=method, time_limit=time_limit, workers=workers
    ).seconds
    given = options.VerbOptions.of(
        options.LOWER_BOUND,
        attackers=attackers,
        cells=cells,
        prior=prior,
        read=read,
        run=run,
    )
    question = TableQuestion.of(table, given)
    posed = pose(question, None)
    start = moment()

    def stopped() -> bool:
        return limit is not None and moment() - start > limit

    small, base = contracted(posed.problem)
    with open_workers(given.run.cluster, workers) as pool:
        node = method == "node"
        found = node_bound(small) if node else cut_bound(small, stopped, pool)
    return LowerBound(
        value=found.value + base + float(posed.price[posed.kept].sum()),
        method=found.method,
        seconds=round(moment() - start, 3),
        cuts=found.cuts,
        complete=found.complete,
        knowledge=knowledge_words(question.table),
    )
