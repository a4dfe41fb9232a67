"""The registry and the evaluation as a whole."""

from __future__ import annotations

import json
import pkgutil
import re
import sys
from importlib import import_module
from inspect import isabstract
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evosdc import metrics
from evosdc.errors import InputError, MethodError
from evosdc.metrics import Metric, all_metrics, encode_frames, evaluate
from evosdc.metrics.attribution import Tcap
from evosdc.metrics.registry import METRICS
from evosdc.results.next_steps import release_verdict

COLUMNS = ["age", "sex", "town", "job", "ill"]


def population(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 7, rows)
    sex = rng.integers(0, 2, rows)
    town = rng.integers(0, 7, rows)
    job = (age // 3 + rng.integers(0, 2, rows)) % 3
    ill = rng.random(rows) < 0.15 + 0.08 * age
    frame = pd.DataFrame(dict(zip(COLUMNS, (age, sex, town, job, ill), strict=True)))
    return frame.astype(str)


PEOPLE = population(400, 1)
OTHERS = population(400, 2)
STRANGERS = population(400, 3)


@pytest.fixture(scope="module")
def copied():
    """The original released as if it were synthetic, tested against a hold-out."""
    return evaluate(PEOPLE, PEOPLE, key=COLUMNS[:4], target="ill", holdout=OTHERS)


@pytest.fixture(scope="module")
def others():
    """Other people of the same population: they know nobody."""
    return evaluate(PEOPLE, STRANGERS, key=COLUMNS[:4], target="ill", holdout=OTHERS)


def test_names_are_unique_and_every_metric_declares_itself() -> None:
    original, _, holdout = encode_frames((PEOPLE, PEOPLE, OTHERS), None, "ill")
    listed = all_metrics(holdout=holdout)
    names = [metric.name for metric in listed]
    assert len(set(names)) == len(names)
    for metric in listed:
        assert metric.kind in {"utility", "risk"}
        assert metric.goal in {"minimise", "maximise"}
        low, high = metric.range
        assert low < high
        assert any(char.isdigit() for char in metric.source) or metric.name in {
            "identical_records_pct"
        }
        assert metric.title
    kinds = [metric.kind for metric in listed]
    assert kinds == sorted(kinds, reverse=True)
    assert original.rows == 400


def test_no_metric_is_forgotten() -> None:
    for found in pkgutil.iter_modules(metrics.__path__, "evosdc.metrics."):
        import_module(found.name)
    classes: set[type[Metric]] = set()
    new: set[type[Metric]] = {Metric}
    while new:
        new = {sub for metric in new for sub in metric.__subclasses__()}
        classes |= {c for c in new if c.__module__.startswith("evosdc.")}
    homes = {f"{c.__module__}:{c.__name__}" for c in classes if not isabstract(c)}
    # It needs the whole population, which no evaluation has.
    assert homes - {"evosdc.metrics.uniques:PopulationRisk"} == set(METRICS)
    page = Path(__file__).parents[2] / "docs/explanation/fit-for-release.md"
    text = page.read_text(encoding="utf-8").partition("## The metrics")[2]
    listed = re.findall(r"`(\w+)`", text.partition("| --- |")[2].partition("\n## ")[0])
    (holdout,) = encode_frames((OTHERS,), None, "ill")
    assert listed == [metric.name for metric in all_metrics(holdout=holdout)]


def test_values_stay_in_their_ranges_and_breakdowns_are_numbers(others) -> None:
    for value in others.values:
        low, high = value.range
        assert low - 1e-9 <= value.value <= high + 1e-9, value.name
        assert value.breakdown, value.name
        assert all(isinstance(part, float) for _, part in value.breakdown), value.name
        assert isinstance(value.value, float), value.name


def test_every_metric_has_the_baselines_the_report_marks(others) -> None:
    for value in others.values:
        wanted = {"original", "bootstrap", "independent"}
        if value.name.startswith(("nearer", "membership")):
            assert value.baselines["chance"] == 0.5
        else:
            wanted |= {"holdout"}
        assert wanted <= set(value.baselines), value.name


def test_the_original_is_its_own_best_utility(copied) -> None:
    for value in copied.values:
        if value.kind == "utility":
            worse = value.baselines["independent"]
            if value.goal == "minimise":
                assert value.value <= worse, value.name
            else:
                assert value.value >= worse, value.name


def test_a_copy_is_not_fit_and_other_people_are(copied, others) -> None:
    assert release_verdict(copied).word == "not fit for release"
    assert any("membership_auc" in reason for reason in copied.reasons)
    assert any("whose whole record is there" in reason for reason in copied.reasons)
    assert "members can be told from others" in " ".join(copied.plain_words)
    assert release_verdict(others).word == "fit for release"
    assert others.reasons == ()


def test_without_a_holdout_the_halves_of_the_original_tell() -> None:
    options = {"key": COLUMNS[:4], "target": "ill", "metrics": ["jsd_2"]}
    result = evaluate(PEOPLE, STRANGERS, **options)
    assert not result.reasons
    half = "the other half of the original"
    assert result.tests
    assert all(test.against.startswith(half) for test in result.tests)
    assert "No hold-out was given" in " ".join(result.plain_words)
    assert evaluate(PEOPLE, PEOPLE, **options).reasons


def test_copies_are_measured_whatever_was_asked_for() -> None:
    result = evaluate(PEOPLE, PEOPLE, key=["age"], target="ill", metrics=["jsd_1"])
    names = {value.name for value in result.values}
    assert names == {"jsd_1", "rep_uniques_pct", "disco_pct", "identical_records_pct"}
    assert "100.0 % of the synthetic records equal" in result.plain_words[0]


def test_copying_all_but_the_uniques_is_called_by_its_name() -> None:
    # Key by key: singles are dropped, all others copied. DCAP on uniques is then 0.
    keys = PEOPLE[COLUMNS[:2]].agg("-".join, axis=1) + (PEOPLE["town"] == "0").astype(
        str
    )
    frame = PEOPLE.assign(spot=keys)[["spot", "ill"]]
    extra = pd.DataFrame({"spot": [f"alone{i}" for i in range(5)], "ill": ["True"] * 5})
    original = pd.concat([frame, extra], ignore_index=True)
    often = original["spot"].map(original["spot"].value_counts()) > 1
    result = evaluate(
        original, original[often], key=["spot"], target="ill", metrics=["dcap_u"]
    )
    assert result["dcap_u"].value == 0
    assert "everyone else's record is in the file" in " ".join(result.plain_words)


def test_closer_than_a_fresh_sample_is_called_memory(copied) -> None:
    assert "closeness is memory" in " ".join(copied.plain_words)


def test_the_same_seed_gives_the_same_figures(others) -> None:
    again = evaluate(PEOPLE, STRANGERS, key=COLUMNS[:4], target="ill", holdout=OTHERS)
    assert again.summary() == others.summary()
    other = evaluate(
        PEOPLE, STRANGERS, key=COLUMNS[:4], target="ill", holdout=OTHERS, seed=1
    )
    assert other["jsd_2"].value == others["jsd_2"].value
    assert other["jsd_2"].baselines != others["jsd_2"].baselines


def test_the_summary_is_json(others) -> None:
    text = json.loads(json.dumps(others.summary()))
    assert text["metrics"]["jsd_2"]["goal"] == "minimise"
    assert text["rows"] == 400


def test_a_missing_extra_is_skipped_with_its_reason(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    result = evaluate(PEOPLE, STRANGERS, key=None, target="ill", metrics=["pmse_cart"])
    assert dict(result.skipped)["pmse_cart"].endswith("pip install 'evosdc[learn]'.")
    assert "pmse_cart" in result.plain_words[-1]


def test_a_metric_can_be_given_itself() -> None:
    result = evaluate(PEOPLE, STRANGERS, key=["age"], target="ill", metrics=[Tcap(0.9)])
    assert result["tcap_0.9"].kind == "risk"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(MethodError, match="unknown metric 'jds'"):
        evaluate(PEOPLE, PEOPLE, key=None, target="ill", metrics=["jds"])
    result = evaluate(PEOPLE, PEOPLE, key=["age"], target="ill", metrics=["jsd_1"])
    with pytest.raises(InputError, match="no metric 'jsd_2' here"):
        result["jsd_2"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": ["x"], "b": ["y"]}),
        pd.DataFrame({"a": ["x"] * 5, "b": ["y"] * 5}),
        pd.DataFrame({"a": [None] * 4, "b": ["y", "z", "y", "z"]}),
        pd.DataFrame({"a": [f"v{i}" for i in range(3000)], "b": ["y", "z"] * 1500}),
    ],
    ids=["one row", "constant", "all missing", "3000 levels"],
)
def test_odd_files_are_measured_or_skipped_with_a_reason(frame) -> None:
    result = evaluate(frame, frame, key=["a"], target="b", holdout=frame)
    assert result["jsd_full"].value == 0
    assert all(reason for _, reason in result.skipped)
    assert len(result.values) + len(result.skipped) == len(
        all_metrics(holdout=encode_frames([frame], ["a"], "b")[0])
    )
