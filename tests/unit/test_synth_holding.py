"""Copies that are closer to the original than a fresh sample are held back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from evosdc.metrics import evaluate, memorisation_tests
from evosdc.synth import Coding, Synthesiser
from evosdc.synth.data.domain import make_domain
from evosdc.synth.data.rules import build_rules
from evosdc.synth.objective.risk import no_risk
from evosdc.synth.objective.tables import JSD, Component, build_target
from evosdc.synth.search.limit_record_matches import RecordMatchLimiter
from evosdc.synth.search.population import SynthesisProblem


def four_columns(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "a": rng.integers(0, 30, rows),
            "b": np.round(rng.normal(50, 9, rows), 1),
            "c": rng.integers(0, 30, rows),
            "t": rng.choice(["x", "y"], rows),
        }
    )


@pytest.fixture(scope="module")
def parts():
    table = four_columns(400, 1)
    domain = make_domain(table, Coding(least=0))
    codes = domain.encode(table)
    problem = SynthesisProblem(
        codes,
        domain.sizes,
        build_target(codes, domain.sizes, (Component(JSD, 2),)),
        no_risk(codes, domain.sizes),
        build_rules([], domain, codes),
        np.arange(4),
    )
    return table, domain, codes, RecordMatchLimiter(table, domain, problem, [0, 3], 0)


def test_a_copy_of_everybody_becomes_nobody(parts):
    table, domain, codes, holder = parts
    held = holder.limit(codes)
    # Margins stay, and so does everything that a risk looks at.
    for j in range(4):
        assert (np.bincount(held[:, j]) == np.bincount(codes[:, j])).all()
    assert (held[:, [0, 3]] == codes[:, [0, 3]]).all()
    assert (held == codes).all(axis=1).sum() < 20
    made = domain.decode(held, np.random.default_rng(2))
    tests = evaluate(table, made, key=["a"], target="t", metrics=[]).tests
    assert [test.passed for test in tests if test.name == "matched_records"] == [True]


def test_the_halves_of_the_evaluation_are_not_those_of_the_search(parts, monkeypatch):
    """Passing a test on halves that were searched is no evidence."""
    table, domain, codes, _ = parts
    drawn = []
    plain = np.random.default_rng

    def noted(seed):
        drawn.append(tuple(np.atleast_1d(seed).tolist()))
        return plain(seed)

    for seed in range(8):
        holder = RecordMatchLimiter(table, domain, parts[3]._problem, [0, 3], seed)
        monkeypatch.setattr(memorisation_tests.np.random, "default_rng", noted)
        holder._test(codes)
        searched = set(drawn)
        drawn.clear()
        evaluate(table, table, key=["a"], target="t", metrics=[], seed=seed)
        monkeypatch.undo()
        assert searched
        assert not searched & set(drawn)


def test_what_is_far_enough_or_has_no_time_stays(parts):
    _, domain, codes, holder = parts
    others = domain.encode(four_columns(400, 1))[
        np.random.default_rng(3).permutation(400)
    ]
    apart = np.column_stack([np.roll(others[:, j], 7 * j) for j in range(4)])
    assert holder.limit(apart) is apart
    assert (holder.limit(codes, lambda: 0.0) == codes).all()


def test_the_floor_is_what_holds_back():
    frame = four_columns(300, 4)
    # The guard of small groups stirs as well, and would hide what the floor does.
    options = {"generations": 6, "moves": 300_000, "time_limit": None, "least": 0}
    held = Synthesiser(["a"], "t", **options).fit(frame)
    free = Synthesiser(["a"], "t", noise_floor=False, **options).fit(frame)

    def closeness(model):
        found = evaluate(frame, model.sample(), key=["a"], target="t", metrics=[])
        return next(t for t in found.tests if t.name == "matched_records")

    assert not closeness(free).passed
    assert closeness(held).passed
    assert held.utility_["jsd:2"] > free.utility_["jsd:2"]
