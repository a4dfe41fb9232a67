"""What careful users try: odd names, odd numbers, places that cannot be written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from builders import Command

HEAD = "r,c,value,status,lpl,upl\n"
CELLS = "a,x,10,u,2,2\na,y,20,s,0,0\nb,x,30,s,0,0\nb,y,40,s,0,0\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(HEAD + CELLS)
    return path


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--time-limit", "nan"), "time limit is nan"),
        (("--workers", "0"), "workers is 0"),
        (("--seed", "-1"), "seed is -1"),
        (("--level-percent", "-3"), "level percent is -3"),
    ],
)
def test_numbers_that_make_no_sense(
    run: Command, table: Path, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    code, out, err = run("protect", table, "-o", tmp_path / "o", *words)
    assert (code, out) == (2, "")
    assert says in err
    assert "Expected" in err


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(
    run: Command, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = run("protect", table, "-o", table / "o")
    assert code == 2
    assert "is a file" in err
    # Root may write everywhere, so the system's answer is played here.
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    for words in (
        ("protect", table, "-o", tmp_path / "new" / "o"),
        ("tabulate", table, "--by", "r", "-o", tmp_path / "t.csv"),
    ):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert "no permission to write" in err


def test_a_disk_that_fails_while_writing(
    run: Command, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    code, out, err = run("protect", table, "-o", tmp_path / "o", "--json")
    assert (code, out) == (2, "")
    assert "No space left on device" in err
    assert not list((tmp_path / "o").iterdir())


def test_primaries_without_levels_and_values_under_another_name(
    run: Command, tmp_path: Path
) -> None:
    path = tmp_path / "bare.csv"
    path.write_text("r,c,sales,status\na,x,10,u\na,y,20,s\nb,x,30,s\nb,y,40,s\n")
    words = ("--value", "sales", "--level-percent", "20")
    code, _, err = run("protect", path, "-o", tmp_path / "o", "--value", "sales")
    assert code == 2
    assert "--level-percent" in err
    code, _, _ = run("protect", path, "-o", tmp_path / "o", *words)
    assert code == 0
    pattern = tmp_path / "o" / "confidential" / "pattern.csv"
    code, text, _ = run("audit", path, "--pattern", pattern, *words, "--json")
    assert code == 0
    assert json.loads(text)["judged"] == 1


def test_audit_takes_the_a_priori_file_of_the_run(
    run: Command, table: Path, tmp_path: Path
) -> None:
    apriori = tmp_path / "known.hst"
    apriori.write_text("b;y;U;35;5\n")
    pattern = tmp_path / "o" / "confidential" / "pattern.csv"
    code, _, _ = run("protect", table, "--apriori", apriori, "-o", tmp_path / "o")
    assert code == 0
    words = ("--pattern", pattern, "--apriori", apriori, "--json")
    code, text, _ = run("audit", table, *words)
    assert code == 0
    assert json.loads(text)["judged"] == 2


def test_secondaries_of_an_a_priori_file_stay_hidden(
    run: Command, table: Path, tmp_path: Path
) -> None:
    apriori = tmp_path / "last-year.hst"
    apriori.write_text("b;Total;M\nb;y;M\n")
    out = tmp_path / "o"
    code, text, _ = run("protect", table, "--apriori", apriori, "-o", out, "--json")
    rows = (out / "confidential" / "pattern.csv").read_text().splitlines()[1:]
    weight = {row.split(",", 1)[1].rsplit(",", 2)[0]: row.split(",") for row in rows}
    assert code == 0
    assert weight["b,Total"][-1] == weight["b,y"][-1] == "m"
    paid = sum(float(row[-2]) for row in weight.values() if row[-1] == "m")
    summary = json.loads(text)
    assert summary["cost"] == paid
    assert summary["lower_bound"] <= summary["cost"]


def test_codes_that_look_like_markup(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "odd [red].csv"
    odd = CELLS.replace("a,", "[red]a,").replace("b,", '"[/b], ""q""",')
    path.write_text(HEAD.replace("r,c", "[bold],größe") + odd)
    code, out, err = run("audit", path)
    assert (code, err) == (3, "")
    assert "[bold]=[red]a" in out
    code, out, err = run("protect", path, "-o", tmp_path / "out [/x]")
    assert (code, err) == (0, "")
    assert "out [/x]" in out.replace("\n", "")


def test_json_of_an_audit_has_no_infinity(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "open.jj"
    cells = ["0 5 1 u 0 inf 9 9 0", "1 5 1 s 0 inf 0 0 0", "2 10 1 m 0 inf 0 0 0"]
    path.write_text("\n".join(["0", "3", *cells, "1", "0 3 : 0 (1) 1 (1) 2 (-1)", ""]))
    code, text, _ = run("audit", path, "--json")
    assert code == 3
    end = json.loads(text, parse_constant=pytest.fail)["exposed"][0]
    assert (end["low"], end["high"]) == (0.0, None)


def test_a_hierarchy_of_something_else(
    run: Command, table: Path, tmp_path: Path
) -> None:
    (tmp_path / "q.csv").write_text("top,q\nT,a\n")
    words = ("--by", "r", "--value", "value", "--hierarchy", f"q={tmp_path}/q.csv")
    code, _, err = run("tabulate", table, *words, "-o", tmp_path / "t.csv")
    assert code == 2
    assert "'q', which is not tabulated by" in err


def test_help_says_defaults_and_exit_codes(
    run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = run("protect", "--help")
    assert code == 0
    assert "auto: 60" in out
    assert "default: all cores" in out
    assert "3 cells stay exposed" in run("--help")[1]
