"""Selection and replacement, against what their definitions promise."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.errors import InputError
from evosdc.evolution import replacement, selection

COST = np.array([5.0, 1.0, 3.0, 9.0, 7.0])


@pytest.mark.parametrize("name", sorted(selection.SELECTIONS))
def test_same_seed_chooses_the_same(name: str) -> None:
    choose = selection.SELECTIONS[name]
    one = choose(COST, 4, np.random.default_rng(3))
    two = choose(COST, 4, np.random.default_rng(3))
    assert one.tolist() == two.tolist()
    assert len(one) == 4
    assert ((one >= 0) & (one < len(COST))).all()


@pytest.mark.parametrize("name", sorted(set(selection.SELECTIONS) - {"random"}))
def test_better_individuals_are_chosen_more_often(name: str) -> None:
    rng = np.random.default_rng(0)
    n = 5 if name == "elite" else 20_000
    chosen = selection.SELECTIONS[name](COST, n, rng)
    if name == "elite":
        assert chosen.tolist() == [1, 2, 0, 4, 3]
        return
    count = np.bincount(chosen, minlength=5)
    assert count[1] > count[3]
    assert count[1] == count.max()


def test_linear_rank_expectations() -> None:
    # eta- = 0: expected copies 2, 1.5, 1, 0.5, 0 for ranks 0..4 of 5, so shares are
    # 0.4, 0.3, 0.2, 0.1, 0.
    chosen = selection.linear_rank(COST, 100_000, np.random.default_rng(1))
    share = np.bincount(chosen, minlength=5) / 100_000
    assert share[[1, 2, 0, 4, 3]] == pytest.approx([0.4, 0.3, 0.2, 0.1, 0], abs=0.01)


def test_universal_sampling_has_least_spread() -> None:
    # Shares are (4, 8, 6, 0, 2) / 20; ten pointers give exactly 2, 4, 3, 0, 1.
    chosen = selection.stochastic_universal(COST, 10, np.random.default_rng(5))
    assert np.bincount(chosen, minlength=5).tolist() == [2, 4, 3, 0, 1]


def test_equal_costs_are_chosen_evenly() -> None:
    same = np.full(4, 2.0)
    chosen = selection.roulette(same, 40_000, np.random.default_rng(2))
    assert np.bincount(chosen) / 40_000 == pytest.approx([0.25] * 4, abs=0.02)


def test_replacement_strategies() -> None:
    rng = np.random.default_rng(0)
    distance = np.array([3.0, 4.0, 0.5, 2.0, 1.0])
    assert replacement.worst(COST, 8.0, distance, rng) == 3
    assert replacement.worst(COST, 9.5, distance, rng) == -1
    assert replacement.elite(COST, 0.5, distance, rng) == 3
    assert replacement.elite(COST, 2.0, distance, rng) == -1
    assert replacement.most_similar(COST, 4.0, distance, rng) == 2


@pytest.mark.parametrize("name", sorted(replacement.REPLACEMENTS))
def test_the_best_is_never_lost(name: str) -> None:
    rng = np.random.default_rng(7)
    cost = COST.copy()
    for newcomer in rng.uniform(2, 10, 200):
        distance = rng.random(len(cost))
        at = replacement.REPLACEMENTS[name](cost, newcomer, distance, rng)
        if at >= 0:
            cost[at] = newcomer
    assert cost.min() == 1.0


def test_selections_with_a_parameter() -> None:
    # Rank shares with base 0.5 of five: 16, 8, 4, 2, 1 of 31.
    choose = selection.parse_selection("exponential-rank:0.5")
    chosen = choose(COST, 100_000, np.random.default_rng(1))
    share = np.bincount(chosen, minlength=5)[[1, 2, 0, 4, 3]] / 100_000
    assert share == pytest.approx(np.array([16, 8, 4, 2, 1]) / 31, abs=0.01)
    # Merit up to 10: 5, 9, 7, 1, 3 of 25, so that the worst has a chance too.
    choose = selection.parse_selection("roulette:10")
    chosen = choose(COST, 100_000, np.random.default_rng(1))
    share = np.bincount(chosen, minlength=5) / 100_000
    assert share == pytest.approx(np.array([5, 9, 7, 1, 3]) / 25, abs=0.01)
    choose = selection.parse_selection("universal:10")
    chosen = choose(COST, 25, np.random.default_rng(1))
    assert np.bincount(chosen).tolist() == [5, 9, 7, 1, 3]
    # A tournament of all that there are, many times over, has one winner.
    won = selection.parse_selection("tournament:200")(
        COST, 50, np.random.default_rng(0)
    )
    assert set(won.tolist()) == {1}
    assert selection.parse_selection("tournament") is selection.tournament


def test_what_is_above_the_most_has_no_chance() -> None:
    shares = selection.fitness_shares(COST, 6.0)
    assert shares == pytest.approx(np.array([1, 5, 3, 0, 0]) / 9)


@pytest.mark.parametrize(
    "text", ["magic", "random:1", "exponential-rank:2", "tournament:1.5", "roulette:x"]
)
def test_selections_that_cannot_be_read(text: str) -> None:
    with pytest.raises(InputError, match="selection"):
        selection.parse_selection(text)
