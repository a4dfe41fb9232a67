"""Bounds never exceed the optimum found by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from exact_enumeration import optimum

from builders import run_method
from evosdc.instances import make
from evosdc.suppress.bounds.cut_loop import cut_bound, equation_bound, node_bound
from evosdc.suppress.problem.problem import Problem
from evosdc.table import Table


@pytest.mark.parametrize("seed", range(6))
def test_bounds_stay_below_the_optimum(seed: int) -> None:
    table = make("random", seed, shape="3,3", sensitive=0.2, zeros=0.2)
    problem = Problem.of(table)
    best = optimum(problem)
    node, cut = node_bound(problem), cut_bound(problem)
    assert node.value <= cut.value + 1e-9
    assert cut.value <= best * (1 + 1e-9)
    assert cut.complete
    assert equation_bound(problem) <= best * (1 + 1e-9)


@pytest.mark.parametrize(
    ("shape", "options"),
    [("2,2,2", {"zeros": 0.0}), ("3,2", {"trees": 1}), ("2,2,2", {"linked": True})],
)
def test_bounds_of_general_tables_stay_below_the_optimum(
    shape: str, options: dict[str, object]
) -> None:
    for seed in range(2):
        table = make("random", seed, shape=shape, sensitive=0.3, **options)
        problem = Problem.of(table)
        # Enumeration is for the few: cells that do, and others up to nine.
        found = run_method("attacker", problem).hidden & ~problem.primary
        others = np.flatnonzero(problem.hideable & ~problem.primary & ~found)
        status = table.status.copy()
        status[others[max(0, 9 - int(found.sum())) :]] = "z"
        problem = Problem.of(table.replace(status=status))
        best = optimum(problem)
        node, cut = node_bound(problem), cut_bound(problem)
        assert node.value <= cut.value + 1e-9
        assert cut.value <= best * (1 + 1e-9)
        assert equation_bound(problem) <= best * (1 + 1e-9)


def test_the_cut_bound_is_often_tight() -> None:
    shares = []
    for seed in range(6):
        problem = Problem.of(make("random", seed, shape="3,3", sensitive=0.2))
        best = optimum(problem)
        shares.append(1.0 if best == 0 else cut_bound(problem).value / best)
    assert max(shares) > 0.999
    assert np.mean(shares) > 0.7


def test_no_levels_cost_nothing() -> None:
    problem = Problem.of(make("random", 0, shape="4,4", sensitive=0.0, margins=0.0))
    assert cut_bound(problem).value == 0.0


def test_a_stopped_bound_is_valid_and_says_so() -> None:
    problem = Problem.of(make("class2", 1, rows=12, columns=12))
    stopped = cut_bound(problem, lambda: True)
    full = cut_bound(problem)
    assert not stopped.complete
    assert 0 < stopped.value <= full.value


def test_the_bound_of_equations_by_hand() -> None:
    """One row of a sensitive 10, three cells and a total, all published but the first.

    The level asks for 4 up. Cells can go down by 2, 3 and 8, the total up without end:
    one unit of room is asked of any of them, so the bound is the cheapest way.
    """
    matrix = [[1, 1, 1, 1, -1]]
    value = [10, 2, 3, 8, 23]

    def bound(cost: list[float], status: str = "ussss") -> float:
        table = Table.of(
            value,
            matrix,
            status=list(status),
            weight=cost,
            upl=[4, 0, 0, 0, 0],
            lower=[0, 0, 0, 0, 0],
            upper=[100] * 5,
        )
        return equation_bound(Problem.of(table))

    # The cell of 8 or the total alone; the cells of 2 and 3 only in part.
    assert bound([0, 1000, 1000, 50, 70]) == pytest.approx(50)
    assert bound([0, 1000, 1000, 90, 70]) == pytest.approx(70)
    # Two of four units for 6: in fractions that is 12 for all four.
    assert bound([0, 6, 1000, 90, 70]) == pytest.approx(12)
    # A sensitive neighbour lends its room: 4 - 3 = 1, which the cell of 2 has alone.
    assert bound([0, 6, 0, 90, 70], "ususs") == pytest.approx(6)
    # With room enough among sensitive cells nothing has to be hidden.
    assert bound([0, 6, 1000, 0, 70], "ussus") == 0.0


@pytest.mark.slow
def test_a_cell_worth_many_others_is_bounded_too() -> None:
    """Its cuts need more cells than a cut is given to begin with."""
    table = make("ons", seed=1, table="D")
    bound = cut_bound(Problem.of(table)).value
    assert bound > equation_bound(Problem.of(table)) > 0
