"""Every metric by name, and the evaluation of a synthetic file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evosdc.errors import MethodError, MissingExtraError
from evosdc.metrics.anonymity import KAnonymity, LDiversity, TCloseness
from evosdc.metrics.association import CramersV, MarginChiSquare, TwoWayL1
from evosdc.metrics.attribution import Dcap, Disco, Tcap
from evosdc.metrics.base import Metric
from evosdc.metrics.correspondence import McaDistance
from evosdc.metrics.data import Categorical, encode_frames
from evosdc.metrics.divergence import (
    JensenShannon,
    RatioOfEstimates,
    TablePropensity,
    TotalVariation,
)
from evosdc.metrics.entropy import EntropyRisk
from evosdc.metrics.evaluation import Evaluation, MetricValue, compare
from evosdc.metrics.holdout import HoldoutMetric, MembershipAuc, NearerShare
from evosdc.metrics.propensity import PropensityScore, forget_scores
from evosdc.metrics.regression import (
    CiOverlap,
    CoefficientDifference,
    LogitCorrelation,
    forget_models,
)
from evosdc.metrics.uniques import IdenticalRecords, ReplicatedUniques
from evosdc.metrics.words import judge, plain_words


def all_metrics(
    *, holdout: Categorical | None = None, seed: int = 0
) -> tuple[Metric, ...]:
    """Return one of each metric, utility before risk.

    The tests against a hold-out need one.
    """
    ways = (1, 2, 3, 4)
    utility: list[Metric] = [
        *(JensenShannon(w, seed=seed) for w in ways),
        JensenShannon("full"),
        *(TotalVariation(w, seed=seed) for w in ways),
        TotalVariation("full"),
        CramersV(),
        TwoWayL1(),
        MarginChiSquare(),
        *(RatioOfEstimates(w, seed=seed) for w in (1, 2)),
        *(
            PropensityScore(model, form, seed=seed)
            for model in ("main", "interactions", "cart")
            for form in ("pmse", "ratio", "standardised")
        ),
        *(TablePropensity(w, seed=seed) for w in (1, 2)),
        CiOverlap(),
        CoefficientDifference(),
        LogitCorrelation(),
        McaDistance(),
    ]
    risk: list[Metric] = [
        Dcap("all", "zero"),
        Dcap("all", "dropped"),
        Dcap("uniques", "zero"),
        Dcap("uniques", "dropped"),
        Tcap(),
        Disco(),
        ReplicatedUniques(),
        IdenticalRecords(),
        KAnonymity(),
        LDiversity(),
        TCloseness(),
        EntropyRisk(2, seed=seed),
    ]
    if holdout is not None:
        risk += [
            NearerShare(holdout, "hamming", seed=seed),
            NearerShare(holdout, "gower", seed=seed),
            MembershipAuc(holdout, seed=seed),
        ]
    return (*utility, *risk)


# Always computed: a low risk on uniques can be had by copying everyone else.
ALWAYS = ("rep_uniques_pct", "disco_pct", "identical_records_pct", "membership_auc")


def evaluate(
    original: Any,
    synthetic: Any,
    *,
    key: Sequence[str] | None,
    target: str,
    holdout: Any = None,
    seed: int = 0,
    metrics: Sequence[str | Metric] | None = None,
) -> Evaluation:
    """Measure utility and risk of a synthetic frame.

    Parameters
    ----------
    original
        The confidential data: a pandas, polars or Arrow frame.
    synthetic
        The synthetic data with the same variables.
    key
        The variables an intruder knows; all but the target where `None`.
    target
        The sensitive variable.
    holdout
        Records of the same population the synthesiser did not see.
    seed
        Seed of everything random: baselines, samples, shuffles.
    metrics
        Names or metrics; all where `None`. Copies, attribution and the membership test
        are measured in any case.
    """
    frames = [original, synthetic] + ([] if holdout is None else [holdout])
    encoded = encode_frames(frames, key, target)
    return evaluate_encoded(
        encoded[0],
        encoded[1],
        holdout=encoded[2] if holdout is not None else None,
        seed=seed,
        metrics=metrics,
    )


def evaluate_encoded(
    original: Categorical,
    synthetic: Categorical,
    *,
    holdout: Categorical | None = None,
    seed: int = 0,
    metrics: Sequence[str | Metric] | None = None,
) -> Evaluation:
    """Measure files that are encoded already; see `evaluate`."""
    others = {"original": original, **baseline_files(original, seed)}
    if holdout is not None:
        others["holdout"] = holdout
    values: dict[str, MetricValue] = {}
    skipped: list[tuple[str, str]] = []
    try:
        for metric in _chosen(metrics, holdout, seed):
            reason = metric.why_not(original, synthetic)
            if reason:
                skipped.append((metric.name, reason))
                continue
            try:
                values[metric.name] = _measure(metric, original, synthetic, others)
            except MissingExtraError as error:
                skipped.append((metric.name, str(error)))
    finally:
        forget_scores()
        forget_models()
    tested = holdout is not None
    names = tuple(original.names[j] for j in original.key)
    aim = original.names[original.target]
    verdict, reasons = judge(values, tested=tested)
    return Evaluation(
        values=tuple(values.values()),
        skipped=tuple(skipped),
        plain_words=plain_words(
            values, tuple(skipped), key=names, target=aim, tested=tested
        ),
        verdict=verdict,
        reasons=reasons,
        comparisons=compare(original, synthetic),
        names=original.names,
        key=names,
        target=aim,
        rows=original.rows,
        synthetic_rows=synthetic.rows,
        holdout_rows=None if holdout is None else holdout.rows,
        seed=seed,
    )


def baseline_files(original: Categorical, seed: int) -> dict[str, Categorical]:
    """Return a bootstrap of the original and a file of independent margins."""
    rng = np.random.default_rng(seed)
    rows = original.rows
    bootstrap = original.take(rng.integers(0, rows, rows))
    independent = np.column_stack(
        [
            original.codes[rng.integers(0, rows, rows), j]
            for j in range(original.columns)
        ]
    )
    return {"bootstrap": bootstrap, "independent": original.with_codes(independent)}


def _chosen(
    wanted: Sequence[str | Metric] | None, holdout: Categorical | None, seed: int
) -> list[Metric]:
    known = {metric.name: metric for metric in all_metrics(holdout=holdout, seed=seed)}
    if wanted is None:
        return list(known.values())
    chosen: dict[str, Metric] = {}
    for item in wanted:
        if isinstance(item, Metric):
            chosen[item.name] = item
        elif item in known:
            chosen[item] = known[item]
        else:
            raise MethodError(
                f"unknown metric {item!r}", expected=f"one of {', '.join(known)}"
            )
    for name in ALWAYS:
        if name in known:
            chosen.setdefault(name, known[name])
    return sorted(chosen.values(), key=lambda metric: metric.kind != "utility")


def _measure(
    metric: Metric,
    original: Categorical,
    synthetic: Categorical,
    others: Mapping[str, Categorical],
) -> MetricValue:
    value = metric.compute(original, synthetic)
    breakdown = tuple(metric.breakdown(original, synthetic))
    baselines = metric.references(original, synthetic)
    for name, other in others.items():
        # A test against a hold-out says nothing about the hold-out itself.
        same = name == "holdout" and isinstance(metric, HoldoutMetric)
        if not same and not metric.why_not(original, other):
            baselines[name] = metric.compute(original, other)
    return MetricValue(
        name=metric.name,
        title=metric.title,
        kind=metric.kind,
        goal=metric.goal,
        range=metric.range,
        source=metric.source,
        value=value,
        baselines=baselines,
        breakdown=breakdown,
    )
