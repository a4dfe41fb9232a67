"""Attackers who know more, and sums of respondents, against plain linear programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from builders import flat_table
from evosdc.attack import judge, judge_attackers, verify
from evosdc.compile.clock import moment
from evosdc.table import Table
from evosdc.table.attackers import AttackerKnowledge, OwnShares, RespondentSums

Bounds = list[tuple[float, float]]


def random_table(rng: np.random.Generator, shape: tuple[int, ...]) -> Table:
    """Few cells, most of them hidden, with levels and open ends."""
    value = rng.integers(1, 30, int(np.prod(shape))).astype(float)
    if rng.random() < 0.5:
        value = np.round(value * 0.37, 2)
    sensitive = rng.random(len(value)) < 0.35
    level = np.where(sensitive, np.round(0.3 * value, 1), 0.0)
    table = flat_table(
        {name: "pqrs"[:size] for name, size in zip("xyz", shape, strict=False)},
        value,
        status=np.where(sensitive, "u", "s"),
        lpl=level,
        upl=level * rng.choice([0.0, 1.0]),
        spl=np.where(rng.random(len(value)) < 0.3, 2.5 * level, 0.0),
    )
    others = rng.random(len(table)) < rng.choice([0.85, 1.0])
    return table.with_pattern((table.status == "u") | others)


def random_attackers(
    rng: np.random.Generator, table: Table, many: int
) -> AttackerKnowledge:
    """Coalitions who know some cells, and contributors with a share of others."""
    start, cells = [0, 0], []
    up: list[float] = []
    down: list[float] = []
    for _ in range(many):
        own = np.sort(rng.choice(len(table), rng.integers(1, 4), replace=False))
        for cell in own.tolist():
            known = rng.random() < 0.5
            rest = np.round(rng.uniform(0.1, 1.0) * table.value[cell], 2)
            cells.append(cell)
            up.append(0.0 if known else float(rng.choice([rest, np.inf])))
            down.append(0.0 if known else float(rest))
        start.append(len(cells))
    kind = ("public",) + ("coalition",) * many
    return AttackerKnowledge(
        np.array(start), np.array(cells), np.array(up), np.array(down), kind
    )


def view(table: Table, attackers: AttackerKnowledge, who: int) -> Bounds:
    """How far each cell can go, as an attacker sees it."""
    below = np.where(table.hidden, table.lower - table.value, 0.0)
    above = np.where(table.hidden, table.upper - table.value, 0.0)
    at = attackers.entries(who)
    for cell, up, down in zip(
        attackers.cell[at], attackers.up[at], attackers.down[at], strict=True
    ):
        below[cell], above[cell] = max(below[cell], -down), min(above[cell], up)
    return list(zip(below.tolist(), above.tolist(), strict=True))


def reach(table: Table, bounds: Bounds, cells: list[int], sign: int) -> float:
    """How far the sum of some cells goes one way."""
    cost = np.zeros(len(table))
    cost[cells] = -sign
    matrix = table.matrix.toarray()
    found = linprog(cost, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=bounds)
    return float("inf") if found.status in (3, 4) else -float(found.fun)


def fails(table: Table, attackers: AttackerKnowledge, who: int, cell: int) -> bool:
    """Whether an attacker estimates a cell too closely, by definition."""
    bounds = view(table, attackers, who)
    up, down = (reach(table, bounds, [cell], sign) for sign in (1, -1))
    below = attackers.room_below(OwnShares(table), who)
    over, width = float(table.upl[cell]), float(table.spl[cell])
    under = min(float(table.lpl[cell]), below.get(cell, np.inf))
    if not (over or under or width):
        return up + down < 1e-9
    near = 1e-7
    return up < over - near or down < under - near or up + down < width - near


@pytest.mark.parametrize("shape", [(3, 3), (3, 2, 2), (4, 3)])
@pytest.mark.parametrize("seed", range(8))
def test_attackers_find_what_programs_find(seed: int, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, shape)
    attackers = random_attackers(rng, table, 6)
    public, certificate = judge(table)
    none = RespondentSums.none()
    word, full = judge_attackers(
        table, public, certificate, attackers=attackers, sums=none
    )
    settled = {e.cell for e in public.exposed}
    expected = {
        (cell, attackers.describe(table, who))
        for who in range(1, len(attackers))
        for cell in table.primaries.tolist()
        if cell not in settled and cell not in attackers.known(who)
        if fails(table, attackers, who, cell)
    }
    assert {(e.cell, e.insider) for e in word.exposed if e.insider} == expected
    assert not word.open
    assert word.insiders == 6
    report = verify(table, full, insiders=True, attackers=attackers, sums=none)
    pairs = zip(report.against[:, 0].tolist(), report.attacker.tolist(), strict=True)
    assert not len(report.refused)
    assert {(c, attackers.describe(table, who)) for c, who in pairs} == expected


def firm(published: bool) -> Table:
    """One firm is alone in two cells of a row, whose others may be published."""
    value = [700.0, 300, 50, 60, 80, 70, 65, 90, 500, 400, 60, 75]
    frequency = [1, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]
    respondent = ["f", "f", *[""] * 10]
    level = [70.0, 30, *[0.0] * 10]
    table = flat_table(
        {"x": "abc", "y": "pqrs"},
        value,
        status=["u" if x else "s" for x in level],
        upl=level,
        lpl=level,
        frequency=frequency,
        respondent=respondent,
    )
    hidden = np.isin(np.arange(len(table)), [0, 1, 8, 9])
    if not published:
        hidden |= np.isin(np.arange(len(table)), [2, 10])
    return table.with_pattern(hidden)


def test_a_sum_of_one_firm_that_follows_from_its_row_is_exposed() -> None:
    table = firm(published=True)
    assert judge(table)[0].safe
    word, certificate = judge_attackers(table, *judge(table))
    (exposure,) = [e for e in word.exposed if not e.insider]
    assert word.safe is False
    assert exposure.label == "the sum of x=a, y=p; x=a, y=q (one respondent)"
    assert exposure.low == exposure.high == 1000.0
    assert exposure.needed_high == 1100.0
    report = verify(table, certificate, insiders=True)
    assert not report.safe
    assert report.sums.tolist() == [0]


def test_a_sum_of_one_firm_with_room_is_safe() -> None:
    table = firm(published=False)
    level = np.where(np.arange(len(table)) < 2, [0.04], 0.0) * table.value
    table = table.replace(upl=level, lpl=level)
    hints = judge(table)
    word, certificate = judge_attackers(table, *hints)
    assert word.safe
    report = verify(table, certificate, insiders=True)
    assert report.safe
    assert not len(report.refused)
    # Without the witnesses of the sum nothing proves it.
    assert verify(table, hints[1], insiders=True).sums.tolist() == [0]


@pytest.mark.parametrize("seed", range(8))
def test_sums_reach_what_programs_reach(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, (4, 3))
    cells = [rng.choice(12, 2 + k % 2, replace=False) for k in range(5)]
    start = np.cumsum([0, *map(len, cells)])
    level = np.array([0.3 * float(table.value[c].sum()) for c in cells])
    sums = RespondentSums(start, np.concatenate(cells), level, level.copy())
    public, certificate = judge(table)
    everyone = AttackerKnowledge.public()
    word, full = judge_attackers(
        table, public, certificate, attackers=everyone, sums=sums
    )
    bounds = view(table, everyone, 0)
    expected = [
        s
        for s, asked in enumerate(level)
        for least in [min(reach(table, bounds, cells[s].tolist(), k) for k in (1, -1))]
        if least < asked - 1e-7
    ]
    report = verify(table, full, insiders=True, attackers=everyone, sums=sums)
    assert report.sums.tolist() == expected
    assert len(word.exposed) == len(public.exposed) + len(expected)


def test_a_deadline_leaves_attackers_and_sums_open() -> None:
    table = firm(published=True)
    word, _ = judge_attackers(table, *judge(table), deadline=moment() - 1.0)
    assert word.safe is None
    assert any("one respondent" in label for label in word.open)
    start = moment()
    late, _ = judge_attackers(table, *judge(table), deadline=start + 0.01)
    assert late.safe is not True
