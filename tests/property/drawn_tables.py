"""Random tables of every kind that the package takes, small enough to check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evosdc.instances import make
from evosdc.table import Table
from evosdc.table.knowledge import as_counts, with_bounds
from evosdc.table.status import FIXED, PRIMARY, SAFE


def draw(seed: int) -> tuple[str, Table]:
    """Draw a table of any kind, and say what it is."""
    rng = np.random.default_rng(seed)

    def one(*choices: Any) -> Any:
        return choices[int(rng.integers(len(choices)))]

    def size(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    family = one("random", "random", "random", "tiny", "tiny", "tiny", "families")
    if family == "families":
        family = one("class1", "class2", "heurgene", "register", "frequency")
    options: dict[str, Any]
    if family == "class1" or family == "class2":
        options = {"rows": size(3, 14), "columns": size(3, 14)}
        if family == "class1":
            # Hundreds of cells before one is sensitive.
            options = {"rows": size(10, 25), "columns": size(10, 25)}
    elif family == "heurgene":
        options = {
            "rows": size(4, 16),
            "columns": size(4, 16),
            "sensitive": one(0.02, 0.05, 0.1),
            "decimals": one(0, 3),
        }
    elif family == "register":
        options = {"rows": size(5, 12), "columns": size(4, 10), "levels": size(2, 3)}
    elif family == "frequency":
        shape = one((size(3, 9), size(3, 9)), (size(2, 4), size(2, 4), size(2, 3)))
        options = {"shape": shape, "mean": one(4.0, 8.0), "threshold": size(2, 4)}
    else:
        options = _random(one, size, family == "tiny")
        family = "random"
    table = make(family, seed, **options)
    kind = _kind(family, options)
    twists = [name for name in TWISTS if rng.random() < 0.15]
    for name in twists:
        table = TWISTS[name](table, rng)
    told = ", ".join(f"{name}={value}" for name, value in options.items())
    return f"{' + '.join([kind, *twists])}; {family}, seed {seed}: {told}", table


def _kind(family: str, options: dict[str, Any]) -> str:
    if family == "register":
        return "register with chains"
    if family == "frequency":
        return "counts"
    if options.get("linked"):
        return "linked"
    ways = f"{len(options.get('shape', (1, 1)))}-D"
    return f"{ways} with trees" if options.get("trees") else ways


def _random(one: Any, size: Any, tiny: bool) -> dict[str, Any]:
    values = one("integers", "decimals", "ties", "tiny", "huge", "negative")
    ways = one(2, 2, 3) if tiny else one(1, 2, 2, 3, 3, 4)
    largest = {1: 6, 2: 3, 3: 2}[ways] if tiny else {1: 9, 2: 6, 3: 3, 4: 2}[ways]
    shape = tuple(size(2, largest) for _ in range(ways))
    return {
        "shape": shape,
        "trees": one(0, 0, size(0, ways)),
        "values": values,
        "sensitive": one(0.1, 0.2, 0.4),
        "margins": one(0.0, 0.05, 0.2),
        "zeros": one(0.0, 0.2, 0.5),
        "level": one(0.05, 0.2, 0.6),
        "width": one(0.0, 0.0, 0.5),
        "bounds": "open" if values == "negative" else one("open", "tau"),
        "linked": ways > 2 and one(True, False),
    }


def _without_labels(table: Table, _: np.random.Generator) -> Table:
    """As a JJ file gives it: cells in any order, equations and nothing else."""
    return table.replace(dimensions=(), codes=np.empty((0, 0), dtype=np.int32))


def _zero_costs(table: Table, rng: np.random.Generator) -> Table:
    weight = np.where(rng.random(len(table)) < 0.3, 0.0, rng.integers(1, 9, len(table)))
    return table.replace(weight=weight)


def _zeros_may_be_hidden(table: Table, _: np.random.Generator) -> Table:
    """Cells of value 0 that nobody knows to be 0."""
    zeros = (table.status == FIXED) & (table.value == 0)
    return table.replace(
        status=np.where(zeros, SAFE, table.status),
        upper=np.where(zeros, np.inf, table.upper),
    )


def _given_bounds(table: Table, rng: np.random.Generator) -> Table:
    """What an attacker knows of each cell, wide enough for its own levels."""
    room = np.abs(table.value) * rng.choice([0.1, 0.5, 2.0], len(table))
    return table.replace(
        lower=np.maximum(table.lower, table.value - np.maximum(room, table.lpl)),
        upper=np.minimum(
            table.upper, table.value + np.maximum(room, table.upl + table.spl)
        ),
    )


def _known_per_cent(table: Table, _: np.random.Generator) -> Table:
    return with_bounds(table, "percent:80")


def _no_levels(table: Table, rng: np.random.Generator) -> Table:
    """Some sensitive cells only must not be given away."""
    bare = (table.status == PRIMARY) & (rng.random(len(table)) < 0.5)
    upl, lpl, spl = (np.where(bare, 0.0, x) for x in (table.upl, table.lpl, table.spl))
    return table.replace(upl=upl, lpl=lpl, spl=spl)


def _counts(table: Table, _: np.random.Generator) -> Table:
    whole = bool(np.all((table.value == np.rint(table.value)) & (table.value >= 0)))
    return as_counts(table) if whole else table


TWISTS: dict[str, Callable[[Table, np.random.Generator], Table]] = {
    "no labels": _without_labels,
    "zero costs": _zero_costs,
    "zeros may be hidden": _zeros_may_be_hidden,
    "given bounds": _given_bounds,
    "bounds in per cent": _known_per_cent,
    "no levels": _no_levels,
    "as counts": _counts,
}
