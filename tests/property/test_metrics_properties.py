"""What holds for every pair of files."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from builders import examples
from evosdc.metrics import from_codes
from evosdc.metrics.attribution import Dcap, Disco
from evosdc.metrics.counts import cell_counts, joint_keys
from evosdc.metrics.divergence import JensenShannon, RatioOfEstimates, TotalVariation
from evosdc.metrics.entropy import EntropyRisk
from evosdc.metrics.uniques import IdenticalRecords

LEVELS = (3, 4, 2, 3)
QUICK = examples(40)


@st.composite
def files(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    rows = draw(st.tuples(st.integers(1, 60), st.integers(1, 60)))
    skew = draw(st.floats(0.2, 3))
    rng = np.random.default_rng(seed)
    made = []
    for n in rows:
        codes = np.column_stack(
            [np.minimum((rng.random(n) ** skew * v).astype(int), v - 1) for v in LEVELS]
        )
        made.append(from_codes(codes, key=[0, 1, 2], target=3, levels=LEVELS))
    return tuple(made)


@QUICK
@given(files())
def test_distances_are_symmetric_bounded_and_grow_with_the_table(pair) -> None:
    a, b = pair
    for metric in (JensenShannon, TotalVariation):
        values = [metric(w).compute(a, b) for w in (1, 2, 3, "full")]
        assert np.isclose(values[1], metric(2).compute(b, a))
        assert all(0 <= v <= 1 + 1e-12 for v in values)
        # A finer table never brings files closer, and means keep that.
        assert all(x <= y + 1e-9 for x, y in pairwise(values))
        assert metric("full").compute(a, a) == 0


@QUICK
@given(files())
def test_dcap_agrees_with_a_double_loop(pair) -> None:
    a, b = pair
    caps = []
    for row in a.codes:
        same = [s for s in b.codes if (s[:3] == row[:3]).all()]
        hits = sum(s[3] == row[3] for s in same)
        caps.append(hits / len(same) if same else 0.0)
    assert np.isclose(Dcap().compute(a, b), np.mean(caps))
    sure = np.mean([cap == 1.0 for cap in caps])
    assert np.isclose(Disco().compute(a, b), 100 * sure)


@QUICK
@given(files())
def test_sparse_counts_agree_with_dense_ones(pair) -> None:
    a, b = pair
    for columns in combinations(range(4), 3):
        shape = tuple(LEVELS[j] for j in columns)
        dense = [np.zeros(shape, int), np.zeros(shape, int)]
        for table, data in zip(dense, pair, strict=True):
            np.add.at(table, tuple(data.codes[:, j] for j in columns), 1)
        used = (dense[0] + dense[1]) > 0
        first, second = cell_counts(a, b, columns)
        assert first.tolist() == dense[0][used].tolist()
        assert second.tolist() == dense[1][used].tolist()


@QUICK
@given(files())
def test_keys_are_equal_exactly_where_records_are(pair) -> None:
    a, b = pair
    (ka, kb), _ = joint_keys(pair, range(4))
    for i in range(min(5, a.rows)):
        same = (b.codes == a.codes[i]).all(axis=1)
        assert (same == (kb == ka[i])).all()


@QUICK
@given(files())
def test_a_copy_has_the_most_of_every_risk(pair) -> None:
    a, b = pair
    assert IdenticalRecords().compute(a, a) == 100
    assert Dcap("uniques").compute(a, b) <= max(Dcap("uniques").compute(a, a), 0)
    assert EntropyRisk().compute(a, b) <= EntropyRisk().compute(a, a) + 1e-9
    assert RatioOfEstimates(2).compute(a, a) == 1
