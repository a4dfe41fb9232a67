"""From what is asked of a table to the problem that is searched and judged.

Requests, attackers, earlier publications, thresholds and levels that no pattern gives
become demands, bounds and fixed cells here, so that the search solves the question that
the judge is asked afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.api.requests import LabelRequests, costs, read_requests, refuse_known
from evosdc.api.sources import TableQuestion
from evosdc.attack import judge, judge_attackers
from evosdc.errors import InputError, LevelError
from evosdc.results import Exposure
from evosdc.suppress.problem.problem import Problem, strict_margin
from evosdc.suppress.running import RunClock
from evosdc.table import Table
from evosdc.table.attackers import (
    AttackerKnowledge,
    RespondentSums,
    find_attackers,
    respondent_sums,
)
from evosdc.table.index import select
from evosdc.table.status import FIXED, PRIMARY, SECONDARY

Mask = NDArray[np.bool_]
# A level that only rounding keeps from being reached is lowered by this share.
_ROUNDING_SHARE = 1e-6
# Levels that are missed by less than a solver's tolerance are raised by this share,
# which is well above it; half and twice of it are as well.
_RAISED_BY = 1e-3
_LABELS_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Posed:
    """A question: the table as it will be judged, and the problem of the search.

    Attributes
    ----------
    judged
        The table with requested cells sensitive; the levels are those to be judged.
    kept, price
        Secondaries that stay suppressed, and what every cell costs: 0 for sensitive
        cells. The search has those that are kept for nothing.
    problem
        What is searched. Levels that no pattern gives are lowered in it.
    unreachable, accepted
        Sensitive cells with such levels; those for which lower ones are accepted.
    notes
        What could not be asked of any pattern.
    """

    question: TableQuestion
    judged: Table
    requested: LabelRequests
    kept: Mask
    price: NDArray[np.float64]
    problem: Problem
    unreachable: Mask
    accepted: Mask
    clock: RunClock
    notes: tuple[str, ...]

    def published(self, hidden: Mask) -> Table:
        """Return the table as it is published where a search suppressed some cells."""
        judged = self.judged
        always = self.kept | ~judged.shown | (judged.status == PRIMARY)
        return judged.with_pattern(hidden | always)

    def cost_of(self, table: Table) -> float:
        """Return what the secondaries of a published table cost."""
        return float(self.price[table.hidden & table.shown].sum())

    def beyond_attackers(self) -> tuple[str, ...]:
        """List levels that no pattern gives against others than the public."""
        problem, real = self.problem, len(self.problem.attackers)
        pairs = sorted({(c, a) for a, c, _ in problem.shortfalls if 0 < a < real})
        if not pairs:
            return ()
        table, who = problem.table, problem.attackers
        against = [
            f"{table.label(c)} against {who.describe(table, a)}" for c, a in pairs
        ]
        return (f"no pattern protects in full: {_listed(against)}",)

    def lowered(self, cells: tuple[int, ...]) -> Posed | None:
        """Return the question with levels lowered to what some pattern gives.

        Those of `cells`, or of all where it is empty. None where these were lowered
        before.
        """
        if self.unreachable[list(cells)].all() and self.unreachable.any():
            return None
        table, strict = self.problem.table, self.question.against.strict
        found = _within_reach(table, strict, self.clock.end, cells)
        return replace(
            self,
            problem=_problem_like(self, found.table),
            unreachable=self.unreachable | found.cells,
            notes=self.notes + found.notes,
        )

    def asking_more(self, exposed: tuple[Exposure, ...]) -> Posed | None:
        """Return the question with demands for cells that the judge found exposed.

        Secondaries get demands like sensitive cells, and sensitive cells higher ones:
        solvers work with tolerances and without whole numbers. None where no demand
        would be new.
        """
        table, problem = self.problem.table, self.problem
        cells = np.zeros(len(table), dtype=bool)
        beyond = {cell for _, cell, _ in problem.shortfalls}
        cells[[e.cell for e in exposed if not e.insider or e.cell not in beyond]] = True
        cells &= ~(self.unreachable | self.question.before.cells)
        cells &= table.status != FIXED
        new = cells & ~problem.primary
        old = cells & problem.primary
        more = as_demands(table, new) if new.any() else table
        up, down = problem.up, problem.down
        raised: dict[str, NDArray[np.float64]] = {}
        for name, most in (("upl", up), ("lpl", down), ("spl", up + down)):
            had = getattr(more, name)
            next_level = had + 1.0 if table.origin.in_whole else had * (1 + _RAISED_BY)
            wanted = np.where(old & (had > 0), next_level, had)
            raised[name] = np.minimum(wanted, np.maximum(most, had))
        if not new.any() and all(
            np.array_equal(raised[name], getattr(table, name)) for name in raised
        ):
            return None
        return replace(self, problem=_problem_like(self, more.replace(**raised), new))


def pose(question: TableQuestion, seconds: float | None) -> Posed:
    """Grant the requests, price the cells, list the attackers, set the problem up.

    `seconds` is the limit of time for all that follows; None for no limit.
    """
    clock, table, known = RunClock(seconds), question.table, question.before.cells
    against, cells = question.against, question.options.cells
    requested = read_requests(cells.hide, cells.publish, cells.cost_factor)
    kept = (table.status == SECONDARY) & question.options.keeps_secondaries & ~known
    granted = requested.grant(table, kept)
    kept &= (granted.status == SECONDARY) & granted.shown
    prices = costs(granted, cells.cost) * requested.factors(granted)
    prices[~granted.shown] = 0.0
    # What everyone has from before cannot be suppressed any more.
    asked = granted.replace(status=np.where(known, FIXED, granted.status))
    attackers, sums = AttackerKnowledge.public(), RespondentSums.none()
    if against.beyond_public:
        attackers = find_attackers(asked, against.attackers, against.coalitions)
        sums = respondent_sums(asked)
    secondary = kept & against.secondaries
    asked = as_demands(asked, secondary)
    # A requested cell without levels is judged as such: nobody may work it out. What
    # must be published, or was, is fixed for the search only.
    status = np.where(granted.status == FIXED, table.status, granted.status)
    judged = granted.replace(status=status, lpl=table.lpl, upl=table.upl, spl=table.spl)
    accepted = unreachable = np.zeros(len(table), dtype=bool)
    notes: tuple[str, ...] = ()
    if cells.accept:
        judged, asked, accepted, notes = _accepted(
            judged, asked, question, attackers, clock.end
        )
        sums = _like(sums, asked, secondary)
    problem_of = partial(
        Problem.of,
        cost=np.where(kept, 0.0, prices),
        strict=against.strict,
        attackers=attackers,
        sums=sums,
        secondary=secondary,
    )
    try:
        problem = problem_of(asked)
    except LevelError as error:
        if requested.publish:
            raise explained(error, requested) from error
        found = _within_reach(asked, against.strict, clock.end, error.cells)
        problem, notes = problem_of(found.table), notes + found.notes
        unreachable = found.cells
    return Posed(
        question=question,
        judged=judged,
        requested=requested,
        kept=kept,
        price=np.where(granted.status == PRIMARY, 0.0, prices),
        problem=problem,
        unreachable=unreachable,
        accepted=accepted,
        clock=clock,
        notes=notes,
    )


def explained(error: LevelError, requests: LabelRequests) -> LevelError:
    """Name requests to publish as a reason why levels cannot be reached."""
    listed = "; ".join(requests.settings()["publish"][:_LABELS_SHOWN])
    fewer = "ask for fewer cells to be published, prefer them instead, or "
    return LevelError(
        f"{error.what}; cells that must be published: {listed}",
        expected=error.expected,
        hint=fewer + error.hint,
    )


def as_demands(table: Table, cells: Mask) -> Table:
    """Return the table with some cells to be protected like sensitive ones."""
    refuse_known(table, cells)
    return table.replace(status=np.where(cells, PRIMARY, table.status))


class _Reach(NamedTuple):
    """A table with levels that can be reached, and which cells had others."""

    table: Table
    cells: Mask
    notes: tuple[str, ...]


def _within_reach(
    table: Table, strict: bool, deadline: float | None, cells: tuple[int, ...] = ()
) -> _Reach:
    """Lower levels that are out of reach even with everything suppressed.

    Those of `cells`, or of all where it is empty. A cell that cannot move at all is
    fixed: it is known whatever is suppressed, and protects nobody.
    """
    among = None
    if cells:
        among = np.zeros(len(table), dtype=bool)
        among[list(cells)] = True
    exposed = _exposed_at_best(table, strict, deadline, among)
    levels, lowered = _lowered(table, exposed, strict)
    if not lowered.any():
        return _Reach(table, lowered, ())
    fixed = lowered & (levels["upl"] == 0) & (levels["lpl"] == 0)
    table = table.replace(**levels, status=np.where(fixed, FIXED, table.status))
    shares = _shares(exposed)
    number = "1 cell has" if len(shares) == 1 else f"{len(shares)} cells have"
    note = f"{number} levels beyond any pattern: {_listed(shares)}"
    return _Reach(table, lowered, (note,))


def _exposed_at_best(
    table: Table,
    strict: bool,
    deadline: float | None,
    among: Mask | None,
    attackers: AttackerKnowledge | None = None,
) -> tuple[Exposure, ...]:
    """Return which cells are exposed although everything that may be is suppressed."""
    everything = table.with_pattern(table.status != FIXED)
    how: dict[str, Any] = {"strict": strict, "deadline": deadline}
    verdict, certificate = judge(everything, among=among, **how)
    if attackers is not None:
        how |= {"attackers": attackers, "sums": RespondentSums.none()}
        verdict, _ = judge_attackers(everything, verdict, certificate, **how)
    return verdict.exposed


def _lowered(
    table: Table, exposed: Sequence[Exposure], strict: bool
) -> tuple[dict[str, NDArray[np.float64]], Mask]:
    """Lower the levels of exposed cells to the intervals that attackers are left with.

    Returns all levels, and which cells were exposed.
    """
    margin = strict_margin(table) if strict else np.zeros(len(table))
    levels = {name: getattr(table, name).copy() for name in ("lpl", "upl", "spl")}
    cells = np.zeros(len(table), dtype=bool)
    for e in exposed:
        cell, value = e.cell, float(table.value[e.cell])
        if np.isnan(e.low) or np.isnan(e.high):
            continue  # there was no time to find out what can be had
        cells[cell] = True
        had = {"upl": e.high - value, "lpl": value - e.low, "spl": e.high - e.low}
        most = {
            name: _floored(width - margin[cell], table.is_integer)
            for name, width in had.items()
        }
        for name, level in levels.items():
            level[cell] = min(level[cell], most[name])
        if not levels["upl"][cell] and not levels["lpl"][cell]:
            way = max(("upl", "lpl"), key=had.__getitem__)
            levels[way][cell] = most[way]
    return levels, cells


def _accepted(
    judged: Table,
    asked: Table,
    question: TableQuestion,
    attackers: AttackerKnowledge,
    deadline: float | None,
) -> tuple[Table, Table, Mask, tuple[str, ...]]:
    """Lower the levels of cells for which the user accepts what can be had."""
    named = read_requests(question.options.cells.accept, None, None).hide
    none = np.zeros(len(judged), dtype=bool)
    cells = np.logical_or.reduce([none, *(select(judged, label) for label in named)])
    others = np.flatnonzero(cells & (judged.status != PRIMARY))
    if len(others):
        raise InputError(
            f"lower levels are accepted for {judged.label(int(others[0]))}, which is "
            "not sensitive",
            expected="labels of sensitive cells",
            hint="make the label narrower",
        )
    strict = question.against.strict
    found = _exposed_at_best(asked, strict, deadline, cells, attackers)
    exposed = sorted((e for e in found if cells[e.cell]), key=lambda e: -e.share)
    levels, changed = _lowered(judged, exposed, strict)
    if not changed.any():
        return judged, asked, changed, ()
    number = f"{int(changed.sum()):,}"
    words = f"levels of {number} cells lowered to what can be had, as accepted for them"
    origin = replace(judged.origin, by_hand=(*judged.origin.by_hand, words))
    searched = {n: np.where(changed, of, getattr(asked, n)) for n, of in levels.items()}
    note = f"{words}: {_listed(_shares(exposed))}"
    judged = judged.replace(**levels, origin=origin)
    return judged, asked.replace(**searched), changed, (note,)


def _like(sums: RespondentSums, table: Table, secondary: Mask) -> RespondentSums:
    """Return the sums of sensitive cells at the levels of a table, if there are any."""
    if not len(sums):
        return sums
    status = np.where(secondary, SECONDARY, table.status)
    return respondent_sums(table.replace(status=status))


def _problem_like(posed: Posed, table: Table, new: Mask | None = None) -> Problem:
    """Set up the problem of a table with the costs and attackers of another.

    `new` are further cells with demands that are not sensitive.
    """
    problem = posed.problem
    parts = [part for part in (problem.secondary, new) if part is not None]
    secondary = np.logical_or.reduce([np.zeros(len(table), dtype=bool), *parts])
    return Problem.of(
        table,
        np.where(posed.kept, 0.0, posed.price),
        strict=posed.question.against.strict,
        attackers=problem.attackers,
        sums=_like(problem.sums, table, secondary),
        secondary=secondary,
    )


def _listed(words: Sequence[str]) -> str:
    more = len(words) - _LABELS_SHOWN
    rest = f" and {more:,} more" if more > 0 else ""
    return "; ".join(words[:_LABELS_SHOWN]) + rest


def _shares(exposed: Sequence[Exposure]) -> list[str]:
    """Describe how much of its levels each cell can have; never "100 %".

    Of several shares of a cell it is the smallest.
    """
    found: dict[str, float] = {}
    for e in exposed:
        found[e.label] = min(e.share, found.get(e.label, np.inf))
    return [
        f"{label} (all of its levels but for rounding: levels a millionth lower, or "
        "known bounds as much wider, can be had)"
        if share > 1 - _ROUNDING_SHARE
        else f"{label} (at most {min(100 * share, 99.9):.3g} % of its levels)"
        for label, share in found.items()
    ]


def _floored(had: float, whole: bool) -> float:
    if not had > 0:
        return 0.0
    return float(np.floor(had)) if whole else had * (1 - _ROUNDING_SHARE)
