"""The flagship against lone respondents: the optimum of tables small enough to list."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from all_patterns import AllPatterns
from numpy.typing import NDArray

from evosdc.errors import LevelError
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.methods.contracted import run_contracted
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import find_method, load_methods
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.unpick import Grouping
from evosdc.table import Table
from evosdc.table.attackers import lone_attackers, respondent_sums

Mask = NDArray[np.bool_]
# Cells that a pattern may hide or not, so that all patterns can be tried quickly.
_FREE = 7
# Of a level that nobody can reach wholly against an attacker this share may be missing.
_SHORT = 1e-5
PUBLIC_ONLY = sorted(k for k, method in load_methods().items() if method.public_only)


def drawn(seed: int) -> Table:
    """A small table some of whose inner cells have one of three lone respondents."""
    rng = np.random.default_rng(seed)
    shape = (3, 2) if seed % 3 else (2, 2, 1)
    table = make("random", seed, shape=shape, sensitive=0.4, margins=0.2, zeros=0.1)
    alone = (table.codes > 0).all(axis=1) & (rng.random(len(table)) < 0.4)
    names = np.array(["", "r1", "r2", "r3"])
    who = np.where(alone, rng.integers(1, 4, len(table)), 0)
    return table.replace(frequency=np.where(alone, 1, 5), respondent=names[who])


def posed(seed: int) -> Problem:
    return problem_of(drawn(seed))


def problem_of(table: Table) -> Problem:
    return Problem.of(
        table, attackers=lone_attackers(table), sums=respondent_sums(table)
    )


class Listed(AllPatterns):
    """All patterns of a problem, judged by one program a level and attacker.

    And by one for each level of a sum, which all of its cells may move.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.table)
        known = problem.attackers
        self._rooms = []
        for attacker in range(len(known)):
            up, down, at = self._up.copy(), self._down.copy(), known.entries(attacker)
            up[known.cell[at]] = np.minimum(up[known.cell[at]], known.up[at])
            down[known.cell[at]] = np.minimum(down[known.cell[at]], known.down[at])
            self._rooms.append((up, down))
        levels, sums = problem.levels, problem.sums
        wanted = [
            (
                attacker,
                [cell],
                sign,
                problem.amount_against(attacker, cell, sign, amount),
            )
            for cell, sign, amount in zip(
                levels.cell.tolist(), levels.sign.tolist(), levels.amount, strict=True
            )
            for attacker in range(len(known))
        ]
        for number in range(len(sums)):
            cells = sums.cells(number).tolist()
            wanted += [(0, cells, 1, sums.upl[number])]
            wanted += [(0, cells, -1, sums.lpl[number])]
        every = problem.hideable
        # What no pattern gives is asked for as far as it can be had.
        self._levels = [
            (attacker, cells, sign, amount, share)
            for attacker, cells, sign, amount in wanted
            if amount > 0
            and (share := self._share(every, attacker, cells, sign, amount)) > 0
        ]
        self.reachable = all(s > 1 - _SHORT for a, *_, s in self._levels if a == 0)

    def _share(
        self, hidden: Mask, attacker: int, cells: list[int], sign: int, amount: float
    ) -> float:
        self._up, self._down = self._rooms[attacker]
        if len(cells) > 1:
            return min(1.0, self._most(hidden, cells, sign, float(amount)))
        return self._most(hidden, cells[0], sign, float(amount))

    def safe(self, hidden: Mask) -> bool:
        for k, (attacker, cells, sign, amount, share) in enumerate(self._levels):
            had = self._share(hidden, attacker, cells, sign, amount)
            if had < share * (1 - _SHORT):
                self._levels.insert(0, self._levels.pop(k))
                return False
        return True


def cases(seeds: range) -> Iterator[tuple[int, Problem, Listed]]:
    """Yield problems with few free cells whose levels the public cannot get below."""
    for seed in seeds:
        problem = posed(seed)
        if not (problem.has_attackers and len(problem.levels)):
            continue
        listed = Listed(problem)
        if listed.reachable and len(listed.free) <= _FREE:
            yield seed, problem, listed


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_the_flagship_meets_the_optimum_against_lone_respondents(first: int) -> None:
    for seed, problem, listed in cases(range(first, first + 25)):
        best = listed.optimum()
        assert best is not None
        search = Search(seed, EvaluationLimit(200))
        method = find_method("hybrid")
        pattern = run_contracted(problem, method, method.configure({}), search)
        assert listed.safe(pattern.hidden), seed
        assert pattern.cost == pytest.approx(best, rel=1e-6, abs=1e-9), seed
        assert search.bound is not None
        assert search.bound <= best * (1 + 1e-6) + 1e-9, seed


def one_respondent_in_two_rows() -> Table:
    """Two rows, each with a cell of one respondent that two others can move.

    Either cell alone can move by the 10 of their sum with an expensive one only, and
    both can move by 5 with a cheap one each.
    """
    row = [50, 5, 20, 75]
    return Table.of(
        [*row, *row],
        [[1, 1, 1, -1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, -1]],
        weight=[1, 1, 100, 1000] * 2,
        status=["u", "s", "s", "s"] * 2,
        upper=[100, 10, 40, np.inf] * 2,
        lpl=[5, 0, 0, 0] * 2,
        upl=[5, 0, 0, 0] * 2,
        frequency=[1, 9, 9, 30] * 2,
        respondent=["r", "", "", ""] * 2,
    )


