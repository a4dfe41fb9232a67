"""The engine: safe by linear programming, minimal, incremental, repeatable."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from network_twins import KINDS, is_safe, random_problem

from builders import examples
from evosdc.errors import LevelError
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.problem.problem import Problem

problems = st.builds(random_problem, st.integers(0, 10**6), st.sampled_from(KINDS))
FEW = examples(40)


def protected(problem: Problem) -> PatternState | None:
    """A state that covers everything, or None where nothing can."""
    try:
        state = PatternState(TableNetwork(problem))
        state.cover()
    except LevelError:
        return None
    return state


def check_witnesses(state: PatternState) -> None:
    """Every witness is a circulation of hidden cells that moves its cell enough."""
    arcs, demands = state.network.arcs, state.network.demands
    for level in range(len(state.network)):
        cells, flow = state.witness(level)
        assert state.hidden[cells].all()
        assert demands.cell[level] not in cells
        assert len(np.unique(cells)) == len(cells)
        assert (flow <= arcs.up[cells]).all()
        assert (flow >= -arcs.down[cells]).all()
        moved = demands.sign[level] * demands.amount[level]
        net = np.bincount(arcs.head[cells], flow, state.network.nodes)
        net -= np.bincount(arcs.tail[cells], flow, state.network.nodes)
        net[arcs.head[demands.cell[level]]] += moved
        net[arcs.tail[demands.cell[level]]] -= moved
        assert not net.any()


@FEW
@given(problems)
def test_patterns_are_safe_or_impossible(problem):
    state = protected(problem)
    if state is None:
        assert not is_safe(problem, problem.hideable)
        return
    check_witnesses(state)
    assert is_safe(problem, state.hidden)
    state.clean_up()
    check_witnesses(state)
    assert is_safe(problem, state.hidden)
    assert not (state.hidden & ~problem.hideable).any()


@FEW
@given(
    st.builds(
        random_problem,
        st.integers(0, 10**6),
        st.sampled_from(["whole", "decimal", "bounded", "margins"]),
    )
)
def test_clean_up_leaves_nothing_to_publish(problem):
    state = protected(problem)
    assume(state is not None)
    state.clean_up()
    for cell in state.secondaries:
        fewer = state.hidden.copy()
        fewer[cell] = False
        assert not is_safe(problem, fewer)


@FEW
@given(problems, st.integers(0, 10**6))
def test_publishing_finds_exactly_the_levels_it_breaks(problem, seed):
    state = protected(problem)
    assume(state is not None and len(state.secondaries))
    rng = np.random.default_rng(seed)
    gone = rng.choice(state.secondaries, size=min(3, len(state.secondaries)))
    twin = PatternState(state.network)
    twin.hide(np.setdiff1d(state.secondaries, gone))
    broken = state.publish(gone)
    check_witnesses(_only_covered(state))
    # What the twin has to hide something for is what was broken.
    free = []
    for level in range(len(twin.network)):
        trial = twin.copy()
        trial.cover([level])
        if not np.array_equal(trial.hidden, twin.hidden):
            free.append(level)
    assert broken.tolist() == free
    # Repairing depends on the hidden cells only, not on the witnesses kept.
    state.cover()
    twin.cover()
    np.testing.assert_array_equal(state.hidden, twin.hidden)


def _only_covered(state: PatternState) -> PatternState:
    """A copy with the levels that lost their cover covered again."""
    copy = state.copy()
    copy.cover()
    return copy


@FEW
@given(problems, st.integers(0, 10**6))
def test_become_is_the_same_as_starting_there(problem, seed):
    state = protected(problem)
    assume(state is not None)
    rng = np.random.default_rng(seed)
    wanted = problem.hideable & (rng.random(len(problem.table)) < 0.4)
    state.become(wanted)
    np.testing.assert_array_equal(state.hidden, wanted | problem.primary)
    fresh = PatternState(state.network)
    fresh.hide(np.flatnonzero(wanted))
    for one in (state, fresh):
        one.cover()
        one.clean_up()
    np.testing.assert_array_equal(state.hidden, fresh.hidden)
    check_witnesses(state)


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_pool_changes_nothing(kind):
    for seed in range(4):
        problem = random_problem(seed, kind)
        state = protected(problem)
        if state is None:
            continue
        tight = PatternState(state.network)
        tight.live = tight.live._replace(
            pool_cell=tight.live.pool_cell[:1], pool_flow=tight.live.pool_flow[:1]
        )
        tight.cover()
        np.testing.assert_array_equal(tight.hidden, state.hidden)
        tight.clean_up()
        state.clean_up()
        np.testing.assert_array_equal(tight.hidden, state.hidden)


def test_copies_are_independent():
    problem = random_problem(3, "margins")
    state = protected(problem)
    assert state is not None
    before = state.hidden.copy()
    copy = state.copy()
    copy.publish(copy.secondaries)
    np.testing.assert_array_equal(state.hidden, before)
    assert len(copy.secondaries) == 0
    assert copy.cost == 0.0


def test_other_costs_give_other_paths():
    problem = random_problem(5, "whole")
    network = TableNetwork(problem)
    free = network.with_cost(np.zeros(len(problem.table)))
    one, other = PatternState(network), PatternState(free)
    one.cover()
    other.cover()
    assert is_safe(problem, other.hidden)
    assert not np.array_equal(one.hidden, other.hidden)
