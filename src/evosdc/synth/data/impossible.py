"""Combinations that never occur although many were to be expected: learnt rules.

No child is widowed, and nobody below fifteen has a marital status at all. Where a cell
of two variables is empty and chance alone would have put a dozen people there, it is
taken to be impossible, and no record of a copy is in it. The same holds of all levels
of a variable but its usual one together, and of numbers one of which is always above
the other. Bins of numbers are cut where such a rule begins, so that a bin lies on one
side of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import pyarrow as pa

from evosdc.arrays import Flags, Long, Real
from evosdc.metrics.binning import MOST_DISTINCT, as_numbers, is_number
from evosdc.metrics.coded_numbers import coded_numbers
from evosdc.synth.data.derived import MAX_EXCEPTIONS
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes, cell_numbers, strides
from evosdc.synth.data.rules import Cells
from evosdc.synth.data.variable import Variable

# An empty cell is evidence where chance alone would fill it with so many people: it
# stays empty with a probability of one in 160,000.
MIN_EXPECTED = 12.0
# One number is always above another where so many times as many were to be otherwise.
_ORDER_FACTOR = 4
_MAX_CELLS = 1 << 20
# A level begins or ends sharply by the shares of so many people on each side.
_NEIGHBOURS = 200
_MAX_CUTS = 12


@dataclass(frozen=True)
class Impossible:
    """Cells of two variables that are empty for a reason.

    `expected` is how many people chance alone would have put there, `people` how many
    are there all the same.
    """

    first: str
    second: str
    cells: int
    expected: float
    people: int = 0

    def text(self) -> str:
        """Say what was learnt, naming no level."""
        plural = "combination" if self.cells == 1 else "combinations"
        occur = "hardly occur" if self.people else "never occur"
        found = f", {self.people} found" if self.people else ""
        return (
            f"{self.first} × {self.second}: {self.cells} {plural} {occur} "
            f"({self.expected:,.0f} people expected by chance{found})"
        )


def learn_rules(
    domain: Domain, codes: Codes, refused: set[frozenset[str]], few: int = 1
) -> tuple[list[Cells], list[Impossible]]:
    """Find the empty cells of each pair that were to be expected full.

    Of numbers a whole corner of their table counts, such as all who married before some
    year and were born after another. Cells of fewer than `few` people count as empty
    where that is as unlikely and no more than two in a thousand records are in all such
    cells of the pair. `refused` are pairs of columns that the user knows better
    about.
    """
    sizes, names = domain.sizes, domain.names
    cells: list[Cells] = []
    said: list[Impossible] = []
    for a, b in combinations(range(len(sizes)), 2):
        if frozenset((names[a], names[b])) in refused:
            continue
        stride, many = strides(sizes, (a, b))
        if many > _MAX_CELLS or min(sizes[a], sizes[b]) < 2:
            continue
        # The first of the pair has stride 1: rows are levels of the second.
        shape = (int(sizes[b]), int(sizes[a]))
        table = np.bincount(cell_numbers(codes, stride), minlength=many).reshape(shape)
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        expected = np.outer(rows, columns) / len(codes)
        axes = [_order(domain.variables[b]), _order(domain.variables[a])]
        empty = _hardly_chance(table, expected, axes, max(1, few))
        if table[empty].sum() > MAX_EXCEPTIONS * len(codes):
            # So many make a tail of a distribution, and no exceptions to a rule.
            empty = _hardly_chance(table, expected, axes, 1)
        second, first = (_spans(domain.variables[j]) for j in (b, a))
        if second is not None and first is not None:
            empty |= _never_below(table, expected, second, first)
            empty |= _never_below(table.T, expected.T, first, second).T
        if empty.any():
            cells.append(((a, b), empty.ravel()))
            said.append(
                Impossible(
                    names[a],
                    names[b],
                    int(empty.sum()),
                    round(float(expected[empty].sum()), 1),
                    int(table[empty].sum()),
                )
            )
    return cells, said


def _order(variable: Variable) -> int:
    """Return how many of the first levels of a variable are numbers in order."""
    if variable.parts is not None:
        return len(variable.parts.first) - 1
    if variable.edges is not None or not variable.ordered:
        return 0
    return variable.size - (variable.missing >= 0)


def _unlikely(seen: Real, expected: Real, few: int) -> Flags:
    """Say where so few people are hardly chance: as unlikely as an empty cell is."""
    term = np.exp(-np.minimum(expected, 700.0))
    chance = term.copy()
    for k in range(1, few):
        term = term * expected / k
        chance += np.where(seen >= k, term, 0.0)
    return (seen < few) & (chance <= np.exp(-MIN_EXPECTED))


def _hardly_chance(table: Long, expected: Real, ordered: list[int], few: int) -> Flags:
    """Mark cells of fewer than `few` people where that is hardly chance."""
    out = _unlikely(table.astype(float), expected, few)
    for axis, many in enumerate(ordered):
        # Runs from either end of one variable, for each level of the other.
        for back in (False, True) if many >= 2 else ():
            out |= _corner(table, expected, [axis], [many], [back], few)
    if min(ordered) >= 2:
        for flips in product((False, True), repeat=2):
            out |= _corner(table, expected, [0, 1], ordered, list(flips), few)
    return out | _all_but_the_usual(table, expected, ordered, few)


def _all_but_the_usual(
    table: Long, expected: Real, ordered: list[int], few: int
) -> Flags:
    """Mark what all levels of a variable but its usual one never occur with.

    Each of them may be too rare to tell: no child is a veteran of any rating.
    """
    out = np.zeros(table.shape, bool)
    for axis, other in ((0, 1), (1, 0)):
        if table.shape[axis] < 3:
            continue
        usual = int(table.sum(axis=other).argmax())
        seen, chance = (
            np.delete(x, usual, axis).sum(axis=axis, keepdims=True)
            for x in (table, expected)
        )
        held = _unlikely(seen.astype(float), chance, few)
        out |= _by_one_level(table, expected, axis, few)
        if ordered[other] >= 2:
            for back in (False, True):
                held |= _corner(seen, chance, [other], [ordered[other]], [back], few)
        mine = np.repeat(held, table.shape[axis], axis)
        mine[(usual, slice(None)) if axis == 0 else (slice(None), usual)] = False
        out |= mine
    return out


def _by_one_level(table: Long, expected: Real, axis: int, few: int) -> Flags:
    """Mark all but the one level that those of a level of the other variable have."""
    usual = table == table.max(axis=axis, keepdims=True)
    seen, chance = (
        np.where(usual, 0, x).sum(axis=axis, keepdims=True) for x in (table, expected)
    )
    return np.asarray(_unlikely(seen.astype(float), chance, few) & ~usual)


def _spans(variable: Variable) -> Real | None:
    """Return the lowest and the highest number of each level, NaN where it is none.

    Numbers may be written as texts, with a few codes among them.
    """
    many = _order(variable)
    out = np.full((variable.size, 2), np.nan)
    if pa.types.is_string(variable.type) and variable.parts is None:
        coded = coded_numbers(variable.values, most_distinct=1)
        if coded is None:
            return None
        shown = (variable.weight > 0) & ~np.isnan(coded.numbers)
        np.fmin.at(out[:, 0], variable.level[shown], coded.numbers[shown])
        np.fmax.at(out[:, 1], variable.level[shown], coded.numbers[shown])
        return out
    if many < 2:
        return None
    if variable.parts is not None:
        first, ends = variable.parts.first, variable.parts.ends
        out[:many, 0] = np.minimum.reduceat(ends[:, 0], first[:-1])
        out[:many, 1] = np.maximum.reduceat(ends[:, 1], first[:-1])
        return out
    shown = variable.weight > 0
    numbers = as_numbers(variable.values)[shown]
    np.fmin.at(out[:, 0], variable.level[shown], numbers)
    np.fmax.at(out[:, 1], variable.level[shown], numbers)
    return out


def _never_below(table: Long, expected: Real, rows: Real, columns: Real) -> Flags:
    """Mark where the number of the row would not be above that of the column.

    It is always above, or never below, where chance would have many people otherwise;
    then it is so of numbers that few have, too.
    """
    with np.errstate(invalid="ignore"):
        highest = rows[:, 1][:, None]
        for off in (highest <= columns[:, 0], highest < columns[:, 0]):
            if (
                table[off].sum() == 0
                and expected[off].sum() >= _ORDER_FACTOR * MIN_EXPECTED
            ):
                return np.asarray(off)
    return np.zeros(table.shape, bool)


def _corner(
    table: Long,
    expected: Real,
    axes: list[int],
    many: list[int],
    back: list[bool],
    few: int,
) -> Flags:
    """Mark empty corners of a table that were to be expected full."""
    part = tuple(
        slice(0, many[axes.index(axis)]) if axis in axes else slice(None)
        for axis in (0, 1)
    )
    flips = tuple(axis for axis, flip in zip(axes, back, strict=True) if flip)
    seen, usual = (np.flip(x[part], flips).astype(float) for x in (table, expected))
    for axis in axes:
        seen, usual = np.cumsum(seen, axis=axis), np.cumsum(usual, axis=axis)
    held = _unlikely(seen, usual, few)
    # All cells of a corner that is empty are.
    for axis in axes:
        held = np.flip(np.maximum.accumulate(np.flip(held, axis), axis=axis), axis)
    out = np.zeros(table.shape, bool)
    out[part] = np.flip(held, flips)
    return out


def sharp_cuts(table: pa.Table) -> dict[str, list[float]]:
    """Return by column of numbers where levels of others begin or end sharply."""
    columns = {name: _numbers_and_levels(table[name]) for name in table.column_names}
    out: dict[str, list[float]] = {}
    for name, (values, _) in columns.items():
        if values is None:
            continue
        known = ~np.isnan(values)
        order = np.flatnonzero(known)[np.argsort(values[known], kind="stable")]
        best: dict[float, float] = {}
        for other, (_, codes) in columns.items():
            for evidence, at in _ends(values[order], codes[order]):
                if other != name:
                    best[at] = max(evidence, best.get(at, 0.0))
        ranked = sorted(best, key=lambda at: -best[at])[:_MAX_CUTS]
        if ranked:
            out[name] = sorted(ranked)
    return out


def _numbers_and_levels(column: pa.ChunkedArray) -> tuple[Real | None, Long]:
    """Return a column of many numbers, None for any other, and its levels.

    Those of numbers are whether there is one, or which code.
    """
    coded = coded_numbers(column)
    if coded is not None:
        levels = np.where(coded.absent, len(coded.labels), coded.codes) + 1
        return coded.numbers, levels
    if is_number(column.type):
        values = as_numbers(column)
        if len(np.unique(values[~np.isnan(values)])) > MOST_DISTINCT:
            return values, np.isnan(values).astype(np.int64)
    encoded: Any = column.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = pa.concat_arrays(encoded.chunks)
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    return None, np.asarray(
        encoded.indices.fill_null(len(encoded.dictionary)), np.int64
    )


def _ends(values: Real, codes: Long) -> list[tuple[float, float]]:
    """Return where levels begin or end sharply in sorted values, with the evidence."""
    out = []
    if not len(codes):
        return []
    first = np.full(int(codes.max()) + 1, len(codes))
    last = np.full(len(first), -1)
    np.minimum.at(first, codes, np.arange(len(codes)))
    np.maximum.at(last, codes, np.arange(len(codes)))
    for level in np.flatnonzero(last >= 0):
        low = int(np.searchsorted(values, values[first[level]], "left"))
        high = int(np.searchsorted(values, values[last[level]], "right"))
        for at, near, beyond in (
            (low, slice(low, low + _NEIGHBOURS), low),
            (high, slice(max(0, high - _NEIGHBOURS), high), len(values) - high),
        ):
            share = float((codes[near] == level).mean())
            evidence = share * min(beyond, _NEIGHBOURS)
            if evidence >= MIN_EXPECTED:
                out.append((evidence, float(values[at])))
    return out
