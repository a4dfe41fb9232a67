"""Attackers who know more than the publication: lone respondents, and others.

Every sensitive cell that an attacker does not know must stay protected against it, to
its full levels, except that no attacker believes a total to be below its own
contribution. A witness that moves no cell further than the attacker believes possible
proves a level against this attacker as well. Others are looked for only where there is
none: first among hints, then near the cells, then in the whole table. Sums of cells in
which one respondent is alone are judged like cells. In the end the checker looks at all
witnesses together, and only what it accepts counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import FLOATING_TOLERANCE, Witness, assemble, joined
from evosdc.attack.checker import CheckReport
from evosdc.attack.hints import Hint, take_suggestions
from evosdc.attack.ledger import Ledger, is_over
from evosdc.attack.question import OpenLevels, Question, end_of_check
from evosdc.attack.sums import describe_sum, judge_sums
from evosdc.attack.tasks import AttackerTask, Shared, local_task, whole_table_task
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

# Time kept for the last check, as a multiple of that of the first, which has fewer
# witnesses: half of it may cut the last check short, twice of it shortens the search.
_TIME_FOR_LAST_CHECK = 3.0
# Attackers of the first wave of tasks, and of the largest: each wave profits from the
# witnesses of those before.
_FIRST_WAVE, _LARGEST_WAVE = 4, 64


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
        The verdict on the pattern against the public, and its witnesses.
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
    question = Question.of(table, whole=whole, strict=strict, known=known)
    attackers = lone_attackers(table) if attackers is None else attackers
    sums = respondent_sums(table) if sums is None else sums
    search = _Search(Shared(question, {}, hints), attackers, sums)
    start = moment()
    first = search.check(certificate, verdict, deadline)
    if deadline is not None:
        deadline_of_search = deadline - _TIME_FOR_LAST_CHECK * (moment() - start)
    else:
        deadline_of_search = None
    found: dict[tuple[int, int], Exposure] = {}
    found_sums: dict[int, Exposure] = {}
    certificates = [certificate]
    verdicts = [verdict]
    with LazyPool(search.shared, deadline_of_search, workers or Workers()) as pool:
        witnesses, determined, left = search.nearby(pool, certificate, first)
        certificates.append(assemble(witnesses))
        for attacker, cell in determined:
            found[cell, attacker] = search.determined(attacker, cell)
        for attacker, (more, proof) in search.in_whole_table(pool, left):
            for exposure in more.exposed:
                found[exposure.cell, attacker] = search.named(attacker, exposure)
            certificates.append(proof)
            verdicts.append(more)
    if len(first.sums) and not is_over(deadline_of_search):
        more, found_sums, proof = judge_sums(
            question,
            sums,
            first.sums.tolist(),
            deadline=deadline_of_search,
            hints=hints,
            workers=workers,
        )
        certificates.append(proof)
        verdicts.append(more)
    total = _combined(verdicts, witnesses)
    full, report = joined(certificates), first
    if len(full.cells) > len(certificate.cells):
        report = search.check(full, total, deadline)
        if report.unchecked:
            full, report, total = certificate, first, verdict
    decided = {e.cell for e in verdict.exposed}
    against = zip(report.against[:, 0].tolist(), report.attacker.tolist(), strict=True)
    pairs = {pair for pair in against if pair[0] not in decided}
    # There may have been no time to check all witnesses: of the cells that were left
    # out the findings of the search count.
    unchecked = {*report.late.tolist(), *report.uncovered.tolist()} - decided
    shown = (found[p] for p in sorted(found) if p in pairs or p[0] in unchecked)
    open_sums = report.sums.tolist()
    exposed_sums = (found_sums[s] for s in open_sums if s in found_sums)
    exposed = (*verdict.exposed, *shown, *exposed_sums)
    undecided = sorted(unchecked | {cell for cell, _ in pairs - found.keys()})
    labels = [table.label(cell) for cell in undecided]
    labels += [describe_sum(table, sums, s) for s in open_sums if s not in found_sums]
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


def _combined(
    verdicts: Sequence[TableVerdict], witnesses: Sequence[Witness]
) -> TableVerdict:
    """Return the first verdict with the proofs of all."""
    proofs = Counter(w.method for w in witnesses)
    for verdict in verdicts:
        proofs.update(verdict.proofs)
    return replace(
        verdicts[0],
        proofs=dict(proofs),
        exact=all(verdict.exact for verdict in verdicts),
        tolerance=max(verdict.tolerance for verdict in verdicts),
        whole=verdicts[0].whole and all(verdict.whole for verdict in verdicts),
    )


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for witnesses that attackers believe possible."""

    shared: Shared
    attackers: AttackerKnowledge
    sums: RespondentSums

    def check(
        self, certificate: Certificate, verdict: TableVerdict, deadline: float | None
    ) -> CheckReport:
        """Return what the checker finds that witnesses do not cover."""
        return self.shared.question.check(
            certificate,
            until=end_of_check(deadline),
            tolerance=0.0 if verdict.exact else FLOATING_TOLERANCE,
            fractions=verdict.whole is False,
            insiders=True,
            attackers=self.attackers,
            sums=self.sums,
        )

    def nearby(
        self, pool: LazyPool[Shared], certificate: Certificate, report: CheckReport
    ) -> tuple[list[Witness], list[tuple[int, int]], dict[int, list[int]]]:
        """Look for witnesses among hints and near the cells that are in doubt.

        Returns the witnesses found, the attackers and cells that follow from the
        equations alone, and by attacker the cells of which nothing is known.
        """
        pairs = zip(
            report.against[:, 0].tolist(), report.attacker.tolist(), strict=True
        )
        model = self.shared.attacker
        levels = OpenLevels(model.needs, model.scale, self.attackers, pairs)
        levels.cover_by(certificate)
        witnesses = self._by_hints(levels, pool.deadline)
        left = levels.by_attacker()
        determined: list[tuple[int, int]] = []
        if self.shared.question.table.network is not None:
            return witnesses, determined, left  # flows in the whole table are fast
        for wave in _waves(list(left), pool.deadline):
            # Witnesses for other attackers may do for these as well.
            for attacker in wave:
                left[attacker] = levels.cells(attacker, left[attacker])
            wave = [attacker for attacker in wave if left[attacker]]
            found = pool.map(local_task, self._tasks(pool, wave, left), len(wave))
            # Attackers for whom there was no time stay as they are.
            for attacker, near in zip(wave, found, strict=False):
                witnesses += near.witnesses
                determined += [(attacker, cell) for cell in near.determined]
                left[attacker] = near.left
                for witness in near.witnesses:
                    levels.cover(witness)
        left = {attacker: cells for attacker, cells in left.items() if cells}
        return witnesses, determined, left

    def _by_hints(self, levels: OpenLevels, deadline: float | None) -> list[Witness]:
        """Return the hints that cover open levels, as witnesses."""
        witnesses: list[Witness] = []
        for suggestion in self.shared.suggestions:
            if is_over(deadline):
                break
            wanted = levels.levels(suggestion.at) if suggestion.is_valid else []
            if wanted:
                ledger = Ledger(self.shared.attacker, wanted)
                take_suggestions(ledger, [suggestion])
                witnesses += [w for w in ledger.witnesses if levels.cover(w)]
        return witnesses

    def in_whole_table(
        self, pool: LazyPool[Shared], left: dict[int, list[int]]
    ) -> Iterator[tuple[int, tuple[TableVerdict, Certificate]]]:
        """Judge the whole table for each attacker with cells that are left."""
        for wave in _waves(list(left), pool.deadline):
            tasks = self._tasks(pool, wave, left)
            found = pool.map(whole_table_task, tasks, len(wave))
            yield from zip(wave, found, strict=False)

    def _tasks(
        self, pool: LazyPool[Shared], wave: list[int], left: dict[int, list[int]]
    ) -> Iterator[AttackerTask]:
        """Yield the tasks of some attackers while there is time."""
        a = self.attackers
        for attacker in wave:
            if is_over(pool.deadline):
                return
            at, room = a.entries(attacker), self._room(attacker)
            entries = zip(
                a.cell[at].tolist(), a.up[at].tolist(), a.down[at].tolist(), strict=True
            )
            cells = left[attacker]
            yield AttackerTask(
                tuple(a.known(attacker).tolist()),
                {cell: (up, down) for cell, up, down in entries if up or down},
                tuple(cells),
                {cell: room[cell] for cell in cells if cell in room},
                pool.left(),
            )

    def determined(self, attacker: int, cell: int) -> Exposure:
        """Describe a cell whose value an attacker can work out."""
        question = self.shared.question
        value = float(question.table.value[cell])
        exposure = question.levels.exposure(question.table, cell, value, value)
        least = value - self._room(attacker).get(cell, np.inf)
        needed = max(exposure.needed_low, least)
        return self.named(attacker, replace(exposure, needed_low=needed))

    def named(self, attacker: int, exposure: Exposure) -> Exposure:
        """Add the name of the attacker to an exposure."""
        return replace(
            exposure,
            insider=self.attackers.describe(self.shared.question.table, attacker),
            insider_cell=int(self.attackers.cells(attacker)[0]),
        )

    @cached_property
    def _shares(self) -> OwnShares:
        return OwnShares(self.shared.question.table)

    @cached_property
    def _room(self) -> Callable[[int], dict[int, float]]:
        """How far below its value each attacker believes a cell, cached."""
        return cache(lambda attacker: self.attackers.room_below(self._shares, attacker))


def _waves(attackers: list[int], deadline: float | None) -> Iterator[list[int]]:
    """Yield attackers in waves that grow, until time is up."""
    at, many = 0, _FIRST_WAVE
    while at < len(attackers) and not is_over(deadline):
        yield attackers[at : at + many]
        at, many = at + many, min(2 * many, _LARGEST_WAVE)
