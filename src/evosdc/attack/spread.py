"""The judge's work on a general table in parts, which others may do.

Parts depend on the table alone. Those of a *wave* know nothing of each other, and what
they find is put together in their order: so the certificate is the same whoever works,
and however many. Waves of small moves grow, since the first and largest levels have
witnesses that close many others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from evosdc.attack.attempt import cover_levels
from evosdc.attack.general import GeneralFinder
from evosdc.attack.hints import Places
from evosdc.attack.ledger import Found, Ledger, Level, Unfinished, in_time
from evosdc.attack.model import AttackModel
from evosdc.compile.clock import moment
from evosdc.parallel import LazyPool

# Levels in a part: small moves take milliseconds, programs up to seconds.
_EASY, _HARD = 128, 2
# Parts of a wave at most: as many as could work at a time.
_WIDEST = 64


@dataclass(frozen=True, eq=False)
class Case:
    """What all parts share. A finder is made where the work is done."""

    attacker: AttackModel
    places: Places

    def finder(self, deadline: float | None) -> GeneralFinder:
        """Return a finder that remembers nothing of earlier parts."""
        if "_finder" not in self.__dict__:
            self.__dict__["_finder"] = GeneralFinder(
                self.attacker, deadline, self.places
            )
        found: GeneralFinder = self.__dict__["_finder"]
        return found.reset(deadline)

    def __getstate__(self) -> dict[str, object]:
        # Solvers do not travel.
        return {"attacker": self.attacker, "places": self.places}


# Levels, and the seconds that are left for them.
Part = tuple[list[Level], float | None]


def easy_part(case: Case, part: Part) -> Found:
    """Cover levels by small moves."""
    return _worked(case, part, lambda finder, ledger: finder.cheap(ledger))


def hard_part(case: Case, part: Part) -> Found:
    """Cover levels by programs, or find that they cannot be had."""
    return _worked(
        case, part, lambda finder, ledger: cover_levels(ledger, finder, finder.deadline)
    )


def _worked(
    case: Case, part: Part, work: Callable[[GeneralFinder, Ledger], None]
) -> Found:
    levels, seconds = part
    deadline = None if seconds is None else moment() + seconds
    ledger = Ledger(case.attacker, levels)
    work(case.finder(deadline), ledger)
    return ledger.found()


def end_part(case: Case, asked: tuple[int, int, float | None]) -> float | None:
    """How far a cell goes one way; None where time runs out."""
    cell, sign, seconds = asked
    finder = case.finder(None if seconds is None else moment() + seconds)
    try:
        in_time(finder.deadline)
        return finder.end(cell, sign)
    except Unfinished:
        return None


@dataclass(frozen=True, eq=False)
class Ends:
    """How far some cells go, asked beforehand."""

    attacker: AttackModel
    found: Mapping[tuple[int, int], float | None]

    def end(self, cell: int, sign: int) -> float:
        """How far a cell goes one way, as a finder says it."""
        found = self.found.get((cell, sign))
        if found is None:
            raise Unfinished("the time limit was reached")
        return found


class Spread(LazyPool[Case]):
    """Does the parts of a case, by workers where it takes long."""

    def easy(self, ledger: Ledger) -> None:
        """Cover what small moves can cover."""
        levels = [
            level for level in ledger.levels() if ledger.attacker.has_room(*level)
        ]
        self._waves(easy_part, ledger, levels, _EASY, 1)

    def hard(self, ledger: Ledger) -> None:
        """Cover what is left by programs."""
        # What programs find closes few others, so nobody waits for a first wave: but
        # a total of one part has its level, and a witness of one is one of the other.
        firsts, alike = _one_of_each(ledger.levels())
        self._waves(hard_part, ledger, firsts, _HARD, _WIDEST)
        self._waves(hard_part, ledger, alike, _HARD, _WIDEST)

    def ends(self, cells: Iterable[int]) -> Ends:
        """Find how far some cells go, both ways."""
        free = self.shared.attacker.free
        asked = [(cell, sign) for cell in cells if free[cell] for sign in (-1, 1)]
        found: dict[tuple[int, int], float | None] = {}
        for at in range(0, len(asked), _WIDEST):
            part = asked[at : at + _WIDEST]
            tasks = ((cell, sign, self.left()) for cell, sign in part)
            ends = self.map(end_part, tasks, len(part))
            found.update(zip(part, ends, strict=True))
        return Ends(self.shared.attacker, found)

    def _waves(
        self,
        function: Callable[[Case, Part], Found],
        ledger: Ledger,
        levels: list[Level],
        size: int,
        first: int,
    ) -> None:
        for wave in _grown(ledger, levels, size, first):
            in_time(self.deadline)
            many = -(-len(wave) // size)
            # Neighbours in size are in different parts, so that parts take as long.
            parts = ((wave[k::many], self.left()) for k in range(many))
            for found in self.map(function, parts, many):
                ledger.take(found)


def _one_of_each(levels: list[Level]) -> tuple[list[Level], list[Level]]:
    """Part levels into the first of each size and way, and the others."""
    seen: set[tuple[int, int]] = set()
    firsts: list[Level] = []
    alike: list[Level] = []
    for level in levels:
        _, sign, amount = level
        (alike if (sign, amount) in seen else firsts).append(level)
        seen.add((sign, amount))
    return firsts, alike


def _grown(
    ledger: Ledger, levels: list[Level], size: int, parts: int
) -> Iterator[list[Level]]:
    """Give out levels that are open still, in waves of twice as many parts each time.

    The first wave has `parts`.
    """
    at = 0
    while at < len(levels):
        wave: list[Level] = []
        while at < len(levels) and len(wave) < parts * size:
            cell, sign, _ = levels[at]
            if ledger.is_open(cell, sign) or cell in ledger.open_width:
                wave.append(levels[at])
            at += 1
        if wave:
            yield wave
        parts = min(2 * parts, _WIDEST)
