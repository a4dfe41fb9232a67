"""The candidates of a front: how close each aims to come, and at what risk.

Each has limits of its own, as in the epsilon-constraint method (Haimes et al. 1971):
shares of what a reference would show, from nearly all of it to none. There are three
kinds. Some look at tables of one and two variables only, some bring deeper tables to
the noise floor; their reference is what a single answer is held to. Others go on below
the floor, up to the risks of a bootstrap of the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.evolution.pareto import non_dominated
from evosdc.synth.objective.cost import CandidateGoal

# The first share of a reference's risks, and the last before none.
_SHARES = (0.95, 0.06)
_PENALTY = 2.0
PAIRS, HELD, BEYOND = 0, 1, 2
# In which order candidates are given to the kinds, again and again.
_TURNS = (PAIRS, BEYOND, HELD, PAIRS, BEYOND, PAIRS, BEYOND, HELD)
# What a deep table weighs beside pairs, by kind. At its floor it only hinders a
# candidate, and 0.3 is enough to get there.
_DEEP_WEIGHTS = {PAIRS: 0.0, HELD: 0.3, BEYOND: 1.0}


@dataclass(frozen=True, eq=False)
class Front:
    """What the candidates of a front have in common.

    `deep` marks the objectives of tables of three and more variables, `floored` says
    whether they have a noise floor, and `risks` are those that count. `suggested` and
    `bootstrap` are the references.
    """

    goal: CandidateGoal
    deep: Flags
    floored: bool
    risks: tuple[int, ...]
    suggested: Real
    bootstrap: Real

    def goals(self, size: int) -> list[CandidateGoal]:
        """Return the goals of so many candidates, kind by kind."""
        kinds = self.kinds(size)
        out = []
        for kind in (PAIRS, HELD, BEYOND):
            reference = self.bootstrap if kind == BEYOND else self.suggested
            limits = [reference * s for s in shares(kinds.count(kind))]
            out += [self._aim(kind, limit) for limit in limits]
        return out

    def kinds(self, size: int) -> list[int]:
        """Return the kind of each of so many candidates, where there is such a kind."""
        turns = [
            kind
            for kind in _TURNS
            if (kind == PAIRS or self.deep.any())
            and (kind != PAIRS or not self.deep.all())
            and (kind != HELD or self.floored)
        ]
        return list(islice(cycle(turns), size))

    def _aim(self, kind: int, limits: Real) -> CandidateGoal:
        weight = 1.0 if self.deep.all() else _DEEP_WEIGHTS[kind]
        limit, penalty = self.goal.limit.copy(), self.goal.penalty.copy()
        for r in self.risks:
            limit[r] = min(limit[r], limits[r])
            penalty[r] = _PENALTY
        return self.goal._replace(
            limit=limit,
            penalty=penalty,
            mix=np.where(self.deep, weight, 1.0),
            floored=kind != BEYOND,
        )


def shares(count: int) -> Sequence[float]:
    """Return shares of a reference's risks: nearly all, less and less, none."""
    if count < 2:
        return [_SHARES[0]] * count
    return [*np.geomspace(*_SHARES, count - 1).tolist(), 0.0]


def two_fronts(points: Real, closer: Flags) -> Long:
    """Return what no other dominates, by the first objective, `closer` ones last.

    What is closer than a fresh sample does not compete with the rest: it would win by
    repeating people.
    """
    out = []
    for side in (~closer, closer):
        mine = np.flatnonzero(side)
        front = mine[non_dominated(points[mine])]
        _, first = np.unique(points[front], axis=0, return_index=True)
        out.append(front[first])
    return np.concatenate(out)
