"""A sample drawn anew to aim at: as far away as another sample, and no small cells."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.synth.data.encoding import cell_numbers, strides
from evosdc.synth.objective.resampled_target import resample_records, resampled_cells

SIZES = np.array([4, 5, 3])
NUMBERS = np.array([False, True, False])


def people(size: int = 8000) -> np.ndarray:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 4, size)
    second = np.clip(first + rng.integers(0, 2, size), 0, 4)
    return np.column_stack([first, second, rng.integers(0, 3, size)]).astype(np.int16)


def counts(codes, table):
    stride, cells = strides(SIZES, table)
    return np.bincount(cell_numbers(codes, stride), minlength=cells)


def test_every_cell_is_off_as_in_another_sample():
    codes = people()
    off = []
    for seed in range(20):
        drawn = resample_records(codes, SIZES, NUMBERS, np.random.default_rng(seed))
        a, c = counts(codes, (0, 1, 2)), counts(codes[drawn], (0, 1, 2))
        assert (c[a == 0] == 0).all()
        off.append((c - a)[a > 0] / np.sqrt(a[a > 0]))
    # In standard errors; held margins take a little of it.
    assert 0.75 < np.std(off) < 1.02
    assert abs(np.mean(off)) < 0.05


def test_shares_are_right_within_a_standard_error():
    codes = people()
    plain = np.random.default_rng(1).integers(0, len(codes), len(codes))
    drawn = resample_records(codes, SIZES, NUMBERS, np.random.default_rng(1))
    worst = []
    for rows in (plain, drawn):
        gaps = [
            np.abs(counts(codes[rows], (j,)) - counts(codes, (j,)))
            / np.sqrt(counts(codes, (j,)))
            for j in range(3)
        ]
        worst.append(np.concatenate(gaps).max())
    assert worst[1] < 1.1 < worst[0]
    # Those of numbers are nearer.
    number = np.abs(counts(codes[drawn], (1,)) - counts(codes, (1,)))
    assert (number / np.sqrt(counts(codes, (1,)))).max() < 0.4


def test_the_same_seed_draws_the_same_records():
    codes = people(500)
    one, two, other = (
        resample_records(codes, SIZES, NUMBERS, np.random.default_rng(s))
        for s in (1, 1, 2)
    )
    assert (one == two).all()
    assert (one != other).any()
    assert len(np.unique(one)) < 0.8 * len(codes)


@pytest.mark.parametrize("seed", range(5))
def test_a_small_cell_stays_small(seed):
    rng = np.random.default_rng(seed)
    # Cells of 4, 3, 2 and 1 people among large ones.
    numbers = np.repeat(np.arange(44), [50] * 4 + [4, 3, 2, 1] * 10)
    numbers = rng.permutation(numbers)
    drawn = rng.integers(0, len(numbers), len(numbers))
    found = np.bincount(resampled_cells(numbers, drawn, 5), minlength=44)
    before = np.bincount(numbers)
    assert found.sum() == len(numbers)
    assert (found[before < 5] <= before[before < 5]).all()
    # Without a guard chance would make groups of some.
    assert (np.bincount(numbers[drawn], minlength=44)[before < 5] >= 5).any()


def test_a_table_of_small_cells_only_is_as_it_was():
    numbers = np.array([0, 0, 1, 2, 3])
    drawn = np.array([0, 0, 0, 0, 0])
    assert (resampled_cells(numbers, drawn, 5) == numbers).all()
    assert (resampled_cells(numbers, drawn, 0) == 0).all()
