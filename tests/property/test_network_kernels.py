"""Kernels against naive twins on random networks."""

from __future__ import annotations

import numpy as np
import pytest
from network_twins import (
    capacity_matrix,
    directed,
    naive_distance,
    random_graph,
    random_problem,
    table_with_totals,
)
from scipy.sparse.csgraph import maximum_flow

from evosdc.attack import judge
from evosdc.suppress.engine.network.cover import cheapest_path, send_hidden
from evosdc.suppress.engine.network.paths import (
    drop_flow,
    hidden_network,
    hidden_path,
    minimum_cuts,
    send_in_phases,
)
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.primitives import heap_pop, heap_push

NODES = 9


def balance(tail, head, flow):
    """What enters each node less what leaves it."""
    return np.bincount(head, flow, NODES) - np.bincount(tail, flow, NODES)


def send(net, most, slack=0):
    """Send from the first node to the last; return what was sent and the flow."""
    left = send_in_phases(net, 0, NODES - 1, -1, most, slack)
    flow = net.work.flow.copy()
    drop_flow(net.work)
    return most - left, flow


@pytest.mark.parametrize("seed", range(30))
def test_max_flow_and_cuts_agree_with_scipy(seed):
    tail, head, up, down, _ = random_graph(np.random.default_rng(seed), NODES, 25)
    everything = hidden_network(tail, head, up, down, NODES, np.arange(25))
    sent, flow = send(everything, 10**6)
    matrix = capacity_matrix(NODES, tail, head, up, down)
    assert sent == maximum_flow(matrix, 0, NODES - 1).flow_value
    assert np.all(flow <= up)
    assert np.all(flow >= -down)
    net = balance(tail, head, flow)
    assert net[0] == -sent
    assert net[NODES - 1] == sent
    assert not net[1:-1].any()
    left, near, far = minimum_cuts(everything, 0, NODES - 1, -1, 10**6, 0)
    assert left == 10**6 - sent
    assert not (near & ~far).any()
    for side in (near, far):
        assert side[0]
        assert not side[NODES - 1]
        across = np.flatnonzero(side[tail] != side[head])
        assert sent == np.where(side[tail[across]], up[across], down[across]).sum()
    part, _ = send(everything, 3)
    assert part == min(3, sent)


@pytest.mark.parametrize("seed", range(10))
def test_max_flow_takes_real_capacities(seed):
    tail, head, up, down, _ = random_graph(np.random.default_rng(seed), NODES, 25)
    cells = np.arange(25)
    eighths = hidden_network(tail, head, up / 8, down / 8, NODES, cells)
    sent, _ = send(eighths, 1e6, 1e-12)
    whole, _ = send(hidden_network(tail, head, up, down, NODES, cells), 10**6)
    assert sent == pytest.approx(whole / 8)


@pytest.mark.parametrize("seed", range(20))
def test_heap_takes_smallest_keys_first(seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 6, 12).astype(float)
    order = np.zeros(12, dtype=np.int32)
    spot = np.full(12, -1, dtype=np.int32)
    key = np.zeros(12)
    size = 0
    for node in rng.permutation(12):
        size = heap_push(order, spot, key, size, node, keys[node] + 5)
        if node % 2:
            size = heap_push(order, spot, key, size, node, keys[node])
    want = sorted(range(12), key=lambda v: (keys[v] + (0 if v % 2 else 5), v))
    got = [heap_pop(order, spot, key, size - i) for i in range(12)]
    assert got == want
    assert (spot == -1).all()


@pytest.mark.parametrize("seed", range(25))
def test_cheapest_and_hidden_paths(seed):
    problem = random_problem(seed, "margins")
    rng = np.random.default_rng(seed)
    network = TableNetwork(problem)
    state = PatternState(network)
    state.hide(rng.choice(len(problem.table), 4))
    arcs, work = network.arcs, network.work
    # A random flow, so that residuals matter.
    cells = np.flatnonzero(state.hidden)
    work.flow[cells] = rng.integers(-arcs.down[cells], arcs.up[cells] + 1)
    every, hidden = [], []
    room_up, room_down = arcs.up - work.flow, arcs.down + work.flow
    for a, b, room, cell in directed(arcs.tail, arcs.head, room_up, room_down):
        if room > 0 and problem.hideable[cell]:
            price = 0.0 if state.hidden[cell] else problem.cost[cell]
            every.append((a, b, price))
            if state.hidden[cell]:
                hidden.append((a, b, 0.0))
    nodes = network.nodes
    for source in range(nodes - 1):
        for target in range(nodes - 1):
            if source == target:
                continue
            want = naive_distance(nodes, every, source, target)
            got = cheapest_path(state.net, source, target, -1)
            assert got == pytest.approx(want)
            assert hidden_path(state.net, source, target, -1) == (
                naive_distance(nodes, hidden, source, target) == 0
            )
    work.flow[:] = 0


@pytest.mark.parametrize("seed", range(25))
def test_phases_send_what_single_paths_send(seed):
    problem = random_problem(seed, "margins")
    rng = np.random.default_rng(seed)
    network = TableNetwork(problem)
    state = PatternState(network)
    state.hide(rng.choice(len(problem.table), 12))
    arcs, work, nodes = network.arcs, network.work, network.nodes
    banned = int(rng.choice(np.flatnonzero(state.hidden)))
    open_cells = state.hidden & (np.arange(len(state.hidden)) != banned)
    room = [np.where(open_cells, side, 0) for side in (arcs.up, arcs.down)]
    matrix = capacity_matrix(nodes, arcs.tail, arcs.head, *room)
    for source, target in rng.permuted(np.tile(np.arange(nodes), (8, 1)), axis=1)[
        :, :2
    ]:
        most = maximum_flow(matrix, source, target).flow_value
        for amount in (max(1, most // 2), most + 5):
            left = send_in_phases(state.net, source, target, banned, amount, 0)
            flow = work.flow.copy()
            drop_flow(work)
            assert left == max(0, amount - most)
            assert np.all((-room[1] <= flow) & (flow <= room[0]))
            net = np.bincount(arcs.head, flow, nodes) - np.bincount(
                arcs.tail, flow, nodes
            )
            want = np.zeros(nodes)
            want[source], want[target] = left - amount, amount - left
            np.testing.assert_array_equal(net, want)
            alone = send_hidden(state.net, source, target, banned, amount)
            drop_flow(work)
            assert alone == left


@pytest.mark.parametrize("seed", range(3))
def test_a_giant_cell_among_small_ones_is_covered(seed):
    """Its level takes more paths than are sought one at a time."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(1, 60, size=(70, 70)).astype(float)
    inner[0, :] = inner[:, 0] = 40_000.0
    inner[0, 0] = 1e6
    table = table_with_totals(inner)
    giant = int(np.flatnonzero((table.codes == 1).all(axis=1))[0])
    status, level = table.status.copy(), np.zeros(len(table))
    status[giant], level[giant] = "u", 60_000.0
    # Totals are published, so that all of it runs through small cells.
    status[(table.codes == 0).any(axis=1)] = "z"
    table = table.replace(status=status, upl=level, lpl=level)
    state = PatternState(TableNetwork(Problem.of(table)))
    state.cover()
    assert len(state.secondaries) > 1024
    before = state.cost
    state.clean_up()
    assert state.cost <= before
    assert judge(table.with_pattern(state.hidden))[0].safe
