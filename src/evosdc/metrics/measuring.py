"""The evaluation of a synthetic file: the tests, then metric after metric.

Quick metrics come first, so that little is missing where time runs out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import MissingExtraError
from evosdc.metrics.attribution import risk_figures
from evosdc.metrics.base import Metric
from evosdc.metrics.data import Categorical, encode_exact, encode_frames
from evosdc.metrics.deadline import (
    BASELINES,
    INTERRUPTED,
    NO_TIME,
    OutOfTimeError,
    check_time,
    within,
)
from evosdc.metrics.disguised import disguised_tests, same_records
from evosdc.metrics.evaluation import Measurements, MetricValue, compare
from evosdc.metrics.memorisation_tests import Coded, FreshTest, fresh_tests
from evosdc.metrics.numeric_comparison import compare_numbers
from evosdc.metrics.registry import choose_metrics
from evosdc.metrics.sentences import plain_words, reasons_against

Skipped = tuple[tuple[str, str], ...]
# Metrics of this slowness, at most, are quick for any file.
_MAX_QUICK = 1
# Seconds that the tests behind a verdict may take beyond the time limit.
_GRACE_SECONDS = 2.5


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
    measures = choose_metrics(metrics, None if holdout is None else holdout.bins, seed)
    tests, against, why_not = _tests(original, synthetic, holdout, seed, left)
    data = original.bins
    with within(left):
        comparisons = compare(data, synthetic.bins)
        values, skipped = _measure_all(measures, original, synthetic, files)
    if data.columns > 1 and not comparisons.pairs:
        skipped = (*skipped, ("comparisons of pairs", NO_TIME))
    tested = holdout is not None
    names = tuple(data.names[j] for j in data.key)
    target = data.names[data.target]
    reasons = reasons_against(
        values, tests, tested=tested, why_not=why_not, against=against
    )
    return Measurements(
        values=tuple(values.values()),
        skipped=skipped,
        plain_words=plain_words(
            values, skipped, key=names, target=target, tested=tested
        ),
        reasons=reasons,
        tests=tests,
        risk=risk_figures(original.exact, synthetic.exact),
        target_in_classes=original.exact.columns > data.columns,
        comparisons=comparisons,
        names=data.names,
        key=names,
        target=target,
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

    The second value are other reasons against a release.
    """
    if same_records(original.exact, synthetic.exact):
        # Says enough, whatever other tests find or there is time for.
        against = ["the copy holds the very records of the original"]
    else:
        against = []
    # They come first and may take a little longer: without them there is no verdict.
    extended = None if left is None else (lambda: left() + _GRACE_SECONDS)
    try:
        with within(extended):
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
    independent = _independent(bins, drawn)
    if bins is original.exact:
        return {"bootstrap": bootstrap, "independent": Coded(independent, independent)}
    # The classes of the target, a column of their own, are drawn with the target.
    if original.exact.columns > bins.columns:
        drawn.append(drawn[bins.target])
    exact = _independent(original.exact, drawn)
    return {"bootstrap": bootstrap, "independent": Coded(independent, exact)}


def _independent(data: Categorical, drawn: Sequence[NDArray[np.int64]]) -> Categorical:
    """Draw each variable independently, from the records `drawn` for it."""
    columns = [data.codes[rows, j] for j, rows in enumerate(drawn)]
    return data.with_codes(np.column_stack(columns))


def _measure_all(
    metrics: Sequence[Metric],
    original: Coded,
    synthetic: Coded,
    files: Mapping[str, Coded],
) -> tuple[dict[str, MetricValue], Skipped]:
    """Return the values by name, in the order of `metrics`, and what was left out.

    Quick metrics are measured first for the synthetic file, then for the other `files`;
    slow ones follow one by one.
    """
    work = _Work(original, synthetic, files)
    order = sorted(metrics, key=lambda metric: metric.slowness)
    quick = [metric for metric in order if metric.slowness <= _MAX_QUICK]
    try:
        for metric in quick:
            work.measure(metric)
        for metric in quick:
            work.compare(metric)
        for metric in order[len(quick) :]:
            work.measure(metric)
            work.compare(metric)
    except KeyboardInterrupt:
        work.late = INTERRUPTED
    finally:
        for metric in metrics:
            metric.forget()
    values = {m.name: work.values[m.name] for m in metrics if m.name in work.values}
    return values, work.left_out(metrics)


class _Work:
    """What is measured so far."""

    def __init__(
        self, original: Coded, synthetic: Coded, files: Mapping[str, Coded]
    ) -> None:
        self.original = original
        self.synthetic = synthetic
        self.files = files
        self.values: dict[str, MetricValue] = {}
        self.skipped: list[tuple[str, str]] = []
        self.compared: set[str] = set()
        self.late = NO_TIME

    def measure(self, metric: Metric) -> None:
        """Measure the synthetic file, or note why not."""
        first, second = _pair(metric, self.original, self.synthetic)
        reason = metric.why_not(first, second)
        if reason:
            self.skipped.append((metric.name, reason))
            return
        try:
            check_time()
            value, parts = metric.measure(first, second)
            self.values[metric.name] = MetricValue(
                name=metric.name,
                title=metric.title,
                kind=metric.kind,
                goal=metric.goal,
                range=metric.range,
                source=metric.source,
                value=value,
                baselines=metric.references(first, second),
                breakdown=tuple(parts),
            )
        except MissingExtraError as error:
            self.skipped.append((metric.name, str(error)))
        except OutOfTimeError:
            self.skipped.append((metric.name, NO_TIME))

    def compare(self, metric: Metric) -> None:
        """Measure the other files by the same metric."""
        value = self.values.get(metric.name)
        if value is None:
            return
        found = dict(value.baselines)
        for name, other in self.files.items():
            same = name == "holdout" and metric.against_holdout
            first, second = _pair(metric, self.original, other)
            if same or metric.why_not(first, second):
                continue
            try:
                check_time()
                found[name] = metric.compute(first, second)
            except OutOfTimeError:
                break
        else:
            self.compared.add(metric.name)
        self.values[metric.name] = replace(value, baselines=found)

    def left_out(self, metrics: Sequence[Metric]) -> Skipped:
        """Return what was not measured and why, metrics before their baselines."""
        known = dict(self.skipped)
        names = [metric.name for metric in metrics]
        late = [n for n in names if n not in self.values and n not in known]
        bare = [n for n in names if n in self.values and n not in self.compared]
        return (
            *self.skipped,
            *((name, self.late) for name in late),
            *((f"{BASELINES} {name}", self.late) for name in bare),
        )


def _pair(metric: Metric, first: Coded, second: Coded) -> tuple[Any, Any]:
    if metric.exact:
        return first.exact, second.exact
    return first.bins, second.bins
