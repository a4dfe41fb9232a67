"""Orders of sensitive cells: how fast they are evaluated, and what evolving them saves.

    python benchmarks/order_ga.py speed --tables ABCD --orders 3
    python benchmarks/order_ga.py gain --tables ABCD --seeds 5 --seconds 60
    python benchmarks/order_ga.py optimum --seeds 3 --seconds 10

``speed`` evaluates the same orders on the same table twice: by the compiled flows of
``order-ga``, and as published, by two linear programs over the whole table for every
sensitive cell. ``gain`` compares ``order-ga`` with the published heuristic: falling
weight, the same full programs, no clean-up. ``--option ruin=0 --option clean=never`` is
``order-ga`` as published. ``optimum`` sets ``order-ga`` beside proven optima of small
two-dimensional tables; seconds there are CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import highspy
import numpy as np
from scipy import sparse

from evosdc.attack import judge
from evosdc.evolution.stopping import AnyOf, TargetGap, TimeLimit
from evosdc.instances import make
from evosdc.parallel import Workers
from evosdc.suppress.engine.network.engine import NetworkEngine
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.unpick import Grouping

ONE_BY_ONE = Grouping("all", 0, "weight", together=False)
MOVED = 1e-7
# Two-dimensional tables that `hybrid` proves within a minute.
SMALL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("random", {"shape": (6, 6)}),
    ("random", {"shape": (12, 10)}),
    ("class1", {"rows": 20, "columns": 15}),
    ("class1", {"rows": 50, "columns": 20}),
    ("class2", {"rows": 20, "columns": 20}),
    ("heurgene", {"rows": 30, "columns": 30}),
)
PROOF_SECONDS = 60.0


class FullPrograms:
    """The yardstick: every program in full, warm from the one before."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.cells = np.flatnonzero(problem.hideable)
        part = sparse.csc_array(problem.table.columns[:, self.cells])
        both = sparse.csc_array(sparse.hstack([part, -part]))
        rows, columns = both.shape
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = columns, rows
        lp.col_cost_ = lp.col_lower_ = lp.col_upper_ = np.zeros(columns)
        lp.row_lower_ = lp.row_upper_ = np.zeros(rows)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = both.indptr.astype(np.int32)
        lp.a_matrix_.index_ = both.indices.astype(np.int32)
        lp.a_matrix_.value_ = both.data
        self.solver = highspy.Highs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        self.solver.passModel(lp)
        self.index = np.arange(columns, dtype=np.int32)

    def evaluate(self, order: np.ndarray) -> np.ndarray:
        """Protect the cells in order; return what is hidden."""
        problem, n = self.problem, len(self.cells)
        levels = problem.levels
        hidden = problem.primary.copy()
        high = np.concatenate([problem.up[self.cells], problem.down[self.cells]])
        high[np.isinf(high)] = highspy.kHighsInf
        for cell in order:
            k = int(np.searchsorted(self.cells, cell))
            for row in np.flatnonzero(levels.cell == cell):
                amount = float(levels.amount[row])
                chosen, other = (k, k + n) if levels.sign[row] > 0 else (k + n, k)
                low, top = np.zeros(2 * n), high.copy()
                low[chosen] = top[chosen] = amount
                top[other] = 0.0
                price = np.where(hidden, 0.0, problem.cost)[self.cells]
                cost = np.concatenate([price, price])
                self.solver.changeColsBounds(2 * n, self.index, low, top)
                self.solver.changeColsCost(2 * n, self.index, cost)
                self.solver.run()
                if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                    raise RuntimeError("a program has no solution")
                x = np.array(self.solver.getSolution().col_value)
                hidden[self.cells[np.abs(x[:n] - x[n:]) > MOVED]] = True
        return hidden


def by_weight(problem: Problem) -> np.ndarray:
    """Sensitive cells in order of falling weight."""
    cells = np.flatnonzero(problem.primary)
    return cells[np.lexsort((cells, -problem.table.weight[cells]))]


