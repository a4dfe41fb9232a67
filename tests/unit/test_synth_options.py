"""Options as objects or as flat keywords, and scikit-learn's manner of both."""

from __future__ import annotations

from dataclasses import fields

import pyarrow as pa
import pytest
from sklearn.base import clone

import evosdc
from evosdc.errors import InputError
from evosdc.synth import (
    Coding,
    Logic,
    Operators,
    Scenario,
    Schedule,
    Synthesiser,
    TradeOff,
)
from evosdc.synth.options import FLAT, GROUPS

OBJECTS = {
    "scenario": Scenario(["a"], "b", risk="disco", risk_limit=0.1),
    "trade_off": TradeOff("jsd:2", "weighted", risk_weight=2.0),
    "coding": Coding(bins=7, least=3, identifiers={"c": "new"}),
    "logic": Logic(["c = a * 2"], find_derived=False),
    "operators": Operators("matrix", 0.5, selection="roulette"),
    "schedule": Schedule(3, 4, time_limit=None, memetic=False),
}


def flat_of(objects):
    return {
        f.name: getattr(value, f.name)
        for value in objects.values()
        for f in fields(value)
    }


def test_objects_and_flat_keywords_are_the_same() -> None:
    by_object = Synthesiser(**OBJECTS, seed=2)
    by_keyword = Synthesiser(**flat_of(OBJECTS), seed=2)
    assert by_object.options == by_keyword.options
    assert by_object.get_params() == by_keyword.get_params()
    assert by_object.bins == 7
    assert by_object.key == ["a"]
    assert repr(by_object) == repr(by_keyword)
    assert "bins=7" in repr(by_object)
    assert "pool" not in repr(by_object)


def test_no_keyword_belongs_to_two_objects() -> None:
    assert len(FLAT) == sum(len(fields(kind)) for kind in GROUPS.values())


@pytest.mark.parametrize("group", list(GROUPS))
def test_one_error_says_that_both_are_given(group: str) -> None:
    name = fields(GROUPS[group])[0].name
    both = {group: OBJECTS[group], name: getattr(OBJECTS[group], name)}
    with pytest.raises(InputError, match=rf"{name}' is given twice.*{group}="):
        Synthesiser(**both)
    with pytest.raises(InputError, match="is given twice"):
        Synthesiser().set_params(**both)


def test_what_is_unknown_or_of_the_wrong_type() -> None:
    with pytest.raises(InputError, match="unknown parameter 'bin'"):
        Synthesiser(bin=3)
    with pytest.raises(InputError, match=r"coding is of type 'dict'.*Coding"):
        Synthesiser(coding={"bins": 3})
    with pytest.raises(InputError, match="crossover rate of a memetic run"):
        Synthesiser(crossover_rate="adaptive:0.5", moves=10, generations=1).fit(
            pa.table({"a": [1, 2] * 10, "b": [1, 2] * 10})
        )


def test_a_clone_has_the_same_parameters() -> None:
    model = Synthesiser(**OBJECTS, copies=2, rules=["a > 3"])
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert copy.coding == model.coding


def test_parameters_change_one_by_one_and_by_object() -> None:
    model = Synthesiser(["a"], "b", bins=7, pool=4)
    model.set_params(bins=9, schedule=Schedule(5), seed=8)
    assert model.coding == Coding(bins=9, pool=4)
    assert (model.population, model.seed, model.target) == (5, 8, "b")
    model.bins = 11
    assert model.coding == Coding(bins=11, pool=4)
    with pytest.raises(InputError, match="binning is"):
        model.set_params(binning="magic")
    assert model.coding == Coding(bins=11, pool=4)


def test_a_time_limit_is_given_once() -> None:
    frame = pa.table({"a": [1, 2] * 20, "b": [1, 2] * 20})
    with pytest.raises(InputError, match="'time_limit' is given twice"):
        evosdc.synthesise(
            frame, key=["a"], target="b", time_limit=5, schedule=Schedule()
        )
    with pytest.raises(InputError, match="key or target is missing"):
        evosdc.synthesise(frame, key=["a"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"workers": 0}, "workers is 0. Expected: at least 1. Next step: "),
        ({"workers": -3}, "workers is -3. Expected: at least 1. Next step: "),
        ({"seed": -1}, "seed is -1. Expected: at least 0. Next step: "),
        ({"copies": 0}, "copies is 0. Expected: at least 1. Next step: "),
    ],
)
def test_numbers_that_make_no_sense_are_refused(
    option: dict[str, int], message: str
) -> None:
    with pytest.raises(InputError) as refused:
        Synthesiser(**option).fit({"a": [1, 2], "b": [3, 4]})
    assert str(refused.value).startswith(message)
