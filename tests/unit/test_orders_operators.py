"""Operators on orders: worked examples, permutations, genes that adapt."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.errors import MethodError
from evosdc.suppress.papers.order_search import (
    OPERATORS,
    Genes,
    OrderParameters,
    adapt,
    cross,
    davis,
    first_genes,
    insert,
    invert,
    mutate,
    swap,
)


def listed(order: np.ndarray) -> list[int]:
    return [int(x) for x in order]


def test_swap_exchanges_two_places() -> None:
    assert listed(swap(np.array([4, 3, 2, 1, 0]), 1, 3)) == [4, 1, 2, 3, 0]


def test_insert_moves_the_second_just_behind_the_first() -> None:
    order = np.array([10, 11, 12, 13, 14])
    assert listed(insert(order, 1, 4)) == [10, 11, 14, 12, 13]
    assert listed(insert(order, 3, 0)) == [11, 12, 13, 10, 14]
    assert listed(insert(order, 2, 2)) == [10, 11, 12, 13, 14]


def test_invert_reverses_both_ends_included() -> None:
    order = np.array([0, 1, 2, 3, 4])
    assert listed(invert(order, 3, 1)) == [0, 3, 2, 1, 4]
    assert listed(invert(order, 1, 3)) == [0, 3, 2, 1, 4]


def test_davis_crossover_by_hand() -> None:
    """Segment 3 4 5 6 stays; the other parent read from behind it fills the rest."""
    one = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8])
    other = np.array([8, 2, 6, 7, 1, 5, 4, 0, 3])
    # Read from place 7 on, wrapping: 0 3 8 2 6 7 1 5 4; unused: 0 8 2 7 1. They fill
    # places 7, 8, 0, 1, 2.
    assert listed(davis(one, other, 3, 7)) == [2, 7, 1, 3, 4, 5, 6, 0, 8]


def test_davis_crossover_keeps_what_parents_share() -> None:
    order = np.array([3, 1, 4, 0, 2])
    assert listed(davis(order, order, 1, 3)) == listed(order)
    assert listed(davis(order, order[::-1], 0, 5)) == listed(order)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("length", [1, 2, 3, 17])
def test_offspring_are_permutations(operator: str, length: int) -> None:
    rng = np.random.default_rng(length)
    for rate in (0.0, 1.0 / length, 0.5):
        one, other = rng.permutation(length), rng.permutation(length)
        before = one.copy()
        child = mutate(cross(one, other, rng), Genes(operator, rate), rng)
        assert sorted(listed(child)) == list(range(length))
        assert np.array_equal(one, before)


def test_no_rate_no_change() -> None:
    order = np.arange(9)
    child = mutate(order, Genes("swap", 0.0), np.random.default_rng(0))
    assert np.array_equal(child, order)


def test_fixed_operators_strike_once_in_a_length() -> None:
    rng = np.random.default_rng(1)
    assert first_genes(40, "insert", rng) == Genes("insert", 1 / 40)
    changed = sum(
        not np.array_equal(mutate(np.arange(40), Genes("swap", 1 / 40), rng), range(40))
        for _ in range(2000)
    )
    # The chance that none of 40 places is struck is (39/40)^40 = 0.363.
    assert abs(changed / 2000 - 0.637) < 0.04


def test_each_gene_changes_once_in_ten() -> None:
    rng = np.random.default_rng(2)
    genes = Genes("swap", 0.123)
    many = [adapt(genes, 50, 0.1, rng) for _ in range(5000)]
    assert abs(np.mean([g.rate != 0.123 for g in many]) - 0.1) < 0.015
    # A third of the redrawn operators is the old one.
    assert abs(np.mean([g.operator != "swap" for g in many]) - 0.0667) < 0.015
    assert {g.operator for g in many} == set(OPERATORS)
    assert all(1 / 50 <= g.rate <= 0.5 for g in many)
    assert adapt(genes, 50, 0.0, rng) == genes


@pytest.mark.parametrize(
    "options",
    [
        {"mutation": "shuffle"},
        {"cells": "some"},
        {"grouping": "colour"},
        {"clean": "always"},
        {"population": 0},
        {"batch": 0},
    ],
)
def test_unknown_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(MethodError):
        OrderParameters(**options)  # type: ignore[arg-type]
