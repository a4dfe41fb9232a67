"""Trees of codes, and what is refused."""

from __future__ import annotations

import pytest

from evosdc.errors import HierarchyError
from evosdc.table import Hierarchy


def test_levels_make_a_ragged_tree() -> None:
    tree = Hierarchy.from_levels([("A", "A1"), ("A", "A2"), ("B",), ("X", "X")])
    assert tree.codes == ("Total", "A", "A1", "A2", "B", "X")
    assert tree.depth.tolist() == [0, 1, 2, 2, 1, 1]
    assert tree.is_leaf.tolist() == [False, False, True, True, True, True]
    assert [tree.codes[c] for c in tree.children(tree.node_of["A"])] == ["A1", "A2"]
    assert not tree.is_flat


def test_parents_may_come_in_any_order() -> None:
    tree = Hierarchy.from_parents({"a1": "a", "b": "T", "a": "T"}, total="T")
    assert set(tree.codes) == {"T", "a", "a1", "b"}
    assert all(p < i for i, p in enumerate(tree.parents))


def test_a_parent_outside_the_mapping_hangs_under_the_total() -> None:
    tree = Hierarchy.from_parents({"a1": "a", "a2": "a"})
    assert tree.codes == ("Total", "a", "a1", "a2")


def test_cycles_are_refused() -> None:
    with pytest.raises(HierarchyError, match="cycle"):
        Hierarchy.from_parents({"a": "b", "b": "a", "c": "Total"})


def test_two_parents_are_refused() -> None:
    with pytest.raises(HierarchyError, match="two parents"):
        Hierarchy.from_levels([("A", "x"), ("B", "x")])


def test_a_total_with_a_parent_is_refused() -> None:
    with pytest.raises(HierarchyError, match="has a parent"):
        Hierarchy.from_parents({"Total": "a", "a": "b"})


def test_duplicate_codes_are_refused() -> None:
    with pytest.raises(HierarchyError, match="stands twice"):
        Hierarchy.flat(["a", "b", "a"])
