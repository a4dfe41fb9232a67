"""From what is asked of a table to the problem that is searched and judged.

Requests, attackers, earlier publications, thresholds and levels that no pattern gives
become demands, bounds and fixed cells here, so that the search solves the question that
the judge is asked afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evosdc.api.attackers import Against
from evosdc.api.requests import read_requests
from evosdc.api.sources import Known
from evosdc.attack import judge, judge_attackers
from evosdc.errors import InputError, LevelError
from evosdc.io.checkpoint import Checkpoint
from evosdc.options import tables as options
from evosdc.results import Exposure
from evosdc.suppress.problem.problem import Problem, strict_margin
from evosdc.suppress.problem.requests import CellRequests, costs, refuse_known
from evosdc.suppress.running import Clock
from evosdc.table import Table
from evosdc.table.attackers import AttackerKnowledge, RespondentSums, respondent_sums
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
class Task:
    """What `protect` was asked for, beside the table."""

    keywords: options.ProtectKeywords
    asked: options.Asked
    against: Against
    checkpoint: Checkpoint | None = None

    @property
    def seconds(self) -> float | None:
        """The limit of time that holds; None for no limit."""
        return self.keywords.seconds(self.asked.stop)


@dataclass(frozen=True, eq=False)
class Posed:
    """A question: the table as it will be judged, and the problem of the search.

    Attributes
    ----------
    given
        The table as it came.
    judged
        The table with requested cells sensitive; the levels are those to be judged.
    before
        What everyone has from earlier publications.
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

    task: Task
    given: Table
    judged: Table
    before: Known
    requested: CellRequests
    kept: Mask
    price: NDArray[np.float64]
    problem: Problem
    unreachable: Mask
    accepted: Mask
    clock: Clock
    notes: tuple[str, ...]

    def published(self, hidden: Mask) -> Table:
        """Return the table as it is published where a search suppressed some cells."""
        judged = self.judged
        return judged.with_pattern(
            hidden | self.kept | ~judged.shown | (judged.status == PRIMARY)
        )

    def cost_of(self, table: Table) -> float:
        """What the secondaries of a published table cost."""
        return float(self.price[table.hidden & table.shown].sum())

    def beyond_attackers(self) -> tuple[str, ...]:
        """List levels that no pattern gives against who knows more than everyone."""
        problem, real = self.problem, len(self.problem.attackers)
        pairs = sorted({(c, a) for a, c, _ in problem.shortfalls if 0 < a < real})
        if not pairs:
            return ()
        shown = "; ".join(
            f"{problem.table.label(cell)} against "
            f"{problem.attackers.describe(problem.table, attacker)}"
            for cell, attacker in pairs[:_LABELS_SHOWN]
        )
        more = len(pairs) - _LABELS_SHOWN
        rest = f" and {more:,} more" if more > 0 else ""
        return (f"no pattern protects in full: {shown}{rest}",)

    def lowered(self, cells: tuple[int, ...]) -> Posed | None:
        """Return the question with levels lowered to what some pattern gives.

        Those of some cells, or of all where they are not said. None where these were
        lowered before.
        """
        if self.unreachable[list(cells)].all() and self.unreachable.any():
            return None
        found = _within_reach(
            self.problem.table, self.task.against.strict, self.clock.end, cells
        )
        return replace(
            self,
            problem=_problem_like(self, found.table),
            unreachable=self.unreachable | found.cells,
            notes=self.notes + found.notes,
        )

    def asking_more(self, exposed: tuple[Exposure, ...]) -> Posed | None:
        """Return the question with demands for cells that the judge found exposed.

        Secondaries are asked for like sensitive cells, and sensitive cells for more
        than their levels: solvers work with tolerances and know of no whole numbers.
        None where no demand would be new.
        """
        table, problem = self.problem.table, self.problem
        cells = np.zeros(len(table), dtype=bool)
        beyond = {cell for _, cell, _ in problem.shortfalls}
        cells[[e.cell for e in exposed if not e.insider or e.cell not in beyond]] = True
        cells &= ~self.unreachable & ~self.before.cells & (table.status != FIXED)
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
        secondary = _secondary(problem) | new
        return replace(
            self, problem=_problem_like(self, more.replace(**raised), secondary)
        )


