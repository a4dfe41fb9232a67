"""Lone respondents as attackers: each knows its own cells beside what is published.

Every other sensitive cell must stay protected against each of them, to its full levels;
but nobody is asked to believe that a total is below what they put into it themselves.
A witness that leaves the cells of a respondent alone proves this as it stands; only
where every witness of a cell moves them is another one looked for, with the cells of
that respondent known: around them first, then in the whole table. In the end the
checker looks at all witnesses together, and only what it accepts counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import FLOATING, Witness, assemble, joined
from evosdc.attack.checker import verify
from evosdc.attack.demands import counts_whole, judged_levels
from evosdc.attack.hints import Hint
from evosdc.attack.insider_parts import Doubt, Insiders, judge_wholly, look_around
from evosdc.attack.shown import Shown
from evosdc.clock import moment
from evosdc.parallel import Hands, Help
from evosdc.results import Certificate, Exposure, Verdict
from evosdc.table import Table
from evosdc.table.attackers import OwnCells, OwnShares, lone_respondents

# Checking what was found may take this much longer than the deadline, in seconds.
_GRACE = 0.5
# Respondents that are asked about at a time; the next ones profit from what is found.
_FIRST_WAVE, _WAVE = 4, 64


def judge_insiders(
    table: Table,
    verdict: Verdict,
    certificate: Certificate,
    *,
    strict: bool = False,
    deadline: float | None = None,
    known: NDArray[np.bool_] | None = None,
    whole: bool | None = None,
    hints: Sequence[Hint] = (),
    help: Help | None = None,
) -> tuple[Verdict, Certificate]:
    """Judge the sensitive cells again with each lone respondent as attacker.

    Parameters
    ----------
    verdict, certificate
        The judge's word on the pattern, which the answer adds to.
    deadline
        Moment of `evosdc.clock.moment` after which what is not decided stays
        open.
    known, whole, hints, help
        As for `judge`.

    Returns
    -------
    :
        The verdict with the cells that a lone respondent can estimate too closely, and
        the certificate with the witnesses that leave the respondent's cells alone.
    """
    case = _Questions(table, verdict, certificate, strict, known, whole, hints)
    found: dict[tuple[int, int], Exposure] = {}
    certificates = [certificate]
    proofs = Counter(verdict.proofs)
    exact, tolerance, in_whole = verdict.exact, verdict.tolerance, verdict.whole
    with Hands(case.shared, deadline, help or Help()) as hands:
        witnesses, points, left = case.looked_around(hands)
        certificates.append(assemble(witnesses))
        proofs.update(w.way for w in witnesses)
        for who, cell in points:
            found[cell, case.name[who]] = case.given_away(who, cell)
        for who, (word, more) in case.judged(hands, left):
            for e in word.exposed:
                found[e.cell, case.name[who]] = case.blamed(who, e)
            certificates.append(more)
            proofs.update(word.proofs)
            exact, tolerance = exact and word.exact, max(tolerance, word.tolerance)
            in_whole = in_whole and word.whole
    full = joined(certificates)
    report = verify(
        table,
        full,
        strict=strict,
        tolerance=0.0 if exact else FLOATING,
        known=known,
        whole=case.shared.whole,
        fractions=in_whole is False,
        insiders=True,
        deadline=None if deadline is None else max(deadline, moment() + _GRACE),
    )
    late = set(report.late.tolist()) - case.settled
    pairs = {(a, b) for a, b in report.against.tolist() if a not in case.settled}
    # What was not looked at again is as it was found.
    shown = (found[p] for p in sorted(found) if p in pairs or p[0] in late)
    exposed = (*verdict.exposed, *shown)
    undecided = sorted(late | {a for a, _ in pairs - found.keys()})
    labels = (table.label(a) for a in undecided)
    still_open = tuple(dict.fromkeys([*verdict.open, *labels]))
    return (
        replace(
            verdict,
            safe=False if exposed else None if still_open else verdict.safe,
            exposed=exposed,
            exact=exact,
            tolerance=tolerance,
            proofs=dict(proofs),
            insiders=report.insiders,
            open=still_open,
            whole=in_whole,
        ),
        full,
    )


def insider_doubts(
    table: Table,
    verdict: Verdict,
    certificate: Certificate,
    *,
    strict: bool = False,
    deadline: float | None = None,
    known: NDArray[np.bool_] | None = None,
    hints: Sequence[Hint] = (),
    help: Help | None = None,
) -> tuple[list[tuple[int, int]], Certificate]:
    """Pairs of a sensitive cell and a cell of a respondent who may find it.

    For who makes patterns: no witness is known that leaves the respondent's cells
    alone, and no small move is one. Programs are not solved: whoever hides more solves
    one for each pair, which tells whether there is anything to hide. It is no verdict.
    The witnesses found are returned with those of the certificate, for the judge.
    """
    case = _Questions(
        table, verdict, certificate, strict, known, None, hints, programs=False
    )
    with Hands(case.shared, deadline, help or Help()) as hands:
        witnesses, points, left = case.looked_around(hands)
    pairs = [*points, *((who, cell) for who, cells in left.items() for cell in cells)]
    doubts = sorted((cell, case.name[who]) for who, cell in pairs)
    return doubts, joined([certificate, assemble(witnesses)])


class _Questions:
    """What has to be asked about whom."""

    def __init__(
        self,
        table: Table,
        verdict: Verdict,
        certificate: Certificate,
        strict: bool,
        known: NDArray[np.bool_] | None,
        whole: bool | None,
        hints: Sequence[Hint],
        programs: bool = True,
    ) -> None:
        respondent = lone_respondents(table)
        in_whole = counts_whole(table, whole)
        self.shared = Insiders(table, strict, known, in_whole, hints, programs)
        self.name = _names(respondent)
        self.settled = {e.cell for e in verdict.exposed}
        self._demands = judged_levels(table, strict, False, whole=in_whole)
        self._certificate = certificate
        self._respondent = respondent
        self._own, self._shares = OwnCells(respondent), OwnShares(table)
        self._rooms: dict[int, dict[int, float]] = {}

    def looked_around(
        self, hands: Hands[Insiders]
    ) -> tuple[list[Witness], list[tuple[int, int]], dict[int, list[int]]]:
        """Look around the cells of each respondent that witnesses move.

        Returns the witnesses found, the respondents and cells that follow from the
        equations alone, and the cells of which nothing is known by respondent.
        """
        shown = Shown(
            self._demands, self._respondent, self._certificate, self.shared.whole
        )
        asked = shown.doubts(hands.deadline)
        left = {
            who: cells
            for who in sorted(asked)
            if (cells := sorted(set(asked[who]) - self.settled))
        }
        witnesses: list[Witness] = []
        points: list[tuple[int, int]] = []
        if self.shared.table.network is not None:
            return witnesses, points, left  # judged in a moment
        for part in _waves(list(left), hands.deadline):
            # What was found for others may do for these as well.
            for who in part:
                left[who] = [c for c in left[who] if shown.doubtful(c, who)]
            part = [who for who in part if left[who]]
            found = hands.map(look_around, self._asked(hands, part, left), len(part))
            # Those for whom there was no time stay as they are.
            for who, around in zip(part, found, strict=False):
                witnesses += around.witnesses
                points += [(who, cell) for cell in around.points]
                left[who] = around.left
                shown.take(assemble(around.witnesses))
        return witnesses, points, {who: cells for who, cells in left.items() if cells}

    def judged(
        self, hands: Hands[Insiders], left: dict[int, list[int]]
    ) -> Iterator[tuple[int, tuple[Verdict, Certificate]]]:
        """Judge the table for each respondent of whom not all is known."""
        for part in _waves(list(left), hands.deadline):
            found = hands.map(judge_wholly, self._asked(hands, part, left), len(part))
            yield from zip(part, found, strict=False)

    def _asked(
        self, hands: Hands[Insiders], part: list[int], left: dict[int, list[int]]
    ) -> Iterator[Doubt]:
        """Give out the questions about some respondents while there is time."""
        for who in part:
            if _late(hands.deadline):
                return
            yield self._doubt(who, left[who], hands.left())

    def given_away(self, who: int, cell: int) -> Exposure:
        """Say of a cell that a respondent works it out."""
        table, demands = self.shared.table, self._demands
        at = int(np.searchsorted(demands.cells, cell))
        value = float(table.value[cell])
        down = min(float(demands.down[at]), self._room(who).get(cell, np.inf))
        return self.blamed(
            who,
            Exposure(
                cell=cell,
                label=table.label(cell),
                low=value,
                high=value,
                needed_low=value - down,
                needed_high=value + float(demands.up[at]),
                needed_width=float(demands.width[at]),
                reason="",
            ),
        )

    def blamed(self, who: int, exposure: Exposure) -> Exposure:
        """Name the respondent who finds a cell."""
        own = self.name[who]
        insider = f"the lone respondent of {self.shared.table.label(own)}"
        return replace(exposure, insider=insider, insider_cell=own)

    def _doubt(self, who: int, cells: list[int], seconds: float | None) -> Doubt:
        own = tuple(self._own.of(who).tolist())
        room = self._room(who)
        few = {cell: room[cell] for cell in cells if cell in room}
        return Doubt(own, tuple(cells), few, seconds)

    def _room(self, who: int) -> dict[int, float]:
        if who not in self._rooms:
            self._rooms[who] = self._shares.room_alone(self._own.of(who))
        return self._rooms[who]


def _waves(who: list[int], deadline: float | None) -> Iterator[list[int]]:
    """Give out some at a time, a few at first, until time is up."""
    at, many = 0, _FIRST_WAVE
    while at < len(who) and not _late(deadline):
        yield who[at : at + many]
        at, many = at + many, min(2 * many, _WAVE)


def _late(deadline: float | None) -> bool:
    return deadline is not None and moment() >= deadline


def _names(respondent: NDArray[np.int64]) -> dict[int, int]:
    """The first cell of each respondent."""
    first: dict[int, int] = {}
    for cell in np.flatnonzero(respondent >= 0).tolist():
        first.setdefault(int(respondent[cell]), cell)
    return first
