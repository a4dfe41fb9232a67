"""Who attacks what, and how much of it is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.synth.data.domain import Domain
from evosdc.synth.objective.goal import Goal
from evosdc.synth.objective.names import parse_risks
from evosdc.synth.objective.noise import Floor
from evosdc.synth.objective.risk import RISKS

if TYPE_CHECKING:
    from evosdc.synth.synthesiser import Synthesiser

# A limit the user sets weighs more than any distance; one we suggest weighs so much
# that a tenth of the risk is worth a hundredth of distance.
_HARD, _SOFT = 2.0, 0.1
# What of a fresh sample's risks is suggested as a limit.
FRESH_SHARE = 0.5


@dataclass(frozen=True)
class Scenario:
    """Who attacks what, and how much of it is allowed.

    `hard` are the limits that the user set; the others are suggested.
    """

    key: tuple[int, ...] | None
    target: int | None
    risks: tuple[int, ...]
    limits: dict[int, float]
    hard: frozenset[int]

    @property
    def judged(self) -> dict[int, float]:
        """The limits a run has to meet: the user's, else the suggested ones."""
        if not self.hard:
            return self.limits
        return {r: limit for r, limit in self.limits.items() if r in self.hard}


def attack(
    domain: Domain, key: Any, target: str | None
) -> tuple[tuple[int, ...] | None, int | None]:
    """Return the positions of key and target, or None where none are given."""
    if key is None and target is None:
        return None, None
    if target is None:
        raise InputError(
            "a key is given without a target",
            hint="name the column an attacker wants to learn as target",
        )
    at = domain.position(target)
    if key is None:
        names = [n for n in domain.names if n != target]
    else:
        names = key.split(",") if isinstance(key, str) else list(key)
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


def named_columns(options: Synthesiser) -> list[str]:
    """Return the columns that the user names as part of the attack or the copy."""
    key = options.key.split(",") if isinstance(options.key, str) else options.key
    bins = list(options.bins) if isinstance(options.bins, Mapping) else []
    target = [] if options.target is None else [options.target]
    return [*(key or ()), *target, *(options.columns or ()), *bins]


def make_scenario(
    options: Synthesiser,
    key: tuple[int, ...] | None,
    target: int | None,
    floor: Floor,
    records: int,
) -> Scenario:
    """Set the limits: the user's, else half of what a fresh sample would show."""
    risks = parse_risks(
        options.risk if isinstance(options.risk, str) else list(options.risk)
    )
    given = options.risk_limit
    if key is None:
        if given is not None:
            raise InputError(
                "a risk limit is given without key and target",
                hint="name what an attacker knows (key) and wants to learn (target)",
            )
        return Scenario(None, None, (), {}, frozenset())
    if not risks:
        raise InputError("no risk is named", expected=", ".join(RISKS))
    limits: dict[int, float] = {}
    if isinstance(given, Mapping):
        limits = {parse_risks(n)[0]: float(v) for n, v in given.items()}
    elif given is not None:
        limits = {risks[0]: float(given)}
    for r, limit in limits.items():
        if not 0.0 <= limit <= 1.0:
            raise InputError(
                f"the limit of {RISKS[r]} is {limit}", expected="a share from 0 to 1"
            )
    hard = frozenset(limits)
    if options.mode == "constraint":
        for r in risks:
            limits.setdefault(
                r, max(FRESH_SHARE * float(floor.risks[r]), 1.0 / records)
            )
    return Scenario(key, target, risks, limits, hard)


def base_goal(scenario: Scenario, options: Synthesiser) -> Goal:
    """Return the cost that the mode asks for."""
    share = np.zeros(4)
    share[list(scenario.risks)] = 1.0 / max(1, len(scenario.risks))
    limit = np.full(4, np.inf)
    penalty = np.zeros(4)
    for r, value in scenario.limits.items():
        limit[r] = value
        penalty[r] = _HARD if r in scenario.hard else _SOFT
    weighted = options.mode == "weighted" and bool(scenario.risks)
    weight = float(options.risk_weight) if weighted else 0.0
    scale = 1.0 / np.sqrt(1.0 + weight * weight) if weighted else 1.0
    return Goal(weighted, scale, weight * scale, share, limit, penalty)


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
