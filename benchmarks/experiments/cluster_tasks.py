"""Measured times of the tasks that pools do, one after another in this process."""

from __future__ import annotations

import csv
import pickle
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import evosdc
from benchmarks.experiments import scale_work
from benchmarks.judge import contributors, hide
from evosdc.attack.certificate import assemble
from evosdc.attack.checker import verify
from evosdc.attack.ledger import Ledger
from evosdc.attack.question import Question
from evosdc.attack.tasks import LevelPool, Shared
from evosdc.instances import make
from evosdc.parallel import Workers
from evosdc.suppress.methods import hitas
from evosdc.suppress.methods.hybrid import HybridParameters
from evosdc.suppress.methods.islands import Guide, Island, RemoteIsland, explore
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Assignment, Search
from evosdc.synth import synthesiser
from evosdc.synth.fit import fit
from evosdc.synth.search import memetic, mover

_MB = 1e6
Row = dict[str, Any]


def judge_row(share: float) -> Row:
    """Parts of the judge on a 3-D table of which a share of the cells is hidden."""
    begun = time.process_time()
    table = hide(contributors((99, 26, 17), 0, 4.0, 15), share, 1)
    shared = Shared(Question(table=table), {})
    ledger = Ledger(shared.attacker)
    waves: list[list[float]] = []
    sizes: list[int] = []

    class Timed(LevelPool):
        def map(self, function: Any, tasks: Any, many: int) -> list[Any]:
            wave, answers, given = [], [], list(tasks)
            for task in given:
                start = time.process_time()
                answers.append(function(shared, task))
                wave.append(time.process_time() - start)
            waves.append(wave)
            sizes.append(len(pickle.dumps((given, answers))) // max(1, many))
            return answers

    with Timed(shared, None, Workers()) as pool:
        pool.small_moves(ledger)
        pool.programs(ledger)
    verify(table, assemble(ledger.witnesses))
    done = [part for wave in waves for part in wave]
    after: list[list[int]] = []
    last = 0
    for wave in waves:
        # Parts of a wave know what all parts of the one before have found.
        known = list(range(len(after) - last, len(after)))
        after += [known for _ in wave]
        last = len(wave)
    return _row(
        f"judge, {len(table):,} cells in three dimensions",
        done,
        after,
        alone=time.process_time() - begun - sum(done),
        shared=len(pickle.dumps(shared)) / _MB,
        told=float(np.mean(sizes)) / _MB,
    )


def hitas_row(cells: int, seconds: float, folder: Path) -> Row:
    """Sub-tables of hitas in their order; each waits for those it shares cells with."""
    path = scale_work.make_cube(cells, folder)
    trees = scale_work.cube_trees(cells)
    table = evosdc.tabulate(
        path,
        list(trees),
        "turnover",
        rules=scale_work.RULES,
        read=evosdc.Read(hierarchies=trees),
    ).table
    solved: list[tuple[float, Any]] = []
    sizes: list[int] = []
    solve = hitas.solve_subtable

    def timed(whole: Any, task: Any, stop: Any = None) -> Any:
        start = time.process_time()
        answer = solve(whole, task, stop)
        solved.append((time.process_time() - start, whole.tables[task.number].cells))
        sizes.append(len(pickle.dumps((task, answer))))
        return answer

    begun = time.process_time()
    with patch.object(hitas, "solve_subtable", timed):
        evosdc.protect(
            table,
            method="hitas",
            workers=1,
            time_limit=seconds,
            attackers=evosdc.Attackers(who="public"),
        )
    spent = time.process_time() - begun
    last: dict[int, int] = {}
    after = []
    for task, (_, own) in enumerate(solved):
        after.append(sorted({last[c] for c in own.tolist() if c in last}))
        last.update((c, task) for c in own.tolist())
    done = [each for each, _ in solved]
    return _row(
        f"hitas, {len(table):,} cells in {len(done):,} sub-tables",
        done,
        after,
        alone=spent - sum(done),
        shared=len(pickle.dumps(table)) / _MB,
        told=float(np.mean(sizes)) / _MB,
    )


def islands_row(seconds: float, stretches: int) -> Row:
    """Stretches of islands, and what taking in their patterns takes at home.

    Islands go on for as long as there is time: the row is for 2,048 stretches in all,
    each as long as the mean of those measured.
    """
    problem = Problem.of(make("random", 1, shape=(12, 12, 12), sensitive=0.1))
    size = HybridParameters().population
    home = Island(problem, size, Search(seed=1))
    home.build_first()
    known, guide = home.patterns(1), Guide(False, np.zeros(len(problem.cost)))
    done, taken, sizes = [], [], []
    for island in range(stretches):
        given = Assignment(
            RemoteIsland, size, 1, island, 0, seconds, known, guide=guide
        )
        start = time.process_time()
        found = explore(problem, given)
        done.append(time.process_time() - start)
        sizes.append(len(pickle.dumps((given, found))))
        start = time.process_time()
        for pattern in found.patterns:
            home.admit_pattern(pattern)
        taken.append(time.process_time() - start)
    many = 2048
    return _row(
        f"islands of `hybrid`, {len(problem.table):,} cells: stretches",
        [float(np.mean(done))] * many,
        [[]] * many,
        home=float(np.mean(taken)),
        shared=len(pickle.dumps(problem)) / _MB,
        told=float(np.mean(sizes)) / _MB,
    )


def synthesis_row(copies: int, measured: int) -> Row:
    """Errands of the candidates of a synthesis: each waits for the generation before.

    A few copies are measured. The row is for more of them, each as long as the mean of
    those in its generation; models, evaluation and the like stay at home.
    """
    rng = np.random.default_rng(1)
    age = rng.integers(0, 20, 20_000)
    people: dict[str, Any] = {"age": age, "sex": rng.integers(0, 2, len(age))}
    people |= {f"x{k}": (age + rng.integers(0, 8, len(age))) % 9 for k in range(4)}
    tasks: list[float] = []
    sizes: list[int] = []
    shared: list[int] = []
    run_task = mover.run_task

    def timed(worker_state: Any, task: Any) -> Any:
        if not shared:
            shared.append(len(pickle.dumps(worker_state)))
        start = time.process_time()
        answer = run_task(worker_state, task)
        tasks.append(time.process_time() - start)
        sizes.append(len(pickle.dumps((task, answer))))
        return answer

    # Nobody else: tasks are done here, one after another.
    nobody = Workers(0)
    here = patch.object(
        synthesiser, "fit", lambda table, options, _, __: fit(table, options, 1, nobody)
    )
    begun = time.process_time()
    with here, patch.object(memetic, "run_task", timed):
        evosdc.synthesise(
            people, copies=measured, generations=20, moves=1_000_000, time_limit=None
        )
    alone = time.process_time() - begun - sum(tasks)
    each = np.array(tasks).reshape(-1, measured).mean(axis=1)
    done: list[float] = []
    after: list[list[int]] = []
    for turn, mean in enumerate(each.tolist()):
        # The end of a generation is a task of no length that waits for all of it.
        ended = [turn * (copies + 1) - 1] if turn else []
        first = len(done)
        done += [mean] * copies + [0.0]
        after += [ended] * copies + [list(range(first, first + copies))]
    return _row(
        f"{copies} copies of a synthesis, {len(age):,} records: {len(each)} tasks each",
        done,
        after,
        alone=alone,
        shared=shared[0] / _MB,
        told=float(np.mean(sizes)) / _MB,
    )


def benches_row() -> Row:
    """The published rows of an experiment, with the seconds that they took."""
    notebook = Path(__file__).parents[2] / "docs" / "notebook"
    page = notebook / "results" / "heurgene.csv"
    with page.open(encoding="utf-8", newline="") as stream:
        done = [float(row["cpu_seconds"] or 0.0) for row in csv.DictReader(stream)]
    return _row("a bench: the rows of heurgene", done, [[]] * len(done), told=0.01)


def _row(
    name: str, seconds: Sequence[float], after: Sequence[Sequence[int]], **more: float
) -> Row:
    sizes = {"alone": 0.0, "home": 0.0, "shared": 0.0, "told": 0.0, **more}
    return {
        "name": name,
        "seconds": round(sum(seconds), 2),
        "tasks": [round(s, 4) for s in seconds],
        "after": [list(a) for a in after],
        **{key: round(max(0.0, value), 4) for key, value in sizes.items()},
    }


# What is measured, by name; a folder is for data that are made up.
ROWS: dict[str, Callable[[Path], Row]] = {
    "judge": lambda _: judge_row(0.8),
    "hitas": lambda folder: hitas_row(10_000, 60.0, folder),
    "islands": lambda _: islands_row(5.0, 6),
    "synthesis": lambda _: synthesis_row(64, 2),
    "benches": lambda _: benches_row(),
}
