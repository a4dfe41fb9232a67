"""Dimensions found from equations alone."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from linear_twins import all_boxes, sparse_table, tree_of, without_labels, witnesses_of
from scipy import sparse

from evosdc.instances import make
from evosdc.suppress.engine.general.boxes import boxes_of
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.equations import find_codes, totals_of
from evosdc.table import Dimension, Hierarchy, Table, build_table
from evosdc.table.build import equations


def written(matrix: object) -> set[tuple[frozenset[int], int]]:
    """Equations as sets of parts, each with its total."""
    rows = sparse.csr_array(matrix)
    found = set()
    for row in range(rows.shape[0]):
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        cells, sign = rows.indices[part], rows.data[part]
        (total,) = cells[sign < 0].tolist()
        found.add((frozenset(cells[sign > 0].tolist()), total))
    return found


def product_of(trees: list[Hierarchy], seed: int) -> Table:
    rng = np.random.default_rng(seed)
    dims = [Dimension(f"d{k}", tree) for k, tree in enumerate(trees)]
    leaves = [np.flatnonzero(tree.is_leaf).tolist() for tree in trees]
    inner = np.array(list(product(*leaves)))
    value = rng.integers(1, 50, len(inner)).astype(float)
    status = np.where(rng.random(len(inner)) < 0.15, "u", "s")
    status[int(rng.integers(len(inner)))] = "u"
    level = np.where(status == "u", 1.0, 0.0)
    return build_table(dims, inner, value, status=status, upl=level, lpl=level)


def random_product(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    most = {2: 12, 3: 8, 4: 5}
    count = 2 + seed % 3
    return product_of(
        [tree_of(rng, int(rng.integers(3, most[count]))) for _ in range(count)], seed
    )


def assert_fit(table: Table) -> bool:
    """Every equation runs along one found dimension; whether any were found."""
    found = find_codes(table)
    if found is None:
        return False
    dims, codes = found
    assert codes.shape == (len(table), len(dims))
    assert len(np.unique(codes, axis=0)) == len(table)
    heads = totals_of(table.matrix)
    assert heads is not None
    matrix = table.matrix
    for row, head in enumerate(heads.tolist()):
        cells = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        for part in cells[cells != head].tolist():
            (k,) = np.flatnonzero(codes[part] != codes[head]).tolist()
            assert dims[k].hierarchy.parents[codes[part, k]] == codes[head, k]
    return True


def assert_boxes_hold(table: Table) -> int:
    """Whatever boxes cover is hidden and keeps equations and bounds; how many."""
    problem = Problem.of(table)
    witnesses = witnesses_of(problem)
    boxes = boxes_of(problem, witnesses.rows)
    if boxes is None:
        return 0
    hidden = problem.primary.copy()
    boxes.cover(witnesses, hidden, np.arange(len(witnesses.rows.cell)))
    pool, rows = witnesses.pool, witnesses.rows
    for row in np.flatnonzero(pool.covered).tolist():
        begin = pool.begin[pool.witness[row]]
        part = slice(begin, begin + pool.length[pool.witness[row]])
        cells, by = pool.entry_cell[part], pool.entry_by[part]
        move = np.zeros(len(table))
        move[cells] = by
        assert move[rows.cell[row]] != 0.0
        assert hidden[cells].all()
        assert np.abs(table.matrix @ move).max() <= 1e-9 * np.abs(move).max()
        assert np.all(move <= problem.up)
        assert np.all(-move <= problem.down)
    return int(witnesses.covered.sum())


@pytest.mark.parametrize("seed", range(24))
def test_a_product_of_trees_is_found_again(seed: int) -> None:
    table = random_product(seed)
    bare, _ = without_labels(table, seed)
    found = find_codes(bare)
    assert found is not None
    dims, codes = found
    assert sorted(len(d.hierarchy) for d in dims) == sorted(
        len(d.hierarchy) for d in table.dimensions
    )
    assert sorted(np.sort(d.hierarchy.depth).tolist() for d in dims) == sorted(
        np.sort(d.hierarchy.depth).tolist() for d in table.dimensions
    )
    assert written(equations(dims, codes)) == written(bare.matrix)


@pytest.mark.parametrize("seed", range(6))
def test_boxes_of_found_dimensions_cover_what_labels_cover(seed: int) -> None:
    table = random_product(seed)
    bare, _ = without_labels(table, seed)
    assert assert_boxes_hold(bare) == assert_boxes_hold(table)


@pytest.mark.parametrize("seed", range(8))
def test_tables_that_are_no_product_give_nothing_wrong(seed: int) -> None:
    tables = [
        make("random", seed, shape=(4, 3, 3), trees=seed % 3, linked=True),
        make("random", seed, shape=(4, 3), parts=2),
        make("random", seed, shape=(3, 3, 3), empty=1, zeros=0.4),
    ]
    for table in tables:
        bare, _ = without_labels(table, seed)
        assert_fit(bare)
        assert_boxes_hold(bare)
    for absent in (0.2, 0.5, 0.8):
        table = sparse_table(seed, (4, 3, 3), seed % 3, absent)
        assert_boxes_hold(with_levels(without_labels(table, seed)[0], seed))


def with_levels(table: Table, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    primary = (rng.random(len(table)) < 0.2) & (table.value > 1)
    level = np.where(primary, 1.0, 0.0)
    status = np.where(primary, "u", table.status)
    return table.replace(status=status, upl=level, lpl=level)


ODD = {
    "one cell": ([3.0], np.empty((0, 1))),
    "no equations": ([3.0, 4.0], np.empty((0, 2))),
    "a cell that is zero": ([0.0], [[1.0]]),
    "an equation of nothing": ([3.0, 4.0], [[0.0, 0.0]]),
    "a coefficient of two": ([2.0, 4.0], [[2.0, -1.0]]),
    "a total of one part": ([3.0, 3.0], [[1.0, -1.0]]),
    "two cells that add up to zero": ([0.0, 0.0], [[1.0, 1.0]]),
    "an equation that stands twice": ([1.0, 2.0, 3.0], [[1, 1, -1], [1, 1, -1]]),
    "an equation and its reverse": ([1.0, 2.0, 3.0], [[1, 1, -1], [-1, -1, 1]]),
    "totals in a circle": ([0.0, 0.0, 0.0], [[1, -1, 1], [-1, 1, 1]]),
    "a circle beside a cell": (
        [1.0, 1.0, 0.0, 0.0, 5.0],
        [[1, -1, 1, 0, 0], [-1, 1, 0, 1, 0]],
    ),
    "a total split up in two ways": (
        [1.0, 2.0, 1.5, 1.5, 3.0],
        [[1, 1, 0, 0, -1], [0, 0, 1, 1, -1]],
    ),
    "a part of two totals": (
        [1.0, 2.0, 3.0, 3.0, 4.0],
        [[1, 1, 0, -1, 0], [1, 0, 1, 0, -1]],
    ),
    "two tables that share nothing": (
        [1.0, 2.0, 3.0, 1.0, 2.0, 3.0],
        [[1, 1, -1, 0, 0, 0], [0, 0, 0, 1, 1, -1]],
    ),
    "a cell beside the table": ([1.0, 2.0, 3.0, 7.0], [[1, 1, -1, 0]]),
    "a right-hand side": ([1.0, 2.0, 1.0], [[1, 1, -1]]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_tables_do_no_harm(name: str) -> None:
    value, matrix = ODD[name]
    rows = np.asarray(matrix, dtype=float)
    level = np.where(np.array(value) > 0, 0.5, 0.0)
    status = np.where(level > 0, "u", "s")
    table = Table.of(value, rows, rhs=rows @ value, status=status, upl=level, lpl=level)
    assert_fit(table)
    assert_boxes_hold(table)


def test_equations_at_random_do_no_harm() -> None:
    """Parts and totals that make no table: boxes that break an equation are refused."""
    rng = np.random.default_rng(0)
    found = covered = 0
    for _ in range(300):
        n = int(rng.integers(4, 12))
        rows = np.zeros((int(rng.integers(1, 7)), n))
        for row in rows:
            cells = rng.choice(n, int(rng.integers(2, 5)), replace=False)
            row[cells], row[cells[0]] = 1.0, -1.0
        table = Table.of(
            np.zeros(n), rows, status="u", lower=-2.0, upper=2.0, lpl=1.0, upl=1.0
        )
        found += assert_fit(table)
        covered += assert_boxes_hold(table)
    assert found > 50
    assert covered > 200


def test_a_line_is_a_table_of_one_dimension() -> None:
    bare, _ = without_labels(product_of([Hierarchy.flat("abcd")], 1), 0)
    found = find_codes(bare)
    assert found is not None
    assert [len(d.hierarchy) for d in found[0]] == [5]


def test_single_parts_in_every_dimension_do_no_harm() -> None:
    """A total with one part has the part's value in every cell."""
    single = Hierarchy(("t", "a", "a1", "b", "b1", "b2"), (-1, 0, 1, 0, 3, 3))
    table = product_of([single, single, Hierarchy.flat("xy")], 2)
    assert assert_boxes_hold(table) > 0
    assert_boxes_hold(without_labels(table, 0)[0])


def test_more_dimensions_than_are_looked_for() -> None:
    """Seven dimensions of a total and two parts: no dimensions are found."""
    table = product_of([Hierarchy.flat("ab")] * 7, 0)
    assert find_codes(without_labels(table, 0)[0]) is None
    assert all_boxes(table) is not None
