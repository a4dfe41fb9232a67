"""What a run minimises: which distances, and how they are traded against risk."""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.options import copies
from evosdc.synth.objective.names import parse_objective, resolve_objective


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
        return resolve_objective(self.objective, self.front, memetic)
