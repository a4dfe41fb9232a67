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


def test_sbs_to_publish(tmp_path: Path, table: Table) -> None:
    """Nothing of a hidden cell, and no frequency that would lead to one."""
    write_sbs(tmp_path / "s.csv", table)
    lines = (tmp_path / "s.csv").read_text().splitlines()
    assert lines[:4] == ["a,x,,,D", "b,x,,,D", "a,y,0,,V", "b,y,8,,V"]
    write_sbs(tmp_path / "t.csv", table.replace(frequency=None))
    assert (tmp_path / "t.csv").read_text().splitlines() == lines
    with pytest.raises(InputError, match="confidential=True"):
        write_sbs(tmp_path / "u.csv", table, reasons=["A"] * len(table))


def test_sbs_for_those_who_may_see_it(tmp_path: Path, table: Table) -> None:
    write_sbs(tmp_path / "s.csv", table, confidential=True)
    lines = (tmp_path / "s.csv").read_text().splitlines()
    assert lines[:4] == ["a,x,5,1,B", "b,x,6.5,3,D", "a,y,-,0,-", "b,y,8,4,V"]
    reasons = np.full(len(table), "A")
    again = {"confidential": True, "force": True}
    write_sbs(tmp_path / "s.csv", table, reasons=reasons, **again)
    assert (tmp_path / "s.csv").read_text().startswith("a,x,5,1,A\nb,x,6.5,3,D\n")
    with pytest.raises(InputError, match="A, B, C or F"):
        write_sbs(tmp_path / "u.csv", table, reasons=["Q"] * len(table), **again)
    with pytest.raises(InputError, match="no frequencies"):
        write_sbs(tmp_path / "u.csv", table.replace(frequency=None), **again)


def test_unlabelled(tmp_path: Path) -> None:
    bare = Table.of([3, 1, 2], np.array([[-1, 1, 1]]))
    with pytest.raises(InputError, match="no labels"):
        write_pivot(tmp_path / "p.csv", bare)
