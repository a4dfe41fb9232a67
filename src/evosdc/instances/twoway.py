"""Flat two-way tables: classes I and II, the real-valued sets of HeurGene."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.instances.grid import MOST, Amounts, Grid, flat, pick
from evosdc.options import Declared, option
from evosdc.table import Dimension, Table


def rows_and_columns(rows: int, columns: int) -> tuple[Dimension, Dimension]:
    """Dimensions of a flat two-way table."""
    return flat("row", rows, "R"), flat("column", columns, "C")


@dataclass(frozen=True)
class ClassOne(Declared):
    """Options of class I: inner rows and columns."""

    rows: int = option(100, least=1, most=MOST)
    columns: int = option(100, least=1, most=MOST)

    def draw(self, rng: np.random.Generator) -> Table:
        """Draw values of 0..499; inner values of 1..4 are sensitive.

        The upper level is the value, the lower level the value less one.
        """
        dims = rows_and_columns(self.rows, self.columns)
        grid = Grid.of(dims, rng.integers(0, 500, size=(self.rows, self.columns)))
        primary = grid.inner & (grid.amount >= 1) & (grid.amount <= 4)
        return grid.table(primary, np.maximum(grid.amount - 1, 0), grid.amount)


@dataclass(frozen=True)
class ClassTwo(Declared):
    """Options of class II: inner rows and columns, chances of being sensitive."""

    rows: int = option(100, least=1, most=MOST)
    columns: int = option(100, least=1, most=MOST)
    inner: float = option(0.2, least=0, most=1)
    margins: float = option(0.1, least=0, most=1)

    def draw(self, rng: np.random.Generator) -> Table:
        """Draw values of 0..1000; inner and marginal cells are sensitive by chance.

        Both levels are 15 % of the value rounded up. A zero drawn as sensitive is not:
        zeros are never suppressed. The grand total is no marginal cell of the source's
        network and is never sensitive: its level alone would ask for a seventh of the
        table to be hidden.
        """
        dims = rows_and_columns(self.rows, self.columns)
        grid = Grid.of(dims, rng.integers(0, 1001, size=(self.rows, self.columns)))
        chance = np.where(grid.inner, self.inner, self.margins)
        primary = rng.random(len(chance)) < chance
        primary &= grid.codes.any(axis=1)
        lower, upper = grid.levels(0.15)
        return grid.table(primary, lower, upper)


# Table 1 of Herrington (2015): rows, columns and sensitive cells of each data set.
HEURGENE = {
    1: (100, 100, 50),
    2: (100, 100, 100),
    3: (100, 100, 300),
    4: (400, 250, 500),
    5: (400, 250, 1000),
    6: (400, 250, 3000),
    7: (400, 250, 250),
}


@dataclass(frozen=True)
class HeurGene(Declared):
    """Options of the HeurGene sets.

    `dataset` is the number in the source's table 1: 1 to 3 are 100x100 with 0.5, 1 and
    3 % sensitive cells, 4 to 6 are 400x250 with the same shares, 7 has 0.25 %. The
    other options replace its rows, columns and share; 0 decimals give whole numbers.
    """

    dataset: int = option(1, known=HEURGENE)
    decimals: int = option(3, least=0, most=6)
    rows: int | None = option(None, least=1, most=MOST)
    columns: int | None = option(None, least=1, most=MOST)
    sensitive: float | None = option(None, least=0, most=1)

    def draw(self, rng: np.random.Generator) -> Table:
        """Draw real values of 0..1000; a fixed number of inner cells is sensitive.

        Levels are exactly a tenth of the value (rounded up in whole numbers).
        """
        rows, columns, count = HEURGENE[self.dataset]
        rows, columns = self.rows or rows, self.columns or columns
        if self.sensitive is not None:
            count = round(self.sensitive * rows * columns)
        amount = rng.integers(0, 1000 * 10**self.decimals + 1, size=(rows, columns))
        grid = _with_room_for_tenths(rows_and_columns(rows, columns), amount, self)
        primary = pick(rng, grid.inner & ~grid.empty, count)
        lower, upper = grid.levels(0.1)
        return grid.table(primary, lower, upper)


def _with_room_for_tenths(
    dims: tuple[Dimension, Dimension], amount: Amounts, options: HeurGene
) -> Grid:
    # One digit more than the values have, so that a tenth of them is exact.
    if options.decimals == 0:
        return Grid.of(dims, amount)
    return Grid.of(dims, 10 * amount, options.decimals + 1)
