"""Widths: had upwards or downwards, whichever takes cheaper cells."""

from __future__ import annotations

import numpy as np
import pytest

import evosdc
from evosdc.table import Table


@pytest.mark.parametrize("attackers", ["public", "lone"])
@pytest.mark.parametrize("width", [0.0, 4.0])
@pytest.mark.parametrize("way", [1, -1])
def test_widths_are_had_the_cheaper_way(attackers: str, width: float, way: int) -> None:
    """One cell only falls and one only rises: the first moves the other way.

    Lone respondents are asked about by programs, the public by flows. A width of 0 asks
    only that the first cell is not worked out.
    """
    rises, falls = (1, 20) if way < 0 else (20, 1)
    table = Table.of(
        [10, 6, 6, 22],
        [[1, 1, 1, -1]],
        weight=[1, falls, rises, 1000],
        status=["u", "s", "s", "s"],
        lower=[0, 0, 6, 0],
        upper=[20, 6, 12, np.inf],
        spl=[width, 0, 0, 0],
        frequency=[9, 9, 9, 1],
    )
    result = evosdc.protect(
        table,
        attackers=evosdc.Attackers(who=attackers),
        stop=evosdc.Stop(evaluations=100),
    )
    assert result.safe
    assert result.cost == 1
