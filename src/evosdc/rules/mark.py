"""From rules and contributors to the status and the levels of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evosdc.rules.contributors import CellContributors, Marking, Numbers
from evosdc.table.rounding import significant
from evosdc.table.status import PRIMARY, SAFE


class Rule(Protocol):
    """Something that calls cells unsafe, and says how far each must be covered.

    Examples
    --------
    >>> import evosdc
    >>> rule: evosdc.Rule = evosdc.PPercent(10)
    >>> rule.name, rule.needs
    ('p', 2)
    """

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        ...

    @property
    def needs(self) -> int:
        """How many of the largest contributions it looks at."""
        ...

    def apply(self, contributors: CellContributors) -> Marking:
        """Return which cells are unsafe, their upper and their lower levels."""
        ...


@dataclass(frozen=True, eq=False)
class Marks:
    """Columns of a table: status and protection levels; and what each rule marked."""

    status: NDArray[np.str_]
    lpl: Numbers
    upl: Numbers
    spl: Numbers
    marked: tuple[tuple[str, int], ...] = ()


def mark(
    contributors: CellContributors,
    rules: Sequence[Rule],
    *,
    floor: float | Numbers = 0.0,
    whole: bool = False,
    counted: NDArray[np.bool_] | None = None,
) -> Marks:
    """Mark the cells that violate any rule, with the largest level any rule asks for.

    Parameters
    ----------
    floor
        The least a cell can be, as everyone knows, one for all or one for each: 1 for
        counts, 0 for magnitudes, minus infinity where contributions are negative. A
        lower level beyond it cannot be had, so it is cut there.
    whole
        Round levels up to whole numbers, at least 1, as tau-Argus does: in a table of
        counts, half a person more or less hides nobody.
    counted
        The cells that are counted for each rule; all where None.
    """
    n = len(contributors)
    unsafe = np.zeros(n, dtype=bool)
    upl, lpl = np.zeros(n), np.zeros(n)
    marked: dict[str, int] = {}
    for rule in rules:
        hit, up, down = rule.apply(contributors)
        shown = hit if counted is None else hit & counted
        marked[rule_text(rule)] = int(shown.sum())
        unsafe |= hit
        upl, lpl = np.maximum(upl, up), np.maximum(lpl, down)
    # Levels are read as decimals later on: without the dirt of floating point.
    upl, lpl = significant(upl, 12), significant(lpl, 12)
    if whole:
        least = unsafe.astype(np.float64)
        upl = np.maximum(np.ceil(upl), least)
        lpl = np.maximum(np.ceil(lpl), least)
    lpl = np.minimum(lpl, np.maximum(contributors.value - floor, 0.0))
    status = np.where(unsafe, PRIMARY, SAFE).astype("U1")
    return Marks(status, lpl, upl, np.zeros(n), tuple(marked.items()))


def rule_text(rule: Rule) -> str:
    """Write a rule as the command line takes it, defaults left out: ``p:10``."""
    given = [
        (getattr(rule, f.name), f.default)
        for f in fields(rule)  # type: ignore[arg-type]
        if f.name != "codes"
    ]
    while given and given[-1][0] == given[-1][1]:
        given.pop()
    words = [_word(x) for x, _ in given]
    return f"{rule.name}:{','.join(words)}" if words else rule.name


def _word(given: object) -> str:
    """Write a number in as few digits as read back as it; nothing where it is None."""
    if given is None:
        return ""
    if not isinstance(given, float):
        return str(given)
    short = f"{given:g}"
    return short if float(short) == given else repr(given)
