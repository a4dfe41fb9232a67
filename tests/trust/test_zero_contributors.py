"""Contributors of nothing: no contributors for the minimum frequency, nor company."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evosdc
from evosdc.rules import CellContributors, Frequency, ZeroUnsafe
from evosdc.table import Table
from evosdc.table.attackers import lone_respondents

# Contributions of the cells of a table, and how many contribute.
CELLS: dict[str, tuple[list[float], int]] = {
    "a": ([5000, 0, 0], 1),
    "b": ([40, 30, 30], 3),
    "c": ([0, 0, 0, 0], 0),
    "d": ([-20, 0, 60, 50], 3),
    "e": ([500, -500, 0], 2),
    "f": ([0], 0),
}


def records(**more: Any) -> dict[str, Any]:
    rows = [(name, x) for name, (parts, _) in CELLS.items() for x in parts]
    return {
        "r": [name for name, _ in rows],
        "v": [float(x) for _, x in rows],
        "firm": [f"firm {k}" for k in range(len(rows))],
        "w": [1.0] * len(rows),
    } | more


def by_code(table: Table) -> dict[str, int]:
    codes = table.dimensions[0].hierarchy.codes
    return {codes[node]: cell for cell, node in enumerate(table.codes[:, 0].tolist())}


@pytest.mark.parametrize("rule", ["freq:3", "freq:3,20,records", "business"])
@pytest.mark.parametrize("options", [{}, {"holding": "firm"}, {"weight": "w"}])
def test_contributors_of_zero_do_not_count(rule: str, options: dict[str, str]) -> None:
    table = evosdc.tabulate(
        records(), ["r"], "v", rules=[rule], contributors=evosdc.Contributors(**options)
    ).table
    at = by_code(table)
    for name, (_, many) in CELLS.items():
        few = 0 < many < 3
        assert (table.status[at[name]] == "u") == few, name
    # That three were asked is known all the same.
    assert table.frequency is not None
    assert table.frequency[at["a"]] == 3


def test_an_option_counts_them_again_and_the_claim_says_which() -> None:
    claims = {}
    for zeros, sensitive in ((False, {"a", "e"}), (True, {"f"})):
        table = evosdc.tabulate(
            records(),
            ["r"],
            "v",
            rules=["freq:3"],
            contributors=evosdc.Contributors(count_zeros=zeros),
        ).table
        at = by_code(table)
        assert {c for c in CELLS if table.status[at[c]] == "u"} == sensitive
        claims[zeros] = evosdc.protect(
            table, stop=evosdc.Stop(evaluations=3)
        ).claim.rules
    assert (
        "contributors of zero do not count for the minimum frequency" in (claims[False])
    )
    assert "contributors of zero count for the minimum frequency" in claims[True]


def test_cells_of_zeros_are_left_to_their_own_rule() -> None:
    table = evosdc.tabulate(records(), ["r"], "v", rules=["freq:3", "zero:2"]).table
    at = by_code(table)
    assert dict(table.origin.rules or ()) == {"freq:3": 2, "zero:2": 3}
    assert all(table.status[at[c]] == "u" for c in "cf")


def test_counts_of_records_are_as_they_were() -> None:
    table = evosdc.tabulate(records(), ["r"], rules=["freq:3"]).table
    at = by_code(table)
    assert {c for c in CELLS if table.status[at[c]] == "u"} == {"f"}
    assert table.origin.count_zeros is None


@pytest.mark.parametrize("options", [{}, {"holding": "firm"}])
def test_the_only_one_who_contributes_is_alone(options: dict[str, str]) -> None:
    """Beside its own cell another hidden one follows: it has to be hidden better."""
    made = {
        "r": ["a", "a", "b", "b", "b", "c", "c", "c", "d", "d", "d"],
        "v": [90.0, 0, 40, 0, 0, 30, 31, 32, 500, 400, 300],
    }
    made["firm"] = [f"firm {k}" for k in range(11)]
    table = evosdc.tabulate(
        made, ["r"], "v", rules=["freq:3"], contributors=evosdc.Contributors(**options)
    ).table
    at, who = by_code(table), lone_respondents(table)
    assert who[at["a"]] >= 0
    assert who[at["b"]] >= 0
    assert who[at["a"]] != who[at["b"]]
    assert who[at["c"]] < 0
    hidden = np.zeros(len(table), dtype=bool)
    hidden[[at["a"], at["b"]]] = True
    word = evosdc.audit(table, hidden)
    assert word.safe is False
    assert (
        evosdc.audit(table, hidden, attackers=evosdc.Attackers(who="public")).safe
        is True
    )
    assert evosdc.protect(table, stop=evosdc.Stop(evaluations=3)).safe is True


def test_who_is_alone_with_a_zero_is_not_the_one_who_contributes() -> None:
    made = {
        "r": ["a", "a", "b", "b", "b"],
        "s": ["x", "y", "x", "y", "y"],
        "v": [90.0, 0, 40, 30, 20],
    }
    table = evosdc.tabulate(made, ["r", "s"], "v", rules=["freq:2"]).table
    label = {table.label(cell): cell for cell in range(len(table))}
    who = lone_respondents(table)
    assert who[label["r=a, s=x"]] == who[label["r=a, s=Total"]] >= 0
    assert who[label["r=a, s=y"]] not in (-1, who[label["r=a, s=x"]])


def test_two_ways_to_write_a_code_are_one_cell() -> None:
    """A record of zero under one spelling is no company for one under another."""
    made = {"r": ["\u00e9", "e\u0301", "b", "b"], "v": [7.0, 0.0, 3.0, 4.0]}
    table = evosdc.tabulate(made, ["r"], "v", rules=["freq:2"]).table
    at = by_code(table)
    assert table.status[at["\u00e9"]] == "u"
    assert table.respondent is not None
    assert table.respondent[at["\u00e9"]]


def test_ready_made_tables_are_judged_with_their_numbers() -> None:
    cells = {
        "r": ["a", "b", "c"],
        "value": [5, 20, 30],
        "status": ["u", "s", "s"],
        "upl": [2, 0, 0],
        "frequency": [1, 4, 4],
    }
    claim = evosdc.protect(cells, stop=evosdc.Stop(evaluations=3)).claim
    assert "numbers of contributors as given" in claim.insiders
    assert "contributors who dominate a cell: not known how many" in claim.insiders


def test_rules_on_listed_contributions() -> None:
    listed = CellContributors.of([parts for parts, _ in CELLS.values()])
    few, _, _ = Frequency(3).apply(listed)
    assert few.tolist() == [True, False, False, False, True, False]
    zero, _, _ = ZeroUnsafe(2).apply(listed)
    assert zero.tolist() == [False, False, True, False, True, True]


@pytest.mark.parametrize(
    ("rules", "limit", "cells"),
    [
        # The others beside the largest: 10 of 9,990, 700 of 9,300, 3,000 of 7,000.
        (["freq:2"], "10 %", (0, 2)),
        (["p:5", "freq:2"], "5 %", (1, 0)),
        (["nk:1,60"], "66.7 %", (3, 0)),
        (["pq:10,200", "freq:2"], "5 %", (1, 0)),
    ],
)
@pytest.mark.parametrize("options", [{}, {"holding": "firm"}])
def test_dominant_contributors_are_counted_in_the_claim(
    rules: list[str], limit: str, cells: tuple[int, int], options: dict[str, str]
) -> None:
    made = {
        "r": ["a", "a", "b", "b", "b", "c", "c", "d"],
        "v": [9990.0, 10, 9300, 350, 350, 7000, 3000, 800],
        "firm": [f"firm {k}" for k in range(8)],
    }
    table = evosdc.tabulate(
        made, ["r"], "v", rules=rules, contributors=evosdc.Contributors(**options)
    ).table
    found = table.origin.dominated
    assert found is not None
    assert (found.sensitive, found.others) == cells
    said = evosdc.protect(table, stop=evosdc.Stop(evaluations=3)).claim.insiders
    assert f"leave the others less than {limit} of what they have" in said
    assert f"{cells[0]} sensitive cells" in said
    assert ("others, where they are hidden" in said) == bool(cells[1])
    assert "what these derive of others was not judged" in said


def test_nobody_dominates_where_all_are_alike() -> None:
    made = {"r": ["a"] * 4 + ["b"], "v": [5.0, 6, 7, 8, 9]}
    table = evosdc.tabulate(made, ["r"], "v", rules=["freq:3"]).table
    assert (
        "others"
        not in evosdc.protect(table, stop=evosdc.Stop(evaluations=3)).claim.insiders
    )
