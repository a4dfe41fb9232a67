"""Both engines under one contract, against plain linear programs of the attacker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
from network_twins import is_safe, random_problem, reach

from evosdc.errors import LevelError
from evosdc.instances import make
from evosdc.suppress.engine.base import AnyEngine, State
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.general import programs
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.network.engine import NetworkEngine
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.unpick import Grouping
from evosdc.table import Table

TWO_DIMENSIONAL = ("whole", "bounded", "sliding", "margins", "thin")
OTHERS: dict[str, dict[str, Any]] = {
    "three dimensions": {"shape": (3, 3, 2)},
    "a tree": {"shape": (5, 3, 2), "trees": 1},
    "linked": {"shape": (4, 3, 2), "linked": True},
}
SEEDS = range(2)
CASES = [
    *((NetworkEngine, kind, seed) for kind in TWO_DIMENSIONAL for seed in SEEDS),
    *((GeneralEngine, kind, seed) for kind in TWO_DIMENSIONAL for seed in SEEDS),
    *((GeneralEngine, kind, seed) for kind in OTHERS for seed in SEEDS),
    *((GeneralEngine, f"{kind}, no labels", seed) for kind in OTHERS for seed in SEEDS),
]
both_engines = pytest.mark.parametrize(
    "case",
    [
        case if case[2] == 0 else pytest.param(case, marks=pytest.mark.slow)
        for case in CASES
    ],
    ids=lambda case: f"{case[0].__name__}, {case[1]}, {case[2]}",
)


def problem_of(kind: str, seed: int) -> Problem:
    if kind in TWO_DIMENSIONAL:
        return random_problem(seed, kind)
    name, _, bare = kind.partition(", ")
    table = make("random", seed=seed, **OTHERS[name])
    return Problem.of(without_labels(table) if bare else table)


def without_labels(table: Table) -> Table:
    return table.replace(dimensions=(), codes=np.empty((len(table), 0), np.int32))


@dataclass
class Case:
    """An engine, a state with everything covered, and a plain reading of the table."""

    engine: AnyEngine
    state: State
    rng: np.random.Generator

    @property
    def problem(self) -> Problem:
        return self.engine.problem

    def broken(self, hidden: np.ndarray) -> set[int]:
        """Demands that hidden cells do not cover, each by a program of its own."""
        demands = self.engine.demands
        return {
            row
            for row in range(len(demands))
            if reach(
                self.problem, hidden, int(demands.cell[row]), int(demands.sign[row])
            )
            < demands.amount[row] - 1e-6
        }

    def some(self, share: float) -> np.ndarray:
        """Draw secondaries of the state."""
        cells = self.state.secondaries
        return cells[self.rng.random(len(cells)) < share]

    def agrees(self, state: State) -> None:
        """Hidden cells, cost and witnesses are what a plain recount says."""
        problem, hidden = self.problem, state.hidden
        assert hidden[problem.primary].all()
        assert not (hidden & ~problem.hideable & ~problem.primary).any()
        extra = np.flatnonzero(hidden & ~problem.primary)
        np.testing.assert_array_equal(state.secondaries, extra)
        assert state.cost == pytest.approx(sum(problem.cost[extra].tolist()))
        assert self.broken(hidden) <= set(state.uncovered.tolist())
        pattern = state.pattern()
        np.testing.assert_array_equal(pattern.hidden, hidden)
        assert pattern.cost == pytest.approx(state.cost)

    def is_safe(self, hidden: np.ndarray) -> bool:
        return not self.broken(hidden | self.problem.primary)


@cache
def drawn(kind: str, number: int, within: bool = True) -> Problem:
    """The first, second, ... table that some pattern protects, or that none does.

    Which of them is said by plain programs, not by the engines.
    """
    found = (
        problem
        for problem in (problem_of(kind, seed) for seed in range(100))
        if is_safe(problem, problem.hideable | problem.primary) == within
    )
    return next(islice(found, number, None))


@pytest.fixture
def covered(case: tuple[Any, str, int]) -> Case:
    engine = case[0](drawn(*case[1:]))
    state = engine.start()
    state.cover()
    return Case(engine, state, np.random.default_rng(case[2]))


@pytest.mark.parametrize("engine", [NetworkEngine, GeneralEngine])
@pytest.mark.parametrize("number", range(3))
def test_levels_beyond_any_pattern_are_refused(engine: Any, number: int) -> None:
    with pytest.raises(LevelError):
        engine(drawn("thin", number, within=False)).start().cover()


def test_tables_with_something_to_hide_are_not_few() -> None:
    costs = []
    for case in CASES:
        state = case[0](drawn(*case[1:])).start()
        state.cover()
        costs.append(state.cost)
    assert sum(cost > 0 for cost in costs) > 2 * len(CASES) // 3


@both_engines
def test_a_state_starts_with_the_primaries(covered: Case) -> None:
    engine, problem = covered.engine, covered.problem
    state = engine.start()
    np.testing.assert_array_equal(state.hidden, problem.primary)
    assert state.cost == 0
    assert state.uncovered.tolist() == list(range(len(engine.demands)))
    asked = covered.rng.random(len(problem.table)) < 0.3
    state = engine.start(asked)
    expected = (asked & problem.hideable) | problem.primary
    np.testing.assert_array_equal(state.hidden, expected)
    other = covered.rng.random(len(problem.table)) < 0.3
    later = engine.start(other, after=state)
    expected = (other & problem.hideable) | problem.primary
    np.testing.assert_array_equal(later.hidden, expected)


@both_engines
def test_covered_means_safe(covered: Case) -> None:
    assert not len(covered.state.uncovered)
    covered.agrees(covered.state)


@both_engines
def test_hiding_loses_no_witness(covered: Case) -> None:
    problem, state = covered.problem, covered.state
    cells = np.flatnonzero(covered.rng.random(len(problem.table)) < 0.4)
    before = state.hidden.copy()
    state.hide(cells)
    expected = before.copy()
    expected[cells[problem.hideable[cells]]] = True
    np.testing.assert_array_equal(state.hidden, expected)
    assert not len(state.uncovered)


@both_engines
@pytest.mark.parametrize("share", [0.2, 0.6, 1.0])
def test_publishing_returns_what_broke(covered: Case, share: float) -> None:
    state = covered.state
    cells = np.append(covered.some(share), np.flatnonzero(covered.problem.primary))
    expected = state.hidden.copy()
    expected[cells] = False
    expected |= covered.problem.primary
    broken = state.publish(cells)
    np.testing.assert_array_equal(state.hidden, expected)
    assert set(broken.tolist()) == covered.broken(expected)
    assert set(broken.tolist()) == set(state.uncovered.tolist())
    covered.agrees(state)
    state.cover(broken)
    assert not len(state.uncovered)
    covered.agrees(state)


@both_engines
def test_becoming_another_pattern(covered: Case) -> None:
    problem, state = covered.problem, covered.state
    asked = (covered.rng.random(len(problem.table)) < 0.5) & problem.hideable
    state.become(asked)
    expected = asked | problem.primary
    np.testing.assert_array_equal(state.hidden, expected)
    assert set(state.uncovered.tolist()) == covered.broken(expected)
    covered.agrees(state)


@both_engines
def test_repair_counts_what_was_exposed(covered: Case) -> None:
    problem = covered.problem
    asked = (covered.rng.random(len(problem.table)) < 0.4) & problem.hideable
    exposed = covered.broken(asked | problem.primary)
    state = covered.engine.start(asked)
    found = state.repair()
    # One deviation may cover several demands that were exposed.
    assert (0 < found <= len(exposed)) if exposed else found == 0
    assert (state.hidden >= asked).all()
    assert not len(state.uncovered)
    covered.agrees(state)


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("seed", range(4))
def test_a_safe_pattern_is_taken_up_unchanged(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Boxes are hints: what hidden cells cover by a program needs no more cells."""
    monkeypatch.setattr(programs, "_MOST_LEVELS_TIMES_CELLS", 3)
    problem = replace(drawn(kind, seed))  # of which nothing was measured
    engine = GeneralEngine(problem)
    assert engine.has_boxes
    assert not engine.programs_pay
    rng = np.random.default_rng(seed)
    hidden = problem.hideable | problem.primary
    # Publish what can be spared in random order: few boxes are left.
    for cell in rng.permutation(np.flatnonzero(hidden & ~problem.primary)).tolist():
        fewer = hidden.copy()
        fewer[cell] = False
        if is_safe(problem, fewer):
            hidden = fewer
    state = engine.start(hidden)
    assert state.repair() == 0
    np.testing.assert_array_equal(state.hidden, hidden)


