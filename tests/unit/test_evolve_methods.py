"""Details of the genetic methods: children, populations, portfolio, stopping."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evosdc.attack import judge
from evosdc.errors import MethodError, ProtectionFailed
from evosdc.instances import make
from evosdc.suppress.engine.network.engine import NetworkMender
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.methods.gensup import (
    GensupParameters,
    Population,
    cross,
    run_gensup,
)
from evosdc.suppress.methods.hybrid import HybridParameters, run_hybrid
from evosdc.suppress.methods.optimal import OptimalParameters, run_optimal
from evosdc.suppress.papers.circuits import (
    CircuitIndividual,
    add_and_publish,
    all_protect,
    publish_crowded,
    publish_redundant,
    rectangles,
    renew,
)
from evosdc.suppress.papers.heurgene import (
    PROBABILISTIC,
    STRATEGIES,
    HeurgeneParameters,
    run_heurgene,
)
from evosdc.suppress.papers.once_through import (
    CastroParameters,
    cheapest_corners,
    run_castro,
)
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.primitives import draw


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem.of(make("class1", seed=3, rows=20, columns=20))


class FakeState:
    def __init__(self, cost: float, cells: int = 1) -> None:
        self.cost = cost
        self.secondaries = np.arange(cells)


def test_population_is_sorted_and_has_no_two_of_a_cost():
    population = Population(3)
    costs = [5.0, 3.0, 5.0, 4.0, 9.0, 1.0]
    let_in = [population.add(FakeState(cost)) for cost in costs]
    assert let_in == [True, True, False, True, False, True]
    assert population.cost.tolist() == [1.0, 3.0, 4.0]
    assert [state.cost for state in population.states] == [1.0, 3.0, 4.0]


def test_of_equal_cost_the_smaller_pattern_stays():
    people = Population(3)
    let_in = [people.add(FakeState(5.0, cells)) for cells in (4, 6, 3, 3)]
    assert let_in == [True, False, True, False]
    assert [len(state.secondaries) for state in people.states] == [3]


def test_four_children_as_published():
    rng = np.random.default_rng(1)
    better = rng.random(4000) < 0.5
    other = rng.random(4000) < 0.5
    first, second, shared, mixed = cross(better, other, 0.75, rng)
    point = int(np.flatnonzero(first != better)[0])
    np.testing.assert_array_equal(first[point:], other[point:])
    np.testing.assert_array_equal(second[point:], better[point:])
    np.testing.assert_array_equal(shared, better & other)
    assert mixed[shared].all()
    assert not mixed[~better & ~other].any()
    assert mixed[better & ~other].mean() == pytest.approx(0.75, abs=0.06)
    assert mixed[other & ~better].mean() == pytest.approx(0.25, abs=0.06)


def test_draws_are_even():
    state = np.array([7], dtype=np.uint64)
    drawn = np.array([draw(state, 6) for _ in range(6000)])
    assert np.bincount(drawn, minlength=6).min() > 850
    assert drawn.max() == 5


def test_published_defaults():
    gensup, heurgene = GensupParameters(), HeurgeneParameters()
    assert (gensup.population, gensup.iterations, gensup.patience) == (20, 20, 10)
    assert (heurgene.population, heurgene.circuit, heurgene.tries) == (10, 32, 100)
    assert (heurgene.generations, heurgene.patience) == (1000, 100)


@pytest.mark.parametrize("strategy", [*STRATEGIES, PROBABILISTIC])
def test_every_strategy_runs(problem, strategy):
    options = HeurgeneParameters(strategy=strategy, patience=20)
    search = Search(1)
    pattern = run_heurgene(problem, options, search)
    first = next(e.cost for e in search.record.entries if e.cost is not None)
    assert pattern.cost <= first
    assert search.generations >= 20


def test_wishes_of_the_author(problem):
    plain = run_heurgene(problem, HeurgeneParameters(patience=20), Search(1))
    wished = HeurgeneParameters(
        patience=20, seeding="bound-and-path", diversity="circuits"
    )
    # Bound and path starts far below what rectangles reach.
    assert run_heurgene(problem, wished, Search(1)).cost < plain.cost


@pytest.mark.parametrize(
    "options",
    [
        {"rectangles": "further", "redraw": True, "replace_best": True},
        {"rectangles": "both"},
        {"pruned": False},
        {"crossover": "directed"},
        {"mutation": "add"},
        {"mutation": "none"},
        {"crowded": True, "safe": "circuits"},
        {"population": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["class1", "class2"])
def test_published_steps_and_wishes_end_in_safe_patterns(kind, options):
    table = make(kind, seed=4, rows=16, columns=12)
    search = Search(1)
    wanted = HeurgeneParameters(**{"patience": 10} | options)
    pattern = run_heurgene(Problem.of(table), wanted, search)
    verdict, _ = judge(table.with_pattern(pattern.hidden))
    assert verdict.safe
    assert pattern.cost == search.best.cost
    assert (search.generations == 0) == (wanted.population == 1)


def test_a_rectangle_for_each_level_costs_less_than_one_for_both():
    network = TableNetwork(Problem.of(make("heurgene", 1, rows=30, columns=30)))
    cells = np.unique(network.demands.cell)
    cost = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(cells)
        states = (rectangles(network, order), rectangles(network, order, "each"))
        for state, circuits in states:
            assert not len(state.uncovered)
            assert sorted(circuits) == cells.tolist()
        cost.append([state.cost for state, _ in states])
    both, each = np.mean(cost, axis=0)
    assert each < both


def test_further_rectangles_are_rectangles_that_hide_something_new():
    network = TableNetwork(Problem.of(make("class2", 4, rows=16, columns=12)))
    state = PatternState(network)
    seen = 0
    for level in range(len(network)):
        cell = int(network.demands.cell[level])
        for _ in range(5):
            levels = np.array([level])
            corners = cheapest_corners(state, cell, levels, adding=True)
            assert len(corners) == 3
            assert cell not in corners
            ends = np.append(corners, cell)
            nodes = np.append(network.arcs.tail[ends], network.arcs.head[ends])
            assert (np.unique(nodes, return_counts=True)[1] == 2).all()
            fresh = corners[~state.hidden[corners]]
            assert len(fresh)
            seen += 1
            state.hide(corners)
    assert seen
    state, _ = rectangles(network, np.unique(network.demands.cell), "further")
    assert not len(state.uncovered)


def test_clean_up_as_published_looks_at_crowded_rows_and_columns_only():
    network = TableNetwork(Problem.of(make("heurgene", 1, rows=30, columns=30)))
    arcs = network.arcs
    cells = np.unique(network.demands.cell)
    made, crowded, cleaned = (rectangles(network, cells, "each")[0] for _ in range(3))
    publish_crowded(crowded, NetworkMender(network, np.random.default_rng(0)))
    NetworkMender(network, np.random.default_rng(0)).prune(cleaned)
    assert cleaned.cost < crowded.cost < made.cost
    assert not len(crowded.uncovered)
    before, after = np.flatnonzero(made.hidden), np.flatnonzero(crowded.hidden)
    gone = np.setdiff1d(before, after)
    left = np.bincount(np.append(arcs.tail[after], arcs.head[after]))
    # A row or column that was crowded keeps two cells at least.
    assert min(left[arcs.tail[gone]].min(), left[arcs.head[gone]].min()) >= 2


def test_clean_up_by_circuits_leaves_every_circuit_whole():
    network = TableNetwork(Problem.of(make("heurgene", 1, rows=30, columns=30)))
    mender = NetworkMender(network, np.random.default_rng(0))
    cells = np.unique(network.demands.cell)
    exact, _ = rectangles(network, cells, "each")
    state, circuits = rectangles(network, cells, "each")
    before = state.cost
    publish_crowded(exact, mender)
    publish_crowded(state, mender, circuits)
    # Circuits are only part of what is hidden, so fewer cells are redundant by them.
    assert exact.cost < state.cost < before
    assert not len(state.uncovered)
    for cell, circuit in circuits.items():
        assert state.hidden[circuit].all()
        assert all_protect(network, {cell: circuit})
    person = CircuitIndividual(state, renew(state, circuits, 32))
    gone = [
        publish_redundant(person, mender, person.circuits[cell], 32, True)
        for cell in cells.tolist()
    ]
    assert any(gone)
    assert not len(person.state.uncovered)


def test_a_cell_is_added_only_where_more_can_be_published():
    network = TableNetwork(Problem.of(make("heurgene", 2, rows=30, columns=30)))
    mender = NetworkMender(network, np.random.default_rng(0))
    cells = np.unique(network.demands.cell)
    state, circuits = rectangles(network, cells)
    mender.prune(state)
    person = CircuitIndividual(state, renew(state, circuits, 32))
    paid = 0
    for cell in cells.tolist():
        before = person.cost
        if add_and_publish(person, mender, cell, 20, 32):
            paid += 1
            assert person.cost < before
        else:
            assert person.cost == before
        assert person.cost == pytest.approx(person.state.cost)
        assert not len(person.state.uncovered)
    assert paid


def test_gensup_to_the_letter_is_safe_and_prunes_less():
    table = make("class1", seed=3, rows=20, columns=20)
    for options in ({"guide": "zero"}, {"pruned": False}):
        pattern = run_gensup(
            Problem.of(table), GensupParameters(iterations=3, **options), Search(1)
        )
        verdict, _ = judge(table.with_pattern(pattern.hidden))
        assert verdict.safe
    with pytest.raises(MethodError):
        GensupParameters(guide="mine")


def test_one_path_a_level_fails_where_several_do():
    problem = Problem.of(make("class2", seed=1, rows=50, columns=50))
    several = CastroParameters(recovery=False)
    assert run_castro(problem, several, Search(0)).cost > 0
    with pytest.raises(ProtectionFailed):
        run_castro(problem, replace(several, paths=1), Search(0))


def test_castro_counts_new_cells_before_their_cost():
    problem = Problem.of(make("class1", seed=3, rows=30, columns=30))
    raw = CastroParameters(clean_up=False)
    few = run_castro(problem, replace(raw, strata="cells"), Search(0))
    cheap = run_castro(problem, raw, Search(0))
    assert few.hidden.sum() < cheap.hidden.sum()
    assert few.cost > cheap.cost
    with pytest.raises(MethodError):
        CastroParameters(strata="mine")


def test_cost_benefit_ends_the_run():
    problem = Problem.of(make("class1", seed=3, rows=12, columns=12))
    clock = iter(np.arange(0.0, 1e6, 0.1).tolist())
    search = Search(1, clock=lambda: next(clock))
    options = HeurgeneParameters(cost_benefit=10.0)
    run_heurgene(problem, options, search)
    assert search.generations < 100


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "best"},
        {"diversity": "none"},
        {"seeding": "mine"},
        {"rectangles": "none"},
        {"crossover": "mine"},
        {"mutation": "mine"},
        {"population": 0},
    ],
)
def test_unknown_choices_are_refused(options):
    with pytest.raises(MethodError):
        HeurgeneParameters(**options)


def test_hybrid_finds_what_cut_and_branch_proves(problem):
    proof = Search(0)
    best = run_optimal(problem, OptimalParameters(), proof)
    assert proof.bound == pytest.approx(best.cost, rel=1e-5)
    search = Search(0)
    found = run_hybrid(problem, HybridParameters(), search)
    assert found.cost == pytest.approx(best.cost)
    assert search.bound == pytest.approx(best.cost, rel=1e-5)


def test_gensup_raises_a_valid_bound(problem):
    search = Search(0)
    pattern = run_gensup(problem, GensupParameters(iterations=3), search)
    assert 0 < search.bound <= pattern.cost
