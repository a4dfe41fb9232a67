"""Families, constants and tables of offices by the command: rows and pages."""

from __future__ import annotations

import gzip
from pathlib import Path

from benchmarks.experiments import hierarchical
from benchmarks.experiments.searches import FIGURES, KEY
from benchmarks.experiments.store import Store
from builders import Command
from evosdc.instances import make
from evosdc.io.argus.jj import write_jj

TINY = ("--families", "flat-2d", "--tables", 1, "--limits", 1)


def test_families_are_run_once(bench: Command, tmp_path: Path) -> None:
    words = ("families", *TINY, "--methods", "auto,hypercube", "-o", tmp_path)
    code, out, err = bench(*words)
    assert code == 0
    assert err.count("flat-2d-1, public") == 2
    names = [Path(line).name for line in out.splitlines()]
    assert names == [
        "families.csv",
        "families.tables.csv",
        "families.provenance.json",
        "families.md",
    ]
    rows = Store(tmp_path / "families.csv", KEY, (*KEY, *FIGURES)).rows
    assert [row["verdict"] for row in rows] == ["SAFE", "SAFE"]
    assert rows[0]["bound"] <= rows[0]["cost"] <= rows[1]["cost"]
    code, _, err = bench(*words)
    assert (code, "flat-2d-1" in err) == (0, False)  # nothing is run again


def test_a_constant_is_run_at_half_and_twice(bench: Command, tmp_path: Path) -> None:
    words = ("constants", "--measure", "islands.py:CLOSED", *TINY)
    code, _, err = bench(*words, "-o", tmp_path)
    assert (code, "0 constants" in err) == (2, True)
    code, _, err = bench("constants", "--measure", "CLOSED", *TINY, "-o", tmp_path)
    assert code == 0
    page = (tmp_path / "constants.md").read_text()
    for factor in ("0.5", "2"):
        assert f"| 1.0 | {factor} | 1 | 1 of 1 | 1.0000 |" in page


def test_tables_of_offices_are_read_where_they_are(
    bench: Command, tmp_path: Path
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    words = ("hierarchical", "--limit", 1, "--attackers", "public,lone")
    code, said, _ = bench(*words, "--data", data, "-o", out)
    assert code == 0
    assert "There is no folder" in said
    (data / "csplib").mkdir(parents=True)
    write_jj(tmp_path / "a.jj", make("class2", 1, rows=6, columns=6))
    packed = gzip.compress((tmp_path / "a.jj").read_bytes())
    (data / "csplib" / "table8.jj.gz").write_bytes(packed)
    code, said, err = bench(*words, "--data", data, "-o", out)
    assert code == 0
    assert "Left out, their files are not in" in said
    # A JJ file does not say who contributes: there are no lone respondents to run.
    assert err.count("table8, public") == 1
    assert "lone" not in err
    assert "| table8 | public | auto | 1 |" in (out / "hierarchical.md").read_text()


def test_options_of_other_experiments_are_refused(
    bench: Command, tmp_path: Path
) -> None:
    for words in (
        ("families", "--measure", "CLOSED"),
        ("constants", "--half", "tuning"),
        ("hierarchical", "--tables", 1),
        ("flagship", "--limits", 1),
        ("families", "--time-limit", 1),
    ):
        code, _, err = bench(*words, "-o", tmp_path)
        assert (code, f"{words[1]} means nothing" in err) == (2, True)
    code, _, err = bench("families", "--workers", "two", "-o", tmp_path)
    assert (code, "workers are 'two'" in err) == (2, True)


def test_records_of_offices_are_tabulated_in_their_trees(tmp_path: Path) -> None:
    lines = ["A10,A21,A88,SIZE,NUTS1,NUTS2,NUTS3,WEIGHT,TURNOVER"]
    lines += [
        f"A,AB,{code},s{size},N,N1,N1{size},2,{10 * code + size}"
        for code in (10, 11, 12)
        for size in (1, 2)
    ]
    (tmp_path / "business").mkdir()
    (tmp_path / "business" / "indiv_dt.csv").write_text("\n".join(lines) + "\n")
    there, absent = hierarchical.tables(tmp_path)
    assert list(there) == ["business-3d"]
    assert "tau-2d-var2" in absent
    table = there["business-3d"]()
    depths = [int(d.hierarchy.depth.max()) for d in table.dimensions]
    assert depths == [3, 3, 1]
    assert table.value.max() == 6 * 110 + 9