@pytest.mark.parametrize("name", ["hybrid", "optimal", "attacker", "greedy", "grasp"])
def test_several_cells_of_a_sum_move_where_that_costs_less(name: str) -> None:
    problem = problem_of(one_respondent_in_two_rows())
    listed = Listed(problem)
    assert listed.optimum() == 2.0
    method, search = find_method(name), Search(1, EvaluationLimit(60))
    pattern = run_contracted(problem, method, method.configure({}), search)
    assert pattern.cost == 2.0
    assert listed.safe(pattern.hidden)
    assert search.bound in (None, 2.0)


def respondents_in_several_cells(seed: int) -> Table:
    """A small table in which one of two respondents is alone in most cells."""
    rng = np.random.default_rng(seed)
    shape = (3, 2) if seed % 2 else (2, 2, 1)
    table = make("random", seed, shape=shape, sensitive=0.6, margins=0.1, zeros=0.0)
    alone = (table.codes > 0).all(axis=1) & (rng.random(len(table)) < 0.7)
    names = np.array(["", "r1", "r2"])
    who = np.where(alone, rng.integers(1, 3, len(table)), 0)
    return table.replace(frequency=np.where(alone, 1, 5), respondent=names[who])


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_the_flagship_meets_the_optimum_with_sums(first: int) -> None:
    """Patterns are as cheap as one by one, and what a sum needs is in the bound."""
    of_sums = 0
    for seed in range(first, first + 40):
        problem = problem_of(respondents_in_several_cells(seed))
        if not len(problem.sums) or not len(problem.levels):
            continue
        listed = Listed(problem)
        if not listed.reachable or len(listed.free) > _FREE:
            continue
        of_sums += 1
        best = listed.optimum()
        assert best is not None
        search, method = Search(seed, EvaluationLimit(200)), find_method("hybrid")
        pattern = run_contracted(problem, method, method.configure({}), search)
        assert listed.safe(pattern.hidden), seed
        assert pattern.cost == pytest.approx(best, rel=1e-6, abs=1e-9), seed
        assert search.bound is not None
        assert search.bound <= best * (1 + 1e-6) + 1e-9, seed
    assert of_sums >= 5


def test_cells_that_sensitive_ones_protect_are_doubted_by_attackers() -> None:
    """No order of the others has them, and the public asks nothing more."""
    table = Table.of(
        [20, 20, 20, 20, 20, 100],
        [[1, 1, 1, 1, 1, -1]],
        weight=[1, 1, 1, 3, 100, 1000],
        status=["u", "u", "s", "s", "s", "s"],
        lpl=[5, 0, 0, 0, 0, 0],
        upl=[5, 0, 0, 0, 0, 0],
        frequency=[9, 1, 9, 9, 9, 50],
    )
    problem = Problem.of(table, attackers=lone_attackers(table))
    method, search = find_method("order-by-weight"), Search()
    pattern = method.run(problem, method.configure({}), search)
    assert pattern.cost == 1.0


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_groups_protected_together_are_safe_from_lone_respondents(first: int) -> None:
    """One deviation for a group must be no witness against who knows some cells."""
    for seed, problem, listed in cases(range(first, first + 25)):
        grouping = Grouping("all", 1, "weight", together=True)
        engine, search = GeneralEngine(problem), Search(seed)
        evaluator = engine.evaluator(grouping, search, clean=False)
        (priced,) = evaluator.evaluate([(np.arange(evaluator.length), None)])
        assert priced is not None
        pattern = evaluator.complete(priced, clean=False)
        assert pattern is not None
        assert listed.safe(pattern.hidden), seed


@pytest.mark.parametrize("name", PUBLIC_ONLY)
def test_methods_that_know_the_public_only_are_finished_for_all(name: str) -> None:
    table = make("random", 3, shape=(5, 4), sensitive=0.2)
    inner = np.flatnonzero((table.codes > 0).all(axis=1) & (table.value > 0))
    frequency = np.full(len(table), 5)
    frequency[inner[::3]] = 1
    table = table.replace(frequency=frequency)
    problem = Problem.of(table, attackers=lone_attackers(table))
    method = find_method(name)
    search = Search(1, EvaluationLimit(60))
    pattern = run_contracted(problem, method, method.configure({}), search)
    assert search.best is not None
    assert search.best.cost == pattern.cost
    # What no pattern gives against an attacker needs no more cells.
    state = engine_for(problem).start(pattern.hidden)
    state.repair()
    assert np.array_equal(state.hidden, pattern.hidden)


def test_programs_without_time_build_nothing_against_attackers() -> None:
    """What is suppressed in a hurry would be doubted by every attacker."""
    for seed in range(40):
        try:
            problem = posed(seed)
        except LevelError:
            continue
        if problem.has_attackers and len(problem.levels):
            engine = GeneralEngine(problem)
            assert engine.build_by_programs(lambda: True) is None
            assert engine.build_by_programs() is not None
            return
    pytest.fail("no table has attackers")
