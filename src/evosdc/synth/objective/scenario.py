"""Who attacks what, and how much of it is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.options import copies
from evosdc.synth.data.domain import Domain
from evosdc.synth.objective.goal import CandidateGoal
from evosdc.synth.objective.names import parse_risks
from evosdc.synth.objective.noise import Floor
from evosdc.synth.objective.risk import RISKS
from evosdc.synth.objective.trade_off import TradeOff

# A limit the user sets weighs more than any distance; one we suggest weighs so much
# that a tenth of the risk is worth a hundredth of distance.
_HARD, _SOFT = 2.0, 0.1
# What of a fresh sample's risks is suggested as a limit.
FRESH_SHARE = 0.5


@dataclass(frozen=True)
class Scenario(copies.Scenario):
    __doc__ = copies.Scenario.__doc__

    def __post_init__(self) -> None:
        super().__post_init__()
        self.risks()
        self.limits()

    @property
    def known(self) -> list[str]:
        """The columns of the key, as far as they are named."""
        if isinstance(self.key, str):
            return self.key.split(",")
        return list(self.key or ())

    @property
    def named(self) -> list[str]:
        """The columns that are named: key and target."""
        return self.known if self.target is None else [*self.known, self.target]

    def risks(self) -> tuple[int, ...]:
        """Return the numbers of the risks that count."""
        risk = self.risk
        return parse_risks(risk if isinstance(risk, str) else list(risk))

    def limits(self) -> dict[int, float]:
        """Return the limits that are set, by the number of their risk."""
        given, limits = self.risk_limit, {}
        if isinstance(given, Mapping):
            limits = {parse_risks(n)[0]: float(v) for n, v in given.items()}
        elif given is not None:
            limits = {self.risks()[0]: float(given)}
        for r, limit in limits.items():
            if not 0.0 <= limit <= 1.0:
                raise InputError(
                    f"the limit of {RISKS[r]} is {limit}",
                    expected="a share from 0 to 1",
                )
        return limits


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
        for r in risks:
            limits.setdefault(
                r, max(FRESH_SHARE * float(floor.risks[r]), 1.0 / records)
            )
    return RiskLimits(key, target, risks, limits, hard)


def base_goal(limits: RiskLimits, trade_off: TradeOff) -> CandidateGoal:
    """Return the cost that the mode asks for."""
    share = np.zeros(4)
    share[list(limits.risks)] = 1.0 / max(1, len(limits.risks))
    limit = np.full(4, np.inf)
    penalty = np.zeros(4)
    for r, value in limits.limits.items():
        limit[r] = value
        penalty[r] = _HARD if r in limits.hard else _SOFT
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
