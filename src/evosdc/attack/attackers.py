"""Attackers who know more than the publication: lone respondents, and others.

Every sensitive cell that an attacker does not know must stay protected against it, to
its full levels; but nobody is asked to believe that a total is below what they put into
it themselves. A witness that moves no cell further than the attacker believes possible
proves this as it stands; only where there is none is another one looked for: among
suggestions first, then around the cells that the attacker knows more of, then in the
whole table. Sums of cells in which one respondent is alone are judged like cells. In
the end the checker looks at all witnesses together, and only what it accepts counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.attacker_parts import Doubt, Shared, judge_wholly, look_around
from evosdc.attack.certificate import FLOATING, Witness, assemble, joined
from evosdc.attack.checker import CheckReport, verify
from evosdc.attack.demands import counts_whole, judged_levels
from evosdc.attack.doubts import Doubts
from evosdc.attack.hints import Hint, take_suggestions
from evosdc.attack.ledger import Ledger
from evosdc.attack.sums import describe, judge_sums
from evosdc.compile.clock import moment
from evosdc.parallel import LazyPool, Workers
from evosdc.results import Certificate, Exposure, TableVerdict
from evosdc.table import Table
from evosdc.table.attackers import (
    AttackerKnowledge,
    OwnShares,
    RespondentSums,
    lone_attackers,
    respondent_sums,
)

# Checking what was found may take this much longer than the deadline, in seconds.
_GRACE = 0.5
# Time kept for the last check, in times of the first, which looks at fewer witnesses:
# at half of it the check may be cut short, at twice of it less is looked for.
_CHECKS = 3.0
# Attackers that are asked about at a time; the next ones profit from what is found.
_FIRST_WAVE, _WAVE = 4, 64


def judge_attackers(
    table: Table,
    verdict: TableVerdict,
    certificate: Certificate,
    *,
    strict: bool = False,
    deadline: float | None = None,
    known: NDArray[np.bool_] | None = None,
    whole: bool | None = None,
    hints: Sequence[Hint] = (),
    workers: Workers | None = None,
    attackers: AttackerKnowledge | None = None,
    sums: RespondentSums | None = None,
) -> tuple[TableVerdict, Certificate]:
    """Judge the sensitive cells again with each of some attackers.

    Parameters
    ----------
    verdict, certificate
        The judge's word on the pattern, which the answer adds to.
    deadline
        Moment of `evosdc.compile.clock.moment` after which what is not decided stays
        open.
    known, whole, hints, workers
        As for `judge`.
    attackers
        Who knows more than everyone, and what; the lone respondents of the table where
        None.
    sums
        Sums of cells of one respondent to be judged as well; those of the table where
        None.

    Returns
    -------
    :
        The verdict with the cells that an attacker can estimate too closely, and the
        certificate with the witnesses that each attacker believes possible.
    """
    case = _Questions.of(table, certificate, strict, known, whole, hints, attackers)
    sums = respondent_sums(table) if sums is None else sums
    start = moment()
    first = case.checked(certificate, sums, verdict, _soon(deadline))
    # The check of all witnesses in the end needs time as well.
    looking = None if deadline is None else deadline - _CHECKS * (moment() - start)
    found: dict[tuple[int, int], Exposure] = {}
    sums_found: dict[int, Exposure] = {}
    certificates = [certificate]
    words = [verdict]
    with LazyPool(case.shared, looking, workers or Workers()) as pool:
        witnesses, points, left = case.looked_around(pool, first)
        certificates.append(assemble(witnesses))
        for who, cell in points:
            found[cell, who] = case.given_away(who, cell)
        for who, (word, more) in case.judged(pool, left):
            for e in word.exposed:
                found[e.cell, who] = case.blamed(who, e)
            certificates.append(more)
            words.append(word)
    if len(first.sums) and not _late(looking):
        word, sums_found, more = judge_sums(
            table,
            sums,
            first.sums.tolist(),
            strict=strict,
            deadline=looking,
            known=known,
            whole=case.shared.whole,
            hints=hints,
            workers=workers or Workers(),
        )
        certificates.append(more)
        words.append(word)
    total = _together(words, witnesses)
    full = joined(certificates)
    report = first
    if len(full.cells) > len(certificate.cells):
        report = case.checked(full, sums, total, _soon(deadline))
        if report.unchecked:
            full, report, total = certificate, first, verdict
    settled = {e.cell for e in verdict.exposed}
    against = zip(report.against[:, 0].tolist(), report.attacker.tolist(), strict=True)
    pairs = {pair for pair in against if pair[0] not in settled}
    # There may have been no time to check all witnesses.
    unseen = {*report.late.tolist(), *report.uncovered.tolist()} - settled
    # What was not looked at again is as it was found.
    shown = (found[p] for p in sorted(found) if p in pairs or p[0] in unseen)
    open_sums = report.sums.tolist()
    of_sums = (sums_found[s] for s in open_sums if s in sums_found)
    exposed = (*verdict.exposed, *shown, *of_sums)
    undecided = sorted(unseen | {a for a, _ in pairs - found.keys()})
    labels = [table.label(a) for a in undecided]
    labels += [describe(table, sums, s) for s in open_sums if s not in sums_found]
    still_open = tuple(dict.fromkeys([*verdict.open, *labels]))
    return (
        replace(
            total,
            ok=False if exposed else None if still_open else verdict.ok,
            exposed=exposed,
            insiders=report.insiders,
            open=still_open,
        ),
        full,
    )


def _together(
    words: Sequence[TableVerdict], witnesses: Sequence[Witness]
) -> TableVerdict:
    """Return the first verdict with how everything was proved."""
    proofs = Counter(w.way for w in witnesses)
    for word in words:
        proofs.update(word.proofs)
    return replace(
        words[0],
        proofs=dict(proofs),
        exact=all(word.exact for word in words),
        tolerance=max(word.tolerance for word in words),
        whole=words[0].whole and all(word.whole for word in words),
    )


@dataclass(frozen=True, eq=False)
class _Questions:
    """What has to be asked about whom."""

    shared: Shared
    attackers: AttackerKnowledge
    certificate: Certificate

    @classmethod
    def of(
        cls,
        table: Table,
        certificate: Certificate,
        strict: bool,
        known: NDArray[np.bool_] | None,
        whole: bool | None,
        hints: Sequence[Hint],
        attackers: AttackerKnowledge | None,
    ) -> _Questions:
        """Set up the questions about a table."""
        in_whole = counts_whole(table, whole)
        shared = Shared(table, strict, known, in_whole, hints)
        return cls(
            shared,
            lone_attackers(table) if attackers is None else attackers,
            certificate,
        )

    @cached_property
    def _shares(self) -> OwnShares:
        return OwnShares(self.shared.table)

    def name(self, who: int) -> int:
        """Return the first cell that an attacker knows more of."""
        return int(self.attackers.cells(who)[0])

    def checked(
        self,
        certificate: Certificate,
        sums: RespondentSums,
        word: TableVerdict,
        deadline: float | None,
    ) -> CheckReport:
        """Return what the checker finds that witnesses do not cover."""
        return verify(
            self.shared.table,
            certificate,
            strict=self.shared.strict,
            tolerance=0.0 if word.exact else FLOATING,
            known=self.shared.known,
            whole=self.shared.whole,
            fractions=word.whole is False,
            insiders=True,
            attackers=self.attackers,
            sums=sums,
            deadline=deadline,
        )

    def looked_around(
        self, pool: LazyPool[Shared], report: CheckReport
    ) -> tuple[list[Witness], list[tuple[int, int]], dict[int, list[int]]]:
        """Look for witnesses of what is in doubt among suggestions and around cells.

        Returns the witnesses found, the attackers and cells that follow from the
        equations alone, and the cells of which nothing is known by attacker.
        """
        pairs = zip(
            report.against[:, 0].tolist(), report.attacker.tolist(), strict=True
        )
        base = self.shared.base
        doubts = Doubts(base.needs, base.scale, self.attackers, pairs)
        doubts.take_all(self.certificate)
        witnesses = self._suggested(doubts, pool.deadline)
        left = doubts.by_attacker()
        points: list[tuple[int, int]] = []
        if self.shared.table.network is not None:
            return witnesses, points, left  # judged in a moment
        for part in _waves(list(left), pool.deadline):
            # What was found for others may do for these as well.
            for who in part:
                left[who] = doubts.cells(who, left[who])
            part = [who for who in part if left[who]]
            found = pool.map(look_around, self._asked(pool, part, left), len(part))
            # Those for whom there was no time stay as they are.
            for who, around in zip(part, found, strict=False):
                witnesses += around.witnesses
                points += [(who, cell) for cell in around.points]
                left[who] = around.left
                for witness in around.witnesses:
                    doubts.take(witness)
        return witnesses, points, {who: cells for who, cells in left.items() if cells}

    def _suggested(self, doubts: Doubts, deadline: float | None) -> list[Witness]:
        """Return the suggestions that cover what is in doubt."""
        base, witnesses = self.shared.base, []
        for suggestion in self.shared.suggestions:
            if _late(deadline):
                break
            levels = doubts.levels(suggestion.at) if suggestion.makes_sense else []
            if not levels:
                continue
            ledger = Ledger(base, levels)
            take_suggestions(ledger, [suggestion])
            witnesses += [w for w in ledger.witnesses if doubts.take(w)]
        return witnesses

    def judged(
        self, pool: LazyPool[Shared], left: dict[int, list[int]]
    ) -> Iterator[tuple[int, tuple[TableVerdict, Certificate]]]:
        """Judge the table for each attacker of whom not all is known."""
        for part in _waves(list(left), pool.deadline):
            found = pool.map(judge_wholly, self._asked(pool, part, left), len(part))
            yield from zip(part, found, strict=False)

    def _asked(
        self, pool: LazyPool[Shared], part: list[int], left: dict[int, list[int]]
    ) -> Iterator[Doubt]:
        """Give out the questions about some attackers while there is time."""
        for who in part:
            if _late(pool.deadline):
                return
            yield self._doubt(who, left[who], pool.left())

    def given_away(self, who: int, cell: int) -> Exposure:
        """Say of a cell that an attacker works it out."""
        table, shared = self.shared.table, self.shared
        demands = judged_levels(table, shared.strict, False, whole=shared.whole)
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
        """Name the attacker who finds a cell."""
        insider = self.attackers.describe(self.shared.table, who)
        return replace(exposure, insider=insider, insider_cell=self.name(who))

    def _doubt(self, who: int, cells: list[int], seconds: float | None) -> Doubt:
        at, known = self.attackers.entries(who), self.attackers.known(who)
        believes = {
            cell: (up, down)
            for cell, up, down in zip(
                self.attackers.cell[at].tolist(),
                self.attackers.up[at].tolist(),
                self.attackers.down[at].tolist(),
                strict=True,
            )
            if up or down
        }
        room = self._room(who)
        few = {cell: room[cell] for cell in cells if cell in room}
        return Doubt(tuple(known.tolist()), believes, tuple(cells), few, seconds)

    @cached_property
    def _rooms(self) -> dict[int, dict[int, float]]:
        return {}

    def _room(self, who: int) -> dict[int, float]:
        if who not in self._rooms:
            self._rooms[who] = self.attackers.room_below(self._shares, who)
        return self._rooms[who]


def _waves(who: list[int], deadline: float | None) -> Iterator[list[int]]:
    """Give out some at a time, a few at first, until time is up."""
    at, many = 0, _FIRST_WAVE
    while at < len(who) and not _late(deadline):
        yield who[at : at + many]
        at, many = at + many, min(2 * many, _WAVE)


def _soon(deadline: float | None) -> float | None:
    """When a check that starts now must end."""
    return None if deadline is None else max(deadline, moment() + _GRACE)


def _late(deadline: float | None) -> bool:
    return deadline is not None and moment() >= deadline
