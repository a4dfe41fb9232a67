"""The network that large files start from: structure, shares, draws, choice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from evosdc.synth import Synthesiser
from evosdc.synth.objective.split_halves import distances
from evosdc.synth.objective.tables import JSD, Component
from evosdc.synth.search import engines
from evosdc.synth.search.bayes import BayesNetwork, _information, _shares, structure
from evosdc.synth.search.initial import univariate


def chain(rows: int = 4000, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return x0 - x1 - x2, each mostly a copy of the one before, and a lone x3."""
    rng = np.random.default_rng(seed)
    out = np.zeros((rows, 4), np.int16)
    out[:, 0] = rng.integers(0, 4, rows)
    for j in (1, 2):
        kept = rng.random(rows) < 0.8
        out[:, j] = np.where(kept, out[:, j - 1], rng.integers(0, 4, rows))
    out[:, 3] = rng.integers(0, 3, rows)
    return out, np.array([4, 4, 4, 3])


def test_one_parent_each_is_the_strongest_tree() -> None:
    codes, sizes = chain()
    found = dict(structure(codes, sizes, 1))
    edges = {frozenset((child, *parents)) for child, parents in found.items()}
    assert {frozenset((0, 1)), frozenset((1, 2))} <= edges
    assert all(len(parents) <= 1 for parents in found.values())


def test_information_by_its_definition() -> None:
    codes, sizes = chain(500)
    table = np.zeros((4, 4))
    np.add.at(table, (codes[:, 0], codes[:, 1]), 1 / 500)
    chance = np.outer(table.sum(1), table.sum(0))
    seen = table > 0
    plain = (table[seen] * np.log(table[seen] / chance[seen])).sum()
    assert _information(codes, sizes, 1, (0,)) == pytest.approx(plain - 9 / 1000)


def test_rare_combinations_are_drawn_towards_fewer_parents() -> None:
    # Ten records with parents (0, 0), five of each value; one with (1, 0), value 1.
    codes = np.array([[v, 0, 0] for v in (0, 1) * 5] + [[1, 1, 0]], np.int16)
    sizes = np.array([2, 2, 2])
    shares = _shares(codes, sizes, 0, (2, 1))
    # Given the first parent alone 6 of 11 have the value 1; it counts as ten records.
    coarse = 6 / 11
    assert shares[0, 1] == pytest.approx((5 + 10 * coarse) / 20)
    assert shares[2, 1] == pytest.approx((1 + 10 * coarse) / 11)
    assert shares[[0, 2]].sum(axis=1) == pytest.approx([1, 1])


def test_draws_keep_pairs_and_repeat() -> None:
    codes, sizes = chain()
    pairs = (Component(JSD, 2),)
    draw = BayesNetwork(1)(codes, sizes, np.random.default_rng(1), len(codes))
    again = BayesNetwork(1)(codes, sizes, np.random.default_rng(1), len(codes))
    alone = univariate(codes, sizes, np.random.default_rng(1), len(codes))
    assert (draw == again).all()
    near, far = (distances(codes, x, sizes, pairs)[0] for x in (draw, alone))
    assert near < 0.2 * far


def test_levels_that_do_not_occur_together_are_not_drawn_together() -> None:
    rng = np.random.default_rng(2)
    first = rng.integers(0, 3, 2000)
    codes = np.column_stack([first, (first + rng.integers(0, 2, 2000)) % 3])
    draw = BayesNetwork(1)(codes.astype(np.int16), np.array([3, 3]), rng, 2000)
    assert set(map(tuple, draw.tolist())) == set(map(tuple, codes.tolist()))


def test_columns_with_too_many_levels_are_drawn_alone() -> None:
    rng = np.random.default_rng(4)
    codes = np.column_stack([rng.permutation(300), rng.integers(0, 2, 300)])
    sizes = np.array([300, 2])
    assert dict(structure(codes.astype(np.int16), sizes, 2)) == {0: (), 1: ()}


def test_large_runs_start_from_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, _ = chain()
    frame = pa.table({f"x{j}": column.tolist() for j, column in enumerate(codes.T)})
    options = {"moves": 1000, "generations": 1, "time_limit": None}

    def start(initial: str) -> tuple[float, int]:
        found = Synthesiser(
            ["x0", "x1", "x2"], "x3", initial=initial, objective="jsd:2", **options
        ).fit(frame)
        return found.record_[0].utility, found.record_[0].evaluations

    small, two = start("univariate")
    monkeypatch.setattr(engines, "_MAX_ELEMENTS", codes.size - 1)
    large, one = start("auto")
    assert large < 0.3 * small
    # One candidate, in blocks of its records.
    assert (two, one) == (1, 1)
    plain = Synthesiser(memetic=False, population=4, generations=1).fit(frame)
    assert plain.record_[0].utility > 0.7 * small
