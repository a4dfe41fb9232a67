"""Names, codes and paths that look like markup or a formula are shown as they are."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import evosdc
from builders import Command
from evosdc.io import write_records
from evosdc.io.delimited import formula_notes

ODD = ("[/x]", "[eur]", ":key:")
QUICK = ("--generations", "1", "--moves", "2000", "--time-limit", "1")


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "[bold]out[" / "x:key:]"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def people(folder: Path) -> Path:
    rng = np.random.default_rng(1)
    town = rng.choice(["[/a]", "[red]", ":key:", "d"], 400)
    frame = pa.table(
        {
            "[/x]": town,
            # A function of another column, so that notes name both.
            "[eur]": np.where(town == "d", "[eur]", "[/y]"),
            ":key:": rng.choice(["yes", "no"], 400),
            "age": rng.integers(0, 5, 400),
        }
    )
    write_records(folder / "[people].csv", frame)
    return folder / "[people].csv"


def test_inspect(run: Command, people: Path) -> None:
    code, text, _ = run("inspect", people)
    assert code == 0
    assert [n for n in ODD if f"\n{n} " not in text] == []
    assert "a function of" in text


def test_synthesise_and_evaluate(run: Command, people: Path, folder: Path) -> None:
    roles = ("--key", "[/x],age", "--target", ":key:")
    out = folder / "out[/]"
    code, text, err = run("synthesise", people, *roles, *QUICK, "-o", out)
    assert code in (0, 3), err
    assert f"{out}/confidential/report.html" in text
    assert "[/x]" in text
    assert "[eur]" in text  # it is derived, and a note says so
    (copy,) = out.glob("*/synthetic.csv")
    again = folder / "again[bold]"
    code, text, err = run("evaluate", people, copy, *roles, "-o", again)
    assert code in (0, 3), err
    assert f"written to {again}/confidential/" in text
    assert "tested: an intruder who knows [/x], age" in text
    assert ":key:" in text


def test_tables(run: Command, people: Path, folder: Path) -> None:
    table, out = folder / "[t].csv", folder / "p[/]"
    words = ("--by", "[/x],[eur]", "--rule", "freq:300", "-o", table)
    code, text, err = run("tabulate", people, *words)
    assert code == 0, err
    assert f"{table}: Table([/x](" in text
    code, text, err = run("protect", table, "-o", out, "--method", "attacker")
    assert code in (0, 3), err
    assert f"written to {out}/ (open {out}/confidential/report.html)" in text
    pattern = out / "confidential" / "pattern.csv"
    code, text, err = run("audit", table, "--pattern", pattern)
    assert code in (0, 3), err
    assert "Table([/x](" in text
    # Nothing hidden: exposed cells are named.
    nothing = folder / "nothing.csv"
    lines = pattern.read_text().splitlines()
    rows = [line.rsplit(",", 1)[0] + ",s" for line in lines[1:]]
    nothing.write_text("\n".join([lines[0], *rows]) + "\n")
    code, text, err = run("audit", table, "--pattern", nothing)
    assert code == 3, err
    assert "[/x]=[red]" in text
    assert "[eur]=[/y]" in text
    proof = out / "confidential" / "certificate.npz"
    code, text, err = run("verify", table, proof)
    assert code in (0, 3), err
    code, text, _ = run("lower-bound", table, "--method", "node")
    assert code == 0


def test_errors_name_columns_and_files(
    run: Command, people: Path, folder: Path
) -> None:
    words = ("tabulate", people, "--by", "[/z]", "--rule", "none")
    code, _, err = run(*words, "-o", folder / "t.csv")
    assert code == 2
    assert "no column '[/z]'" in err
    assert ", ".join(ODD) in err
    code, _, err = run("protect", folder / "[/no].csv", "-o", folder / "o")
    assert code == 2
    assert f"there is no file {folder}/[/no].csv" in err


def test_the_lists_are_whole(run: Command) -> None:
    """Options that are lists are written in brackets."""
    for command in ("methods", "instances"):
        code, text, _ = run(command)
        assert code == 0
        assert "[bold]" not in text
    methods = {m.name for m in evosdc.methods()}
    _, text, _ = run("methods")
    assert [name for name in methods if name not in text] == []


def test_no_other_console_is_made() -> None:
    root = Path(evosdc.__file__).parent
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in ("Console", "from_markup")
    }
    assert found == {"cli/console.py"}


@pytest.mark.parametrize(
    "code", ["=1+1", "+A1", "-5-9", "-none-", "@home", "\tx", "\r=x", "=\n1", "+49 30x"]
)
def test_codes_that_a_spreadsheet_works_out(code: str) -> None:
    (note,) = formula_notes({"town": ["a", code]})
    assert f"town={code!r} for a formula" in note


@pytest.mark.parametrize(
    "code", ["-", "--", "+", "=", "-5", "+49", "-1.5e3", "-1,234.5", "-5 %", "a=b", ""]
)
def test_numbers_and_signs_are_no_formulas(code: str) -> None:
    assert formula_notes({"town": [code]}) == ()


def test_formulas_are_named_where_something_is_published(
    run: Command, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(
        "r,@c,value,status,lpl,upl\n"
        "=a,-x,10,u,2,2\n=a,-1,20,s,0,0\nb,-x,30,s,0,0\nb,-1,40,s,0,0\n"
    )
    out = tmp_path / "o"
    code, text, _ = run("protect", path, "-o", out)
    assert code == 0
    says = "takes column '@c', r='=a', @c='-x' for formulas"
    assert says in text
    assert says in str(
        json.loads((out / "confidential/claim.json").read_text())["notes"]
    )
    rng = np.random.default_rng(2)
    frame = pa.table(
        {
            "town": rng.choice(["=a", "b", "c"], 300),
            "n": rng.integers(-5, 0, 300),
            "ill": rng.choice(["yes", "no"], 300),
        }
    )
    write_records(tmp_path / "people.csv", frame)
    words = ("--key", "town,n", "--target", "ill", *QUICK, "-o", tmp_path / "s")
    _, text, _ = run("synthesise", tmp_path / "people.csv", *words)
    assert "takes town='=a' for a formula" in text
