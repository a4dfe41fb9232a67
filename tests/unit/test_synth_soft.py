"""Softened distances: what they are, where they apply, and what they are for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evosdc.errors import InputError
from evosdc.synth import Synthesiser
from evosdc.synth.objective.options import parse_objective
from evosdc.synth.objective.tables import JSD, build_target, table_value
from evosdc.synth.search.mover import Cooling


@pytest.mark.parametrize("distance", [0.0, 0.01, 0.3, 1.0])
def test_a_distance_is_rounded_off_and_no_more(distance):
    total = 2 * 100 * (distance**2 - 1.0)
    assert table_value(JSD, total, 100, 1.0, 0.0, 0.0) == pytest.approx(distance)
    soft = table_value(JSD, total, 100, 1.0, 0.1, 0.0)
    assert soft == pytest.approx(np.hypot(distance, 0.1) - 0.1)


def test_only_distances_of_small_tables_are_softened():
    codes = np.random.default_rng(0).integers(0, 3, (50, 3)).astype(np.int16)
    target = build_target(codes, np.full(3, 3), parse_objective("jsd:2,3+tables"))
    soft = target.softened(0.07).reference
    assert soft.tolist() == [0.07] * 3 + [0.0] * 4
    assert not target.reference.any()


def test_softness_follows_the_distance_and_ends_before_the_run():
    schedule = Cooling(1, 1.0, 1.0, soft=2.0)
    assert schedule.softness(0.5, 0.01) == pytest.approx(0.02)
    assert schedule.softness(0.5, 1.0) == pytest.approx(0.2)
    assert schedule.softness(0.95, 0.01) == 0.0


def test_a_chain_of_close_variables_is_no_trap():
    """Three readings that seldom differ: exact tables must not lock the others."""
    rng = np.random.default_rng(2)
    size, levels = 2000, 11
    share = 0.6 ** np.arange(levels)
    reading = rng.choice(levels, size, p=share / share.sum())
    columns = {}
    for name in ("first", "second", "third"):
        columns[name] = reading
        moved = np.clip(reading + rng.integers(-2, 3, size), 0, levels - 1)
        reading = np.where(rng.random(size) < 0.7, reading, moved)
    for name in ("a", "b", "c", "d"):
        columns[name] = rng.integers(0, 4, size)
    frame = pd.DataFrame(columns)
    distance = {
        softness: np.mean(
            [
                Synthesiser(
                    softness=softness,
                    moves=300_000,
                    seed=seed,
                    objective="jsd:2",
                    noise_floor=False,
                    initial="univariate",
                    learn_rules=False,
                )
                .fit(frame)
                .record_[-1]
                .utility
                for seed in range(3)
            ]
        )
        for softness in (0.0, 1.0)
    }
    assert distance[1.0] < 0.7 * distance[0.0]


def test_a_negative_softness_is_refused():
    frame = pd.DataFrame({"a": [0, 1] * 10, "b": [0, 1, 1, 0] * 5})
    with pytest.raises(InputError, match="softness is -1"):
        Synthesiser(softness=-1).fit(frame)
