"""Levels a hair from the end of the attacker's interval are decided exactly."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.attack import general, judge
from evosdc.table import Table

# How far down the sensitive cell can go, by linear programming.
END = 7.666666666666667


def _table(level: float) -> Table:
    return Table.of(
        [15.0, 12.0, 2.0, 26.0, 21.0],
        [
            [3, 0, 0, 0, -1],
            [3, -1, 1, 3, 0],
            [0, -2, 0, 0, -2],
            [3, 0, 0, 0, -1],
            [0, -4, 0, 0, -4],
        ],
        rhs=[24.0, 113.0, -66.0, 24.0, -132.0],
        status=["m", "m", "m", "u", "m"],
        lower=[0.0, 5.0, 0.0, -np.inf, 7.0],
        upper=[21.0, np.inf, 11.0, np.inf, 31.0],
        lpl=[0.0, 0.0, 0.0, level, 0.0],
    )


@pytest.mark.parametrize("share", [1e-4, 1e-8, 1e-9])
def test_just_below_the_end(share: float) -> None:
    verdict, _ = judge(_table(END * (1 - share)))
    assert verdict.safe
    assert verdict.exact


def test_above_the_end() -> None:
    verdict, _ = judge(_table(END * (1 + 1e-7)))
    assert not verdict.safe


def test_totals_that_add_up_to_the_last_digit_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Cells of a total cannot all be at their bounds: they differ by a hair."""
    # The whole program alone has to do it.
    monkeypatch.setattr(general, "_PER_EQUATION", ())
    total = 0.1 + 0.2
    assert total > 0.3
    table = Table.of(
        [5.0, total, 0.1, 0.2, 0.75, 0.25, 0.25, 0.25],
        [
            [1, 1, 0, 0, 1, 0, 0, 0],
            [2, 2, 0, 0, 2, 0, 0, 0],
            [0, -1, 1, 1, 0, 0, 0, 0],
            [0, 0, 0, 0, -1, 1, 1, 1],
        ],
        rhs=[5.75 + total, 2 * (5.75 + total), 0.0, 0.0],
        status=["u", "m", "m", "m", "m", "m", "m", "m"],
        upl=[0.8, 0, 0, 0, 0, 0, 0, 0],
    )
    verdict, _ = judge(table)
    assert verdict.safe
    assert verdict.exact
    assert verdict.proofs["full LP"]
