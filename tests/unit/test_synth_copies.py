"""Combining rules on numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.errors import InputError
from evosdc.evolution.rates import Moment
from evosdc.synth import combine_estimates
from evosdc.synth.search.options import SelfAdaptive, Tuned, parse_rate


def test_combining_rules():
    q, v = [1.0, 2.0, 3.0], [0.5, 0.5, 0.5]
    complete = combine_estimates(q, v)
    assert (complete.estimate, complete.variance) == (2.0, pytest.approx(2 / 3))
    partial = combine_estimates(q, v, "partial")
    assert partial.variance == pytest.approx(0.5 + 1 / 3)
    assert partial.degrees == pytest.approx(2 * (1 + 0.5 / (1 / 3)) ** 2)
    full = combine_estimates(q, v, "full")
    assert full.variance == pytest.approx(4 / 3 - 0.5)
    assert combine_estimates([1.0, 1.0], v[:2], "full").variance == 0.5
    assert combine_estimates([1.0], [0.5]).variance == 1.0


def test_combining_rules_refuse_what_they_cannot_do():
    with pytest.raises(InputError, match="needs several copies"):
        combine_estimates([1.0], [1.0], "partial")
    with pytest.raises(InputError, match="2 estimates and 1"):
        combine_estimates([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match="unknown combining rule"):
        combine_estimates([1.0], [1.0], "rubin")


def test_rates_as_texts():
    moment = Moment(np.array([0.1, 0.22, 0.4]))
    # Algorithm 4.3 of the thesis: k by the fitness of each individual.
    tuned = parse_rate("tuned:0.75:0.25=0.7:0.20=0.5")
    assert isinstance(tuned, Tuned)
    assert tuned.of(moment) == pytest.approx([0.05, 0.154, 0.3])
    assert parse_rate("adaptive:0.5").of(moment) == pytest.approx([0.05, 0.11, 0.2])
    assert parse_rate(0.3).of(moment) == pytest.approx([0.3] * 3)
    assert parse_rate("decreasing:0.4:0.2").of(moment)[0] == pytest.approx(0.4)
    assert isinstance(parse_rate("self:0.1:0.2"), SelfAdaptive)
    for bad in ("fast", "adaptive:x", 1.5, "tuned"):
        with pytest.raises(InputError):
            parse_rate(bad)
