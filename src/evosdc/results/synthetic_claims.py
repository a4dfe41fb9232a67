"""Say what a verdict on synthetic data is about, from those who know it."""

from __future__ import annotations

from typing import Any

from evosdc.metrics import Evaluation
from evosdc.results.synthetic import SyntheticClaim


def synthetic_claim_of(evaluation: Evaluation, model: Any = None) -> SyntheticClaim:
    """Return the claim of an evaluation; of a synthesis where its model is given."""
    return SyntheticClaim(
        scenario=_scenario(evaluation, model),
        coding=_coding(evaluation, model),
        small_groups=_small_groups(model),
        closeness=_closeness(evaluation, model),
        holdout=_holdout(evaluation),
        guarantee="none",
    )


def _scenario(evaluation: Evaluation, model: Any) -> str:
    known = {*evaluation.key, evaluation.target}
    others = [name for name in evaluation.names if name not in known]
    beyond = "other keys and targets: not tested"
    if others:
        beyond += f" (among them {', '.join(others)})"
    if model is not None and model.scenario.target is None:
        # A scenario that nobody stated is attacked, and was no limit of the search.
        beyond = f"assumed, and no risk limited in the search; {beyond}"
    return (
        f"an intruder who knows {', '.join(evaluation.key)} and wants "
        f"{evaluation.target}; {beyond}"
    )


def _coding(evaluation: Evaluation, model: Any) -> str:
    where = (
        "in the evaluation" if model is None else "in the search and in the evaluation"
    )
    text = f"keys as they are in the file, {where}; {evaluation.target} "
    text += "in 20 classes" if evaluation.target_in_classes else "as it is"
    if model is not None:
        most, bins = model.coding.most_levels, model.coding.bins
        many = "many" if most is None else f"over {most}"
        bins = bins if isinstance(bins, int) else "given"
        text += f"; distances of the search: numbers of {many} values in {bins} bins"
    return text


def _small_groups(model: Any) -> str:
    """Take what the model says of small groups."""
    if model is None:
        return "not guarded"
    said = str(model.small_groups_.claim())
    if model.coding.pool > 0:
        said += f"; levels of fewer than {model.coding.pool} records counted as one"
    return said


def _closeness(evaluation: Evaluation, model: Any) -> str:
    tested = "tested" if evaluation.tests else "not tested"
    if model is None:
        return f"{tested} against a fresh sample"
    if model.trade_off.noise_floor:
        return (
            "no table followed closer than a sample drawn anew would be (noise floor), "
            f"the full table no closer than a fresh sample; {tested}"
        )
    return f"as close as can be (noise floor switched off), {tested}"


def _holdout(evaluation: Evaluation) -> str:
    if evaluation.holdout_rows is None:
        return (
            "no hold-out kept; the original's halves stood in for people who are not "
            "in the data"
        )
    return f"attacked with {evaluation.holdout_rows:,} people who are not in the data"
