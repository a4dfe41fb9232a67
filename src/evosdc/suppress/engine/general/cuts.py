"""Cuts of any table, in rounds of attacks on many levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from evosdc.parallel import Hands
from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.engine.general.level_programs import (
    AskedLevels,
    Basis,
    Deviation,
    attack_levels,
    programs_of,
)
from evosdc.suppress.problem import Problem

_CUTS_A_ROUND = 60
# Levels that one worker is asked for at a time, and cells above which it is one only:
# its programs take so long that who gave them must be able to stop in between.
_LEVELS, _LARGE = 4, 4000
# Parts of the widest wave. What is asked for in a wave depends on no number of workers.
_WIDEST = 16


class AttackCuts:
    """Find the cuts that a fractional pattern violates.

    Parameters
    ----------
    hands
        Who attacks the levels: others too, where it takes long. Cuts are the same.
    """

    def __init__(self, problem: Problem, hands: Hands[Problem] | None = None) -> None:
        self._problem = problem
        self._hands = Hands(problem) if hands is None else hands
        self._programs = programs_of(problem)
        self._size = _LEVELS if problem.hideable.sum() <= _LARGE else 1
        self._next = 0
        self._known: dict[int, Deviation] = {}
        self._basis: Basis | None = None

    def first(self) -> Iterator[Cut]:
        """Yield the cuts of single equations: the row and column model, generalised."""
        return self._programs.first()

    def violated(
        self, x: NDArray[np.float64], stopped: Callable[[], bool]
    ) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate.

        A round ends after some cuts, since one cut often serves several levels; the
        next goes on where it ended. A round without cuts has asked every level. Waves
        are of twice as many parts each time: often one cut is all that is wanted.
        """
        count, found = len(self._problem.levels), 0
        order = (self._next + np.arange(count)) % max(count, 1)
        at, parts = 0, 1
        while at < count and found < _CUTS_A_ROUND and not stopped():
            wave: list[int] = []
            while at < count and len(wave) < parts * self._size:
                level = int(order[at])
                at += 1
                if not self._holds(level, x):
                    wave.append(level)
            for cut in self._attack(wave, x, stopped):
                found += 1
                yield cut
            self._next = int(order[at % count])
            parts = min(2 * parts, _WIDEST)

    def _attack(
        self, wave: list[int], x: NDArray[np.float64], stopped: Callable[[], bool]
    ) -> Iterator[Cut]:
        """Attack the levels of a wave, all from where the last wave ended."""
        asked = [
            AskedLevels(tuple(wave[k : k + self._size]), x, self._basis)
            for k in range(0, len(wave), self._size)
        ]
        answers = self._hands.each(attack_levels, asked, stopped)
        for part, answer in zip(asked, answers, strict=False):
            self._basis = answer.basis
            for level, cut, deviation in zip(
                part.levels, answer.cuts, answer.deviations, strict=True
            ):
                if deviation is not None:
                    self._known[level] = deviation
                if cut is not None:
                    yield cut

    def _holds(self, level: int, x: NDArray[np.float64]) -> bool:
        """Whether the last deviation of a level still covers it."""
        known = self._known.get(level)
        return known is not None and self._programs.holds(level, known, x)
