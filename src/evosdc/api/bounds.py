"""The verb bounds: how cheap any safe pattern of a table can be at best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evosdc.api.options import NOT_GIVEN, Attacker, NotGiven, one_way
from evosdc.api.pose import attackers_of
from evosdc.api.sources import as_table, assumed
from evosdc.compile import small_jobs
from evosdc.compile.clock import moment
from evosdc.errors import InputError
from evosdc.io import table_from_frame
from evosdc.options import checked
from evosdc.parallel import joined
from evosdc.suppress.bounds.cut_loop import cut_bound, node_bound
from evosdc.suppress.methods.contracted import contracted
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.problem.requests import costs
from evosdc.table.knowledge import knowledge_words

_METHODS = ("node", "cut")


@dataclass(frozen=True)
class LowerBound:
    """A lower bound on the cost of every safe pattern.

    Attributes
    ----------
    value
        No safe pattern costs less.
    method
        ``node`` or ``cut``.
    seconds, cuts
        What it took.
    complete
        Whether the method came to its end; stopped early, the bound holds all the same.
    knowledge
        What an attacker is assumed to know beforehand, in words.
    """

    value: float
    method: str
    seconds: float
    cuts: int
    complete: bool
    knowledge: str

    def summary(self) -> dict[str, Any]:
        """Return the object that ``evosdc bounds --json`` prints."""
        return {
            "lower_bound": self.value,
            "method": self.method,
            "seconds": self.seconds,
            "complete": self.complete,
            "knowledge": self.knowledge,
        }


@checked(
    as_table,
    table_from_frame,
    least={"workers": 1, "time_limit": 0, "level_percent": 0},
    unchecked=("hierarchies",),
)
@small_jobs.job()
def bounds(
    table: Any,
    *,
    method: str = "cut",
    cost: str = "weight",
    time_limit: float | None = 60.0,
    attacker: Attacker | None = None,
    bounds: str | None = None,
    counts: bool | None = None,
    threshold: int | None = None,
    whole_numbers: bool | None = None,
    rules: str | Sequence[str] | None = None,
    strict: bool | NotGiven = NOT_GIVEN,
    workers: int | None = None,
    cluster: Any = None,
    **reading: Any,
) -> LowerBound:
    """Return a lower bound on the cost of every safe pattern.

    Parameters
    ----------
    table
        As in `protect`.
    method
        ``node``: the cuts of single equations, at once. ``cut``: goes on to separate
        cuts until none is violated.
    cost
        As in `protect`: compare a cost with a bound of the same kind only.
    time_limit
        Seconds; None for no limit. The bound is valid whenever it stops.
    attacker
        As in `protect`; the keyword `strict` does the same. Secondaries that must be
        safe make patterns more expensive, so that the bound, which leaves them aside,
        holds with them too.
    bounds, counts, threshold, whole_numbers, rules
        As in `protect`.
    workers, cluster
        Processes, all cores unless given, or Dask workers as in `protect`, for the
        attacks on tables that are no two-dimensional networks where these take long.
        The bound is the same for any number of workers unless time ends it.
    reading
        How to read a frame or a file, as in `evosdc.io.table_from_frame`; and `link`
        for several tables, as in `evosdc.table.link_tables`.

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
    >>> evosdc.bounds(cells).value
    90.0
    """
    against = one_way(Attacker, "attacker", attacker, {"strict": strict})
    if method not in _METHODS:
        raise InputError(
            f"method is {method!r}",
            expected=" or ".join(_METHODS),
            hint="leave it out for the stronger one (cut)",
        )
    cells = assumed(
        as_table(table, **reading),
        bounds=bounds,
        counts=counts,
        threshold=threshold,
        whole_numbers=whole_numbers,
        rules=rules,
    )
    small_jobs.has(len(cells))
    attackers, sums = attackers_of(cells, against)
    problem = Problem.of(
        cells,
        costs(cells, cost),
        strict=against.strict,
        attackers=attackers,
        sums=sums,
    )
    start = moment()

    def stopped() -> bool:
        return time_limit is not None and moment() - start > time_limit

    small, base = contracted(problem)
    with joined(cluster, workers) as found_workers:
        if method == "node":
            found = node_bound(small)
        else:
            found = cut_bound(small, stopped, found_workers)
    return LowerBound(
        value=found.value + base,
        method=found.method,
        seconds=round(moment() - start, 3),
        cuts=found.cuts,
        complete=found.complete,
        knowledge=knowledge_words(cells),
    )
