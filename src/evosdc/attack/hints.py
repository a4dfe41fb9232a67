"""Deviations suggested by whoever made a pattern: taken only where they hold exactly.

A search knows what it relied on. Telling the judge saves it the looking and weakens
nothing: a suggestion is turned into whole numbers and has to keep every equation and
every bound in exact arithmetic, or it is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, gcd

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import Witness
from evosdc.attack.ledger import Ledger
from evosdc.attack.model import AttackModel
from evosdc.results import Certificate

Hint = tuple[NDArray[np.int64], NDArray[np.float64]]
Places = dict[tuple[int, int], list[NDArray[np.int64]]]

# Steps that differ by no more than this share are meant to be equal.
_EQUAL = 1e-9
# Steps of several sizes are read as decimals first: slacks have few digits, and a
# search that wants to be read asks for levels with few. They are met if off by no
# more than this part of the last digit.
_DIGITS = 12
_OFF = 1e-4
# Then in these parts of the attacker's unit, coarse first: rounding may help.
_PARTS = (1, 10**3, 10**6)


def take_hints(ledger: Ledger, hints: Sequence[Hint]) -> Places:
    """Take what suggested deviations prove.

    Where one cannot be made exact by rounding, its cells are returned by the level that
    they might cover: a program over so few cells is quick.
    """
    places: Places = {}
    for cells, by in hints:
        size = np.abs(by)
        if not len(cells) or not size.all() or not np.isfinite(size).all():
            continue
        if not ledger.attacker.free[cells].all():
            # Published, or known to who asks: no reading of it holds.
            continue
        if len(np.unique(cells)) < len(cells):
            # Up and down again adds up to nothing, whatever it seems to show.
            continue
        at = cells.tolist()
        for steps in _readings(by, ledger.attacker.scale):
            if not all(steps):
                continue
            forth = _stretch(ledger, at, steps)
            back = _stretch(ledger, at, [-step for step in steps])
            if forth and back:
                break
        else:
            if _even(size):
                continue
            for cell, way in zip(at, np.sign(by).astype(int).tolist(), strict=True):
                if ledger.is_open(cell, way):
                    places.setdefault((cell, way), []).append(cells)
    return places


def take_seen(ledger: Ledger, seen: Certificate) -> None:
    """Take the witnesses of an earlier pattern that move nothing which is known now.

    Equations and bounds are those of the table, so they hold as they did.
    """
    if not len(seen.cells):
        return
    fixed = ~ledger.attacker.free[seen.indices]
    broken = np.logical_or.reduceat(fixed, seen.indptr[:-1])
    for w in np.flatnonzero(~broken).tolist():
        part = slice(int(seen.indptr[w]), int(seen.indptr[w + 1]))
        ledger.keep(
            Witness(
                int(seen.cells[w]),
                int(seen.signs[w]),
                seen.indices[part],
                seen.numerators[part].tolist(),
                int(seen.denominators[w]),
                "earlier rounds",
            )
        )


def _even(size: NDArray[np.float64]) -> bool:
    return bool(size.max() <= size.min() * (1 + _EQUAL))


def _readings(by: NDArray[np.float64], scale: int) -> Iterator[list[int]]:
    """Whole steps in the proportions of a deviation."""
    if _even(np.abs(by)):
        yield np.sign(by).astype(int).tolist()
        return
    for digits in range(_DIGITS + 1):
        steps = by * 10.0**digits
        nearest = np.rint(steps)
        if np.abs(nearest).max() < 2.0**53 and np.abs(steps - nearest).max() < _OFF:
            yield nearest.astype(np.int64).tolist()
            break
    for parts in _PARTS:
        yield [round(step * scale * parts) for step in by.tolist()]


def _stretch(ledger: Ledger, cells: list[int], steps: list[int]) -> bool:
    """Use a deviation one way for the largest open level that it can reach.

    False where it breaks an equation or, perhaps by rounding alone, reaches none.
    """
    attacker = ledger.attacker
    if attacker.whole:
        # The shortest deviation in whole numbers; only whole multiples of it count.
        part = gcd(*steps)
        steps = [step // part for step in steps]
    pairs = list(zip(cells, steps, strict=True))
    # How many times the deviation each open level needs, and how many fit at most.
    wanted = [
        (Fraction(attacker.needs[c][0 if step > 0 else 1], abs(step)), c, step)
        for c, step in pairs
        if ledger.is_open(c, 1 if step > 0 else -1)
    ]
    if not wanted:
        return True
    if attacker.whole:
        wanted = [(Fraction(ceil(times)), c, step) for times, c, step in wanted]
    most = _times(attacker, pairs)
    reachable = [level for level in wanted if most is None or level[0] <= most]
    if not reachable:
        return False
    times, cell, step = max(reachable)
    return ledger.add(
        cell,
        1 if step > 0 else -1,
        cells,
        [times.numerator * s for s in steps],
        times.denominator,
        "hint",
    )


def _times(attacker: AttackModel, pairs: list[tuple[int, int]]) -> Fraction | None:
    """How many times a deviation fits into the room of its cells; None for no end.

    Doubles tell which cells are tightest; those alone are compared exactly.
    """
    slacks = [(attacker.room(c, 1 if step > 0 else -1), abs(step)) for c, step in pairs]
    bound = [(r / s, r, s) for r, s in slacks if r is not None]
    if not bound:
        return None
    near = min(ratio for ratio, _, _ in bound) * (1 + _EQUAL)
    return min(Fraction(r, s) for ratio, r, s in bound if ratio <= near)
