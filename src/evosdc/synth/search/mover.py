"""Record moves on one candidate, in this process or in another one.

A candidate is arrays that moves change in place. To be moved elsewhere it travels with
its counters and its random stream, and comes back with them: wherever moves are made,
they are the same. What all candidates share travels once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Real
from evosdc.compile.clock import moment
from evosdc.synth.data.encoding import Codes
from evosdc.synth.objective.cost import CandidateGoal
from evosdc.synth.objective.objective import Chosen
from evosdc.synth.objective.tables import CRAMER, Target
from evosdc.synth.search.anneal import anneal
from evosdc.synth.search.blocks import add_up, cut, risk_of
from evosdc.synth.search.population import SynthesisProblem, Tally, Team

Arrays = tuple[NDArray[Any], ...]
Stream = NDArray[np.uint64]

# Distances are softened by no more than this, and in the last tenth not at all.
_MAX_SOFTNESS, _SOFT_UNTIL = 0.1, 0.9


@dataclass(frozen=True)
class Cooling:
    """How candidates are annealed, scaled to a file.

    Temperatures are costs. `moves` are made by each candidate in a generation; a share
    `swaps` of them swap a value between two records, the others change one value. Where
    the full table is an objective, a share `whole` of all change a whole record. With
    `by_clock` nothing but a time limit says how many generations there are.

    A Jensen-Shannon distance is infinitely steep at 0: once most tables are exact, no
    move may touch them any more for the sake of the others. So distances of one or two
    variables are rounded off at `soft` times their present mean, but for the end.
    """

    moves: int
    hot: float
    cold: float
    swaps: float = 0.5
    whole: float = 0.1
    late: int = 0
    crossover: int = 4
    crossover_rate: float = 0.1
    soft: float = 1.0
    by_clock: bool = False

    def temperature(self, share: float) -> float:
        """Return the temperature when `share` of the budget is spent."""
        return float(self.hot * (self.cold / self.hot) ** min(1.0, share))

    def softness(self, share: float, distance: float) -> float:
        """Return where to round off distances that are `distance` on average."""
        if share >= _SOFT_UNTIL:
            return 0.0
        return self.soft * min(_MAX_SOFTNESS, distance)


class Segment(NamedTuple):
    """Some moves of a candidate, while the temperature falls from `hot` to `cold`.

    `share` of the budget is spent. With `streams`, one for each, its blocks of records
    are moved side by side, cut as in that `turn`.
    """

    share: float
    hot: float
    cold: float
    moves: int
    turn: int = 0
    streams: tuple[int, ...] = ()


class Candidate(NamedTuple):
    """What moves change of a candidate, in place: records, counters, prices, chance."""

    codes: Codes
    tally: Tally
    groups: Real
    risks: Real
    stream: Stream

    @property
    def arrays(self) -> Arrays:
        """All of it, without the problem."""
        others = (self.codes, self.groups, self.risks, self.stream)
        return (*others, self.tally.weights, *self.tally.counters)

    @classmethod
    def of(cls, problem: SynthesisProblem, arrays: Arrays) -> Candidate:
        """Return a candidate of its own with the same content."""
        codes, groups, risks, stream, *_ = (a.copy() for a in arrays)
        out = cls(codes, Tally(problem), groups, risks, stream)
        out.become(arrays)
        return out

    def become(self, arrays: Arrays) -> None:
        """Take over what another one has."""
        for mine, theirs in zip(self.arrays, arrays, strict=True):
            mine[...] = theirs


@dataclass(frozen=True, eq=False)
class Mover:
    """Moves candidates, each by its own goal."""

    problem: SynthesisProblem
    goals: Sequence[CandidateGoal]
    cooling: Cooling

    def improve(
        self,
        k: int,
        candidate: Candidate,
        plan: Sequence[Segment],
        team: Team,
        seconds: float = math.inf,
    ) -> int:
        """Make the moves of a plan on candidate `k`; return how many they were.

        After so many seconds no further segment is begun.
        """
        begun, made = moment(), 0
        for segment in plan:
            if made and moment() - begun >= seconds:
                break
            if segment.streams:
                self._anneal_blocks(k, candidate, segment, team)
            else:
                target = self._softened(candidate, segment.share)
                self.anneal(k, candidate, target, segment)
            made += segment.moves
        return made

    def anneal(
        self, k: int, candidate: Candidate, target: Target, segment: Segment
    ) -> None:
        """Make moves on all records of candidate `k`, priced by a target."""
        everything = 0, len(candidate.codes)
        self._move(k, target, candidate, everything, candidate.stream, segment)
        self._price(k, candidate)

    def _softened(self, candidate: Candidate, share: float) -> Target:
        """Return the target, rounded off by how far a candidate is from it."""
        target = self.problem.target
        small = np.unique(target.group[target.small])
        distance = candidate.groups[small].mean() if len(small) else 0.0
        return target.softened(self.cooling.softness(share, distance))

    def _anneal_blocks(
        self, k: int, candidate: Candidate, segment: Segment, team: Team
    ) -> None:
        """Make moves in all blocks of a candidate, and add up what they changed."""
        records, target = len(candidate.codes), self.problem.target
        blocks = cut(candidate.tally, records, segment.turn)
        streams = np.array(segment.streams, np.uint64)[:, np.newaxis]

        def work(number: int) -> None:
            begin, end, tally = blocks[number]
            part = segment._replace(moves=segment.moves * (end - begin) // records)
            block = candidate._replace(tally=tally)
            self._move(k, target, block, (begin, end), streams[number], part)

        team.each(work, range(len(blocks)))
        add_up(candidate.tally, blocks)
        self._price(k, candidate)

    def _move(
        self,
        k: int,
        target: Target,
        candidate: Candidate,
        rows: tuple[int, int],
        stream: Stream,
        segment: Segment,
    ) -> None:
        """Make moves on some records of candidate `k`."""
        problem, cooling = self.problem, self.cooling
        # Prices of Cramer cells hold only while margins do: swaps, no changes.
        fixed = bool((target.kind == CRAMER).any())
        swaps, whole = (1.0, 0.0) if fixed else (cooling.swaps, cooling.whole)
        anneal(
            target,
            risk_of(problem.risk, rows[0]),
            self.goals[k],
            (problem.rules, problem.free, problem.sizes, problem.original),
            candidate.codes[rows[0] : rows[1]],
            candidate.tally.arrays,
            stream,
            (segment.moves, segment.hot, segment.cold, swaps, whole),
            np.zeros(cooling.late),
        )

    def _price(self, k: int, candidate: Candidate) -> None:
        """Price candidate `k` from its counters."""
        tally = candidate.tally
        if not self.goals[k].looks_at_risk:
            tally.count_keys(candidate.codes)
        candidate.groups[:] = tally.distances()
        candidate.risks[:] = tally.risks()


class MoveTask(NamedTuple):
    """A candidate to be moved elsewhere, and the tables that were chosen for it."""

    k: int
    chosen: Chosen
    plan: Sequence[Segment]
    seconds: float
    arrays: Arrays


class WorkerState:
    """What workers elsewhere have of a run; each works out chosen tables itself."""

    def __init__(self, mover: Mover) -> None:
        self._mover = mover
        self._chosen: Chosen = {}

    def mover(self, chosen: Chosen) -> Mover:
        """Return what moves candidates towards these tables."""
        problem = self._mover.problem
        if problem.objective is not None and chosen != self._chosen:
            aimed = replace(problem, target=problem.objective.target(chosen))
            self._mover = replace(self._mover, problem=aimed)
            self._chosen = chosen
        return self._mover


def run_task(worker_state: WorkerState, task: MoveTask) -> tuple[Arrays, int]:
    """Return a candidate as its plan leaves it, and how many moves were made."""
    mover = worker_state.mover(task.chosen)
    candidate = Candidate.of(mover.problem, task.arrays)
    with Team(1) as alone:
        made = mover.improve(task.k, candidate, task.plan, alone, task.seconds)
    return candidate.arrays, made
