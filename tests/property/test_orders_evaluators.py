"""Every order leads to a safe pattern; the compiled flows against plain programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from builders import examples, run_method
from evosdc.attack import judge
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.parallel import Workers
from evosdc.suppress.engine.evaluator import Prefix
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.network.arrays import Net, NetworkDemands
from evosdc.suppress.engine.network.cheapest_flow import make_flows
from evosdc.suppress.engine.network.cover import level_ends
from evosdc.suppress.engine.network.engine import NetworkEngine
from evosdc.suppress.engine.network.order_kernels import LevelGroups, run_order
from evosdc.suppress.engine.network.paths import drop_flow
from evosdc.suppress.engine.network.simplex import send_by_simplex
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.unpick import CELLS, UNPICKED, Grouping
from evosdc.table import Table

MODEST = examples(25)


def random_table(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(3, 8)), int(rng.integers(2, 6)))
    return make(
        "random",
        seed=seed,
        shape=shape,
        sensitive=float(rng.choice([0.1, 0.3])),
        trees=int(rng.integers(0, 2)),
        bounds=str(rng.choice(["tau", "open"])),
        values=str(rng.choice(["ties", "decimals"])),
    )


def cheapest_by_program(
    problem: Problem, hidden: np.ndarray, fixed: dict[int, float]
) -> float:
    """The attacker's program in full: its least cost, infinite where none is found."""
    n = len(problem.table)
    may = np.concatenate([problem.hideable, problem.hideable])
    high = np.where(may, np.concatenate([problem.up, problem.down]), 0.0)
    low = np.zeros(2 * n)
    for cell, by in fixed.items():
        up, down = max(by, 0.0), max(-by, 0.0)
        low[[cell, cell + n]] = high[[cell, cell + n]] = [up, down]
    price = np.where(hidden, 0.0, problem.cost)
    matrix = problem.table.matrix.toarray()
    answer = linprog(
        np.concatenate([price, price]),
        A_eq=np.hstack([matrix, -matrix]),
        b_eq=np.zeros(len(matrix)),
        bounds=np.column_stack([low, high]),
    )
    return float(answer.fun) if answer.status == 0 else np.inf


@MODEST
@given(st.integers(0, 10**6))
def test_the_simplex_method_is_as_cheap_as_programs(seed: int) -> None:
    """Flow balances, keeps to its bounds, costs what the program does, or is short."""
    problem = Problem.of(random_table(seed))
    network = TableNetwork(problem)
    arcs, work, live = network.arcs, network.work, network.bare()
    net = Net(arcs, network.demands, live, work)
    # The network's own room: it has no more than the largest level asks for.
    capped = Problem(
        problem.table,
        problem.cost,
        arcs.up * network.unit,
        arcs.down * network.unit,
        problem.hideable,
        problem.levels,
    )
    for level in range(len(network)):
        cell = int(network.demands.cell[level])
        source, target = level_ends(arcs, network.demands, level)
        if source == target:
            continue
        shut = np.zeros(len(problem.cost), dtype=bool)
        shut[cell] = True
        for times in (1, 1000):
            amount = times * int(network.demands.amount[level])
            supply = np.zeros(network.nodes, dtype=np.int64)
            supply[source], supply[target] = amount, -amount
            left = send_by_simplex(net, shut, supply, network.cost)
            flow = work.flow.copy()
            drop_flow(work)
            assert flow[cell] == 0
            assert np.all((-arcs.down <= flow) & (flow <= arcs.up))
            balance = np.zeros(network.nodes, dtype=np.int64)
            np.add.at(balance, arcs.tail, flow)
            np.subtract.at(balance, arcs.head, flow)
            supply[source] -= left
            supply[target] += left
            assert np.array_equal(balance, supply)
            sent = (amount - left) * int(network.demands.sign[level]) * network.unit
            program = cheapest_by_program(capped, live.hidden, {cell: sent})
            price = np.where(live.hidden, 0.0, problem.cost)
            cost = float(np.abs(flow) @ price) * network.unit
            assert cost == pytest.approx(program, rel=1e-6, abs=1e-6)
            if left:
                more = sent + int(np.sign(sent) or 1) * network.unit
                assert cheapest_by_program(capped, live.hidden, {cell: more}) == np.inf


