"""A pattern made to keep what was asked: requests, lone respondents, secondaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.api.running import Clock
from evosdc.attack import insider_doubts, judge, judge_attackers
from evosdc.attack.hints import Hint
from evosdc.errors import LevelError
from evosdc.evolution.stopping import TimeLimit
from evosdc.parallel import Help
from evosdc.results import Certificate, Verdict
from evosdc.suppress.problem import Problem
from evosdc.suppress.requests import CellRequests, with_least_levels
from evosdc.suppress.search import Search
from evosdc.suppress.singletons import Pair, guard, hopeless_words
from evosdc.table import Table
from evosdc.table.attackers import knows_contributors
from evosdc.table.status import PRIMARY, SECONDARY

_RING = "what linked tables in a ring say together of cells that none of them shows"
# Publishing and hiding secondaries settles within a few rounds or not at all.
_ROUNDS = 10


@contextmanager
def blaming(requests: CellRequests) -> Iterator[None]:
    """Say that requests to publish may be the reason where levels cannot be had."""
    try:
        yield
    except LevelError as error:
        if not requests.publish:
            raise
        words = "; ".join(requests.settings()["publish"][:5])
        raise LevelError(
            f"{error.what}; cells that must be published: {words}",
            expected=error.expected,
            hint="ask for fewer cells to be published, prefer them instead, or "
            + error.hint,
        ) from error


def settle_secondaries(
    table: Table,
    problem: Problem,
    hidden: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    *,
    strict: bool,
    known: NDArray[np.bool_],
    search: Search,
    clock: Clock,
) -> NDArray[np.bool_]:
    """Make the secondaries of a pattern safe: none can be worked out.

    A secondary that follows exactly from what is published moves in no deviation, so it
    protects nothing and is published. One that has levels of its own, or must stay
    hidden, gets more cells hidden around it.
    """
    asked = np.zeros(len(table), dtype=bool)
    for _ in range(_ROUNDS):
        judged = table.with_pattern(hidden | kept)
        verdict, _ = judge(
            judged, strict=strict, secondaries=True, known=known, deadline=clock.settled
        )
        bad = [e for e in verdict.exposed if judged.status[e.cell] == SECONDARY]
        useless = [
            e.cell for e in bad if e.low == e.high and not e.reason and not kept[e.cell]
        ]
        hidden = hidden.copy()
        hidden[useless] = False
        asked[[e.cell for e in bad]] = True
        asked[useless] = False
        if useless:
            search.note(f"{len(useless)} secondaries protect nothing: published")
        if len(useless) == len(bad):
            if not useless:
                break
            continue
        hidden = _protected(problem, hidden | kept, asked, strict, search, clock)
    return hidden | kept


def settle_insiders(
    table: Table,
    problem: Problem,
    hidden: NDArray[np.bool_],
    *,
    strict: bool,
    known: NDArray[np.bool_],
    hints: Sequence[Hint],
    search: Search,
    clock: Clock,
    help: Help,
) -> tuple[NDArray[np.bool_], tuple[str, ...], tuple[Hint, ...], Certificate | None]:
    """Hide more until no lone respondent finds a cell that can be protected.

    Also returned is what could not be had, what the judge may be told, and the exact
    witnesses that the judge has seen so far.
    """
    seen: Certificate | None = None
    hopeless: frozenset[Pair] = frozenset()
    before = int(hidden.sum())
    notes: tuple[str, ...] = ()
    told = tuple(hints)
    for _ in range(_ROUNDS):
        judged = table.with_pattern(hidden)
        asking: dict[str, Any] = {
            "strict": strict,
            "known": known,
            "deadline": clock.settled,
            "hints": told,
            "help": help,
        }
        verdict, certificate = judge(judged, **asking, seen=seen)
        doubts, certificate = insider_doubts(judged, verdict, certificate, **asking)
        seen = certificate if verdict.exact else None
        pairs = set(doubts) - hopeless
        if not pairs:
            break
        if clock.over():
            notes = ("time ran out while lone respondents were guarded against",)
            break
        found = guard(problem, hidden, pairs, stopped=clock.over)
        hopeless |= found.hopeless
        told += found.hints
        if not (found.hidden & ~hidden).any():
            # What is left in doubt needs no more cells: the judge has the last word.
            break
        hidden = found.hidden | hidden
    search.note(f"lone respondents: {int(hidden.sum()) - before:+} cells hidden")
    return hidden, hopeless_words(table, hopeless) + notes, told, seen


def judge_all(
    table: Table,
    *,
    strict: bool,
    secondaries: bool,
    singletons: bool | None,
    known: NDArray[np.bool_] | None = None,
    deadline: float | None = None,
    hints: Sequence[Hint] = (),
    help: Help | None = None,
    seen: Certificate | None = None,
) -> tuple[Verdict, Certificate]:
    """Ask the judge, with each lone respondent as attacker too unless told not to.

    Nothing judged is SAFE only where rules looked and found nothing.
    """
    verdict, certificate = judge(
        table,
        strict=strict,
        secondaries=secondaries,
        known=known,
        deadline=deadline,
        hints=hints,
        help=help,
        seen=seen,
    )
    if guarded(table, singletons):
        verdict, certificate = judge_attackers(
            table,
            verdict,
            certificate,
            strict=strict,
            known=known,
            deadline=deadline,
            hints=hints,
            help=help,
        )
    if not verdict.judged and not table.origin.rules:
        verdict = replace(verdict, safe=None)
    if verdict.safe and verdict.judged and table.origin.ring:
        verdict = replace(verdict, safe=None, open=(_RING,))
    return verdict, certificate


def guarded(table: Table, singletons: bool | None) -> bool:
    """Whether lone respondents are attackers: by default where they are known."""
    return knows_contributors(table) if singletons is None else singletons


def as_demands(table: Table, cells: NDArray[np.bool_]) -> Table:
    """Return the table with some cells to be protected like sensitive ones."""
    status = np.where(cells, PRIMARY, table.status)
    return with_least_levels(table, cells).replace(status=status)


def _protected(
    problem: Problem,
    hidden: NDArray[np.bool_],
    asked: NDArray[np.bool_],
    strict: bool,
    search: Search,
    clock: Clock,
) -> NDArray[np.bool_]:
    """Hide more so that some secondaries keep their levels."""
    from evosdc.suppress.engine.finish import cover_and_finish
    from evosdc.suppress.engine.general.engine import GeneralEngine

    table = as_demands(problem.table, asked)
    wider = Problem.of(table, problem.cost, strict=strict)
    # A search of its own: the costs of the wider problem are not those of the run.
    own = Search(seed=search.seed, stop=TimeLimit(clock.before(0.0)))
    state = GeneralEngine(wider).start(hidden)
    found = cover_and_finish(state, own, "secondaries")
    search.note(f"{int(asked.sum())} secondaries needed protection of their own")
    return found.hidden
