"""What each method costs on a few tables: measured, and stored beside this file.

    python tests/golden/method_costs.py

writes ``method_costs.json`` again, after a change that is meant to alter costs. The
budget is a number of evaluations and the clock stands still, so that neither the
machine nor its load has a say. Every method runs on the tables `GOLDEN` of the
conformance suite; some also run on a cube above the size at which programs change, on a
cell worth a hundred of those round it, on a contracted register, and with two workers.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from every_method import PAIRS, answer
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
# Solvers of other versions choose other ones of equally good solutions.
_SLACK = 0.05
_AGAIN = "if that is meant, run: python tests/golden/method_costs.py"

# Tables of the conformance suite whose costs are stored; the first two for all methods.
GOLDEN = ("two dimensions", "hierarchical, three", "two, class II", "three dimensions")


@dataclass(frozen=True)
class Case:
    """A table, the methods that run on it, and how."""

    table: Table
    methods: tuple[str, ...]
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


CASES: dict[str, Case] = {
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
    "two workers": Case(
        make("random", seed=6, shape=(12, 9), trees=2),
        ("order-ga",),
        {"batch": 2},
        workers=2,
    ),
}


def measure(name: str, kind: str) -> float | None:
    """Cost of a method on a table; None where it fails as its source says it may."""
    if kind in GOLDEN:
        pattern = answer(name, kind).pattern
        return None if pattern is None else round(pattern.cost, 6)
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
    """Every method with every table whose cost is stored."""
    small = {(name, kind) for name, kind in PAIRS if kind in GOLDEN}
    kinds = (*GOLDEN, *CASES)
    return [
        (name, kind)
        for name in METHODS
        for kind in kinds
        if (name, kind) in small or (kind in CASES and name in CASES[kind].methods)
    ]


def stored_costs() -> dict[str, dict[str, float | None]]:
    """Read the costs that were stored, by method and table."""
    assert STORED.exists(), f"{STORED.name} is missing; {_AGAIN}"
    found: dict[str, dict[str, float | None]] = json.loads(STORED.read_text())
    return found


def assert_stored(name: str, kind: str, cost: float | None) -> None:
    """Neither more nor less than was stored, but for what solvers may choose."""
    costs, where = stored_costs(), f"{name} on {kind!r}"
    assert name in costs, f"no costs of the method {name!r} are stored; {_AGAIN}"
    assert kind in costs[name], f"no cost of {where} is stored; {_AGAIN}"
    before = costs[name][kind]
    if cost is None or before is None:
        same = cost is before
    else:
        same = abs(cost - before) <= _SLACK * abs(before)
    assert same, f"{where} costs {cost}, stored is {before}; {_AGAIN}"


def write() -> None:
    """Measure everything and store it."""
    costs: dict[str, dict[str, float | None]] = {}
    for name, kind in pairs():
        costs.setdefault(name, {})[kind] = measure(name, kind)
    STORED.write_text(json.dumps(costs, indent=2) + "\n")


if __name__ == "__main__":
    write()
