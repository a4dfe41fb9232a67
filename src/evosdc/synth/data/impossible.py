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
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.metrics.binning import MOST_DISTINCT, as_numbers, is_number
from evosdc.metrics.coded_numbers import coded_numbers
from evosdc.synth.data.derived import EXCEPTIONS
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes, Ints, cell_numbers, strides
from evosdc.synth.data.variable import Variable

Floats = NDArray[np.float64]
Cells = tuple[tuple[int, ...], NDArray[np.bool_]]

# An empty cell is evidence where chance alone would fill it with so many people: it
# stays empty with a probability of one in 160,000.
EXPECTED = 12.0
# One number is always above another where so many times as many were to be otherwise.
_ORDERED = 4
_MOST_CELLS = 1 << 20
# A level begins or ends sharply by the shares of so many people on each side.
_NEAR = 200
_MOST_CUTS = 12


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

    def words(self) -> str:
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
        if many > _MOST_CELLS or min(sizes[a], sizes[b]) < 2:
            continue
        # The first of the pair has stride 1: rows are levels of the second.
        shape = (int(sizes[b]), int(sizes[a]))
        table = np.bincount(cell_numbers(codes, stride), minlength=many).reshape(shape)
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        expected = np.outer(rows, columns) / len(codes)
        axes = [_order(domain.variables[b]), _order(domain.variables[a])]
        empty = _for_a_reason(table, expected, axes, max(1, few))
        if table[empty].sum() > EXCEPTIONS * len(codes):
            # So many make a tail of a distribution, and no exceptions to a rule.
            empty = _for_a_reason(table, expected, axes, 1)
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
    if variable.inside is not None:
        return len(variable.inside.first) - 1
    if variable.edges is not None or not variable.ordered:
        return 0
    return variable.size - (variable.missing >= 0)


def _unlikely(seen: Floats, expected: Floats, few: int) -> NDArray[np.bool_]:
    """Say where so few people are hardly chance: as unlikely as an empty cell is."""
    term = np.exp(-np.minimum(expected, 700.0))
    chance = term.copy()
    for k in range(1, few):
        term = term * expected / k
        chance += np.where(seen >= k, term, 0.0)
    return (seen < few) & (chance <= np.exp(-EXPECTED))


def _for_a_reason(
    table: Ints, expected: Floats, ordered: list[int], few: int
) -> NDArray[np.bool_]:
    """Mark cells of fewer than `few` people where that is hardly chance."""
    empty = _empty(table, expected, ordered, few)
    return empty | _but_the_usual(table, expected, ordered, few)


def _empty(
    table: Ints, expected: Floats, ordered: list[int], few: int
) -> NDArray[np.bool_]:
    """Mark the cells that are empty, or nearly, for a reason."""
    out = _unlikely(table.astype(float), expected, few)
    for axis, many in enumerate(ordered):
        if many < 2:
            continue
        # Runs from either end of one variable, for each level of the other.
        for back in (False, True):
            out |= _corner(table, expected, [axis], [many], [back], few)
    if min(ordered) >= 2:
        for first in (False, True):
            for second in (False, True):
                out |= _corner(table, expected, [0, 1], ordered, [first, second], few)
    return out


def _but_the_usual(
    table: Ints, expected: Floats, ordered: list[int], few: int
) -> NDArray[np.bool_]:
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


def _by_one_level(
    table: Ints, expected: Floats, axis: int, few: int
) -> NDArray[np.bool_]:
    """Mark all but the one level that those of a level of the other variable have."""
    usual = table == table.max(axis=axis, keepdims=True)
    seen, chance = (
        np.where(usual, 0, x).sum(axis=axis, keepdims=True) for x in (table, expected)
    )
    return np.asarray(_unlikely(seen.astype(float), chance, few) & ~usual)


