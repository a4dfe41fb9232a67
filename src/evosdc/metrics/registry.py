"""Every metric, by the place of its class: a new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from evosdc.errors import MethodError
from evosdc.metrics.base import Metric
from evosdc.metrics.data import Categorical

# Module and class, in the order of metrics.csv; utility comes before risk.
METRICS = (
    "evosdc.metrics.divergence:JensenShannon",
    "evosdc.metrics.divergence:TotalVariation",
    "evosdc.metrics.association:CramersV",
    "evosdc.metrics.association:TwoWayL1",
    "evosdc.metrics.association:MarginChiSquare",
    "evosdc.metrics.divergence:RatioOfEstimates",
    "evosdc.metrics.propensity:PropensityScore",
    "evosdc.metrics.divergence:TablePropensity",
    "evosdc.metrics.regression:CiOverlap",
    "evosdc.metrics.regression:CoefficientDifference",
    "evosdc.metrics.regression:LogitCorrelation",
    "evosdc.metrics.correspondence:McaDistance",
    "evosdc.metrics.attribution:Dcap",
    "evosdc.metrics.attribution:Tcap",
    "evosdc.metrics.attribution:Disco",
    "evosdc.metrics.uniques:ReplicatedUniques",
    "evosdc.metrics.uniques:IdenticalRecords",
    "evosdc.metrics.anonymity:KAnonymity",
    "evosdc.metrics.anonymity:LDiversity",
    "evosdc.metrics.anonymity:TCloseness",
    "evosdc.metrics.entropy:EntropyRisk",
    "evosdc.metrics.holdout:NearerShare",
    "evosdc.metrics.holdout:MembershipAuc",
)
# Always computed: a low risk of uniques can be had by copying everyone else.
ALWAYS = ("rep_uniques_pct", "disco_pct", "identical_records_pct", "membership_auc")


def all_metrics(
    *, holdout: Categorical | None = None, seed: int = 0
) -> tuple[Metric, ...]:
    """Return every metric in every variant, utility before risk.

    The tests against a hold-out need one.
    """
    found: list[Metric] = []
    for home in METRICS:
        module, _, name = home.partition(":")
        metric: type[Metric] = getattr(import_module(module), name)
        found += metric.variants(holdout=holdout, seed=seed)
    return tuple(_utility_first(found))


def choose_metrics(
    wanted: Sequence[str | Metric] | None, holdout: Categorical | None, seed: int
) -> list[Metric]:
    """Return the metrics asked for, all where None, and those that are `ALWAYS`."""
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
    return _utility_first(list(chosen.values()))


def _utility_first(metrics: list[Metric]) -> list[Metric]:
    return sorted(metrics, key=lambda metric: metric.kind != "utility")
