"""What holds in every record: derived columns and impossible combinations."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from evosdc.errors import InputError
from evosdc.synth import Coding, Synthesiser
from evosdc.synth.data.derived import find_derived, given_columns
from evosdc.synth.data.domain import make_domain
from evosdc.synth.data.impossible import learn_rules, sharp_cuts
from evosdc.synth.data.rules import must_hold

QUICK = {"moves": 20_000, "generations": 4, "time_limit": None, "seed": 1}


def people(size: int = 1200) -> pa.Table:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 90, size)
    height = np.round(rng.normal(170, 10, size), 0)
    weight = np.round(height - 100 + rng.normal(0, 8, size), 1)
    marital = np.where(
        age < 15, "N", rng.choice(["single", "married", "widowed"], size)
    )
    group = np.select([age < 15, age < 65], ["child", "adult"], "old")
    income = pa.array(rng.gamma(2, 900, size).astype(int), mask=age < 15)
    place = rng.integers(0, 6, size)
    return pa.table(
        {
            "age": age,
            "group": group,
            "marital": marital,
            "height": height,
            "weight": weight,
            "bmi": np.round(weight / (height / 100) ** 2, 2),
            "income": income,
            "place": [f"P{p}" for p in place],
            "density": np.array([10.5, 3.2, 7.7, 1.1, 900.0, 45.0])[place],
        }
    )


def test_functions_and_formulas_are_found_and_said():
    found = {d.name: d for d in find_derived(people(), set(), [], 5)}
    assert set(found) == {"group", "bmi", "density"}
    assert found["group"].sources == ("age",)
    assert set(found["bmi"].sources) == {"weight", "height"}
    assert "10000 * weight / height ** 2" in found["bmi"].text()
    assert "group" not in {d.name for d in find_derived(people(), {"group"}, [], 5)}


def test_a_multiple_is_computed_the_way_that_loses_no_digit():
    """Five times a tax of one digit need not be whole; a fifth of an income is."""
    rng = np.random.default_rng(4)
    income = rng.integers(5_000, 90_000, 400)
    table = pa.table({"income": income, "tax": np.round(income / 5, 1)})
    (found,) = find_derived(table, set(), [], 5)
    assert (found.name, found.how) == ("tax", "0.2 * income")
    # Where only the other way is left it is taken, rounded.
    (found,) = find_derived(table, {"tax"}, [], 5)
    assert (found.name, found.how) == ("income", "5 * tax")


def test_chance_makes_no_function():
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "x": [f"v{i % 15}" for i in range(60)],
            "y": np.where(rng.random(60) < 0.03, "b", "a"),
            "z": rng.integers(0, 50, 60),
        }
    )
    assert find_derived(table, set(), [], 5) == []


def test_a_copy_keeps_to_what_was_found():
    table = people()
    model = Synthesiser(**QUICK).fit(table)
    copy = model.sample().to_pandas()
    assert list(copy.columns) == table.column_names
    bmi = np.round(copy.weight / (copy.height / 100) ** 2, 2)
    assert np.abs(bmi - copy.bmi).max() < 0.011
    assert (
        copy.group
        == np.select([copy.age < 15, copy.age < 65], ["child", "adult"], "old")
    ).all()
    assert ((copy.age < 15) == (copy.marital == "N")).all()
    assert ((copy.age < 15) == copy.income.isna()).all()
    both = table.to_pandas().groupby("place").density.first()
    assert (copy.density == copy.place.map(both)).all()
    assert any("'bmi' is computed" in note for note in model.notes_)
    assert any("impossible combinations" in note for note in model.notes_)


def test_what_is_refused_is_not_done():
    table = people()
    model = Synthesiser(refuse=["bmi", "age,marital"], **QUICK).fit(table)
    assert "bmi" not in {d.name for d in model.derived_}
    pairs = [{i.first, i.second} for i in model.impossible_]
    assert {"age", "marital"} not in pairs
    none = Synthesiser(find_derived=False, learn_rules=False, **QUICK).fit(table)
    assert none.derived_ == ()
    assert none.impossible_ == ()


def test_a_formula_of_the_user_is_computed():
    formula = "bmi = round(weight / (height / 100) ** 2, 1)"
    copy = Synthesiser(derive=[formula], **QUICK).fit(people()).sample().to_pandas()
    bmi = np.round(copy.weight / (copy.height / 100) ** 2, 1)
    assert np.abs(bmi - copy.bmi).max() < 1e-9


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("bmi", "cannot read"),
        ("bmi = weight +", "cannot read the formula"),
        ("bmi = open(weight)", "calls something else"),
        ("bmi = wage / 2", "unknown column 'wage'"),
        ("group = age / 2", "not of numbers"),
    ],
)
def test_a_bad_formula_is_refused(formula, said):
    with pytest.raises(InputError, match=said):
        given_columns(people(), [formula])


def test_sharp_ends_cut_bins_and_rules_follow():
    table = people()
    assert 15.0 in sharp_cuts(table)["age"]
    domain = make_domain(table, Coding(), sharp_cuts(table))
    codes = domain.encode(table)
    cells, said = learn_rules(domain, codes, set())
    names = [{s.first, s.second} for s in said]
    assert {"age", "marital"} in names
    assert all(s.expected >= 12 for s in said)
    for members, forbidden in cells:
        sizes = domain.sizes[list(members)]
        numbers = codes[:, members[0]] + sizes[0] * codes[:, members[1]].astype(int)
        assert not forbidden[numbers].any()


@pytest.mark.parametrize(("share", "forbidden"), [(0.001, True), (0.008, False)])
def test_a_few_exceptions_break_no_rule_and_a_tail_is_none(share, forbidden):
    rng = np.random.default_rng(5)
    size = 4000
    group = rng.integers(0, 4, size)
    # Nobody of group 0 has a rating, but for a few, who have different ones.
    rating = rng.integers(0, 10, size)
    rating[group == 0] = 0
    group[: int(share * size)] = 0
    rating[: int(share * size)] = 1 + np.arange(int(share * size)) % 9
    table = pa.table({"group": group.astype(str), "rating": rating.astype(str)})
    domain = make_domain(table, Coding())
    codes = domain.encode(table)
    _, said = learn_rules(domain, codes, set(), few=5)
    found = sum(rule.people for rule in said)
    assert (found > 0) == forbidden
    assert found <= 0.002 * size


def learnt(table: pa.Table) -> dict[tuple[str, str], np.ndarray]:
    """Return forbidden pairs of values by columns, as a table of levels."""
    domain = make_domain(table, Coding(), sharp_cuts(table))
    codes = domain.encode(table)
    out = {}
    for (a, b), forbidden in learn_rules(domain, codes, set())[0]:
        shape = domain.sizes[b], domain.sizes[a]
        out[domain.names[a], domain.names[b]] = forbidden.reshape(shape).T
    return out


def test_levels_that_are_too_rare_alone_are_judged_together():
    rng = np.random.default_rng(3)
    size = 6000
    group = rng.integers(0, 10, size)
    # One in fifty has one of six ratings, but nobody of group 0.
    rated = (rng.random(size) < 0.025) & (group > 0)
    rating = np.where(rated, rng.choice(list("123456"), size), "N")
    found = learnt(pa.table({"group": group, "rating": rating}))["group", "rating"]
    assert found[0, :6].all()
    assert not found[0, 6]
    assert not found[1:].any()
    # Chance does not do it: nobody of a level of three people, say, has a rating.
    lone = np.where(rng.random(size) < 0.0005, 11, rng.integers(1, 10, size))
    plain = np.where(rng.random(size) < 0.025, rng.choice(list("123456"), size), "N")
    assert not learnt(pa.table({"group": lone, "rating": plain}))


def test_a_number_that_is_always_above_another_is_so_of_rare_ones_too():
    rng = np.random.default_rng(4)
    size = 4000
    children = np.minimum(rng.geometric(0.5, size) - 1, 9)
    family = children + 1 + rng.integers(0, 2, size)
    texts = [
        np.where(rng.random(size) < 0.1, "N", x.astype(str)) for x in (children, family)
    ]
    found = learnt(pa.table({"children": texts[0], "family": texts[1]}))
    domain = make_domain(pa.table({"c": texts[0], "f": texts[1]}), Coding())
    shown = [
        [(v.values[k].as_py(), v.level[k]) for k in np.flatnonzero(v.weight > 0)]
        for v in domain.variables
    ]
    mask = found["children", "family"]
    pairs = [(a, b, mask[i, k]) for a, i in shown[0] for b, k in shown[1]]
    above = [m for a, b, m in pairs if a.isdigit() and b.isdigit() and int(a) >= int(b)]
    assert len(above) > 20
    assert all(above)
    assert not any(m for a, b, m in pairs if "N" in (a, b))


def test_a_corner_of_two_numbers_is_learnt():
    rng = np.random.default_rng(2)
    age = rng.integers(18, 90, 3000)
    married = 2011 - age + 18 + (rng.random(3000) * (age - 17)).astype(int)
    table = pa.table({"age": age, "married": married})
    model = Synthesiser(**QUICK).fit(table)
    copy = model.sample().to_pandas()
    early = (copy.married < 2011 - copy.age).mean()
    assert early == 0.0
    rule = must_hold("married >= 2011 - age + 10")
    held = Synthesiser(rules=[rule], **QUICK).fit(table).sample().to_pandas()
    assert (held.married >= 2011 - held.age + 10).all()


def test_what_must_hold_is_turned_round():
    assert must_hold("a > b or a = 'N'") == "not (a > b or a == 'N')"
    assert must_hold("a >= 1 and b != 2") == "not (a >= 1 and b != 2)"


@pytest.mark.parametrize("text", ["age >", "age > 1) or (age < 5", ""])
def test_what_cannot_hold_is_shown_as_it_was_given(text):
    with pytest.raises(InputError) as refused:
        must_hold(text)
    # Brackets that do not match would change what "not" is about.
    assert str(refused.value).startswith(f"cannot read the rule {text!r}.")


def test_what_is_missing_together_stays_together():
    rng = np.random.default_rng(3)
    asked = rng.random(2000) < 0.5
    table = pa.table(
        {
            "q1": pa.array(rng.integers(0, 4, 2000), mask=~asked),
            "q2": pa.array(rng.normal(5, 1, 2000), mask=~asked),
            "q3": rng.integers(0, 3, 2000),
        }
    )
    copy = Synthesiser(**QUICK).fit(table).sample().to_pandas()
    assert (copy.q1.isna() == copy.q2.isna()).all()
    assert abs(copy.q1.isna().mean() - 0.5) < 0.05


def test_a_rule_that_most_people_break_is_refused():
    table = pa.table({"age": list(range(20, 80)) * 5, "sex": ["f", "m"] * 150})
    with pytest.raises(InputError, match=r"broken by 290 of 300 records") as refused:
        Synthesiser(rules=[must_hold("age > 77")], **QUICK).fit(table)
    assert "leave the others out" in str(refused.value)
