"""Sub-tables read from equations are those that labels give."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from evosdc.instances import make
from evosdc.suppress.structure.subtables import subtables
from evosdc.table import Dimension, Hierarchy, Table, build_table, link_tables


def crossed(table: Table) -> set[frozenset[int]]:
    """Cross one code with its parts of each dimension (de Wolf 2002), by labels."""
    where = {tuple(row): cell for cell, row in enumerate(table.codes.tolist())}
    groups = []
    for d in table.dimensions:
        h = d.hierarchy
        parents = np.flatnonzero(~h.is_leaf).tolist()
        groups.append([[p, *h.children(p)] for p in parents])
    return {
        frozenset(where[codes] for codes in product(*combination) if codes in where)
        for combination in product(*groups)
    }


def sets(table: Table) -> set[frozenset[int]]:
    return {frozenset(part.cells.tolist()) for part in subtables(table)}


@pytest.mark.parametrize(
    ("shape", "trees"),
    [((6, 5), 0), ((9, 6), 2), ((6, 4, 3), 1), ((12, 9, 5), 3), ((3, 3, 2, 3), 0)],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_like_labels(shape: tuple[int, ...], trees: int, seed: int) -> None:
    table = make("random", seed, shape=shape, trees=trees)
    assert sets(table) == crossed(table)


def test_absent_cells_change_nothing() -> None:
    tree = Hierarchy.from_parents(
        {"N": "Total", "S": "Total", "n1": "N", "n2": "N", "s1": "S", "s2": "S"}
    )
    dims = [Dimension("r", tree), Dimension("a", Hierarchy.flat("xyz"))]
    leaves = np.flatnonzero(tree.is_leaf)
    codes = [(r, a) for r in leaves for a in (1, 2, 3) if (r + a) % 4]
    table = build_table(dims, codes, np.arange(1, len(codes) + 1), missing="empty")
    assert sets(table) == crossed(table)


def test_linked_tables_are_cut_one_by_one() -> None:
    whole = make("random", 9, shape=(7, 5, 3), trees=1)
    parts = []
    for k in (1, 2):
        keep = [0, k]
        other = 3 - k
        at = whole.codes[:, other] == 0
        parts.append(
            build_table(
                [whole.dimensions[0], whole.dimensions[k]],
                whole.codes[at][:, keep],
                whole.value[at],
            )
        )
    linked = link_tables(parts)
    expected = {
        frozenset(place[list(cells)].tolist())
        for part, place in zip(parts, linked.cell_numbers, strict=True)
        for cells in crossed(part)
    }
    assert sets(linked.table) == expected


@pytest.mark.parametrize("linked", [False, True])
def test_every_equation_is_in_a_subtable_with_all_its_cells(linked: bool) -> None:
    table = make("random", 4, shape=(7, 5, 4), trees=2, linked=linked)
    dense = table.matrix.toarray()
    seen: set[tuple[float, ...]] = set()
    for part in subtables(table):
        for row in part.equations:
            assert set(np.flatnonzero(dense[row])) <= set(part.cells.tolist())
            seen.add(tuple(dense[row]))
    assert seen == {tuple(row) for row in dense}


def test_higher_subtables_come_first() -> None:
    table = make("random", 6, shape=(12, 9), trees=2)
    depth = [
        min(
            sum(
                int(d.hierarchy.depth[table.codes[c, k]])
                for k, d in enumerate(table.dimensions)
            )
            for c in part.cells
        )
        for part in subtables(table)
    ]
    assert depth == sorted(depth)
    assert depth == [part.depth for part in subtables(table)]


def test_equations_without_a_total_stand_alone() -> None:
    matrix = np.array([[1.0, 1, -1, -1], [1, 1, 0, -1]])
    table = Table.of([1.0, 2, 0, 3], matrix, status="s")
    assert sets(table) == {frozenset({0, 1, 2, 3}), frozenset({0, 1, 3})}
