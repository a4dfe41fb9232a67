"""An attacker who has what is published, the rules, and a solver; no package.

For every sensitive cell: the largest and the smallest value that fits what is
published and what everyone knows beforehand; then the same for everyone who is alone
in some cell and so knows it. What comes closer than the levels allow is a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from naive_tables import Cell, Design, Key, groups_of, lines
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

HIDDEN = "x"
# How much closer than asked counts as solved no better than asked.
_LOOSE = 1e-6
_STILL = 1e-7


@dataclass(frozen=True)
class Finding:
    """A sensitive cell that somebody gets closer to than its levels allow."""

    cell: Key
    who: str
    what: str
    reached: float
    asked: float


@dataclass(frozen=True)
class Knowledge:
    """What the claim says that attackers know, and how far cells must be protected.

    Attributes
    ----------
    percent
        Everyone knows every cell to within so many per cent.
    threshold
        The minimum frequency, where it is published.
    known
        Cells published before.
    strict
        Whether levels must be exceeded.
    insiders
        Whether those who are alone in cells attack too.
    wished
        Cells that an office wants hidden: they must not be worked out exactly.
    secondaries
        Whether no hidden cell at all may be worked out exactly.
    fractions
        Whether combinations of whole numbers were not judged, or not those of cells
        that count nothing: intervals are rounded inwards to whole numbers then.
    """

    percent: float | None = None
    threshold: int | None = None
    known: frozenset[Key] = frozenset()
    strict: bool = False
    insiders: bool = True
    wished: frozenset[Key] = frozenset()
    secondaries: bool = False
    fractions: bool = False


def read_published(
    rows: Iterable[Mapping[str, Any]], design: Design
) -> dict[Key, float | None]:
    """Published values by cell, None where hidden; a variable left out is at its total.

    Raises
    ------
    ValueError
        Where a cell is hidden in one file and published in another: what is hidden must
        be hidden everywhere.
    """
    found: dict[Key, float | None] = {}
    levels = {
        name: [name, *(f"{name}_{depth}" for depth in range(1, design.deepest(name)))]
        for name in design.names
    }
    for row in rows:
        # A level of a variable has a column of its own.
        key = tuple(
            next((str(row[c]) for c in levels[name] if c in row), "Total")
            for name in design.names
        )
        value = None if row["status"] == HIDDEN else float(row["value"])
        if key in found and found[key] != value:
            raise ValueError(f"{key} differs between published files")
        found[key] = value
    return found


class Attacker:
    """The system of everything hidden, and what fits it."""

    def __init__(
        self,
        published: Mapping[Key, float | None],
        cells: Mapping[Key, Cell],
        design: Design,
        knowledge: Knowledge,
    ) -> None:
        self.cells, self.design, self.knowledge = dict(cells), design, knowledge
        for key in published:
            self.cells.setdefault(key, Cell(*_NOBODY, {}))
        known = knowledge.known
        self.hidden = [k for k in published if published[k] is None and k not in known]
        self.place = {key: i for i, key in enumerate(self.hidden)}
        # Who sees whole numbers only thinks of whole numbers.
        self.whole = all(self.cells[k].value.denominator == 1 for k in published)
        self.value = np.array([float(self.cells[k].value) for k in self.hidden])
        self._equations(published)
        self.low, self.high = self._bounds()
        self.parts: dict[int, _Part] = {}

    def _equations(self, published: Mapping[Key, float | None]) -> None:
        row, column, sign, n = [], [], [], 0
        for line in lines(self.design, list(published)):
            free = [k for k in line if k in self.place]
            shown = sum(
                (-1.0 if k == line[0] else 1.0) * self._number(k, published)
                for k in line
                if k not in self.place
            )
            true = sum(
                (-1.0 if k == line[0] else 1.0) * float(self.cells[k].value)
                for k in free
            )
            scale = max(1.0, *(abs(float(self.cells[k].value)) for k in line))
            if abs(shown + true) > 1e-6 * scale:
                raise ValueError(f"what is published of {line[0]} does not add up")
            for k in free:
                row.append(n)
                column.append(self.place[k])
                sign.append(-1.0 if k == line[0] else 1.0)
            n += bool(free)
        shape = (n, len(self.hidden))
        self.matrix = csr_array((sign, (row, column)), shape=shape)
        joined = self.matrix.T @ self.matrix
        _, self.component = connected_components(joined, directed=False)

    def _number(self, key: Key, published: Mapping[Key, float | None]) -> float:
        shown = published[key]
        return float(self.cells[key].value) if shown is None else shown

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.zeros(len(self.hidden)), np.full(len(self.hidden), np.inf)
        design, given = self.design, self.knowledge
        for i, key in enumerate(self.hidden):
            cell = self.cells[key]
            if design.counts:
                low[i] = 0.0 if design.groups else 1.0
            elif cell.negative:
                low[i] = -np.inf
            if given.percent is not None:
                width = given.percent / 100 * abs(self.value[i])
                low[i] = max(low[i], self.value[i] - width)
                high[i] = self.value[i] + width
            few = given.threshold is not None and cell.value < given.threshold
            if few and cell.sensitive:
                high[i] = min(high[i], given.threshold - 1.0)
        return (np.ceil(low), np.floor(high)) if self.whole else (low, high)

    def furthest(
        self, weights: Mapping[Key, float], asked: float, fixed: frozenset[int]
    ) -> float:
        """How far a sum of cells can be from its true value, up to what is asked."""
        goal = {self.place[k]: w for k, w in weights.items() if k in self.place}
        if not goal or asked <= 0:
            return 0.0
        number = self.component[next(iter(goal))]
        if any(self.component[i] != number for i in goal):
            # Sums of several parts of the table: each may go as far as it can.
            return max(self.furthest({self.hidden[i]: goal[i]}, asked, fixed)
                       for i in goal)  # fmt: skip
        if number not in self.parts:
            self.parts[number] = _Part(self, int(number))
        return self.parts[number].furthest(goal, asked, fixed)

    def interval(
        self, key: Key, down: float, up: float, own: frozenset[int] = frozenset()
    ) -> tuple[float, float]:
        """How far below and above its value a cell can be, up to what is asked."""
        below = self.furthest({key: -1.0}, down, own)
        above = self.furthest({key: 1.0}, up, own)
        if self.whole:
            return float(np.floor(below + _LOOSE)), float(np.floor(above + _LOOSE))
        return below, above


class _Part:
    """Hidden cells that equations tie together, and the tables found to fit them."""

    def __init__(self, attacker: Attacker, number: int) -> None:
        self.index = np.flatnonzero(attacker.component == number)
        self.at = {int(i): j for j, i in enumerate(self.index)}
        part = attacker.matrix[:, self.index]
        used = np.flatnonzero(np.diff(part.indptr))
        self.matrix = part[used]
        value = attacker.value[self.index]
        self.low, self.high = (
            attacker.low[self.index] - value,
            attacker.high[self.index] - value,
        )
        # HiGHS calls whole numbers within half of one infeasible: bounds are whole.
        self.whole = attacker.whole and not attacker.knowledge.fractions
        self.found = np.zeros((1, len(self.index)))

    def furthest(
        self, goal: Mapping[int, float], asked: float, fixed: frozenset[int]
    ) -> float:
        weights = np.zeros(len(self.index))
        for i, weight in goal.items():
            weights[self.at[i]] = weight
        own = [self.at[i] for i in fixed if i in self.at]
        # A table that was found before will do, if it leaves alone what is known.
        still = (np.abs(self.found[:, own]) < _STILL).all(axis=1)
        best = float((self.found[still] @ weights).max(initial=0.0))
        if best >= asked * (1 - 1e-9):
            return asked
        low, high = self.low.copy(), self.high.copy()
        low[own], high[own] = 0.0, 0.0
        limits = [LinearConstraint(weights[None, :], -np.inf, asked)]
        if self.matrix.shape[0]:
            limits.append(LinearConstraint(self.matrix, 0.0, 0.0))
        for presolve in (True, False):
            solved = milp(
                -weights,
                constraints=limits,
                bounds=Bounds(low, high),
                integrality=np.ones(len(weights)) if self.whole else None,
                options={"presolve": presolve},
            )
            # The true table fits: a solver that finds none is asked again.
            if solved.x is not None:
                break
        else:
            raise ArithmeticError(f"the solver gave up: {solved.message}")
        table = np.rint(solved.x) if self.whole else solved.x
        self.found = np.vstack([self.found, table])
        return max(best, float(table @ weights))


_NOBODY = (Fraction(0), Fraction(0))


def attack(
    published: Mapping[Key, float | None],
    cells: Mapping[Key, Cell],
    design: Design,
    knowledge: Knowledge,
) -> list[Finding]:
    """Attack what is published; what is found says that it is not safe."""
    attacker = Attacker(published, cells, design, knowledge)
    sensitive = [k for k, c in attacker.cells.items() if c.sensitive]
    sensitive += [k for k in knowledge.wished if not attacker.cells[k].sensitive]
    found = [
        Finding(k, "everyone", "published", 0.0, 0.0)
        for k in sensitive
        if k not in attacker.place
    ]
    asked = {k: _asked(attacker, k) for k in sensitive if k in attacker.place}
    for key, (down, up) in asked.items():
        found += _closer(attacker, key, down, up, "everyone", frozenset())
    if knowledge.secondaries:
        found += [
            Finding(k, "everyone", "published", 0.0, 0.0)
            for k, value in published.items()
            if value is None and k in knowledge.known and k not in sensitive
        ]
        for key in attacker.hidden:
            if key not in asked:
                found += _closer(attacker, key, 0.0, 0.0, "everyone", frozenset())
    if design.groups:
        found += _attributes(attacker, "everyone", frozenset())
    if not knowledge.insiders:
        return found
    exposed = {finding.cell for finding in found}
    for who, mine in _insiders(attacker).items():
        if design.groups:
            found += _attributes(attacker, who, mine)
        for key, (down, up) in asked.items():
            cell = attacker.cells[key]
            if cell.alone == who or key in exposed:
                continue
            if not cell.negative:
                # Nobody believes a total below their own contribution.
                own = float(cell.members.get(who, 0))
                down = min(down, max(0.0, float(cell.value) - own))
            found += _closer(attacker, key, down, up, who, mine)
    return found


def _asked(attacker: Attacker, key: Key) -> tuple[float, float]:
    cell = attacker.cells[key]
    down, up = float(cell.lpl), float(cell.upl)
    threshold = attacker.knowledge.threshold
    if threshold is not None and cell.value < threshold:
        up = min(up, threshold - 1.0 - float(cell.value))
    at = attacker.place[key]
    under = attacker.value[at] - attacker.low[at]
    above = attacker.high[at] - attacker.value[at]
    if attacker.whole:
        # Half a unit is none; between a bound and the next whole number is nothing.
        down = min(np.ceil(down), under) if down < under + 1 else np.ceil(down)
        up = min(np.ceil(up), above) if up < above + 1 else np.ceil(up)
    if attacker.knowledge.strict:
        scale = max(1.0, abs(float(cell.value)))
        margin = 1.0 if attacker.whole else 1e-6 * scale
        # Nobody can be made to believe beyond a bound.
        down = min(down + margin, max(down, under))
        up = min(up + margin, max(up, above))
    return down, up


def _closer(
    attacker: Attacker, key: Key, down: float, up: float, who: str, mine: frozenset[int]
) -> list[Finding]:
    scale = max(1.0, abs(float(attacker.cells[key].value)))
    if down <= 0 and up <= 0:
        low, high = attacker.interval(key, scale, scale, mine)
        point = low + high <= _STILL * scale
        return [Finding(key, who, "a point", low + high, 0.0)] if point else []
    low, high = attacker.interval(key, down, up, mine)
    slack = _LOOSE * scale if not attacker.knowledge.strict else _STILL * scale
    found = []
    if low < down - slack:
        found.append(Finding(key, who, "not below", low, down))
    if high < up - slack:
        found.append(Finding(key, who, "not above", high, up))
    if low + high <= min(_STILL * scale, 0.5 * max(down, up)):
        found.append(Finding(key, who, "a point", low + high, 0.0))
    return found


def _attributes(attacker: Attacker, who: str, mine: frozenset[int]) -> list[Finding]:
    """Groups of whom it is certain that everybody is in one category."""
    found = []
    real = {key: cell for key, cell in attacker.cells.items() if cell.rows}
    for group in groups_of(real, attacker.design):
        if attacker.cells[group.total].alone == who:
            continue
        others = dict.fromkeys(group.empty, 1.0)
        if attacker.furthest(others, 1.0, mine) < 1.0 - _LOOSE:
            found.append(Finding(group.full, who, "the whole group", 0.0, 1.0))
    return found


def _insiders(attacker: Attacker) -> dict[str, frozenset[int]]:
    """Hidden cells that someone is alone in and so knows."""
    own: dict[str, set[int]] = {}
    for i, key in enumerate(attacker.hidden):
        who = attacker.cells[key].alone
        if who is not None:
            own.setdefault(who, set()).add(i)
    return {who: frozenset(cells) for who, cells in own.items()}


def mutants(
    published: Mapping[Key, float | None], cells: Mapping[Key, Cell]
) -> Sequence[dict[Key, float | None]]:
    """The same publication with one more cell published, for each hidden one."""
    return [
        {**published, key: float(cells[key].value)}
        for key, value in published.items()
        if value is None and key in cells
    ]
