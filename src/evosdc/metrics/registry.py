"""Every metric by name, and the evaluation of a synthetic file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import MethodError
from evosdc.metrics.amounts import compare_numbers
from evosdc.metrics.anonymity import KAnonymity, LDiversity, TCloseness
from evosdc.metrics.association import CramersV, MarginChiSquare, TwoWayL1
from evosdc.metrics.attribution import Dcap, Disco, Tcap
from evosdc.metrics.base import Metric
from evosdc.metrics.correspondence import McaDistance
from evosdc.metrics.data import Categorical, encode_exact, encode_frames
from evosdc.metrics.disguised import disguised_tests, same_records
from evosdc.metrics.divergence import (
    JensenShannon,
    RatioOfEstimates,
    TablePropensity,
    TotalVariation,
)
from evosdc.metrics.entropy import EntropyRisk
from evosdc.metrics.evaluation import Measurements, compare
from evosdc.metrics.figures import risk_figures
from evosdc.metrics.fresh import Coded, FreshTest, fresh_tests
from evosdc.metrics.holdout import MembershipAuc, NearerShare
from evosdc.metrics.measuring import measure_all
from evosdc.metrics.patience import INTERRUPTED, NO_TIME, OutOfTimeError, within
from evosdc.metrics.propensity import PropensityScore
from evosdc.metrics.regression import (
    CiOverlap,
    CoefficientDifference,
    LogitCorrelation,
)
from evosdc.metrics.uniques import IdenticalRecords, ReplicatedUniques
from evosdc.metrics.words import plain_words, reasons_against


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


# Seconds that the tests behind a verdict may take beyond the end.
GRACE = 2.5
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
    left: Callable[[], float] | None = None,
) -> Measurements:
    """Measure utility and risk of a synthetic frame, and what speaks against it.

    Keys and targets are taken as they are in the files (see
    `evosdc.metrics.data.encode_exact`); other metrics see numbers in bins.

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
    left
        Says how many seconds are left; what there is no time for is listed as not
        measured. The tests behind the verdict come first.
    """
    frames = [original, synthetic] + ([] if holdout is None else [holdout])
    encoded = [
        Coded(*pair)
        for pair in zip(
            encode_frames(frames, key, target),
            encode_exact(frames, key, target),
            strict=True,
        )
    ]
    found = _evaluate(
        encoded[0],
        encoded[1],
        holdout=encoded[2] if holdout is not None else None,
        seed=seed,
        metrics=metrics,
        left=left,
    )
    if left is not None and left() <= 0:
        return replace(found, skipped=(*found.skipped, ("numbers", NO_TIME)))
    return replace(found, numbers=compare_numbers(original, synthetic))


def _evaluate(
    original: Coded,
    synthetic: Coded,
    *,
    holdout: Coded | None,
    seed: int,
    metrics: Sequence[str | Metric] | None,
    left: Callable[[], float] | None,
) -> Measurements:
    files = {"original": original, **_baselines(original, seed)}
    if holdout is not None:
        files["holdout"] = holdout
    measures = _chosen(metrics, None if holdout is None else holdout.bins, seed)
    tests, against, why_not = _tests(original, synthetic, holdout, seed, left)
    data = original.bins
    with within(left):
        comparisons = compare(data, synthetic.bins)
        values, skipped = measure_all(measures, original, synthetic, files)
    if data.columns > 1 and not comparisons.pairs:
        skipped = (*skipped, ("comparisons of pairs", NO_TIME))
    tested = holdout is not None
    names = tuple(data.names[j] for j in data.key)
    aim = data.names[data.target]
    reasons = reasons_against(
        values, tests, tested=tested, why_not=why_not, against=against
    )
    return Measurements(
        values=tuple(values.values()),
        skipped=skipped,
        plain_words=plain_words(values, skipped, key=names, target=aim, tested=tested),
        reasons=reasons,
        tests=tests,
        risk=risk_figures(original.exact, synthetic.exact),
        target_in_classes=original.exact.columns > data.columns,
        comparisons=comparisons,
        names=data.names,
        key=names,
        target=aim,
        rows=original.rows,
        synthetic_rows=synthetic.rows,
        holdout_rows=None if holdout is None else holdout.rows,
        seed=seed,
    )


def _tests(
    original: Coded,
    synthetic: Coded,
    holdout: Coded | None,
    seed: int,
    left: Callable[[], float] | None,
) -> tuple[tuple[FreshTest, ...], list[str], str]:
    """Make the tests behind the verdict, or say why they are not made.

    The second value is what speaks against a release beside them.
    """
    if same_records(original.exact, synthetic.exact):
        # Whatever there is time for, and whatever other people would show.
        against = ["the copy holds the very records of the original"]
    else:
        against = []
    # They come first and may run over a little: without them there is no verdict.
    patient = None if left is None else (lambda: left() + GRACE)
    try:
        with within(patient):
            tests = fresh_tests(original, synthetic, holdout, seed=seed)
            if tests:
                more, renamed = disguised_tests(original, synthetic, seed=seed)
                tests += more
                if renamed and not against:
                    against.append(
                        "the copy holds the records of the original, levels renamed "
                        "or numbers on another scale"
                    )
    except OutOfTimeError:
        return (), against, NO_TIME
    except KeyboardInterrupt:
        return (), against, INTERRUPTED
    why_not = "" if tests else "not possible: a file has fewer than two records"
    return tests, against, why_not


def _baselines(original: Coded, seed: int) -> dict[str, Coded]:
    rng = np.random.default_rng(seed)
    rows = original.rows
    bootstrap = original.take(rng.integers(0, rows, rows))
    bins = original.bins
    drawn = [rng.integers(0, rows, rows) for _ in range(bins.columns)]
    independent = _apart(bins, drawn)
    if bins is original.exact:
        return {"bootstrap": bootstrap, "independent": Coded(independent, independent)}
    # Classes of the target, where they stand by themselves, go with the target.
    if original.exact.columns > bins.columns:
        drawn.append(drawn[bins.target])
    exact = _apart(original.exact, drawn)
    return {"bootstrap": bootstrap, "independent": Coded(independent, exact)}


def _apart(data: Categorical, drawn: Sequence[NDArray[np.int64]]) -> Categorical:
    """Take each variable from records of its own."""
    columns = [data.codes[rows, j] for j, rows in enumerate(drawn)]
    return data.with_codes(np.column_stack(columns))


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
