"""Tables of a tree by a flat dimension are networks: against ranks and programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from builders import examples, run_method
from evosdc.attack import judge
from evosdc.instances import make
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search
from evosdc.table import Dimension, Hierarchy, Table, build_table, detect_network
from evosdc.table.structure import implied_equations

MODEST = examples(40)


def random_tree(rng: np.random.Generator, size: int) -> Dimension:
    """Any tree: codes hang from earlier ones, single children included."""
    parents = [-1] + [int(rng.integers(0, max(1, i - 1))) for i in range(1, size)]
    return Dimension(
        "tree", Hierarchy(tuple(f"t{i}" for i in range(size)), tuple(parents))
    )


def tree_by_flat(seed: int, size: int, columns: int, empty: float) -> Table:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, size)
    flat = Dimension("flat", Hierarchy.flat([f"c{i}" for i in range(columns)]))
    leaves = np.flatnonzero(tree.hierarchy.is_leaf)
    codes = np.array([(t, c) for t in leaves for c in range(1, columns + 1)])
    keep = rng.random(len(codes)) >= empty
    keep[0] = True
    dims, order = [tree, flat], [0, 1]
    if rng.random() < 0.5:
        dims, order = [flat, tree], [1, 0]
    value = rng.integers(1, 50, keep.sum())
    return build_table(dims, codes[keep][:, order], value, missing="empty")


def kept_rows(table: Table) -> np.ndarray:
    implied = implied_equations(table.matrix)
    assert implied is not None
    return np.setdiff1d(np.arange(table.matrix.shape[0]), implied)


@MODEST
@given(
    st.integers(0, 10**6),
    st.integers(3, 14),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.4]),
)
def test_what_is_left_out_follows(
    seed: int, size: int, columns: int, empty: float
) -> None:
    table = tree_by_flat(seed, size, columns, empty)
    network = detect_network(table.matrix)
    assert network is not None
    dense = table.matrix.toarray()
    rank = np.linalg.matrix_rank(dense)
    assert np.linalg.matrix_rank(dense[kept_rows(table)]) == rank
    incidence = np.zeros((network.nodes, len(table)))
    np.add.at(incidence, (network.head, np.arange(len(table))), 1.0)
    np.add.at(incidence, (network.tail, np.arange(len(table))), -1.0)
    # Without the ground the nodes say what the equations say.
    both = np.vstack([incidence[:-1], dense])
    assert np.linalg.matrix_rank(incidence[:-1]) == rank
    assert np.linalg.matrix_rank(both) == rank


@MODEST
@given(st.integers(0, 10**6), st.integers(5, 12), st.integers(2, 4))
def test_signs_and_order_of_the_equations_do_not_matter(
    seed: int, size: int, columns: int
) -> None:
    rng = np.random.default_rng(seed)
    table = make("random", seed=seed, shape=(size, columns), trees=1)
    rows = table.matrix.shape[0]
    order, cells = rng.permutation(rows), rng.permutation(len(table))
    assert detect_network(table.matrix) is not None
    assert detect_network(table.matrix[order][:, cells]) is not None
    few = np.diff(table.matrix.indptr) == 2
    signs = np.where(few, 1.0, rng.choice([-1.0, 1.0], rows))
    assert detect_network(sparse.diags_array(signs) @ table.matrix) is not None


@pytest.mark.parametrize(
    "options",
    [
        {"shape": (9, 7), "trees": 2},
        {"shape": (12, 11), "trees": 2},
        {"shape": (6, 4, 3)},
        {"shape": (6, 4, 3), "trees": 1},
        {"shape": (7, 5, 3), "trees": 1, "linked": True},
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_other_tables_are_refused(options: dict[str, object], seed: int) -> None:
    assert detect_network(make("random", seed=seed, **options).matrix) is None


@pytest.mark.parametrize("seed", range(4))
def test_an_equation_short_nothing_wrong_is_left_out(seed: int) -> None:
    """Without one equation, others that followed from it no longer do."""
    table = tree_by_flat(seed, 9, 2, 0.0)
    refused = 0
    for row in range(table.matrix.shape[0]):
        less = sparse.csr_array(table.matrix[np.arange(table.matrix.shape[0]) != row])
        found = implied_equations(less)
        refused += found is None
        if found is not None:
            dense = less.toarray()
            rest = np.delete(dense, found, axis=0)
            assert np.linalg.matrix_rank(rest) == np.linalg.matrix_rank(dense)
    assert refused


def farthest(table: Table, hidden: np.ndarray, cell: int, sign: int) -> float:
    """How far a cell moves among hidden ones, by a program over all equations."""
    low = np.where(hidden, table.lower - table.value, 0.0)
    high = np.where(hidden, table.upper - table.value, 0.0)
    aim = np.zeros(len(table))
    aim[cell] = -sign
    matrix = table.matrix
    answer = linprog(
        aim, A_eq=matrix, b_eq=np.zeros(matrix.shape[0]), bounds=np.c_[low, high]
    )
    assert answer.status == 0
    return -float(answer.fun)


@pytest.mark.parametrize("seed", range(6))
def test_the_judge_agrees_with_the_program(seed: int) -> None:
    table = make("random", seed=seed, shape=(8, 4), trees=1, bounds="tau")
    rng = np.random.default_rng(seed)
    for share in (0.2, 0.5, 0.8):
        hidden = (table.status == "u") | (
            (rng.random(len(table)) < share) & (table.status != "z")
        )
        verdict, _ = judge(table.with_pattern(hidden))
        short = [
            k
            for k in table.primaries.tolist()
            if farthest(table, hidden, k, 1) < table.upl[k] - 1e-6
            or farthest(table, hidden, k, -1) < table.lpl[k] - 1e-6
        ]
        assert verdict.safe == (not short)
        assert {e.label for e in verdict.exposed} == {table.label(k) for k in short}


@pytest.mark.parametrize("name", ["sp", "kelly", "pbp", "gensup", "hybrid", "optimal"])
def test_methods_for_networks_take_trees(name: str) -> None:
    table = make("random", seed=4, shape=(9, 5), trees=1)
    problem = Problem.of(table)
    assert find_method(name).takes(problem) is None
    search = Search(seed=1)
    pattern = run_method(name, problem, search)
    assert judge(table.with_pattern(pattern.hidden))[0].safe
    if name in ("hybrid", "optimal"):
        assert search.bound is not None
        assert 0 < search.bound <= pattern.cost * (1 + 1e-9)
