"""Deviations suggested by whoever made a pattern: taken only where they hold exactly.

A search knows what it relied on. Telling the judge saves it the looking and weakens
nothing: a suggestion is turned into whole numbers and has to keep every equation and
every bound in exact arithmetic, or it is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.ledger import Ledger

Hint = tuple[NDArray[np.int64], NDArray[np.float64]]
Places = dict[tuple[int, int], list[NDArray[np.int64]]]

# Steps that differ by no more than this share are meant to be equal.
_EQUAL = 1e-9


def take_hints(ledger: Ledger, hints: Sequence[Hint]) -> Places:
    """Take what suggested deviations of one step size prove.

    Of the others the cells are returned, by the level that they might cover: a program
    over so few cells is quick, and its answer is made exact like any other.
    """
    places: Places = {}
    for cells, by in hints:
        size = np.abs(by)
        if not len(cells) or not size.all() or not np.isfinite(size).all():
            continue
        if len(np.unique(cells)) < len(cells):
            # Up and down again adds up to nothing, whatever it seems to show.
            continue
        at, ways = cells.tolist(), np.sign(by).astype(int).tolist()
        if size.max() <= size.min() * (1 + _EQUAL):
            _stretch(ledger, at, ways)
            _stretch(ledger, at, [-way for way in ways])
            continue
        for cell, way in zip(at, ways, strict=True):
            if ledger.is_open(cell, way):
                places.setdefault((cell, way), []).append(cells)
    return places


def _stretch(ledger: Ledger, cells: list[int], ways: list[int]) -> None:
    """Use a deviation one way for the largest open level that it can reach."""
    attacker = ledger.attacker
    wanted = [
        (attacker.needs[c][0 if way > 0 else 1], c, way)
        for c, way in zip(cells, ways, strict=True)
        if ledger.is_open(c, way)
    ]
    if not wanted or not all(attacker.free[c] for c in cells):
        return
    rooms = [attacker.room(c, way) for c, way in zip(cells, ways, strict=True)]
    most = min((r for r in rooms if r is not None), default=None)
    reachable = [level for level in wanted if most is None or level[0] <= most]
    if reachable:
        step, cell, way = max(reachable)
        ledger.add(cell, way, cells, [step * w for w in ways], 1, "hint")
