"""Small random tables of any shape, with the features of real tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.errors import InputError
from evosdc.instances.grid import (
    BOUNDS,
    MOST,
    Amounts,
    Grid,
    flat,
    leaf_shape,
    numbered,
    share_of,
)
from evosdc.options import Declared, option
from evosdc.table import Dimension, Table, link_tables

# Kinds of values and their number of decimals.
VALUES = {
    "integers": 0,  # 0 to 100
    "decimals": 2,  # 0.00 to 100.00
    "ties": 0,  # 1, 2 or 5
    "tiny": 6,  # millionths
    "huge": 0,  # up to 10 ** 12, over many magnitudes
    "negative": 0,  # -50 to 50
}


@dataclass(frozen=True)
class Random(Declared):
    """Options of random tables.

    Attributes
    ----------
    shape
        Inner codes of each dimension, such as 6x5.
    trees
        How many of the dimensions, from the first on, are ragged trees.
    values
        integers, decimals, ties, tiny, huge or negative.
    sensitive, margins
        Share of inner cells and of totals that are sensitive, except zeros.
    zeros
        Share of inner cells that are zero.
    empty
        How many codes of the first dimension have only zeros.
    level, width
        Both levels and the sliding level as shares of the value.
    bounds
        open for ``[0, infinity)``, tau for half to one and a half times the value.
    strict
        Choose levels that can be exceeded, as the strict reading requires.
    parts
        How many separate tables there are.
    linked
        Publish the first dimension by each of the others instead of all at once.
    """

    shape: tuple[int, ...] = option((6, 5), least=1, most=MOST)
    trees: int = option(0, least=0)
    values: str = option("integers", known=VALUES)
    sensitive: float = option(0.15, least=0, most=1)
    margins: float = option(0.05, least=0, most=1)
    zeros: float = option(0.1, least=0, most=1)
    empty: int = option(0, least=0)
    level: float = option(0.1, least=0, most=1)
    width: float = option(0.0, least=0, most=1)
    bounds: str = option("open", known=BOUNDS)
    strict: bool = False
    parts: int = option(1, least=1, most=100)
    linked: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        dimensions = len(self.shape)
        if not 1 <= dimensions <= 8 or self.trees > dimensions:
            raise InputError(
                f"{dimensions} dimensions in shape, {self.trees} of them trees",
                expected="1 to 8 dimensions, and no more trees than dimensions",
            )
        if self.empty > self.shape[0]:
            raise InputError(
                f"option empty is {self.empty}", expected=f"at most {self.shape[0]}"
            )
        if self.bounds == "tau" and self.values == "negative":
            raise InputError(
                "bounds of half to one and a half times a negative value",
                expected="bounds=open with values=negative",
            )
        if self.linked and (len(self.shape) < 3 or self.parts > 1):
            raise InputError(
                f"linked tables of {len(self.shape)} dimensions and {self.parts} parts",
                expected="at least three dimensions and one part",
            )

    def draw(self, rng: np.random.Generator) -> Table:
        """Draw a table in which suppressing all cells protects every level."""
        dims = _dimensions(self, rng)
        inner = _inner(self, dims, rng)
        if not self.linked:
            return _protect(Grid.of(dims, inner, VALUES[self.values]), self, rng)
        return link_tables(
            [
                _protect(
                    Grid.of(
                        (dims[0], dims[k]),
                        inner.sum(axis=tuple(a for a in range(1, len(dims)) if a != k)),
                        VALUES[self.values],
                    ),
                    self,
                    rng,
                )
                for k in range(1, len(dims))
            ]
        ).table


def _dimensions(options: Random, rng: np.random.Generator) -> tuple[Dimension, ...]:
    dims = [
        numbered(k, size + 1, 2 + k % 2 if k < options.trees else 1, rng)
        for k, size in enumerate(options.shape)
    ]
    if options.parts > 1:
        dims.insert(0, flat("part", options.parts, "P"))
    return tuple(dims)


def _inner(
    options: Random, dims: tuple[Dimension, ...], rng: np.random.Generator
) -> Amounts:
    size = leaf_shape(dims)
    amount: Amounts
    match options.values:
        case "integers":
            amount = rng.integers(0, 101, size=size)
        case "decimals":
            amount = rng.integers(0, 10_001, size=size)
        case "ties":
            amount = rng.choice(np.array([1, 2, 5]), size=size)
        case "tiny":
            amount = rng.integers(1, 100, size=size)
        case "huge":
            amount = np.rint(10 ** rng.uniform(0, 12, size=size)).astype(np.int64)
        case _:
            amount = rng.integers(-50, 51, size=size)
    amount[rng.random(size) < options.zeros] = 0
    first = int(options.parts > 1)
    np.moveaxis(amount, first, 0)[: options.empty] = 0
    return amount


def _protect(grid: Grid, options: Random, rng: np.random.Generator) -> Table:
    if options.parts > 1:
        grid = grid.without_total(0)
    chance = np.where(grid.inner, options.sensitive, options.margins)
    primary = rng.random(len(chance)) < chance
    lower, upper = grid.levels(
        options.level, bounds=options.bounds, strict=options.strict
    )
    # With bounds of half the value each way, no interval is wider than the value.
    width = share_of(np.abs(grid.amount), options.width)
    return grid.table(primary, lower, upper, bounds=options.bounds, width=width)
