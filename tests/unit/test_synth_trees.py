"""Trees that first candidates are drawn from."""

from __future__ import annotations

import numpy as np

from evosdc.synth.data.rules import index_cells, no_rules
from evosdc.synth.search.trees import Tree, Trees, grow


def chained(size: int = 2000):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, size)
    b = np.where(rng.random(size) < 0.9, a, rng.integers(0, 3, size))
    c = np.clip(10 * a + rng.integers(0, 12, size), 0, 29)
    return np.column_stack([a, b, c]).astype(np.int16), np.array([3, 3, 30])


def test_leaves_hold_enough_people_and_everybody_once():
    codes, sizes = chained()
    columns = np.ascontiguousarray(codes.T)
    for target, ordered in ((1, False), (2, True)):
        flags = np.array([False, False, ordered])
        known = np.array([j for j in range(3) if j != target])
        tree = Tree(*grow(columns, target, known, flags, sizes, 5))
        leaves = np.flatnonzero(tree.asks < 0)
        many = tree.end[leaves] - tree.begin[leaves]
        assert many.min() >= 5
        assert many.sum() == len(codes)
        assert sorted(tree.rows) == list(range(len(codes)))
        assert len(leaves) > 3


def test_dependence_is_kept_and_rules_are_not_broken():
    codes, sizes = chained()
    forbidden = np.zeros(9, bool)
    forbidden[[2, 6]] = True
    rules = index_cells([((0, 1), forbidden)], sizes)
    ordered = np.array([False, False, True])
    rng = np.random.default_rng(1)
    drawn = Trees(ordered, (rules,))(codes, sizes, rng, 2000)
    assert not forbidden[drawn[:, 0] + 3 * drawn[:, 1].astype(int)].any()
    free = Trees(ordered, (no_rules(3),))(codes, sizes, rng, 2000)
    assert forbidden[free[:, 0] + 3 * free[:, 1].astype(int)].any()
    for j, k in ((0, 1), (0, 2)):
        mine = np.corrcoef(codes[:, j], codes[:, k])[0, 1]
        theirs = np.corrcoef(free[:, j], free[:, k])[0, 1]
        assert abs(mine - theirs) < 0.05


def test_the_same_seed_draws_the_same():
    codes, sizes = chained(300)
    ordered = np.zeros(3, bool)
    one, two = (
        Trees(ordered, (no_rules(3),))(codes, sizes, np.random.default_rng(4), 300)
        for _ in range(2)
    )
    assert (one == two).all()