def test_programs_over_the_whole_table_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(programs, "_MOST_LEVELS_TIMES_CELLS", 3)
    # The search asks for patterns that programs make cheaper than boxes do.
    table = make("random", seed=3, shape=(6, 5, 4), sensitive=0.2)
    first = GeneralEngine(Problem.of(table))
    boxes = first.start()
    boxes.cover()
    built = first.build_by_programs()
    assert built is not None
    assert first.programs_pay
    assert not len(built.uncovered)
    assert is_safe(first.problem, built.hidden)
    assert built.cost < boxes.cost
    hasty = GeneralEngine(Problem.of(table))
    calls = iter(range(10))
    given_up = hasty.build_by_programs(lambda: next(calls, 9) >= 9)
    assert given_up is not None
    assert not hasty.programs_pay
    assert not len(given_up.uncovered)
    assert is_safe(hasty.problem, given_up.hidden)


@both_engines
def test_clean_up_leaves_nothing_redundant(covered: Case) -> None:
    state = covered.state
    state.hide(np.flatnonzero(covered.rng.random(len(covered.problem.table)) < 0.3))
    before = state.cost
    assert state.clean_up()
    assert state.cost <= before
    assert not len(state.uncovered)
    covered.agrees(state)
    for cell in state.secondaries.tolist():
        fewer = state.hidden.copy()
        fewer[cell] = False
        assert covered.broken(fewer)


