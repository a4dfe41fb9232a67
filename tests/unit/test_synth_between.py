"""The distance between copies: a metric, and what it refuses."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from evosdc.errors import InputError
from evosdc.synth import copy_distances


def frames() -> list[pd.DataFrame]:
    rng = np.random.default_rng(0)
    return [
        pd.DataFrame(
            {
                "a": rng.choice(list("xyz"), 200, p=[0.5, 0.3, 0.2]),
                "b": rng.integers(0, 4, 200),
                "income": rng.lognormal(7, 1, 200).round(2),
            }
        )
        for _ in range(4)
    ]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_it_is_a_metric(order):
    many = frames()
    apart = copy_distances([*many, many[0]], order)
    assert (apart == apart.T).all()
    assert apart[0, 4] == pytest.approx(0.0, abs=1e-7)
    assert (apart[np.triu_indices(4, 1)] > 0.01).all()
    for a, b, c in permutations(range(4), 3):
        assert apart[a, c] <= apart[a, b] + apart[b, c] + 1e-12


def test_files_that_share_nothing_are_1_apart():
    one = pd.DataFrame({"a": ["x"] * 20, "b": ["y"] * 20})
    two = pd.DataFrame({"a": ["u"] * 20, "b": ["v"] * 20})
    assert copy_distances([one, two])[0, 1] == pytest.approx(1.0)


def test_what_cannot_be_compared_is_refused():
    one, two = frames()[:2]
    with pytest.raises(InputError, match="1 copies"):
        copy_distances([one])
    with pytest.raises(InputError, match="copy 2 has other columns"):
        copy_distances([one, two.drop(columns="a")])
    with pytest.raises(InputError, match="copy 2 has other columns"):
        copy_distances([one, two.head(10)])
    with pytest.raises(InputError, match="order is 4"):
        copy_distances([one, two], 4)
