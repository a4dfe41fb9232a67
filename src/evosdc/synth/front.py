"""The candidates of a front: how close each aims to come, and at what risk.

Each has limits of its own, as in the epsilon-constraint method (Haimes et al. 1971):
shares of what a reference would show, from all of it to none. One half keeps to the
noise floor, and its reference is a fresh sample of the same population. The other half
goes on below it, up to the risks of a bootstrap of the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.evolution.pareto import non_dominated
from evosdc.synth.encoding import Ints
from evosdc.synth.goal import Goal

Floats = NDArray[np.float64]


# The first share of a reference's risks, and the last before none.
_SHARES = (0.95, 0.06)
_PENALTY = 2.0
# What a deep table weighs beside pairs in candidates that keep to its floor: at the
# floor it only hinders them, and 0.3 is enough to get there.
_HELD_WEIGHT = 0.3


@dataclass(frozen=True, eq=False)
class Front:
    """What the candidates of a front have in common.

    `deep` marks the objectives of tables of three and more variables, `floored` says
    whether they have a noise floor, and `risks` are those that count.
    """

    goal: Goal
    deep: NDArray[np.bool_]
    floored: bool
    risks: tuple[int, ...]
    fresh: Floats
    bootstrap: Floats

    def goals(self, size: int) -> list[Goal]:
        """Return the goals of so many candidates, those at the noise floor first."""
        beyond = size // 2 if self.floored else size
        if not self.deep.any():
            beyond = 0
        return [
            *(self._aim(True, self.fresh * s) for s in shares(size - beyond)),
            *(self._aim(False, self.bootstrap * s) for s in shares(beyond)),
        ]

    def _aim(self, floored: bool, limits: Floats) -> Goal:
        held = self.deep & floored & ~self.deep.all()
        mix = np.where(held, _HELD_WEIGHT, 1.0)
        limit, penalty = self.goal.limit.copy(), self.goal.penalty.copy()
        for r in self.risks:
            limit[r] = min(limit[r], limits[r])
            penalty[r] = _PENALTY
        return self.goal._replace(
            limit=limit, penalty=penalty, mix=mix, floored=floored
        )


def shares(count: int) -> Sequence[float]:
    """Return shares of a reference's risks: nearly all, less and less, none."""
    if count < 2:
        return [_SHARES[0]] * count
    return [*np.geomspace(*_SHARES, count - 1).tolist(), 0.0]


def two_fronts(points: Floats, closer: NDArray[np.bool_]) -> Ints:
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
