"""The table itself: defaults, checks, patterns."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.errors import LevelError, TableError
from evosdc.suppress.problem.problem import Problem
from evosdc.table import Table

ROW = np.array([[1.0, 1.0, -1.0]])


def test_defaults() -> None:
    table = Table.of([0.0, 4.0, 4.0], ROW)
    assert table.status.tolist() == ["z", "s", "s"]
    assert table.lower.tolist() == [0, 0, 0]
    assert np.isinf(table.upper).all()
    assert table.weight.tolist() == [0, 4, 4]


def test_negative_values_need_bounds_that_allow_them() -> None:
    table = Table.of([-2.0, 4.0, 2.0], ROW)
    assert table.lower[0] == -np.inf
    with pytest.raises(TableError, match="outside its external bounds"):
        Table.of([-2.0, 4.0, 2.0], ROW, lower=0.0)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("weight", -1.0, "weight that is negative"),
        ("upl", -1.0, "level upl that is negative"),
        ("lpl", np.nan, "level lpl that is negative or not finite"),
        ("status", "q", "unknown status"),
    ],
)
def test_bad_columns_are_refused(column: str, value: object, message: str) -> None:
    with pytest.raises(TableError, match=message):
        Table.of([1.0, 4.0, 5.0], ROW, **{column: value})  # type: ignore[arg-type]


def test_a_fixed_cell_cannot_be_hidden() -> None:
    table = Table.of([0.0, 4.0, 4.0], ROW)
    with pytest.raises(TableError, match="fixed cell is hidden"):
        table.with_pattern(np.array([True, False, False]))


def test_patterns_replace_the_old_secondaries() -> None:
    table = Table.of([1.0, 4.0, 5.0], ROW, status=["u", "m", "s"])
    after = table.with_pattern(np.array([True, False, True]))
    assert after.status.tolist() == ["u", "s", "m"]


def test_levels_beyond_the_bounds_are_refused_with_what_can_be_had() -> None:
    table = Table.of(
        [1.0, 4.0, 5.0], ROW, status=["u", "s", "s"], lpl=[2.0, 0, 0], upl=[1.0, 0, 0]
    )
    with pytest.raises(LevelError, match=r"cell 0 \(lower level: at most 50 %"):
        Problem.of(table)


def test_strict_asks_for_one_unit_more_in_whole_tables() -> None:
    table = Table.of(
        [3.0, 4.0, 7.0], ROW, status=["u", "s", "s"], lpl=[2.0, 0, 0], upl=[1.0, 0, 0]
    )
    assert Problem.of(table).levels.amount.tolist() == [1.0, 2.0]
    assert Problem.of(table, strict=True).levels.amount.tolist() == [2.0, 3.0]


def test_sliding_levels_are_listed_where_the_others_do_not_imply_them() -> None:
    table = Table.of(
        [9.0, 9.0, 18.0],
        ROW,
        status=["u", "u", "s"],
        lpl=[2.0, 2.0, 0],
        upl=[1.0, 1.0, 0],
        spl=[3.0, 4.0, 0],
    )
    levels = Problem.of(table).levels
    assert levels.slide.tolist() == [1]
    assert levels.slide_amount.tolist() == [4.0]
