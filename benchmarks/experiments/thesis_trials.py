"""Trials of the thesis's experiments: what is run on which data, and what is measured.

A trial is a family (experiment and data set), a method and a seed; it becomes a row.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.experiments.store import Key, Row
from benchmarks.experiments.thesis_data import Material
from benchmarks.experiments.thesis_rivals import RIVALS
from benchmarks.experiments.thesis_start import Start, diversity
from evosdc.synth.search.run import Generation

KEY = ("family", "method", "seed")
COLUMNS = (
    *KEY,
    "generations",
    "before",
    "after",
    "fall",
    "converged",
    "utility",
    "risk",
    "baseline",
    "front",
    "jsd_2",
    "jsd_full",
    "pmse",
    "pmse_ratio",
    "roe",
    "logit_correlation",
    "rep_uniques_pct",
    "disco_pct",
    "seconds",
    "cpu_seconds",
    "utility_before",
    "risk_before",
    "mean_after",
    "late_mean",
    "late_sd",
    "loss",
    "loss_theory",
    "loss_expected",
    "pressure",
    "pressure_theory",
    "variance",
    "variance_theory",
    "takeover",
    "takeover_theory",
    "diversity",
    "diversity_mean",
    "correlation",
    "r_squared",
    "correlation_unique",
    "pmse_standardised",
    "chi_square",
    "found",
    "found_original",
)
# Generations whose best candidates "late" figures are about (5.6, figure 4.4).
LATE = 1500
# Names of metrics and of the columns they fill.
_METRICS = {
    "jsd_2": "jsd_2",
    "jsd_full": "jsd_full",
    "pmse_main": "pmse",
    "pmse_main_ratio": "pmse_ratio",
    "pmse_main_standardised": "pmse_standardised",
    "chi_square_1": "chi_square",
    "roe_2": "roe",
    "logit_correlation": "logit_correlation",
    "rep_uniques_pct": "rep_uniques_pct",
    "disco_pct": "disco_pct",
}


@dataclass(frozen=True)
class Trial:
    """One run to be made.

    Attributes
    ----------
    options
        Parameters of the synthesiser, or none where `rival` names another one.
    attacked
        Whether key and target are given: all variables but the last, and the last.
    measured
        Whether the result goes through the metrics too.
    settled
        End the run once the mean fitness has not changed for so many generations.
    start
        How its first population is drawn, where it is not by the synthesiser.
    """

    family: str
    data: str
    method: str
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)
    attacked: bool = False
    measured: bool = False
    rival: str = ""
    settled: int = 0
    start: Start | None = None

    @property
    def key(self) -> Key:
        """The values of the columns `KEY`."""
        return (self.family, self.method, self.seed)

    def run(self, material: Material, workers: int) -> Row:
        """Make the run."""
        table = material.table(self.data)
        row: dict[str, Any] = dict(zip(KEY, self.key, strict=True))
        wall, cpu = time.perf_counter(), time.process_time()
        if self.rival:
            synthetic = RIVALS[self.rival](table, self.seed)
        else:
            synthetic = self._evolve(table, workers, row)
        row["seconds"] = round(time.perf_counter() - wall, 3)
        row["cpu_seconds"] = round(time.process_time() - cpu, 3)
        if self.measured:
            row.update(_measure(table, synthetic, self.seed))
            # Whatever a method optimises, they are compared by whole records.
            row["utility"] = row["jsd_full"]
        return row

    def _evolve(self, table: Any, workers: int, row: dict[str, Any]) -> Any:
        from evosdc.synth import Synthesiser

        names = table.column_names
        attack = {"key": names[:-1], "target": names[-1]} if self.attacked else {}
        # The thesis aims at every cell: small groups are not guarded.
        options = {"least": 0, **attack, **self.options}
        watch = Settled(self.settled)
        if self.settled:
            options["listener"] = watch
        if self.start is not None:
            options["initial"] = self.start.frames(table, self.seed)
            row.update(diversity(options["initial"]))
        model = Synthesiser(**options, seed=self.seed, workers=workers).fit(table)
        if model.reason_ == "interrupted" and not watch.ended:
            # Ctrl-C: a run that was cut short is no row.
            raise KeyboardInterrupt
        first, last = model.record_[0], model.record_[-1]
        chosen, utility, risk = 0, last.utility, last.risks[1]
        if model.trade_off.mode == "pareto":
            # The thesis shows one candidate: the one nearest to no distance, no risk.
            points = np.array([[p.utility, p.risks["dcap-u"]] for p in model.front_])
            chosen = int(np.hypot(*points.T).argmin())
            utility, risk = points[chosen]
            row["front"] = len(points)
        else:
            row["before"], row["after"] = first.cost, last.cost
            row["fall"] = 1 - last.cost / first.cost if first.cost > 0 else 0.0
            row["utility_before"] = first.utility
            row["risk_before"] = first.risks[1] if self.attacked else None
            row["mean_after"] = last.mean_cost
            row["converged"] = (
                watch.since if self.settled else _converged(model.record_)
            )
            late = [e.cost for e in model.record_ if e.generation >= LATE]
            if late:
                row["late_mean"] = float(np.mean(late))
                row["late_sd"] = float(np.std(late))
        row["generations"] = last.generation
        row["utility"] = float(utility)
        row["risk"] = float(risk) if self.attacked else None
        return model.sample(number=chosen)


class Settled:
    """Hears of each generation and ends a run whose mean fitness no longer changes.

    `since` is the generation from which on it has not: when the run converged (Chen
    2020, section 4.2.2). A listener ends a run as Ctrl-C does.
    """

    def __init__(self, generations: int) -> None:
        self.generations = generations
        self.since = 0
        self.ended = False
        self._mean: float | None = None

    def __call__(self, entry: Generation) -> None:
        if entry.mean_cost != self._mean:
            self._mean, self.since = entry.mean_cost, entry.generation
        elif entry.generation - self.since >= self.generations:
            self.ended = True
            raise KeyboardInterrupt


def _converged(record: Sequence[Any]) -> int | None:
    """Return the first generation whose candidates are all alike in fitness."""
    for entry in record:
        if entry.mean_cost - entry.cost < 1e-12:
            return int(entry.generation)
    return None


def _measure(table: Any, synthetic: Any, seed: int) -> dict[str, float]:
    from evosdc.metrics import evaluate

    names = table.column_names
    found = evaluate(
        table,
        synthetic,
        key=names[:-1],
        target=names[-1],
        seed=seed,
        metrics=[*_METRICS, "dcap_u"],
    )
    known = {value.name: value.value for value in found.values}
    attribution = found["dcap_u"]
    return {
        **{column: known[name] for name, column in _METRICS.items() if name in known},
        "risk": attribution.value,
        "baseline": attribution.baselines["univariate"],
    }
