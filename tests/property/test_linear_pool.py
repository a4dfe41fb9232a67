"""The store of witnesses against a twin made of lists and sets."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np
import pytest
from linear_twins import rows_of
from numpy.typing import NDArray

from evosdc.instances import make
from evosdc.suppress.engine.base import Demands
from evosdc.suppress.engine.general import pool as pools
from evosdc.suppress.engine.general import witness as witness_module
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.witness import DoubtedWitnesses, Witnesses
from evosdc.suppress.problem.problem import Problem

CELLS = 12


@dataclass
class Twin:
    """Witnesses as lists of steps; who covers a demand as a dictionary."""

    demands: Demands
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    kept: list[dict[int, float]] = field(default_factory=list)
    owner: dict[int, int] = field(default_factory=dict)

    def claim(self, number: int) -> None:
        steps = self.kept[number]
        for row in range(len(self.demands)):
            by = steps.get(int(self.demands.cell[row]), 0.0)
            if row in self.owner or by == 0.0:
                continue
            factor = self.demands.sign[row] * self.demands.amount[row] / by
            if all(
                -self.down[c] * (1 + 1e-11) <= factor * step
                and factor * step <= self.up[c] * (1 + 1e-11)
                for c, step in steps.items()
            ):
                self.owner[row] = number

    def users(self, cell: int) -> list[int]:
        return sorted(r for r, w in self.owner.items() if cell in self.kept[w])

    def forget_idle(self) -> None:
        live = sorted(set(self.owner.values()))
        new = {old: i for i, old in enumerate(live)}
        self.kept = [self.kept[w] for w in live]
        self.owner = {row: new[w] for row, w in self.owner.items()}


def assert_same(twin: Twin, witnesses: Witnesses) -> None:
    pool = witnesses.pool
    count = int(pool.tally[0])
    assert count == len(twin.kept)
    assert pool.tally[1] == sum(map(len, twin.kept))
    users: dict[int, set[int]] = {w: set() for w in range(count)}
    for row, w in twin.owner.items():
        users[w].add(row)
    for w, steps in enumerate(twin.kept):
        part = slice(pool.begin[w], pool.begin[w] + pool.length[w])
        cells, by = pool.entry_cell[part].tolist(), pool.entry_by[part].tolist()
        assert dict(zip(cells, by, strict=True)) == steps
        walked, row, last = [], int(pool.first_user[w]), -1
        while row >= 0:
            walked.append(row)
            assert pool.before[row] == last
            row, last = int(pool.following[row]), row
        assert len(walked) == pool.users[w] == len(users[w])
        assert set(walked) == users[w]
    assert set(np.flatnonzero(pool.covered).tolist()) == set(twin.owner)
    assert pool.witness.tolist() == [
        twin.owner.get(row, -1) for row in range(len(pool.covered))
    ]
    used = witnesses.used()
    for cell in range(CELLS):
        assert witnesses.users(cell).tolist() == twin.users(cell)
        assert used[cell] == pools.in_use(pool, cell) == bool(twin.users(cell))


def setting(rng: np.random.Generator) -> tuple[Problem, Demands]:
    """A table of twelve cells, and demands on half of them that have room."""
    table = make("random", 1, shape=(3, 2), zeros=0.0, sensitive=0.0, margins=0.0)
    assert len(table) == CELLS
    room = rng.integers(1, 9, CELLS).astype(float)
    upper = np.where(rng.random(CELLS) < 0.3, np.inf, table.value + room)
    problem = Problem.of(table.replace(upper=upper, lower=table.value - room))
    cell = np.repeat(np.sort(rng.choice(CELLS, 6, replace=False)), 2)
    sign = np.tile(np.array([1, -1], np.int8), 6)
    return problem, Demands(cell, sign, rng.integers(1, 6, 12).astype(float))


def steps_of(rng: np.random.Generator) -> dict[int, float]:
    cells = rng.choice(CELLS, int(rng.integers(1, 6)), replace=False).tolist()
    return {c: float(rng.choice([-2.0, -1.0, 1.0, 3.0])) for c in cells}


def as_move(steps: dict[int, float]) -> Move:
    return Move(np.array(list(steps), np.int64), np.array(list(steps.values())))


@pytest.mark.parametrize("seed", range(25))
def test_pool_does_what_lists_and_sets_do(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random operations, and trials kept or put back, in pools that must grow."""
    monkeypatch.setattr(witness_module, "_WITNESSES", 3)
    monkeypatch.setattr(witness_module, "_ENTRIES", 10)
    rng = np.random.default_rng(seed)
    problem, demands = setting(rng)
    witnesses = Witnesses(problem, rows_of(problem, demands))
    twin = Twin(demands, problem.up, problem.down)
    trial: DoubtedWitnesses | None = None
    before = deepcopy(twin)
    grown = undone = 0
    for _ in range(160):
        match rng.choice(["add", "add", "rely", "release", "trial", "end"]):
            case "add":
                steps = steps_of(rng)
                size = len(witnesses.pool.begin), len(witnesses.pool.entry_cell)
                own = int(rng.integers(12)) if rng.random() < 0.3 else None
                fits = (
                    len(twin.kept) + 1 < size[0]
                    and sum(map(len, twin.kept)) + len(steps) < size[1]
                )
                witnesses.add(as_move(steps), own)
                if not fits:
                    grown += 1
                    if trial is None:
                        twin.forget_idle()
                twin.kept.append(steps)
                twin.claim(len(twin.kept) - 1)
                if own is not None:
                    twin.owner.setdefault(own, len(twin.kept) - 1)
            case "rely" if trial is None and rng.random() < 0.1:
                cells = np.sort(rng.choice(CELLS, 4, replace=False))
                witnesses.make_space(len(witnesses.pool.begin), 4)
                twin.forget_idle()
                witnesses.rely_on(cells)
                twin.kept.append(dict.fromkeys(cells.tolist(), 0.0))
                for row in range(len(demands)):
                    twin.owner.setdefault(row, len(twin.kept) - 1)
            case "release" if trial is None and twin.owner:
                row = int(rng.choice(sorted(twin.owner)))
                pools.release(witnesses.pool, row)
                del twin.owner[row]
            case "trial" if trial is None and twin.owner:
                before = deepcopy(twin)
                rows = np.array(twin.users(int(rng.integers(CELLS))), np.int64)
                trial = witnesses.begin_trial(rows)
                for row in rows.tolist():
                    del twin.owner[row]
            case "end" if trial is not None:
                if rng.random() < 0.5:
                    witnesses.keep()
                else:
                    witnesses.put_back(trial)
                    twin = before
                    undone += 1
                trial = None
        assert_same(twin, witnesses)
    assert grown > 0
    assert undone > 0


