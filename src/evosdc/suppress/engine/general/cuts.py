"""Cuts of any table, in rounds of attacks on many levels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from evosdc.arrays import Real
from evosdc.parallel import LazyPool
from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.engine.general.level_programs import (
    AskedLevels,
    Basis,
    Level,
    attack_levels,
    programs_of,
)
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.pool import make_knowledge
from evosdc.suppress.problem.problem import Problem

# Cuts of a round at most. With half as many the relaxation is solved more often, with
# twice as many one cut less often serves several levels.
_CUTS_A_ROUND = 60
# Levels that are asked in vain after a cut, for each cut so far, before a round ends.
# At half of it rounds are short, at twice of it most programs find no cut.
_LEVELS_IN_VAIN = 8
# Levels that one worker is asked for at a time. Half as many are more messages, twice
# as many wait longer for the slowest worker.
_LEVELS_A_TASK = 4
# Cells above which a task is one level: its programs take so long that who gave it must
# be able to stop in between. At half of it workers wait more, at twice of it a limit of
# time may be passed by some seconds.
_CELLS_OF_SLOW_PROGRAMS = 4000
# Tasks of the widest wave, whatever the number of workers. Half as many leave some of
# many workers idle, twice as many attack levels that the first cuts have settled.
_TASKS_A_WAVE = 16


class AttackCuts:
    """Find the cuts that a fractional pattern violates.

    Parameters
    ----------
    pool
        Who attacks the levels: others too, where it takes long. Cuts are the same.
    """

    def __init__(self, problem: Problem, pool: LazyPool[Problem] | None = None) -> None:
        self._problem = problem
        self._pool = LazyPool(problem) if pool is None else pool
        self._programs = programs_of(problem)
        few = problem.hideable.sum() <= _CELLS_OF_SLOW_PROGRAMS
        self._size = _LEVELS_A_TASK if few else 1
        self._public = _levels_of(problem)
        # In the order in which they are asked next. Levels against other attackers are
        # added when a deviation that covers one for the public moves their cells.
        sums = (Level(*asked) for asked in problem.sum_levels)
        self._levels = [*self._public, *sums]
        self._listed: set[tuple[int, int, int]] = set()
        self._owners = make_knowledge(
            problem.attackers, len(problem.attackers), len(problem.table)
        )
        self._known: dict[Level, Move] = {}
        self._basis: Basis | None = None

    def first(self) -> Iterator[Cut]:
        """Yield the cuts of single equations: the row and column model, generalised."""
        return self._programs.first(self._public)

    def violated(self, x: Real, stopped: Callable[[], bool]) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate.

        A round ends after some cuts, since one cut often serves several levels, or when
        levels that are asked after the first cut no longer give any: solving for a new
        `x` tells more. The next round begins with the levels that gave cuts and those
        that were not asked. A round without cuts has asked every level. Waves are of
        twice as many parts each time: often one cut is all that is wanted.
        """
        waiting, violated, covered = deque(self._levels), list[Level](), list[Level]()
        parts, since = 1, 0
        while waiting and len(violated) < _CUTS_A_ROUND and not stopped():
            if violated and since > _LEVELS_IN_VAIN * (1 + len(violated)):
                break
            wave: list[Level] = []
            while waiting and len(wave) < parts * self._size:
                level = waiting.popleft()
                if self._holds(level, x):
                    covered.append(level)
                    waiting += self._others(level)
                else:
                    wave.append(level)
            for level, cut in self._attack(wave, x, stopped):
                since += 1
                if cut is None:
                    covered.append(level)
                    waiting += self._others(level)
                else:
                    since = 0
                    violated.append(level)
                    yield cut
            done = {*covered, *violated}
            waiting.extendleft(reversed([lv for lv in wave if lv not in done]))
            parts = min(2 * parts, _TASKS_A_WAVE)
            self._levels = [*violated, *waiting, *covered]
        self._levels = [*violated, *waiting, *covered]

    def _attack(
        self, wave: list[Level], x: Real, stopped: Callable[[], bool]
    ) -> Iterator[tuple[Level, Cut | None]]:
        """Attack the levels of a wave, all from where the last wave ended."""
        asked = [
            AskedLevels(tuple(wave[k : k + self._size]), x, self._basis)
            for k in range(0, len(wave), self._size)
        ]
        answers = self._pool.each(attack_levels, asked, len(asked), stopped)
        for part, answer in zip(asked, answers, strict=False):
            self._basis = answer.basis
            for level, cut, deviation in zip(
                part.levels, answer.cuts, answer.deviations, strict=True
            ):
                if deviation is not None:
                    self._known[level] = deviation
                yield level, cut

    def _holds(self, level: Level, x: Real) -> bool:
        """Whether the last deviation of a level, or the public's, still covers it."""
        public = level._replace(attacker=0)
        for known in (self._known.get(level), self._known.get(public)):
            if known is not None and self._programs.holds(level, known, x):
                return True
        return False

    def _others(self, level: Level) -> list[Level]:
        """List a level against attackers whose cells its deviation moves, if new."""
        known = self._known.get(level)
        if known is None or level.attacker or len(level.cells) > 1:
            return []
        cell, (owners, found) = level.cells[0], (self._owners, list[Level]())
        for moved, by in zip(known.cells, known.by, strict=True):
            for entry in owners.entry[owners.first[moved] : owners.first[moved + 1]]:
                attacker = int(owners.attacker[entry])
                room = (owners.up if by > 0 else owners.down)[entry]
                key = cell, level.sign, attacker
                if abs(by) * level.amount <= room or key in self._listed:
                    continue
                self._listed.add(key)
                amount = self._problem.amount_against(
                    attacker, cell, level.sign, level.amount
                )
                if amount > 0:
                    found.append(Level((cell,), level.sign, amount, attacker))
        return found


def _levels_of(problem: Problem) -> list[Level]:
    """The levels of a problem against the public."""
    levels = problem.levels
    each = (levels.cell.tolist(), levels.sign.tolist(), levels.amount.tolist())
    return [Level((c,), s, a) for c, s, a in zip(*each, strict=True)]
