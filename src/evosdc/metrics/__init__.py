"""Utility and risk of synthetic data, one class per metric.

`evaluate` measures a synthetic frame; `all_metrics` lists what it measures.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Loaded on first use, so that importing the package stays instant.
_HOMES = {
    "Categorical": "evosdc.metrics.data",
    "Measurements": "evosdc.metrics.evaluation",
    "Metric": "evosdc.metrics.base",
    "MetricValue": "evosdc.metrics.evaluation",
    "all_metrics": "evosdc.metrics.registry",
    "encode_frames": "evosdc.metrics.data",
    "evaluate": "evosdc.metrics.measuring",
    "from_codes": "evosdc.metrics.data",
}

__all__ = [
    "Categorical",
    "Measurements",
    "Metric",
    "MetricValue",
    "all_metrics",
    "encode_frames",
    "evaluate",
    "from_codes",
]

if TYPE_CHECKING:
    from evosdc.metrics.base import Metric
    from evosdc.metrics.data import Categorical, encode_frames, from_codes
    from evosdc.metrics.evaluation import Measurements, MetricValue
    from evosdc.metrics.measuring import evaluate
    from evosdc.metrics.registry import all_metrics


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'evosdc.metrics' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
