"""Which engine serves a table, and deviations from it that the judge reads quickly.

Programs over a whole table serve hundreds of levels by one deviation of a thousand
cells. It is seldom in whole numbers, and to make it so takes an integer program of as
many cells. Boxes and cycles among the same cells are whole, and cover nearly every
level; the few that are left are cheaper for the judge to find one by one.
"""

from __future__ import annotations

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.suppress.engine.base import AnyEngine
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.network.engine import NetworkEngine
from evosdc.suppress.problem.problem import Pattern, Problem

Hint = tuple[Long, Real]
# Cells above which a deviation whose steps differ is large: an integer program over it
# takes longer than the programs of a few levels. At half of it the judge looks for more
# levels itself, at twice of it more integer programs are solved for few levels.
_LARGE = 100
# Cells of a large deviation for each level that only it covers. At half of it levels
# that would be read together are looked for one by one, at twice of it the reverse.
_CELLS_PER_LEVEL = 50
# Steps that differ by no more than this share are of one size: a tolerance.
_EQUAL = 1e-9


def engine_for(problem: Problem) -> AnyEngine:
    """Return an engine of the kind that suits the table, for one run.

    Each run has its own: solvers that are warm from another one could lead to another
    of several equally good answers. An engine sets up its parts when they are first
    used.
    """
    if problem.network is not None and not problem.has_attackers:
        return NetworkEngine(problem)
    return GeneralEngine(problem)


def read_quickly(problem: Problem, pattern: Pattern) -> tuple[Hint, ...]:
    """Return hints of a pattern for the judge, who checks each of them as before.

    They are those of the pattern where none of them is large, where there are no boxes,
    or where there are other attackers.
    """
    hints = pattern.hints
    if problem.has_attackers or len(problem.levels.slide):
        return hints
    if not any(map(_is_large, hints)):
        return hints
    engine = engine_for(problem)
    if engine.is_network or not engine.has_boxes:
        return hints
    state = engine.start(pattern.hidden)
    state.cover_free()
    simple = state.pattern().hints
    few = [hint for hint in hints if not _is_large(hint)]
    for cells, by in few:
        state.witnesses.add(Move(cells, by))
    kept: list[Hint] = []
    for cells, by in sorted(filter(_is_large, hints), key=lambda hint: len(hint[0])):
        open_before = len(state.uncovered)
        state.witnesses.add(Move(cells, by))
        if (open_before - len(state.uncovered)) * _CELLS_PER_LEVEL >= len(cells):
            kept.append((cells, by))
    return (*simple, *few, *kept)


def _is_large(hint: Hint) -> bool:
    cells, by = hint
    size = np.abs(by)
    return len(cells) > _LARGE and size.max() > size.min() * (1 + _EQUAL)
