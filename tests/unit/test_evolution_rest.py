"""Fronts, rates and stopping."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.evolution import pareto, rates, stopping
from evosdc.evolution.stopping import Progress

POINTS = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0], [3.0, 3.0], [5.0, 5.0]])


def test_fronts_by_hand() -> None:
    assert [f.tolist() for f in pareto.non_dominated_fronts(POINTS)] == [
        [0, 1, 2],
        [3],
        [4],
    ]


def test_crowding_by_hand() -> None:
    # On the front (1,4), (2,2), (4,1): the middle one has (4-1)/3 + (4-1)/3 = 2.
    crowd = pareto.crowding_distance(POINTS[:3])
    assert crowd[1] == pytest.approx(2.0)
    assert np.isinf(crowd[[0, 2]]).all()


def test_niches_count_neighbours() -> None:
    points = np.array([[0.0, 0.0], [0.0, 0.5], [3.0, 0.0]])
    assert pareto.niche_count(pareto.gaps_between(points), 1.0) == pytest.approx(
        [1.5, 1.5, 1.0]
    )


def test_rates_by_hand() -> None:
    moment = rates.Moment(np.array([0.1, 0.2, 0.6]), share=0.5, held=4)
    assert rates.FixedRate(0.3).of(moment) == pytest.approx([0.3] * 3)
    assert rates.Proportional(0.75).of(moment) == pytest.approx([0.075, 0.15, 0.45])
    # mean 0.3, best 0.1: (0.1-0.1)/0.2, (0.2-0.1)/0.2, then the fixed one.
    assert rates.SrinivasPatnaik(1.0, 0.5).of(moment) == pytest.approx([0, 0.5, 0.5])
    assert rates.Decreasing(0.4, 0.2).of(moment) == pytest.approx([0.3] * 3)
    assert rates.Decreasing(0.4, 0.1, geometric=True).of(moment) == pytest.approx(
        [0.2] * 3
    )
    assert rates.Conditional(0.1, 3.0, held=4).of(moment) == pytest.approx([0.3] * 3)
    assert rates.Conditional(0.1, 3.0, held=5).of(moment) == pytest.approx([0.1] * 3)


def test_rates_of_the_thesis_by_hand() -> None:
    # The mean is 0.3 and the best 0.1.
    moment = rates.Moment(np.array([0.1, 0.2, 0.6]), share=0.5)
    assert rates.Relative(0.5).of(moment) == pytest.approx([0, 0.25, 1])
    assert rates.WorseThanMean(0.5).of(moment) == pytest.approx([0, 0, 0.15])
    assert rates.Hyperbolic(10).of(moment) == pytest.approx([1 / 6] * 3)
    alike = rates.Moment(np.array([0.2, 0.2]), share=0.0)
    assert rates.Relative(0.5).of(alike) == pytest.approx([0, 0])
    assert rates.Hyperbolic(10).of(alike) == pytest.approx([0.5, 0.5])
    end = rates.Moment(np.array([0.2, 0.2]), share=1.0)
    assert rates.Hyperbolic(10).of(end) == pytest.approx([0.1, 0.1])


def test_self_adapted_rates_stay_in_range() -> None:
    rng = np.random.default_rng(0)
    rate = np.full(1000, 0.5)
    after = rates.self_adapted(rate, rng, low=0.1, high=0.2)
    assert 50 < (after != 0.5).sum() < 150
    changed = after[after != 0.5]
    assert ((changed >= 0.1) & (changed <= 0.2)).all()


@pytest.mark.parametrize(
    ("criterion", "progress", "expected"),
    [
        (stopping.TimeLimit(5), Progress(5.0, 0), "time limit"),
        (stopping.TimeLimit(5), Progress(4.9, 0), None),
        (stopping.EvaluationLimit(10), Progress(0, 10), "evaluations"),
        (stopping.TargetGap(0.1), Progress(0, 0, cost=10, bound=9), "target gap"),
        (stopping.TargetGap(0.1), Progress(0, 0, cost=10, bound=8), None),
        (stopping.TargetGap(0.1), Progress(0, 0, cost=10), None),
        (
            stopping.CostBenefit(0.01),
            Progress(10, 5, cost=100, gained=9),
            "cost-benefit",
        ),
        (stopping.CostBenefit(0.01), Progress(10, 5, cost=100, gained=11), None),
    ],
)
def test_stopping(
    criterion: stopping.Criterion, progress: Progress, expected: str | None
) -> None:
    assert criterion.reason(progress) == expected
    assert stopping.AnyOf((criterion,)).reason(progress) == expected


def test_gap_is_a_share_of_the_cost() -> None:
    assert stopping.gap(10, 8) == pytest.approx(0.2)
    assert stopping.gap(8, 8) == 0.0
    assert stopping.gap(None, 8) is None
    assert stopping.gap(0, 0) == 0.0
