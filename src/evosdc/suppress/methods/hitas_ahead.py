"""Sub-tables of HiTaS solved before it is their turn, by other workers.

Each is solved as it is found when its turn comes, in the published order, so that the
answer is the same for any number of workers. Sub-tables that share no cell with one
that comes before are solved ahead; where one of their cells is hidden in the meantime,
what was found is thrown away and they are solved again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.evolution.stopping import Progress
from evosdc.parallel import Closing, Task, open_crew
from evosdc.suppress.methods.hitas_part import Answer, Asked, Parts, solve_part
from evosdc.suppress.search import Search

# Sub-tables asked for at a time, and looked at for it, for each worker.
_ASKED, _LOOKED_AT = 3, 24
# Seconds between two looks at whether an answer is there.
_NAP = 0.001
# Runs shorter than so many seconds, and workers with fewer sub-tables to solve, are
# not worth a start.
_SHORT, _FEW = 3.0, 4
# Two processes of one machine are no quicker than one: 36.5 s alone and 38.2 s with two
# on 63,444 cells.
_FEWEST = 3


@dataclass(frozen=True)
class Together:
    """Stop together with another run."""

    search: Search

    def reason(self, _: Progress) -> str | None:
        return self.search.reason if self.search.stopped() else None


class Ahead(Closing):
    """Answers of sub-tables, some of them worked out before they are asked for."""

    def __init__(self, whole: Parts, search: Search, dirty: int) -> None:
        self._whole, self._search = whole, search
        # This process only waits for the others: its core is theirs.
        size = search.beside + (search.cluster is None)
        fewest = _FEWEST if search.cluster is None else 2
        size = min(size, dirty // _FEW) if size >= fewest else 0
        self._size = size
        self._crew = open_crew(size, whole, search.cluster)
        self._tasks: dict[int, tuple[Asked, Task[Answer]]] = {}
        self._ready = False  # whether workers have begun to answer
        self._cells = np.zeros(len(whole.problem.table), dtype=bool)

    def look(
        self, dirty: NDArray[np.bool_], hidden: NDArray[np.bool_], seconds: float
    ) -> None:
        """Have sub-tables solved that do not depend on those before them."""
        full = len(self._tasks) >= _ASKED * self._size
        if full or (not self._tasks and self._search.seconds < _SHORT):
            return
        parts = self._whole.parts
        before = self._cells
        looked_at = np.flatnonzero(dirty)[: _LOOKED_AT * self._size].tolist()
        for number in looked_at:
            cells = parts[number].cells
            if not before[cells].any() and not self._known(number, hidden[cells]):
                asked = Asked(number, hidden[cells], seconds * self._size)
                self._tasks[number] = asked, self._crew.submit(solve_part, asked)
                if len(self._tasks) >= _ASKED * self._size:
                    break
            before[cells] = True
        for number in looked_at:
            before[parts[number].cells] = False

    def _known(self, number: int, hidden: NDArray[np.bool_]) -> bool:
        """Whether a sub-table is being solved as it is; forget it where it changed."""
        if number not in self._tasks:
            return False
        if np.array_equal(self._tasks[number][0].hidden, hidden):
            return True
        del self._tasks[number]
        return False

    def answer(self, number: int, hidden: NDArray[np.bool_], seconds: float) -> Answer:
        """Return the answer of a sub-table whose turn it is."""
        known = self._known(number, hidden)
        self._ready |= any(task.done() for _, task in self._tasks.values())
        # Workers take a while to start: this one does not wait for them.
        if not known or not self._ready:
            self._tasks.pop(number, None)
            asked = Asked(number, hidden, seconds)
            return solve_part(self._whole, asked, Together(self._search))
        task = self._tasks.pop(number)[1]
        while not task.done():
            if self._search.stopped():
                return Answer(None)
            time.sleep(_NAP)
        return task.result()

    def close(self) -> None:
        self._crew.close()
