"""Results made by hand: tables with values that cannot be mistaken, and a pattern."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from builders import grid_of
from evosdc.evolution.stopping import Entry
from evosdc.results import Certificate, Claim, Exposure, TableVerdict
from evosdc.results.tables import Protection
from evosdc.table import (
    Dimension,
    Hierarchy,
    Origin,
    Table,
    build_table,
    link_tables,
)

RULES = (("p:12.5", 7), ("freq:4", 11))
SENTENCES = Claim(
    rules="p:12.5 marked 7 cells, freq:4 marked 11",
    levels="12.5 % of the largest contributor",
    knowledge="within 50 % of each value",
    insiders="17 lone respondents",
    publication="the files of publish/",
    strictness="reached",
    proof="31 witnesses in exact arithmetic",
)
SAFE = TableVerdict(True, (), 3, True, 0.0, False, {"cube": 31}, insiders=17)


def turnover_of(values: NDArray[np.float64], names: str = "abc") -> Table:
    """A flat table of turnover, of as many dimensions as the values have."""
    return grid_of(values, names, name="turnover")


def tree_of(draw: np.random.Generator, decimals: int) -> Table:
    """A table with a hierarchy of two levels."""
    tree = Hierarchy.from_levels(
        [(f"R{i}", f"R{i}{j}") for i in range(3) for j in "xyz"]
    )
    side = Hierarchy.flat(["p", "q", "r"])
    leaves = [tree.node_of[f"R{i}{j}"] for i in range(3) for j in "xyz"]
    codes = [[leaf, c + 1] for leaf in leaves for c in range(3)]
    values = numbers(draw, (len(codes),), decimals)
    dims = [Dimension("region", tree), Dimension("kind", side)]
    return build_table(dims, codes, values, name="turnover")


def linked_of(draw: np.random.Generator, decimals: int) -> Table:
    """Two tables that share a dimension."""
    cube = numbers(draw, (4, 3, 3), decimals)
    one = turnover_of(cube.sum(axis=2), "ab")
    two = turnover_of(cube.sum(axis=1), "ac")
    return link_tables([one, two]).table


def numbers(
    draw: np.random.Generator, shape: tuple[int, ...], decimals: int
) -> NDArray[np.float64]:
    """Values of six digits before the point."""
    whole = draw.integers(100_000 * 10**decimals, 999_999 * 10**decimals, shape)
    return np.asarray(whole / 10**decimals, dtype=np.float64)


def result_of(
    table: Table,
    primary: Any,
    secondary: Any,
    verdict: TableVerdict = SAFE,
    **changes: Any,
) -> Protection:
    """A result that hides these cells."""
    status = np.full(len(table), "s")
    status[primary] = "u"
    status[secondary] = "m"
    level = np.where(status == "u", np.round(0.137 * table.value, 2), 0.0)
    hidden = table.replace(
        status=status,
        lpl=level,
        upl=level,
        frequency=np.arange(len(table)) + 7_000_001,
        origin=Origin(rules=RULES, floor=31_337.0),
    )
    cost = float(hidden.weight[status == "m"].sum())
    none = np.zeros(0, dtype=np.int64)
    made = Protection(
        table=hidden,
        method="greedy",
        cost=cost,
        lower_bound=0.83 * cost,
        gap=0.17,
        verdict=verdict,
        claim=SENTENCES,
        certificate=Certificate(
            none, none.astype(np.int8), np.zeros(1, np.int64), none, none, none
        ),
        record=(Entry(0.5, 1, 1.5 * cost, None), Entry(2.0, 9, cost, 0.83 * cost)),
        seconds=3.25,
        evaluations=54_321,
        seed=654_321,
        version="9.9.9",
        reason="nothing left to try",
        settings={"time_limit": 765_432, "seed": 654_321, "protect_secondaries": False},
        notes=("a note about 876,543",),
    )
    return replace(made, **changes)


def exposed(table: Table, cells: list[int]) -> TableVerdict:
    """A verdict that finds these cells exposed, close to their values."""
    found = tuple(
        Exposure(
            cell=c,
            label=table.label(c),
            low=float(table.value[c]) - 1,
            high=float(table.value[c]) + 1,
            needed_low=0.9 * float(table.value[c]),
            needed_high=1.1 * float(table.value[c]),
            needed_width=0.0,
        )
        for c in cells
    )
    return TableVerdict(False, found, len(cells), True, 0.0, False)
