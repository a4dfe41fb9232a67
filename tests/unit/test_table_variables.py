"""Levels of a variable: trees cut and merged, rings by levels, only parts of totals."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.errors import HierarchyError, TableError
from evosdc.table import Dimension, Hierarchy, build_table
from evosdc.table.attackers import OwnShares
from evosdc.table.origin import Axis, Origin
from evosdc.table.parts import in_a_ring, splits, union

FINE = Hierarchy.from_levels([("A", "A1", "A1x"), ("A", "A1", "A1y"), ("B", "B2")])


def level(name: str, *codes: str) -> Dimension:
    return Dimension(name, Hierarchy.flat(codes))


def test_a_tree_without_some_nodes_has_the_next_above() -> None:
    kept = np.array([code in ("A", "A1x", "A1y", "B2") for code in FINE.codes])
    tree = FINE.restricted(kept)
    assert tree.codes == ("Total", "A", "A1x", "A1y", "B2")
    assert tree.parents == (-1, 0, 1, 1, 0)
    assert FINE.restricted(np.ones(len(FINE), dtype=bool)) is FINE


@pytest.mark.parametrize("order", [1, -1])
def test_a_tree_that_leaves_out_levels_is_merged(order: int) -> None:
    dims = [Dimension("v", FINE), level("v", "A1", "B2")]
    (joint,) = union(dims[::order])
    parent = {
        code: joint.hierarchy.codes[joint.hierarchy.parents[n]]
        for n, code in enumerate(joint.hierarchy.codes)
        if n
    }
    assert parent == {
        **{"A": "Total", "A1": "A", "A1x": "A1", "A1y": "A1"},
        **{"B": "Total", "B2": "B"},
    }


def test_trees_that_contradict_each_other_are_not_merged() -> None:
    other = Hierarchy.from_parents({"A1": "C"})
    with pytest.raises(TableError, match="'A1' of 'v' has two parents"):
        union([Dimension("v", FINE), Dimension("v", other)])
    upside_down = Hierarchy.from_parents({"A": "A1"})
    with pytest.raises((TableError, HierarchyError)):
        union([Dimension("v", FINE), Dimension("v", upside_down)])


def test_levels_make_rings_as_variables_do() -> None:
    every, upper = FINE.codes, ("Total", "A", "B")
    fine, coarse = splits(FINE, "v", every), splits(FINE, "v", upper)
    assert coarse < fine
    # v by s, s by t, and t by a level of v.
    assert in_a_ring([fine | {("s", "")}, {("s", ""), ("t", "")}, coarse | {("t", "")}])
    # Levels in steps are no ring: each table agrees with the next in what they share.
    other = Hierarchy.from_levels([("X", "X1"), ("X", "X2"), ("Y", "Y1")])
    whole, top = splits(other, "w", other.codes), splits(other, "w", ("X", "Y"))
    assert not in_a_ring([fine | top, coarse | whole])


def test_the_only_part_of_a_total_is_known_as_well_as_the_total() -> None:
    """B at n1 and n2 is c alone: who is alone in B at n1 knows c is no less."""
    dims = [
        Dimension("a", Hierarchy.from_levels([("B", "c"), ("D", "d")])),
        Dimension("n", Hierarchy.flat(["n1", "n2"])),
    ]
    node = [{code: k for k, code in enumerate(d.hierarchy.codes)} for d in dims]
    cells = {("c", "n1"): 70.0, ("c", "n2"): 5.0, ("d", "n1"): 9.0, ("d", "n2"): 8.0}
    table = build_table(
        dims, [(node[0][a], node[1][n]) for a, n in cells], list(cells.values())
    )
    at = {table.label(i): i for i in range(len(table))}
    known = at["a=B, n=n1"]
    room = OwnShares(table).room({known: 0.0}, {known})
    assert room[at["a=B, n=Total"]] == 5.0
    assert room[at["a=c, n=Total"]] == 5.0
    assert at["a=d, n=Total"] not in room


def test_the_tables_travel_with_the_origin() -> None:
    axes = ((Axis("A88", "A21", ("Total", "A")), Axis("s", "s")),)
    origin = Origin(tables=axes, unlinked=("a and b",))
    assert Origin.from_json(origin.as_json()) == origin
    assert Origin.from_json({}) == Origin()
    assert Origin().unlinked is None
