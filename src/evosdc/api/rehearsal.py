"""A rehearsal: a pattern is settled and judged in the middle of the search.

How long that takes depends on the table and on the pattern, from a blink to longer than
the search, so no share of a limit is right for all. A search that takes a while stops
once, with the best pattern it has: as long as settling and judging that one took is
kept for the last one. And where the last one cannot be judged in time after all, the
one that was judged is there. Where not even that one could be, though it has what is
left of the time if most of it is done, one of a quick method stands in: safe and dearer
is worth more than what nobody had the time to look at.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from evosdc.api.running import Clock, stopping
from evosdc.api.stages import Judged, Prepared
from evosdc.errors import LevelError
from evosdc.evolution.stopping import TimeLimit
from evosdc.parallel import Help
from evosdc.results import Verdict
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import find_method
from evosdc.suppress.search import Search

# Share of the limit after which it is held: many methods are over by then.
_FROM = 0.25
# Share of the time left that it may take: then a quick method's pattern is judged.
_PART = 0.5
_QUICK = "hypercube"
# The last pattern may take longer than the one that was rehearsed.
_MARGIN = 1.25
# Share of the cells that must be decided for a forecast, and what to try without one.
_TELLING, _TIMES = 0.1, 4.0
FIRST_INSTEAD = (
    "a cheaper pattern that was found later could not be settled and judged in the "
    "time left: this one was judged before; a longer limit of time gives both"
)

Rehearse = Callable[[Prepared, Problem, Pattern, Search, Help], Judged]


class Rehearsal:
    """Held once, between two steps of a search; then the search knows when to end.

    Parameters
    ----------
    rehearse
        Settles and judges a pattern.
    """

    def __init__(
        self, prepared: Prepared, search: Search, help: Help, rehearse: Rehearse
    ) -> None:
        self.judged: Judged | None = None
        # Said where it is the pattern of another method, which stands in.
        self.words: tuple[str, ...] = ()
        # What the search is about; levels beyond any pattern are lowered in it.
        self.problem = prepared.problem
        self._prepared, self._search = prepared, search
        self._help, self._rehearse = help, rehearse
        # Methods with threads ask from those as well.
        self._thread = threading.get_ident()
        search.between.append(self._between)

    def _between(self) -> None:
        search, clock = self._search, self._prepared.clock
        if search.best is None or clock.spent() < _FROM:
            return
        if threading.get_ident() != self._thread:
            return
        search.between.remove(self._between)
        began, best = clock.seconds, search.best
        with suppress(LevelError):  # what cannot be had is said at the end
            part = clock.part(_PART * clock.before(0.0))
            self.judged = self._held(best, part)
        if self.judged is None:
            return
        if _nearly(self.judged.verdict):
            self.judged = self._go_on(self.judged)
        took = clock.seconds - began
        if self.judged.verdict.safe is None:
            self._stand_in(self.judged, took)
            took = clock.seconds
        asked = self._prepared.task.stop
        limit = search.seconds + max(0.0, clock.before(_MARGIN * took))
        search.stop = stopping(limit, asked.evaluations, asked.gap)

    def _held(self, pattern: Pattern, clock: Clock) -> Judged:
        began = clock.seconds
        judged = self._rehearse(
            replace(self._prepared, clock=clock),
            self.problem,
            pattern,
            self._search,
            self._help,
        )
        self._search.note(
            f"settled and judged on the way in {clock.seconds - began:.1f} s: "
            f"{judged.verdict.word}"
        )
        return judged

    def _go_on(self, judged: Judged) -> Judged:
        """Go on where time was up, with what was hidden and found until then."""
        settled = judged.settled
        so_far = replace(
            self.problem.pattern(settled.hidden & self.problem.hideable),
            hints=settled.hints,
        )
        again = self._held(so_far, self._prepared.clock)
        return replace(again, pattern=judged.pattern)

    def _stand_in(self, failed: Judged, took: float) -> None:
        """Have a quick method's pattern judged where that of the search cannot be."""
        clock, method = self._prepared.clock, find_method(_QUICK)
        if method.takes(self.problem) is not None:
            return
        own = Search(seed=self._search.seed, stop=TimeLimit(clock.before(0.0)))
        with suppress(LevelError):
            pattern = method.run(self.problem, method.configure({}), own)
            judged = self._held(pattern, clock)
            if judged.verdict.safe:
                self.judged = judged
                self.words = (
                    f"the pattern of the search, of cost {failed.pattern.cost:,.6g}, "
                    f"could not be settled and judged in time: this one is by "
                    f"{_QUICK!r}, safe but dearer",
                    too_short(clock, failed.verdict, took, _QUICK),
                )


def _nearly(verdict: Verdict) -> bool:
    """Whether most of the cells are decided, and none against the pattern."""
    return verdict.safe is None and 2 * len(verdict.open) < verdict.judged


def too_short(clock: Clock, verdict: Verdict, judging: float, method: str) -> str:
    """Say that a limit was too short to judge what was found, and what to try.

    By the share of the cells that is decided, twice the time for judging at least;
    where hardly any is, no forecast is to be had. It is no promise: the cells that are
    left may be those that take longest.
    """
    decided = verdict.judged - len(verdict.open)
    if decided < _TELLING * verdict.judged:
        enough = _TIMES * clock.seconds
    else:
        enough = clock.seconds + judging * max(1.0, len(verdict.open) / decided)
    digits = 10 ** max(0, math.floor(math.log10(max(1.0, enough))) - 1)
    about = math.ceil(enough / digits) * digits
    quicker = "" if method == _QUICK else f", or a quicker method (--method {_QUICK})"
    return (
        f"the limit of time was too short to judge what was found: "
        f"{len(verdict.open):,} of {verdict.judged:,} cells are undecided; "
        f"try {about:,} s or more (--time-limit {about}){quicker}"
    )
