"""Measure metric after metric, the quick ones first, as long as there is time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evosdc.errors import MissingExtraError
from evosdc.metrics.base import Metric
from evosdc.metrics.divergence import TableMetric
from evosdc.metrics.evaluation import MetricValue
from evosdc.metrics.fresh import Coded
from evosdc.metrics.holdout import HoldoutMetric
from evosdc.metrics.patience import INTERRUPTED, NO_TIME, OutOfTimeError, check_time
from evosdc.metrics.propensity import PropensityScore, forget_scores
from evosdc.metrics.regression import ModelMetric, forget_models

Skipped = tuple[tuple[str, str], ...]


def measure_all(
    metrics: Sequence[Metric],
    original: Coded,
    synthetic: Coded,
    files: Mapping[str, Coded],
) -> tuple[dict[str, MetricValue], Skipped]:
    """Return the values by name, in the order of `metrics`, and what was left out.

    First every metric of the synthetic file, then those of the `files` beside it.
    """
    work = _Work(original, synthetic, {}, [])
    order = sorted(metrics, key=_slowness)
    waiting = list(files)
    try:
        for metric in order:
            work.measure(metric)
        for name, other in files.items():
            work.compare(order, name, other)
            waiting.remove(name)
    except KeyboardInterrupt:
        work.late = INTERRUPTED
    finally:
        forget_scores()
        forget_models()
    known = dict(work.skipped)
    for metric in metrics:
        if metric.name not in work.values and metric.name not in known:
            work.skipped.append((metric.name, work.late))
    values = {m.name: work.values[m.name] for m in metrics if m.name in work.values}
    for name in waiting:
        work.skipped.append((f"baseline {name}", work.late))
    for name, left_out in work.missing.items():
        if name not in waiting:
            what = f"baseline {name} of {', '.join(left_out)}"
            work.skipped.append((what, work.late))
    return values, tuple(work.skipped)


def _slowness(metric: Metric) -> int:
    """Order by what is asked first: risks, then tables, then models."""
    if metric.kind == "risk":
        return 0
    if isinstance(metric, PropensityScore):
        return {"main": 2, "interactions": 5, "cart": 6}[metric.model]
    if isinstance(metric, TableMetric) and metric.ways in (3, 4):
        return 3
    return 4 if isinstance(metric, ModelMetric) else 1


class _Work:
    """What is measured so far."""

    def __init__(
        self,
        original: Coded,
        synthetic: Coded,
        values: dict[str, MetricValue],
        skipped: list[tuple[str, str]],
    ) -> None:
        self.original = original
        self.synthetic = synthetic
        self.values = values
        self.skipped = skipped
        self.late = NO_TIME
        self.missing: dict[str, list[str]] = {}

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

    def compare(self, metrics: Sequence[Metric], name: str, other: Coded) -> None:
        """Measure another file beside the synthetic one by the same metrics."""
        for metric in metrics:
            value = self.values.get(metric.name)
            # A test against a hold-out says nothing about the hold-out itself.
            same = name == "holdout" and isinstance(metric, HoldoutMetric)
            first, second = _pair(metric, self.original, other)
            if value is None or same or metric.why_not(first, second):
                continue
            try:
                check_time()
                found = {**value.baselines, name: metric.compute(first, second)}
            except OutOfTimeError:
                self.missing.setdefault(name, []).append(metric.name)
                continue
            self.values[metric.name] = replace(value, baselines=found)


def _pair(metric: Metric, first: Coded, second: Coded) -> tuple[Any, Any]:
    if metric.exact:
        return first.exact, second.exact
    return first.bins, second.bins
