"""What each method costs on a few tables: measured, and stored beside this file.

    python tests/golden/method_costs.py

writes ``method_costs.json`` anew, after a change that is meant to alter costs. The
budget is a number of evaluations and the clock stands still, so that neither the
machine nor its load has a say. Every method runs on three small tables; some also run
on a cube above the size at which programs change, on a cell worth a hundred of those
round it, on a contracted register, and with two workers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evosdc.errors import ProtectionFailed
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.instances.grid import Grid
from evosdc.instances.published import rows_and_columns
from evosdc.parallel import Workers
from evosdc.suppress.methods.contracted import run_contracted
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import METHODS, find_method
from evosdc.suppress.run.search import Search
from evosdc.table import Table

STORED = Path(__file__).with_suffix(".json")
SEED = 7
EVALUATIONS = 100


@dataclass(frozen=True)
class Case:
    """A table, the methods that run on it (all unless said), and how."""

    table: Table
    methods: tuple[str, ...] = tuple(METHODS)
    options: dict[str, Any] = field(default_factory=dict)
    workers: int = 1
    contracted: bool = False


def _giant() -> Table:
    """One sensitive cell that needs far more paths than are sought one at a time."""
    rng = np.random.default_rng(3)
    inner = rng.integers(1, 60, size=(40, 30))
    inner[0, 0] = 6000
    grid = Grid.of(rows_and_columns(40, 30), inner)
    sensitive = grid.inner & ((grid.amount < 3) | (grid.amount == 6000))
    return grid.table(sensitive, *grid.levels(0.6))


_TREES = make("random", seed=6, shape=(12, 9), trees=2)
CASES: dict[str, Case] = {
    "two-way": Case(make("class2", seed=4, rows=16, columns=12)),
    "two trees": Case(_TREES),
    "three-way": Case(make("random", seed=3, shape=(4, 3, 3))),
    "cube": Case(
        make("random", seed=5, shape=(13, 13, 13), sensitive=0.01, margins=0.0),
        ("hypercube", "greedy"),
    ),
    "giant": Case(
        _giant(),
        ("sp", "castro", "kelly", "pbp", "gensup", "ls-ruin", "order-by-weight"),
    ),
    "register": Case(
        make("register", seed=2, rows=14, columns=10),
        ("attacker", "order-by-weight"),
        contracted=True,
    ),
    "two workers": Case(_TREES, ("order-ga",), {"batch": 2}, workers=2),
}


def measure(name: str, kind: str) -> float | None:
    """Cost of a method on a table; None where it fails as its source says it may."""
    case, method = CASES[kind], find_method(name)
    problem = Problem.of(case.table)
    limit = EvaluationLimit(EVALUATIONS)
    search = Search(SEED, limit, workers=Workers(case.workers), clock=lambda: 0.0)
    parameters = method.configure(case.options)
    try:
        if case.contracted:
            pattern = run_contracted(problem, method, parameters, search)
        else:
            pattern = method.run(problem, parameters, search)
    except ProtectionFailed:
        if method.may_fail:
            return None
        raise
    return round(pattern.cost, 6)


def pairs() -> list[tuple[str, str]]:
    """Every method with every table that it takes."""
    return [
        (name, kind)
        for name in METHODS
        for kind, case in CASES.items()
        if name in case.methods
        and find_method(name).takes(Problem.of(case.table)) is None
    ]


def write() -> None:
    """Measure everything and store it."""
    costs: dict[str, dict[str, float | None]] = {}
    for name, kind in pairs():
        costs.setdefault(name, {})[kind] = measure(name, kind)
    STORED.write_text(json.dumps(costs, indent=2) + "\n")


if __name__ == "__main__":
    write()
