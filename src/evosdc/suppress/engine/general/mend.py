"""Change whole patterns of any table and make them safe again, for breeding."""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.base import Cells, Mask, Stopped
from evosdc.suppress.engine.general.state import GeneralState
from evosdc.suppress.engine.general.table import GeneralTable


class GeneralMender:
    """Repair and mutation on the patterns of one table.

    Parameters
    ----------
    rng
        Gives the order in which broken demands are covered.
    stopped
        Whether the time is up: what is left is then covered in little time.
    """

    def __init__(
        self, table: GeneralTable, rng: np.random.Generator, stopped: Stopped
    ) -> None:
        self._table, self._rng, self._stopped = table, rng, stopped

    def child(self, parent: GeneralState, hidden: Mask) -> GeneralState:
        state = parent.copy()
        state.become(hidden, self._stopped)
        if self._stopped():
            return parent.copy()  # covering the rest quickly would hide much
        state.cover(self._rng.permutation(state.uncovered), stopped=self._stopped)
        self.prune(state)
        return state

    def prune(self, state: GeneralState) -> None:
        state.clean_up(stopped=self._stopped)

    def drop_in_turn(self, state: GeneralState, order: Cells) -> None:
        for cell in order.tolist():
            if self._stopped():
                return
            if not state.hidden[cell]:
                continue
            if self._table.boxes is not None:
                self._rebuild(state, cell)
            else:
                self._replace(state, cell)

    def _rebuild(self, state: GeneralState, cell: int) -> None:
        """Publish a cell and cover what broke by boxes, if that costs no more."""
        assert self._table.boxes is not None
        self._table.boxes.rebuild(
            state.witnesses,
            state.hidden,
            np.array([cell], dtype=np.int64),
            self._rng.random(len(self._table.demands)),
            self._table.problem.cost,
        )

    def _replace(self, state: GeneralState, cell: int) -> None:
        """The same by programs, in tables that have no boxes."""
        price = self._table.problem.cost.copy()
        price[cell] = np.inf
        trial = state.copy()
        broken = trial.publish([cell], self._stopped)
        if trial.cover_open(broken, price=price, stopped=self._stopped):
            return
        if not len(trial.uncovered) and trial.cost <= state.cost:
            state.become_like(trial)
