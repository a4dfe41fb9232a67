"""Tables of records with random structure, drawn by family and number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

import evosdc
from evosdc.table import Hierarchy, Table
from evosdc.table.knowledge import in_whole_numbers, with_whole_numbers

TUNING, CHECKING = "tuning", "checking"
HALVES = (TUNING, CHECKING)


@dataclass(frozen=True)
class Family:
    """Ranges from which the records of a table are drawn.

    Attributes
    ----------
    leaves
        Lowest codes of each dimension: the least and the most.
    depth
        Levels below the total of each dimension.
    chain
        Probability that a code has a single child in place of several.
    records
        Records for each combination of lowest codes; below 1 most of them are empty.
    clumping
        Standard deviation of the logarithm of how often a combination occurs.
    tail
        Standard deviation of the logarithm of a contribution; or the exponent of a
        Pareto distribution, where `pareto` says so.
    held
        Records of one respondent: above 1 respondents are in several cells.
    """

    leaves: tuple[tuple[int, int], ...]
    depth: tuple[int, int] = (1, 1)
    chain: float = 0.0
    records: tuple[float, float] = (2.0, 20.0)
    clumping: tuple[float, float] = (0.2, 1.0)
    tail: tuple[float, float] = (0.8, 1.6)
    pareto: bool = False
    held: tuple[float, float] = (1.0, 1.0)
    rules: tuple[str, ...] = ("p:10", "freq:3")
    counts: bool = False
    linked: bool = False
    tables: int = 5


FAMILIES: dict[str, Family] = {
    "flat-2d": Family(((16, 60), (16, 60)), records=(6.0, 30.0)),
    "flat-3d": Family(((6, 14), (6, 14), (4, 8)), records=(4.0, 20.0)),
    "deep-2d": Family(((30, 120), (15, 50)), depth=(3, 5)),
    "deep-3d": Family(((12, 30), (8, 16), (4, 8)), depth=(2, 4), records=(2.0, 12.0)),
    "chains-2d": Family(((20, 60), (15, 40)), depth=(3, 6), chain=0.35),
    "chains-3d": Family(((10, 20), (6, 12), (4, 7)), depth=(2, 4), chain=0.3),
    "sparse-3d": Family(
        ((20, 50), (10, 25), (5, 9)),
        depth=(1, 3),
        records=(1.2, 4.0),
        clumping=(1.4, 2.0),
    ),
    "pareto-2d": Family(
        ((25, 80), (12, 30)), depth=(2, 3), tail=(1.05, 2.0), pareto=True
    ),
    "lone-2d": Family(
        ((20, 60), (10, 30)), depth=(2, 3), records=(2.0, 6.0), clumping=(0.8, 1.5)
    ),
    "respondents-2d": Family(
        ((20, 60), (10, 30)), depth=(2, 3), records=(3.0, 12.0), held=(2.0, 6.0)
    ),
    "counts-3d": Family(
        ((10, 25), (6, 12), (4, 8)),
        depth=(1, 3),
        records=(3.0, 20.0),
        rules=("freq:3",),
        counts=True,
    ),
    "four-4d": Family(((6, 10), (4, 7), (3, 5), (3, 4)), depth=(1, 2)),
    "dominance-3d": Family(
        ((12, 25), (6, 10), (4, 6)),
        depth=(1, 3),
        records=(6.0, 30.0),
        tail=(0.5, 1.2),
        rules=("nk:2,90", "freq:3"),
    ),
    "linked-3d": Family(
        ((20, 50), (8, 20), (5, 12)), depth=(1, 3), records=(0.2, 1.5), linked=True
    ),
    # An office's table: thousands of codes in chains, and few sensitive cells.
    "office-3d": Family(
        ((50, 56), (14, 16), (3, 4)),
        depth=(4, 4),
        chain=0.3,
        records=(24.0, 30.0),
        clumping=(0.3, 0.5),
        tail=(0.5, 0.8),
        tables=3,
    ),
}


def names() -> list[str]:
    """Return the tables, the first of each family before the second of any."""
    most = max(family.tables for family in FAMILIES.values())
    return [
        f"{name}-{number}"
        for number in range(1, most + 1)
        for name, family in FAMILIES.items()
        if number <= family.tables
    ]


def half_of(name: str) -> str:
    """Return the half of a table, by the parity of a hash of its name."""
    return HALVES[sha256(name.encode()).digest()[-1] % 2]


def draw(name: str) -> Table:
    """Draw the records of a table and tabulate them.

    Contributions are whole, so that programs that read whole numbers only, as the
    engine of tau-Argus does, are given the same table.
    """
    family = FAMILIES[name.rpartition("-")[0]]
    rng = np.random.default_rng(list(sha256(name.encode()).digest()))
    trees = [_tree(rng, f"{at}", family) for at in _sizes(rng, family)]
    records = _records(rng, family, [_lowest(tree) for tree in trees])
    by: Any = [f"d{at}" for at in range(len(trees))]
    table = evosdc.tabulate(
        records,
        [[by[0], one] for one in by[1:]] if family.linked else by,
        None if family.counts else "value",
        rules=family.rules,
        read=evosdc.Read(hierarchies={f"d{at}": tree for at, tree in enumerate(trees)}),
        contributors=evosdc.Contributors(
            holding="respondent" if "respondent" in records else None
        ),
    ).table
    return in_whole_numbers(with_whole_numbers(table))


def _sizes(rng: np.random.Generator, family: Family) -> list[int]:
    return [int(rng.integers(low, high + 1)) for low, high in family.leaves]


def _tree(rng: np.random.Generator, leaves: str, family: Family) -> Hierarchy:
    """Draw a tree with so many lowest codes: some branches end early."""
    rows: list[list[str]] = []

    def grow(path: list[str], leaves: int, levels: int) -> None:
        if levels == 0:
            rows.extend([*path, _below(path, at)] for at in range(leaves))
        elif leaves == 1 and rng.random() > family.chain:
            rows.append([*path, _below(path, 0)])
        else:
            parts = 1 if rng.random() < family.chain else int(rng.integers(2, 7))
            cuts = rng.choice(leaves - 1, min(parts, leaves) - 1, replace=False) + 1
            many = np.diff([0, *sorted(cuts), leaves])
            for at, size in enumerate(many.tolist()):
                grow([*path, _below(path, at)], size, levels - 1)

    low, high = family.depth
    grow([], int(leaves), int(rng.integers(low, high + 1)) - 1)
    return Hierarchy.from_levels(rows)


def _below(path: list[str], at: int) -> str:
    return f"{path[-1] if path else 'c'}.{at}"


def _lowest(tree: Hierarchy) -> NDArray[np.str_]:
    return np.array(tree.codes)[tree.is_leaf]


def _records(
    rng: np.random.Generator, family: Family, codes: list[NDArray[np.str_]]
) -> dict[str, Any]:
    """Draw records: their codes, what each contributes, and whose they are."""
    shape = tuple(map(len, codes))
    share = np.ones(shape)
    for axis, many in enumerate(shape):
        spread = rng.dirichlet(np.full(many, rng.uniform(1.0, 5.0)))
        share *= np.expand_dims(spread, [a for a in range(len(shape)) if a != axis])
    share *= rng.lognormal(0.0, rng.uniform(*family.clumping), shape)
    size = round(np.exp(rng.uniform(*np.log(family.records))) * share.size)
    place = rng.choice(share.size, size, p=share.ravel() / share.sum())
    at = np.unravel_index(place, shape)
    found: dict[str, Any] = {f"d{a}": c[at[a]] for a, c in enumerate(codes)}
    tail = rng.uniform(*family.tail)
    drawn = (
        rng.pareto(tail, size) + 1 if family.pareto else rng.lognormal(0, tail, size)
    )
    found["value"] = np.ceil(100.0 * drawn)
    if family.held[1] > 1:
        respondents = round(size / rng.uniform(*family.held))
        found["respondent"] = rng.integers(0, respondents, size).astype(str)
    return found


def chosen(half: str, sample: int | None, families: tuple[str, ...]) -> Iterator[str]:
    """Yield the tables of a half (or of both) and of some families, so many at most."""
    mine = (n for n in names() if half in (half_of(n), "both"))
    mine = (n for n in mine if not families or n.rpartition("-")[0] in families)
    for count, name in enumerate(mine):
        if sample is not None and count >= sample:
            return
        yield name
