"""Prior knowledge: what everyone is assumed to know of cells beforehand.

Bounds decide how much a pattern protects, so all can be set. By default counts are
whole and at least 1 where a cell is listed, and magnitudes are not negative unless a
contribution to *that* cell is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.table.origin import AUTO
from evosdc.table.parts import linked_parts
from evosdc.table.rounding import significant
from evosdc.table.status import PRIMARY
from evosdc.table.structure import can_be_negative
from evosdc.table.table import Table

COLUMNS = "columns"
_DIGITS = 12  # significant ones of bounds and levels
BOUNDS = "auto, LOW:HIGH such as 0:inf, percent:P such as percent:50, or columns"

# Decimals at most of a common unit of all values, and the share of the smallest level
# below which a unit makes no difference: at half of it, finer units count as well.
_MAX_UNIT_DECIMALS = 3
_MIN_UNIT_SHARE = 0.1


def with_bounds(table: Table, spec: str) -> Table:
    """Return the table with the bounds that an attacker is assumed to know.

    Parameters
    ----------
    spec
        ``auto``: counts at least 1 where a cell is listed, magnitudes not negative
        unless a contribution to the cell is. ``LOW:HIGH``: the same for every cell.
        ``percent:50``: every cell to within 50 % of its value, and what `auto` says.
        ``columns``: as the table has them.
    """
    kind, low, high = read_bounds(spec)
    if kind == COLUMNS:
        return table.replace(origin=replace(table.origin, bounds=COLUMNS))
    if kind == "range":
        outside = np.flatnonzero((table.value < low) | (table.value > high))
        if len(outside):
            raise InputError(
                f"{len(outside)} cells lie outside the bounds {spec}, the first: "
                f"{table.label(int(outside[0]))}",
                expected="bounds that every true value keeps",
                hint="widen the bounds, or use auto",
            )
        lower, upper = np.full(len(table), low), np.full(len(table), high)
    else:
        lower, upper = _natural(table), np.full(len(table), np.inf)
        if kind == "percent":
            width = low / 100.0 * np.abs(table.value)
            # Bounds are read as decimals later on, so rounding errors are removed.
            lower = np.maximum(significant(table.value - width, _DIGITS), lower)
            upper = significant(table.value + width, _DIGITS)
    return table.replace(
        lower=lower, upper=upper, origin=replace(table.origin, bounds=spec)
    )


def with_threshold(table: Table, threshold: int) -> Table:
    """Return the table for an attacker who knows the minimum frequency.

    A hidden sensitive count is then known to lie below it. Levels are cut to the bounds
    that follow, since published knowledge cannot be protected.
    """
    if not table.origin.counts:
        raise InputError(
            f"a published threshold of {threshold} for a table that is not of counts",
            expected="a table of counts",
            hint="say so (--counts), or leave the threshold out",
        )
    if threshold < 2:
        raise InputError(
            f"a published threshold of {threshold}",
            expected="2 or more: cells below it are sensitive",
        )
    low = (table.status == PRIMARY) & (table.value < threshold)
    upper = np.where(low, np.minimum(table.upper, threshold - 1.0), table.upper)
    lower = np.where(low, np.maximum(table.lower, 0.0), table.lower)
    upl = np.where(low, np.minimum(table.upl, upper - table.value), table.upl)
    lpl = np.where(low, np.minimum(table.lpl, table.value - lower), table.lpl)
    cut = int(((upl < table.upl) | (lpl < table.lpl)).sum())
    words = f"levels of {cut:,} cells cut to what a published threshold leaves"
    by_hand = (*table.origin.by_hand, words) if cut else table.origin.by_hand
    return table.replace(
        lower=lower,
        upper=upper,
        upl=upl,
        lpl=lpl,
        origin=replace(table.origin, threshold=threshold, by_hand=by_hand),
    )


def as_counts(table: Table) -> Table:
    """Return the table as one of counts of people or firms, known to be whole."""
    odd = np.flatnonzero((table.value != np.rint(table.value)) | (table.value < 0))
    if len(odd):
        raise InputError(
            f"{len(odd)} cells are no counts, the first: {table.label(int(odd[0]))}",
            expected="whole numbers of 0 or more in every cell",
            hint="leave --counts out for magnitudes",
        )
    counted = table.replace(origin=replace(table.origin, counts=True))
    if counted.origin.bounds == AUTO:
        return with_bounds(counted, AUTO)
    return counted


def with_whole_numbers(table: Table, declared: bool | None = None) -> Table:
    """Return the table with what everyone knows of whole numbers in it.

    Of employees, vehicles or thousands of euros without decimals everyone sees that all
    values are whole. Counts of people or firms are whole anyway.

    Parameters
    ----------
    declared
        True, even where some cells are not whole: deviations are then whole. False
        where attackers are assumed not to know it. None: as the table says, or else its
        values.
    """
    origin = table.origin
    if origin.counts:
        if declared is False:
            raise InputError(
                "counts that are not known to be whole numbers",
                expected="a table of magnitudes",
                hint="say that the cells count nothing: --magnitudes "
                "(Prior(counts=False))",
            )
        return table
    known = origin.whole if declared is None else declared
    if known is None:
        known = all_whole(table)
    if known == origin.whole:
        return table
    return table.replace(origin=replace(origin, whole=known))


def all_whole(table: Table) -> bool:
    """Whether all values that a table shows, hidden or not, are whole numbers."""
    value = table.value[table.shown]
    # Larger doubles cannot have fractions.
    return bool(np.all((value == np.rint(value)) & (np.abs(value) < 2.0**53)))


def in_whole_numbers(table: Table) -> Table:
    """Return a table of whole magnitudes with levels and bounds in whole numbers.

    Levels are rounded up: an interval from 4.2 to 5.9 discloses the value 5, so half a
    unit protects nothing. They are cut to bounds, which are rounded inwards. A table of
    magnitudes not known to be whole is returned unchanged, and a table of counts, whose
    levels are whole already.
    """
    if not table.origin.whole or table.origin.counts:
        return table
    whole = table.value == np.rint(table.value)
    lower = np.where(whole, np.minimum(np.ceil(table.lower), table.value), table.lower)
    upper = np.where(whole, np.maximum(np.floor(table.upper), table.value), table.upper)
    above, below = table.upper - table.value, table.value - table.lower
    upl = _whole_level(table.upl, above)
    lpl = _whole_level(table.lpl, below)
    spl = _whole_level(table.spl, above + below)
    raised = (upl > table.upl) | (lpl > table.lpl) | (spl > table.spl)
    raised &= table.status == PRIMARY
    return table.replace(
        lower=lower,
        upper=upper,
        upl=upl,
        lpl=lpl,
        spl=spl,
        origin=replace(table.origin, raised=table.origin.raised + int(raised.sum())),
    )


def _whole_level(
    level: NDArray[np.float64], room: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Round levels up, but those within their bounds not beyond these."""
    # Rounding errors must not add or remove a unit.
    up = np.ceil(significant(level, _DIGITS))
    bounded = np.isfinite(room)
    most = np.floor(significant(np.where(bounded, room, 0.0), _DIGITS))
    return np.where(bounded & (level <= room), np.minimum(up, most), up)


