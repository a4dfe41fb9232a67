"""The relaxed check against a naive twin, and the methods that steer by it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from builders import examples, run_method
from evosdc.attack import judge
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.engine.base import cover_and_finish
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.papers.relaxed_check import (
    Frame,
    RelaxedArrays,
    forget,
    hide,
    lacking,
    make_frame,
    make_live,
    publish,
    recount_all,
    start_from,
    undo,
)
from evosdc.suppress.papers.relaxed_moves import (
    ONE,
    TOGETHER,
    construct,
    descend,
    make_choice,
    move,
    rows_of,
)
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search
from evosdc.table import Table

COMMON = examples(20)


def shortfalls(frame, live) -> int:
    """How many equations fail the relaxed check."""
    rows = range(len(frame.row_start) - 1)
    return sum(bool(lacking(frame, live, row)) for row in rows)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    sizes = draw(st.integers(1, 3))
    table = make(
        "random",
        seed=draw(st.integers(0, 10**6)),
        shape=tuple(draw(st.integers(2, 5)) for _ in range(sizes)),
        trees=draw(st.integers(0, sizes)),
        values=draw(st.sampled_from(["integers", "decimals", "ties", "negative"])),
        zeros=draw(st.sampled_from([0.0, 0.3])),
        sensitive=draw(st.sampled_from([0.0, 0.15, 0.4, 1.0])),
        level=draw(st.sampled_from([0.05, 0.2])),
        width=draw(st.sampled_from([0.0, 0.4])),
        linked=sizes == 3 and draw(st.booleans()),
    )
    return Problem.of(table)


def naive_short(
    table: Table, frame: Frame, hidden: np.ndarray, claim: np.ndarray
) -> np.ndarray:
    """Which equations fail, straight from the definition and without sums kept."""
    dense = table.matrix.toarray()
    short = np.zeros(len(dense), dtype=bool)
    for row, factors in enumerate(dense):
        inside = [c for c in np.flatnonzero(factors).tolist() if hidden[c]]
        if len(inside) == 1 and not frame.primary[factors != 0].any():
            short[row] = True
        for cell in inside:
            for k in range(2):
                needs = abs(factors[cell]) * claim[cell, k]
                lends = 0.0
                for other in inside:
                    if other != cell:
                        same = factors[cell] * factors[other] > 0
                        way = 1 - k if same else k
                        room = claim if frame.claims else frame.room
                        lends += abs(factors[other]) * room[other, way]
                if lends < needs * (1 - 1e-9) - 1e-9 * frame.room.max():
                    short[row] = True
    return short


def kernel_short(frame: Frame, live: RelaxedArrays) -> np.ndarray:
    return np.array([lacking(frame, live, row) for row in range(len(live.known))])


def assert_same(problem: Problem, frame: Frame, live: RelaxedArrays) -> None:
    """Sums kept must be those of a fresh state, and agree with the definition."""
    fresh = make_live(frame)
    start_from(frame, fresh, live.hidden)
    fresh.claim[:] = live.claim
    recount_all(frame, fresh)
    for name in ("have", "ask", "spare"):
        np.testing.assert_allclose(
            getattr(live, name),
            getattr(fresh, name),
            rtol=1e-9,
            atol=1e-9 * max(1.0, frame.room.max(initial=0.0)),
        )
    np.testing.assert_array_equal(live.known, fresh.known)
    secondaries = np.flatnonzero(live.hidden & ~frame.primary)
    assert np.array_equal(np.sort(live.extra[: live.tally[2]]), secondaries)
    assert live.total[0] == pytest.approx(float(frame.cost[secondaries].sum()))
    np.testing.assert_array_equal(
        kernel_short(frame, fresh),
        naive_short(problem.table, frame, live.hidden, live.claim),
    )


@pytest.mark.parametrize("claims", [False, True])
@COMMON
@given(problem=problems(), seed=st.integers(0, 1000))
def test_sums_follow_every_change(claims: bool, problem: Problem, seed: int) -> None:
    frame = make_frame(problem, claims)
    live = make_live(frame)
    rng = np.random.default_rng(seed)
    free = np.flatnonzero(frame.free)
    assert_same(problem, frame, live)
    assume(len(free))
    for _ in range(12):
        cell = int(rng.choice(free))
        if live.hidden[cell] and rng.random() < 0.5:
            publish(frame, live, cell)
        else:
            k = int(rng.integers(2))
            amount = float(frame.room[cell, k] * rng.random()) if claims else 0.0
            hide(frame, live, cell, k, amount)
    assert_same(problem, frame, live)
    forget(live)
    before = live.hidden.copy(), live.claim.copy()
    hide(frame, live, int(rng.choice(free)), 0, 0.0)
    for cell in np.sort(live.extra[: live.tally[2]])[:3].tolist():
        publish(frame, live, cell)
    undo(frame, live)
    np.testing.assert_array_equal(live.hidden, before[0])
    np.testing.assert_array_equal(live.claim, before[1])
    assert_same(problem, frame, live)


@pytest.mark.parametrize("claims", [False, True])
@pytest.mark.parametrize("rule", range(4))
@COMMON
@given(problem=problems(), by_level=st.booleans())
def test_constructions_pass_the_relaxed_check(
    claims: bool, rule: int, problem: Problem, by_level: bool
) -> None:
    frame = make_frame(problem, claims)
    live = make_live(frame)
    choice = make_choice(frame, rule, 3, np.random.default_rng(rule))
    order = rows_of(frame, np.flatnonzero(problem.primary))
    assert np.array_equal(np.sort(order), np.arange(problem.table.matrix.shape[0]))
    failed = construct(frame, live, choice, order, by_level)
    assert shortfalls(frame, live) == failed
    assert not (live.hidden & ~problem.hideable).any()
    assert_same(problem, frame, live)


@pytest.mark.parametrize("claims", [False, True])
@COMMON
@given(problem=problems())
def test_moves_stand_or_leave_no_trace(claims: bool, problem: Problem) -> None:
    frame = make_frame(problem, claims)
    live = make_live(frame)
    choice = make_choice(frame, 0, 2, np.random.default_rng(3))
    order = rows_of(frame, np.flatnonzero(problem.primary))
    assume(not construct(frame, live, choice, order, False))
    for cell in live.extra[: live.tally[2]].tolist():
        before = live.hidden.copy(), float(live.total[0])
        stood = move(frame, live, choice, ONE, cell, 1, False, np.inf)
        assert shortfalls(frame, live) == 0
        assert stood != bool(live.hidden[cell])
        if not stood:
            np.testing.assert_array_equal(live.hidden, before[0])
    before = float(live.total[0])
    move(frame, live, choice, TOGETHER, -1, 2, True, before)
    cells = np.sort(live.extra[: live.tally[2]])
    descend(frame, live, choice, cells, True)
    assert live.total[0] <= before * (1 + 1e-12)
    assert shortfalls(frame, live) == 0
    assert_same(problem, frame, live)


@COMMON
@given(problem=problems())
def test_every_safe_pattern_passes_the_reading_by_slack(problem: Problem) -> None:
    """The relaxed check is necessary: the attacker's pattern has the slack."""
    state = GeneralEngine(problem).start()
    pattern = cover_and_finish(state, Search(), "test")
    frame = make_frame(problem, claims=False)
    live = make_live(frame)
    start_from(frame, live, pattern.hidden)
    needed = live.ask > 0
    assert (live.have[needed] >= live.ask[needed] * (1 - 1e-6)).all()


METHODS = {
    "greedy-unit": {},
    "greedy-few": {"check": "claims"},
    "greedy-ahead": {"order": "given"},
    "descent": {"check": "claims"},
    "grasp": {"cycles": 3, "hierarchical": "yes"},
    "ants": {"ants": 2, "cycles": 2, "model": "indirect"},
    "hyper": {"rounds": 6},
}


@pytest.mark.parametrize("name", METHODS)
@examples(8)
@given(problem=problems())
def test_always_safe_and_repeatable(name: str, problem: Problem) -> None:
    first, second = (
        run_method(name, problem, Search(4, EvaluationLimit(40)), **METHODS[name])
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.hidden, second.hidden)
    verdict, _ = judge(problem.table.with_pattern(first.hidden))
    assert verdict.safe, [e.label for e in verdict.exposed]
