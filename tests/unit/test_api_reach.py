"""Levels that no pattern can give, in words that help."""

from __future__ import annotations

import numpy as np

from builders import flat_table
from evosdc.api.pose import _within_reach as within_reach


def test_a_level_that_only_rounding_misses_is_not_called_100_per_cent() -> None:
    """Known within 15 % each, the parts of a total move it by 15 % but for 8e-5."""
    values = [509457299760.21, 860370957060.75]
    table = flat_table({"r": "ab"}, values)
    total = int(np.argmax(table.value))
    level = np.where(np.arange(3) == total, 0.15 * table.value, 0.0)
    table = table.replace(
        status=np.where(np.arange(3) == total, "u", "s"),
        lower=0.85 * table.value,
        upper=1.15 * table.value,
        lpl=level,
        upl=level,
    )
    reach = within_reach(table, False, None)
    (note,) = reach.notes
    assert "but for rounding" in note
    assert "100 %" not in note
    assert 0 < reach.table.upl[total] < level[total]


def test_a_level_out_of_reach_says_how_much_can_be_had() -> None:
    table = flat_table({"r": "ab"}, [10.0, 20.0])
    total = int(np.argmax(table.value))
    level = np.where(np.arange(3) == total, 6.0, 0.0)
    table = table.replace(
        status=np.where(np.arange(3) == total, "u", "s"),
        lower=0.9 * table.value,
        upper=1.1 * table.value,
        lpl=level,
        upl=level,
    )
    (note,) = within_reach(table, False, None).notes
    assert "at most 50 % of its levels" in note
