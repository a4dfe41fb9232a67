"""Levels a hair from the end of the attacker's interval are decided exactly."""

from __future__ import annotations

import pytest

from evosdc.attack import judge
from evosdc.table import Table


def _table(level: float) -> Table:
    """A cell that three hidden cells hold: it can go up by 29/3 and no further."""
    return Table.of(
        [22.0, 26.0, 2.0],
        [[3, -1, 0], [0, 1, -1]],
        rhs=[40.0, 24.0],
        status=["u", "m", "m"],
        lower=[0.0, 0.0, 0.0],
        upper=[100.0, 55.0, 100.0],
        upl=[level, 0.0, 0.0],
    )


@pytest.mark.parametrize("share", [1e-4, 1e-8, 1e-9, 1e-11])
def test_just_below_the_end(share: float) -> None:
    verdict, _ = judge(_table(29 / 3 * (1 - share)))
    assert verdict.safe
    assert verdict.exact


def test_above_the_end() -> None:
    verdict, _ = judge(_table(29 / 3 * (1 + 1e-7)))
    assert not verdict.safe
