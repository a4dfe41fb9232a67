"""The judge: is every sensitive cell of this pattern protected, and what proves it?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evosdc.attack.certificate import FLOATING_TOLERANCE, assemble
from evosdc.attack.checker import CheckReport
from evosdc.attack.hints import Hint, Places, take_earlier, take_hints
from evosdc.attack.ledger import Ledger, Unfinished, in_time
from evosdc.attack.model import AttackModel, counts_whole, no_levels
from evosdc.attack.question import Question, end_of_check
from evosdc.parallel import Workers
from evosdc.results import PUBLISHED, Certificate, Exposure, TableVerdict
from evosdc.table import Table

if TYPE_CHECKING:
    from evosdc.attack.tasks import LevelPool


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
        by whether their value can be determined.
    deadline
        Moment of `evosdc.compile.clock.moment` after which what is not decided stays
        open: a cell is called exposed only where that was found.
    hints
        Deviations to try first, as cells and steps, from the maker of the pattern. Each
        is made exact and checked like any other witness.
    known
        Cells whose value the attacker knows although the status says hidden: published
        earlier, left out of a pattern, or the attacker's own. A known cell that is
        judged is exposed.
    whole
        Whether everyone knows that cells are whole numbers, so that only tables of
        whole numbers are possible; as the origin of the table says where None.
    among
        The cells to judge; all that are sensitive (and secondary) where None.
    workers
        Who may work; the answer is the same, unless time runs out.
    seen
        Exact witnesses that were found when another pattern of this table was judged.
        Those that move hidden cells only are used; the checker verifies all again.

    Returns
    -------
    :
        The verdict, and the witness tables that prove the levels that are covered.
    """
    question = Question.of(
        table,
        whole=whole,
        strict=strict,
        secondaries=secondaries,
        known=known,
        among=among,
    )
    return answer(
        question, deadline=deadline, hints=hints, workers=workers, earlier=seen
    )


def answer(
    question: Question,
    *,
    deadline: float | None = None,
    hints: Sequence[Hint] = (),
    workers: Workers | None = None,
    earlier: Certificate | None = None,
) -> tuple[TableVerdict, Certificate]:
    """Answer a question with a verdict and its witnesses: see `judge`."""
    table, attacker = question.table, question.model
    ledger = Ledger(attacker)
    finder, pool = None, None
    with ExitStack() as stack:
        if attacker.free.any() and len(question.levels.cells):
            if earlier is not None:
                take_earlier(ledger, earlier)
            places = take_hints(ledger, hints, deadline)
            finder, pool = _finders(question, deadline, places, workers or Workers())
            if pool is not None:
                stack.enter_context(pool)
            with suppress(Unfinished):
                _search(ledger, finder, pool, deadline)
            ledger.cover_widths(finder, deadline)
        else:
            ledger.refuted.update((c, "") for c in question.levels.cells.tolist())
        check = _check(question, ledger, deadline)
        uncovered = check.report.uncovered.tolist()
        refuted = [cell for cell in uncovered if cell in ledger.refuted]
        still_open = tuple(table.label(c) for c in uncovered if c not in ledger.refuted)
        ends = finder if pool is None else pool.ends(refuted)
        exposed = _exposures(question, ledger, refuted, ends, deadline)
    verdict = TableVerdict(
        ok=False if exposed else None if still_open else True,
        exposed=exposed,
        judged=check.report.judged,
        exact=check.exact,
        tolerance=0.0 if check.exact else check.report.error,
        strict=question.strict,
        proofs=dict(ledger.proofs),
        open=still_open,
        whole=not check.fractions if question.whole else None,
    )
    return verdict, check.certificate


