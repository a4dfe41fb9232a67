"""Status by hand."""

from __future__ import annotations

import numpy as np
import pytest

from builders import flat_table
from evosdc.errors import InputError, TableError
from evosdc.rules import Manual, set_status


@pytest.fixture
def table():
    dims = {"region": "NS", "sex": "fm"}
    return flat_table(dims, [10.0, 20, 30, 0], missing="error")


def test_unsafe_with_levels_by_percentage(table):
    marked = set_status(table, [("N", "f"), {"sex": "m", "region": "N"}], "unsafe")
    assert marked.status[:2].tolist() == ["u", "u"]
    assert marked.upl[:2] == pytest.approx([2, 4])
    assert marked.lpl[:2] == pytest.approx([2, 4])
    wide = set_status(table, [0], "unsafe", manual=Manual(150))
    assert (wide.upl[0], wide.lpl[0]) == (15, 10)  # no less than nothing
    assert table.status[0] == "s"


def test_unsafe_with_own_levels(table):
    marked = set_status(table, np.array([0, 1]), "unsafe", lpl=[1, 2], upl=7)
    assert marked.lpl[:2].tolist() == [1, 2]
    assert marked.upl[:2].tolist() == [7, 7]
    again = set_status(marked, [0], "unsafe")
    assert (again.lpl[0], again.upl[0]) == (1, 7)


def test_safe_takes_back(table):
    marked = set_status(table, [0], "unsafe")
    safe = set_status(marked, [0], "safe")
    assert safe.status[0] == "s"
    assert safe.upl[0] == safe.lpl[0] == 0


def test_protected_by_mask(table):
    mask = np.arange(len(table)) == 2
    assert set_status(table, mask, "protected").status.tolist()[2] == "z"


def test_contradictions(table):
    unsafe = set_status(table, [0], "unsafe")
    with pytest.raises(TableError, match="region=N, sex=f"):
        set_status(unsafe, [0], "protected")
    protected = set_status(table, [("S", "f")], "protected")
    with pytest.raises(TableError, match="region=S, sex=f"):
        set_status(protected, [("S", "f")], "unsafe")


@pytest.mark.parametrize(
    "cells",
    [
        [("N", "x")],
        [("N",)],
        [("N", "f", "f")],
        [{"region": "N", "sex": "f", "age": "1"}],
        [99],
        [-1],
        [0.5],
        np.array([True, False]),
    ],
)
def test_cells_that_are_not_there(table, cells):
    with pytest.raises(InputError):
        set_status(table, cells, "unsafe")


def test_unknown_status_and_misplaced_levels(table):
    with pytest.raises(InputError, match="maybe"):
        set_status(table, [0], "maybe")
    with pytest.raises(InputError, match="levels"):
        set_status(table, [0], "safe", upl=3)


def test_nothing_to_do(table):
    assert set_status(table, [], "unsafe").status.tolist() == table.status.tolist()
