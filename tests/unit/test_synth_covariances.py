"""Means, variances and covariances as a part of the objective, and inside bins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evosdc.frames import to_arrow
from evosdc.synth import Coding, Synthesiser
from evosdc.synth.data.domain import make_domain
from evosdc.synth.dependence import find_dependence, hold_dependence
from evosdc.synth.objective.covariances import (
    KNOWN,
    NONE,
    NUMBER,
    ONE,
    SQUARE,
    covariance_value,
    find_covariances,
    products_of,
    try_products,
    try_record,
)


def people(size: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    height = rng.normal(170, 10, size).round()
    weight = (0.9 * (height - 100) + rng.normal(0, 8, size)).round(1)
    paid = np.where(rng.random(size) < 0.3, np.nan, (20 * weight).round())
    return pd.DataFrame(
        {
            "height": height,
            "sex": rng.choice(["f", "m"], size),
            "weight": weight,
            "paid": paid,
            "children": rng.integers(0, 4, size),
        }
    )


def prepared():
    arrow = to_arrow(people())
    domain = make_domain(arrow, Coding())
    codes = domain.encode(arrow)
    return arrow, domain, codes, find_covariances(domain, arrow, codes)


def naive_terms(found, codes):
    return np.array(
        [
            [
                found.score[f + row[j]]
                for f, j in zip(found.first, found.variable, strict=True)
            ]
            for row in codes
        ]
    )


def naive_value(found, codes):
    terms = naive_terms(found, codes)
    off = np.abs(terms.T @ terms / len(codes) - found.wanted) - found.tolerance
    beyond = np.maximum(0.0, off)[np.triu_indices(len(off))]
    # What is 0.02 off counts twice.
    return found.weight * (beyond + beyond**2 / 0.02).sum()


def test_terms_are_numbers_in_their_own_measure_and_whether_they_are_known():
    arrow, domain, codes, found = prepared()
    terms = naive_terms(found, codes)
    # 1, height and its square, weight, paid and whether it is known, children.
    assert found.variable.tolist() == [0, 0, 0, 2, 2, 3, 3, 4, 4]
    assert found.kind.tolist() == [ONE, *[NUMBER, SQUARE] * 2, NUMBER, KNOWN, 1, 3]
    assert found.term.tolist() == [
        [1, -1, 2],
        [-1] * 3,
        [3, -1, 4],
        [5, 6, -1],
        [7, -1, 8],
    ]
    assert (terms[:, 0] == 1.0).all()
    unknown = np.isnan(people()["paid"].to_numpy())
    assert (terms[:, 6] == ~unknown).all()
    assert (terms[unknown, 5] == 0.0).all()
    assert terms[:, 4] == pytest.approx(terms[:, 3] ** 2)
    for q in (1, 3, 7):
        assert terms[:, q].mean() == pytest.approx(0.0, abs=1e-9)
        assert terms[:, q].std() == pytest.approx(1.0)
    children = people()["children"].to_numpy()
    assert np.corrcoef(terms[:, 7], children)[0, 1] == pytest.approx(1.0)
    # The original itself has what is wanted.
    assert covariance_value(found, products_of(found, codes), len(codes)) == 0.0
    text = to_arrow(people()[["sex"]])
    only = make_domain(text, Coding())
    assert find_covariances(only, text, only.encode(text)) is NONE
    left_out = find_covariances(domain, arrow, codes, ["children"])
    assert 4 not in left_out.variable


def test_products_and_their_distance_are_those_counted_afresh():
    _, _, codes, found = prepared()
    mixed = np.random.default_rng(1).permuted(codes, axis=0)
    terms = naive_terms(found, mixed)
    products = products_of(found, mixed)
    assert products == pytest.approx(terms.T @ terms, abs=1e-8)
    value = covariance_value(found, products, len(mixed))
    assert value == pytest.approx(naive_value(found, mixed))
    assert value > 0.01


@pytest.mark.parametrize("swap", [True, False])
def test_a_move_is_priced_as_counted_afresh(swap):
    _, _, codes, found = prepared()
    rng = np.random.default_rng(2)
    mixed = rng.permuted(codes, axis=0)
    products = products_of(found, mixed)
    before = naive_value(found, mixed)
    shift = np.empty((3, len(found.variable)))
    for _ in range(40):
        i, k = rng.integers(0, len(codes), 2)
        j = rng.integers(0, codes.shape[1])
        k = k if swap else i
        new = mixed[k, j] if swap else rng.choice(codes[:, j])
        after = mixed.copy()
        after[k, j] = after[i, j] if swap else new
        after[i, j] = new
        change = try_products(
            found, products, mixed, len(codes), i, k, j, int(new), swap, shift
        )
        assert change == pytest.approx(naive_value(found, after) - before, abs=1e-12)


def test_a_whole_record_is_priced_as_counted_afresh():
    _, _, codes, found = prepared()
    mixed = np.random.default_rng(3).permuted(codes, axis=0)
    products = products_of(found, mixed)
    after = mixed.copy()
    after[5] = codes[17]
    added = np.empty_like(products)
    change = try_record(found, products, len(codes), mixed[5], codes[17], added)
    expected = naive_value(found, after) - naive_value(found, mixed)
    assert change == pytest.approx(expected, abs=1e-12)
    assert products + added == pytest.approx(products_of(found, after), abs=1e-8)


def test_one_covariance_far_off_costs_more_than_many_that_are_a_little_off():
    _, _, codes, found = prepared()
    products = products_of(found, codes)
    seen = np.argwhere(np.triu(np.isfinite(found.tolerance)))

    def cost(pairs, gap):
        made = products.copy()
        for p, q in pairs:
            made[p, q] += len(codes) * (gap + found.tolerance[p, q])
        return covariance_value(found, made, len(codes))

    many = len(seen)
    assert cost(seen[:1], 0.01 * many) > 2.0 * cost(seen, 0.01)


def test_columns_that_go_together_do_not_outvote_a_pair_apart_from_them():
    rng = np.random.default_rng(0)
    size = 4000
    paid, age, others = (rng.normal(size=size) for _ in range(3))
    frame = pd.DataFrame(
        {
            f"bill{k}": (1000 * (paid + 0.3 * rng.normal(size=size))).round()
            for k in range(12)
        }
    )
    frame["age"] = (40 + 10 * age).round()
    frame["children"] = (2 + 0.7 * age + others).clip(0, 5).round()
    made = Synthesiser(
        seed=1,
        moves=60_000,
        generations=10,
        time_limit=None,
        objective="jsd:2",
        learn_rules=False,
        find_derived=False,
    ).fit_sample(frame)
    # If all covariances counted alike, this one would be 0.1 off and more.
    gaps = (made.corr() - frame.corr()).abs()
    assert gaps.loc["age", "children"] < 0.05
    assert gaps.to_numpy().max() < 0.05


def correlation(frame, one="height", two="weight"):
    both = frame[[one, two]].dropna()
    return float(np.corrcoef(both[one], both[two])[0, 1])


def test_numbers_of_a_bin_find_those_they_belong_to():
    arrow, domain, codes, found = prepared()
    wanted = find_dependence(domain, arrow, codes, found)
    assert wanted is not None
    rng = np.random.default_rng(4)
    drawn = {j: rng.random(len(codes)) for j in (0, 2, 3)}
    held = hold_dependence(domain, codes, drawn, wanted, rng)
    gaps = []
    for ranks in (drawn, held):
        made = domain.decode(codes, np.random.default_rng(0), ranks).to_pandas()
        gaps.append(
            max(
                abs(correlation(made, *pair) - correlation(people(), *pair))
                for pair in (("height", "weight"), ("height", "paid"))
            )
        )
    # Drawn apart from each other, numbers of a bin lose some of their correlation.
    assert gaps[1] < 0.01 < 0.02 < gaps[0]
    # Everybody's number is one that somebody of the same bin had.
    for j in drawn:
        for level in np.unique(codes[:, j]):
            mine = codes[:, j] == level
            assert (np.sort(held[j][mine]) == np.sort(drawn[j][mine])).all()


def test_without_two_numbers_there_is_nothing_to_hold():
    arrow = to_arrow(people()[["height", "sex"]])
    domain = make_domain(arrow, Coding())
    codes = domain.encode(arrow)
    found = find_covariances(domain, arrow, codes)
    assert find_dependence(domain, arrow, codes, found) is None


def test_a_search_that_holds_covariances_has_them_right():
    frame = people(1500)
    gaps = {}
    for moments in (True, False):
        model = Synthesiser(
            seed=1,
            moves=60_000,
            generations=6,
            moments=moments,
            initial="univariate",
            objective="jsd:1",
            learn_rules=False,
        )
        copy = model.fit_sample(frame)
        gaps[moments] = abs(correlation(copy) - correlation(frame))
    # Margins alone say nothing of what belongs together.
    assert gaps[True] < 0.05 < 0.5 < gaps[False]