def test_a_trial_put_back_opens_what_it_covered_on_the_way() -> None:
    """A demand open before the trial must not keep a witness that is forgotten."""
    table = make("random", 1, shape=(3, 2), zeros=0.0, sensitive=0.0, margins=0.0)
    demands = Demands(np.array([3, 4]), np.array([1, 1], np.int8), np.array([1.0, 1.0]))
    problem = Problem.of(table)
    witnesses = Witnesses(problem, rows_of(problem, demands))
    witnesses.add(as_move({3: 1.0}))
    trial = witnesses.begin_trial(np.array([0]))
    witnesses.add(as_move({4: 1.0}))
    assert witnesses.covered.tolist() == [False, True]
    witnesses.put_back(trial)
    assert witnesses.covered.tolist() == [True, False]
    assert witnesses.pool.tally.tolist() == [1, 1]


def test_hints_are_the_known_deviations_in_use() -> None:
    table = make("random", 1, shape=(3, 2), zeros=0.0, sensitive=0.0, margins=0.0)
    demands = Demands(np.array([3, 4]), np.array([1, 1], np.int8), np.ones(2))
    problem = Problem.of(table)
    witnesses = Witnesses(problem, rows_of(problem, demands))
    witnesses.add(as_move({5: 1.0}))
    witnesses.add(as_move({3: 1.0, 5: -1.0}))
    witnesses.rely_on(np.array([4, 6]))
    assert witnesses.covered.all()
    ((cells, by),) = witnesses.hints()
    assert cells.tolist() == [3, 5]
    assert by.tolist() == [1.0, -1.0]
