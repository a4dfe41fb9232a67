"""The folder of results and patterns read back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evosdc.errors import InputError
from evosdc.evolution.stopping import Entry
from evosdc.io import read_jj, read_pattern, table_from_frame
from evosdc.results import TABLE_QUESTIONS, Certificate, Claim, TableVerdict
from evosdc.results.result import write_result
from evosdc.results.tables import Protection
from evosdc.table import Table


def outcome(table: Table) -> Protection:
    none = np.zeros(0, dtype=np.int64)
    return Protection(
        table=table,
        method="greedy",
        cost=6.5,
        lower_bound=None,
        gap=None,
        verdict=TableVerdict(True, (), 1, True, 0.0, False),
        claim=Claim(**{name: name for name in TABLE_QUESTIONS}),
        certificate=Certificate(
            np.array([0]), np.array([1], np.int8), np.array([0, 0]), none, none, none
        ),
        record=(
            Entry(0.1, 1, 12.0, None, None, "start"),
            Entry(0.5, 9, 7.5, 3.0, 0.25, "better, much"),
        ),
        seconds=1.0,
        evaluations=9,
        seed=3,
        version="9.9.9",
        reason="finished",
        settings={"seed": 3},
        notes=("a note",),
    )


@pytest.fixture
def table() -> Table:
    return table_from_frame(
        {
            "r": ["a", "b", "c"],
            "value": [5, 6.5, 8],
            "status": ["u", "m", "s"],
            "lpl": [1, 0, 0],
            "upl": [1, 0, 0],
        }
    )


def test_all_files(tmp_path: Path, table: Table) -> None:
    folder = tmp_path / "deep" / "out"
    result = outcome(table)
    write_result(folder, result, force=False, source="data/my.table.jj.gz")
    listed = json.loads((folder / "confidential" / "claim.json").read_text())["files"]
    there = [p for p in folder.rglob("*") if p.is_file()]
    assert sorted(listed) == sorted(p.relative_to(folder).as_posix() for p in there)
    inside, publish = folder / "confidential", folder / "publish"
    assert (inside / "pattern.csv").read_text() == (
        "cell_id,r,value,status\n0,a,5,u\n1,b,6.5,m\n2,c,8,s\n3,Total,19.5,s\n"
    )
    assert (publish / "published.csv").read_text() == (
        "r,value,status\na,,x\nb,,x\nc,8,s\nTotal,19.5,s\n"
    )
    assert (inside / "run.csv").read_text() == (
        "seconds,evaluations,cost,bound,diversity,event\n"
        '0.1,1,12,,,start\n0.5,9,7.5,3,0.25,"better, much"\n'
    )
    page = (inside / "report.html").read_text(encoding="utf-8")
    assert page == result.report()
    assert (publish / "report.html").read_text() == result.report(share=True)
    with np.load(inside / "certificate.npz") as certificate:
        assert certificate["signs"].tolist() == [1]
    assert "".join(read_jj(inside / "my.table.jj").status) == "umss"
    assert read_pattern(inside / "pattern.csv", table).tolist() == [1, 1, 0, 0]


def test_nothing_is_overwritten(tmp_path: Path, table: Table) -> None:
    (tmp_path / "run.csv").write_text("old")
    with pytest.raises(InputError, match="--force"):
        write_result(tmp_path, outcome(table), force=False)
    assert [f.name for f in tmp_path.iterdir()] == ["run.csv"]
    write_result(tmp_path, outcome(table), force=True)
    assert (tmp_path / "run.csv").read_text() == "old"
    assert (tmp_path / "confidential" / "run.csv").read_text() != "old"


def test_patterns_in_frames(table: Table) -> None:
    frame = pd.DataFrame({"r": ["b", "a", "Total", "c"], "status": list("musS")})
    assert read_pattern(frame, table).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cell_id,value\n0,1\n", "no column 'status'"),
        ("value,status\n1,s\n", "which cell a row is"),
        ("cell_id,status\n0,u\n1,s\n2,s\n4,s\n", "line 5: there is no such cell_id"),
        ("cell_id,status\n0,u\n1,s\n2,s\n1.5,s\n", "line 5: there is no such cell_id"),
        (
            "cell_id,status\n0,u\n1,s\n2,s\nx,s\n",
            "line 5: column 'cell_id' is not a number",
        ),
        ("cell_id,status\n0,u\n1,s\n2,s\n", "r=Total is missing"),
        ("cell_id,status\n0,u\n1,s\n1,s\n2,s\n", "r=b stands twice"),
        ("cell_id,status\n0,u\n1,\n2,s\n3,s\n", "line 3: unknown status ''"),
        ("cell_id,status\n0,u\n1,q\n2,s\n3,s\n", "line 3: unknown status 'q'"),
        ("r,status\na,u\nb,s\nd,s\nTotal,s\n", "unknown code 'd' of 'r'"),
    ],
)
def test_broken_patterns(tmp_path: Path, table: Table, text: str, words: str) -> None:
    (tmp_path / "pattern.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_pattern(tmp_path / "pattern.csv", table)
    assert words in str(caught.value)


def test_cells_that_are_empty_in_the_table(tmp_path: Path) -> None:
    sparse = table_from_frame(
        {"r": ["a", "b"], "s": ["x", "y"], "value": [1, 2]}, missing="empty"
    )
    (tmp_path / "p.csv").write_text("r,s,status\na,y,s\n")
    with pytest.raises(InputError, match="line 2: the table has no such cell"):
        read_pattern(tmp_path / "p.csv", sparse)
