"""Boxes and cycles of one table, and patterns built with them.

Hundreds of times faster than a program, and in large tables nearly every level has one.
"""

from __future__ import annotations

import numpy as np

from evosdc.arrays import Real
from evosdc.suppress.engine.base import Cells, Mask, Stopped, never
from evosdc.suppress.engine.general import cover_kernels as kernels
from evosdc.suppress.engine.general.grid import (
    lay_out,
    make_boxwork,
    make_pathwork,
    plane_networks,
)
from evosdc.suppress.engine.general.model import Demand, Move
from evosdc.suppress.engine.general.pool import Rows
from evosdc.suppress.engine.general.witness import Witnesses
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.codes import dimensions_of

# Demands and cells dealt with between two looks at the clock. Half as many look twice
# as often; twice as many pass a limit of time by as much more.
_ROWS_A_CALL = 64
_CELLS_A_CALL = 32
# Witnesses that a kernel may store in one go, and cells of them. Half as much space is
# full after fewer demands of a call; twice as much is memory that stays empty.
_WITNESSES_A_CALL = 4096
_ENTRIES_A_CALL = 65536


class Boxes:
    """What boxes and cycles can do on one table.

    Made by `boxes_of`; all methods change `hidden` and the witnesses in place.
    """

    def __init__(self, problem: Problem, field: kernels.CoverArrays) -> None:
        self._problem = problem
        self.field = field

    def with_rows(self, rows: Rows) -> Boxes:
        """Return the same boxes for a list of demands that has grown."""
        trial = _trial(rows, self._problem)
        return Boxes(self._problem, self.field._replace(rows=rows, trial=trial))

    def with_price(self, cost: Real) -> Boxes:
        """Return the same boxes at other costs."""
        price = np.where(self._problem.hideable, cost, np.inf)
        return Boxes(self._problem, self.field._replace(price=price))

    def cover(
        self,
        witnesses: Witnesses,
        hidden: Mask,
        order: Cells,
        *,
        only_hidden: bool = False,
        in_parts: bool = True,
        stopped: Stopped = never,
    ) -> Cells:
        """Cover open demands in order, as cheaply as boxes and cycles can.

        With `only_hidden` nothing more is hidden; without `in_parts` every level is
        covered in one step, which is quicker and hides more. Returns the demands that
        have none; when stopped early, the others of `order` are simply left open.
        """
        witnesses.follow(self.field.rows)
        self.field.parts.most[0] = kernels.MOST_PARTS if in_parts else 0
        failed = np.empty(len(order), np.int64)
        misses: list[Cells] = []
        at = 0
        while at < len(order) and not stopped():
            witnesses.make_space(_WITNESSES_A_CALL, self._entries())
            part = order[at : at + _ROWS_A_CALL]
            done, missed = kernels.cover_rows(
                self.field, witnesses.pool, hidden, part, only_hidden, failed
            )
            misses.append(failed[:missed].copy())
            at += done
        self.field.parts.most[0] = kernels.MOST_PARTS
        return np.concatenate(misses) if misses else np.empty(0, np.int64)

    def drop(
        self, witnesses: Witnesses, hidden: Mask, cells: Cells, stopped: Stopped = never
    ) -> None:
        """Publish those of some cells that other boxes and cycles can replace."""
        witnesses.follow(self.field.rows)
        at = 0
        while at < len(cells) and not stopped():
            witnesses.make_space(_WITNESSES_A_CALL, self._entries())
            part = cells[at : at + _CELLS_A_CALL]
            done = kernels.drop_cells(self.field, witnesses.pool, hidden, part)
            if done == 0:
                # One cell asks for more space than a call has: it stays hidden.
                done = 1
            at += done

    def rebuild(
        self,
        witnesses: Witnesses,
        hidden: Mask,
        targets: Cells,
        shuffle: Real,
        cost: Real,
    ) -> float:
        """Publish some secondaries and cover what broke, if that costs no more.

        The boxes' own prices steer, `cost` decides. Returns the change of the cost.
        """
        witnesses.follow(self.field.rows)
        witnesses.make_space(_WITNESSES_A_CALL, self._entries())
        pool = witnesses.pool
        return float(kernels.ruin(self.field, pool, hidden, targets, shuffle, cost))

    def only_box(self, asked: Demand, price: Real) -> Move | None:
        """Find the cheapest box, no cycle, at given prices.

        They are 0 for hidden cells, and infinite for cells that must stay.
        """
        field = self.field._replace(price=price)
        size = kernels.find_only_box(field, asked.cell, asked.sign, asked.amount)
        if size == 0:
            return None
        order = np.argsort(field.cells[:size])
        return Move(field.cells[order].copy(), field.by[order].copy())

    def _entries(self) -> int:
        return 8 * len(self.field.cells) + _ENTRIES_A_CALL


def boxes_of(problem: Problem, rows: Rows) -> Boxes | None:
    """Set up boxes for a table, or None where it has no grid of codes."""
    table = problem.table
    spanned = dimensions_of(table)
    grid = None if spanned is None else lay_out(*spanned)
    if spanned is None or grid is None:
        return None
    planes = plane_networks(spanned[0])
    work = make_boxwork(grid)
    columns = table.columns
    most = len(work.best_place)
    field = kernels.CoverArrays(
        grid=grid,
        work=work,
        planes=planes,
        paths=make_pathwork(planes),
        rows=rows,
        up=problem.up.copy(),
        down=problem.down.copy(),
        price=np.where(problem.hideable, problem.cost, np.inf),
        primary=problem.primary,
        column_start=columns.indptr.astype(np.int64),
        column_row=columns.indices.astype(np.int64),
        column_factor=columns.data.astype(np.float64),
        off=np.zeros(table.matrix.shape[0]),
        cells=np.empty(most, np.int64),
        by=np.empty(most),
        parts=kernels.Parts(
            most=np.array([kernels.MOST_PARTS]),
            at_once=np.empty(most, np.int64),
            spot=np.full(len(table), -1, np.int64),
            cells=np.empty(most, np.int64),
            by=np.empty(most),
            up=np.empty(most),
            down=np.empty(most),
            fresh=np.empty(most, np.bool_),
        ),
        trial=_trial(rows, problem),
    )
    return Boxes(problem, field)


def _trial(rows: Rows, problem: Problem) -> kernels.Trial:
    """Make the scratch space for undoing changes."""
    demands, cells = len(rows.cell), len(problem.table)
    return kernels.Trial(
        rows=np.empty(demands, np.int64),
        old=np.empty(demands, np.int64),
        marked=np.zeros(demands, np.bool_),
        fresh=np.empty(cells, np.int64),
        gone=np.empty(cells, np.int64),
    )
