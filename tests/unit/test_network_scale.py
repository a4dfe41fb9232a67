"""Whole capacities: exact for decimals, never too generous otherwise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from evosdc.suppress.engine.network.levels import whole_capacities
from evosdc.suppress.problem.problem import Problem
from evosdc.table import Table


def problem_of(value, level, lower=0.0, upper=np.inf) -> Problem:
    value = np.asarray(value, dtype=float)
    table = Table.of(
        value,
        sparse.csr_array((0, len(value))),
        status=["u"] + ["s"] * (len(value) - 1),
        upl=[level] + [0.0] * (len(value) - 1),
        lpl=[level] + [0.0] * (len(value) - 1),
        lower=lower,
        upper=upper,
    )
    return Problem.of(table)


def test_decimals_are_exact():
    found = whole_capacities(problem_of([0.3, 0.1, 0.7], 0.2, upper=1.1))
    assert found.unit == 0.1
    assert found.amount.tolist() == [2, 2]
    # 1.1 - 0.3 and so on, cut off at the largest level.
    assert found.up.tolist() == [2, 2, 2]
    assert found.down.tolist() == [2, 1, 2]


def test_levels_are_rounded_up_to_units():
    found = whole_capacities(problem_of([9.0, 2.0], 0.1 + 0.2))
    assert found.unit == 1.0
    assert found.amount.tolist() == [1, 1]


def test_noise_in_one_total_does_not_blur_other_cells():
    noisy = 0.1 + 0.2 + 5.0  # not a short decimal
    found = whole_capacities(problem_of([noisy, 2.0, 0.7], 2.0, upper=50.0))
    assert found.down[1] == found.amount[0]
    assert found.down[2] * found.unit == pytest.approx(0.7)


def test_a_room_next_to_a_whole_unit_is_read_as_decimals():
    """25.300000000000004 is enough for 25.3, whatever subtracting doubles loses."""
    bound = 16.859999999999996
    found = whole_capacities(problem_of([42.16, 42.16], 25.3, bound, [67.46, np.inf]))
    assert found.down.tolist() == found.amount.tolist()


def test_rounding_never_adds_room():
    rng = np.random.default_rng(0)
    value = rng.uniform(0, 1000, 400)
    lower, upper = value * rng.uniform(0, 1, 400), value * rng.uniform(1, 2, 400)
    level = min(upper[0] - value[0], value[0] - lower[0]) * 0.9
    found = whole_capacities(problem_of(value, level, lower, upper))
    scale = round(1 / found.unit)
    assert scale == 10 ** (len(str(scale)) - 1)

    def exact(number: float) -> Fraction:
        return Fraction(repr(float(number)))

    for i in range(400):
        assert Fraction(int(found.up[i]), scale) <= exact(upper[i]) - exact(value[i])
        assert Fraction(int(found.down[i]), scale) <= exact(value[i]) - exact(lower[i])
    assert Fraction(int(found.amount[0]), scale) >= exact(level)
    # And it takes next to nothing away.
    room = np.minimum(upper - value, level)
    np.testing.assert_allclose(found.up * found.unit, room, rtol=1e-9, atol=1e-11)