def pose(table: Table, before: Known, task: Task) -> Posed:
    """Grant the requests, price the cells, list the attackers, set the problem up."""
    clock = Clock(task.seconds)
    strict, cells = task.against.strict, task.asked.cells
    requested = read_requests(cells.hide, cells.publish, cells.cost_factor)
    kept = (table.status == SECONDARY) & task.asked.keeps_secondaries & ~before.cells
    granted = requested.grant(table, kept)
    kept &= (granted.status == SECONDARY) & granted.shown
    prices = costs(granted, cells.cost) * requested.factors(granted)
    prices[~granted.shown] = 0.0
    # What everyone has from before cannot be suppressed any more.
    asked = granted.replace(status=np.where(before.cells, FIXED, granted.status))
    attackers, sums = attackers_of(asked, task.against)
    secondary = kept & task.against.secondaries
    asked = as_demands(asked, secondary)
    # A requested cell without levels is judged as such: nobody may work it out. What
    # must be published, or was, is fixed for the search only.
    status = np.where(granted.status == FIXED, table.status, granted.status)
    judged = granted.replace(status=status, lpl=table.lpl, upl=table.upl, spl=table.spl)
    none = np.zeros(len(table), dtype=bool)
    notes: tuple[str, ...] = ()
    accepted = none
    if cells.accept:
        judged, asked, accepted, notes = _accepted(
            judged, asked, task, attackers, clock.end
        )
        sums = _like(sums, asked, secondary)
    given_up: tuple[str, ...] = ()
    unreachable = none

    def problem_of(levels: Table) -> Problem:
        return Problem.of(
            levels,
            np.where(kept, 0.0, prices),
            strict=strict,
            attackers=attackers,
            sums=sums,
            secondary=secondary,
        )

    with explained(requested):
        try:
            problem = problem_of(asked)
        except LevelError as error:
            if requested.publish:
                raise
            found = _within_reach(asked, strict, clock.end, error.cells)
            problem, given_up = problem_of(found.table), found.notes
            unreachable = found.cells
    return Posed(
        task=task,
        given=table,
        judged=judged,
        before=before,
        requested=requested,
        kept=kept,
        price=np.where(granted.status == PRIMARY, 0.0, prices),
        problem=problem,
        unreachable=unreachable,
        accepted=accepted,
        clock=clock,
        notes=notes + given_up,
    )


def attackers_of(
    table: Table, asked: Against
) -> tuple[AttackerKnowledge, RespondentSums]:
    """List the attackers that an office asks about, and the sums it protects."""
    if not asked.beside_public:
        return AttackerKnowledge.public(), RespondentSums.none()
    return asked.of(table), respondent_sums(table)


@contextmanager
def explained(requests: CellRequests) -> Iterator[None]:
    """Say that requests to publish may be the reason where levels cannot be had."""
    try:
        yield
    except LevelError as error:
        if not requests.publish:
            raise
        listed = "; ".join(requests.settings()["publish"][:_LABELS_SHOWN])
        raise LevelError(
            f"{error.what}; cells that must be published: {listed}",
            expected=error.expected,
            hint="ask for fewer cells to be published, prefer them instead, or "
            + error.hint,
        ) from error


def as_demands(table: Table, cells: Mask) -> Table:
    """Return the table with some cells to be protected like sensitive ones."""
    refuse_known(table, cells)
    return table.replace(status=np.where(cells, PRIMARY, table.status))


@dataclass(frozen=True, eq=False)
class _Reach:
    """A table with levels that can be had, and which cells had others."""

    table: Table
    cells: Mask
    notes: tuple[str, ...]


def _within_reach(
    table: Table, strict: bool, deadline: float | None, cells: tuple[int, ...] = ()
) -> _Reach:
    """Lower levels that are out of reach even with everything suppressed.

    Those of some cells, or of all where none are named. A cell that cannot move at all
    is fixed: it is known whatever is suppressed, and protects nobody.
    """
    everything = table.with_pattern(table.status != FIXED)
    among = None
    if cells:
        among = np.zeros(len(table), dtype=bool)
        among[list(cells)] = True
    verdict, _ = judge(everything, strict=strict, deadline=deadline, among=among)
    lower, status, lowered = _lower(table, verdict.exposed, strict)
    if not lowered.any():
        return _Reach(table, lowered, ())
    shares = {e.label: _share_in_words(e.share) for e in verdict.exposed}
    number = "1 cell has" if len(shares) == 1 else f"{len(shares)} cells have"
    note = f"{number} levels beyond any pattern: {_listed(shares)}"
    return _Reach(lower.replace(status=status), lowered, (note,))


