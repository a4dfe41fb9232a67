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
from evosdc.metrics.patience import (
    BASELINES,
    INTERRUPTED,
    NO_TIME,
    OutOfTimeError,
    check_time,
)
from evosdc.metrics.propensity import PropensityScore, forget_scores
from evosdc.metrics.regression import ModelMetric, forget_models

Skipped = tuple[tuple[str, str], ...]
# Up to here a metric is quick, whatever the file; see `_slowness`.
_QUICK = 1


def measure_all(
    metrics: Sequence[Metric],
    original: Coded,
    synthetic: Coded,
    files: Mapping[str, Coded],
) -> tuple[dict[str, MetricValue], Skipped]:
    """Return the values by name, in the order of `metrics`, and what was left out.

    Of quick metrics those of the synthetic file come first, then those of the `files`
    beside it; slow ones follow one by one.
    """
    work = _Work(original, synthetic, files)
    order = sorted(metrics, key=_slowness)
    quick = [metric for metric in order if _slowness(metric) <= _QUICK]
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
        forget_scores()
        forget_models()
    values = {m.name: work.values[m.name] for m in metrics if m.name in work.values}
    return values, work.left_out(metrics)


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
        """Measure the files beside the synthetic one by the same metric."""
        value = self.values.get(metric.name)
        if value is None:
            return
        found = dict(value.baselines)
        for name, other in self.files.items():
            # A test against a hold-out says nothing about the hold-out itself.
            same = name == "holdout" and isinstance(metric, HoldoutMetric)
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
