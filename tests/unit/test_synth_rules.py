"""Rules: what is forbidden, in each way of saying it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.synth import Coding
from evosdc.synth.data.domain import make_domain
from evosdc.synth.data.rules import broken, build_rules, cut_points


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 90, 400),
            "marital": rng.choice(["single", "married", None], 400),
            "sex": rng.choice(["m", "f"], 400),
        }
    )
    return to_arrow(frame), frame


def _broken(people, rule):
    table, _ = people
    domain = make_domain(table, Coding(bins={"age": 8}, least=0), cut_points([rule]))
    codes = domain.encode(table)
    return broken(build_rules([rule], domain, codes), codes)


def test_an_expression_forbids_exactly_what_it_says(people):
    frame = people[1]
    found = _broken(people, "age < 16 and marital != 'single'")
    # A missing value meets no comparison.
    married = frame["marital"].eq("married").to_numpy(dtype=bool)
    assert (found == ((frame["age"] < 16).to_numpy() & married)).all()
    found = _broken(people, "not (age >= 16) and sex in ['m']")
    expected = ((frame["age"] < 16) & (frame["sex"] == "m")).to_numpy()
    assert (found == expected).all()


def test_a_mapping_and_a_function(people):
    frame = people[1]
    both = (frame["sex"].eq("m") & frame["marital"].eq("married")).to_numpy(bool)
    assert (_broken(people, {"sex": "m", "marital": ["married"]}) == both).all()
    found = _broken(people, (["sex"], lambda row: row["sex"] == "f"))
    assert (found == frame["sex"].eq("f").to_numpy()).all()


def test_structural_zeros_are_what_the_original_lacks():
    frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["p", "q", "p"]})
    table = to_arrow(frame)
    domain = make_domain(table, Coding(least=0))
    codes = domain.encode(table)
    rules = build_rules([("a", "b")], domain, codes)
    assert not broken(rules, codes).any()
    lacking = domain.encode(to_arrow(pd.DataFrame({"a": ["y"], "b": ["q"]})))
    assert broken(rules, lacking).all()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("age <", "cannot read the rule"),
        ("age ** 2 < 3", r"a rule says 'age \*\* 2'"),
        ("shoe > 3", "unknown column 'shoe'"),
        ("sex < 3", "different types"),
        ("1 < 2", "names no column"),
        ({"shoe": 1}, "unknown column 'shoe'"),
    ],
)
def test_bad_rules_are_refused(people, rule, message):
    with pytest.raises(InputError, match=message):
        _broken(people, rule)
