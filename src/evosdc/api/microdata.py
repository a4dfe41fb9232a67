"""The verbs of the second job: synthesise, evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evosdc import __version__
from evosdc.metrics import Evaluation


@dataclass(frozen=True, eq=False)
class Synthesis:
    """Synthetic copies, the model that made them, and what they are worth and risk."""

    copies: tuple[Any, ...]
    model: Any
    evaluation: Evaluation

    @property
    def risk_met(self) -> bool | None:
        """Whether every risk limit is met; None where there is none to meet."""
        return bool(self.model.risk_met_) if self.model.risk_limits_ else None

    @property
    def first_risk(self) -> str:
        """The risk that a single limit is about."""
        risk = self.model.risk
        names = risk.split(",") if isinstance(risk, str) else list(risk)
        return str(names[0]).strip()

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
            "risk": dict(model.risk_),
            "risk_limits": dict(model.risk_limits_),
            "risk_met": self.risk_met,
            "verdict": self.evaluation.verdict,
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
    **parameters: Any,
) -> Synthesis:
    """Evolve synthetic microdata and evaluate them.

    Parameters
    ----------
    frame
        The real records: pandas, polars or Arrow; the copies are of the same kind.
    key, target
        What an attacker knows and what he wants to learn.
    holdout
        Other real records, for the membership test of the evaluation.
    copies
        How many synthetic copies; in Pareto mode points spread along the front, of
        those that are not closer to the original than a fresh sample would be.
    parameters
        Of `evosdc.synth.Synthesiser`.
    """
    from evosdc.synth import Synthesiser

    model = Synthesiser(key, target, copies=copies, **parameters).fit(frame)
    candidates = _eligible(model) if model.mode == "pareto" else copies
    numbers = np.unique(np.linspace(0, candidates - 1, copies).round().astype(int))
    made = tuple(model.sample(number=int(number)) for number in numbers)
    # What identifies people is no statistic, and not in the copy or made anew.
    judged = evaluate(
        model.comparable(frame),
        model.comparable(made[0]),
        key=key,
        target=target,
        holdout=None if holdout is None else model.comparable(holdout),
        seed=model.seed,
    )
    return Synthesis(made, model, judged)


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
) -> Evaluation:
    """Measure utility and risk of synthetic records and say what is not protected."""
    from evosdc.metrics import evaluate as measure

    return measure(
        original, synthetic, key=list(key), target=target, holdout=holdout, seed=seed
    )