def read_bounds(spec: str) -> tuple[str, float, float]:
    """Read a text such as ``0:inf``: its kind, and one or two numbers."""
    words = spec.strip().lower()
    if words in (AUTO, COLUMNS):
        return words, 0.0, 0.0
    first, sign, second = words.partition(":")
    try:
        if sign and first == "percent":
            percent = float(second)
            if 0 < percent < np.inf:
                return "percent", percent, 0.0
        elif sign:
            low, high = float(first), float(second)
            if low < high:
                return "range", low, high
    except ValueError:
        pass
    raise InputError(
        f"unknown bounds {spec!r}", expected=BOUNDS, hint="use one of them"
    )


def knowledge_words(table: Table) -> str:
    """Describe in a sentence what an attacker is assumed to know of each cell."""
    origin = table.origin
    kind, low, high = read_bounds(origin.bounds)
    open_below = int(np.isneginf(table.lower).sum())
    whole = "whole numbers" if origin.in_whole else ""
    if origin.whole and not origin.counts:
        odd = int((table.shown & (table.value != np.rint(table.value))).sum())
        whole += f" (declared: {odd:,} cells are not)" if odd else ""
    if kind == COLUMNS:
        parts = ["bounds cell by cell, as the table gives them"]
    elif kind == "range":
        parts = [f"every cell lies between {low:g} and {high:g}"]
    else:
        parts = [f"every cell to within {low:g} % of its value"] * (kind == "percent")
        if origin.counts and origin.zeros:
            parts.append("at least 0: empty cells may be hidden too")
        elif origin.counts:
            parts.append("at least 1 in every cell that is listed")
        elif open_below:
            parts.append(
                f"not negative, but for {open_below:,} cells with negative "
                "contributions, of which no lower bound is known"
            )
        else:
            parts.append("not negative")
    if _has_unlisted(table):
        parts.append("combinations that are not listed are empty")
    if origin.threshold is not None:
        parts.append(f"sensitive counts are known to be below {origin.threshold}")
    unit = unjudged_unit(table)
    if unit is not None:
        parts.append(f"that all values are multiples of {unit:g} was not judged")
    if kind == "range" and bool((_natural(table) > low).any()):
        what = (
            "somebody is in every cell that is listed"
            if origin.counts
            else "cells are not negative"
        )
        parts.append(f"weaker attackers than by default, who do not know that {what}")
    return (
        ("counts" if origin.counts else "magnitudes")
        + ": "
        + "; ".join(([whole] if whole else []) + parts)
    )


