"""Levels that few people have: pooled, or shown as a level that enough people have.

A level of fewer than `min_group` people points at them, whatever else a copy changes.
Codes such as 01.11 are pooled to the longest beginning that enough of them share
(``01.1*``), other texts to "other", and numbers move to the nearest value that enough
people have; whole numbers above all of these become their mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.errors import InputError

DEFAULT_MIN_GROUP = 5
_CODE = re.compile(r"[A-Za-z]{0,3}\d[\dA-Za-z]*(?:[.\-/_][\dA-Za-z]+)*")
_MAX_CODE_LENGTH = 16
_SEPARATORS = ".-/_"
# A pool that is too small takes in the next level, if that has fewer people than so
# many groups: losing the name of a larger level would cost more than the few tell.
_MAX_GROUPS_TAKEN_IN = 4


@dataclass(frozen=True)
class GroupProtection:
    """What was done to a column so that it shows no small group.

    Attributes
    ----------
    pooled
        Levels of few people that became part of a pooled one.
    replaced
        Levels of few people that are shown as one that enough people have.
    missing
        Whether so few values were missing that none is in the copy.
    tails
        People whose number lies beyond what `min_group` people reach.
    """

    pooled: int = 0
    replaced: int = 0
    missing: bool = False
    tails: int = 0


@dataclass(frozen=True, eq=False)
class Pools:
    """The level of each value, and labels of the pooled levels with theirs.

    Values that are `hidden` are never shown: their level has another one that is.
    """

    level: Long
    hidden: Flags
    labels: tuple[str | int, ...]
    label_level: Long
    protection: GroupProtection


def check_min_group(min_group: int, records: int) -> None:
    """Refuse a size of groups that makes no sense for so many records."""
    if min_group < 0:
        raise InputError(
            f"least is {min_group}", expected="a number of people, or 0 for no guard"
        )
    if min_group > 1 and records < min_group:
        raise InputError(
            f"the data have {records} records",
            expected=f"at least {min_group}, the smallest group that a copy may show",
            hint="collect more records, or set least (--min-group 0 switches the guard "
            "off)",
        )


def pool_texts(values: list[str], counts: Real, min_group: int) -> Pools:
    """Pool the rare ones of some texts."""
    rare = counts < min_group
    groups: dict[str, list[int]] = {}
    rest = np.flatnonzero(rare).tolist()
    if rest and looks_like_codes(values):
        groups, rest = _by_beginning(values, counts, rest, min_group)
    taken = set(values) | set(groups)
    replaced: list[int] = []
    if rest:
        if counts[rest].sum() < min_group:
            rest += _next_level(counts, rare, min_group)
        if counts[rest].sum() >= min_group or len(rest) == len(values):
            groups[_free("other", taken)] = rest
        else:
            replaced = rest
    return _numbered(counts, groups, replaced)


def pool_others(counts: Real, min_group: int) -> Pools:
    """Show rare levels that have no name for a pool, of truth values say, as common."""
    rare = counts < min_group
    return _numbered(counts, {}, [] if rare.all() else np.flatnonzero(rare).tolist())


def round_numbers(
    numbers: Real, counts: Real, min_group: int, pool_tail: bool = False
) -> Pools:
    """Move rare numbers to the nearest one that enough people have.

    With `pool_tail` those above all such numbers are shown as one, their mean, if they
    are enough people: moved inwards, they would take much of the spread along. Below
    are special codes as a rule, whose mean means nothing.
    """
    rare = counts < min_group
    if rare.all() or not rare.any():
        return _numbered(counts, {}, [])
    common = np.flatnonzero(~rare)
    known = numbers[common]
    order = np.argsort(known)
    known = known[order]
    at = np.clip(np.searchsorted(known, numbers), 1, max(1, len(known) - 1))
    below, above = known[at - 1], known[np.minimum(at, len(known) - 1)]
    nearer = np.where(numbers - below <= above - numbers, at - 1, at)
    nearest = order[np.minimum(nearer, len(known) - 1)]
    level = np.empty(len(numbers), np.int64)
    level[common] = np.arange(len(common))
    level[rare] = nearest[rare]
    tail = numbers > known[-1]
    enough = pool_tail and counts[tail].sum() >= min_group
    if not enough or _far_off(numbers[tail], known):
        protection = GroupProtection(replaced=int(rare.sum()))
        return Pools(level, rare, (), np.zeros(0, np.int64), protection)
    level[tail] = len(common)
    label = _one_for(numbers[tail], counts[tail], numbers[rare])
    protection = GroupProtection(
        pooled=int(tail.sum()), replaced=int(rare.sum() - tail.sum())
    )
    return Pools(level, rare, (label,), np.array([len(common)]), protection)


def _far_off(tail: Real, known: Real) -> bool:
    """Say whether numbers beyond the others are so far off that they may be codes."""
    return bool(tail.max() - known[-1] > known[-1] - known[0])


def _one_for(numbers: Real, counts: Real, rare: Real) -> int:
    """Return a whole number that stands for a tail of few, none of whom has it.

    It is their mean; the largest counts as the one before, as it may be far off.
    """
    each = np.sort(np.repeat(numbers, counts.astype(np.int64)))
    mean = float(np.append(each[:-1], each[-2]).mean())
    near = np.rint(mean) + np.arange(-len(rare), len(rare) + 1)
    free = near[~np.isin(near, rare)]
    return int(free[np.abs(free - mean).argmin()])


def looks_like_codes(values: list[str]) -> bool:
    """Say whether texts are codes whose beginnings mean something."""
    return all(
        len(value) <= _MAX_CODE_LENGTH and _CODE.fullmatch(value) for value in values
    )


def _by_beginning(
    values: list[str], counts: Real, rare: list[int], min_group: int
) -> tuple[dict[str, list[int]], list[int]]:
    """Pool codes by the longest beginning that enough people share."""
    groups: dict[str, list[int]] = {}
    taken = set(values)
    rest = rare
    for length in range(max(len(values[i]) for i in rare) - 1, 0, -1):
        found: dict[str, list[int]] = {}
        for i in rest:
            start = values[i][:length].rstrip(_SEPARATORS)
            if len(start) == length < len(values[i]):
                found.setdefault(start, []).append(i)
        for start, mine in found.items():
            near = [label for label in groups if label.startswith(start)]
            if counts[mine].sum() < min_group and near:
                # Too few for a pool of their own: the smallest beside them widens.
                mine += groups.pop(min(near, key=lambda k: counts[groups[k]].sum()))
            if counts[mine].sum() >= min_group:
                groups[_free(start + "*", taken | set(groups))] = mine
        done = {i for mine in groups.values() for i in mine}
        rest = [i for i in rest if i not in done]
    return groups, rest


def _next_level(counts: Real, rare: Flags, min_group: int) -> list[int]:
    """Return the smallest level that a pool of too few people takes in."""
    near = np.flatnonzero(~rare & (counts < _MAX_GROUPS_TAKEN_IN * min_group))
    return [int(near[counts[near].argmin()])] if len(near) else []


def _free(label: str, taken: set[str]) -> str:
    """Return a label that no level has, in any case: an evaluation takes no heed."""
    known = {level.casefold() for level in taken}
    out, number = label, 1
    while out.casefold() in known:
        number += 1
        out = f"{label} ({number})"
    return out


def _numbered(counts: Real, groups: dict[str, list[int]], replaced: list[int]) -> Pools:
    hidden = np.zeros(len(counts), bool)
    hidden[[i for mine in groups.values() for i in mine]] = True
    hidden[replaced] = True
    level = np.full(len(counts), -1, np.int64)
    level[~hidden] = np.arange(int((~hidden).sum()))
    size = int((~hidden).sum())
    for k, mine in enumerate(groups.values()):
        level[mine] = size + k
    if replaced:
        level[replaced] = level[int(np.where(hidden, -1.0, counts).argmax())]
    return Pools(
        level,
        hidden,
        tuple(groups),
        size + np.arange(len(groups), dtype=np.int64),
        GroupProtection(int(hidden.sum()) - len(replaced), len(replaced)),
    )
