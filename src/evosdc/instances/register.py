"""Tables like those of a business register: two deep trees, sparsely filled.

In the hierarchies of real offices (industries by regions) many codes have one child
only: an industry of one class, a region of one district. Most combinations of codes
have no firm, and a few firms dominate even high totals, which are then sensitive too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.instances.grid import MOST, Grid, add_totals, leaf_shape, share_of, tree
from evosdc.options import Declared, option
from evosdc.table import Dimension, Hierarchy, Table


@dataclass(frozen=True)
class Register(Declared):
    """Options of tables of a register.

    Attributes
    ----------
    rows, columns
        Codes of each tree before chains are added, including totals.
    levels
        Levels of each tree, without chains.
    chains
        Share of the codes without children that get a chain of one to three codes.
    filled
        Share of the inner cells that have firms.
    dominance
        A cell is sensitive if its largest firm has more than this share, or if it has
        fewer than three firms.
    level
        Both levels as shares of the value.
    """

    rows: int = option(60, least=1, most=MOST)
    columns: int = option(40, least=1, most=MOST)
    levels: int = option(3, least=1, most=MOST)
    chains: float = option(0.6, least=0, most=1)
    filled: float = option(0.25, least=0, most=1)
    dominance: float = option(0.8, least=0, most=1)
    level: float = option(0.15, least=0, most=1)

    def draw(self, rng: np.random.Generator) -> Table:
        """Draw a table of a register."""
        sides = (
            tree("industry", self.rows, self.levels, "A", rng),
            tree("region", self.columns, self.levels, "R", rng),
        )
        dims = tuple(_with_chains(side, self.chains, rng) for side in sides)
        size = leaf_shape(dims)
        firms = np.where(rng.random(size) < self.filled, 1 + rng.poisson(4.0, size), 0)
        inner = np.zeros(size, dtype=np.int64)
        largest = np.zeros(size, dtype=np.int64)
        for place in np.argwhere(firms):
            at = tuple(place.tolist())
            amounts = np.ceil(np.exp(rng.normal(3.0, 1.6, int(firms[at])))).astype(
                np.int64
            )
            inner[at], largest[at] = amounts.sum(), amounts.max()
        grid = Grid.of(dims, inner)
        count = Grid.of(dims, firms.astype(np.int64)).amount
        top = add_totals(dims, largest, np.maximum).ravel()
        sensitive = (count < 3) | (top > self.dominance * grid.amount)
        level = share_of(grid.amount, self.level)
        return grid.table(
            sensitive, np.minimum(level, grid.amount), level, frequency=count
        )


def _with_chains(
    dimension: Dimension, share: float, rng: np.random.Generator
) -> Dimension:
    """Add chains of codes below some of the leaves."""
    tree = dimension.hierarchy
    codes, parents = list(tree.codes), list(tree.parents)
    for leaf in np.flatnonzero(tree.is_leaf).tolist():
        if rng.random() >= share:
            continue
        above = leaf
        for _ in range(int(rng.integers(1, 4))):
            codes.append(codes[above] + "-")
            parents.append(above)
            above = len(codes) - 1
    return Dimension(dimension.name, Hierarchy(tuple(codes), tuple(parents)))
