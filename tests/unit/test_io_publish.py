"""Grids, pivots and SBS files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evosdc.errors import InputError
from evosdc.io import table_from_frame, write_grid, write_pivot, write_sbs
from evosdc.table import Table


@pytest.fixture
def table() -> Table:
    return table_from_frame(
        {
            "r": ["a", "b", "a", "b"],
            "s": ["x", "x", "y", "y"],
            "value": [5, 6.5, 0, 8],
            "status": ["u", "m", "z", "s"],
            "lpl": [1, 0, 0, 0],
            "upl": [1, 0, 0, 0],
            "frequency": [1, 3, 0, 4],
        },
        name="turnover",
    )


def test_grid(tmp_path: Path, table: Table) -> None:
    write_grid(tmp_path / "g.csv", table)
    assert (tmp_path / "g.csv").read_text() == (
        "r/s,Total,x,y\nTotal,19.5,11.5,8\na,5,x,-\nb,14.5,x,8\n"
    )
    flat = table_from_frame({"r": ["a"], "value": [1]})
    with pytest.raises(InputError, match="1 dimensions has no grid"):
        write_grid(tmp_path / "h.csv", flat)


def test_pivot(tmp_path: Path, table: Table) -> None:
    write_pivot(tmp_path / "p.csv", table)
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[:5] == ["r,s,turnover", "a,x,x", "b,x,x", "a,y,-", "b,y,8"]
    write_pivot(tmp_path / "p.csv", table, status=True, force=True)
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[:2] == ["r,s,turnover,Status", "a,x,x,u"]


def test_sbs(tmp_path: Path, table: Table) -> None:
    write_sbs(tmp_path / "s.csv", table)
    lines = (tmp_path / "s.csv").read_text().splitlines()
    assert lines[:4] == ["a,x,5,1,B", "b,x,6.5,3,D", "a,y,-,0,-", "b,y,8,4,V"]
    reasons = np.full(len(table), "A")
    write_sbs(tmp_path / "s.csv", table, reasons=reasons, force=True)
    assert (tmp_path / "s.csv").read_text().startswith("a,x,5,1,A\nb,x,6.5,3,D\n")
    with pytest.raises(InputError, match="A, B, C or F"):
        write_sbs(tmp_path / "u.csv", table, reasons=["Q"] * len(table))
    with pytest.raises(InputError, match="no frequencies"):
        write_sbs(tmp_path / "u.csv", table.replace(frequency=None))


def test_unlabelled(tmp_path: Path) -> None:
    bare = Table.of([3, 1, 2], np.array([[-1, 1, 1]]))
    with pytest.raises(InputError, match="no labels"):
        write_pivot(tmp_path / "p.csv", bare)