@both_engines
def test_clean_up_of_some_cells_leaves_the_others(covered: Case) -> None:
    state = covered.state
    state.hide(np.flatnonzero(covered.rng.random(len(covered.problem.table)) < 0.5))
    chosen = covered.some(0.4)
    before = state.hidden.copy()
    state.clean_up(chosen)
    assert set(np.flatnonzero(before & ~state.hidden).tolist()) <= set(chosen.tolist())
    assert not len(state.uncovered)
    covered.agrees(state)


@both_engines
def test_a_copy_is_independent(covered: Case) -> None:
    state = covered.state
    state.clean_up()
    other = state.copy()
    for changed, kept in ((other, state), (state, state.copy())):
        hidden, cost = kept.hidden.copy(), kept.cost
        changed.publish(changed.secondaries)
        changed.cover(price=1.0 / (1.0 + covered.problem.cost))
        changed.hide(np.arange(len(covered.problem.table)))
        np.testing.assert_array_equal(kept.hidden, hidden)
        assert kept.cost == cost
        assert not len(kept.uncovered)
        # Its witnesses are its own: they still hold, and can still be taken down.
        assert set(kept.publish(kept.secondaries).tolist()) == covered.broken(
            covered.problem.primary
        )


@both_engines
def test_other_prices_steer_once(covered: Case) -> None:
    engine, problem = covered.engine, covered.problem
    dear = np.where(covered.state.hidden, 1e4, 1.0) * (1.0 + problem.cost)
    state = engine.start()
    state.cover(price=dear)
    covered.agrees(state)
    assert not len(state.uncovered)
    # The state's own costs are the problem's again. A warm solver may take another of
    # several equally cheap deviations; paths depend on the hidden cells alone.
    state.publish(state.secondaries)
    state.cover()
    assert not len(state.uncovered)
    if engine.is_network:
        np.testing.assert_array_equal(state.hidden, covered.state.hidden)


