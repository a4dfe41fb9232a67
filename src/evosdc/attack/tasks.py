"""The judge's work on a general table as tasks, for this process or a pool of workers.

Levels are looked for in waves. Tasks of one wave do not depend on each other, and their
findings are merged in order: so the certificate is the same for any number of workers.
Waves of small moves grow, since the witnesses of the first and largest levels cover
many others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evosdc.attack.certificate import Witness
from evosdc.attack.hints import Hint, Places, Suggestion, take_suggestions
from evosdc.attack.judge import answer
from evosdc.attack.ledger import FoundWitnesses, Ledger, Level, Unfinished, in_time
from evosdc.attack.model import AttackModel, Beliefs
from evosdc.attack.question import Question
from evosdc.compile.clock import moment
from evosdc.parallel import LazyPool
from evosdc.results import Certificate, TableVerdict

if TYPE_CHECKING:
    from evosdc.attack.general import GeneralFinder

# Levels of one task: small moves take milliseconds each, programs up to seconds.
_SMALL_MOVE_LEVELS, _PROGRAM_LEVELS = 128, 2
# Tasks of one wave at most: as many as could run at the same time.
_MAX_TASKS_PER_WAVE = 64

# Levels, and the seconds that are left for them.
LevelTask = tuple[list[Level], float | None]


def _until(seconds: float | None) -> float | None:
    """The moment, on the clock of this process, when a task must end."""
    return None if seconds is None else moment() + seconds


@dataclass(frozen=True, eq=False)
class Shared:
    """What all tasks of a pool share: a question, and where to look for its witnesses.

    What is derived from it is made in the process in which a task runs.
    """

    question: Question
    places: Places
    hints: Sequence[Hint] = ()

    def __getstate__(self) -> dict[str, object]:
        # Solvers cannot be pickled, and suggestions are read again.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def attacker(self) -> AttackModel:
        """The attacker's view of the table."""
        return self.question.model

    @cached_property
    def finder(self) -> GeneralFinder:
        """The finder of all tasks in this process; its solver is loaded only here."""
        from evosdc.attack.general import GeneralFinder

        return GeneralFinder(self.attacker, None, self.places)

    @cached_property
    def suggestions(self) -> list[Suggestion]:
        """The hints, read once for all attackers."""
        return [Suggestion(hint, self.attacker) for hint in self.hints]

    @cached_property
    def suggestions_of(self) -> dict[int, list[int]]:
        """The numbers of the suggestions that move each sensitive cell."""
        out: dict[int, list[int]] = {}
        for number, (cells, _) in enumerate(self.hints):
            for cell in cells.tolist():
                if cell in self.attacker.needs:
                    out.setdefault(cell, []).append(number)
        return out


def small_moves_task(shared: Shared, task: LevelTask) -> FoundWitnesses:
    """Cover levels by small moves."""
    levels, seconds = task
    ledger = Ledger(shared.attacker, levels)
    shared.finder.reset(_until(seconds)).cheap(ledger)
    return ledger.findings()


def programs_task(shared: Shared, task: LevelTask) -> FoundWitnesses:
    """Cover levels by programs, or find that they cannot be reached."""
    levels, seconds = task
    deadline = _until(seconds)
    ledger = Ledger(shared.attacker, levels)
    ledger.cover(shared.finder.reset(deadline), deadline)
    return ledger.findings()


def end_task(shared: Shared, task: tuple[int, int, float | None]) -> float | None:
    """Return how far a cell can move one way; None where time runs out."""
    cell, sign, seconds = task
    finder = shared.finder.reset(_until(seconds))
    try:
        in_time(finder.deadline)
        return finder.end(cell, sign)
    except Unfinished:
        return None


@dataclass(frozen=True, eq=False)
class Ends:
    """How far some cells can move, computed beforehand; used in place of a finder."""

    attacker: AttackModel
    found: Mapping[tuple[int, int], float | None]

    def end(self, cell: int, sign: int) -> float:
        """How far a cell can move one way."""
        found = self.found.get((cell, sign))
        if found is None:
            raise Unfinished("the time limit was reached")
        return found


