"""Tests against a hold-out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evosdc.metrics import from_codes
from evosdc.metrics.data import encode_exact, encode_frames
from evosdc.metrics.holdout import (
    MembershipAuc,
    NearerShare,
    _area_error,
    distances,
    nearest_distance,
)


def file(codes, levels=(5, 3), ordered=(True, False)):
    return from_codes(codes, key=[0], target=1, levels=levels, ordered=ordered)


def test_kernel_agrees_with_its_naive_twin() -> None:
    rng = np.random.default_rng(0)
    queries = rng.integers(0, 6, (40, 4)).astype(np.int32)
    data = rng.integers(0, 6, (60, 4)).astype(np.int32)
    step = np.array([0.0, 0.2, 0.0, 0.5])
    naive = []
    for q in queries:
        best = np.inf
        for r in data:
            gap = np.abs(q - r)
            best = min(
                best, np.where(step == 0, gap > 0, np.minimum(gap * step, 1)).sum()
            )
        naive.append(best)
    assert nearest_distance(queries, data, step) == pytest.approx(naive)


def test_distances_by_hand() -> None:
    # From (0, 0) to (4, 0) and (1, 1). Hamming: 1 and 2. Gower on five ordered levels:
    # 4/4 = 1, and 1/4 + 1.
    asked, data = file([[0, 0]]), file([[4, 0], [1, 1]])
    assert distances(asked, data, "hamming").tolist() == [1]
    assert distances(asked, data, "gower").tolist() == [1]
    near = file([[1, 0], [4, 0]])
    assert distances(asked, near, "gower").tolist() == [0.25]
    assert distances(asked, near, "hamming").tolist() == [1]


def test_a_missing_number_is_far_from_every_number() -> None:
    missing = (True, False)
    # Code 3 is the largest number, code 4 is missing: not neighbours.
    asked = replace(file([[3, 0]]), missing=missing)
    data = replace(file([[4, 0]]), missing=missing)
    assert distances(asked, data, "gower").tolist() == [1]
    assert distances(
        asked, replace(file([[2, 0]]), missing=missing), "gower"
    ).tolist() == [pytest.approx(1 / 3)]


def test_a_missing_number_is_far_in_the_exact_coding_too() -> None:
    frame = {"x": [1.0, 2.0, 3.0, None], "t": ["a", "a", "a", "a"]}
    for (data,) in (
        encode_exact([frame], ["x"], "t"),
        encode_frames([frame], ["x"], "t"),
    ):
        asked, other = data.take(np.array([3])), data.take(np.array([0, 2]))
        # A neighbour of the largest number would be at one third of the range.
        assert distances(asked, other, "gower").tolist() == [1]
    # A text that reads like our word for missing values is a text.
    frame = {"x": ["(missing)", "(missing)"], "t": ["a", "b"]}
    assert not encode_frames([frame], ["x"], "t")[0].missing[0]


def test_nearer_share_by_hand() -> None:
    original, holdout = file([[0, 0], [1, 1]]), file([[2, 2], [1, 2]])
    # (0, 0) copies an original record; (2, 2) a held-out one; (3, 1) is at Hamming 1
    # from (1, 1) and 2 from the others; (4, 0) and (1, 0): 1 to (0, 0); for (1, 0) also
    # 1 to (1, 2): a tie. Shares 1, 0, 1, 1, 1/2.
    synthetic = file([[0, 0], [2, 2], [3, 1], [4, 0], [1, 0]])
    metric = NearerShare(holdout)
    assert metric.compute(original, synthetic) == pytest.approx(3.5 / 5)
    parts = dict(metric.breakdown(original, synthetic))
    assert parts["share identical to an original record"] == pytest.approx(1 / 5)
    assert parts["share identical to a hold-out record"] == pytest.approx(1 / 5)


def test_membership_auc_by_hand() -> None:
    # Distances of members 0 and 1, of others 1 and 2: of four pairs three are won, one
    # is tied: 3.5 / 4.
    original, holdout = file([[0, 0], [1, 0]]), file([[2, 0], [1, 1]])
    synthetic = file([[0, 0]])
    metric = MembershipAuc(holdout)
    assert metric.compute(original, synthetic) == pytest.approx(3.5 / 4)
    # Members and others exchanged.
    assert MembershipAuc(original).compute(holdout, synthetic) == pytest.approx(0.5 / 4)


def test_the_error_of_an_area_is_corrected_for_ties() -> None:
    """Compared with the variance over all ways to say who is a member."""
    rng = np.random.default_rng(4)
    # Nearly every distance is 0 or 1: ties all over.
    near = rng.integers(0, 2, (3000, 24)).astype(float)
    areas = []
    for row in near:
        first, second = row[:12], row[12:]
        wins = (first[:, None] < second).mean() + (first[:, None] == second).mean() / 2
        areas.append(wins)
    ties = [np.unique(row, return_counts=True)[1].astype(float) for row in near]
    corrected = np.mean([_area_error(12, 12, t) for t in ties])
    assert corrected == pytest.approx(np.std(areas), rel=0.05)
    # Without ties it is the formula of Mann and Whitney.
    assert _area_error(12, 12, np.ones(24)) == pytest.approx((25 / 1728) ** 0.5)
    assert _area_error(3, 4, np.array([7.0])) == 0.0


def test_samples_are_seeded_and_equally_large() -> None:
    rng = np.random.default_rng(3)
    levels = (20, 20)

    def draw(rows: int):
        codes = rng.integers(0, 20, (rows, 2))
        return from_codes(codes, key=[0], target=1, levels=levels)

    original, holdout, synthetic = draw(900), draw(300), draw(700)
    one = NearerShare(holdout, max_records=200, seed=5)
    assert one.compute(original, synthetic) == one.compute(original, synthetic)
    # Three times as many originals must not make them look nearer.
    shares = [
        NearerShare(holdout, seed=s).compute(original, synthetic) for s in range(5)
    ]
    assert np.mean(shares) == pytest.approx(0.5, abs=0.08)
