"""Means and standard deviations of numbers are held inside bins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evosdc.frames import to_arrow
from evosdc.synth import Coding
from evosdc.synth.data.domain import make_domain
from evosdc.synth.moments import find_moments, hold_moments


def table(size: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"income": rng.lognormal(7, 0.6, size).round(1)})


def prepared(size: int = 3000):
    arrow = to_arrow(table(size))
    domain = make_domain(arrow, Coding())
    return arrow, domain, domain.encode(arrow)


@pytest.mark.parametrize("power", [0.6, 1.0, 1.6])
def test_ranks_that_lie_too_low_or_too_high_are_tilted_back(power):
    arrow, domain, codes = prepared()
    rng = np.random.default_rng(1)
    moments = find_moments(domain, arrow, [0])
    skewed = rng.random(len(codes)) ** power
    held = hold_moments(domain, codes, {0: skewed}, moments)[0]
    numbers = domain.variables[0].numbers(codes[:, 0], held)
    error = moments[0].spread / np.sqrt(moments[0].people)
    assert abs(numbers.mean() - moments[0].mean) <= 0.6 * error
    assert numbers.std(ddof=1) == pytest.approx(moments[0].spread, rel=0.03)
    # The order inside a bin stays.
    for level in np.unique(codes):
        mine = codes[:, 0] == level
        assert (np.argsort(held[mine]) == np.argsort(skewed[mine])).all()


def test_ranks_that_are_right_stay_as_they_are():
    arrow, domain, codes = prepared()
    moments = find_moments(domain, arrow, [0])
    rng = np.random.default_rng(1)
    once = hold_moments(domain, codes, {0: rng.random(len(codes))}, moments)
    again = hold_moments(domain, codes, once, moments)
    assert np.abs(again[0] - once[0]).max() < 1e-3


def test_a_shape_is_not_bent_beyond_its_limit():
    arrow, domain, codes = prepared()
    moments = find_moments(domain, arrow, [0])
    # Everybody in the lowest bin: no rank brings the mean back.
    lowest = np.zeros_like(codes)
    held = hold_moments(domain, lowest, {0: np.full(len(codes), 0.5)}, moments)[0]
    steepest = 0.5 ** (1 / 3)
    most = steepest**3 / (steepest**3 + (1 - steepest) ** 3)
    assert held.max() <= most + 1e-9


def test_a_long_tail_keeps_the_spread_that_coding_took():
    rng = np.random.default_rng(3)
    arrow = to_arrow(pd.DataFrame({"paid": rng.pareto(2.2, 5000).round(3) * 1000}))
    domain = make_domain(arrow, Coding())
    codes = domain.encode(arrow)
    moments = find_moments(domain, arrow, [0])[0]
    paid = np.asarray(arrow["paid"])
    variable = domain.variables[0]
    left = variable.with_coded_tails(paid).std() / paid.std()
    assert 0.75 < left < 0.95
    assert moments.spread == pytest.approx(paid.std(ddof=1))
    drawn = {0: rng.random(len(codes))}
    held = hold_moments(domain, codes, drawn, {0: moments})[0]
    numbers = variable.numbers(codes[:, 0], held)
    assert numbers.std() / paid.std() == pytest.approx(1.0, abs=0.04)
    assert abs(numbers.mean() - paid.mean()) < 0.6 * paid.std() / np.sqrt(5000)
    # No number is beyond what enough people reach.
    assert numbers.max() <= np.sort(paid)[-5]


def test_one_huge_number_moves_nothing():
    plain, huge = table(), table()
    huge.loc[0, "income"] = 1e9
    found = []
    for frame in (plain, huge):
        arrow = to_arrow(frame)
        domain = make_domain(arrow, Coding())
        found.append(find_moments(domain, arrow, [0])[0])
    assert found[1].mean == pytest.approx(found[0].mean, rel=0.01)
    assert found[1].spread == pytest.approx(found[0].spread, rel=0.02)
