"""Codes for generated tables: flat lists and random trees of a given size."""

from __future__ import annotations

import numpy as np

from evosdc.table import TOTAL, Dimension, Hierarchy


def flat(name: str, parts: int, letter: str) -> Dimension:
    """Make a total and `parts` codes such as R001."""
    digits = len(str(parts))
    codes = [f"{letter}{i:0{digits}d}" for i in range(1, parts + 1)]
    return Dimension(name, Hierarchy.flat(codes))


def tree(
    name: str, nodes: int, levels: int, letter: str, rng: np.random.Generator
) -> Dimension:
    """Make a random tree of `nodes` codes, the total included, in `levels` levels.

    Level sizes grow by one ratio. The tree is ragged: about a third of the codes of a
    middle level have no parts, the others at least two. Small trees get as many levels
    as fit.
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


def _level_sizes(nodes: int, levels: int) -> list[int]:
    """Split nodes into levels, each at least twice the one above."""
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
