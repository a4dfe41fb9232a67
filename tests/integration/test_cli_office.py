"""The options of offices on the command line: files, exit codes, messages."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from builders import Command
from evosdc.instances import make
from evosdc.io import write_table


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    write_table(path, make("frequency", 2, shape=(5, 4)))
    return path


def statuses(folder: Path) -> dict[tuple[str, str], str]:
    with open(folder / "confidential" / "pattern.csv", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    return {(row[1], row[2]): row[-1] for row in rows}


def codes(path: Path, letter: str, place: int = 0) -> tuple[str, str]:
    with open(path, newline="") as stream:
        found = [row for row in csv.DictReader(stream) if row["status"] == letter]
    names = list(found[place])
    start = names.index("cell_id") + 1 if "cell_id" in names else 0
    return found[place][names[start]], found[place][names[start + 1]]


def test_wishes_and_lone_respondents(
    run: Command, counts: Path, tmp_path: Path
) -> None:
    first, second = codes(counts, "s"), codes(counts, "s", 1)
    names = [d.name for d in make("frequency", 2, shape=(5, 4)).dimensions]
    wish = tmp_path / "keep.csv"
    wish.write_text(f"{names[0]},{names[1]},factor\n,{second[1]},3\n")
    out = tmp_path / "out"
    code, text, error = run(
        *("protect", counts, "-o", out, "--json", "--evaluations", 20),
        *("--hide", f"{names[0]}={first[0]},{names[1]}={first[1]}"),
        *("--publish", f"{names[0]}={second[0]},{names[1]}={second[1]}"),
        *("--cost-factor", f"@{wish}", "--cost-factor", f"{names[0]}=Total=2"),
        *("--attackers", "lone", "--protect-secondaries", "--strict"),
    )
    assert code == 0, error
    settings = json.loads(text)["settings"]
    assert settings["attackers"] == "lone"
    assert settings["protect_secondaries"] is True
    assert settings["cost_factor"] == [
        f"{names[1]}={second[1]}=3",
        f"{names[0]}=Total=2",
    ]
    found = statuses(out)
    assert found[first] == "u"
    assert found[second] == "s"
    report = (out / "confidential" / "report.html").read_text()
    assert "attackers" in report
    assert f"{names[0]}=Total=2" in report
    pattern = out / "confidential" / "pattern.csv"
    code, text, error = run(
        *(
            "audit",
            counts,
            "--pattern",
            pattern,
            "--attackers",
            "lone",
            "--json",
            "--strict",
        )
    )
    assert code == 0, error
    assert json.loads(text)["insiders"] > 0


def test_contradictions_end_with_code_2(
    run: Command, counts: Path, tmp_path: Path
) -> None:
    names = [d.name for d in make("frequency", 2, shape=(5, 4)).dimensions]
    row, column = codes(counts, "u")
    label = f"{names[0]}={row},{names[1]}={column}"
    code, _, error = run("protect", counts, "-o", tmp_path / "o", "--publish", label)
    assert code == 2
    assert f"{names[0]}={row}, {names[1]}={column}" in error
    code, _, error = run(
        "protect", counts, "-o", tmp_path / "o", "--cost-factor", label
    )
    assert code == 2
    assert "factor" in error


def test_lone_respondents_need_counts(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "t.jj"
    write_table(path, make("class2", 3, rows=5, columns=4))
    code, _, error = run("audit", path, "--attackers", "lone")
    assert code == 2
    assert "contributors" in error
