"""People found by unique keys where the population is known (Chen 2020, 4.7.2.1).

A sample of a population is synthesised, and an intruder who has a list of the whole
population looks for the keys that occur once in the copy (equation 4.10).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.experiments.store import Key, Row
from benchmarks.experiments.thesis_data import Material
from benchmarks.experiments.thesis_rivals import RIVALS
from evosdc.metrics import encode_frames
from evosdc.metrics.uniques import PopulationRisk

RECORDS = 1000


@dataclass(frozen=True)
class PeopleTrial:
    """One synthesiser on a sample of a population; without any, the sample itself."""

    data: str
    method: str
    seed: int
    rival: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """The name of the population."""
        return f"people-{self.data}"

    @property
    def key(self) -> Key:
        """Family, method and seed."""
        return (self.family, self.method, self.seed)

    def run(self, material: Material, workers: int) -> Row:
        """Draw a sample, synthesise it and look for people."""
        people = material.table(self.data)
        rng = np.random.default_rng([2020, 4, self.seed])
        sample = people.take(np.sort(rng.permutation(people.num_rows)[:RECORDS]))
        wall, cpu = time.perf_counter(), time.process_time()
        copy = self._copy(sample, workers)
        row = {
            "family": self.family,
            "method": self.method,
            "seed": self.seed,
            "seconds": round(time.perf_counter() - wall, 3),
            "cpu_seconds": round(time.process_time() - cpu, 3),
        }
        names = people.column_names
        frames = encode_frames((sample, copy, people), names[:-1], names[-1])
        metric = PopulationRisk(frames[2])
        row["found"], parts = metric.measure(frames[0], frames[1])
        row["found_original"] = dict(parts)["people found by the original"]
        return row

    def _copy(self, sample: Any, workers: int) -> Any:
        from evosdc.synth import Synthesiser

        if self.rival:
            return RIVALS[self.rival](sample, self.seed)
        if not self.options:
            return sample
        names = sample.column_names
        attack = {"key": names[:-1], "target": names[-1]}
        options = {**attack, **self.options, "seed": self.seed, "workers": workers}
        model = Synthesiser(**options).fit(sample)
        if model.reason_ == "interrupted":
            # Ctrl-C: a run that was cut short is no row.
            raise KeyboardInterrupt
        return model.sample()
