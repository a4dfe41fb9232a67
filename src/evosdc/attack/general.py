"""Witnesses in any table: small moves, local programs, and last the whole program.

A witness found among few cells is a witness of the whole table, so the cheap methods
come first (Smith et al. 2011 call for fewer programs; here most levels need none).
In tables of whole numbers a witness has to be whole: where a linear program gives
fractions, an integer program decides. For magnitudes one that would take long is not
solved to its end: the table with fractions is a witness of the interval rounded
inwards.
"""

from __future__ import annotations

from copy import copy
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.attack import move_kernels
from evosdc.attack.certificate import Witness
from evosdc.attack.exact import exact_vertex
from evosdc.attack.hints import Places
from evosdc.attack.ledger import Ledger, Unfinished
from evosdc.attack.model import AttackModel
from evosdc.attack.program import Program, whole_move

_SMALL_MOVE_TRIES = 40
# Cells that each equation adds to a neighbourhood, tried one after the other, and the
# most cells of a neighbourhood.
_PER_EQUATION = (5, 12)
_MAX_LOCAL_CELLS = 3000
_GRID = 10**6  # units in a level of a local program
_CLOSE = 3e-9  # of the level: how near to a bound a cell counts as at the bound
# Limits of an integer program where a table with fractions is accepted as well.
_MAX_NODES, _MAX_INTEGER_CELLS = 50, 2000
_UNBOUNDED = 1e15  # a bound this many times the level is no bound to the solver
_LOCAL_ROOM = 1e6  # levels of room: more makes no difference to a local program


class _Columns:
    """The split columns of some cells: going up, then going down."""

    def __init__(self, attacker: AttackModel, cells: NDArray[np.int64]) -> None:
        self.cells = cells
        at_up = np.flatnonzero(attacker.up_size[cells] > 0)
        at_down = np.flatnonzero(attacker.down_size[cells] > 0)
        self.cell = np.concatenate([cells[at_up], cells[at_down]])
        self.sign = np.repeat([1, -1], [len(at_up), len(at_down)])
        self.size = np.concatenate(
            [attacker.up_size[cells[at_up]], attacker.down_size[cells[at_down]]]
        )
        self.place = {
            key: j
            for j, key in enumerate(
                zip(self.cell.tolist(), self.sign.tolist(), strict=True)
            )
        }
        self.rows = _equations(attacker.columns, self.cell, self.sign)
        self.room = [attacker.room(c, s) for c, s in self.place]

    def column(self, cell: int, sign: int) -> int:
        return self.place.get((cell, sign), -1)

    def net(self, numerators: list[int]) -> dict[int, int]:
        """Return the net move of each cell."""
        moves: dict[int, int] = {}
        for j, number in enumerate(numerators):
            if number:
                cell = int(self.cell[j])
                moves[cell] = moves.get(cell, 0) + number * int(self.sign[j])
        return {cell: move for cell, move in moves.items() if move}


def _equations(columns: Any, cells: NDArray[np.int64], signs: NDArray[np.int64]) -> Any:
    """Return the equations of some columns (CSC), each times a sign, as CSR.

    Its time depends on these columns alone, not on the size of the table.
    """
    begin = columns.indptr[cells].astype(np.int64)
    many = columns.indptr[cells + 1] - begin
    ends = np.cumsum(many)
    entry = np.repeat(begin - ends + many, many) + np.arange(int(many.sum()))
    rows, place = np.unique(columns.indices[entry], return_inverse=True)
    order = np.argsort(place, kind="stable")
    data = (columns.data[entry] * np.repeat(signs, many))[order]
    column = np.repeat(np.arange(len(cells)), many)[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=len(rows)))])
    return sparse.csr_array((data, column, starts), shape=(len(rows), len(cells)))


