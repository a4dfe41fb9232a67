"""`evosdc inspect`, and its file given back to `synthesise`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

from builders import Command

# What is written counts here: a second leaves no time for slow measures of it.
SHORT = ("--generations", "2", "--moves", "4000", "--time-limit", "1", "--json")


def _file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 90, 600)
    frame = pd.DataFrame(
        {
            "pid": np.arange(1000, 1600),
            "age": age,
            "group": np.where(age < 15, "child", np.where(age < 65, "adult", "old")),
            "sex": rng.choice(["f", "m"], 600),
            "ratio": [str(r) if r >= 0 else "N" for r in rng.integers(-20, 400, 600)],
            "land": "here",
        }
    )
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


def test_every_column_is_named_with_its_kind(run: Command, tmp_path: Path) -> None:
    code, text, _ = run("inspect", str(_file(tmp_path)), "--json")
    assert code == 0
    found = {c["name"]: c for c in json.loads(text)}
    kinds = {name: c["kind"] for name, c in found.items()}
    assert kinds == {
        "pid": "identifier",
        "age": "number",
        "group": "derived",
        "sex": "category",
        "ratio": "number",
        "land": "constant",
    }
    assert found["ratio"]["codes"] == 1
    code, text, _ = run("inspect", str(_file(tmp_path)))
    assert code == 0
    assert "a function of 'age'" in " ".join(text.split())


def test_its_file_is_given_back_edited(run: Command, tmp_path: Path) -> None:
    data, plan = _file(tmp_path), tmp_path / "columns.toml"
    assert run("inspect", str(data), "--toml", str(plan))[0] == 0
    assert run("inspect", str(data), "--toml", str(plan))[0] == 2
    columns = tomllib.loads(plan.read_text())["columns"]
    assert columns["pid"]["action"] == "drop"
    edited = plan.read_text().replace(
        'kind = "derived"\naction = "compute"',
        'kind = "category"\naction = "synthesise"',
    )
    edited = edited.replace(
        '[columns."sex"]\nkind = "category"\naction = "synthesise"',
        '[columns."sex"]\nkind = "category"\naction = "drop"',
    )
    plan.write_text(edited)
    arguments = ("synthesise", str(data), "--columns-file", str(plan), *SHORT)
    code, text, _ = run(*arguments, "-o", str(tmp_path / "out"))
    assert code in (0, 3), text
    copies = list((tmp_path / "out").rglob("synthetic.csv"))
    made = pd.read_csv(copies[0])
    assert list(made.columns) == ["age", "group", "ratio", "land"]


def test_a_bad_file_of_columns_is_refused(run: Command, tmp_path: Path) -> None:
    data, plan = _file(tmp_path), tmp_path / "columns.toml"
    for text, said in (
        ("[columns.age]\nkind = 'colour'", "the kind of column 'age' is 'colour'"),
        ("[columns.age]\nwish = 1", "unknown entry 'wish'"),
        ("age = 1", "has no columns"),
        ("[columns", "is not TOML"),
    ):
        plan.write_text(text)
        out = str(tmp_path / "out")
        code, _, error = run(
            "synthesise", str(data), "--columns-file", str(plan), "-o", out
        )
        assert code == 2
        assert said in " ".join(error.split())


def test_rules_formulas_and_columns_left_out(run: Command, tmp_path: Path) -> None:
    data = _file(tmp_path)
    code, text, error = run(
        "synthesise",
        str(data),
        "--exclude",
        "land,pid",
        "--rule",
        "age < 60 or sex = 'f'",
        "--refuse",
        "group",
        *SHORT,
        "-o",
        str(tmp_path / "out"),
    )
    assert code in (0, 3), error
    made = pd.read_csv(next((tmp_path / "out").rglob("synthetic.csv")))
    assert list(made.columns) == ["age", "group", "sex", "ratio"]
    assert not ((made.age >= 60) & (made.sex == "m")).any()
    # Nobody named an attack: the last column is attacked from all the others.
    assert json.loads(text)["target"] == "ratio"
