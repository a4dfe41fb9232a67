"""Attacks on many levels by several workers: the same cuts as by one."""

from __future__ import annotations

import numpy as np
import pytest

import evosdc
from evosdc.instances import make
from evosdc.parallel import LazyPool, Workers
from evosdc.parallel import pool as pools
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.engine.general.cuts import (
    AttackCuts,
    Level,
    LevelBatch,
    LevelPrograms,
    _levels_of,
)
from evosdc.suppress.methods.islands import Island, Islands
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem.of(make("random", 3, shape=(6, 5, 4), sensitive=0.15))


def test_two_processes_find_the_cuts_of_one(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pools, "_SECONDS_BEFORE_WORKERS", -1.0)
    alone, helped = cut_by(problem, 1), cut_by(problem, 2)
    assert helped == alone
    assert alone[2] > 0


def cut_by(problem: Problem, workers: int) -> tuple[float, list[float], int]:
    """Cut by nothing but the attacker's programs."""
    with LazyPool(problem, workers=Workers(workers)) as pool:
        loop = CutLoop(
            problem, bridgeless=False, combined=False, planes=False, pool=pool
        )
        loop.run_nodes()
        loop.run_cuts(lambda: loop.rounds > 6)
        assert pool.opened is (workers == 2)
    return loop.value, loop.fractions.tolist(), len(loop.master.cuts)


@pytest.mark.slow
def test_bounds_by_two_processes_are_those_of_one(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pools, "_SECONDS_BEFORE_WORKERS", -1.0)
    monkeypatch.setattr("evosdc.compile.small_jobs._FEW_CELLS", 0)
    alone, helped = (evosdc.lower_bound(problem.table, workers=n) for n in (1, 2))
    assert alone.complete
    assert (helped.value, helped.cuts) == (alone.value, alone.cuts)


def test_what_was_asked_before_changes_no_answer(problem: Problem):
    rng = np.random.default_rng(1)
    first, other = (problem.primary + rng.random(len(problem.cost)) for _ in range(2))
    fresh, used = LevelPrograms(problem), LevelPrograms(problem)
    levels = _levels_of(problem)
    basis = used.attack(LevelBatch((levels[5], levels[2]), other, None)).basis
    for start in (None, basis):
        asked = LevelBatch((*levels[:2], levels[3]), first * 0.5, start)
        a, b = fresh.attack(asked), used.attack(asked)
        assert any(cut is not None for cut in a.cuts)
        for mine, theirs in zip(a.cuts, b.cuts, strict=True):
            assert (mine is None) == (theirs is None)
            if mine is not None and theirs is not None:
                assert mine.cells.tolist() == theirs.cells.tolist()
                assert mine.coefficients.tolist() == theirs.coefficients.tolist()
        assert all(np.array_equal(p, q) for p, q in zip(a.basis, b.basis, strict=True))


def listened(monkeypatch: pytest.MonkeyPatch) -> list[Level]:
    """The levels that are asked from now on."""
    asked: list[Level] = []
    attack = LevelPrograms.attack

    def listening(self: LevelPrograms, what: LevelBatch) -> object:
        asked.extend(what.levels)
        return attack(self, what)

    monkeypatch.setattr(LevelPrograms, "attack", listening)
    return asked


def test_a_round_without_cuts_has_asked_every_level(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
):
    asked = listened(monkeypatch)
    everything = np.ones(len(problem.cost))
    assert not list(AttackCuts(problem).violated(everything, lambda: False))
    assert asked == _levels_of(problem)


def test_a_round_begins_with_levels_that_gave_cuts(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
):
    asked = listened(monkeypatch)
    monkeypatch.setattr("evosdc.suppress.engine.general.cuts._CUTS_PER_ROUND", 5)
    cuts = AttackCuts(problem)
    x = problem.primary.astype(float)
    found = list(cuts.violated(x, lambda: False))
    assert found
    gave = cuts._levels[: len(found)]
    assert set(gave) <= set(asked)
    asked.clear()
    list(cuts.violated(x, lambda: False))
    assert asked[: len(gave)] == gave


def test_where_the_run_is_over_nothing_is_asked(problem: Problem):
    assert list(AttackCuts(problem).violated(problem.cost * 0.0, lambda: True)) == []


@pytest.mark.parametrize(("workers", "islands", "spare"), [(4, 0, 4), (4, 1, 3)])
def test_workers_that_no_island_has_attack_levels(
    problem: Problem, workers: int, islands: int, spare: int
):
    home = Island(problem, 4, Search(workers=Workers(workers)))
    with Islands(home, islands) as beside:
        assert beside.spare.count == spare
