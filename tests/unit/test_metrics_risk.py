"""Risk metrics on examples worked by hand."""

from __future__ import annotations

from math import e, log, sqrt

import numpy as np
import pytest

from evosdc.metrics import from_codes
from evosdc.metrics.anonymity import KAnonymity, LDiversity, TCloseness
from evosdc.metrics.attribution import Dcap, Disco, Tcap
from evosdc.metrics.entropy import EntropyRisk, conditional_entropy, table_risk
from evosdc.metrics.uniques import (
    IdenticalRecords,
    PopulationRisk,
    ReplicatedUniques,
)


def files(first, second, levels, ordered=None):
    return tuple(
        from_codes(codes, key=[0], target=1, levels=levels, ordered=ordered)
        for codes in (first, second)
    )


# Key and target. Original: key 0 twice with targets 0 and 1; keys 1, 2, 3 are unique,
# with targets 0, 1, 0. Synthetic: key 0 three times with targets 0, 0, 1; key 1 once
# with target 0; key 2 twice with targets 1 and 0; key 4, which the original lacks.
A, B = files(
    [[0, 0], [0, 1], [1, 0], [2, 1], [3, 0]],
    [[0, 0], [0, 0], [0, 1], [1, 0], [2, 1], [2, 0], [4, 1]],
    (5, 2),
)


def test_dcap_by_hand() -> None:
    # CAP by record: 2/3, 1/3, 1, 1/2, and 0 for the key that has no match.
    assert Dcap().compute(A, B) == pytest.approx((2 / 3 + 1 / 3 + 1 + 1 / 2) / 5)
    matched = Dcap(non_match="dropped")
    assert matched.compute(A, B) == pytest.approx((2 / 3 + 1 / 3 + 1 + 1 / 2) / 4)
    # Target 0 has share 3/5, target 1 has 2/5.
    assert Dcap().references(A, B)["univariate"] == pytest.approx(
        (3 * 3 / 5 + 2 * 2 / 5) / 5
    )


def test_dcap_on_uniques_by_hand() -> None:
    uniques = Dcap("uniques")
    assert uniques.name == "dcap_u"
    assert uniques.compute(A, B) == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert Dcap("uniques", "dropped").compute(A, B) == pytest.approx((1 + 1 / 2) / 2)
    # Uniques with targets 0, 1, 0.
    expected = (3 / 5 + 2 / 5 + 3 / 5) / 3
    assert uniques.references(A, B)["univariate"] == pytest.approx(expected)
    parts = dict(uniques.breakdown(A, B))
    assert parts["records counted"] == 3
    assert parts["share matched"] == pytest.approx(2 / 3)
    assert parts["v2=0"] == pytest.approx(1 / 2)


def test_nobody_unique_gives_nothing() -> None:
    a, b = files([[0, 0], [0, 1]], [[0, 0]], (1, 2))
    assert Dcap("uniques").compute(a, b) == 0
    assert Dcap("uniques").references(a, b) == {"univariate": 0.0}


def test_tcap_by_hand() -> None:
    # Believed at tau 1: the record of key 1 and the one of key 4; the latter has no
    # match. In the original key 1 has target 0 always.
    assert Tcap().compute(A, B) == 1
    parts = dict(Tcap().breakdown(A, B))
    assert parts["share of synthetic records believed"] == pytest.approx(2 / 7)
    assert parts["share of those matched"] == pytest.approx(1 / 2)
    # At tau 0.6 also the two records (0, 0): half of the original's key 0 has it.
    assert Tcap(0.6).compute(A, B) == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)


def test_disco_by_hand() -> None:
    # Only key 1 points to one target, and to the right one: 1 record of 5.
    assert Disco().compute(A, B) == pytest.approx(20)
    # A certain but wrong synthetic record discloses nothing.
    a, b = files([[0, 0]], [[0, 1]], (1, 2))
    assert Disco().compute(a, b) == 0


def test_replicated_uniques_by_hand() -> None:
    # Keys 1, 2, 3 are unique in the original, keys 1 and 4 in the synthetic: one of 7.
    assert ReplicatedUniques().compute(A, B) == pytest.approx(100 / 7)
    parts = dict(ReplicatedUniques().breakdown(A, B))
    assert parts["unique keys in the original"] == 3
    assert parts["unique in the original, found in the synthetic"] == 3


def test_identical_records_by_hand() -> None:
    # All but (2, 0) and (4, 1) occur in the original.
    assert IdenticalRecords().compute(A, B) == pytest.approx(100 * 5 / 7)
    parts = dict(IdenticalRecords().breakdown(A, B))
    assert parts["unique records of the original copied"] == 4


