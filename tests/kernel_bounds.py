"""Every kernel on small tables and files of every kind, with each index checked.

    NUMBA_DISABLE_JIT=1 python tests/kernel_bounds.py         plain Python, in seconds
    NUMBA_DISABLE_JIT=1 python tests/kernel_bounds.py large   the ways of large tables
    NUMBA_BOUNDSCHECK=1 python tests/kernel_bounds.py         compiled, in minutes

Compiled code reads past the end of an array without a word; with either switch such a
read is an IndexError. The last compiles everything again, so it wants a cache of its
own: `make boundscheck`.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
import pyarrow as pa

from builders import flat_table, unlabelled
from evosdc.attack import judge
from evosdc.errors import LevelError, ProtectionFailed
from evosdc.evolution.stopping import AnyOf, EvaluationLimit, TimeLimit
from evosdc.instances import make
from evosdc.metrics import evaluate
from evosdc.suppress.bounds.cut_loop import equation_bound
from evosdc.suppress.engine.general import model, programs
from evosdc.suppress.engine.network import cheapest_flow, cover
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import METHODS, find_method
from evosdc.suppress.run.search import Search
from evosdc.synth import Synthesiser
from evosdc.synth.data import encoding
from evosdc.synth.search import breeding
from evosdc.table import Table

Job = Callable[[], None]

# What a method does only on tables larger than these, or when it is asked to.
OPTIONS: dict[str, dict[str, Any]] = {
    "order-by-weight": {"cells": "unpicked", "groups": 2, "together": True},
    "order-ga": {"cells": "exposed", "groups": 3, "grouping": "row", "together": True},
    "grasp": {"hierarchical": "yes"},
    "ants": {"model": "indirect"},
    "greedy-few": {"check": "claims"},
}
EVALUATIONS = {"hyper": 40}
# The same code as order-ga with other defaults.
VARIANTS = {
    f"{m}-{o}" for m in ("order-ga", "ls") for o in ("swap", "insert", "invert")
}


def tables() -> dict[str, Table]:
    """Tables that lack something, and one of each structure."""
    none = {"sensitive": 0.0, "margins": 0.0}
    found = {
        "no primaries": make("random", seed=13, shape=(3, 3), **none),
        "all primaries": make("random", 14, shape=(3, 2), sensitive=1.0, margins=1.0),
        "one row": make("random", seed=2, shape=(1, 5)),
        "one cell": flat_table({"r": "a"}, [4.0]),
        "all zero": flat_table({"r": "ab", "c": "xyz"}, np.zeros(6)),
        "empty margins": make("random", seed=18, shape=(4, 4), empty=2),
        "two dimensions": make("random", seed=1, shape=(4, 3)),
        "sliding": make("random", seed=20, shape=(4, 3), level=0.1, width=0.4),
        "disconnected": make("random", seed=19, shape=(3, 3), parts=2),
        "one tree": make("random", seed=6, shape=(5, 3), trees=1),
        "hierarchical": make("random", seed=6, shape=(5, 4), trees=2),
        "three dimensions": make("random", seed=3, shape=(3, 2, 2)),
        "linked": make("random", seed=8, shape=(3, 2, 2), linked=True),
    }
    # Cells that count twice: no total and parts, so no up-sets.
    found["other equations"] = Table.of(
        [4.0, 2, 6, 1, 3, 5, 5],
        [[1, -2, 0, 0, 0, 0, 0], [0, 1, -1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1, -1]],
        status=list("usssuss"), lpl=[1.0, 0, 0, 0, 1, 0, 0], upl=0.0,
    )  # fmt: skip
    found["unlabelled"] = unlabelled(found["hierarchical"])
    return found


def protect(name: str, table: Table, options: dict[str, Any]) -> None:
    """Run a method where it takes the table, and judge what it found."""
    method, problem = find_method(name), Problem.of(table)
    if method.takes(problem) is not None:
        return
    stop = AnyOf((EvaluationLimit(EVALUATIONS.get(name, 4)), TimeLimit(10.0)))
    try:
        pattern = method.run(problem, method.configure(options), Search(1, stop))
    except (LevelError, ProtectionFailed):
        return  # loud, and tested elsewhere
    judge(table.with_pattern(pattern.hidden))


def people(rows: int, levels: int = 5) -> pa.Table:
    """A file of a few columns, one of which depends on another."""
    rng = np.random.default_rng(1)
    age = rng.integers(0, levels, rows)
    return pa.table(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "area": rng.integers(0, levels, rows),
            "work": rng.integers(0, levels, rows),
            "ill": np.clip(age // 2 + rng.integers(-1, 2, rows), 0, 3),
        }
    )


def earners(rows: int) -> pa.Table:
    """People with two numbers of many values, one of them not always known."""
    rng = np.random.default_rng(2)
    income = rng.lognormal(7, 1, rows).round(1)
    spent = [None if x < 500 else float(x // 2) for x in income]
    return (
        people(rows)
        .append_column("income", pa.array(income))
        .append_column("spent", pa.array(spent))
    )


# The engines of synthesis, and what reaches kernels of its own.
PLAIN = {"memetic": False}
COPIES: dict[str, dict[str, Any]] = {
    "memetic": {},
    "late, full table": {"acceptance": "late", "objective": "jsd:2,full"},
    "all distances": {"objective": "jsd:2,3+cramer+tables"},
    "risk limit": {"risk": "dcap", "risk_limit": 0.2},
    "a rule": {"rules": ["age == 0 and sex == 'f'"]},
    "a rule, plain": {"rules": [("age", "ill")], "crossover": "cpc", **PLAIN},
    "weighted": {"mode": "weighted", "softness": 0.0},
    "front": {"mode": "pareto"},
    "plain front": {"mode": "pareto", **PLAIN},
    "small groups": {"least": 4},
    "block": {"mutation": "block", "mutation_rate": 0.9, **PLAIN},
    **{f"crossover {c}": {"crossover": c, **PLAIN} for c in breeding.CROSSOVERS},
}


def synthesise(frame: pa.Table, options: dict[str, Any]) -> None:
    """Make a copy of a small file and compare the two."""
    told = {"moves": 300, "generations": 3, "population": 4, "least": 0} | options
    copy = Synthesiser(["age", "sex"], "ill", **told).fit_sample(frame)
    if not options:
        evaluate(frame, copy, key=["age", "sex"], target="ill", holdout=people(39))


def jobs() -> list[tuple[str, Job]]:
    """Everything to be run, by name."""
    found: list[tuple[str, Job]] = []
    for kind, table in tables().items():
        found.append((f"bound, {kind}", partial(equation_bound, Problem.of(table))))
        for name in [name for name in METHODS if name not in VARIANTS]:
            found.append((f"{name}, {kind}", partial(protect, name, table, {})))
            if name in OPTIONS:
                job = partial(protect, name, table, OPTIONS[name])
                found.append((f"{name} with options, {kind}", job))
    for what, options in COPIES.items():
        found.append((f"copy, {what}", partial(synthesise, people(40), options)))
    for least in (0, 2):
        job = partial(synthesise, earners(80), {"least": least, "find_derived": False})
        found.append((f"copy, numbers, {least}", job))
    full = {"objective": "jsd:full", "most_levels": 99}
    found.append(("copy, many levels", partial(synthesise, people(60, 60), full)))
    return found


def next_number(counter: np.ndarray) -> int:
    """The counter that threads raise, for one thread and no compiler."""
    counter[0] += 1
    return int(counter[0]) - 1


def large_early() -> None:
    """Take the ways of large tables on small ones: plain Python reads these again."""
    cover._PATHS = cover._SEARCHES = cheapest_flow._SEARCHES = 1
    programs._MOST_LEVELS_TIMES_CELLS, model.NEIGHBOURS = 3, 3
    encoding._DENSE_CELLS = 8


def main(ways: str) -> int:
    """Run everything and name what failed."""
    if numba.config.DISABLE_JIT:
        breeding.next_number = next_number
        if ways == "large":
            large_early()
    started, failed = time.process_time(), []
    chosen = jobs()
    for what, job in chosen:
        try:
            job()
        except Exception:
            failed.append(f"{what}\n{traceback.format_exc()}")
    spent = time.process_time() - started
    sys.stdout.write("\n".join(failed))
    sys.stdout.write(f"{len(chosen)} runs, {len(failed)} failed, {spent:.0f} CPU s\n")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1] if len(sys.argv) > 1 else "small"))