class GeneralFinder:
    """Finds witnesses in a table of any kind."""

    def __init__(
        self,
        attacker: AttackModel,
        deadline: float | None = None,
        places: Places | None = None,
    ) -> None:
        self.attacker = attacker
        self.deadline = deadline
        self._suggested = places or {}
        rows, columns = attacker.rows, attacker.columns
        starts = columns.indptr.astype(np.int64)
        of_rows = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
        of_columns = starts, columns.indices.astype(np.int64)
        self._equations = (*of_rows, *of_columns)
        self._in_none = np.diff(starts) == 0
        # The fewest free cells of an equation of each cell.
        freedom = np.full(len(attacker.free), np.inf)
        cell = np.repeat(np.arange(len(attacker.free)), np.diff(starts))
        np.minimum.at(
            freedom, cell, np.diff(rows.indptr)[columns.indices].astype(float)
        )
        self._freedom = np.where(np.isinf(freedom), 0.0, freedom)
        self._scratch = np.zeros(rows.shape[0], int), np.zeros(rows.shape[1], int)
        data = rows.data
        self._whole_rows = bool(np.all(data == np.rint(data)))
        self._plain_sums = bool(np.all(np.abs(data) == 1))
        if self._plain_sums:
            row_signs, column_signs = data.astype(int), columns.data.astype(int)
            self._signed_equations = (*of_rows, row_signs, *of_columns, column_signs)
        self._programs: dict[int, tuple[_Columns, Program]] = {}
        self._units: dict[int, int] = {}

    def reset(self, deadline: float | None) -> GeneralFinder:
        """Forget programs, so that their last solutions do not affect the next."""
        self.deadline = deadline
        self._programs.clear()
        self._units.clear()
        return self

    def about(
        self, attacker: AttackModel, deadline: float | None, places: Places
    ) -> GeneralFinder:
        """Return a finder for an attacker who knows more cells of the same table."""
        other = copy(self)
        other.attacker, other._suggested = attacker, places
        other._programs, other._units = {}, {}
        return other.reset(deadline)

    def cheap(self, ledger: Ledger) -> None:
        """Cover what small moves can cover."""
        if not self._plain_sums:
            return
        for levels in ledger.batches(self.deadline):
            self._small_moves(ledger, levels)

    def _small_moves(self, ledger: Ledger, levels: list[tuple[int, int, int]]) -> None:
        a = self.attacker
        sizes, cells, ways = move_kernels.small_moves(
            np.array([c for c, _, _ in levels], dtype=np.int64),
            np.array([s for _, s, _ in levels], dtype=np.int64),
            np.array([amount / a.scale for _, _, amount in levels]),
            _SMALL_MOVE_TRIES,
            *self._signed_equations,
            a.up_size,
            a.down_size,
            1,
        )
        ends = np.cumsum(sizes)
        for i in np.flatnonzero(sizes).tolist():
            cell, sign, amount = levels[i]
            part = slice(int(ends[i] - sizes[i]), int(ends[i]))
            steps = [amount * way for way in ways[part].tolist()]
            ledger.add(cell, sign, cells[part], steps, 1, "cube")

    def reach(self, ledger: Ledger, cell: int, sign: int, amount: Fraction) -> bool:
        """Move a cell by an amount, or find that it cannot be done."""
        room = self.attacker.room(cell, sign)
        if not self.attacker.free[cell] or (room is not None and room < amount):
            return False
        if self._in_none[cell]:
            return self._alone(ledger, cell, sign, amount)
        if self.nearby(ledger, cell, sign, amount):
            return True
        return self._wholly(ledger, cell, sign, amount)

    def nearby(self, ledger: Ledger, cell: int, sign: int, amount: Fraction) -> bool:
        """Move a cell by an amount among few cells; false proves nothing."""
        a = self.attacker
        suggested = self._suggested.get((cell, sign), ())
        for cells in suggested if self._whole_rows else ():
            if a.free[cells].all() and self._locally(ledger, cell, sign, amount, cells):
                return True
        for branch in _PER_EQUATION if self._whole_rows else ():
            cells = self._near(cell, amount, branch)
            if self._locally(ledger, cell, sign, amount, cells):
                return True
        return False

    def furthest(self, ledger: Ledger, cell: int, sign: int, limit: Fraction) -> None:
        """Move a cell as far as possible, up to a limit."""
        a = self.attacker
        room = a.room(cell, sign)
        if room is not None:
            limit = min(limit, Fraction(room))
        if not a.free[cell] or not limit:
            return
        if self._in_none[cell]:
            self._alone(ledger, cell, sign, limit)
        else:
            self._wholly(ledger, cell, sign, limit, short=True)

    def end(self, cell: int, sign: int) -> float:
        """How far, one way, a cell may be from its value for all the attacker knows."""
        a = self.attacker
        room = a.up_size[cell] if sign > 0 else a.down_size[cell]
        if not a.free[cell] or room == 0:
            return 0.0
        if self._in_none[cell]:
            return float(room)
        size = abs(float(a.table.value[cell])) or 1.0
        power = _power(min(size, float(room)))
        for _ in range(4):
            columns, program = self._whole(cell, power)
            column = columns.column(cell, sign)
            move, _x = program.furthest(column, np.inf, columns.column(cell, -sign))
            if not np.isfinite(move):
                return np.inf
            if move <= 0 or 1e-4 < move < 1e8:
                break
            power = _power(move * 10.0**power)
        return float(max(move, 0.0) * 10.0**power)

    def _alone(self, ledger: Ledger, cell: int, sign: int, amount: Fraction) -> bool:
        step = [sign * amount.numerator]
        return ledger.add(cell, sign, [cell], step, amount.denominator, "alone")

    def _near(self, cell: int, amount: Fraction, branch: int) -> NDArray[np.int64]:
        """Return cells near a cell that can move among themselves."""
        a = self.attacker
        found: NDArray[np.int64] = move_kernels.neighbourhood(
            cell,
            branch,
            _MAX_LOCAL_CELLS,
            *self._equations,
            self._freedom,
            a.up_size,
            a.down_size,
            float(amount / a.scale),
            *self._scratch,
        )
        return found

    def _locally(
        self,
        ledger: Ledger,
        cell: int,
        sign: int,
        amount: Fraction,
        cells: NDArray[np.int64],
    ) -> bool:
        """Look for a witness among few cells."""
        columns = _Columns(self.attacker, np.sort(cells))
        program = Program(columns.rows, self.deadline)
        return self._on_grid(
            ledger, cell, sign, amount, columns, program, "local LP"
        ) and not ledger.is_open(cell, sign)

    def _on_grid(
        self,
        ledger: Ledger,
        cell: int,
        sign: int,
        amount: Fraction,
        columns: _Columns,
        program: Program,
        method: str,
        fractions: bool = False,
    ) -> bool:
        """Look for a witness on a grid on which rounding is exact.

        A grid unit is the level over a whole number; room is rounded down to the grid.
        It also serves totals that add up only to the last digit of their decimals, so
        that no vertex keeps the bounds of all their cells.
        """
        level, den = amount.numerator, amount.denominator
        units = min(level, _GRID)
        room = [None if r is None else r * den * units // level for r in columns.room]
        column = columns.column(cell, sign)
        room[column] = units
        program.set_upper(
            np.array(
                [_UNBOUNDED if r is None else min(r / units, _LOCAL_ROOM) for r in room]
            )
        )
        x = program.reach(column, 1.0, columns.column(cell, -sign))
        if x is None:
            return False
        vertex = exact_vertex(
            columns.rows, x * units, room, _CLOSE * units, self.deadline
        )
        if vertex is None:
            return False
        numerators, part = vertex
        moves = columns.net([n * level for n in numerators])
        return ledger.add(
            cell,
            sign,
            list(moves),
            list(moves.values()),
            part * units * den,
            method,
            fractions,
        )

    def _wholly(
        self,
        ledger: Ledger,
        cell: int,
        sign: int,
        amount: Fraction,
        short: bool = False,
    ) -> bool:
        """Look for a witness among all cells of the component, with exact bounds."""
        a = self.attacker
        size = float(amount / a.scale)
        power = _power(size)
        columns, program = self._whole(cell, power)
        column = columns.column(cell, sign)
        cap = size / 10.0**power
        against = columns.column(cell, -sign)
        found = program.reach(column, cap, against)
        if found is None and not short:
            return False
        x = program.furthest(column, cap, against)[1] if found is None else found
        level, den = amount.numerator, amount.denominator
        room = [None if r is None else r * den for r in columns.room]
        room[column] = level
        x = x / cap * float(level)
        vertex = None
        if self._whole_rows:
            vertex = exact_vertex(columns.rows, x, room, _CLOSE * level, self.deadline)
        if vertex is not None:
            numerators, part = vertex
            moves = columns.net(numerators)
            if not moves.get(cell):
                return False
            steps = (list(moves), list(moves.values()), part * den, "full LP")
            if ledger.add(cell, sign, *steps):
                return True
            if not a.whole:
                return False
        if a.whole:
            try:
                return self._in_whole(ledger, cell, sign, amount, short)
            except Unfinished:
                if not a.fractions:
                    raise
            if vertex is not None:
                return ledger.add(cell, sign, *steps, fractions=True)
        if self._whole_rows and found is not None:
            self._units.pop(int(a.component[cell]))
            if self._on_grid(
                ledger, cell, sign, amount, columns, program, "full LP", a.fractions
            ):
                return True
        moves = columns.net([round(v * _GRID**2) for v in (x / level).tolist()])
        scaled = {c: m * level for c, m in moves.items()}
        if scaled.get(cell):
            ledger.add_floating(
                Witness(
                    cell,
                    sign,
                    np.array(list(scaled), dtype=np.int64),
                    list(scaled.values()),
                    _GRID**2 * den * a.scale,
                    "full LP",
                )
            )
        return False

    def _in_whole(
        self, ledger: Ledger, cell: int, sign: int, amount: Fraction, short: bool
    ) -> bool:
        """Look for a table of whole numbers where a linear program gave fractions.

        Among few cells first; only the whole component proves that there is none.
        `short` looks for the furthest such table, even where it misses the amount.
        """
        a = self.attacker
        least = -(-amount.numerator // amount.denominator)
        every = np.flatnonzero((a.component == a.component[cell]) & a.free)
        near = [] if short else [self._near(cell, amount, b) for b in _PER_EQUATION]
        small = [np.sort(cells) for cells in near if len(cells) < len(every)]
        beyond = 1 if short else least
        for cells in (*small, every):
            if a.fractions and len(cells) > _MAX_INTEGER_CELLS:
                raise Unfinished("a table with fractions is accepted")
            moves = whole_move(
                a.equations_over(cells),
                -a.down_size[cells],
                a.up_size[cells],
                int(np.searchsorted(cells, cell)),
                sign,
                None if short else least,
                self.deadline,
                _MAX_NODES if a.fractions else None,
            )
            if moves is not None:
                at = np.flatnonzero(moves)
                steps = [int(x) * a.scale for x in moves[at].tolist()]
                if not ledger.add(cell, sign, cells[at], steps, 1, "whole"):
                    raise Unfinished("the solver's table does not add up")
                if not short:
                    return True
                beyond = abs(int(moves[int(np.searchsorted(cells, cell))])) + 1
        ledger.bar(cell, sign, beyond)
        return False

    def _whole(self, cell: int, power: int) -> tuple[_Columns, Program]:
        """Return the program of a cell's component, in units of a power of ten."""
        a = self.attacker
        part = int(a.component[cell])
        if part not in self._programs:
            cells = np.flatnonzero((a.component == part) & a.free)
            columns = _Columns(a, cells)
            self._programs[part] = columns, Program(columns.rows, self.deadline)
        columns, program = self._programs[part]
        if self._units.get(part) != power:
            upper = columns.size / 10.0**power
            program.set_upper(np.where(upper > _UNBOUNDED, np.inf, upper))
            self._units[part] = power
        return columns, program


def _power(size: float) -> int:
    """Return a power of ten near a size, a multiple of 3 so that it seldom changes."""
    return 3 * round(float(np.log10(size)) / 3)
