"""Options about what is minimised: distances, who attacks what, and their trade-off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evosdc.errors import InputError
from evosdc.options import copies
from evosdc.synth.objective.risk import RISKS
from evosdc.synth.objective.tables import CRAMER, JSD, L1, Component

# What "auto" is: pairs for the genetic algorithm, pairs and the full table for a front
# of record moves, else margins, pairs, and the tables of three and four variables that
# have most to gain.
_GENETIC, _FRONT, _SINGLE = "jsd:2", "jsd:2,full", "jsd:1,2,3*,4*"
_EXPECTED = (
    "auto, jsd:full, jsd:2, jsd:2,3,4, jsd:2,3* (those of three variables with most to "
    "gain), cramer or tables, or several joined by '+'"
)


@dataclass(frozen=True)
class TradeOff(copies.TradeOff):
    __doc__ = copies.TradeOff.__doc__

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_objective(self.resolved(memetic=True))

    @property
    def front(self) -> bool:
        """Whether a Pareto front is asked for."""
        return self.mode == "pareto"

    def resolved(self, memetic: bool) -> str:
        """Return the objective, "auto" replaced by what it means."""
        if self.objective.strip() != "auto":
            return self.objective
        if not memetic:
            return _GENETIC
        return _FRONT if self.front else _SINGLE


def parse_objective(text: str) -> tuple[Component, ...]:
    """Read an objective such as ``jsd:2,3,4`` or ``cramer+tables``."""
    out: list[Component] = []
    for part in text.split("+"):
        name, _, orders = part.strip().partition(":")
        if name == "jsd":
            out += [_jsd(o.strip(), text) for o in orders.split(",")]
        elif name == "tables" and not orders:
            out.append(Component(L1, 2))
        elif name == "cramer" and not orders:
            out.append(Component(CRAMER, 2))
        else:
            raise InputError(f"unknown objective {text!r}", expected=_EXPECTED)
    return tuple(out)


def _jsd(text: str, whole: str) -> Component:
    if text == "full":
        return Component(JSD, 0)
    if text in ("1", "2", "3", "4"):
        return Component(JSD, int(text))
    if text in ("3*", "4*"):
        return Component(JSD, int(text[0]), chosen=True)
    raise InputError(f"unknown objective {whole!r}", expected=_EXPECTED)


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
        names = self.risk.split(",") if isinstance(self.risk, str) else self.risk
        return tuple(map(_risk_number, names))

    def limits(self) -> dict[int, float]:
        """Return the limits that are set, by the number of their risk."""
        given, limits = self.risk_limit, {}
        if isinstance(given, Mapping):
            limits = {_risk_number(n): float(v) for n, v in given.items()}
        elif given is not None:
            limits = {self.risks()[0]: float(given)}
        for r, limit in limits.items():
            if not 0.0 <= limit <= 1.0:
                raise InputError(
                    f"the limit of {RISKS[r]} is {limit}",
                    expected="a share from 0 to 1",
                )
        return limits


def _risk_number(name: str) -> int:
    if name.strip() not in RISKS:
        raise InputError(f"unknown risk {name.strip()!r}", expected=", ".join(RISKS))
    return RISKS.index(name.strip())
