"""Lone respondents as attackers: each knows its own cells beside what is published.

Every other sensitive cell must stay protected against each of them, to its full levels;
but nobody is asked to believe that a total is below what they put into it themselves.
A witness that leaves the cells of a respondent alone proves this as it stands; only
where every witness of a cell moves them is the table judged again, with the cells of
that respondent known. In the end the checker looks at all witnesses together, and only
what it accepts counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import FLOATING, joined
from evosdc.attack.checker import verify
from evosdc.attack.demands import JudgedLevels, counts_whole, judged_levels
from evosdc.attack.judge import judge
from evosdc.clock import moment
from evosdc.results import Certificate, Exposure, Verdict
from evosdc.table import Table
from evosdc.table.singletons import OwnShares, lone_respondents

# Checking what was found may take this much longer than the deadline, in seconds.
_GRACE = 0.5


def judge_insiders(
    table: Table,
    verdict: Verdict,
    certificate: Certificate,
    *,
    strict: bool = False,
    deadline: float | None = None,
    known: NDArray[np.bool_] | None = None,
    whole: bool | None = None,
) -> tuple[Verdict, Certificate]:
    """Judge the sensitive cells again with each lone respondent as attacker.

    Parameters
    ----------
    verdict, certificate
        The judge's word on the pattern, which the answer adds to.
    deadline
        Moment of `evosdc.clock.moment` after which what is not decided stays
        open.
    known, whole
        As for `judge`.

    Returns
    -------
    :
        The verdict with the cells that a lone respondent can estimate too closely, and
        the certificate with the witnesses that leave the respondent's cells alone.
    """
    respondent = lone_respondents(table)
    in_whole = counts_whole(table, whole)
    demands = judged_levels(table, strict, False, whole=in_whole)
    settled = {e.cell for e in verdict.exposed}
    doubts = _doubts(demands, certificate, respondent, deadline)
    found: dict[tuple[int, int], Exposure] = {}
    certificates = [certificate]
    proofs = Counter(verdict.proofs)
    exact, tolerance = verdict.exact, verdict.tolerance
    name = _names(respondent)
    shares = OwnShares(table)
    for who in sorted(doubts):
        cells = sorted(doubts[who] - settled)
        if not cells or _late(deadline):
            continue
        own = respondent == who
        among = np.zeros(len(table), dtype=bool)
        among[cells] = True
        word, more = judge(
            table,
            strict=strict,
            deadline=deadline,
            known=own if known is None else own | known,
            whole=in_whole,
            among=among,
            room=shares.room(np.flatnonzero(own)),
        )
        for e in word.exposed:
            insider = f"the lone respondent of {table.label(name[who])}"
            found[e.cell, name[who]] = replace(
                e, insider=insider, insider_cell=name[who]
            )
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
        whole=in_whole,
        insiders=True,
        deadline=None if deadline is None else max(deadline, moment() + _GRACE),
    )
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
