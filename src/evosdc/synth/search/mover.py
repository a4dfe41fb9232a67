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

from evosdc.compile.clock import moment
from evosdc.synth.data.encoding import Codes
from evosdc.synth.objective.aim import Chosen
from evosdc.synth.objective.goal import CandidateGoal
from evosdc.synth.objective.risk import RiskIndex
from evosdc.synth.objective.tables import CRAMER, Target
from evosdc.synth.search.anneal import anneal
from evosdc.synth.search.blocks import add_up, cut, risk_of
from evosdc.synth.search.cooling import Cooling
from evosdc.synth.search.population import SynthesisProblem, Tally, Team

Floats = NDArray[np.float64]
Arrays = tuple[NDArray[Any], ...]
Stream = NDArray[np.uint64]


class Piece(NamedTuple):
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
    groups: Floats
    risks: Floats
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
        plan: Sequence[Piece],
        team: Team,
        seconds: float = math.inf,
    ) -> int:
        """Make the moves of a plan on candidate `k`; return how many they were.

        After so many seconds no further piece is begun.
        """
        begun, made = moment(), 0
        for piece in plan:
            if made and moment() - begun >= seconds:
                break
            if not piece.streams:
                target = self._softened(candidate, piece.share)
                self.anneal(k, candidate, target, piece.hot, piece.cold, piece.moves)
            else:
                self._anneal_blocks(k, candidate, piece, team)
            made += piece.moves
        return made

    def anneal(
        self,
        k: int,
        candidate: Candidate,
        target: Target,
        hot: float,
        cold: float,
        moves: int,
    ) -> None:
        """Make moves on all records of candidate `k`, priced by a target."""
        codes, tally, *_, stream = candidate
        risk = self.problem.risk
        self._moves(k, target, risk, codes, tally, stream, hot, cold, moves)
        self._price(k, candidate)

    def _softened(self, candidate: Candidate, share: float) -> Target:
        """Return the target, rounded off by how far a candidate is from it."""
        target = self.problem.target
        small = np.unique(target.group[target.small])
        distance = candidate.groups[small].mean() if len(small) else 0.0
        return target.softened(self.cooling.softness(share, distance))

    def _anneal_blocks(
        self, k: int, candidate: Candidate, piece: Piece, team: Team
    ) -> None:
        """Make moves in all blocks of a candidate, and add up what they changed."""
        codes, risk = candidate.codes, self.problem.risk
        blocks = cut(candidate.tally, len(codes), piece.turn)
        streams = np.array(piece.streams, np.uint64)[:, np.newaxis]

        def work(number: int) -> None:
            begin, end, mine = blocks[number]
            self._moves(
                k,
                self.problem.target,
                risk_of(risk, begin),
                codes[begin:end],
                mine,
                streams[number],
                piece.hot,
                piece.cold,
                piece.moves * (end - begin) // len(codes),
            )

        team.each(work, range(len(blocks)))
        add_up(candidate.tally, blocks)
        self._price(k, candidate)

    def _moves(
        self,
        k: int,
        target: Target,
        risk: RiskIndex,
        codes: Codes,
        tally: Tally,
        stream: Stream,
        hot: float,
        cold: float,
        moves: int,
    ) -> None:
        """Make moves on records of candidate `k`, counted by `tally`."""
        problem, cooling = self.problem, self.cooling
        # Prices of Cramer cells hold only while margins do: swaps, no changes.
        fixed = bool((target.kind == CRAMER).any())
        anneal(
            target,
            risk,
            self.goals[k],
            problem.rules,
            problem.free,
            problem.sizes,
            codes,
            tally.counts,
            tally.outside,
            tally.weights,
            tally.keys,
            tally.products,
            stream,
            moves,
            hot,
            cold,
            1.0 if fixed else cooling.swaps,
            0.0 if fixed else cooling.whole,
            problem.original,
            np.zeros(cooling.late),
        )

    def _price(self, k: int, candidate: Candidate) -> None:
        """Price candidate `k` from its counters."""
        tally = candidate.tally
        if not self.goals[k].looks_at_risk:
            tally.count_keys(candidate.codes)
        candidate.groups[:] = tally.distances()
        candidate.risks[:] = tally.risks()


class Errand(NamedTuple):
    """A candidate to be moved elsewhere, and the tables that were chosen for it."""

    k: int
    chosen: Chosen
    plan: Sequence[Piece]
    seconds: float
    arrays: Arrays


class Outpost:
    """What workers elsewhere have of a run; each works out chosen tables itself."""

    def __init__(self, mover: Mover) -> None:
        self._mover = mover
        self._chosen: Chosen = {}

    def mover(self, chosen: Chosen) -> Mover:
        """Return what moves candidates towards these tables."""
        problem = self._mover.problem
        if problem.aim is not None and chosen != self._chosen:
            aimed = replace(problem, target=problem.aim.target(chosen))
            self._mover = replace(self._mover, problem=aimed)
            self._chosen = chosen
        return self._mover


def run_errand(outpost: Outpost, errand: Errand) -> tuple[Arrays, int]:
    """Return a candidate as its plan leaves it, and how many moves were made."""
    mover = outpost.mover(errand.chosen)
    candidate = Candidate.of(mover.problem, errand.arrays)
    with Team(1) as alone:
        made = mover.improve(errand.k, candidate, errand.plan, alone, errand.seconds)
    return candidate.arrays, made
