"""What an attacker is assumed to know of each cell, at its limits."""

from __future__ import annotations

import numpy as np
import pytest

from builders import flat_table
from evosdc.errors import InputError
from evosdc.table.knowledge import as_counts, with_bounds, with_threshold


def test_a_threshold_is_known_of_the_counts_below_it() -> None:
    counts = as_counts(
        flat_table(
            {"r": "abcd"},
            [2.0, 3, 4, 9],
            status=list("uuus"),
            lpl=[1.0, 1, 1, 0],
            upl=[5.0, 5, 5, 0],
        )
    )
    told = with_threshold(counts, 4)
    # A sensitive count of 4 is so for another reason, and may be of any size.
    assert told.upper[:4].tolist() == [3, 3, np.inf, np.inf]
    assert told.upl[:4].tolist() == [1, 0, 5, 0]
    assert told.origin.threshold == 4
    assert told.origin.by_hand == (
        *counts.origin.by_hand,
        "levels of 2 cells cut to what a published threshold leaves",
    )
    with pytest.raises(InputError, match="threshold of 1"):
        with_threshold(counts, 1)


@pytest.mark.parametrize("negative", [-0.5, -7.0])
def test_cells_with_negative_contributions_have_no_floor(negative: float) -> None:
    table = flat_table({"r": "ab", "c": "xy"}, [negative, 8.0, 9.0, 7.0])
    told = with_bounds(table.replace(lower=np.full(len(table), -99.0)), "auto")
    floors = dict(zip(map(tuple, told.codes.tolist()), told.lower, strict=True))
    # The cell itself and the totals it is part of; the others are not below nothing.
    below = {code for code, floor in floors.items() if floor == -np.inf}
    assert below == {(1, 1), (1, 0), (0, 1), (0, 0)}
    assert {floors[code] for code in floors.keys() - below} == {0.0}


def test_bounds_for_all_cells_hold_all_values() -> None:
    table = flat_table({"r": "ab"}, [3.0, 5.0])
    told = with_bounds(table, "3:8")
    assert told.lower.tolist() == [3, 3, 3]
    assert told.upper.tolist() == [8, 8, 8]
    with pytest.raises(InputError, match="1 cells lie outside the bounds 3:7"):
        with_bounds(table, "3:7")
    with pytest.raises(InputError, match="1 cells lie outside the bounds 4:8"):
        with_bounds(table, "4:8")
