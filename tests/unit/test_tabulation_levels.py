"""Hierarchies from columns of the records."""

from __future__ import annotations

import pyarrow as pa
import pytest

from evosdc.errors import HierarchyError, InputError
from evosdc.tabulation import hierarchy_from_columns

RECORDS = pa.table(
    {
        "section": ["A", "A", "B", "X"],
        "division": [1.0, 2.0, 7.0, None],
        "group": ["01.1", "02.0", "07.2", "X"],
    }
)


def test_columns_become_a_tree() -> None:
    tree = hierarchy_from_columns(RECORDS, ["section", "division", "group"])
    assert set(tree.codes) == {
        *("Total", "A", "B", "X"),
        *("1", "2", "7"),
        *("01.1", "02.0", "07.2"),
    }
    assert tree.codes[tree.parents[tree.node_of["02.0"]]] == "2"
    assert tree.codes[tree.parents[tree.node_of["X"]]] == "Total"


def test_a_code_with_two_parents_is_refused() -> None:
    records = pa.table({"a": ["x", "y"], "b": ["1", "1"]})
    with pytest.raises(HierarchyError, match="two parents"):
        hierarchy_from_columns(records, ["a", "b"])


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(InputError, match="no column 'none'"):
        hierarchy_from_columns(RECORDS, ["section", "none"])
