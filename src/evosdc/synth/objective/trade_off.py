"""What a run minimises: which distances, and how they are traded against risk."""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.errors import InputError
from evosdc.options import check_at_least, check_types
from evosdc.synth.objective.names import parse_objective, resolve_objective


@dataclass(frozen=True)
class TradeOff:
    """Utility against risk.

    Attributes
    ----------
    objective
        ``jsd:2``, ``jsd:2,3,4``, ``jsd:full``, ``cramer``, ``tables``, or several
        joined by ``+``. A star, as in ``jsd:2,3*``, is for the tables of that many
        variables that have most to gain. "auto" is ``jsd:1,2,3*,4*``, in a memetic
        Pareto run ``jsd:2,full``, for the genetic algorithm ``jsd:2``.
    mode
        "constraint": best utility within the limits. "weighted": the Euclidean
        combination of utility and mean risk. "pareto": a front of each distance and
        the mean risk, and behind it another one of points that are closer than a fresh
        sample.
    risk_weight
        Weight of the mean risk against utility in the weighted mode.
    noise_floor
        Do not reward closeness below what chance makes of it: in each table of up to
        four variables what a sample drawn anew would show, in the full table what a
        fresh sample would. Fronts and the genetic algorithm have it for tables of three
        and more variables only.
    """

    objective: str = "auto"
    mode: str = "constraint"
    risk_weight: float = 1.0
    noise_floor: bool = True

    def __post_init__(self) -> None:
        check_types(self)
        check_at_least(self, risk_weight=0)
        modes = ("constraint", "weighted", "pareto")
        if self.mode not in modes:
            raise InputError(f"unknown mode {self.mode!r}", expected=", ".join(modes))
        parse_objective(self.resolved(memetic=True))

    @property
    def front(self) -> bool:
        """Whether a Pareto front is asked for."""
        return self.mode == "pareto"

    def resolved(self, memetic: bool) -> str:
        """Return the objective, "auto" replaced by what it means."""
        return resolve_objective(self.objective, self.front, memetic)
