"""Lone respondents as attackers: each knows its own cells beside what is published.

Every other sensitive cell must stay protected against each of them, to its full levels;
but nobody is asked to believe that a total is below what they put into it themselves.
A witness that leaves the cells of a respondent alone proves this as it stands; only
where every witness of a cell moves them is another one looked for, with the cells of
that respondent known: around them first, then in the whole table. In the end the
checker looks at all witnesses together, and only what it accepts counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import FLOATING, Witness, assemble, joined
from evosdc.attack.checker import verify
from evosdc.attack.demands import JudgedLevels, counts_whole, judged_levels
from evosdc.attack.hints import Hint
from evosdc.attack.insider_parts import Doubt, Insiders, judge_wholly, look_around
from evosdc.clock import moment
from evosdc.parallel import Hands, Help
from evosdc.results import Certificate, Exposure, Verdict
from evosdc.table import Table, detect_network
from evosdc.table.singletons import OwnCells, OwnShares, lone_respondents

# Checking what was found may take this much longer than the deadline, in seconds.
_GRACE = 0.5
# Respondents that are asked about between two looks at the clock.
_WAVE = 64


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
    exact, tolerance = verdict.exact, verdict.tolerance
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
    full = joined(certificates)
    report = verify(
        table,
        full,
        strict=strict,
        tolerance=0.0 if exact else FLOATING,
        known=known,
        whole=case.shared.whole,
        insiders=True,
        deadline=None if deadline is None else max(deadline, moment() + _GRACE),
    )
    settled = case.settled
    pairs = [(int(a), int(b)) for a, b in report.against if int(a) not in settled]
    exposed = (*verdict.exposed, *(found[p] for p in pairs if p in found))
    undecided = (table.label(a) for a, b in pairs if (a, b) not in found)
    still_open = tuple(dict.fromkeys([*verdict.open, *undecided]))
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
    alone, and none is found nearby. Whether there is one elsewhere is not asked, which
    would take a program over the whole table for each. It is no verdict. The witnesses
    that were found are returned with those of the certificate, for the judge to see.
    """
    case = _Questions(table, verdict, certificate, strict, known, None, hints)
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
    ) -> None:
        respondent = lone_respondents(table)
        in_whole = counts_whole(table, whole)
        self.shared = Insiders(table, strict, known, in_whole, hints)
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
        asked = _doubts(
            self._demands, self._certificate, self._respondent, hands.deadline
        )
        left = {
            who: cells
            for who in sorted(asked)
            if (cells := sorted(asked[who] - self.settled))
        }
        witnesses: list[Witness] = []
        points: list[tuple[int, int]] = []
        if detect_network(self.shared.table.matrix) is not None:
            return witnesses, points, left  # judged in a moment
        for part in _waves(list(left), hands.deadline):
            found = hands.map(look_around, self._asked(hands, part, left), len(part))
            # Those for whom there was no time stay as they are.
            for who, around in zip(part, found, strict=False):
                witnesses += around.witnesses
                points += [(who, cell) for cell in around.points]
                left[who] = around.left
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
            self._rooms[who] = self._shares.room(self._own.of(who))
        return self._rooms[who]


def _waves(who: list[int], deadline: float | None) -> Iterator[list[int]]:
    """Give out some at a time, until time is up."""
    for at in range(0, len(who), _WAVE):
        if _late(deadline):
            return
        yield who[at : at + _WAVE]


def _late(deadline: float | None) -> bool:
    return deadline is not None and moment() >= deadline


def _names(respondent: NDArray[np.int64]) -> dict[int, int]:
    """The first cell of each respondent."""
    first: dict[int, int] = {}
    for cell in np.flatnonzero(respondent >= 0).tolist():
        first.setdefault(int(respondent[cell]), cell)
    return first


def _doubts(
    demands: JudgedLevels,
    certificate: Certificate,
    respondent: NDArray[np.int64],
    deadline: float | None,
) -> dict[int, set[int]]:
    """For each respondent the cells that no witness proves without moving its own.

    As far as time allows: what is left out, the checker finds not covered.
    """
    if _late(deadline):
        return {}
    moves = _moves(demands, certificate)
    touched = _touched(certificate, respondent)
    doubts: dict[int, set[int]] = defaultdict(set)
    for i, cell in enumerate(demands.cells.tolist()):
        if _late(deadline):
            break
        up, down, width = (
            Fraction(repr(float(a[i])))
            for a in (demands.up, demands.down, demands.width)
        )
        # Only who is moved by some witness of the cell can be moved by all of them.
        near = {who for w, _ in moves[cell] for who in touched[w]}
        near.discard(int(respondent[cell]))
        longest = sorted(moves[cell], key=lambda move: move[1])
        for who in near:
            over = _furthest(reversed(longest), touched, who)
            under = -_furthest(longest, touched, who)
            over, under = max(over, Fraction(0)), max(under, Fraction(0))
            enough = over >= up and under >= down and over + under >= width
            if not enough or (demands.apart[i] and not over + under):
                doubts[who].add(cell)
    return doubts


def _furthest(
    moves: Iterable[tuple[int, Fraction]], touched: list[frozenset[int]], who: int
) -> Fraction:
    """The first move whose witness leaves a respondent alone."""
    return next((step for w, step in moves if who not in touched[w]), Fraction(0))


def _moves(
    demands: JudgedLevels, certificate: Certificate
) -> dict[int, list[tuple[int, Fraction]]]:
    """Witnesses that move each judged cell, and by how much."""
    moves: dict[int, list[tuple[int, Fraction]]] = defaultdict(list)
    owner = np.repeat(np.arange(len(certificate.cells)), np.diff(certificate.indptr))
    for j in np.flatnonzero(np.isin(certificate.indices, demands.cells)).tolist():
        w = int(owner[j])
        step = Fraction(
            int(certificate.numerators[j]), int(certificate.denominators[w])
        )
        moves[int(certificate.indices[j])].append((w, step))
    return moves


def _touched(
    certificate: Certificate, respondent: NDArray[np.int64]
) -> list[frozenset[int]]:
    """The respondents whose cells each witness moves."""
    ends = certificate.indptr.tolist()
    who = respondent[certificate.indices].tolist()
    return [frozenset(x for x in who[a:b] if x >= 0) for a, b in pairwise(ends)]