def speed(tables: str, orders: int, seed: int) -> None:
    """Time the same orders both ways."""
    print("table | cells | sensitive | full s | flows s | times | cost full / flows")
    for letter in tables:
        table = make("ons", seed=seed, table=letter)
        problem = Problem.of(table)
        flows = NetworkEngine(problem).evaluator(
            ONE_BY_ONE, Search(seed=seed), clean=False
        )
        rng = np.random.default_rng(seed)
        chosen = [np.arange(flows.length)]
        chosen += [rng.permutation(flows.length) for _ in range(orders - 1)]
        flows.evaluate([(chosen[0], None)])
        cells = by_weight(problem)
        start = time.process_time()
        found = [flows.evaluate([(order, None)])[0] for order in chosen]
        fast = (time.process_time() - start) / orders
        full = FullPrograms(problem)
        start = time.process_time()
        masks = [full.evaluate(cells[order]) for order in chosen]
        slow = (time.process_time() - start) / orders
        costs = [
            (problem.pattern(mask).cost, priced.cost)
            for mask, priced in zip(masks, found, strict=True)
            if priced is not None
        ]
        for mask in masks:
            assert judge(table.with_pattern(mask))[0].safe
        shown = ", ".join(f"{a:.0f}/{b:.0f}" for a, b in costs)
        print(
            f"{letter} | {len(table)} | {len(cells)} | {slow:.3f} | {fast:.5f} | "
            f"{slow / fast:.0f} | {shown}",
            flush=True,
        )


def gain(
    tables: str,
    seeds: int,
    seconds: float,
    level: float | None,
    options: dict[str, str],
) -> None:
    """Compare with the published heuristic."""
    print("table | seed | falling weight | order-ga | saved % | evaluations | s")
    means: dict[str, list[float]] = {}
    method = find_method("order-ga")
    parameters = method.configure(options)
    for letter in tables:
        for seed in range(1, seeds + 1):
            table = make("ons", seed=seed, table=letter, level=level)
            problem = Problem.of(table)
            start = problem.pattern(FullPrograms(problem).evaluate(by_weight(problem)))
            search = Search(seed=seed, stop=TimeLimit(seconds), workers=Workers(2))
            pattern = method.run(problem, parameters, search)
            assert judge(table.with_pattern(pattern.hidden))[0].safe
            saved = 100 * (1 - pattern.cost / start.cost)
            means.setdefault(letter, []).append(saved)
            print(
                f"{letter} | {seed} | {start.cost:.0f} | {pattern.cost:.0f} | "
                f"{saved:.1f} | {search.evaluations} | {search.seconds:.1f}",
                flush=True,
            )
    for letter, saved_by in means.items():
        print(f"{letter}: mean {np.mean(saved_by):.2f} %")


def optimum(seeds: int, seconds: float, options: dict[str, str]) -> None:
    """Compare with proven optima."""
    print("table | seed | cells | sensitive | optimum | order-ga | CPU s")
    method, exact = find_method("order-ga"), find_method("hybrid")
    parameters = method.configure(options)
    for family, shape in SMALL:
        for seed in range(1, seeds + 1):
            table = make(family, seed=seed, **shape)
            problem = Problem.of(table)
            proof = Search(
                seed,
                AnyOf((TargetGap(0.0), TimeLimit(PROOF_SECONDS))),
                clock=time.process_time,
            )
            best = exact.run(problem, exact.configure({}), proof)
            proven = proof.bound is not None and proof.bound >= best.cost - 1e-6
            search = Search(seed, TimeLimit(seconds), clock=time.process_time)
            pattern = method.run(problem, parameters, search)
            assert judge(table.with_pattern(pattern.hidden))[0].safe
            size = "x".join(str(n) for n in (shape.get("shape") or shape.values()))
            print(
                f"{family} {size} | {seed} | {len(table)} | {len(table.primaries)} | "
                f"{best.cost:g}{'' if proven else ' (not proven)'} | "
                f"{pattern.cost:g} | {search.seconds:.1f}",
                flush=True,
            )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["speed", "gain", "optimum"])
    parser.add_argument("--tables", default="ABCD")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--level", type=float, help="share of the value; else a fifth")
    parser.add_argument("--option", action="append", default=[], help="name=value")
    arguments = parser.parse_args()
    options = dict(text.split("=", 1) for text in arguments.option)
    if arguments.what == "speed":
        speed(arguments.tables, arguments.orders, seed=1)
    elif arguments.what == "optimum":
        optimum(arguments.seeds, arguments.seconds, options)
    else:
        gain(
            arguments.tables,
            arguments.seeds,
            arguments.seconds,
            arguments.level,
            options,
        )


if __name__ == "__main__":
    main()
