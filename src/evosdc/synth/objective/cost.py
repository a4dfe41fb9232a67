"""What a candidate is for: how distances and risks make one cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Real
from evosdc.compile.kernels import kernel
from evosdc.synth.objective.tables import combine

_NO_MIX = np.zeros(0)
# Just below the floor nothing is paid: with a price on both sides nothing could move.
_LEDGE = 0.995


class CandidateGoal(NamedTuple):
    """How utility and risk make one cost.

    ``euclid`` is the thesis's combination ``sqrt((u U)^2 + (r R)^2)``; otherwise the
    cost is ``u U + r R``. `share` weighs the four risks into R. Each risk above its
    `limit` adds `penalty` times the excess. U is the Euclidean combination of the
    objectives or, where there is a `mix`, their sum with these weights. A mix that is
    `floored` keeps to the noise floor: it pays for what it goes below. Another one is
    rewarded for it.
    """

    euclid: bool
    utility: float
    risk: float
    share: Real
    limit: Real
    penalty: Real
    mix: Real = _NO_MIX
    floored: bool = True

    @property
    def looks_at_risk(self) -> bool:
        """Whether any risk enters the cost."""
        return bool(self.risk > 0 or self.penalty.any())


@kernel
def distance_of(goal, values, floor):  # type: ignore[no-untyped-def]
    """Return the distance that a goal counts, from those of its objectives."""
    if len(goal.mix) == 0:
        return combine(values, floor)
    total = 0.0
    for g in range(len(values)):
        value = values[g]
        if goal.floored:
            below = max(0.0, _LEDGE * floor[g] - value)
            value = max(value, floor[g]) + below
        total += goal.mix[g] * value
    return total


@kernel
def cost_of(goal, utility, risks):  # type: ignore[no-untyped-def]
    """Return the cost of a candidate from its utility distance and scaled risks."""
    soft = 0.0
    excess = 0.0
    for r in range(len(risks)):
        soft += goal.share[r] * risks[r]
        excess += goal.penalty[r] * max(0.0, risks[r] - goal.limit[r])
    u = goal.utility * utility
    v = goal.risk * soft
    if goal.euclid:
        return np.sqrt(u * u + v * v) + excess
    return u + v + excess


@kernel
def costs_of(goal, groups, risks, floor, slots):  # type: ignore[no-untyped-def]
    """Return the costs of some candidates from tables of distances and risks."""
    out = np.empty(len(slots))
    for k in range(len(slots)):
        distance = distance_of(goal, groups[slots[k]], floor)
        out[k] = cost_of(goal, distance, risks[slots[k]])
    return out
