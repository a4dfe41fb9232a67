"""Families of tables: what is drawn, in which half it is, and what the page says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.experiments import families, family_runs, searches
from benchmarks.experiments.searches import KEY, Plan, Records, facts_of
from evosdc.errors import InputError, MethodError
from evosdc.table.attackers import lone_respondents


def test_tables_are_many_and_each_is_in_one_half() -> None:
    names = families.names()
    assert len(set(names)) == len(names) >= 60
    halves = [list(families.chosen(half, None, ())) for half in families.HALVES]
    assert sorted(halves[0] + halves[1]) == sorted(names)
    assert min(map(len, halves)) > len(names) / 3
    sample = list(families.chosen("both", 5, ()))
    assert len({name.rpartition("-")[0] for name in sample}) == 5


def test_a_table_is_drawn_again_from_its_name() -> None:
    once, again = (facts_of("a", families.draw("flat-3d-1")) for _ in range(2))
    assert once == again
    assert once["digest"] != facts_of("a", families.draw("flat-3d-5"))["digest"]


@pytest.mark.parametrize("name", ["chains-2d-3", "respondents-2d-3", "linked-3d-5"])
def test_tables_are_whole_and_additive_and_have_lone_respondents(name: str) -> None:
    table = families.draw(name)
    assert np.abs(table.matrix @ table.value - table.rhs).max() == 0
    for numbers in (table.value, table.upl, table.lpl):
        assert np.array_equal(numbers, np.rint(numbers))
    assert 0 < len(table.primaries) < len(table) / 2
    assert (lone_respondents(table) >= 0).any()


def test_chains_have_codes_with_a_single_child() -> None:
    table = families.draw("chains-2d-3")
    parents = [d.hierarchy.parent_array for d in table.dimensions]
    single = [np.bincount(p[p >= 0]) == 1 for p in parents]
    assert any(single_of.any() for single_of in single)
    assert max(d.hierarchy.depth.max() for d in table.dimensions) > 2


def row(table: str, method: str, cost: float | None, **more: Any) -> dict[str, Any]:
    known = dict(zip(KEY, (table, "public", method, 10.0, 1, 1), strict=True))
    found = {"cost": cost, "bound": 90.0, "gap": 0.1, "seconds": 10.0, "failed": None}
    return known | found | {"verdict": "SAFE" if cost else None} | more


def page_of(path: Path, rows: list[dict[str, Any]]) -> str:
    family_runs.write_page(path / "page.md", rows, [], [])
    return (path / "page.md").read_text()


def test_the_page_says_where_auto_is_above_another_method(tmp_path: Path) -> None:
    first, second, third = list(families.chosen(families.TUNING, 3, ()))
    text = page_of(
        tmp_path,
        [
            row(first, "auto", 100.0, seconds=12.5),
            row(second, "auto", 100.0),
            row(third, "auto", 100.0),
            row(first, "hitas", 80.0),
            row(second, "hitas", 100.0),
            row(third, "hitas", 50.0, verdict="EXPOSED"),
            row(third, "optimal", None, failed="OutOfTime"),
        ],
    )
    lines = {line.split(" | ")[0]: line.split(" | ") for line in text.splitlines()}
    assert lines["| `auto`"][1:4] == ["3", "3", "1"]
    assert lines["| `hitas`"][1:4] == ["3", "2", "0"]
    told = ["12.50 %", "25.00 %", first, "1 of 2 |"]
    assert lines["| `hitas`"][6:] == told
    assert lines["| `optimal`"][6:9] == ["–", "–", "–"]
    assert lines["| best of the others"][6:] == told


def test_auto_is_put_beside_opt_in_the_time_that_opt_took(tmp_path: Path) -> None:
    name = next(families.chosen(families.CHECKING, 1, ()))
    opt = row(name, family_runs.OPT, 100.0, limit=60.0, seed=0, seconds=31.2)
    text = page_of(
        tmp_path, [opt, row(name, "auto", 101.0, limit=32.0), row(name, "auto", 7.0)]
    )
    assert f"| {name} | checking | 101 | 100 | 1.00 % |" in text
    assert "by more than 0.5 % on 1 of 1 tables" in text
    assert "; 10 s; workers: 1" in text
    assert "; 32 s; workers: 1" not in text


def test_rows_of_another_table_are_refused(tmp_path: Path) -> None:
    table = families.draw("flat-3d-1")
    Records(tmp_path, "families", "").describe("a", table)
    again = Records(tmp_path, "families", "")
    again.describe("a", table)
    with pytest.raises(InputError, match="a is not the table"):
        again.describe("a", table.replace(upl=table.upl + 1))


@pytest.mark.parametrize(
    "wrong", [{"limits": (0.0,)}, {"workers": ()}, {"attackers": ("others",)}]
)
def test_plans_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Plan(**wrong)
    with pytest.raises(MethodError):
        Plan(methods=("magic",))


@pytest.mark.parametrize(
    ("limit", "seconds", "is_late"),
    [(10.0, 11.9, False), (10.0, 12.1, True), (60.0, 65.9, False), (60.0, 66.1, True)],
)
def test_a_run_is_late_beyond_a_tenth_and_two_seconds(
    limit: float, seconds: float, is_late: bool
) -> None:
    assert searches.late({"limit": limit, "seconds": seconds}) == is_late