def _lower(
    table: Table, exposed: tuple[Exposure, ...], strict: bool
) -> tuple[Table, NDArray[np.str_], Mask]:
    """Lower the levels of exposed cells to the intervals that attackers are left with.

    Returns the table, statuses in which cells that cannot move are fixed, and which
    cells were exposed.
    """
    margin = strict_margin(table) if strict else np.zeros(len(table))
    levels = {name: getattr(table, name).copy() for name in ("lpl", "upl", "spl")}
    status, cells = table.status.copy(), np.zeros(len(table), dtype=bool)
    for e in exposed:
        cell, value = e.cell, float(table.value[e.cell])
        if np.isnan(e.low) or np.isnan(e.high):
            continue  # there was no time to find out what can be had
        cells[cell] = True
        had = {"upl": e.high - value, "lpl": value - e.low, "spl": e.high - e.low}
        most = {
            name: _floored(room - margin[cell], table.is_integer)
            for name, room in had.items()
        }
        for name, level in levels.items():
            level[cell] = min(level[cell], most[name])
        if not levels["upl"][cell] and not levels["lpl"][cell]:
            way = max(("upl", "lpl"), key=had.__getitem__)
            levels[way][cell] = most[way]
        if not levels["upl"][cell] and not levels["lpl"][cell]:
            status[cell] = FIXED
    return table.replace(**levels), status, cells


def _accepted(
    judged: Table,
    asked: Table,
    task: Task,
    attackers: AttackerKnowledge,
    deadline: float | None,
) -> tuple[Table, Table, Mask, tuple[str, ...]]:
    """Lower the levels of cells for which the user accepts what can be had."""
    named = read_requests(task.asked.cells.accept, None, None).hide
    cells = np.zeros(len(judged), dtype=bool)
    for label in named:
        cells |= select(judged, label)
    if (cells & (judged.status != PRIMARY)).any():
        first = int(np.flatnonzero(cells & (judged.status != PRIMARY))[0])
        raise InputError(
            f"lower levels are accepted for {judged.label(first)}, which is not "
            "sensitive",
            expected="labels of sensitive cells",
            hint="make the label narrower",
        )
    strict = task.against.strict
    everything = asked.with_pattern(asked.status != FIXED)
    verdict, certificate = judge(
        everything, strict=strict, deadline=deadline, among=cells
    )
    verdict, _ = judge_attackers(
        everything,
        verdict,
        certificate,
        strict=strict,
        deadline=deadline,
        attackers=attackers,
        sums=RespondentSums.none(),
    )
    exposed = tuple(e for e in verdict.exposed if cells[e.cell])
    lower, _, changed = _lower(judged, exposed, strict)
    if not changed.any():
        return judged, asked, changed, ()
    shares: dict[str, str] = {}
    for e in sorted(exposed, key=lambda e: -e.share):
        shares[e.label] = _share_in_words(e.share)  # the smallest share comes last
    words = (
        f"levels of {int(changed.sum()):,} cells lowered to what can be had, as "
        "accepted for them"
    )
    origin = replace(judged.origin, by_hand=(*judged.origin.by_hand, words))
    levels = {name: getattr(lower, name) for name in ("lpl", "upl", "spl")}
    searched = {
        name: np.where(changed, level, getattr(asked, name))
        for name, level in levels.items()
    }
    note = f"{words}: {_listed(shares)}"
    judged = judged.replace(**levels, origin=origin)
    return judged, asked.replace(**searched), changed, (note,)


def _secondary(problem: Problem) -> Mask:
    """Cells with demands that are not sensitive."""
    nothing = np.zeros(len(problem.table), dtype=bool)
    return nothing if problem.secondary is None else problem.secondary


def _like(sums: RespondentSums, table: Table, secondary: Mask) -> RespondentSums:
    """Return the sums of sensitive cells at the levels of a table, if there are any."""
    if not len(sums):
        return sums
    status = np.where(secondary, SECONDARY, table.status)
    return respondent_sums(table.replace(status=status))


def _problem_like(posed: Posed, table: Table, secondary: Mask | None = None) -> Problem:
    """Set up the problem of a table with the costs and attackers of another."""
    problem, strict = posed.problem, posed.task.against.strict
    secondary = _secondary(problem) if secondary is None else secondary
    return Problem.of(
        table,
        np.where(posed.kept, 0.0, posed.price),
        strict=strict,
        attackers=problem.attackers,
        sums=_like(problem.sums, table, secondary),
        secondary=secondary,
    )


def _listed(shares: Mapping[str, str]) -> str:
    shown = [f"{label} ({share})" for label, share in shares.items()][:_LABELS_SHOWN]
    more = len(shares) - len(shown)
    return "; ".join(shown) + (f" and {more} more" if more else "")


def _share_in_words(share: float) -> str:
    """Say how much of its levels a cell can have; never "100 %", which it cannot."""
    if share > 1 - _ROUNDING_SHARE:
        return (
            "all of its levels but for rounding: levels a millionth lower, or known "
            "bounds as much wider, can be had"
        )
    return f"at most {min(100 * share, 99.9):.3g} % of its levels"


def _floored(had: float, whole: bool) -> float:
    if not had > 0:
        return 0.0
    return float(np.floor(had)) if whole else had * (1 - _ROUNDING_SHARE)
