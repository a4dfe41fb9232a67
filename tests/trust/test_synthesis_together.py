"""The guard of small groups and the verdict hold together, on files full of traps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from builders import Command
from evosdc import api
from evosdc.errors import InputError

KEY = ["age", "pay", "job"]
QUICK = ["--generations", "4", "--moves", "40000"]


def people(n: int = 600, seed: int = 1) -> pd.DataFrame:
    """Make people with a number of their own, one job of one, one huge income."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    job = rng.choice(["clerk", "cook", "nurse", "driver"], n).astype("U20")
    job[7] = "Prime Minister"
    pay = np.round(np.exp(rng.normal(10, 0.5, n)) + 100 * age, 2)
    pay[9] = 9_999_999.0
    height = np.round(rng.normal(170, 10, n), 1)
    return pd.DataFrame(
        {
            "pid": 100_000 + rng.permutation(n),
            "age": age,
            "pay": pay,
            "height": np.where(rng.random(n) < 0.004, np.nan, height),
            "job": job,
            "ill": rng.choice(["no", "a bit", "very"], n, p=[0.6, 0.3, 0.1]),
        }
    )


@pytest.mark.parametrize(
    ("key", "target", "options"),
    [
        ("age,pay,job", "ill", []),
        ("age,height,job", "pay", []),
        ("age,pay,job,height", "ill", ["--min-group", "12"]),
        ("age,pay", "job", ["--identifier", "pid=new"]),
        ("pay,job", "ill", ["--min-group", "0"]),
        ("age,pay,job", "ill", ["--columns", "age,job,ill"]),
        ("age,job", "pay", []),
        ("age,job", "ill", ["--min-group", "12"]),
    ],
)
def test_one_risk_figure_whatever_was_pooled_coded_or_dropped(
    run: Command, tmp_path: Path, key: str, target: str, options: list[str]
) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out"
    people().to_csv(path, index=False)
    roles = ["--key", key, "--target", target, "--json", "-o"]
    code, text, _ = run("synthesise", path, *QUICK, *options, *roles, out)
    made = json.loads(text)
    folder = out / ("publish" if code == 0 else "confidential")
    copy = folder / "synthetic.csv"
    again, text, _ = run("evaluate", path, copy, *roles, tmp_path / "judged")
    found = json.loads(text)
    assert made["risk"] == found["risk"]
    # Keys of many values meet nobody; others do, so that there is something to compare.
    assert any(made["risk"].values()) or "pay" in key or "height" in key
    assert (again, made["verdict"]) == (code, found["verdict"])
    assert "claim" in made
    least = (
        int(options[options.index("--min-group") + 1])
        if "--min-group" in options
        else 5
    )
    assert made["small_groups"]["least"] == least
    guarded = f"fewer than {least} people" if least else "not guarded"
    assert guarded in made["claim"]["small_groups"]
    # What the search itself says of its risks is the same figure.
    model = json.loads((out / "confidential" / "evaluation.json").read_text())
    assert model["risk"] == found["risk"]


@pytest.mark.parametrize("least", [0, 5, 12])
def test_the_search_measures_the_risk_of_the_file_it_writes(least: int) -> None:
    frame = people()
    made = api.synthesise(
        frame, key=KEY, target="ill", least=least, generations=3, moves=20_000
    )
    assert made.model.risk_ == dict(made.evaluation.risk)
    found = api.evaluate(frame, made.copies[0], key=KEY, target="ill")
    assert dict(found.risk) == made.model.risk_


def test_an_evaluation_says_what_the_copy_lacks(run: Command, tmp_path: Path) -> None:
    frame = people()
    frame.to_csv(tmp_path / "in.csv", index=False)
    # Nobody's records: every column in an order of its own.
    rng = np.random.default_rng(3)
    copy = pd.DataFrame({c: rng.permutation(frame[c]) for c in frame})
    words = ["--key", "age,job", "--target", "ill", "--json", "--force"]
    words += ["-o", tmp_path / "out"]
    copy.drop(columns=["pid", "height"]).to_csv(tmp_path / "a.csv", index=False)
    code, text, _ = run("evaluate", tmp_path / "in.csv", tmp_path / "a.csv", *words)
    found = json.loads(text)
    assert code == 0
    assert found["left_out"] == dict.fromkeys(["pid", "height"], "not in the copy")
    assert any("'pid' was not compared" in s for s in found["not_protected"])
    # With real numbers of people in it, in whatever order, it is not fit.
    copy.to_csv(tmp_path / "b.csv", index=False)
    code, text, _ = run("evaluate", tmp_path / "in.csv", tmp_path / "b.csv", *words)
    found = json.loads(text)
    assert code == 3
    assert any("people whose pid is there" in reason for reason in found["reasons"])
    assert "identifies people" in found["left_out"]["pid"]


def test_fresh_numbers_do_not_hide_a_copy_of_everybody() -> None:
    frame = people()
    copy = frame.assign(pid=900_000 + np.arange(len(frame)))
    found = api.evaluate(frame, copy, key=["age"], target="ill")
    assert not found.fit
    assert any("whole record is there" in reason for reason in found.reasons)


def test_a_copy_of_another_file_is_refused_by_name() -> None:
    frame = people()
    with pytest.raises(InputError, match="lacks the column 'job'"):
        api.evaluate(frame, frame.drop(columns="job"), key=["age", "job"], target="ill")
    with pytest.raises(InputError, match="extra"):
        api.evaluate(frame, frame.assign(more=1), key=["age"], target="ill")


def test_a_column_with_a_value_for_everybody_has_a_map() -> None:
    names = [f"Person {k}" for k in range(300)]
    frame = pd.DataFrame({"name": names, "sex": ["f", "m"] * 150})
    found = api.evaluate(frame, frame.assign(name="other"), key=["name"], target="sex")
    assert np.isfinite(found["mca"].value)
