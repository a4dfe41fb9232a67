"""Key and target by position, how much risk is allowed, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.synth.data.domain import Domain
from evosdc.synth.objective.cost import CandidateGoal
from evosdc.synth.objective.options import Scenario, TradeOff
from evosdc.synth.objective.risk import RISKS
from evosdc.synth.objective.split_halves import Floor

# Cost of a risk of 1 above its limit. One that the user sets weighs more than any
# distance; of a suggested one a tenth of the risk is worth a hundredth of distance.
_USER_PENALTY, _SUGGESTED_PENALTY = 2.0, 0.1
# The share of a fresh sample's risks that is suggested as a limit.
FRESH_SHARE = 0.5


@dataclass(frozen=True)
class RiskLimits:
    """A scenario by positions of columns, with a limit for each risk.

    `hard` are the limits that the user set; the others are suggested.
    """

    key: tuple[int, ...] | None
    target: int | None
    risks: tuple[int, ...]
    limits: dict[int, float]
    hard: frozenset[int]

    @property
    def binding(self) -> dict[int, float]:
        """The limits a run has to meet: the user's, else the suggested ones."""
        if not self.hard:
            return self.limits
        return {r: limit for r, limit in self.limits.items() if r in self.hard}

    @property
    def roles(self) -> list[int]:
        """The positions of key and target."""
        return [j for j in (*(self.key or ()), self.target) if j is not None]


def positions(
    domain: Domain, scenario: Scenario
) -> tuple[tuple[int, ...] | None, int | None]:
    """Return the positions of key and target, or None where none are given."""
    target = scenario.target
    if scenario.key is None and target is None:
        return None, None
    if target is None:
        raise InputError(
            "a key is given without a target",
            hint="name the column an attacker wants to learn as target",
        )
    at = domain.position(target)
    names = scenario.known
    if scenario.key is None:
        names = [n for n in domain.names if n != target]
    members = tuple(domain.position(n) for n in names)
    if at in members:
        raise InputError(
            f"the key includes the target {target!r}",
            expected="a target that the attacker does not know",
        )
    if not members or len(set(members)) < len(members):
        raise InputError(
            "the key is empty or names a column twice",
            expected="one or more different columns",
        )
    return members, at


def make_limits(
    scenario: Scenario,
    trade_off: TradeOff,
    key: tuple[int, ...] | None,
    target: int | None,
    floor: Floor,
    records: int,
) -> RiskLimits:
    """Set the limits: the user's, else half of what a fresh sample would show."""
    risks = scenario.risks()
    if key is None:
        if scenario.risk_limit is not None:
            raise InputError(
                "a risk limit is given without key and target",
                hint="name what an attacker knows (key) and wants to learn (target)",
            )
        return RiskLimits(None, None, (), {}, frozenset())
    if not risks:
        raise InputError("no risk is named", expected=", ".join(RISKS))
    limits = scenario.limits()
    hard = frozenset(limits)
    if trade_off.mode == "constraint":
        suggested = np.maximum(FRESH_SHARE * floor.risks, 1.0 / records)
        limits |= {r: float(suggested[r]) for r in risks if r not in limits}
    return RiskLimits(key, target, risks, limits, hard)


def base_goal(limits: RiskLimits, trade_off: TradeOff) -> CandidateGoal:
    """Return the cost that the mode asks for."""
    share, limit, penalty = np.zeros(4), np.full(4, np.inf), np.zeros(4)
    share[list(limits.risks)] = 1.0 / max(1, len(limits.risks))
    for r, value in limits.limits.items():
        limit[r] = value
        penalty[r] = _USER_PENALTY if r in limits.hard else _SUGGESTED_PENALTY
    weighted = trade_off.mode == "weighted" and bool(limits.risks)
    weight = float(trade_off.risk_weight) if weighted else 0.0
    scale = 1.0 / np.sqrt(1.0 + weight * weight) if weighted else 1.0
    return CandidateGoal(weighted, scale, weight * scale, share, limit, penalty)


def baselines(
    codes: NDArray[np.integer], key: tuple[int, ...] | None, target: int | None
) -> dict[str, float]:
    """Return what guessing from the target's distribution alone would score."""
    if key is None or target is None:
        return {}
    _, inverse, count = np.unique(
        codes[:, list(key)], axis=0, return_inverse=True, return_counts=True
    )
    share = np.bincount(codes[:, target]) / len(codes)
    mine = share[codes[:, target]]
    unique = count[inverse.ravel()] == 1
    return {
        "dcap": float(mine.mean()),
        "dcap-u": float(mine[unique].mean()) if unique.any() else 0.0,
    }
