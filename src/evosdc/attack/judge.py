"""The judge: is every sensitive cell of this pattern protected, and what proves it?"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evosdc.attack.attacker import Attacker
from evosdc.attack.certificate import assemble
from evosdc.attack.checker import verify
from evosdc.attack.demands import Demands, demands_of
from evosdc.attack.hints import Hint, Places, take_hints
from evosdc.attack.ledger import Ledger, Unfinished
from evosdc.results import Certificate, Exposure, Verdict
from evosdc.table import Table, detect_network

# A witness that could not be made exact is taken up to this share of its move.
_FLOATING = 1e-8


def judge(
    table: Table,
    *,
    strict: bool = False,
    secondaries: bool = False,
    deadline: float | None = None,
    hints: Sequence[Hint] = (),
) -> tuple[Verdict, Certificate]:
    """Judge the pattern in the statuses of a table.

    Parameters
    ----------
    strict
        Whether levels must be exceeded, not only reached.
    secondaries
        Whether secondaries are judged too: by their own levels, or, where these are 0,
        by whether their value is given away.
    deadline
        Moment on the clock of `time.monotonic` after which open cells count as exposed.
    hints
        Deviations to look at first, as cells and steps, from whoever made the pattern.
        They are not believed: each is made exact and checked like any other witness.

    Returns
    -------
    :
        The verdict, and the witness tables that prove the levels that are covered.
    """
    demands = demands_of(table, strict, secondaries)
    attacker = Attacker.of(table, demands)
    ledger = Ledger(attacker)
    finder = None
    if attacker.free.any():
        places = take_hints(ledger, hints)
        finder = _finder(attacker, deadline, places)
        finder.cheap(ledger)
        _cover_levels(ledger, finder, deadline)
        _cover_widths(ledger, finder, deadline)
    certificate = assemble(ledger.witnesses)
    report = verify(table, certificate, strict=strict, secondaries=secondaries)
    exact, tolerance = True, 0.0
    if not report.safe and ledger.floating:
        full = assemble([*ledger.witnesses, *ledger.floating])
        rough = verify(
            table,
            full,
            strict=strict,
            secondaries=secondaries,
            tolerance=_FLOATING,
        )
        if len(rough.uncovered) < len(report.uncovered):
            certificate, report = full, rough
            exact, tolerance = False, rough.error
    exposed = _exposures(attacker, demands, report.uncovered, finder, ledger, deadline)
    verdict = Verdict(
        safe=report.safe,
        exposed=exposed,
        judged=report.judged,
        exact=exact,
        tolerance=tolerance,
        strict=strict,
        ways=dict(ledger.ways),
    )
    return verdict, certificate


def intervals(
    table: Table, cells: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The interval in which an attacker must think each of some cells lies.

    A published cell is a point; an end is infinite where nothing bounds it.
    """
    wanted = np.asarray(cells, dtype=np.int64).ravel()
    empty = np.empty(0)
    nobody = Demands(empty.astype(np.int64), empty, empty, empty, empty.astype(bool))
    attacker = Attacker.of(table, nobody)
    low, high = table.value[wanted].copy(), table.value[wanted].copy()
    if attacker.free[wanted].any():
        finder = _finder(attacker, None, {})
        for i, cell in enumerate(wanted.tolist()):
            low[i] -= finder.end(cell, -1)
            high[i] += finder.end(cell, 1)
    return low, high


def _finder(attacker: Attacker, deadline: float | None, places: Places) -> Any:
    """The finder for a table; its compiled code and solver are loaded only here."""
    network = detect_network(attacker.table.matrix)
    if network is not None:
        from evosdc.attack.network import NetworkFinder

        return NetworkFinder(attacker, network)
    from evosdc.attack.general import GeneralFinder

    return GeneralFinder(attacker, deadline, places)


def _late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _cover_levels(ledger: Ledger, finder: Any, deadline: float | None) -> None:
    for cell, sign, _ in ledger.levels():
        if ledger.is_open(cell, sign):
            need = ledger.attacker.needs[cell][0 if sign > 0 else 1]
            _attempt(ledger, finder, cell, ((sign, Fraction(need)),), deadline)


def _cover_widths(ledger: Ledger, finder: Any, deadline: float | None) -> None:
    """Cover sliding levels: one way, the other way, then as far as both ways go."""
    for cell in sorted(ledger.open_width):
        if cell not in ledger.open_width:
            continue
        width = ledger.attacker.needs[cell][2]
        up, down = ledger.reached(cell)
        if _attempt(ledger, finder, cell, ((1, width - down),), deadline):
            continue
        if _attempt(ledger, finder, cell, ((-1, width - up),), deadline):
            continue
        if cell not in ledger.undecided:
            _stretch(ledger, finder, cell, width)


def _attempt(
    ledger: Ledger,
    finder: Any,
    cell: int,
    steps: Iterable[tuple[int, Fraction]],
    deadline: float | None,
) -> bool:
    if _late(deadline):
        ledger.undecided[cell] = "the time limit was reached"
        return False
    try:
        return all(finder.reach(ledger, cell, sign, amount) for sign, amount in steps)
    except Unfinished as stop:
        ledger.undecided[cell] = str(stop)
        return False


def _stretch(ledger: Ledger, finder: Any, cell: int, width: int) -> None:
    try:
        finder.furthest(ledger, cell, 1, Fraction(width))
        up, _ = ledger.reached(cell)
        if up < width:
            finder.reach(ledger, cell, -1, width - up)
    except Unfinished as stop:
        ledger.undecided[cell] = str(stop)


def _exposures(
    attacker: Attacker,
    demands: Demands,
    uncovered: NDArray[np.int64],
    finder: Any,
    ledger: Ledger,
    deadline: float | None,
) -> tuple[Exposure, ...]:
    table = attacker.table
    row = {cell: i for i, cell in enumerate(demands.cells.tolist())}
    exposed = []
    for cell in uncovered.tolist():
        value, i = float(table.value[cell]), row[cell]
        low = high = value
        reason = ledger.undecided.get(cell, "")
        if finder is not None:
            try:
                if _late(deadline):
                    raise Unfinished("the time limit was reached")
                low, high = value - finder.end(cell, -1), value + finder.end(cell, 1)
            except Unfinished as stop:
                low = high = np.nan
                reason = reason or str(stop)
        exposed.append(
            Exposure(
                cell=cell,
                label=table.label(cell),
                low=low,
                high=high,
                needed_low=value - float(demands.down[i]),
                needed_high=value + float(demands.up[i]),
                needed_width=float(demands.width[i]),
                reason=reason,
            )
        )
    return tuple(exposed)
