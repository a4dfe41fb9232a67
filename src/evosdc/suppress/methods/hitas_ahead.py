"""Sub-tables of HiTaS solved before it is their turn, by all workers.

Each is solved as it is found when its turn comes, in the published order, so that the
answer is the same for any number of workers. Sub-tables that share no cell with one
that comes before are solved ahead; where one of their cells is hidden in the meantime,
what was found is thrown away and they are solved again. This process does not only wait
for the others: meanwhile it solves ahead as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evosdc.parallel import Closing, Task, open_crew
from evosdc.suppress.methods.hitas_part import Answer, Asked, Parts, solve_part
from evosdc.suppress.search import Search, Together

# Sub-tables asked for at a time, and looked at for it, for each worker.
_ASKED, _LOOKED_AT = 2, 24
# Seconds between two looks at whether an answer is there.
_NAP = 0.001
# Runs shorter than so many seconds, and workers with fewer sub-tables to solve, are
# not worth a start.
_SHORT, _FEW = 1.0, 4


class Ahead(Closing):
    """Answers of sub-tables, some of them worked out before they are asked for."""

    def __init__(self, whole: Parts, search: Search, dirty: int) -> None:
        self._whole, self._search = whole, search
        self._size = min(search.beside, dirty // _FEW)
        self._crew = open_crew(self._size, whole, search.cluster)
        self._given: dict[int, tuple[Asked, Task[Answer]]] = {}
        self._own: dict[int, tuple[Asked, Answer]] = {}
        self._ready = False  # whether workers have begun to answer
        self._next: Iterator[Asked] = iter(())

    def look(
        self, dirty: NDArray[np.bool_], hidden: NDArray[np.bool_], seconds: float
    ) -> None:
        """Have sub-tables solved that do not depend on those before them.

        The first of the `dirty` ones is that whose turn it is.
        """
        if not self._size or self._search.seconds < _SHORT:
            return
        self._next = self._independent(dirty, hidden, seconds * (self._size + 1))
        under_way = sum(not task.done() for _, task in self._given.values())
        for _ in range(_ASKED * self._size - under_way):
            asked = next(self._next, None)
            if asked is None:
                return
            self._given[asked.number] = asked, self._crew.submit(solve_part, asked)

    def answer(self, number: int, hidden: NDArray[np.bool_], seconds: float) -> Answer:
        """Return the answer of a sub-table whose turn it is."""
        known = self._known(number, hidden)
        self._ready |= any(task.done() for _, task in self._given.values())
        if number in self._given and known:
            task = self._given.pop(number)[1]
            while not task.done():
                if self._search.stopped():
                    return Answer(None)
                asked = next(self._next, None)
                if asked is not None:
                    self._own[asked.number] = asked, self._solve(asked)
                elif self._ready:
                    time.sleep(_NAP)
                else:
                    # Workers take a while to start.
                    return self._solve(Asked(number, hidden, seconds))
            return task.result()
        if known:
            return self._own.pop(number)[1]
        return self._solve(Asked(number, hidden, seconds))

    def _independent(
        self, dirty: NDArray[np.bool_], hidden: NDArray[np.bool_], seconds: float
    ) -> Iterator[Asked]:
        """Sub-tables after the first that share no cell with those before them."""
        parts = self._whole.parts
        before = np.zeros(len(hidden), dtype=bool)
        for place, number in enumerate(
            np.flatnonzero(dirty)[: _LOOKED_AT * self._size].tolist()
        ):
            cells = parts[number].cells
            alone = place > 0 and not before[cells].any()
            if alone and not self._known(number, hidden[cells]):
                yield Asked(number, hidden[cells], seconds)
            before[cells] = True

    def _known(self, number: int, hidden: NDArray[np.bool_]) -> bool:
        """Whether a sub-table is being solved as it is; forget it where it changed."""
        for some in (self._given, self._own):
            if number in some:
                if np.array_equal(some[number][0].hidden, hidden):
                    return True
                del some[number]
        return False

    def _solve(self, asked: Asked) -> Answer:
        return solve_part(self._whole, asked, Together(self._search))

    def close(self) -> None:
        self._crew.close()
