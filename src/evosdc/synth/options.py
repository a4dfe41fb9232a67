"""Options of a synthesis: a few small objects, or their fields as flat keywords."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import Any

from evosdc.errors import InputError
from evosdc.options import check_at_least
from evosdc.synth.data.options import Coding, Logic
from evosdc.synth.data.rules import Rule
from evosdc.synth.objective.options import Scenario, TradeOff
from evosdc.synth.search.options import Operators, Schedule
from evosdc.synth.search.run import Generation, Keeper

GROUPS: dict[str, type] = {
    "scenario": Scenario,
    "trade_off": TradeOff,
    "coding": Coding,
    "logic": Logic,
    "operators": Operators,
    "schedule": Schedule,
}
# The object that each flat keyword is a field of.
FLAT = {f.name: group for group, kind in GROUPS.items() for f in fields(kind)}


@dataclass(frozen=True)
class Options:
    """All that a run is told beside the data; see `Synthesiser`."""

    scenario: Scenario = field(default_factory=Scenario)
    trade_off: TradeOff = field(default_factory=TradeOff)
    coding: Coding = field(default_factory=Coding)
    logic: Logic = field(default_factory=Logic)
    operators: Operators = field(default_factory=Operators)
    schedule: Schedule = field(default_factory=Schedule)
    columns: Sequence[str] | None = None
    rules: Sequence[Rule] = ()
    copies: int = 1
    seed: int = 0
    listener: Callable[[Generation], None] | None = None
    on_phase: Callable[[str], None] | None = None
    keeper: Keeper | None = None

    def __post_init__(self) -> None:
        for name in ("copies", "seed"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise InputError(f"{name} is {value!r}", expected="a whole number")
        check_at_least(self, copies=1, seed=0)
        if self.schedule.memetic:
            # Said before anything is read or compiled.
            _ = self.operators.memetic_crossing
        if self.operators.niche != "points" and (
            self.schedule.memetic or self.trade_off.mode != "pareto"
        ):
            raise InputError(
                f"niche is {self.operators.niche!r} where there are no niches",
                expected="a front of the plain genetic algorithm",
                hint="ask for it too: --mode pareto --no-memetic in the shell, "
                "mode='pareto', memetic=False in Python",
            )

    def say(self, phase: str) -> None:
        """Tell who listens what is done from now on."""
        if self.on_phase is not None:
            self.on_phase(phase)

    @property
    def named(self) -> list[str]:
        """The columns that the user names as part of the attack or the copy."""
        return [*self.scenario.named, *(self.columns or ()), *self.coding.binned]


def gather(
    given: Mapping[str, Any], flat: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the option objects by name, from objects or from flat keywords.

    Where neither is given, by object or by field, it is as in the objects of `now`.
    """
    out = dict(now)
    for group, value in given.items():
        if value is None:
            continue
        if not isinstance(value, GROUPS[group]):
            raise InputError(
                f"{group} is of type {type(value).__name__!r}",
                expected=f"an evosdc.synth.{GROUPS[group].__name__}",
            )
        out[group] = value
    changes: dict[str, dict[str, Any]] = {}
    for name, value in flat.items():
        group = FLAT.get(name, "")
        if not group:
            raise InputError(
                f"unknown parameter {name!r}",
                expected="one of " + ", ".join([*GROUPS, *FLAT]),
            )
        if given.get(group) is not None:
            raise InputError(
                f"{name!r} is given twice: as a keyword and within {group!r}",
                expected="one of the two",
                hint=f"write {group}={GROUPS[group].__name__}({name}=...)",
            )
        changes.setdefault(group, {})[name] = value
    for group, values in changes.items():
        out[group] = replace(out[group], **values)
    return out


def flat_option(group: str, name: str) -> property:
    """Return an attribute that is a field of an option object, by its flat keyword."""

    def value(owner: Any) -> Any:
        return getattr(getattr(owner, group), name)

    def change(owner: Any, to: Any) -> None:
        setattr(owner, group, replace(getattr(owner, group), **{name: to}))

    return property(value, change)
