"""Records of invented firms, like those of a business survey."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evosdc.arrays import Long
from evosdc.errors import InputError
from evosdc.instances.grid import MOST
from evosdc.table import TOTAL, Hierarchy

_Codes = dict[str, dict[str, tuple[str, ...]]]

# Regions of an invented country and activities coded as in NACE: section letters,
# two-digit divisions, three-digit groups. Branches differ in depth on purpose.
_REGIONS: _Codes = {
    "North": {"Northshore": (), "Fells": (), "Borders": ()},
    "East": {"Fenland": (), "Saltmarsh": ()},
    "South": {"Downs": ("Inglebury", "Kestrel"), "Weald": ()},
    "West": {"Marches": (), "Vale": ()},
    "Capital": {},
}
_ACTIVITIES: _Codes = {
    "B": {"08": ()},
    "C": {"10": ("101", "107"), "16": (), "20": (), "25": (), "28": ()},
    "F": {"41": (), "43": ()},
    "G": {"45": (), "46": (), "47": ()},
    "H": {"49": (), "52": ()},
    "J": {"58": (), "62": ()},
}
SIZES = ("0-9", "10-49", "50+")
_SIZE_STARTS = np.array([10, 50])


@dataclass(frozen=True, eq=False)
class Business:
    """Records (a `pyarrow.Table`, one row per firm) and their hierarchies.

    Columns: `firm`, `region`, `activity`, `size`, `turnover` (whole thousands),
    `employees`, `weight` (sampling weight), `holding` (firms of one owner share it) and
    `request` (1 where a firm asked for protection, else 0).
    """

    records: Any
    hierarchies: dict[str, Hierarchy]


def business(seed: int = 0, firms: int = 6000) -> Business:
    """Draw firms with heavy-tailed turnover; the same seed gives the same firms.

    Regions and activities differ widely in size, so that some cells of a table have one
    or two firms. All large firms are in the sample (weight 1), smaller ones are sampled
    (weights 2 and 4).
    """
    import pyarrow as pa

    if not 1 <= firms <= MOST:
        raise InputError(f"{firms} firms", expected=f"from 1 to {MOST}")
    rng = np.random.default_rng(seed)
    place, trade = _tree(_REGIONS), _tree(_ACTIVITIES)
    region = _uneven(rng, place, firms)
    activity = _uneven(rng, trade, firms)
    # A lognormal body with a Pareto tail; firms of one activity have similar sizes.
    typical = np.exp(rng.normal(2.0, 0.6, size=len(trade)))
    employees = np.ceil(
        typical[activity]
        * rng.lognormal(0.0, 0.9, firms)
        * (rng.pareto(1.2, firms) + 1)
    ).astype(np.int64)
    employees = np.minimum(employees, 20_000)
    output = np.exp(rng.normal(4.4, 0.5, size=len(trade)))
    turnover = np.rint(
        employees * output[activity] * rng.lognormal(0.0, 0.5, firms)
    ).astype(np.int64)
    size = np.searchsorted(_SIZE_STARTS, employees, side="right")
    owner = np.arange(1, firms + 1)
    joined = rng.random(firms) < 0.12
    owner[joined] = rng.integers(1, max(2, firms // 40), size=int(joined.sum()))
    weight = np.array([4.0, 2.0, 1.0])[size]
    records = pa.table(
        {
            "firm": pa.array([f"F{i:06d}" for i in range(1, firms + 1)]),
            "region": _labels(place, region),
            "activity": _labels(trade, activity),
            "size": pa.array(np.array(SIZES)[size]),
            "turnover": pa.array(np.maximum(turnover, 1)),
            "employees": pa.array(employees),
            "weight": pa.array(weight),
            "holding": pa.array([f"H{i:06d}" for i in owner.tolist()]),
            "request": pa.array((rng.random(firms) < 0.01).astype(np.int8)),
        }
    )
    return Business(records, {"region": place, "activity": trade})


def _tree(codes: _Codes) -> Hierarchy:
    parent_of: dict[str, str] = {}
    for top, middle in codes.items():
        parent_of[top] = TOTAL
        for code, leaves in middle.items():
            parent_of[code] = top
            parent_of.update(dict.fromkeys(leaves, code))
    return Hierarchy.from_parents(parent_of)


def _uneven(rng: np.random.Generator, tree: Hierarchy, firms: int) -> Long:
    """Draw a leaf for each firm, with very different probabilities."""
    leaves = np.flatnonzero(tree.is_leaf)
    chance = rng.pareto(2.0, size=len(leaves)) + 0.8
    drawn: Long = rng.choice(leaves, size=firms, p=chance / chance.sum())
    return drawn


def _labels(tree: Hierarchy, nodes: Long) -> Any:
    import pyarrow as pa

    return pa.array(np.array(tree.codes)[nodes])
