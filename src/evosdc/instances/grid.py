"""Tables with a cell for every combination of codes, in exact decimals.

Amounts are whole numbers of a smallest unit (``10 ** -decimals``): totals are summed as
integers and divided once, so that every equation holds exactly in the decimals printed.

If only zeros are fixed, no amount is negative and levels stay within the caps below,
suppressing all cells protects every level: the inner cells of a sensitive cell, and all
totals of them, can grow or shrink in proportion. So the generators need no solver to
make feasible instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.table import TOTAL, Dimension, Hierarchy, Table
from evosdc.table.build import equations
from evosdc.table.status import FIXED, PRIMARY, SAFE


def flat(name: str, below: int, letter: str) -> Dimension:
    """Make a flat dimension with so many codes below the total, such as R001."""
    digits = len(str(below))
    codes = [f"{letter}{i:0{digits}d}" for i in range(1, below + 1)]
    return Dimension(name, Hierarchy.flat(codes))


def tree(
    name: str, nodes: int, levels: int, letter: str, rng: np.random.Generator
) -> Dimension:
    """Make a random tree of `nodes` codes, including the total, in `levels` levels.

    Level sizes grow by a constant ratio. About a third of the codes of a middle level
    have no children, the others at least two. Small trees have as many levels as fit.
    """
    codes, parents = [TOTAL], [-1]
    above = [0]
    for size in _level_sizes(nodes - 1, levels):
        keep = -(-2 * len(above) // 3)
        above = sorted(rng.choice(above, size=keep, replace=False).tolist())
        least = min(2, size)
        extra = size - least * len(above)
        spread = rng.multinomial(extra, np.full(len(above), 1 / len(above))) + least
        below: list[int] = []
        for parent, children in zip(above, spread.tolist(), strict=True):
            stem = letter if parent == 0 else codes[parent] + "."
            digits = len(str(children))
            for i in range(1, children + 1):
                codes.append(f"{stem}{i:0{digits}d}")
                parents.append(parent)
                below.append(len(codes) - 1)
        above = below
    return Dimension(name, Hierarchy(tuple(codes), tuple(parents)))


def numbered(k: int, codes: int, levels: int, rng: np.random.Generator) -> Dimension:
    """Make dimension number k with so many codes, including the total."""
    name, letter = f"d{k + 1}", "ABCDEFGH"[k % 8]
    if levels == 1:
        return flat(name, codes - 1, letter)
    return tree(name, codes, levels, letter, rng)


def _level_sizes(nodes: int, levels: int) -> list[int]:
    """Split nodes into levels, each at least twice as large as the one above."""
    while levels > 1 and nodes < 2 * (2**levels - 1):
        levels -= 1
    if levels == 1:
        return [nodes]
    from scipy.optimize import brentq  # slow to import, needed for trees only

    def surplus(ratio: float) -> float:
        return float(sum(ratio**k for k in range(1, levels + 1))) - nodes

    ratio = brentq(surplus, 1.0, float(nodes))
    sizes = [max(2, int(ratio))]
    for _ in range(levels - 2):
        sizes.append(max(2 * sizes[-1], int(sizes[-1] * ratio)))
    return [*sizes, nodes - sum(sizes)]


Amounts = NDArray[np.int64]

# External bounds: "open" is [0, infinity), "tau" the 0.5 a to 1.5 a that tau-Argus
# writes to JJ files (Staggemeier et al., section 3.1), widened to whole units.
BOUNDS = ("open", "tau")
# Most codes of a dimension, or firms, so that a typing error is found at once. Half or
# twice refuses no table that fits in memory.
MOST = 10_000_000


@dataclass(frozen=True, eq=False)
class Grid:
    """Amounts of every cell of a table before anything is sensitive.

    Attributes
    ----------
    amount
        Each cell in units of ``10 ** -decimals``.
    empty
        Cells with only zeros below them.
    inner
        Cells that are not a total in any dimension.
    """

    dimensions: tuple[Dimension, ...]
    codes: Int
    amount: Amounts
    empty: Flags
    inner: Flags
    decimals: int

    @classmethod
    def of(
        cls, dimensions: Sequence[Dimension], inner: Amounts, decimals: int = 0
    ) -> Grid:
        """Add the totals to inner amounts, one axis per dimension, leaves in order."""
        dims = tuple(dimensions)
        sizes = [len(d.hierarchy) for d in dims]
        codes = np.indices(sizes, dtype=np.int32).reshape(len(dims), -1).T
        leaf = [d.hierarchy.is_leaf[codes[:, k]] for k, d in enumerate(dims)]
        return cls(
            dimensions=dims,
            codes=np.ascontiguousarray(codes),
            amount=add_totals(dims, inner).ravel(),
            empty=add_totals(dims, (inner != 0).astype(np.int64)).ravel() == 0,
            inner=np.logical_and.reduce(leaf),
            decimals=decimals,
        )

    def without_total(self, dimension: int) -> Grid:
        """Drop the cells at the total of a dimension, which leaves separate tables."""
        keep = self.codes[:, dimension] != 0
        return replace(
            self,
            codes=self.codes[keep],
            amount=self.amount[keep],
            empty=self.empty[keep],
            inner=self.inner[keep],
        )

    def levels(
        self, share: float, *, bounds: str = "open", strict: bool = False
    ) -> tuple[Amounts, Amounts]:
        """Return lower and upper levels: a share of each amount, rounded up to a unit.

        They are capped by the bounds; `strict` leaves one unit more, so that levels can
        be exceeded and not only reached.
        """
        size = np.abs(self.amount)
        level = share_of(size, share)
        below = (size if bounds == "open" else size // 2) - int(strict)
        lower = np.minimum(level, np.maximum(below, 0))
        return lower, level if bounds == "open" else lower

    def table(
        self,
        primary: Flags,
        lower_level: Amounts,
        upper_level: Amounts,
        *,
        bounds: str = "open",
        width: Amounts | None = None,
        frequency: Amounts | None = None,
        name: str = "value",
    ) -> Table:
        """Make the table: empty cells are fixed and never sensitive, cost is value."""
        sensitive = primary & ~self.empty
        lower, upper = self._bounds(bounds)
        zero = np.zeros(len(self.amount), dtype=np.int64)
        return Table.of(
            self._decimal(self.amount),
            equations(self.dimensions, self.codes),
            status=np.where(
                self.empty, FIXED, np.where(sensitive, PRIMARY, SAFE)
            ).astype("U1"),
            lower=lower,
            upper=upper,
            lpl=self._decimal(np.where(sensitive, lower_level, zero)),
            upl=self._decimal(np.where(sensitive, upper_level, zero)),
            spl=self._decimal(np.where(sensitive, zero if width is None else width, 0)),
            dimensions=self.dimensions,
            codes=self.codes,
            frequency=frequency,
            name=name,
        )

    def _bounds(self, bounds: str) -> tuple[Real, Real]:
        if bounds == "tau":
            return (
                self._decimal(self.amount // 2),
                self._decimal((3 * self.amount + 1) // 2),
            )
        low = -np.inf if (self.amount < 0).any() else 0.0
        n = len(self.amount)
        return np.full(n, low), np.full(n, np.inf)

    def _decimal(self, amount: Amounts) -> Real:
        # One correctly rounded division: the double that reads back as this decimal.
        return amount / 10**self.decimals


def add_totals(
    dimensions: Sequence[Dimension], inner: Amounts, combine: np.ufunc = np.add
) -> Amounts:
    """Sum inner amounts into every node of every hierarchy, or combine them otherwise.

    What is combined must be 0 for nothing: `np.maximum` will do for amounts.
    """
    full = inner
    for axis, d in enumerate(dimensions):
        tree = d.hierarchy
        moved = np.moveaxis(full, axis, 0)
        nodes = np.zeros((len(tree), *moved.shape[1:]), dtype=np.int64)
        nodes[tree.is_leaf] = moved
        for depth in range(int(tree.depth.max()), 0, -1):
            below = np.flatnonzero(tree.depth == depth)
            combine.at(nodes, tree.parent_array[below], nodes[below])
        full = np.moveaxis(nodes, 0, axis)
    return np.ascontiguousarray(full)


def leaf_shape(dimensions: Sequence[Dimension]) -> tuple[int, ...]:
    """Return the number of leaves of each dimension: the shape of inner amounts."""
    return tuple(int(d.hierarchy.is_leaf.sum()) for d in dimensions)


def share_of(amount: Amounts, share: float) -> Amounts:
    """Return a share of whole amounts, exact (0.15 is 15/100) and rounded up."""
    exact = Fraction(str(share))
    return -(-amount * exact.numerator // exact.denominator)


def pick(rng: np.random.Generator, candidates: Flags, count: int) -> Flags:
    """Choose `count` of the candidates, or all if there are fewer."""
    pool = np.flatnonzero(candidates)
    drawn = rng.choice(pool, size=min(count, len(pool)), replace=False)
    return marked(len(candidates), drawn)


def marked(length: int, cells: Long) -> Flags:
    """Return flags that are set for some cells."""
    chosen = np.zeros(length, dtype=bool)
    chosen[cells] = True
    return chosen


# Contributions are rounded to hundredths and limited: -1/log r has no mean, and one
# very large one would use up the digits that make totals exact. Half or twice of the
# limit changes no table of the published sizes.
UNIT_DECIMALS, _LARGEST_CONTRIBUTION = 2, 1e9


def contributors(
    size: tuple[int, ...], mean: float, rng: np.random.Generator
) -> tuple[Amounts, Amounts]:
    """Draw the number of contributors of each inner cell and their sum in hundredths.

    Numbers are Poisson with the given mean, each contribution is -1/log r for a uniform
    r in (0, 1) (Smith et al. 2011, section VII).
    """
    counts = rng.poisson(mean, size=size).astype(np.int64)
    cell = np.repeat(np.arange(counts.size), counts.ravel())
    # -log r is a standard exponential.
    each = 1 / np.maximum(rng.exponential(size=len(cell)), 1 / _LARGEST_CONTRIBUTION)
    hundredths = np.maximum(np.rint(each * 10**UNIT_DECIMALS), 1).astype(np.int64)
    amount = np.zeros(counts.size, dtype=np.int64)
    np.add.at(amount, cell, hundredths)
    return counts, amount.reshape(size)
