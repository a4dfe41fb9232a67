"""Random tables against the constructive methods for any table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from builders import examples, run_method
from evosdc.attack import judge
from evosdc.instances import make
from evosdc.suppress.engine.base import cover_and_finish
from evosdc.suppress.engine.general import model, programs
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.programs import Programs
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.equations import Equations
from evosdc.suppress.structure.unpick import movable, nearest
from evosdc.table import Table

COMMON = examples(25)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    sizes = draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(2, 5)) for _ in range(sizes))
    values = ["integers", "decimals", "ties", "tiny", "huge", "negative"]
    return make(
        "random",
        seed=draw(st.integers(0, 10**6)),
        shape=shape,
        trees=draw(st.integers(0, sizes)),
        values=draw(st.sampled_from(values)),
        zeros=draw(st.sampled_from([0.0, 0.1, 0.5])),
        sensitive=draw(st.sampled_from([0.1, 0.3])),
        level=draw(st.sampled_from([0.05, 0.2])),
        width=draw(st.sampled_from([0.0, 0.5])),
        linked=sizes == 3 and draw(st.booleans()),
    )


@pytest.mark.parametrize("name", ["attacker", "greedy", "hypercube", "marginal"])
@COMMON
@given(table=tables())
def test_always_safe(name: str, table: Table) -> None:
    pattern = run_method(name, table)
    verdict, _ = judge(table.with_pattern(pattern.hidden))
    assert verdict.safe, [e.label for e in verdict.exposed]


@pytest.mark.parametrize("all_equations", [False, True])
@COMMON
@given(table=tables())
def test_neighbourhoods_are_safe_too(all_equations: bool, table: Table) -> None:
    """Small neighbourhoods in a small table, growing up to the whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "_MOST_LEVELS_TIMES_CELLS", 0)
        patch.setattr(model, "NEIGHBOURS", 3)
        if all_equations:
            patch.setattr(programs, "up_sets", lambda _: None)
        state = GeneralEngine(Problem.of(table)).start()
        pattern = cover_and_finish(state, Search(), "test")
    verdict, _ = judge(table.with_pattern(pattern.hidden))
    assert verdict.safe, [e.label for e in verdict.exposed]


@COMMON
@given(table=tables())
def test_nothing_redundant_is_left(table: Table) -> None:
    """Taking any one secondary out of a cleaned pattern exposes a demand."""
    problem = Problem.of(table)
    state = GeneralEngine(problem).start()
    pattern = cover_and_finish(state, Search(), "test")
    demands = state.table.demands
    secondaries = np.flatnonzero(pattern.hidden & ~problem.primary)
    assume(len(secondaries))
    for cell in secondaries.tolist():
        fewer = pattern.hidden.copy()
        fewer[cell] = False
        assert not all(
            plain_reach(problem, fewer, int(k), int(s), float(a))
            for k, s, a in zip(demands.cell, demands.sign, demands.amount, strict=True)
        )


@COMMON
@given(table=tables(), data=st.data())
def test_cheapest_deviation_is_the_plain_programs(
    table: Table, data: st.DataObject
) -> None:
    problem = Problem.of(table)
    assume(len(problem.levels))
    row = data.draw(st.integers(0, len(problem.levels) - 1))
    cell, sign = int(problem.levels.cell[row]), int(problem.levels.sign[row])
    amount = float(problem.levels.amount[row])
    price = problem.cost
    move = Programs(problem).cheapest(model.Demand(cell, sign, amount), price)
    assert move is not None
    d = np.zeros(len(table))
    d[move.cells] = move.by / amount
    assert np.abs(table.matrix @ d).max(initial=0) < 1e-6
    assert sign * d[cell] == pytest.approx(1.0)
    assert (d * amount <= problem.up + 1e-6 * amount).all()
    assert (-d * amount <= problem.down + 1e-6 * amount).all()
    plain = plain_cost(problem, problem.hideable, cell, sign, amount, price)
    assert plain is not None
    # The plain program is the less exact of the two where magnitudes differ most.
    assert price @ np.abs(d) <= plain * (1 + 1e-6) + 1e-9
    paid = price[price > 0]
    if paid.max(initial=1.0) <= 1e9 * paid.min(initial=1.0):
        assert price @ np.abs(d) >= plain * (1 - 1e-3) - 1e-9


@COMMON
@given(table=tables(), seed=st.integers(0, 1000))
def test_kernels_agree_with_naive_twins(table: Table, seed: int) -> None:
    rng = np.random.default_rng(seed)
    hidden = rng.random(len(table)) < 0.4
    equations = Equations.of(table.matrix, table.columns)
    assert np.array_equal(movable(hidden, equations), naive_movable(table, hidden))
    price = rng.random(len(table)) + 0.1
    near = nearest(0, 6, price, equations)
    assert near.tolist() == naive_nearest(table, 0, 6, price)


def plain_cost(
    problem: Problem,
    hidden: np.ndarray,
    cell: int,
    sign: int,
    amount: float,
    price: np.ndarray,
) -> float | None:
    """One linear program over all hidden cells, in units of the amount."""
    cells = np.flatnonzero(hidden)
    part = problem.table.matrix.toarray()[:, cells]
    up, down = problem.up[cells] / amount, problem.down[cells] / amount
    bounds = [(0.0, min(u, 1e9)) for u in up] + [(0.0, min(v, 1e9)) for v in down]
    at = int(np.searchsorted(cells, cell))
    n = len(cells)
    chosen, other = (at, at + n) if sign > 0 else (at + n, at)
    bounds[chosen], bounds[other] = (1.0, 1.0), (0.0, 0.0)
    cost = np.concatenate([price[cells], price[cells]])
    scale = max(1e-300, cost.max())
    answer = linprog(
        cost / scale,
        A_eq=np.hstack([part, -part]),
        b_eq=np.zeros(len(part)),
        bounds=bounds,
        method="highs",
    )
    return float(answer.fun) * scale if answer.status == 0 else None


def plain_reach(
    problem: Problem, hidden: np.ndarray, cell: int, sign: int, amount: float
) -> bool:
    nothing = np.zeros(len(hidden))
    return plain_cost(problem, hidden, cell, sign, amount, nothing) is not None


def naive_movable(table: Table, hidden: np.ndarray) -> np.ndarray:
    left = hidden.copy()
    rows = table.matrix.toarray() != 0
    while True:
        alone = rows[(rows & left).sum(axis=1) == 1] & left
        if not alone.any():
            return left
        left &= ~alone.any(axis=0)


def naive_nearest(table: Table, start: int, most: int, price: np.ndarray) -> list[int]:
    rows = table.matrix.toarray() != 0
    distance = {start: 0.0}
    done: list[int] = []
    while len(done) < most:
        open_cells = [c for c in distance if c not in done]
        if not open_cells:
            break
        cell = min(open_cells, key=lambda c: (distance[c], c))
        done.append(cell)
        for other in np.flatnonzero(rows[rows[:, cell]].any(axis=0)).tolist():
            far = distance[cell] + price[other]
            distance[other] = min(far, distance.get(other, np.inf))
    return done
