"""Children priced straight from their tables, and whole cases exchanged on the way."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from evosdc.synth.data.encoding import SMALL
from evosdc.synth.objective.options import parse_objective
from evosdc.synth.objective.split_halves import distances
from evosdc.synth.objective.tables import CRAMER, Target, build_target
from evosdc.synth.objective.tally import distances_of_columns, workspace
from evosdc.synth.search.breeding import cross_often, cross_seldom
from evosdc.synth.search.rng import stream, unit


def drawn(sizes: list[int], records: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, sizes, (records, len(sizes))).astype(np.int16)
    codes[0] = np.array(sizes) - 1
    return codes


def priced(target: Target, codes: np.ndarray) -> np.ndarray:
    """Price a candidate as children are priced."""
    cells = len(target.original)
    return distances_of_columns(
        target,
        workspace(target.cells, len(codes)),
        np.ascontiguousarray(codes.T),
        np.zeros(cells, np.int32),
        np.zeros(len(target.kind), np.int64),
        np.zeros(cells if (target.kind == CRAMER).any() else 1),
    )


@pytest.mark.parametrize(
    "objective",
    ["jsd:2", "jsd:2,3,4", "jsd:full", "cramer", "tables", "jsd:3+tables+cramer"],
)
@pytest.mark.parametrize(
    ("sizes", "records"),
    [([3, 2, 5, 1, 4], 301), ([30, 2, 20, 9, 7], 97), ([2, 2, 3, 2, 2], 1003)],
)
def test_a_price_is_that_of_counters_to_the_last_bit(
    objective: str, sizes: list[int], records: int
) -> None:
    one, two = drawn(sizes, records, 1), drawn(sizes, records, 2)
    components = parse_objective(objective)
    levels = np.array(sizes)
    target = build_target(one, levels, components)
    assert np.array_equal(priced(target, two), distances(one, two, levels, components))
    assert priced(target, one) == pytest.approx(0.0, abs=1e-7)


def test_a_price_is_the_mean_distance_of_all_tables() -> None:
    sizes = [4, 2, 3, 6]
    one, two = drawn(sizes, 150, 3), drawn(sizes, 150, 4)
    target = build_target(one, np.array(sizes), parse_objective("jsd:2,3,4"))
    found = priced(target, two)
    for place, order in enumerate((2, 3, 4)):
        expected = []
        for table in combinations(range(4), order):
            shape = [sizes[j] for j in table]
            cells = [
                np.bincount(
                    np.ravel_multi_index(tuple(c[:, list(table)].T), shape),
                    minlength=int(np.prod(shape)),
                )
                for c in (one, two)
            ]
            expected.append(jensenshannon(*cells, base=2))
        assert found[place] == pytest.approx(np.mean(expected))


def test_large_tables_and_large_counts_go_by_counters() -> None:
    large = drawn([200, 100], 50, 5)
    target = build_target(large, np.array([200, 100]), parse_objective("jsd:2"))
    assert target.cells.heads[0, 4] > SMALL
    assert not target.direct.any()
    many = np.zeros((70_000, 2), np.int16)
    many[:3, 0] = 1
    other = many.copy()
    other[:9, 1] = 1
    components = parse_objective("jsd:2")
    sizes = np.array([2, 2])
    target = build_target(many, sizes, components)
    assert target.original.max() > np.iinfo(np.uint16).max
    assert not target.direct.any()
    assert np.array_equal(
        priced(target, other), distances(many, other, sizes, components)
    )


def test_whole_cases_are_exchanged_as_drawn() -> None:
    mother, father = drawn([7, 7, 7], 200, 6), drawn([7, 7, 7], 200, 7)
    one, two = np.zeros_like(mother), np.zeros_like(mother)
    state = stream(np.random.default_rng(8))
    twin = state.copy()
    cross_often(0.35, mother, father, one, two, state)
    swap = np.array([unit(twin) < 0.35 for _ in range(200)])[:, None]
    assert 40 < swap.sum() < 100
    assert np.array_equal(one, np.where(swap, father, mother))
    assert np.array_equal(two, np.where(swap, mother, father))
    assert np.array_equal(state, twin)


def test_seldom_exchanges_jump_from_record_to_record() -> None:
    mother, father = drawn([9, 9], 20_000, 9), drawn([9, 9], 20_000, 10)
    one, two = mother.copy(), father.copy()
    cross_seldom(0.02, one, two, stream(np.random.default_rng(11)))
    kept = (one == mother).all(axis=1) & (two == father).all(axis=1)
    swapped = (one == father).all(axis=1) & (two == mother).all(axis=1)
    assert (kept | swapped).all()
    assert 300 < (~kept).sum() < 500
    cross_seldom(0.0, one, two, stream(np.random.default_rng(12)))
    assert (~kept).sum() == ((one != mother) | (two != father)).any(axis=1).sum()