@MODEST
@given(st.integers(0, 10**6))
def test_flows_are_as_cheap_as_programs(seed: int) -> None:
    """One level after another, from the same hidden cells, both ways."""
    problem = Problem.of(random_table(seed))
    network = TableNetwork(problem)
    demands = network.demands
    assume(len(network))
    rng = np.random.default_rng(seed)
    live, flows = network.bare(), make_flows(network.nodes, len(problem.cost), 99)
    every = np.arange(len(network))
    for level in rng.permutation(len(network)):
        hidden = live.hidden.copy()
        sign = int(demands.sign[level])
        amount = sign * int(demands.amount[level]) * network.unit
        program = cheapest_by_program(
            problem, hidden, {int(demands.cell[level]): amount}
        )
        one = NetworkDemands(*(a[level : level + 1] for a in demands))
        failed, left = run_order(
            Net(network.arcs, one, live, network.work),
            flows,
            network.cost,
            LevelGroups(np.array([0, 1]), every[:1], together=False),
            every[:1],
            (0, 1),
            np.zeros(1, dtype=np.int32),
        )
        assert failed < 0
        assert left == 0
        # With only what the flow hid for sale at its price, the program costs the same.
        moved = live.hidden & ~hidden
        outside = problem.hideable & ~live.hidden
        narrow = Problem(
            problem.table,
            problem.cost,
            np.where(outside, 0.0, problem.up),
            np.where(outside, 0.0, problem.down),
            problem.hideable,
            problem.levels,
        )
        again = cheapest_by_program(narrow, hidden, {int(demands.cell[level]): amount})
        assert again == pytest.approx(program, rel=1e-6, abs=1e-6)
        assert moved.any() == (program > 1e-7)


@MODEST
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0, 2, 4]))
def test_every_order_is_safe_on_networks(
    seed: int, together: bool, groups: int
) -> None:
    table = random_table(seed)
    problem = Problem.of(table)
    rng = np.random.default_rng(seed)
    cells = str(rng.choice(CELLS))
    by = str(rng.choice(["weight", "row", "column"]))
    grouping = Grouping(cells, groups, by, together)
    flows = NetworkEngine(problem).evaluator(grouping, Search(seed=1), clean=False)
    order = rng.permutation(flows.length)
    (priced,) = flows.evaluate([(order, None)])
    assert priced is not None
    plain = flows.complete(priced, clean=False)
    clean = flows.complete(priced, clean=True)
    for pattern in (plain, clean):
        assert pattern is not None
        assert judge(table.with_pattern(pattern.hidden))[0].safe
    assert clean.cost <= plain.cost
    if cells not in UNPICKED:
        # Nothing is left for a closing group: the order alone made it safe.
        assert plain.cost == pytest.approx(priced.cost)


