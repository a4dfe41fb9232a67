"""A contracted problem has the safe patterns of the whole one, and their costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evosdc.attack import judge
from evosdc.errors import LevelError
from evosdc.instances import make
from evosdc.suppress.methods.contracted import ContractedSearch
from evosdc.suppress.problem.contraction import Contraction, contract
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search

# Known zeros and trees leave many equations with two cells that can move.
KINDS: tuple[dict[str, Any], ...] = (
    {"shape": (5, 4), "zeros": 0.5},
    {"shape": (6, 4), "trees": 2, "zeros": 0.3},
    {"shape": (4, 3, 3), "trees": 1, "zeros": 0.5},
    {"shape": (4, 3, 3), "zeros": 0.6, "linked": True},
    {"shape": (5, 4), "zeros": 0.4, "values": "negative"},
    {"shape": (6, 4), "trees": 1, "zeros": 0.4, "width": 0.4, "bounds": "tau"},
    {"shape": (5, 5), "zeros": 0.4, "values": "decimals", "parts": 2},
)


def contraction(kind: dict[str, Any], seed: int) -> Contraction | None:
    """Contract a random table, where all its levels can be had."""
    problem = Problem.of(make("random", seed, **kind))
    try:
        find_method("marginal").run(problem, None, Search())
    except LevelError:
        return None
    return contract(problem)


def bracket(problem: Problem) -> tuple[float, float]:
    """A lower bound on the least cost of a safe pattern, and the cost of one."""
    method = find_method("optimal")
    search = Search()
    pattern = method.run(problem, method.configure({}), search)
    assert search.bound is not None
    return search.bound, pattern.cost


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_least_cost_is_the_same(kind: dict[str, Any]) -> None:
    smaller = proven = 0
    for seed in range(8):
        found = contraction(kind, seed)
        if found is None or not len(found.whole.levels):
            continue
        smaller += len(found.small.table) < found.whole.hideable.sum()
        (low, high), (bound, cost) = bracket(found.whole), bracket(found.small)
        off = 1e-6 * max(1.0, high)
        assert low <= cost + found.base + off
        assert bound + found.base <= high + off
        if low >= high - off and bound >= cost - off:
            assert cost + found.base == pytest.approx(high, rel=1e-6)
            proven += 1
    assert smaller >= 2
    assert proven >= 2


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("name", ["attacker", "ls-rebuild"])
def test_patterns_of_the_small_problem_expand_to_safe_ones(
    kind: dict[str, Any], name: str
) -> None:
    method = find_method(name)
    for seed in range(6):
        small = contraction(kind, seed)
        if small is None:
            continue
        search = Search()
        options = {"steps": 30} if name == "ls-rebuild" else {}
        pattern = method.run(small.small, method.configure(options), search)
        whole = small.expand(pattern)
        assert whole.cost == pytest.approx(pattern.cost + small.base)
        assert judge(small.whole.table.with_pattern(whole.hidden))[0].safe
        for cells, steps in whole.hints:
            moved = np.zeros(len(small.whole.table))
            moved[cells] = steps
            off = small.whole.table.matrix @ moved
            assert np.abs(off).max() <= 1e-6 * max(1.0, np.abs(moved).max())


def test_a_part_that_is_the_whole_moves_with_it() -> None:
    problem = Problem.of(make("random", 2, shape=(4, 1), sensitive=0.3, zeros=0.0))
    found = contract(problem)
    assert found is not None
    # Four rows of one column each: a row and its only cell are one class.
    assert len(found.small.table) <= 5
    assert found.forced.any()


def test_a_table_that_cannot_shrink_is_left_alone() -> None:
    table = make("random", 1, shape=(5, 5), sensitive=0.3, margins=0.0, zeros=0.0)
    assert contract(Problem.of(table)) is None


def test_a_contracted_run_knows_what_it_gained() -> None:
    """HeurGene's `cost_benefit` compares it with the time: it stopped at once."""
    found = contraction(KINDS[0], 1)
    assert found is not None
    whole = Search()
    inner = ContractedSearch(whole, found)
    first = found.small.pattern(found.small.hideable)
    inner.count(3)
    assert inner.offer(first)
    better = replace(first, cost=0.5 * first.cost)
    inner.count(4)
    assert inner.offer(better)
    assert not inner.offer(first)
    progress = inner.progress()
    assert progress.gained == pytest.approx(0.5 * first.cost)
    assert progress.improved_at == 7
