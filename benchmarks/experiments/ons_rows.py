"""Rows of the ONS studies: which count, what they cost against order-by-weight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.experiments.statistics import block_up, column, group
from benchmarks.experiments.store import Row
from evosdc.instances.published import LARGE

LARGE_FAMILIES = tuple(f"large-{line}" for line in LARGE)
# Families of one size, as the source puts them together.
SIZES = {
    "200x5": ("A", "B"),
    "200x50": ("C", "D"),
    "4000x10": ("E", "F"),
    "654x14": ("G",),
    "14x1433 (H)": ("H1", "H2"),
    "712x10 (H)": ("H3", "H4"),
    "712x19 (H)": ("H5", "H6"),
    "large": LARGE_FAMILIES,
}
# A run is in time when it used no more than this of its limit, and a second.
_OVERTIME = 1.1


def in_time(row: Row) -> bool:
    """Whether a run kept its time limit, but for the end of a step."""
    return bool(row["cpu_seconds"] <= _OVERTIME * row["time_limit"] + 1)


def protected(row: Row) -> bool:
    """Whether a run gave a pattern that the judge finds safe, in time."""
    return row["safe"] is True and in_time(row)


def with_relative(rows: Sequence[Row], reference: str) -> list[Row]:
    """Add each cost as a share of the reference's on the same table."""
    base = {
        place: float(np.mean(costs))
        for place, mine in group(
            [row for row in rows if row["method"] == reference], "family", "table"
        ).items()
        if (costs := column(mine, "cost"))
    }

    def relative(row: Row) -> float | None:
        start = base.get((row["family"], row["table"]))
        if not start or row["cost"] is None:
            return None
        return float(row["cost"] / start)

    return [{**row, "relative": relative(row)} for row in rows]


def contender_of(rows: Iterable[Row], method: str) -> str | None:
    """Label of the contender that stands for a method: the first with its defaults."""
    labels = dict.fromkeys(str(row["method"]) for row in rows)
    mine = [
        label
        for label in labels
        if "#" not in label and label.split("+")[0].split("@")[0] == method
    ]
    return min(mine, key=lambda label: "+" in label, default=None)


def counted(row: Row) -> Row:
    """Say whether a run counts, and drop its cost where it does not."""
    ok = protected(row)
    return {**row, "protected": ok, "cost": row["cost"] if ok else None}


def of_families(rows: Sequence[Row], families: Sequence[str]) -> list[Row]:
    """Keep the rows of some families."""
    return [row for row in rows if row["family"] in families]


def mean(rows: Sequence[Row], name: str) -> float | None:
    """Average a column over tables, of the means over the rows that have it."""
    tables = group(rows, "family", "table").values()
    found = [float(np.mean(known)) for part in tables if (known := column(part, name))]
    return float(np.mean(found)) if found else None


def ratios(rows: Sequence[Row], label: str | None, base: str | None) -> list[float]:
    """Cost of a contender over that of another, on each table that both protect."""
    data = block_up(rows, blocks=("family", "table"))
    if label not in data.treatments or base not in data.treatments:
        return []
    ours = data.values[:, data.treatments.index(label)]
    start = data.values[:, data.treatments.index(base)]
    both = ~np.isnan(ours) & (start > 0)
    return [float(x) for x in ours[both] / start[both]]
