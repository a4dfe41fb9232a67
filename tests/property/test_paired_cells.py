"""Programs over classes of cells that move together, against plain ones over cells."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from evosdc.instances import make
from evosdc.suppress.engine.general.model import Demand, DeviationModel
from evosdc.suppress.engine.general.solver import PairedCells
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.equations import independent_equations, up_sets

SHAPES = [
    {"shape": (5, 4, 3), "trees": 1},
    {"shape": (6, 5), "trees": 2},
    {"shape": (4, 3, 3), "trees": 0, "bounds": "tau"},
    {"shape": (6, 4, 3), "linked": True},
]


def case(kind: int, seed: int) -> tuple[Problem, np.ndarray, np.random.Generator]:
    """A table, and some of its cells, so few that many can only move together."""
    problem = Problem.of(make("random", seed, sensitive=0.2, **SHAPES[kind]))
    rng = np.random.default_rng(seed)
    hidden = problem.primary | (rng.random(len(problem.cost)) < rng.uniform(0.3, 0.7))
    return problem, np.flatnonzero(hidden & problem.hideable), rng


def equations(problem: Problem) -> sparse.csc_array:
    table = problem.table
    return sparse.csc_array(independent_equations(table, up_sets(table)))


@pytest.mark.parametrize("kind", range(len(SHAPES)))
@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_deviation_costs_the_same(kind: int, seed: int) -> None:
    problem, cells, rng = case(kind, seed)
    columns = equations(problem)
    model = DeviationModel(columns, cells, problem.up, problem.down)
    part = columns[:, cells].toarray()
    price = problem.cost[cells]
    levels = problem.levels
    joined = PairedCells(sparse.csr_array(part))
    for cell, sign, amount in zip(
        levels.cell.tolist(), levels.sign.tolist(), levels.amount.tolist(), strict=True
    ):
        k = int(np.searchsorted(cells, cell))
        # Some cells must stay: those that clean-up tries to publish.
        stays = rng.random(len(cells)) < 0.1
        stays[k] = False
        up = np.where(stays, 0.0, problem.up[cells])
        down = np.where(stays, 0.0, problem.down[cells])
        bounds = [(0.0, float(b)) for b in (*up, *down)]
        own, other = (k, k + len(cells)) if sign > 0 else (k + len(cells), k)
        bounds[own], bounds[other] = (amount, amount), (0.0, 0.0)
        cost = np.concatenate([price, price])
        cost[own] = 0.0
        plain = linprog(
            cost, A_eq=np.hstack([part, -part]), b_eq=np.zeros(len(part)), bounds=bounds
        )
        asked = Demand(cell, sign, amount)
        move = model.cheapest(asked, np.where(stays, np.inf, price))
        if not plain.success:
            assert move is None
            continue
        assert move is not None
        d = np.zeros(len(problem.cost))
        d[move.cells] = move.by
        assert d[cell] == pytest.approx(sign * amount)
        assert np.abs(columns @ d).max() <= 1e-6 * np.abs(d).max()
        assert (d <= problem.up + 1e-6).all()
        assert (-d <= problem.down + 1e-6).all()
        assert not d[cells[stays]].any()
        # A cell that only moves with the one asked for is paid in every answer.
        mates = np.isin(np.arange(len(cells)), joined.mates(k))
        found = np.abs(d[cells])[~mates] @ price[~mates]
        both = plain.x[: len(cells)] + plain.x[len(cells) :]
        assert found == pytest.approx(both[~mates] @ price[~mates], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kind", range(len(SHAPES)))
@pytest.mark.parametrize("seed", range(6))
def test_a_refusal_says_why_by_equations_of_the_table(kind: int, seed: int) -> None:
    """The sum of equations leaves the cell less room than it needs."""
    problem, cells, _ = case(kind, seed)
    columns = equations(problem)
    model = DeviationModel(columns, cells, problem.up, problem.down)
    levels = problem.levels
    for cell, sign, amount in zip(
        levels.cell.tolist(), levels.sign.tolist(), levels.amount.tolist(), strict=True
    ):
        if model.cheapest(Demand(cell, sign, amount), problem.cost[cells]) is not None:
            continue
        why = model.refusal()
        assert why is not None
        y = np.zeros(columns.shape[0])
        y[why[0]] = why[1]
        z = np.asarray(columns.T @ y)
        assert abs(z[cell]) > 1e-9
        leans = -sign * z / z[cell]
        leans[cell] = 0.0
        leans[np.abs(leans) < 1e-9] = 0.0
        room = np.where(leans > 0, problem.up, problem.down)
        held = np.isin(np.arange(len(room)), cells) & (leans != 0.0)
        assert np.abs(leans[held]) @ room[held] < amount * (1 + 1e-9)


def test_equations_of_two_make_one_class_and_turn_signs() -> None:
    part = sparse.csr_array(
        np.array([[1.0, -1.0, 0, 0], [0, 1.0, 1.0, 0], [1.0, 1.0, 1.0, 1.0]])
    )
    chains = PairedCells(part)
    # a = b, c = -b: the last equation is left with a + d = 0, so all are one class.
    assert len(chains) == 1
    assert len(chains.rows) == 0
    moves = chains.moves(np.array([2.0]))
    assert np.allclose(part @ moves, 0.0)
    assert np.abs(moves).tolist() == [2.0] * 4
    ahead, back = chains.room(np.array([5.0, 4, 9, 9]), np.array([9.0, 9, 3, 9]))
    assert sorted([*ahead, *back]) == [3.0, 9.0]


def test_classes_that_cancel_leave_an_equation() -> None:
    part = sparse.csr_array(np.array([[1.0, -1.0, 0], [1.0, -1.0, 1.0]]))
    chains = PairedCells(part)
    # With a = b the second equation says that c stands still.
    assert chains.matrix.shape == (1, 2)
    assert chains.matrix.toarray()[0].tolist() in ([0.0, 1.0], [1.0, 0.0])
