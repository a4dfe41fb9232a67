"""Details of the methods that steer by the relaxed check."""

from __future__ import annotations

import numpy as np
import pytest

from builders import run_method
from evosdc.attack import judge
from evosdc.errors import MethodError
from evosdc.evolution.stopping import EvaluationLimit, TimeLimit
from evosdc.instances import make
from evosdc.suppress.papers.ants import AntsParameters, DirectColony, IndirectColony
from evosdc.suppress.papers.hyper import (
    LOW_LEVEL,
    AdaptiveChances,
    ChoiceFunction,
    RandomChoice,
)
from evosdc.suppress.papers.relaxed_check import (
    lacking,
    make_frame,
    make_live,
    start_from,
)
from evosdc.suppress.papers.relaxed_moves import (
    AHEAD,
    CHEAPEST,
    LARGEST,
    PER_UNIT,
    construct,
    make_choice,
    rows_of,
)
from evosdc.suppress.papers.relaxed_search import RelaxedSearch, Repair, equation_depth
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search
from evosdc.table import Table


def shortfalls(frame, live) -> int:
    """How many equations fail the relaxed check."""
    rows = range(len(frame.row_start) - 1)
    return sum(bool(lacking(frame, live, row)) for row in rows)


def line(values: list[float], weights: list[float], room: list[float]) -> Problem:
    """One equation: the first cell is sensitive with a level of 4, the last a total."""
    parts = np.array([8.0, *values])
    value = np.append(parts, parts.sum())
    width = np.array([8.0, *room, 100.0])
    status = ["u", *("s" for _ in values), "z"]
    level = np.zeros(len(value))
    level[0] = 4.0
    matrix = np.ones((1, len(value)))
    matrix[0, -1] = -1.0
    table = Table.of(
        value,
        matrix,
        weight=[0.0, *weights, 1.0],
        status=status,
        lower=value - width,
        upper=value + width,
        lpl=level,
        upl=level,
    )
    return Problem.of(table)


def chosen(problem: Problem, rule: int) -> list[int]:
    frame = make_frame(problem, claims=True)
    live = make_live(frame)
    order = rows_of(frame, np.flatnonzero(problem.primary))
    construct(frame, live, make_choice(frame, rule), order, False)
    return np.sort(live.extra[: live.tally[2]]).tolist()


def test_the_four_rules_take_different_cells() -> None:
    # Cheap but with room for 1 only; good value; most room.
    problem = line([20, 20, 20], weights=[1, 3, 9], room=[1.0, 4.0, 9.0])
    assert chosen(problem, CHEAPEST) == [1, 2]
    assert chosen(problem, PER_UNIT) == [2]
    problem = line([20, 20, 20], weights=[1, 3, 9], room=[1.0, 3.0, 9.0])
    assert chosen(problem, LARGEST) == [3]


def test_looking_ahead_avoids_what_it_would_open() -> None:
    """The cheaper cell needs an expensive partner, the above one a cheap one."""
    # Rows: p + a + b = t; a + c = u; b + d = v, with the totals fixed.
    matrix = np.zeros((3, 8))
    matrix[0, [0, 1, 2]], matrix[0, 5] = 1, -1
    matrix[1, [1, 3]], matrix[1, 6] = 1, -1
    matrix[2, [2, 4]], matrix[2, 7] = 1, -1
    value = np.array([8.0, 9, 9, 9, 9, 26, 18, 18])
    level = np.zeros(8)
    level[0] = 3.0
    problem = Problem.of(
        Table.of(
            value,
            matrix,
            weight=[0, 1, 2, 90, 1, 1, 1, 1],
            status=list("ussss") + ["z"] * 3,
            lpl=level,
            upl=level,
        )
    )
    assert chosen(problem, CHEAPEST) == [1, 3]
    assert chosen(problem, AHEAD) == [2, 4]


def test_claims_see_what_slack_does_not() -> None:
    """A hidden cell that cannot move lends room by its bounds, but cannot claim any."""
    # p + a = t, and a alone with a fixed cell in a second equation.
    matrix = np.array([[1.0, 1, -1, 0, 0], [0, 1, 0, 1, -1]])
    problem = Problem.of(
        Table.of(
            [8.0, 9, 17, 5, 14],
            matrix,
            status=list("usszz"),
            lpl=[2.0, 0, 0, 0, 0],
            upl=[2.0, 0, 0, 0, 0],
        )
    )
    hidden = np.array([True, True, False, False, False])
    short = {}
    for claims in (False, True):
        frame = make_frame(problem, claims)
        live = make_live(frame)
        start_from(frame, live, hidden)
        short[claims] = [row for row in range(2) if (live.have < live.ask)[row].any()]
    assert short[False] == []
    assert short[True] == [0]
    # Only company helps the second equation, and there is none to be had.
    assert shortfalls(frame, live) == 2
    assert not frame.free[1]
    assert frame.free[2] == problem.hideable[2]


def test_depth_counts_totals_above() -> None:
    table = make("random", seed=1, shape=(4, 3))
    depth = equation_depth(table.matrix)
    heads = [
        int(row.indices[row.data < 0][0])
        for row in (table.matrix[[e]] for e in range(table.matrix.shape[0]))
    ]
    totals = (table.codes[heads] == 0).sum(axis=1)
    # The grand total heads the equations at the top, margins those below.
    assert set(depth[totals == 2].tolist()) == {0}
    assert set(depth[totals == 1].tolist()) == {1}


@pytest.fixture(scope="module")
def three() -> Problem:
    return Problem.of(make("random", seed=3, shape=(6, 5, 4), sensitive=0.1))