def unjudged_unit(table: Table) -> float | None:
    """Return the common unit of all values shown, where levels are not far above it.

    Attackers may know the unit, as they know whole numbers, and then exclude witnesses
    with other multiples. Far below the levels that makes no difference.
    """
    levels = np.concatenate([table.upl, table.lpl, table.spl])
    levels = levels[levels > 0]
    values = np.abs(table.value[table.shown])
    if not len(levels) or not values.any():
        return None
    for digits in range(_MAX_UNIT_DECIMALS + 1):
        steps = np.round(values, digits) * 10.0**digits
        if steps.max() >= 2.0**53:
            return None
        if np.array_equal(np.round(values, digits), values):
            unit = int(np.gcd.reduce(np.rint(steps).astype(np.int64))) / 10**digits
            judged = 1.0 if table.origin.in_whole else 0.0
            near = unit > _MIN_UNIT_SHARE * float(levels.min())
            return unit if near and unit > judged else None
    return None


def _has_unlisted(table: Table) -> bool:
    """Whether some combinations of the finest codes have no cell."""
    for part in linked_parts(table):
        inner = np.ones(len(part.cells), dtype=bool)
        expected = 1.0
        for k, leaf in zip(part.dimensions, part.finest(table), strict=True):
            inner &= leaf[table.codes[part.cells, k]]
            expected *= float(leaf.sum())
        if part.dimensions and int(inner.sum()) < expected:
            return True
    return False


def _natural(table: Table) -> NDArray[np.float64]:
    if table.origin.counts:
        return np.where((table.value > 0) & (not table.origin.zeros), 1.0, 0.0)
    # Open lower bounds of the table already mark negative contributions.
    negative = (table.value < 0) | (
        np.isneginf(table.lower) & (table.origin.bounds == AUTO)
    )
    return np.where(can_be_negative(table.matrix, negative), -np.inf, 0.0)
