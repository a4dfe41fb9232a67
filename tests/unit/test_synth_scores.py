"""Distances and risks against definitions written out by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats.contingency import association

from evosdc.synth.objective.options import parse_objective
from evosdc.synth.objective.risk import build_risk, risk_totals
from evosdc.synth.objective.split_halves import distances
from evosdc.synth.objective.tally import count_all


@pytest.fixture
def pair():
    rng = np.random.default_rng(3)
    sizes = np.array([3, 2, 4, 5])
    base = rng.integers(0, sizes, (300, 4))
    base[:, 1] = (base[:, 0] + (rng.random(300) < 0.2)) % 2
    other = rng.integers(0, sizes, (300, 4))
    return base.astype(np.int16), other.astype(np.int16), sizes


def _table(codes, sizes, members):
    out = np.zeros(sizes[list(members)])
    np.add.at(out, tuple(codes[:, j] for j in members), 1)
    return out


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_jensen_shannon_is_scipys(pair, order):
    one, two, sizes = pair
    expected = np.mean(
        [
            jensenshannon(
                _table(one, sizes, s).ravel(), _table(two, sizes, s).ravel(), 2
            )
            for s in combinations(range(4), order)
        ]
    )
    found = distances(one, two, sizes, parse_objective(f"jsd:{order}"))
    assert found[0] == pytest.approx(expected, abs=1e-12)
    if order == 4:
        full = distances(one, two, sizes, parse_objective("jsd:full"))
        assert full[0] == pytest.approx(expected, abs=1e-12)


def test_l1_and_cramer(pair):
    one, two, sizes = pair
    pairs = list(combinations(range(4), 2))
    l1 = np.mean(
        [
            np.abs(_table(one, sizes, s) - _table(two, sizes, s)).sum() / 300
            for s in pairs
        ]
    )
    v = np.mean(
        [
            abs(
                association(_table(one, sizes, s).astype(int))
                - association(_table(two, sizes, s).astype(int))
            )
            for s in pairs
        ]
    )
    assert distances(one, two, sizes, parse_objective("tables"))[0] == pytest.approx(l1)
    assert distances(one, two, sizes, parse_objective("cramer"))[0] == pytest.approx(v)
    both = distances(one, two, sizes, parse_objective("cramer+tables"))
    assert both == pytest.approx([v, l1 / 2])


def _naive_risks(one, two, key, target):
    """The four risks by loops over people, as the definitions read."""
    keys = [tuple(r) for r in one[:, key].tolist()]
    synthetic: dict = {}
    for k, t in zip(
        map(tuple, two[:, key].tolist()), two[:, target].tolist(), strict=True
    ):
        synthetic.setdefault(k, []).append(t)
    often = {k: keys.count(k) for k in keys}
    cap, cap_unique, right = [], [], 0
    for k, t in zip(keys, one[:, target].tolist(), strict=True):
        match = synthetic.get(k, [])
        score = match.count(t) / len(match) if match else 0.0
        cap.append(score)
        if often[k] == 1:
            cap_unique.append(score)
        right += bool(match) and set(match) == {t}
    both = sum(c == 1 and len(synthetic.get(k, [])) == 1 for k, c in often.items())
    unique = np.mean(cap_unique) if cap_unique else 0.0
    return [np.mean(cap), unique, both / len(two), right / len(one)]


@pytest.mark.parametrize("key", [[0, 1, 2], [0], [1, 2]])
def test_risks_follow_their_definitions(pair, key):
    one, two, sizes = pair
    two = np.where(np.arange(300)[:, None] < 60, one, two).astype(np.int16)
    risk = build_risk(one[:80], sizes, tuple(key), 3)
    counts = np.zeros(len(risk.original), np.int32)
    count_all(risk.cells, two[:80], counts, np.zeros(2, np.int64))
    found = risk_totals(risk, counts) * risk.scale
    assert found == pytest.approx(_naive_risks(one[:80], two[:80], key, 3))
