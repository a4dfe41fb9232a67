"""The judge: is every sensitive cell of this pattern protected, and what proves it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evosdc.attack.attempt import attempt, cover_levels, why
from evosdc.attack.certificate import FLOATING, assemble
from evosdc.attack.checker import verify
from evosdc.attack.demands import (
    JudgedLevels,
    counts_whole,
    judged_levels,
    nothing_asked,
)
from evosdc.attack.hints import Hint, Places, take_hints, take_seen
from evosdc.attack.ledger import Ledger, Unfinished, in_time
from evosdc.attack.model import AttackModel, Beliefs
from evosdc.compile.clock import moment
from evosdc.parallel import Workers
from evosdc.results import PUBLISHED, Certificate, Exposure, TableVerdict
from evosdc.table import Table

if TYPE_CHECKING:
    from evosdc.attack.spread import Spread

# Checking what was found may take this much longer than the deadline, in seconds.
_GRACE = 0.5


def judge(
    table: Table,
    *,
    strict: bool = False,
    secondaries: bool = False,
    deadline: float | None = None,
    hints: Sequence[Hint] = (),
    known: NDArray[np.bool_] | None = None,
    whole: bool | None = None,
    among: NDArray[np.bool_] | None = None,
    room: Mapping[int, float] | None = None,
    believes: Beliefs | None = None,
    workers: Workers | None = None,
    seen: Certificate | None = None,
) -> tuple[TableVerdict, Certificate]:
    """Judge the pattern in the statuses of a table.

    Parameters
    ----------
    strict
        Whether levels must be exceeded, not only reached.
    secondaries
        Whether secondaries are judged too: by their own levels, or, where these are 0,
        by whether their value is given away.
    deadline
        Moment of `evosdc.compile.clock.moment` after which what is not decided stays
        open: a cell is called exposed only where that was found.
    hints
        Deviations to look at first, as cells and steps, from whoever made the pattern.
        They are not believed: each is made exact and checked like any other witness.
    known
        Cells whose value the attacker knows although the status says hidden: published
        earlier, left out of a pattern, or the attacker's own. A known cell that is
        judged is exposed.
    whole
        Whether everyone knows that cells are whole numbers, so that only tables of
        whole numbers are possible; as the origin of the table says where None.
    among
        The cells to judge; all that are sensitive (and secondary) where None.
    room
        How far down cells are asked to go at most, by an attacker who knows parts of
        them.
    believes
        How far up and down such an attacker believes that cells can be at most.
    workers
        Who may work; the answer is the same, unless time runs out.
    seen
        Exact witnesses that were found when another pattern of this table was judged.
        Those that move hidden cells only are taken up; the checker looks at all again.

    Returns
    -------
    :
        The verdict, and the witness tables that prove the levels that are covered.
    """
    in_whole = counts_whole(table, whole)
    demands = judged_levels(
        table, strict, secondaries, whole=in_whole, among=among, room=room
    )
    attacker = AttackModel.of(
        table, demands, known=known, in_whole=in_whole, believes=believes
    )
    ledger = Ledger(attacker)
    finder, spread = None, None
    with ExitStack() as helpers:
        if attacker.free.any() and len(demands.cells):
            if seen is not None:
                take_seen(ledger, seen)
            places = take_hints(ledger, hints, deadline)
            finder, spread = _finders(attacker, deadline, places, workers or Workers())
            helpers.enter_context(nullcontext() if spread is None else spread)
            with suppress(Unfinished):
                _search(ledger, finder, spread, deadline)
            _cover_widths(ledger, finder, deadline)
        else:
            ledger.refuted.update((cell, "") for cell in demands.cells.tolist())
        until = None if deadline is None else max(deadline, moment() + _GRACE)
        checking: dict[str, Any] = {
            "strict": strict,
            "secondaries": secondaries,
            "known": known,
            "whole": in_whole,
            "among": among,
            "deadline": until,
            "room": room,
        }
        certificate = assemble(ledger.witnesses)
        report = verify(table, certificate, **checking)
        exact, tolerance, fractions = True, 0.0, False
        if not report.safe and ledger.fractional:
            full = assemble([*ledger.witnesses, *ledger.fractional])
            rounded = verify(table, full, fractions=True, **checking)
            if len(rounded.uncovered) < len(report.uncovered):
                certificate, report, fractions = full, rounded, True
        if not report.safe and ledger.floating:
            full = assemble([*ledger.witnesses, *ledger.fractional, *ledger.floating])
            checking["fractions"] = attacker.fractions
            rough = verify(table, full, tolerance=FLOATING, **checking)
            if len(rough.uncovered) < len(report.uncovered):
                certificate, report = full, rough
                exact, tolerance = False, rough.error
                fractions = attacker.fractions
        bare = report.uncovered.tolist()
        found = [cell for cell in bare if cell in ledger.refuted]
        still_open = tuple(table.label(c) for c in bare if c not in ledger.refuted)
        asked = finder if spread is None else spread.ends(found)
        case = _Case(attacker, demands, asked, ledger, known, deadline)
        exposed = case.exposures(found)
        verdict = TableVerdict(
            ok=False if exposed else None if still_open else True,
            exposed=exposed,
            judged=report.judged,
            exact=exact,
            tolerance=tolerance,
            strict=strict,
            proofs=dict(ledger.proofs),
            open=still_open,
            whole=not fractions if in_whole else None,
        )
    return verdict, certificate


def intervals(
    table: Table,
    cells: ArrayLike,
    *,
    known: NDArray[np.bool_] | None = None,
    whole: bool | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The interval in which an attacker must think each of some cells lies.

    A published or known cell is a point; an end is infinite where nothing bounds it.
    Where only whole numbers are possible the ends are whole, but in tables that are no
    network they are those of a table with fractions, rounded inwards: the true interval
    lies within and may be shorter.
    """
    wanted = np.asarray(cells, dtype=np.int64).ravel()
    in_whole = counts_whole(table, whole)
    attacker = AttackModel.of(table, nothing_asked(), known=known, in_whole=in_whole)
    low, high = table.value[wanted].copy(), table.value[wanted].copy()
    if attacker.free[wanted].any():
        finder = _finder(attacker, None, {})
        for i, cell in enumerate(wanted.tolist()):
            low[i] -= _end(finder, cell, -1)
            high[i] += _end(finder, cell, 1)
    return low, high