def test_repair_tells_the_gap(three: Problem) -> None:
    search = Search()
    repair = Repair(three, search)
    pattern = repair(three.primary, "bare")
    repair.close()
    assert repair.exposed > 0
    events = [entry.event for entry in search.record.entries]
    assert any("relaxed cost 0, " in event for event in events)
    assert "relaxed against strict: 1 patterns repaired" in events[-1]
    verdict, _ = judge(three.table.with_pattern(pattern.hidden))
    assert verdict.safe


def test_repair_remembers_deviations(three: Problem) -> None:
    search = Search()
    repair = Repair(three, search)
    pattern = repair(three.primary, "first")
    programs = repair.engine.table.programs
    before = programs.solved
    again = repair(pattern.hidden, "again")
    asked = programs.solved - before
    assert again.cost <= pattern.cost
    assert asked < before


@pytest.mark.parametrize("shape", [(12, 9), (6, 5, 4)])
def test_shunned_cells_are_avoided(shape: tuple[int, ...]) -> None:
    problem = Problem.of(make("random", seed=5, shape=shape, sensitive=0.1))
    repair = Repair(problem, Search())
    pattern = repair(problem.primary, "first")
    cells = np.flatnonzero(pattern.hidden & ~problem.primary)
    gone = cells[:2]
    hidden = pattern.hidden.copy()
    hidden[gone] = False
    changed = repair(hidden, "changed", gone)
    verdict, _ = judge(problem.table.with_pattern(changed.hidden))
    assert verdict.safe


def test_trails_follow_patterns(three: Problem) -> None:
    relaxed = RelaxedSearch(three, Search(), "claims")
    colony = DirectColony(relaxed, AntsParameters(evaporation=0.5))
    live, walked = colony.walk(np.random.default_rng(1))
    pattern = three.pattern(live.hidden)
    colony.learn(pattern, walked, 2.0)
    assert colony._trail[pattern.hidden] == pytest.approx(2.5)
    assert colony._trail[~pattern.hidden] == pytest.approx(0.5)


def test_indirect_trails_lead_to_the_rule_that_paid(three: Problem) -> None:
    relaxed = RelaxedSearch(three, Search(), "claims")
    colony = IndirectColony(relaxed, AntsParameters(model="indirect"))
    live, walked = colony.walk(np.random.default_rng(1))
    for _ in range(60):
        colony.learn(three.pattern(live.hidden), walked, 5.0)
    later = [colony.walk(np.random.default_rng(seed))[1] for seed in range(20)]
    assert np.mean([w[-1] == walked[-1] for w in later]) > 0.8
    assert np.mean([np.mean(w[:-1] == walked[:-1]) for w in later]) > 0.8


@pytest.mark.parametrize("kind", [ChoiceFunction, AdaptiveChances])
def test_selectors_learn_what_pays(kind: type) -> None:
    rng = np.random.default_rng(2)
    selector = kind(5)
    used = np.zeros(5)
    for _ in range(300):
        heuristic = selector.choose(rng)
        used[heuristic] += 1
        selector.learn(heuristic, 0.01 if heuristic == 3 else 0.0)
    assert used.argmax() == 3
    assert used[3] > 0.5 * used.sum()
    assert (used > 0).all()


def test_random_choice_learns_nothing() -> None:
    rng = np.random.default_rng(2)
    selector = RandomChoice(5)
    used = np.zeros(5)
    for _ in range(500):
        heuristic = selector.choose(rng)
        used[heuristic] += 1
        selector.learn(heuristic, 1.0 if heuristic == 3 else 0.0)
    assert used.max() < 2 * used.min()


def test_choice_shares_are_in_the_record(three: Problem) -> None:
    search = Search(seed=1, stop=EvaluationLimit(30))
    run_method("hyper", three, search)
    shares = [e.event for e in search.record.entries if "choice shares" in e.event]
    assert len(shares) == 1
    assert all(low.name in shares[0] for low in LOW_LEVEL)


def test_hyper_improves_on_its_start() -> None:
    problem = Problem.of(make("class1", seed=1, rows=20, columns=20))
    search = Search(seed=1, stop=EvaluationLimit(200))
    pattern = run_method("hyper", problem, search)
    starts = [
        e.cost
        for e in search.record.entries
        if e.event in ("greedy, cleaned up", "strict check alone, cleaned up")
    ]
    assert pattern.cost < min(c for c in starts if c is not None)


@pytest.mark.parametrize("name", ["grasp", "ants", "hyper", "descent", "greedy-few"])
def test_a_safe_pattern_comes_first(name: str) -> None:
    """With no time at all the greedy pattern is closed and nothing else begun."""
    problem = Problem.of(make("random", seed=3, shape=(9, 8)))
    search = Search(stop=TimeLimit(0.0))
    pattern = run_method(name, problem, search)
    assert search.generations == 0
    verdict, _ = judge(problem.table.with_pattern(pattern.hidden))
    assert verdict.safe


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("greedy", {"order": "dice"}),
        ("greedy-unit", {"check": "hope"}),
        ("descent", {"rule": "any"}),
        ("descent", {"passes": "0"}),
        ("grasp", {"hierarchical": "perhaps"}),
        ("grasp", {"candidates": "0"}),
        ("ants", {"model": "flying"}),
        ("ants", {"evaporation": "1.5"}),
        ("ants", {"trail-weight": "-1"}),
        ("hyper", {"selection": "best"}),
        ("hyper", {"moves": "0"}),
    ],
)
def test_options_out_of_range_are_refused(name: str, options: dict[str, str]) -> None:
    with pytest.raises(MethodError, match="Expected"):
        find_method(name).configure(options)
