"""Properties of the synthesiser's scores and codings on any small data."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from builders import examples
from evosdc.frames import to_arrow
from evosdc.metrics import encode_frames
from evosdc.synth import Coding
from evosdc.synth.data.domain import make_domain
from evosdc.synth.data.rules import no_rules
from evosdc.synth.objective.cost import CandidateGoal, cost_of
from evosdc.synth.objective.options import parse_objective
from evosdc.synth.objective.risk import build_risk
from evosdc.synth.objective.split_halves import distances
from evosdc.synth.objective.tables import build_target
from evosdc.synth.search.population import CandidatePopulation, SynthesisProblem, costs

SIZES = np.array([2, 3, 4])
records = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 3)),
    min_size=2,
    max_size=30,
)
quick = examples(40)


@quick
@given(records, st.randoms(use_true_random=False))
def test_distances_are_metrics_of_the_multiset(rows, random):
    one = np.array(rows, np.int16)
    two = np.array(random.sample(rows, len(rows)), np.int16)
    other = np.array([[1 - a, (b + 1) % 3, (c + 1) % 4] for a, b, c in rows], np.int16)
    for text in ("jsd:1,2,full", "tables"):
        aims = parse_objective(text)
        assert np.allclose(distances(one, two, SIZES, aims), 0, atol=1e-7)
        there = distances(one, other, SIZES, aims)
        back = distances(other, one, SIZES, aims)
        assert np.allclose(there, back)
        assert (there >= 0).all()
        assert (there <= 2 + 1e-12).all()


@quick
@given(records, st.floats(0, 2), st.floats(0, 1), st.booleans())
def test_costs_of_many_and_of_one_agree(rows, weight, limit, euclid):
    codes = np.array(rows, np.int16)
    target = build_target(codes, SIZES, parse_objective("jsd:2"))
    risk = build_risk(codes, SIZES, (0, 1), 2)
    problem = SynthesisProblem(codes, SIZES, target, risk, no_rules(3), np.arange(3))
    population = CandidatePopulation(problem, 1)
    population.put(0, np.ascontiguousarray(codes[::-1] * 0 + codes[0]))
    goal = CandidateGoal(
        euclid, 1.0, weight, np.full(4, 0.25), np.full(4, limit), np.arange(4) / 10
    )
    utility = population.utility(np.arange(1))[0]
    expected = cost_of(goal, utility, population.risks[0])
    assert np.isclose(costs(goal, population, np.arange(1))[0], expected)


@quick
@given(
    st.lists(
        st.one_of(st.none(), st.floats(-1e6, 1e6, allow_nan=False, width=32)),
        min_size=2,
        max_size=80,
    ),
    st.sampled_from(["quantile", "width"]),
    st.integers(1, 6),
)
def test_a_restored_number_stays_in_its_bin(values, binning, bins):
    table = to_arrow(pa.table({"x": pa.array(values, pa.float64())}))
    coding = Coding(bins={"x": bins}, binning=binning, least=0)
    domain = make_domain(table, coding)
    codes = domain.encode(table)
    back = domain.decode(codes, np.random.default_rng(0))
    before = np.array([np.nan if v is None else v for v in values])
    after = np.array([np.nan if v is None else v for v in back.column("x").to_pylist()])
    assert (np.isnan(before) == np.isnan(after)).all()
    for level in np.unique(codes):
        mine = codes[:, 0] == level
        if np.isnan(before[mine]).any():
            continue
        assert after[mine].min() >= before[mine].min()
        assert after[mine].max() <= before[mine].max()


@quick
@given(
    st.lists(st.integers(-3, 60), min_size=60, max_size=300),
    st.integers(2, 8),
    st.sampled_from([2, 5, 11]),
)
def test_bins_refine_those_of_the_metrics_and_merge_for_small_groups(
    values, bins, least
):
    # Half of the numbers are one: special, as zeros of an income are.
    table = pa.table({"x": values + [0] * len(values), "t": ["a"] * 2 * len(values)})
    binned = encode_frames([table], ["x"], "t", bins=bins, max_distinct=0)[0]
    fine, merged = (
        make_domain(table, Coding(bins={"x": bins}, least=few)).encode(table)[:, 0]
        for few in (0, least)
    )
    for outer, inner in ((binned.codes[:, 0], fine), (merged, fine)):
        pairs = np.unique(np.column_stack([inner, outer]), axis=0)
        assert len(pairs) == len(np.unique(inner))
    assert (np.bincount(merged) >= least).all()
