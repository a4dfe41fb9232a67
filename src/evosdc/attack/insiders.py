"""Lone respondents as attackers: each knows its own cells beside what is published.

Every other sensitive cell must stay protected against each of them, to its full levels.
A witness that leaves the cells of a respondent alone proves this as it stands; only
where every witness of a cell moves them is the table judged again, with the cells of
that respondent published.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.demands import demands_of
from evosdc.attack.judge import judge
from evosdc.results import Certificate, Exposure, Verdict
from evosdc.table import Table
from evosdc.table.singletons import lone_respondents
from evosdc.table.status import PRIMARY, SAFE, SECONDARY


def judge_insiders(
    table: Table,
    verdict: Verdict,
    certificate: Certificate,
    *,
    strict: bool = False,
    deadline: float | None = None,
) -> tuple[Verdict, Certificate]:
    """Judge a pattern again with each lone respondent as attacker.

    Parameters
    ----------
    verdict, certificate
        The judge's word on the pattern, which the answer adds to.

    Returns
    -------
    :
        The verdict with the cells that a lone respondent can estimate too closely, and
        the certificate with the witnesses that leave the respondent's cells alone.
    """
    respondent = lone_respondents(table)
    exposed_already = {e.cell for e in verdict.exposed}
    doubts = _doubts(table, certificate, respondent, strict)
    exposed = list(verdict.exposed)
    certificates = [certificate]
    ways = dict(verdict.ways)
    exact, tolerance = verdict.exact, verdict.tolerance
    for who in sorted(doubts):
        cells = sorted(doubts[who] - exposed_already)
        known = np.flatnonzero(respondent == who)
        if not cells:
            continue
        word, more = judge(
            _seen_by(table, known, np.array(cells)), strict=strict, deadline=deadline
        )
        exposed += [_to(table, int(known[0]), e) for e in word.exposed]
        certificates.append(more)
        for way, count in word.ways.items():
            ways[way] = ways.get(way, 0) + count
        exact, tolerance = exact and word.exact, max(tolerance, word.tolerance)
    return (
        replace(
            verdict,
            safe=not exposed,
            exposed=tuple(exposed),
            exact=exact,
            tolerance=tolerance,
            ways=ways,
            insiders=int(respondent.max(initial=-1)) + 1,
        ),
        _joined(certificates),
    )


def _doubts(
    table: Table,
    certificate: Certificate,
    respondent: NDArray[np.int64],
    strict: bool,
) -> dict[int, set[int]]:
    """For each respondent the cells that no witness proves without moving its own."""
    demands = demands_of(table, strict, False)
    moves = _moves(table, certificate)
    touched = _touched(certificate, respondent)
    doubts: dict[int, set[int]] = defaultdict(set)
    for i, cell in enumerate(demands.cells.tolist()):
        needs = [
            Fraction(repr(float(a[i])))
            for a in (demands.up, demands.down, demands.width)
        ]
        if not any(needs):
            continue
        # Only who is moved by some witness of the cell can be moved by all of them.
        near = {who for w, _ in moves[cell] for who in touched[w]}
        for who in near - {int(respondent[cell])}:
            free = [step for w, step in moves[cell] if who not in touched[w]]
            if not _covered(free, needs):
                doubts[who].add(cell)
    return doubts


def _covered(steps: list[Fraction], needs: list[Fraction]) -> bool:
    up = max([Fraction(0), *steps])
    down = -min([Fraction(0), *steps])
    return up >= needs[0] and down >= needs[1] and up + down >= needs[2]


def _moves(
    table: Table, certificate: Certificate
) -> dict[int, list[tuple[int, Fraction]]]:
    """Witnesses that move each sensitive cell, and by how much."""
    moves: dict[int, list[tuple[int, Fraction]]] = defaultdict(list)
    sensitive = table.status == PRIMARY
    owner = np.repeat(np.arange(len(certificate.cells)), np.diff(certificate.indptr))
    for j in np.flatnonzero(sensitive[certificate.indices]).tolist():
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


def _seen_by(
    table: Table, known: NDArray[np.int64], judged: NDArray[np.int64]
) -> Table:
    """The table as a respondent sees it, with only some cells to be judged."""
    status = table.status.copy()
    others = np.flatnonzero(status == PRIMARY)
    status[np.setdiff1d(others, judged)] = SECONDARY
    status[known] = SAFE
    return table.replace(status=status)


def _to(table: Table, known: int, exposure: Exposure) -> Exposure:
    who = f"to the lone respondent of {table.label(known)}"
    return replace(
        exposure,
        label=f"{exposure.label} ({who})",
        reason=f"{exposure.reason}; {who}" if exposure.reason else who,
    )


def _joined(parts: list[Certificate]) -> Certificate:
    sizes = np.concatenate([np.diff(p.indptr) for p in parts])
    return Certificate(
        cells=np.concatenate([p.cells for p in parts]),
        signs=np.concatenate([p.signs for p in parts]),
        indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        indices=np.concatenate([p.indices for p in parts]),
        numerators=np.concatenate([p.numerators for p in parts]),
        denominators=np.concatenate([p.denominators for p in parts]),
    )
