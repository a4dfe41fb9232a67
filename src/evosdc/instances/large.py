"""The fourteen large three-way tables of Smith et al. (2011), by shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Flags, Real
from evosdc.instances.grid import (
    BOUNDS,
    UNIT_DECIMALS,
    Amounts,
    Grid,
    add_totals,
    contributors,
    leaf_shape,
    marked,
    numbered,
)
from evosdc.options import Declared, option
from evosdc.table import Dimension, Table


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
        source does not say which cells were sensitive: here those with the fewest
        contributors are, ties by lot, as many as it counts.
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
    """Mean contributors of an inner cell that leave a share of all cells empty."""
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