def test_k_and_l_by_hand() -> None:
    assert KAnonymity().compute(A, B) == 1
    assert LDiversity().compute(A, B) == 1
    shares = dict(KAnonymity().breakdown(A, B))
    assert shares["share of records in classes below 2"] == pytest.approx(2 / 7)
    assert shares["share of records in classes below 3"] == pytest.approx(4 / 7)
    # Classes of 3 and 2 records with 2 and 2 targets.
    a, b = files([[0, 0]], [[0, 0], [0, 0], [0, 1], [1, 0], [1, 1]], (2, 2))
    assert KAnonymity().compute(a, b) == 2
    assert LDiversity().compute(a, b) == 2


def test_t_closeness_by_hand() -> None:
    # Overall 1/3 each. Class 0 has target 0 only: half of (2/3 + 1/3 + 1/3) = 2/3.
    records = [[0, 0], [1, 1], [1, 2]]
    a, b = files(records, records, (2, 3))
    assert TCloseness().compute(a, b) == pytest.approx(2 / 3)
    # Ordered: cumulative gaps 2/3 and 1/3 over 2 steps: 1/2. Class 1: -1/3 and
    # 1/2 - 2/3 = -1/6: 1/4.
    a, b = files(records, records, (2, 3), ordered=(False, True))
    assert TCloseness().compute(a, b) == pytest.approx(1 / 2)
    mean = dict(TCloseness().breakdown(a, b))["mean over records"]
    assert mean == pytest.approx((1 / 2 + 2 / 4) / 3)


def test_conditional_entropy_of_the_coupling_by_hand() -> None:
    # p = (1/2, 1/2, 0), q = (1/2, 0, 1/2): all of cell 2 came from cell 1 for sure.
    assert conditional_entropy(np.array([0.5, 0.5, 0]), np.array([0.5, 0, 0.5])) == 0
    # p = (1/2, 1/2), q = (1, 0): cell 0 holds both halves, ln 2 of doubt.
    found = conditional_entropy(np.array([0.5, 0.5]), np.array([1.0, 0]))
    assert found == pytest.approx(log(2))
    # p = (1/4, 1/4, 1/2), q = (0, 0, 1): 3 origins 1/4, 1/4, 1/2.
    found = conditional_entropy(np.array([0.25, 0.25, 0.5]), np.array([0.0, 0, 1]))
    assert found == pytest.approx(2 * 0.25 * log(4) + 0.5 * log(2))


def test_entropy_risk_by_hand() -> None:
    # Original 2, 2, 0, 0 of four cells, synthetic 2, 0, 2, 0; the last cell is not
    # listed. D = 2 zeros, D or E = 3, D and E = 1: (2/4)^3. H = ln 2, K = 4, and the
    # coupling leaves no doubt: 1 - 1/2. Size: ln(e sqrt 4) / sqrt 4.
    parts = (0.5**3, 0.5, log(e * 2) / 2)
    first, second = np.array([2, 2, 0]), np.array([2, 0, 2])
    for i, weights in enumerate([(1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)]):
        assert table_risk(first, second, 4, weights) == pytest.approx(parts[i])
    # No zero in common: the first part vanishes.
    assert table_risk(np.array([4, 0]), np.array([0, 4]), 2, (1.0, 0, 0)) == 0


def test_entropy_risk_is_a_mean_over_tables() -> None:
    a, b = files([[0, 0], [1, 1]], [[0, 0], [1, 1]], (2, 2))
    # The diagonal: (2/4)^1, (1 - ln 2 / ln 4) x 1, ln(e sqrt 2) / sqrt 2.
    expected = 0.1 * 0.5 + 0.8 * 0.5 + 0.1 * log(e * sqrt(2)) / sqrt(2)
    assert EntropyRisk().compute(a, b) == pytest.approx(expected)
    assert EntropyRisk().kind == "risk"


def test_people_found_by_unique_keys() -> None:
    # B has keys 1 and 4 once. Four people have key 1 and nobody has key 4; A has keys
    # 1, 2 and 3 once, which 4, 1 and 2 people have.
    people = from_codes(
        [[0, 0], [0, 1], [1, 0], [1, 0], [1, 1], [1, 0], [2, 1], [3, 0], [3, 1]],
        key=[0],
        target=1,
        levels=(5, 2),
    )
    metric = PopulationRisk(people)
    value, parts = metric.measure(A, B)
    assert value == pytest.approx(1 / 4)
    found = dict(parts)
    assert found["unique keys in the synthetic"] == 2
    assert found["of them in the population"] == 1
    assert found["of them unique in the population"] == 0
    assert found["people found by the original"] == pytest.approx(1 / 4 + 1 + 1 / 2)
