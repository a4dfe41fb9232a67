"""Column generation against the program over all cells, with and without attackers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from network_twins import reach
from scipy import sparse
from scipy.optimize import linprog

from evosdc.instances import make
from evosdc.suppress.engine.general import model
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.model import Demand, DeviationModel, Tight
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.equations import independent_equations, up_sets
from evosdc.table.attackers import lone_attackers

SHAPES: list[dict[str, Any]] = [
    {"shape": (7, 5, 4), "trees": 1},
    {"shape": (14, 9), "trees": 2},
    {"shape": (6, 5, 4), "linked": True},
]


@pytest.mark.parametrize("options", SHAPES, ids=str)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("alone", [False, True])
def test_pricing_finds_the_optimum_of_all_cells(
    options: dict[str, Any], seed: int, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make("random", seed, sensitive=0.2, **options)
    problem, rng = Problem.of(table), np.random.default_rng(seed)
    columns = independent_equations(table, up_sets(table))
    # So few cells may move that some levels have no deviation at all.
    some = problem.primary | (rng.random(len(table)) < rng.uniform(0.4, 1.0))
    cells = np.flatnonzero(problem.hideable & some)
    price = np.where(problem.primary | (rng.random(len(table)) < 0.3), 0, problem.cost)
    known = np.flatnonzero(rng.random(len(table)) < 0.15)
    tight = Tight(known, np.zeros(len(known)), np.zeros(len(known))) if alone else None
    sizes, answers = [], []
    run = DeviationModel._run

    def noted(self: DeviationModel, classes: Any, *rest: Any, **more: Any) -> Any:
        sizes.append(None if classes is None else len(classes))
        return run(self, classes, *rest, **more)

    monkeypatch.setattr(DeviationModel, "_run", noted)
    for neighbours in (3, len(table)):
        monkeypatch.setattr(model, "NEIGHBOURS", neighbours)
        asked = DeviationModel(columns, cells, problem.up, problem.down)
        found = []
        for cell, sign, amount in zip(
            problem.levels.cell.tolist(),
            problem.levels.sign.tolist(),
            problem.levels.amount.tolist(),
            strict=True,
        ):
            move = asked.cheapest(Demand(cell, sign, amount, tight), price[cells])
            if move is None:
                found.append(np.inf)
                continue
            steps = np.zeros(len(table))
            steps[move.cells] = move.by
            assert np.abs(table.matrix @ steps).max() <= 1e-6 * np.abs(steps).max()
            assert (steps <= problem.up + 1e-6).all()
            assert (-steps <= problem.down + 1e-6).all()
            assert tight is None or not steps[known[known != cell]].any()
            found.append(float(np.abs(steps) @ price))
        answers.append(found)
        if neighbours == 3:
            assert any(size is not None for size in sizes)
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("options", SHAPES, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_sums_move_as_cheaply_as_a_plain_program_says(
    options: dict[str, Any], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few cells and with all; what a refusal says leaves the sum too little."""
    small = {**options, "shape": (4, 3, 2) if len(options["shape"]) == 3 else (7, 5)}
    table = make("random", seed, sensitive=0.3, **small)
    problem, rng = Problem.of(table), np.random.default_rng(seed)
    columns, n = independent_equations(table, up_sets(table)), len(table)
    some = problem.primary | (rng.random(n) < 0.6)
    cells = np.flatnonzero(problem.hideable & some)
    price = np.where(problem.primary | (rng.random(n) < 0.3), 0, problem.cost)
    may_move = np.isin(np.arange(n), cells)
    up, down = np.where(may_move, problem.up, 0), np.where(may_move, problem.down, 0)
    refused = []
    for case in range(12):
        members = rng.choice(table.primaries, 2 + case % 3, replace=False)
        sign = 1 - 2 * (case % 2)
        amount = float(rng.choice([0.3, 0.9, 2.0]) * problem.down[members].sum() + 1)
        asked = Demand(int(members[0]), sign, amount, None, tuple(members[1:].tolist()))
        in_sum = np.isin(np.arange(n), members).astype(float)
        equations = sparse.vstack([table.matrix, sparse.csr_array(in_sum[None])])
        least = linprog(
            np.concatenate([price, price]),
            A_eq=sparse.hstack([equations, -equations]),
            b_eq=np.append(np.zeros(table.matrix.shape[0]), sign * amount),
            bounds=np.stack([np.zeros(2 * n), np.concatenate([up, down])], axis=1),
        )
        for neighbours in (3, n):
            monkeypatch.setattr(model, "NEIGHBOURS", neighbours)
            program = DeviationModel(columns, cells, problem.up, problem.down)
            move = program.cheapest(asked, price[cells])
            assert (move is None) == (least.status == 2), case
            if move is not None:
                steps = np.zeros(n)
                steps[move.cells] = move.by
                assert sign * in_sum @ steps == pytest.approx(amount)
                costs = float(np.abs(steps) @ price)
                assert costs == pytest.approx(least.fun, rel=1e-5, abs=1e-5)
                continue
            why = program.refusal()
            assert why is not None
            rows, multipliers = why
            y = np.zeros(columns.shape[0])
            y[rows] = multipliers
            left = sign * (in_sum - columns.T @ y)
            left[np.abs(left) < 1e-9] = 0.0
            ways = left > 0
            most = np.dot(left[ways], up[ways]) - np.dot(left[~ways], down[~ways])
            assert most < amount
            refused.append(program.farthest(asked)[0] < amount)
    assert all(refused)


@pytest.mark.parametrize("options", SHAPES, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_a_pattern_that_is_safe_from_all_attackers_is_taken_up_unchanged(
    options: dict[str, Any], seed: int
) -> None:
    """Whatever boxes and deviations for all attackers at once would ask for."""
    small = {**options, "shape": (5, 3, 2) if len(options["shape"]) == 3 else (7, 5)}
    plain = make("random", seed, sensitive=0.2, **small)
    rng = np.random.default_rng(seed)
    alone = (rng.random(len(plain)) < 0.3) & (plain.status == "u")
    table = plain.replace(frequency=np.where(alone, 1, 5))
    problem = Problem.of(table, attackers=lone_attackers(table))
    engine = GeneralEngine(problem)
    asked = [
        (seen_by(problem, who), cell, sign, problem.amount_against(who, cell, sign, by))
        for who in range(len(problem.attackers))
        for cell, sign, by in zip(
            problem.levels.cell.tolist(),
            problem.levels.sign.tolist(),
            problem.levels.amount.tolist(),
            strict=True,
        )
    ]
    every = problem.hideable | problem.primary
    # Less where everything hidden gives less: the engine finds out the same.
    levels = [
        (seen, cell, sign, min(by, reach(seen, every, cell, sign)))
        for seen, cell, sign, by in asked
    ]
    hidden = every
    for cell in rng.permutation(np.flatnonzero(every & ~problem.primary)).tolist():
        fewer = hidden.copy()
        fewer[cell] = False
        if all(reach(s, fewer, c, w) >= by * (1 - 1e-6) for s, c, w, by in levels):
            hidden = fewer
    state = engine.start(hidden)
    state.repair()
    np.testing.assert_array_equal(state.hidden, hidden)


def seen_by(problem: Problem, attacker: int) -> Problem:
    """The table as an attacker sees it, who knows some cells exactly."""
    up, down = problem.up.copy(), problem.down.copy()
    known = problem.attackers.known(attacker)
    up[known] = down[known] = 0.0
    return replace(problem, up=up, down=down)