def _spans(variable: Variable) -> Floats | None:
    """Return the lowest and the highest number of each level, NaN where it is none.

    Numbers may be written as texts, with a few codes among them.
    """
    many = _order(variable)
    out = np.full((variable.size, 2), np.nan)
    if pa.types.is_string(variable.type) and variable.inside is None:
        coded = coded_numbers(variable.values, most_distinct=1)
        if coded is None:
            return None
        shown = (variable.weight > 0) & ~np.isnan(coded.numbers)
        np.fmin.at(out[:, 0], variable.level[shown], coded.numbers[shown])
        np.fmax.at(out[:, 1], variable.level[shown], coded.numbers[shown])
        return out
    if many < 2:
        return None
    if variable.inside is not None:
        first, ends = variable.inside.first, variable.inside.ends
        out[:many, 0] = np.minimum.reduceat(ends[:, 0], first[:-1])
        out[:many, 1] = np.maximum.reduceat(ends[:, 1], first[:-1])
        return out
    shown = variable.weight > 0
    numbers = as_numbers(variable.values)[shown]
    np.fmin.at(out[:, 0], variable.level[shown], numbers)
    np.fmax.at(out[:, 1], variable.level[shown], numbers)
    return out


def _never_below(
    table: Ints, expected: Floats, rows: Floats, columns: Floats
) -> NDArray[np.bool_]:
    """Mark where the number of the row would not be above that of the column.

    It is always above, or never below, where chance would have many people otherwise;
    then it is so of numbers that few have, too.
    """
    with np.errstate(invalid="ignore"):
        for off in (
            rows[:, 1][:, None] <= columns[:, 0],
            rows[:, 1][:, None] < columns[:, 0],
        ):
            if table[off].sum() == 0 and expected[off].sum() >= _ORDERED * EXPECTED:
                return np.asarray(off)
    return np.zeros(table.shape, bool)


def _corner(
    table: Ints,
    expected: Floats,
    axes: list[int],
    many: list[int],
    back: list[bool],
    few: int,
) -> NDArray[np.bool_]:
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
    numbers = {}
    for name in table.column_names:
        amounts = _numbers(table.column(name))
        if amounts is not None:
            numbers[name] = amounts
    levels = {name: _levels(table.column(name)) for name in table.column_names}
    out: dict[str, list[float]] = {}
    for name, values in numbers.items():
        known = ~np.isnan(values)
        order = np.flatnonzero(known)[np.argsort(values[known], kind="stable")]
        found = [
            cut
            for other, codes in levels.items()
            if other != name
            for cut in _ends(values[order], codes[order])
        ]
        best: dict[float, float] = {}
        for evidence, at in found:
            best[at] = max(evidence, best.get(at, 0.0))
        ranked = sorted(best, key=lambda at: -best[at])[:_MOST_CUTS]
        if ranked:
            out[name] = sorted(ranked)
    return out


def _numbers(column: pa.ChunkedArray) -> Floats | None:
    """Return a column of many numbers; None for any other."""
    coded = coded_numbers(column)
    if coded is not None:
        return coded.numbers
    if not is_number(column.type):
        return None
    values = as_numbers(column)
    return values if len(np.unique(values[~np.isnan(values)])) > MOST_DISTINCT else None


def _levels(column: pa.ChunkedArray) -> Ints:
    """Number the levels of a column; of numbers whether there is one, or which code."""
    coded = coded_numbers(column)
    if coded is not None:
        return np.where(coded.absent, len(coded.labels), coded.codes) + 1
    if is_number(column.type):
        values = as_numbers(column)
        if len(np.unique(values[~np.isnan(values)])) > MOST_DISTINCT:
            return np.isnan(values).astype(np.int64)
    encoded: Any = column.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = pa.concat_arrays(encoded.chunks)
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    filled = encoded.indices.fill_null(len(encoded.dictionary))
    return np.asarray(filled, np.int64)


def _ends(values: Floats, codes: Ints) -> list[tuple[float, float]]:
    """Return where levels begin or end sharply in sorted values, with the evidence."""
    out = []
    if not len(codes):
        return []
    first = np.full(int(codes.max()) + 1, len(codes))
    last = np.full(len(first), -1)
    np.minimum.at(first, codes, np.arange(len(codes)))
    np.maximum.at(last, codes, np.arange(len(codes)))
    for level in np.flatnonzero(last >= 0):
        low = np.searchsorted(values, values[first[level]], "left")
        if low > 0:
            near = codes[low : low + _NEAR] == level
            evidence = float(near.mean()) * min(int(low), _NEAR)
            if evidence >= EXPECTED:
                out.append((evidence, float(values[low])))
        high = np.searchsorted(values, values[last[level]], "right")
        if high < len(values):
            near = codes[max(0, high - _NEAR) : high] == level
            evidence = float(near.mean()) * min(len(values) - int(high), _NEAR)
            if evidence >= EXPECTED:
                out.append((evidence, float(values[high])))
    return out
