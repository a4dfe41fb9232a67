"""Small tables of every kind, and one run of each method on those that it takes.

    python tests/every_method.py

has Python run the kernels as they are written and prints what the methods found on some
of the tables. `tests/integration/test_suppress_conformance.py` compares its own runs.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

from builders import run_method, unlabelled
from evosdc.compile import kernels, small_jobs
from evosdc.errors import ProtectionFailed
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import find_method, load_methods
from evosdc.suppress.run.search import Search
from evosdc.table import Table

METHODS = sorted(load_methods())

# Every level of these can be had with everything hidden.
TABLES: dict[str, Table] = {
    "small": make("random", seed=1, shape=(5, 5), sensitive=0.2),
    "small cube": make("random", seed=1, shape=(3, 3, 3), sensitive=0.2),
    "two dimensions": make("random", seed=1, shape=(8, 7)),
    "two, class II": make("class2", seed=4, rows=16, columns=12),
    "three dimensions": make("random", seed=3, shape=(5, 4, 4)),
    "four dimensions": make("random", seed=4, shape=(3, 3, 2, 3)),
    "one dimension": make("random", seed=5, shape=(9,), margins=0.0),
    "hierarchical": make("random", seed=6, shape=(9, 6), trees=2),
    "one tree": make("random", seed=6, shape=(11, 5), trees=1),
    "hierarchical, three": make("random", seed=7, shape=(6, 4, 3), trees=1),
    "linked": make("random", seed=8, shape=(5, 4, 3), linked=True),
    "linked trees": make("random", seed=9, shape=(7, 5, 3), trees=1, linked=True),
    "frequency": make("frequency", seed=10, shape=(6, 5, 3)),
    "negative": make("random", seed=11, shape=(6, 6), values="negative"),
    "decimals": make("random", seed=12, shape=(6, 5), values="decimals"),
    "no primaries": make("random", seed=13, shape=(5, 4), sensitive=0.0, margins=0.0),
    "all primaries": make("random", seed=14, shape=(4, 4), sensitive=1.0, margins=1.0),
    "zeros and ties": make("random", seed=15, shape=(7, 6), values="ties", zeros=0.4),
    "tiny": make("random", seed=16, shape=(6, 5), values="tiny"),
    "huge": make("random", seed=17, shape=(6, 5), values="huge"),
    "huge, three": make("random", seed=17, shape=(4, 4, 3), values="huge"),
    "empty margins": make("random", seed=18, shape=(6, 5), empty=2),
    "disconnected": make("random", seed=19, shape=(4, 4), parts=3),
    "sliding": make("random", seed=20, shape=(6, 5), level=0.1, width=0.4),
    "tau bounds": make("random", seed=21, shape=(5, 4, 3), bounds="tau"),
    "strict": make("random", seed=22, shape=(6, 5), strict=True),
}
TABLES["unlabelled"] = unlabelled(TABLES["two dimensions"])
TABLES["unlabelled, hierarchical"] = unlabelled(TABLES["hierarchical, three"])
TABLES["unlabelled, linked"] = unlabelled(TABLES["linked trees"])

# The same code as order-ga with other defaults: a few tables will do.
VARIANTS = {
    *(f"order-ga-{operator}" for operator in ("swap", "insert", "invert")),
    *(f"ls-{operator}" for operator in ("swap", "insert", "invert")),
}
INTERPRETED = ("small", "small cube")  # as well as compiled
FEW = ("two dimensions", "hierarchical, three", "sliding", "no primaries", *INTERPRETED)

SEED = 3
# Enough for every phase of a method, and an end for those that go on to a proof.
EVALUATIONS = 60


@dataclass(frozen=True)
class Answer:
    """What a method found: None and no bound where it failed and may."""

    pattern: Pattern | None
    search: Search

    def summary(self) -> list[object]:
        """All that must be the same when the same run is repeated elsewhere."""
        hidden = None if self.pattern is None else self.pattern.hidden.nonzero()[0]
        cells = None if hidden is None else hidden.tolist()
        return [cells, self.search.evaluations, self.search.bound]


def problem_of(kind: str) -> Problem:
    """Return the problem of a table, by its name."""
    return Problem.of(TABLES[kind], strict=kind == "strict")


@small_jobs.job(1)  # a process that interprets kernels compiles none here either
def taken(kind: str) -> list[str]:
    """Methods that take a table; the others must say why not."""
    problem = problem_of(kind)
    names = []
    for name in METHODS:
        reason = find_method(name).takes(problem)
        if reason is None:
            names.append(name)
        else:
            assert len(reason) > 10, f"{name} refuses {kind} without a reason"
    return names


PAIRS = [
    (name, kind)
    for kind in TABLES
    for name in taken(kind)
    if name not in VARIANTS or kind in FEW
]


def answer(name: str, kind: str, search: Search | None = None) -> Answer:
    """Run a method; no pattern where it fails loudly and may.

    The clock stands still, unless `search` has another: the machine has no say.
    """
    problem = problem_of(kind)
    if search is None:
        search = Search(SEED, EvaluationLimit(EVALUATIONS), clock=lambda: 0.0)
    try:
        return Answer(run_method(name, problem, search), search)
    except ProtectionFailed as failure:
        names = [problem.table.label(int(c)) for c in problem.table.primaries]
        if find_method(name).may_fail and any(n in str(failure) for n in names):
            return Answer(None, search)
        raise


def interpreted() -> dict[str, list[object]]:
    """Return what methods find when Python runs every kernel, however long it takes."""
    kernels._LONG = float("inf")
    with small_jobs.job(1):
        return {
            f"{name} on {kind}": answer(name, kind).summary()
            for name, kind in PAIRS
            if kind in INTERPRETED
        }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(interpreted()))
