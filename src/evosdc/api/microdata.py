"""The verbs of the second job: synthesise, evaluate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evosdc import __version__
from evosdc.api.comparing import measured
from evosdc.api.options import DEFAULT_TIME_LIMIT
from evosdc.api.synthetic_claims import synthetic_claim_of
from evosdc.clock import Clock
from evosdc.io import read_microdata
from evosdc.metrics import Evaluation
from evosdc.synthetic_claim import SyntheticClaim


@dataclass(frozen=True, eq=False, repr=False)
class Synthesis:
    """Synthetic copies, the model that made them, and what they are worth and risk.

    The evaluation is that of the first copy; its verdict is that of all.
    """

    copies: tuple[Any, ...]
    model: Any
    evaluation: Evaluation

    @property
    def risk_met(self) -> bool | None:
        """Whether every risk limit is met; None where there is none to meet."""
        return bool(self.model.risk_met_) if self.model.risk_limits_ else None

    @property
    def fit(self) -> bool:
        """Whether every copy is fit for release."""
        return self.evaluation.fit

    @property
    def claim(self) -> SyntheticClaim:
        """What the verdict is about."""
        return synthetic_claim_of(self.evaluation, self.model)

    @property
    def first_risk(self) -> str:
        """The risk that a single limit is about."""
        risk = self.model.risk
        names = risk.split(",") if isinstance(risk, str) else list(risk)
        return str(names[0]).strip()

    def __repr__(self) -> str:
        made = self.evaluation
        many = len(self.copies)
        return (
            f"Synthesis({made.verdict}: {many:,} {'copy' if many == 1 else 'copies'} "
            f"of {made.synthetic_rows:,} records and {len(made.names):,} variables; "
            f"{self.model.generations_:,} generations, {self.model.reason_})"
        )

    def run_rows(self) -> list[dict[str, Any]]:
        """Return the run record, a row a generation."""
        return [
            {
                "seconds": round(g.seconds, 3),
                "generation": g.generation,
                "evaluations": g.evaluations,
                "cost": g.cost,
                "utility": g.utility,
                "risk": risks[self.first_risk],
                **risks,
                "mean_cost": g.mean_cost,
                "diversity": g.diversity,
            }
            for g in self.model.record_
            for risks in [dict(zip(self.model.risk_, g.risks, strict=True))]
        ]

    def front_rows(self) -> list[dict[str, Any]]:
        """Return the front, a row a candidate; empty unless the mode was pareto."""
        if self.model.mode != "pareto":
            return []
        return [
            {
                "number": p.number,
                "utility": p.utility,
                **p.distances,
                "risk": p.risks[self.first_risk],
                **p.risks,
                "closer_than_fresh": p.closer_than_fresh,
            }
            for p in self.model.front_
        ]

    def summary(self) -> dict[str, Any]:
        """Return the object that ``evosdc synthesise --json`` prints."""
        model = self.model
        return {
            "utility": dict(model.utility_),
            "risk": dict(self.evaluation.risk),
            "risk_limits": dict(model.risk_limits_),
            "risk_met": self.risk_met,
            "verdict": self.evaluation.verdict,
            "fit": self.fit,
            "reasons": list(self.evaluation.reasons),
            "claim": self.claim.summary(),
            "not_measured": list(self.evaluation.not_measured),
            "not_protected": list(self.evaluation.plain_words),
            "small_groups": model.small_groups_.to_dict(),
            "rows": self.evaluation.synthetic_rows,
            "copies": len(self.copies),
            "generations": model.generations_,
            "seconds": round(model.seconds_, 3),
            "reason": model.reason_,
            "seed": model.seed,
            "version": __version__,
        }


def synthesise(
    frame: Any,
    *,
    key: Sequence[str],
    target: str,
    holdout: Any = None,
    copies: int = 1,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    on_copies: Callable[[tuple[Any, ...]], object] | None = None,
    on_compile: Callable[[], object] | None = None,
    **parameters: Any,
) -> Synthesis:
    """Evolve synthetic microdata and evaluate them.

    Parameters
    ----------
    frame
        The real records: a frame of any kind, or the path of a file of them. The
        copies are of the same kind; of a file, Arrow tables.
    key, target
        What an attacker knows and what he wants to learn.
    holdout
        Other real records, for the membership test of the evaluation.
    copies
        How many synthetic copies; in Pareto mode points spread along the front, of
        those that are not closer to the original than a fresh sample would be.
    time_limit
        Seconds for everything, the evaluation too; compiling kernels does not count.
    on_copies
        Called with the copies before they are evaluated, to have them on disk.
    on_compile
        Called where kernels have to be compiled first.
    parameters
        Of `evosdc.synth.Synthesiser`.
    """
    from evosdc.synth import Synthesiser

    search = None if time_limit is None else time_limit - _reserve(time_limit)
    parameters |= {"copies": copies, "time_limit": search}
    frame = read_microdata(frame)
    holdout = read_microdata(holdout, frame)
    with Clock(time_limit, on_compile) as clock:
        model = Synthesiser(key, target, **parameters).fit(frame)
        candidates = _eligible(model) if model.mode == "pareto" else copies
        numbers = np.unique(np.linspace(0, candidates - 1, copies).round().astype(int))
        made = tuple(model.sample(number=int(number)) for number in numbers)
        if on_copies is not None:
            on_copies(made)
        roles = {"key": list(key), "target": target, "seed": model.seed}
        roles["anew"] = model.small_groups_.made_anew
        judged = _evaluated(frame, made, holdout, roles, clock.left)
    reasons = (*judged.reasons, *_limits(model))
    if reasons:
        judged = replace(judged, verdict="not fit for release", reasons=reasons)
    return Synthesis(made, model, judged)


def _reserve(time_limit: float) -> float:
    """Return what of a time limit the search leaves for the evaluation."""
    return min(0.25 * time_limit, 30.0)


def _evaluated(
    frame: Any,
    copies: tuple[Any, ...],
    holdout: Any,
    roles: dict[str, Any],
    left: Callable[[], float],
) -> Evaluation:
    """Measure the first copy and judge all of them."""
    # The verdict on every copy comes before what one of them is worth.
    others = [
        measured(frame, copy, holdout, metrics=[], left=left, **roles)
        for copy in copies[1:]
    ]
    first = measured(frame, copies[0], holdout, left=left, **roles)
    reasons = list(first.reasons)
    for number, other in enumerate(others, 2):
        reasons += [f"copy {number}: {reason}" for reason in other.reasons]
    return replace(first, reasons=tuple(reasons))


def _limits(model: Any) -> list[str]:
    """Return the limits of the user that are not met."""
    if model.risk_limit is None:
        return []
    return [
        f"{name} is {model.risk_[name]:.4g}, above the limit of {limit:.4g}"
        for name, limit in model.risk_limits_.items()
        if model.risk_[name] > limit + 1e-12
    ]


def _eligible(model: Any) -> int:
    """Count the points of a front that copies are taken from; they come first.

    Where every point is closer than a fresh sample, as without a noise floor, all are.
    """
    far = sum(not p.closer_than_fresh for p in model.front_)
    return far or len(model.front_)


def evaluate(
    original: Any,
    synthetic: Any,
    *,
    key: Sequence[str],
    target: str,
    holdout: Any = None,
    seed: int = 0,
    time_limit: float | None = None,
    on_compile: Callable[[], object] | None = None,
) -> Evaluation:
    """Measure utility and risk of synthetic records and say what is not protected.

    Each file is a frame of any kind or a path. What `time_limit` leaves no time for is
    listed as not measured. Columns that the synthetic file lacks or that identify
    people are not compared; `left_out` says which and why.
    """
    original = read_microdata(original)
    synthetic = read_microdata(synthetic, original)
    holdout = read_microdata(holdout, original)
    with Clock(time_limit, on_compile) as clock:
        return measured(
            original,
            synthetic,
            holdout,
            key=key,
            target=target,
            seed=seed,
            left=clock.left,
        )
