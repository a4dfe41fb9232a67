"""Random instances add up exactly, and every level in them can be had."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from builders import examples
from evosdc.instances import make
from evosdc.instances.random import VALUES
from evosdc.table import Table


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    values = draw(st.sampled_from(sorted(VALUES)))
    return {
        "shape": shape,
        "values": values,
        "trees": draw(st.integers(0, len(shape))),
        "sensitive": draw(st.sampled_from([0.0, 0.3, 1.0])),
        "margins": draw(st.sampled_from([0.0, 0.5])),
        "zeros": draw(st.sampled_from([0.0, 0.3, 1.0])),
        "level": draw(st.sampled_from([0.1, 0.5, 1.0])),
        "bounds": "open"
        if values == "negative"
        else draw(st.sampled_from(["open", "tau"])),
        "width": draw(st.sampled_from([0.0, 0.8])),
        "parts": 1 if len(shape) == 3 else draw(st.integers(1, 2)),
        "linked": len(shape) == 3 and draw(st.booleans()),
    }


def exact(table: Table, values: np.ndarray) -> list[Fraction]:
    return [Fraction(repr(float(v))) for v in values]


@examples(80)
@given(requests(), st.integers(0, 2**32))
def test_equations_hold_in_the_decimals_printed(
    request: dict[str, Any], seed: int
) -> None:
    table = make("random", seed=seed, **request)
    value = exact(table, table.value)
    rows = table.matrix
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        terms = zip(rows.indices[start:end], rows.data[start:end], strict=True)
        assert sum(value[i] * int(c) for i, c in terms) == 0


@examples(40)
@given(requests(), st.integers(0, 2**32))
def test_every_level_can_be_had(request: dict[str, Any], seed: int) -> None:
    table = make("random", seed=seed, **request)
    scale = max(1e-6, float(np.abs(table.value).max()))
    free = table.status != "z"
    low = np.where(free, table.lower - table.value, 0.0) / scale
    high = np.where(free, table.upper - table.value, 0.0) / scale
    for cell in table.primaries[:4]:
        reach = []
        for sign, level in ((1, table.upl[cell]), (-1, table.lpl[cell])):
            aim = np.zeros(len(table))
            aim[cell] = -sign
            # Beyond the level nothing is asked for, so the problem is never unbounded.
            box = np.column_stack([low, high])
            box[cell] = np.clip(box[cell], -2 * abs(table.value[cell] / scale), None)
            box[cell, 1] = min(box[cell, 1], 2 * abs(table.value[cell] / scale))
            found = linprog(aim, A_eq=table.matrix, b_eq=table.rhs, bounds=box)
            assert found.status == 0
            reach.append(-found.fun)
            assert -found.fun >= level / scale - 1e-7
        assert sum(reach) >= table.spl[cell] / scale - 1e-7


@examples(30)
@given(requests(), st.integers(0, 2**32))
def test_fixed_cells_are_the_empty_ones(request: dict[str, Any], seed: int) -> None:
    table = make("random", seed=seed, **request)
    fixed = table.status == "z"
    assert not table.value[fixed].any()
    if request["values"] != "negative":
        assert np.array_equal(fixed, table.value == 0)
    open_levels = (table.lpl + table.upl + table.spl) > 0
    assert not (open_levels & (table.status != "u")).any()
