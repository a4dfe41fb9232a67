"""A pattern that misses a level by a hair, mended.

A searcher's solver works with tolerances, the judge does not. In a table of values that
lie twelve powers of ten apart a pattern may miss a level by a ten-millionth of it, and
what the searcher took for safe is exposed. Asked for a little more, the searcher hides
what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import LevelError
from evosdc.results import Exposure
from evosdc.suppress.engine.finish import cover_and_finish
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search

Mask = NDArray[np.bool_]
# A cell that has less than this share of its levels was not missed by a hair.
_HAIR = 1e-4
# What levels are raised by, as a share of them: well above any solver's tolerance.
_MORE = 1e-3


def missed(exposed: Iterable[Exposure]) -> list[int]:
    """List the cells that everyone can estimate a hair too closely."""
    return [e.cell for e in exposed if not e.insider and 1 - _HAIR < e.share < 1.0]


def mend(problem: Problem, hidden: Mask, cells: list[int], strict: bool) -> Mask:
    """Hide more, so that some cells have all of their levels.

    Where their levels cannot be raised, all that may be hidden is: no pattern gives
    more.
    """
    table = problem.table
    raised = np.ones(len(table))
    raised[cells] += _MORE
    more = table.replace(
        lpl=np.minimum(table.lpl * raised, np.maximum(problem.down, table.lpl)),
        upl=np.minimum(table.upl * raised, np.maximum(problem.up, table.upl)),
        spl=table.spl * raised,
    )
    try:
        wider = Problem.of(more, problem.cost, strict=strict)
        state = GeneralEngine(wider).start(hidden)
        found = cover_and_finish(state, Search(), "mended").hidden
    except LevelError:
        found = problem.hideable
    return hidden | found
