"""One level at a time: look for its witness, and say what was found of it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from evosdc.attack.ledger import Ledger, Unfinished, in_time


def attempt(
    ledger: Ledger,
    finder: Any,
    cell: int,
    sign: int,
    amount: Fraction,
    deadline: float | None,
) -> bool | None:
    """Look for a witness of a move; None where time or the solver ran out."""
    if not ledger.attacker.free[cell]:
        return False
    try:
        in_time(deadline)
        return bool(finder.reach(ledger, cell, sign, amount))
    except Unfinished:
        return None


def cover_levels(ledger: Ledger, finder: Any, deadline: float | None) -> None:
    """Cover open levels one by one, or find that they cannot be had."""
    for cell, sign, _ in ledger.levels():
        if not ledger.is_open(cell, sign):
            continue
        need = ledger.attacker.needs[cell][0 if sign > 0 else 1]
        if attempt(ledger, finder, cell, sign, Fraction(need), deadline) is False:
            ledger.refuted.setdefault(cell, why(ledger, cell, sign))


def why(ledger: Ledger, cell: int, *signs: int) -> str:
    """What has to be said of a move that cannot be had."""
    if any((cell, sign) in ledger.barred for sign in signs):
        of = " of a person" if ledger.attacker.table.origin.counts else ""
        return f"only tables with fractions{of} reach its level"
    return ""