def _end(finder: Any, cell: int, sign: int) -> float:
    """How far a cell goes one way: whole where it has to be."""
    end = float(finder.end(cell, sign))
    if finder.attacker.whole and np.isfinite(end):
        return float(np.floor(end + 1e-6))
    return end


def _finder(attacker: AttackModel, deadline: float | None, places: Places) -> Any:
    """The finder for a table; its compiled code and solver are loaded only here."""
    network = attacker.table.network
    if network is not None:
        from evosdc.attack.network import NetworkFinder

        return NetworkFinder(attacker, network, deadline)
    from evosdc.attack.general import GeneralFinder

    return GeneralFinder(attacker, deadline, places)


def _finders(
    attacker: AttackModel, deadline: float | None, places: Places, workers: Workers
) -> tuple[Any, Spread | None]:
    """Return who finds witnesses and, where the work can be spread, who does that."""
    if attacker.table.network is not None:
        return _finder(attacker, deadline, places), None
    from evosdc.attack.spread import Case, Spread

    case = Case(attacker, places)
    return case.finder(deadline), Spread(case, deadline, workers)


def _search(
    ledger: Ledger, finder: Any, spread: Spread | None, deadline: float | None
) -> None:
    """Look for a witness of every level."""
    if spread is not None:
        spread.easy(ledger)
        spread.hard(ledger)
        finder.reset(deadline)
        return
    with suppress(Unfinished):
        finder.cheap(ledger)
    cover_levels(ledger, finder, deadline)


def _cover_widths(ledger: Ledger, finder: Any, deadline: float | None) -> None:
    """Cover sliding levels: one way, the other way, then as far as both ways go."""
    for cell in sorted(ledger.open_width):
        if cell not in ledger.open_width:
            continue
        width = ledger.attacker.needs[cell][2]
        up, down = ledger.reached(cell)
        over = attempt(ledger, finder, cell, 1, width - down, deadline)
        if over or over is None:
            continue
        under = attempt(ledger, finder, cell, -1, width - up, deadline)
        if under or under is None:
            continue
        # By whole numbers a cell that moves by one neither way does not move at all.
        alone = ledger.attacker.whole and width == ledger.attacker.scale
        if alone or _stretch(ledger, finder, cell, width, deadline) is False:
            ledger.refuted.setdefault(cell, why(ledger, cell, 1, -1))


def _stretch(
    ledger: Ledger, finder: Any, cell: int, width: int, deadline: float | None
) -> bool | None:
    try:
        in_time(deadline)
        finder.furthest(ledger, cell, 1, Fraction(width))
        up, _ = ledger.reached(cell)
        return up >= width or bool(finder.reach(ledger, cell, -1, width - up))
    except Unfinished:
        return None


@dataclass(frozen=True, eq=False)
class _Case:
    """All that is known when exposed cells are named."""

    attacker: AttackModel
    demands: JudgedLevels
    finder: Any
    ledger: Ledger
    known: NDArray[np.bool_] | None
    deadline: float | None

    def exposures(self, cells: list[int]) -> tuple[Exposure, ...]:
        row = {cell: i for i, cell in enumerate(self.demands.cells.tolist())}
        return tuple(self._exposure(cell, row[cell]) for cell in cells)

    def _exposure(self, cell: int, i: int) -> Exposure:
        table, demands = self.attacker.table, self.demands
        value = float(table.value[cell])
        reason = self.ledger.refuted[cell]
        if self.known is not None and self.known[cell]:
            reason = PUBLISHED
        low = high = value
        if self.attacker.free[cell]:
            try:
                in_time(self.deadline)
                low, high = value - self._end(cell, -1), value + self._end(cell, 1)
            except Unfinished as stop:
                low = high = np.nan
                reason = reason or f"its interval is not known: {stop}"
        return Exposure(
            cell=cell,
            label=table.label(cell),
            low=low,
            high=high,
            needed_low=value - float(demands.down[i]),
            needed_high=value + float(demands.up[i]),
            needed_width=float(demands.width[i]),
            reason=reason,
        )

    def _end(self, cell: int, sign: int) -> float:
        end = _end(self.finder, cell, sign)
        barred = self.ledger.barred.get((cell, sign))
        if barred is None:
            return end
        return min(end, float(Fraction(barred, self.attacker.scale)) - 1.0)
