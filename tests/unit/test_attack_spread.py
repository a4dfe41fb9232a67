"""The judge's work in parts: the same certificate whoever does them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evosdc
from builders import assert_same_judgement, half_hidden_cube
from evosdc.attack import judge, judge_attackers, tasks
from evosdc.attack.general import GeneralFinder
from evosdc.attack.ledger import Ledger
from evosdc.attack.model import AttackModel, fix_determined, judged_levels
from evosdc.compile.clock import moment
from evosdc.parallel import Workers
from evosdc.parallel import pool as pools
from evosdc.table import Dimension, Hierarchy, Table, build_table
from evosdc.table.attackers import lone_respondents


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts as many as those of a large table, and workers at once."""
    monkeypatch.setattr(tasks, "_SMALL_MOVE_LEVELS", 16)
    monkeypatch.setattr(tasks, "_PROGRAM_LEVELS", 4)
    monkeypatch.setattr(pools, "_SECONDS_BEFORE_WORKERS", -1.0)


@pytest.fixture(scope="module")
def table() -> Table:
    return half_hidden_cube()


@pytest.mark.usefixtures("small_parts")
def test_the_same_certificate_for_any_number_of_workers(table: Table) -> None:
    alone = judge(table)
    assert alone[0].exposed
    assert len(alone[1].cells) > 16
    assert_same_judgement(alone, judge(table, workers=Workers(2)))


def test_the_same_insiders_for_any_number_of_workers(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "_SECONDS_BEFORE_WORKERS", -1.0)
    alone = judge(table)
    insiders = judge_attackers(table, *alone)
    assert len(insiders[0].exposed) > len(alone[0].exposed)
    assert_same_judgement(insiders, judge_attackers(table, *alone, workers=Workers(2)))


@pytest.mark.usefixtures("small_parts")
def test_parts_find_what_the_whole_finds(table: Table) -> None:
    in_parts = judge(table)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "_SMALL_MOVE_LEVELS", 10**6)
        patch.setattr(tasks, "_PROGRAM_LEVELS", 10**6)
        at_once = judge(table)[0]
    assert in_parts.safe is at_once.safe is False
    assert in_parts.judged == at_once.judged
    assert in_parts.exposed_cells == at_once.exposed_cells
    for one, other in zip(in_parts.exposed, at_once.exposed, strict=True):
        assert (one.cell, one.reason) == (other.cell, other.reason)
        assert one.low == pytest.approx(other.low, abs=1e-6)
        assert one.high == pytest.approx(other.high, abs=1e-6)


def test_totals_of_one_part_are_asked_about_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A region with one district has its level, and its witness is one of both."""
    tree = Hierarchy.from_parents(
        {"N": "Total", "S": "Total", "W": "Total", "n": "N", "s": "S", "w": "W"}
    )
    flat = Hierarchy.from_parents(dict.fromkeys("xyz", "Total"))
    dims = [Dimension("region", tree), *(Dimension(d, flat) for d in ("k", "l"))]
    leaves = [
        [tree.node_of[r], flat.node_of[k], flat.node_of[c]]
        for r in "nsw"
        for k in "xyz"
        for c in "xyz"
    ]
    table = build_table(dims, leaves, [10.0 + i for i in range(27)])
    level = np.where(table.value < 15, 2.0, 0.0)
    status = np.where(level > 0, "u", "m")
    hidden = table.replace(status=status, upl=level, lpl=level)
    monkeypatch.setattr(
        tasks,
        "small_moves_task",
        lambda shared, _: Ledger(shared.attacker, []).findings(),
    )
    asked: list[int] = []
    reach = GeneralFinder.reach

    def counted(finder: GeneralFinder, ledger: Ledger, *level: Any) -> bool:
        asked.append(level[0])
        return reach(finder, ledger, *level)

    monkeypatch.setattr(GeneralFinder, "reach", counted)
    verdict, _ = judge(hidden)
    assert verdict.safe
    sizes = len(set(hidden.value[hidden.primaries].tolist()))
    assert sizes < len(hidden.primaries)
    assert len(asked) <= 2 * sizes


def test_nothing_is_said_of_what_there_is_no_time_for(table: Table) -> None:
    verdict, certificate = judge(table, deadline=moment() - 1.0, workers=Workers(2))
    assert verdict.safe is None
    assert not verdict.exposed
    assert len(verdict.open) == verdict.judged
    word, _ = judge_attackers(table, verdict, certificate, deadline=moment() - 1.0)
    assert word.safe is None


@pytest.mark.parametrize("seed", range(3))
def test_who_knows_more_sees_what_the_whole_table_shows(
    table: Table, seed: int
) -> None:
    demands = judged_levels(table, False, False)
    base = AttackModel.of(table, demands)
    respondent = lone_respondents(table)
    who = np.random.default_rng(seed).integers(respondent.max() + 1)
    own = np.flatnonzero(respondent == who)
    seen = base.knowing(own.tolist(), base.needs)
    outside = base.free.copy()
    outside[own] = False
    assert np.array_equal(seen.free, fix_determined(table.matrix, outside))
    assert not seen.up_size[~seen.free].any()
    assert not seen.down_size[own].any()


def test_audit_takes_workers(table: Table) -> None:
    answers: list[Any] = [
        evosdc.audit(table, workers=workers, attackers=evosdc.Attackers(who="public"))
        for workers in (1, 2)
    ]
    assert_same_judgement(*((a.verdict, a.certificate) for a in answers))