@MODEST
@given(st.integers(0, 10**6), st.booleans())
def test_a_shared_beginning_changes_nothing(seed: int, together: bool) -> None:
    problem = Problem.of(random_table(seed))
    rng = np.random.default_rng(seed)
    grouping = Grouping("all", 5 if together else 0, "weight", together)
    flows = NetworkEngine(problem).evaluator(grouping, Search(seed=1), clean=False)
    one = rng.permutation(flows.length)
    other = one.copy()
    other[len(one) // 2 :] = rng.permutation(other[len(one) // 2 :])
    (first,) = flows.evaluate([(one, None)])
    assert first is not None
    fresh, onward = flows.evaluate([(other, None), (other, Prefix(one, first))])
    assert fresh is not None
    assert onward is not None
    assert fresh.cost == onward.cost
    assert np.array_equal(fresh.secondaries, onward.secondaries)
    assert np.array_equal(fresh.upto, onward.upto)


def test_threads_change_nothing() -> None:
    problem = Problem.of(make("ons", seed=3, table="B"))
    rng = np.random.default_rng(0)
    grouping = Grouping("exposed", 0, "weight", True)
    alone = NetworkEngine(problem).evaluator(
        grouping, Search(seed=1, workers=Workers(1)), clean=True
    )
    both = NetworkEngine(problem).evaluator(
        grouping, Search(seed=1, workers=Workers(2)), clean=True
    )
    tasks = [(rng.permutation(alone.length), None) for _ in range(7)]
    for a, b in zip(alone.evaluate(tasks), both.evaluate(tasks), strict=True):
        assert a is not None
        assert b is not None
        assert a.cost == b.cost
        assert np.array_equal(a.secondaries, b.secondaries)


def test_workers_change_nothing() -> None:
    problem = Problem.of(make("ons", seed=3, table="B"))
    costs = []
    for workers in (1, 2):
        stop = EvaluationLimit(60)
        search = Search(seed=2, workers=Workers(workers), stop=stop)
        pattern = run_method("order-ga", problem, search, batch=3)
        costs.append((pattern.cost, search.evaluations))
    assert costs[0] == costs[1]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "grouping",
    [
        Grouping("all", 0, "weight", together=False),
        Grouping("exposed", 3, "row", together=True),
        Grouping("unpicked", 2, "weight", together=True),
        Grouping("by-bounds", 2, "weight", together=True),
    ],
)
def test_every_order_is_safe_by_programs(seed: int, grouping: Grouping) -> None:
    table = make("random", seed=seed, shape=(5, 4, 3), sensitive=0.2, bounds="tau")
    problem = Problem.of(table)
    programs = GeneralEngine(problem).evaluator(grouping, Search(seed=1), clean=False)
    rng = np.random.default_rng(seed)
    one = rng.permutation(programs.length)
    other = one.copy()
    other[len(one) // 2 :] = other[len(one) // 2 :][::-1]
    (first,) = programs.evaluate([(one, None)])
    assert first is not None
    (second,) = programs.evaluate([(other, Prefix(one, first))])
    assert second is not None
    for priced in (first, second):
        for clean in (False, True):
            pattern = programs.complete(priced, clean)
            assert pattern is not None
            assert judge(table.with_pattern(pattern.hidden))[0].safe


def test_flows_and_programs_price_orders_alike() -> None:
    """Both hide a cheapest deviation a level; only ties are broken differently."""
    table = make("random", seed=8, shape=(7, 5), sensitive=0.2, bounds="tau")
    problem = Problem.of(table)
    grouping = Grouping("all", 0, "weight", together=False)
    flows = NetworkEngine(problem).evaluator(grouping, Search(seed=1), clean=False)
    programs = GeneralEngine(problem).evaluator(grouping, Search(seed=1), clean=False)
    assert [e.tolist() for e in flows.groups] == [e.tolist() for e in programs.groups]
    rng = np.random.default_rng(1)
    orders = [(rng.permutation(flows.length), None) for _ in range(5)]
    costs = [
        [o.cost for o in evaluator.evaluate(orders) if o is not None]
        for evaluator in (flows, programs)
    ]
    assert np.mean(costs[0]) == pytest.approx(np.mean(costs[1]), rel=0.1)


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("seed", range(6))
def test_orders_hold_the_same_cells_on_every_engine(cells: str, seed: int) -> None:
    problem = Problem.of(random_table(seed))
    grouping = Grouping(cells, 0, "weight", together=False)
    flows, programs = (
        engine(problem).evaluator(grouping, Search(seed=1), clean=False)
        for engine in (NetworkEngine, GeneralEngine)
    )
    assert [g.tolist() for g in flows.groups] == [g.tolist() for g in programs.groups]
    if cells in UNPICKED:
        exposed = set(np.unique(flows.network.demands.cell).tolist())
        held = {int(group[0]) for group in flows.groups}
        assert held <= exposed
        assert held | set(flows.closing.tolist()) == exposed
        assert set(flows.closing.tolist()) <= set(programs.closing.tolist())


def test_the_pattern_of_an_order_needs_no_more_cover() -> None:
    problem = Problem.of(make("ons", seed=2, table="B"))
    grouping = Grouping("exposed", 6, "weight", together=True)
    flows = NetworkEngine(problem).evaluator(grouping, Search(seed=1), clean=False)
    (priced,) = flows.evaluate([(np.arange(flows.length), None)])
    assert priced is not None
    state = PatternState(flows.network)
    state.hide(priced.secondaries)
    assert not len(state.check())
