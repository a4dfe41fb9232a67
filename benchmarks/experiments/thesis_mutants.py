"""Mutants of an original: how its distance and DCAP go together (Chen 2020, 5.7).

9,000 sets are mutated "with different levels": here nine, from a tenth to nine tenths
of all elements, and 3,000 a run, so that three seeds make 9,000. An element is redrawn
from its variable's values, or from its levels alike.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.store import Key, Row
from benchmarks.experiments.thesis_data import Material
from evosdc.synth import Coding
from evosdc.synth.data.domain import make_domain
from evosdc.synth.data.rules import no_rules
from evosdc.synth.objective.options import parse_objective
from evosdc.synth.objective.risk import RISKS, build_risk
from evosdc.synth.objective.tables import build_target
from evosdc.synth.search.breeding import MUTATIONS, mutate
from evosdc.synth.search.population import SynthesisProblem, Tally
from evosdc.synth.search.rng import streams

MUTANTS = 3000
_LEVELS = tuple(k / 10 for k in range(1, 10))
_WAYS = {"values": "univariate", "levels": "uniform"}


@dataclass(frozen=True)
class MutantTrial:
    """The mutants of one set."""

    data: str
    method: str
    seed: int

    @property
    def family(self) -> str:
        """The name of the set."""
        return f"mutants-{self.data}"

    @property
    def key(self) -> Key:
        """Family, method and seed."""
        return (self.family, self.method, self.seed)

    def run(self, material: Material, workers: int) -> Row:
        """Mutate and measure."""
        del workers
        wall, cpu = time.perf_counter(), time.process_time()
        found = measured(material.table(self.data), self.method, self.seed)
        distance, dcap, unique = found.T
        r = float(np.corrcoef(distance, dcap)[0, 1])
        return {
            "family": self.family,
            "method": self.method,
            "seed": self.seed,
            "correlation": r,
            "r_squared": r * r,
            "correlation_unique": float(np.corrcoef(distance, unique)[0, 1]),
            "seconds": round(time.perf_counter() - wall, 3),
            "cpu_seconds": round(time.process_time() - cpu, 3),
        }


def measured(
    table: Any, method: str, seed: int, mutants: int = MUTANTS
) -> NDArray[np.float64]:
    """Return full-table distance, DCAP and DCAP-U of mutants, one line each."""
    domain = make_domain(table, Coding())
    codes, sizes = domain.encode(table), domain.sizes
    last = codes.shape[1] - 1
    problem = SynthesisProblem(
        codes,
        sizes,
        build_target(codes, sizes, parse_objective("jsd:full")),
        build_risk(codes, sizes, tuple(range(last)), last),
        no_rules(last + 1),
        np.arange(last + 1),
    )
    tally = Tally(problem)
    rng = np.random.default_rng([2020, seed])
    out = np.empty((mutants, 3))
    wanted = [RISKS.index("dcap"), RISKS.index("dcap-u")]
    way = MUTATIONS.index(_WAYS[method])
    how = (problem.rules, problem.free, sizes, codes, way)
    for k, state in enumerate(streams(rng, mutants)):
        mutant = codes.copy()
        mutate(*how, _LEVELS[k % len(_LEVELS)], mutant, state)
        tally.count(mutant)
        out[k] = (tally.distances()[0], *tally.risks()[wanted])
    return out
