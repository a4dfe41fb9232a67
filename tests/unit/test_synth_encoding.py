"""Cells by compact counters: direct, looked up, hashed, and beyond 64 bits."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from evosdc.synth.data.encoding import build_index
from evosdc.synth.objective.tally import count_all


def _naive(original, synthetic, table):
    seen = Counter(map(tuple, original[:, list(table)].tolist()))
    have = Counter(map(tuple, synthetic[:, list(table)].tolist()))
    inside = {cell: have[cell] for cell in seen}
    return seen, inside, len(synthetic) - sum(inside.values())


@pytest.mark.parametrize("levels", [3, 60, 3000])
def test_counts_match_a_dictionary(levels):
    rng = np.random.default_rng(1)
    sizes = np.full(6, levels)
    original = rng.integers(0, levels, (400, 6)).astype(np.int16)
    synthetic = original.copy()
    for j in range(6):
        synthetic[:, j] = rng.permutation(synthetic[:, j])
    synthetic[:50] = original[:50]
    tables = [(0,), (0, 1), (1, 3), (0, 2, 4), (0, 1, 2, 3, 4, 5)]
    index, counted, _ = build_index(original, sizes, tables)
    counts = np.zeros(len(counted), np.int32)
    outside = np.zeros(len(tables), np.int64)
    count_all(index, synthetic, counts, outside)
    for t, table in enumerate(tables):
        seen, inside, lost = _naive(original, synthetic, table)
        cells = slice(index.first[t], index.first[t + 1])
        pairs = zip(counted[cells].tolist(), counts[cells].tolist(), strict=True)
        here = Counter((a, c) for a, c in pairs if a > 0)
        assert here == Counter((seen[k], inside[k]) for k in seen)
        # A small table counts every cell itself; others count what they do not know.
        zeros = counts[cells][counted[cells] == 0].sum()
        assert zeros + outside[t] == lost


def test_a_joint_table_of_more_cells_than_integers():
    rng = np.random.default_rng(2)
    sizes = np.full(15, 30)
    original = rng.integers(0, 30, (500, 15)).astype(np.int16)
    index, counted, _ = build_index(original, sizes, [tuple(range(15))])
    counts = np.zeros(len(counted), np.int32)
    outside = np.zeros(1, np.int64)
    count_all(index, original, counts, outside)
    assert len(counted) == 500
    assert (counts == 1).all()
    other = original.copy()
    other[:, 7] = (other[:, 7] + 1) % 30
    count_all(index, other, counts, outside)
    assert outside[0] == 500
