"""What each method costs on three small tables: measured, and stored beside this file.

    python tests/golden/method_costs.py

writes ``method_costs.json`` anew, after a change that is meant to alter costs. The
budget is a number of evaluations and the clock stands still, so that neither the
machine nor its load has a say.
"""

from __future__ import annotations

import json
from pathlib import Path

from evosdc.errors import ProtectionFailed
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import METHODS, find_method
from evosdc.suppress.search import Search
from evosdc.table import Table

STORED = Path(__file__).with_suffix(".json")
SEED = 7
EVALUATIONS = 100

TABLES: dict[str, Table] = {
    "two-way": make("class2", seed=4, rows=16, columns=12),
    "two trees": make("random", seed=6, shape=(12, 9), trees=2),
    "three-way": make("random", seed=3, shape=(4, 3, 3)),
}


def measure(name: str, kind: str) -> float | None:
    """Cost of a method on a table; None where it fails as its source says it may."""
    method, problem = find_method(name), Problem.of(TABLES[kind])
    search = Search(SEED, EvaluationLimit(EVALUATIONS), clock=lambda: 0.0)
    try:
        pattern = method.run(problem, method.configure({}), search)
    except ProtectionFailed:
        if method.may_fail:
            return None
        raise
    return round(pattern.cost, 6)


def pairs() -> list[tuple[str, str]]:
    """Every method with every table that it takes."""
    problems = {kind: Problem.of(table) for kind, table in TABLES.items()}
    return [
        (name, kind)
        for name in METHODS
        for kind, problem in problems.items()
        if find_method(name).takes(problem) is None
    ]


def write() -> None:
    """Measure everything and store it."""
    costs: dict[str, dict[str, float | None]] = {}
    for name, kind in pairs():
        costs.setdefault(name, {})[kind] = measure(name, kind)
    STORED.write_text(json.dumps(costs, indent=2) + "\n")


if __name__ == "__main__":
    write()