@pytest.mark.parametrize("engine", [NetworkEngine, GeneralEngine])
def test_prices_matter(engine: Any) -> None:
    """Made dear, the cells of a pattern give way to others."""
    fewer = 0
    for seed in range(6):
        problem = problem_of("whole", seed)
        plain, steered = engine(problem).start(), engine(problem).start()
        plain.cover()
        dear = np.where(plain.hidden, 1e4, 1.0) * (1.0 + problem.cost)
        steered.cover(price=dear)
        both = plain.hidden & steered.hidden & ~problem.primary
        fewer += both.sum() < len(plain.secondaries)
    assert fewer >= 4


@both_engines
def test_stopped_at_once_is_safe_all_the_same(covered: Case) -> None:
    state = covered.engine.start()
    state.cover(stopped=lambda: True)
    assert not len(state.uncovered)
    assert covered.is_safe(state.hidden)
    state.clean_up(stopped=lambda: True)
    assert covered.is_safe(state.hidden)


@both_engines
@pytest.mark.parametrize("far", [False, True])
def test_a_walk_never_ends_above_or_unsafe(covered: Case, far: bool) -> None:
    state = covered.state
    state.clean_up()
    start = state.cost
    options = covered.engine.program_walk if far else None
    walker = covered.engine.walker(state, covered.rng, options)
    if walker is None:
        return
    assert walker.steps == 0
    assert walker.turn(lambda: False, 7)
    assert walker.steps == 7
    assert walker.best_cost <= start * (1 + 1e-9)
    best = walker.best()
    assert best.cost == pytest.approx(walker.best_cost)
    assert covered.is_safe(best.hidden)


@both_engines
def test_children_are_safe_and_parents_stay(covered: Case) -> None:
    problem, parent = covered.problem, covered.state
    parent.clean_up()
    mender = covered.engine.mender(covered.rng)
    before = parent.hidden.copy()
    asked = covered.rng.random(len(problem.table)) < 0.5
    child = mender.child(parent, asked)
    np.testing.assert_array_equal(parent.hidden, before)
    assert not len(child.uncovered)
    covered.agrees(child)
    cost = child.cost
    mender.drop_in_turn(child, child.secondaries)
    assert child.cost <= cost * (1 + 1e-9)
    assert not len(child.uncovered)
    covered.agrees(child)


@both_engines
def test_cuts_hold_for_safe_patterns_only(covered: Case) -> None:
    problem, cuts = covered.problem, covered.engine.cuts()
    covered.state.clean_up()
    safe = covered.state.hidden.astype(float)
    for cut in cuts.first():
        assert float(cut.coefficients @ safe[cut.cells]) >= 1 - 1e-6
    bare = problem.primary.astype(float)
    found = list(cuts.violated(bare, lambda: False))
    for cut in found:
        assert float(cut.coefficients @ bare[cut.cells]) < 1
        assert float(cut.coefficients @ safe[cut.cells]) >= 1 - 1e-6
    levels = problem.levels
    exposed = any(
        reach(problem, problem.primary, int(c), int(s)) < a - 1e-6
        for c, s, a in zip(levels.cell, levels.sign, levels.amount, strict=True)
    )
    assert bool(found) == exposed


@both_engines
def test_orders_are_priced(covered: Case) -> None:
    grouping = Grouping("exposed", 0, "weight", True)
    evaluator = covered.engine.evaluator(grouping, Search(), clean=False)
    order = covered.rng.permutation(evaluator.length)
    (priced,) = evaluator.evaluate([(order, None)])
    assert priced is not None
    cost = covered.problem.cost[priced.secondaries].sum()
    assert priced.cost == pytest.approx(float(cost))
    pattern = evaluator.complete(priced, clean=False)
    assert pattern is not None
    assert pattern.cost == pytest.approx(priced.cost)
    assert covered.is_safe(pattern.hidden)


def test_the_table_chooses_the_engine() -> None:
    assert isinstance(engine_for(problem_of("whole", 0)), NetworkEngine)
    assert engine_for(problem_of("whole", 0)).is_network
    assert isinstance(engine_for(problem_of("three dimensions", 0)), GeneralEngine)
    assert not engine_for(problem_of("three dimensions", 0)).is_network
