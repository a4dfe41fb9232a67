"""From records to audited publications: tau-Argus files, and linked tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from builders import Command

RDA = """Kind 1 3 999
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 2 0 0 0
Place 5 2 99
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERCODELIST> "C:\\data\\Places.hrc"
  <HIERLEADSTRING> "@"
Size 8 1 9
  <RECODEABLE>
Turnover 10 8 99999999
  <NUMERIC>
"""


@pytest.fixture
def argus(tmp_path: Path) -> Path:
    """Made-up firms in the fixed format of tau-Argus, with their description."""
    rng = np.random.default_rng(1)
    lines = [
        f"{kind} {place:>2} {size} {value:>8.2f}"
        for kind, place, size, value in zip(
            rng.choice(["101", "102", "215", "216"], 160),
            rng.choice([1, 2, 11], 160),
            rng.choice([1, 2], 160),
            rng.lognormal(5, 1, 160),
            strict=True,
        )
    ]
    path = tmp_path / "firms.asc"
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "Firms.rda").write_text(RDA)
    (tmp_path / "places.hrc").write_text("Nr\n@ 1\n@ 2\nZd\n@11\n")
    return path


def test_argus_files_become_an_audited_publication(
    run: Command, argus: Path, tmp_path: Path
) -> None:
    table, out = tmp_path / "t.parquet", tmp_path / "out"
    words = ("--value", "Turnover", "--rule", "p:15", "--rule", "freq:3", "-o", table)
    code, text, err = run("tabulate", argus, "--by", "Kind,Place,Size", *words)
    assert (code, err) == (0, "")
    assert "Kind(7) x Place(6) x Size(3)" in text
    code, text, _ = run("protect", table, "-o", out, "--json", "--evaluations", 20)
    found = json.loads(text)
    assert (code, found["safe"]) == (0, True)
    assert found["primaries"] > 0
    pattern = out / "confidential" / "pattern.csv"
    code, _, _ = run("audit", table, "--pattern", pattern)
    assert code == 0


def test_linked_tables_are_tabulated_and_protected_at_once(
    run: Command, argus: Path, tmp_path: Path
) -> None:
    table, out = tmp_path / "t.parquet", tmp_path / "out"
    words = ("--value", "Turnover", "--rule", "p:15", "--rule", "freq:12")
    spans = ("--by", "Kind,Size", "--by", "Kind,Place")
    code, _, err = run("tabulate", argus, *spans, *words, "-o", table)
    assert (code, err) == (0, "")
    code, _, _ = run("protect", table, "-o", out, "--json", "--evaluations", 20)
    assert code == 0
    with (out / "publish" / "published-2-Kind-Place.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["Kind", "Place", "value", "status"]
    assert any(row["status"] == "x" and not row["value"] for row in rows)
    # The total of both is in both, and looks the same.
    with (out / "publish" / "published-1-Kind-Size.csv").open() as stream:
        assert next(csv.DictReader(stream))["value"] == rows[0]["value"]


def test_separate_files_are_linked(run: Command, argus: Path, tmp_path: Path) -> None:
    words = ("--value", "Turnover", "--rule", "freq:12")
    one, two, out = (tmp_path / name for name in ("one.csv", "two.csv", "out"))
    assert run("tabulate", argus, "--by", "Kind,Size", *words, "-o", one)[0] == 0
    assert run("tabulate", argus, "--by", "Kind,Place", *words, "-o", two)[0] == 0
    code, _, _ = run("protect", one, two, "-o", out, "--json", "--evaluations", 20)
    assert code == 0
    pattern = out / "confidential" / "pattern.csv"
    code, text, _ = run("audit", two, one, "--pattern", pattern, "--json")
    assert (code, json.loads(text)["safe"]) == (0, True)


def test_digits_must_be_a_number(run: Command, argus: Path, tmp_path: Path) -> None:
    words = ("--by", "Kind", "--digits", "Kind=two", "-o", tmp_path / "t.csv")
    code, _, err = run("tabulate", argus, *words)
    assert code == 2
    assert "whole number" in err
