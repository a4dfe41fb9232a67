"""Bridge, rounded and combined cuts: no bound above the cost of any safe pattern.

The optimum comes from a model that shares nothing with the cuts: one flow of deviations
per level, in cells that are hidden, as one integer programme for SciPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from builders import examples
from evosdc.errors import LevelError
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.engine.base import Cut, never
from evosdc.suppress.engine.network.cuts import NetworkCuts
from evosdc.suppress.engine.network.engine import NetworkEngine
from evosdc.suppress.methods.hybrid import HybridParameters, run_hybrid
from evosdc.suppress.methods.optimal import OptimalParameters, run_optimal
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search

tables = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "shape": st.sampled_from([(3, 3), (4, 3), (4, 4), (5, 4), (2, 2, 2)]),
        "values": st.sampled_from(["integers", "decimals", "ties"]),
        "sensitive": st.sampled_from([0.1, 0.2, 0.35]),
        "zeros": st.sampled_from([0.0, 0.2]),
        "bounds": st.sampled_from(["open", "tau"]),
    }
)


def optimum(problem: Problem) -> tuple[float, NDArray[np.bool_]]:
    """Solve the model with a flow per level."""
    levels, n = problem.levels, len(problem.cost)
    most = float(np.abs(problem.table.value).max()) + float(levels.amount.sum()) + 1
    up, down = np.minimum(problem.up, most), np.minimum(problem.down, most)
    count, matrix = len(levels), sparse.csr_array(problem.table.matrix)
    one = sparse.eye_array(n)
    rows: list[list[Any]] = []
    low: list[NDArray[np.float64]] = []
    high: list[NDArray[np.float64]] = []
    for k in range(count):
        for block, side in (
            ((None, matrix), (0.0, 0.0)),
            ((-sparse.diags_array(up), one), (-np.inf, 0.0)),
            ((sparse.diags_array(down), one), (0.0, np.inf)),
        ):
            line: list[Any] = [block[0]] + [None] * count
            line[k + 1] = block[1]
            rows.append(line)
            low.append(np.full(block[1].shape[0], side[0]))
            high.append(np.full(block[1].shape[0], side[1]))
    first, last = np.zeros(n), problem.hideable.astype(float)
    first[problem.primary] = 1.0
    flow_low, flow_high = np.tile(-down, count), np.tile(up, count)
    for k in range(count):
        at = k * n + int(levels.cell[k])
        if levels.sign[k] > 0:
            flow_low[at] = levels.amount[k]
        else:
            flow_high[at] = -levels.amount[k]
    answer = milp(
        np.concatenate([problem.cost, np.zeros(count * n)]),
        integrality=np.repeat([1, 0], [n, count * n]),
        bounds=Bounds(
            np.concatenate([first, flow_low]), np.concatenate([last, flow_high])
        ),
        constraints=LinearConstraint(
            sparse.block_array(rows, format="csc"),
            np.concatenate(low),
            np.concatenate(high),
        ),
        # The presolve of HiGHS cuts off optima of such models now and then.
        options={"mip_rel_gap": 0.0, "presolve": False},
    )
    assert answer.success, answer.message
    return float(answer.fun), answer.x[:n] > 0.5


def problem_of(options: dict[str, Any]) -> Problem | None:
    """Make a table; None where nothing is to be done or no pattern can do it."""
    try:
        problem = Problem.of(make("random", **options))
        if not len(problem.levels):
            return None
        run_optimal(problem, OptimalParameters(), Search(stop=EvaluationLimit(1)))
    except LevelError:
        return None
    return problem


@examples(40)
@given(tables)
def test_bounds_and_proofs_agree_with_a_model_of_flows(options: dict[str, Any]) -> None:
    problem = problem_of(options)
    if problem is None:
        return
    best, _ = optimum(problem)
    loop = CutLoop(problem)
    loop.run_nodes()
    loop.run_cuts(lambda: False)
    assert loop.value <= best * (1 + 1e-6) + 1e-9
    search = Search(stop=EvaluationLimit(500))
    pattern = run_optimal(problem, OptimalParameters(), search)
    assert search.bound is not None
    assert search.bound <= best * (1 + 1e-6) + 1e-9
    assert pattern.cost >= best * (1 - 1e-6) - 1e-9


def bridge_cuts(problem: Problem, x: NDArray[np.float64]) -> Iterator[Cut]:
    """Bridge cuts of every piece of a network."""
    return NetworkCuts(problem).bridges(x, never)


@examples(40)
@given(tables)
def test_a_minimal_pattern_meets_every_bridge_cut(options: dict[str, Any]) -> None:
    """Asked with any shares of cells, the cuts hold for patterns without idle cells."""
    problem = problem_of(options)
    if problem is None or problem.network is None:
        return
    state = NetworkEngine(problem).start()
    state.cover()
    state.clean_up()
    hidden = state.hidden.astype(np.float64)
    rng = np.random.default_rng(options["seed"])
    for _ in range(5):
        x = np.where(problem.hideable, rng.random(len(hidden)), 0.0)
        x[rng.random(len(hidden)) < 0.5] = 0.0
        for cut in bridge_cuts(problem, x):
            assert float(cut.coefficients @ hidden[cut.cells]) >= 0.0
            assert float(cut.coefficients @ x[cut.cells]) < 0.0
            assert not problem.primary[cut.cells].any()


def test_a_bridge_among_hidden_cells_is_cut_off() -> None:
    """A lone hidden cell is cut off from both of its ends; a rectangle is not."""
    problem = Problem.of(make("random", 1, shape=(4, 4), sensitive=0.0, margins=0.0))
    assert problem.network is not None
    inner = np.flatnonzero(problem.table.value > 0)[:1]
    x = np.zeros(len(problem.cost))
    x[inner] = 1.0
    found = list(bridge_cuts(problem, x))
    assert found
    assert all(cut.coefficients[cut.cells == inner[0]] == -1.0 for cut in found)
    x[:] = 1.0
    assert not list(bridge_cuts(problem, x))


@pytest.mark.parametrize("seed", [1, 3])
def test_the_hybrid_proves_tables_of_class_one(seed: int) -> None:
    problem = Problem.of(make("class1", seed, rows=25, columns=25))
    search = Search(stop=EvaluationLimit(2000))
    pattern = run_hybrid(problem, HybridParameters(), search)
    assert search.bound == pytest.approx(pattern.cost)
    again = Search(stop=EvaluationLimit(2000))
    assert (
        run_hybrid(problem, HybridParameters(), again).hidden == pattern.hidden
    ).all()
    assert again.evaluations == search.evaluations


def test_rounded_cuts_raise_the_bound_where_room_is_scarce() -> None:
    """Cuts of rooms smaller than levels leave a gap that rounding closes by half."""
    problem = Problem.of(make("heurgene", 1, dataset=3))
    loop = CutLoop(problem)
    loop.run_nodes()
    before = loop.value
    loop.run_rows(lambda: False)
    assert loop.value > 1.1 * before
