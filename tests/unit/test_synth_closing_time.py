"""A limit of time holds within a generation of many moves."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from evosdc.synth import Synthesiser


def test_a_generation_of_many_moves_ends_with_the_limit():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"v{k}": rng.integers(0, 5, 300) for k in range(6)})
    # Compiled first: no limit of time counts that.
    Synthesiser(seed=1, moves=60, time_limit=2.0).fit(frame)
    begun = time.process_time()
    model = Synthesiser(seed=1, moves=10**9, time_limit=1.0).fit(frame)
    # One generation of these would be minutes.
    assert time.process_time() - begun < 20.0
    assert model.reason_ == "time limit"
