"""Tables of published studies: flat two-way ones, and those of statistical offices.

Classes I and II are of Almeida et al. (2008) and Fischetti & Salazar (1999), the real
values of HeurGene of Herrington (2015).

The tables of Smith et al. (2011) and Staggemeier et al. are from a generator of the
Office for National Statistics and from its surveys, neither of which is public. The
tables made here have their shapes, shares of zeros and numbers of sensitive cells.
Values of the generated ones (A to F) are sums over contributors, as the source
describes; those of the surveys (G to H6) are heavy-tailed whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Flags, Real
from evosdc.instances.grid import (
    BOUNDS,
    MOST,
    UNIT_DECIMALS,
    Amounts,
    Grid,
    add_totals,
    contributors,
    flat,
    leaf_shape,
    marked,
    numbered,
    pick,
    tree,
)
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

        Both levels are 15 % of the value rounded up. Zeros are never suppressed, and so
        never sensitive. Nor is the grand total, which is not a marginal cell in the
        network of the source: its level alone would require a seventh of the table to
        be suppressed.
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


@dataclass(frozen=True)
class Shape:
    """A published table: size, share of zeros, sensitive cells.

    Sizes of hierarchical tables count every code, totals included; the longer side is
    the tree. Flat ones count inner cells. `sensitive` is the number of sensitive cells.
    `survey` is a table of a real survey, not of the generator.
    """

    rows: int
    columns: int
    zeros: float
    sensitive: int
    hierarchical: bool = False
    survey: bool = False


# Table II of Smith et al. (2011) and figure 1 of Staggemeier et al., which prints 25 %
# for the 2 % of F. A to F hold the share of inner cells, which both print; the mean
# numbers of sensitive cells in that figure (60 in A and in B) do not go with it. The
# others hold the number printed.
OFFICE = {
    "A": Shape(200, 5, 0.25, 100),
    "B": Shape(200, 5, 0.05, 20),
    "C": Shape(200, 50, 0.25, 1000),
    "D": Shape(200, 50, 0.05, 200),
    "E": Shape(4000, 10, 0.25, 4000),
    "F": Shape(4000, 10, 0.05, 800),
    "G": Shape(654, 14, 0.16, 1913, survey=True),
    "H1": Shape(14, 1433, 0.14, 3680, hierarchical=True, survey=True),
    "H2": Shape(14, 1433, 0.14, 3641, hierarchical=True, survey=True),
    "H3": Shape(712, 10, 0.49, 407, hierarchical=True, survey=True),
    "H4": Shape(712, 10, 0.49, 495, hierarchical=True, survey=True),
    "H5": Shape(712, 19, 0.35, 1432, hierarchical=True, survey=True),
    "H6": Shape(712, 19, 0.35, 1616, hierarchical=True, survey=True),
}


# Share of the value that levels ask for, in generated tables and in surveys: twice asks
# for more secondaries, half for fewer; the published savings are met by these.
_LEVEL, _SURVEY_LEVEL = 0.2, 0.1


@dataclass(frozen=True)
class Office(Declared):
    """Options of the ONS-like tables.

    `table` is the letter in the source: A and B are 200x5, C and D 200x50, E and F
    4000x10, G 654x14, H1 to H6 hierarchical. `level` is the share of the value that
    levels ask for: by default a fifth in A to F, a tenth in G to H6.
    """

    table: str = option("B", known=OFFICE)
    level: float | None = option(None, least=0, most=0.5)
    bounds: str = option("tau", known=BOUNDS)

    def draw(self, rng: np.random.Generator) -> Table:
        """Draw amounts with zeros; a fixed number of cells is sensitive.

        Generated tables: Poisson contributors with the mean that leaves the published
        share of inner cells empty; sensitive cells are drawn uniformly, as in the
        source. It does not say how wide levels were. With a fifth, the order of
        protection alone saves what its table III reports for 200x5
        (docs/notebook/orders.md).

        Surveys: log-normal whole numbers; any cell but the grand total may be
        sensitive, in G any inner one, with a probability that falls with its value.

        Levels can be exceeded, as the strict reading requires.
        """
        shape = OFFICE[self.table]
        dims = _dimensions(shape, rng)
        draw, level = (_survey, _SURVEY_LEVEL) if shape.survey else (_generated, _LEVEL)
        grid, primary = draw(shape, dims, rng)
        share = level if self.level is None else self.level
        lower, upper = grid.levels(share, bounds=self.bounds, strict=True)
        return grid.table(primary, lower, upper, bounds=self.bounds)


def _generated(
    shape: Shape, dims: tuple[Dimension, ...], rng: np.random.Generator
) -> tuple[Grid, Flags]:
    size = (shape.rows, shape.columns)
    # A Poisson number is zero with probability exp(-mean). Hundredths are the unit, so
    # that amounts are whole and small cells have levels too.
    _, amount = contributors(size, -math.log(shape.zeros), rng)
    grid = Grid.of(dims, amount)
    return grid, pick(rng, grid.inner & ~grid.empty, shape.sensitive)


def _survey(
    shape: Shape, dims: tuple[Dimension, ...], rng: np.random.Generator
) -> tuple[Grid, Flags]:
    size = leaf_shape(dims)
    amount = np.ceil(rng.lognormal(3.0, 1.2, size=size)).astype(np.int64)
    # Of all cells in trees, where nearly every zero is an inner cell.
    cells = int(np.prod([len(d.hierarchy) for d in dims]))
    zeros = round(shape.zeros * (cells if shape.hierarchical else amount.size))
    amount.ravel()[rng.choice(amount.size, size=zeros, replace=False)] = 0
    grid = Grid.of(dims, amount)
    candidates = np.array(grid.inner)
    if shape.hierarchical:
        candidates = np.any(grid.codes > 0, axis=1)
    return grid, _pick_small(rng, grid, candidates, shape.sensitive)


def _dimensions(shape: Shape, rng: np.random.Generator) -> tuple[Dimension, ...]:
    if not shape.hierarchical:
        return rows_and_columns(shape.rows, shape.columns)
    if shape.rows > shape.columns:
        rows = tree("row", shape.rows, 3, "R", rng)
        return rows, flat("column", shape.columns - 1, "C")
    rows = flat("row", shape.rows - 1, "R")
    return rows, tree("column", shape.columns, 3, "C", rng)


def _pick_small(
    rng: np.random.Generator, grid: Grid, candidates: Flags, count: int
) -> Flags:
    # Weighted draw without replacement by exponential keys (Efraimidis and Spirakis
    # 2006), a cell's weight being one over the root of its amount.
    pool = np.flatnonzero(candidates & ~grid.empty)
    keys = rng.exponential(size=len(pool)) * np.sqrt(grid.amount[pool])
    return marked(len(candidates), pool[np.argsort(keys, kind="stable")[:count]])


@dataclass(frozen=True)
class FrequencyOptions(Declared):
    """Options of frequency tables.

    `mean` is the mean count of an inner cell, `threshold` the smallest count that is
    not sensitive, `spread` how uneven the counts are (0 is Poisson).
    """

    shape: tuple[int, ...] = option((30, 12), least=1, most=MOST)
    mean: float = option(8.0, least=1e-9, most=MOST)
    spread: float = option(1.0, least=0, most=10)
    threshold: int = option(3, least=1, most=1000)

    def draw(self, rng: np.random.Generator) -> Table:
        """Draw counts; inner and marginal counts below the threshold are sensitive.

        As in class I, an attacker must not know more than that a count is 1 or more, or
        tell it from the threshold: the lower level is the count less one and the upper
        the distance to the threshold.
        """
        dims = [numbered(k, n + 1, 1, rng) for k, n in enumerate(self.shape)]
        mean = np.full(self.shape, self.mean)
        if self.spread > 0:
            mean = self.mean * rng.gamma(1 / self.spread, self.spread, size=self.shape)
        grid = Grid.of(dims, rng.poisson(mean).astype(np.int64))
        primary = (grid.amount > 0) & (grid.amount < self.threshold)
        lower = np.maximum(grid.amount - 1, 0)
        upper = np.maximum(self.threshold - grid.amount, 1)
        return grid.table(primary, lower, upper, frequency=grid.amount, name="count")


@dataclass(frozen=True)
class Solid:
    """A published table: codes of each dimension with totals, zeros, sensitive cells.

    `hierarchical` is the number of the dimension that is a tree.
    """

    codes: tuple[int, int, int]
    zeros: float
    sensitive: int
    hierarchical: int | None = None


# Table VII of Smith et al. (2011), in its order: 48,600 to 209,300 cells. Its fourth
# line says 100 x 112 x 4 and 56,000 cells, which are 100 x 112 x 5.
LARGE = {
    1: Solid((100, 27, 18), 0.49, 14807),
    2: Solid((100, 21, 24), 0.12, 10555),
    3: Solid((100, 5, 106), 0.41, 8763, hierarchical=2),
    4: Solid((100, 112, 5), 0.54, 4544, hierarchical=1),
    5: Solid((100, 7, 83), 0.43, 11517),
    6: Solid((100, 20, 31), 0.13, 13164),
    7: Solid((100, 6, 112), 0.51, 1972, hierarchical=2),
    8: Solid((100, 20, 36), 0.13, 15422),
    9: Solid((100, 76, 10), 0.26, 13429),
    10: Solid((100, 4, 212), 0.46, 10265, hierarchical=2),
    11: Solid((100, 11, 90), 0.47, 18978, hierarchical=2),
    12: Solid((50, 50, 40), 0.13, 21850),
    13: Solid((100, 158, 9), 0.50, 28032, hierarchical=1),
    14: Solid((100, 91, 23), 0.36, 16008),
}


@dataclass(frozen=True)
class Large(Declared):
    """Options of the large tables.

    `table` is the line of the source's table VII, 1 (48,600 cells) to 14 (209,300).
    """

    table: int = option(1, known=LARGE)
    level: float = option(0.1, least=0, most=0.5)
    bounds: str = option("open", known=BOUNDS)

    def draw(self, rng: np.random.Generator) -> Table:
        """Draw Poisson numbers of contributors, each contributing -1/log r.

        The mean number is set so that the published share of all cells is zero. The
        source does not say which cells were sensitive: here they are those with the
        fewest contributors, in the published number, with ties broken at random.
        """
        solid = LARGE[self.table]
        dims = tuple(
            numbered(k, codes, 2 if k == solid.hierarchical else 1, rng)
            for k, codes in enumerate(solid.codes)
        )
        size = leaf_shape(dims)
        counts, amount = contributors(size, _mean_for(dims, solid.zeros), rng)
        grid = Grid.of(dims, amount, UNIT_DECIMALS)
        frequency = add_totals(dims, counts).ravel()
        primary = _fewest(rng, grid, frequency, solid.sensitive)
        lower, upper = grid.levels(self.level, bounds=self.bounds, strict=True)
        return grid.table(
            primary, lower, upper, bounds=self.bounds, frequency=frequency
        )


def _mean_for(dims: tuple[Dimension, ...], zeros: float) -> float:
    """Return the mean number of contributors that leaves a share of all cells empty."""
    from scipy.optimize import brentq  # slow to import, needed here only

    size = leaf_shape(dims)
    under = add_totals(dims, np.ones(size, dtype=np.int64)).ravel()
    inside, times = np.unique(under, return_counts=True)
    share: Real = times / times.sum()

    def surplus(mean: float) -> float:
        return float(share @ np.exp(-mean * inside)) - zeros

    return float(brentq(surplus, 1e-9, 50.0))


def _fewest(
    rng: np.random.Generator, grid: Grid, frequency: Amounts, count: int
) -> Flags:
    pool = np.flatnonzero(~grid.empty)
    order = np.lexsort((rng.random(len(pool)), frequency[pool]))
    return marked(len(frequency), pool[order[:count]])