class LevelPool(LazyPool[Shared]):
    """Looks for witnesses of the levels of a question, with workers where slow."""

    def small_moves(self, ledger: Ledger) -> None:
        """Cover what small moves can cover."""
        levels = [
            level for level in ledger.levels() if ledger.attacker.has_room(*level)
        ]
        self._in_waves(small_moves_task, ledger, levels, _SMALL_MOVE_LEVELS, 1)

    def programs(self, ledger: Ledger) -> None:
        """Cover what is left by programs."""
        # Witnesses of programs cover few other levels, so the first wave is full. But a
        # total with one part has its level, and the same witness covers both.
        first, alike = _one_of_each(ledger.levels())
        for levels in first, alike:
            self._in_waves(
                programs_task, ledger, levels, _PROGRAM_LEVELS, _MAX_TASKS_PER_WAVE
            )

    def ends(self, cells: Iterable[int]) -> Ends:
        """Find how far some cells can move, both ways."""
        free = self.shared.attacker.free
        ends = [(cell, sign) for cell in cells if free[cell] for sign in (-1, 1)]
        found: dict[tuple[int, int], float | None] = {}
        for at in range(0, len(ends), _MAX_TASKS_PER_WAVE):
            wave = ends[at : at + _MAX_TASKS_PER_WAVE]
            tasks = ((cell, sign, self.left()) for cell, sign in wave)
            found.update(zip(wave, self.map(end_task, tasks, len(wave)), strict=True))
        return Ends(self.shared.attacker, found)

    def _in_waves(
        self,
        function: Callable[[Shared, LevelTask], FoundWitnesses],
        ledger: Ledger,
        levels: list[Level],
        size: int,
        first: int,
    ) -> None:
        for wave in _growing_waves(ledger, levels, size, first):
            in_time(self.deadline)
            many = -(-len(wave) // size)
            # Levels of similar size are in different tasks, which then take as long.
            tasks = ((wave[k::many], self.left()) for k in range(many))
            for found in self.map(function, tasks, many):
                ledger.merge(found)


def _one_of_each(levels: list[Level]) -> tuple[list[Level], list[Level]]:
    """Split levels into the first of each size and direction, and the others."""
    seen: set[tuple[int, int]] = set()
    firsts: list[Level] = []
    alike: list[Level] = []
    for level in levels:
        _, sign, amount = level
        (alike if (sign, amount) in seen else firsts).append(level)
        seen.add((sign, amount))
    return firsts, alike


def _growing_waves(
    ledger: Ledger, levels: list[Level], size: int, tasks: int
) -> Iterator[list[Level]]:
    """Yield waves of levels that are still open, each of twice as many tasks."""
    at = 0
    while at < len(levels):
        wave: list[Level] = []
        while at < len(levels) and len(wave) < tasks * size:
            cell, sign, _ = levels[at]
            if ledger.is_open(cell, sign) or cell in ledger.open_width:
                wave.append(levels[at])
            at += 1
        if wave:
            yield wave
        tasks = min(2 * tasks, _MAX_TASKS_PER_WAVE)


@dataclass(frozen=True)
class AttackerTask:
    """Cells that no witness is known to protect from an attacker.

    `known` are the cells that it knows, `believes` how far up and down it believes
    others at most, `room` how far down each cell must be movable at most, `seconds`
    the time that is left.
    """

    known: tuple[int, ...]
    believes: Beliefs
    cells: tuple[int, ...]
    room: dict[int, float]
    seconds: float | None

    def needs(self, attacker: AttackModel) -> dict[int, tuple[int, int, int]] | None:
        """Return the levels of the cells; None where one is no whole number."""
        out: dict[int, tuple[int, int, int]] = {}
        for cell in self.cells:
            up, down, width = attacker.needs[cell]
            if cell in self.room:
                most = Fraction(repr(self.room[cell])) * attacker.scale
                if most < down:
                    if most.denominator != 1:
                        return None
                    down = int(most)
            if not (up or down or width):
                return None
            out[cell] = up, down, width
        return out


@dataclass(frozen=True, eq=False)
class LocalFindings:
    """What was found near the cells of an attacker.

    `determined` are cells that follow from the equations alone, `left` those of which
    nothing is known.
    """

    witnesses: list[Witness]
    determined: list[int]
    left: list[int]


def local_task(shared: Shared, task: AttackerTask) -> LocalFindings:
    """Look near some cells for witnesses that an attacker believes possible."""
    needs, deadline = task.needs(shared.attacker), _until(task.seconds)
    if needs is None:
        return LocalFindings([], [], list(task.cells))
    attacker = shared.attacker.knowing(task.known, needs, task.believes)
    determined = [cell for cell in task.cells if not attacker.free[cell]]
    ledger = Ledger(attacker)
    moving = shared.suggestions_of
    numbers = sorted({n for cell in task.cells for n in moving.get(cell, ())})
    suggestions = (shared.suggestions[n].seen_by(attacker) for n in numbers)
    places = take_suggestions(ledger, suggestions)
    finder = shared.finder.about(attacker, deadline, places)
    try:
        finder.cheap(ledger)
        for cell, sign, amount in ledger.levels():
            in_time(deadline)
            if ledger.is_open(cell, sign) and attacker.has_room(cell, sign, amount):
                finder.nearby(ledger, cell, sign, Fraction(amount))
    except Unfinished:
        pass
    still_open = ledger.open_up | ledger.open_down | ledger.open_width
    left = sorted(still_open - set(determined))
    return LocalFindings(ledger.witnesses, determined, left)


def whole_table_task(
    shared: Shared, task: AttackerTask
) -> tuple[TableVerdict, Certificate]:
    """Judge some cells in the whole table as an attacker sees it."""
    question = shared.question
    known = np.zeros(len(question.table), dtype=bool)
    known[list(task.known)] = True
    among = np.zeros(len(question.table), dtype=bool)
    among[list(task.cells)] = True
    return answer(
        replace(
            question,
            known=known if question.known is None else known | question.known,
            among=among,
            room=task.room,
            believes=task.believes,
        ),
        deadline=_until(task.seconds),
    )