def intervals(
    table: Table,
    cells: ArrayLike,
    *,
    known: NDArray[np.bool_] | None = None,
    whole: bool | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the attacker's intervals of some cells: their lower and upper ends.

    A published or known cell is a point; an end is infinite where nothing bounds it.
    Where only whole numbers are possible the ends are whole, but in tables that are no
    network they are those of a table with fractions, rounded inwards: the true interval
    lies within and may be shorter.
    """
    wanted = np.asarray(cells, dtype=np.int64).ravel()
    in_whole = counts_whole(table, whole)
    attacker = AttackModel.of(table, no_levels(), known=known, in_whole=in_whole)
    low, high = table.value[wanted].copy(), table.value[wanted].copy()
    if attacker.free[wanted].any():
        finder = _finder(attacker, None)
        for i, cell in enumerate(wanted.tolist()):
            low[i] -= _end(finder, cell, -1)
            high[i] += _end(finder, cell, 1)
    return low, high


def _end(finder: Any, cell: int, sign: int) -> float:
    """How far a cell can move one way, rounded inwards where it must be whole."""
    end = float(finder.end(cell, sign))
    if finder.attacker.whole and np.isfinite(end):
        return float(np.floor(end + 1e-6))
    return end


def _finder(attacker: AttackModel, deadline: float | None) -> Any:
    """The finder for a table; its compiled code and solver are loaded only here."""
    network = attacker.table.network
    if network is not None:
        from evosdc.attack.network import NetworkFinder

        return NetworkFinder(attacker, network, deadline)
    from evosdc.attack.general import GeneralFinder

    return GeneralFinder(attacker, deadline)


def _finders(
    question: Question, deadline: float | None, places: Places, workers: Workers
) -> tuple[Any, LevelPool | None]:
    """Return a finder of witnesses and, for general tables, a pool that uses it."""
    if question.table.network is not None:
        return _finder(question.model, deadline), None
    from evosdc.attack.tasks import LevelPool, Shared

    shared = Shared(question, places)
    return shared.finder.reset(deadline), LevelPool(shared, deadline, workers)


def _search(
    ledger: Ledger, finder: Any, pool: LevelPool | None, deadline: float | None
) -> None:
    """Look for a witness of every level."""
    if pool is not None:
        pool.small_moves(ledger)
        pool.programs(ledger)
        finder.reset(deadline)
        return
    with suppress(Unfinished):
        finder.cheap(ledger)
    ledger.cover(finder, deadline)


@dataclass(frozen=True, eq=False)
class _Check:
    """The witnesses that are used, and the checker's report."""

    certificate: Certificate
    report: CheckReport
    exact: bool = True
    fractions: bool = False


def _check(question: Question, ledger: Ledger, deadline: float | None) -> _Check:
    """Check the exact witnesses, and others only where these cover more cells."""
    until = end_of_check(deadline)
    witnesses = assemble(ledger.witnesses)
    best = _Check(witnesses, question.check(witnesses, until=until))
    if not best.report.safe and ledger.fractional:
        more = assemble([*ledger.witnesses, *ledger.fractional])
        report = question.check(more, until=until, fractions=True)
        if len(report.uncovered) < len(best.report.uncovered):
            best = _Check(more, report, fractions=True)
    if not best.report.safe and ledger.floating:
        more = assemble([*ledger.witnesses, *ledger.fractional, *ledger.floating])
        fractions = ledger.attacker.fractions
        report = question.check(
            more, until=until, fractions=fractions, tolerance=FLOATING_TOLERANCE
        )
        if len(report.uncovered) < len(best.report.uncovered):
            best = _Check(more, report, exact=False, fractions=fractions)
    return best


def _exposures(
    question: Question,
    ledger: Ledger,
    cells: Sequence[int],
    finder: Any,
    deadline: float | None,
) -> tuple[Exposure, ...]:
    """Describe exposed cells, with the intervals that the attacker is left with."""
    table, attacker, known = question.table, question.model, question.known

    def end(cell: int, sign: int) -> float:
        found = _end(finder, cell, sign)
        barred = ledger.barred.get((cell, sign))
        if barred is None:
            return found
        return min(found, float(Fraction(barred, attacker.scale)) - 1.0)

    exposed = []
    for cell in cells:
        low = high = float(table.value[cell])
        is_known = known is not None and known[cell]
        reason = PUBLISHED if is_known else ledger.refuted[cell]
        if attacker.free[cell]:
            try:
                in_time(deadline)
                low, high = low - end(cell, -1), high + end(cell, 1)
            except Unfinished as stop:
                low = high = np.nan
                reason = reason or f"its interval is not known: {stop}"
        exposed.append(question.levels.exposure(table, cell, low, high, reason))
    return tuple(exposed)
