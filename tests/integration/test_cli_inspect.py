"""`evosdc inspect`, and its file given back to `synthesise`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from builders import Command
from evosdc.errors import InputError
from evosdc.synth import Coding, Synthesiser
from evosdc.synth.data.domain import make_domain

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


def test_an_identifier_given_back_as_synthesised_is_in_the_copy(
    run: Command, tmp_path: Path
) -> None:
    data, plan = _file(tmp_path), tmp_path / "columns.toml"
    for kind in ("identifier", "number"):
        plan.write_text(f'[columns.pid]\nkind = "{kind}"\naction = "synthesise"\n')
        out = tmp_path / kind
        arguments = ("synthesise", str(data), "--columns-file", str(plan), *SHORT)
        code, text, _ = run(*arguments, "--exclude", "group", "-o", str(out))
        assert code in (0, 3), text
        made = pd.read_csv(next(out.rglob("synthetic.csv")))
        assert list(made.columns) == ["pid", "age", "sex", "ratio", "land"]
        assert json.loads(text)["small_groups"]["identifiers"] == {"pid": "keep"}
    # What is no identifier is not called one, and a column may be left out besides.
    assert run("inspect", str(data), "--toml", str(plan), "--force")[0] == 0
    out = tmp_path / "plain"
    code, text, error = run(*arguments, "--exclude", "sex", "-o", str(out))
    assert code in (0, 3), error
    assert json.loads(text)["small_groups"]["identifiers"] == {}


def test_bins_hold_for_columns_that_the_file_does_not_bin(tmp_path: Path) -> None:
    frame = pd.read_csv(_file(tmp_path))[["age", "sex", "ratio"]]
    table = pa.Table.from_pandas(frame, preserve_index=False)
    coding = Coding(bins={None: 4, "ratio": 7}, least=0)
    age, _, ratio = make_domain(table, coding).variables
    assert (age.size, ratio.plain.size) == (4, 7)
    # A column without bins of its own need not be a number.
    assert coding.binned == ["ratio"]


def test_bins_are_not_ignored_beside_a_file_of_columns(
    run: Command, tmp_path: Path
) -> None:
    data, plan = _file(tmp_path), tmp_path / "columns.toml"
    plan.write_text('[columns.ratio]\nkind = "number"\nbins = 7\n')
    arguments = ("synthesise", str(data), "--columns-file", str(plan), "--bins", "4")
    made = []

    def fitted(self: Synthesiser, frame: object) -> Synthesiser:
        made.append(self.coding)
        raise InputError("enough seen")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Synthesiser, "fit", fitted)
        assert run(*arguments, "-o", str(tmp_path / "out"))[0] == 2
    assert [made[0].bins_of(name) for name in ("age", "ratio")] == [4, 7]


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
        "--not-derived",
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
