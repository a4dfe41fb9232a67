"""Column generation against the program over all cells, with and without attackers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from network_twins import reach

from evosdc.instances import make
from evosdc.suppress.engine.general import model
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.model import Demand, DeviationModel, Tight
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.upsets import independent_equations, up_sets
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
