"""Every network method: safe by linear programming or a loud failure; repeatable."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from network_twins import KINDS, is_safe, random_problem, table_with_totals

from builders import examples, run_method
from evosdc.errors import LevelError, MethodError, ProtectionFailed
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.papers.once_through import cheapest_rectangle
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search

METHODS = ("sp", "castro", "kelly", "hypercube-2d", "pbp")


@examples(60)
@given(
    st.sampled_from(METHODS),
    st.builds(random_problem, st.integers(0, 10**6), st.sampled_from(KINDS)),
    st.booleans(),
)
def test_methods_protect_or_say_so(name, problem, clean_up):
    try:
        pattern = run_method(name, problem, clean_up=clean_up)
    except LevelError:
        assert not is_safe(problem, problem.hideable)
        return
    except ProtectionFailed:
        assert name == "hypercube-2d"
        return
    assert is_safe(problem, pattern.hidden)
    assert not (pattern.hidden & ~problem.hideable).any()
    assert pattern.cost == pytest.approx(problem.cost[pattern.hidden].sum())


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_pattern_and_offers_the_answer(name):
    problem = random_problem(11, "margins")
    options = {} if name == "pbp" else {"order": "random"}
    found = []
    for _ in range(2):
        search = Search(seed=4)
        pattern = run_method(name, problem, search, **options)
        assert search.best is not None
        assert search.best.cost == pattern.cost
        assert search.evaluations > 0
        found.append(pattern.hidden)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", METHODS)
def test_clean_up_never_costs_more(name):
    for seed in range(5):
        problem = random_problem(seed, "real")
        dear = run_method(name, problem, clean_up=False)
        assert run_method(name, problem).cost <= dear.cost + 1e-9


def thin_table() -> Problem:
    """A sensitive cell of 50 between cells of 30: no one circuit carries its level."""
    table = table_with_totals(
        np.array([[50.0, 30, 30, 900], [30.0, 30, 30, 0], [30.0, 30, 30, 0]])
    )
    cell = np.flatnonzero((table.codes == [1, 1]).all(axis=1))[0]
    status, level = table.status.copy(), np.zeros(len(table))
    status[np.any(table.codes == 0, axis=1)] = "z"
    status[cell] = "u"
    level[cell] = 40.0
    return Problem.of(table.replace(status=status, upl=level, lpl=level))


def test_a_rectangle_that_is_too_small_fails_loudly():
    with pytest.raises(ProtectionFailed, match="row=r0, column=c0"):
        run_method("hypercube-2d", thin_table())


def test_paths_add_up_where_one_is_too_small():
    problem = thin_table()
    for name in ("sp", "castro", "kelly", "pbp"):
        pattern = run_method(name, problem)
        assert is_safe(problem, pattern.hidden)
        # The sensitive cell, two more in its row and column each, and two across.
        assert pattern.hidden.sum() >= 7


def test_castro_without_recovery_fails_where_paths_must_share_a_cell():
    recovered = 0
    for seed in range(40):
        problem = random_problem(seed, "thin")
        if not is_safe(problem, problem.hideable):
            continue
        try:
            pattern = run_method("castro", problem, recovery="no")
        except ProtectionFailed:
            pattern = run_method("castro", problem)
            recovered += 1
        assert is_safe(problem, pattern.hidden)
    assert recovered > 0


@pytest.mark.parametrize("seed", range(20))
def test_cheapest_rectangle_against_enumeration(seed):
    problem = random_problem(seed, "bounded")
    network = TableNetwork(problem)
    state = PatternState(network)
    state.hide(np.random.default_rng(seed).choice(len(problem.table), 5))
    arcs = network.arcs
    codes = problem.table.codes
    at = {tuple(row): i for i, row in enumerate(codes.tolist())}
    rows, cols = codes.max(axis=0) + 1
    price = np.where(state.hidden, 0.0, problem.cost)
    for cell in network.primaries:
        rise, fall = 3, 2
        i, j = codes[cell]
        rectangles = []
        for r in range(rows):
            for c in range(cols):
                if r == i or c == j:
                    continue
                corners = [at[i, c], at[r, c], at[r, j]]
                if not problem.hideable[corners].all():
                    continue
                # Follow the deviation round: each equation balances two cells.
                shift = np.zeros(len(price))
                shift[cell] = 1.0
                for one, other, line in (
                    (cell, corners[0], problem.table.matrix),
                    (corners[0], corners[1], problem.table.matrix),
                    (corners[1], corners[2], problem.table.matrix),
                ):
                    dense = line[:, [one, other]].toarray()
                    both = dense[(dense != 0).all(axis=1)][0]
                    shift[other] = -shift[one] * both[0] / both[1]
                fits = all(
                    (arcs.up[k] >= rise and arcs.down[k] >= fall)
                    if shift[k] > 0
                    else (arcs.down[k] >= rise and arcs.up[k] >= fall)
                    for k in corners
                )
                if fits:
                    rectangles.append(corners)
        for adding in (False, True):
            costs = [
                price[corners].sum()
                for corners in rectangles
                if not (adding and state.hidden[corners].all())
            ]
            best = min(costs, default=np.inf)
            cost, found = cheapest_rectangle(
                network.graph,
                arcs.up,
                arcs.down,
                problem.cost,
                state.hidden,
                cell,
                rise,
                fall,
                adding,
            )
            assert cost == best
            if np.isfinite(cost):
                assert price[found].sum() == best
                assert not (adding and state.hidden[found].all())


def test_unknown_orders_are_refused():
    with pytest.raises(MethodError, match="'sideways'"):
        run_method("sp", random_problem(0), order="sideways")


def test_levels_beyond_any_pattern_are_named():
    table = table_with_totals(np.array([[5.0, 3], [0, 4]]))
    cell = np.flatnonzero((table.codes == [1, 1]).all(axis=1))[0]
    status, level = table.status.copy(), np.zeros(len(table))
    status[cell], level[cell] = "u", 1.0
    status[np.any(table.codes == 0, axis=1)] = "z"
    problem = Problem.of(table.replace(status=status, upl=level))
    for name in ("sp", "castro", "kelly", "pbp"):
        with pytest.raises(LevelError, match="row=r0, column=c0"):
            run_method(name, problem)
