"""A few tables of `benchmarks/bounds_check.py`: bounds against all patterns."""

from __future__ import annotations

import numpy as np
import pytest
from all_patterns import AllPatterns
from bound_twins import check
from drawn_tables import draw

import evosdc
from evosdc.instances import make
from evosdc.suppress.bounds import cut_loop
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.problem.problem import Problem
from evosdc.table import Table


@pytest.mark.parametrize("first", range(0, 200, 10))
def test_no_bound_is_above_a_pattern(first: int) -> None:
    outcomes = [check(seed, largest=20) for seed in range(first, first + 10)]
    assert not [line for outcome in outcomes for line in outcome.bad]
    assert any(outcome.optimum is not None for outcome in outcomes)


def test_cells_without_levels_are_asked_no_more_than_the_judge_asks() -> None:
    """A step of fixed size was asked, up or down: more than some safe patterns have."""
    table = Table.of(
        [10.5, 9.5, 0, 20],
        [[1, 1, 1, -1]],
        weight=[1, 5, 1, 50],
        status=["u", "s", "s", "s"],
        upper=[np.inf, np.inf, 0.25, np.inf],
    )
    # The first cell can only go down, by what the third can go up.
    assert evosdc.audit(table, np.array([True, False, True, False])).safe
    assert AllPatterns(table).optimum() == 1.0
    assert evosdc.lower_bound(table).value == 1.0
    # So small that a step of fixed size is beyond their bounds.
    small = Table.of(
        [1e-6, 1e-6, 2e-6],
        [[1, 1, -1]],
        weight=[1, 1, 50],
        status=["u", "s", "s"],
        lower=[0, 0.9e-6, 0],
        upper=[1, 1.1e-6, 1],
    )
    assert AllPatterns(small).optimum() == evosdc.lower_bound(small).value == 1.0


def test_all_patterns_are_tried() -> None:
    """The cheapest of all safe patterns, found without leaving any out."""
    table = make("random", 1, shape=(3, 2), sensitive=0.2, zeros=0.0)
    all_cells = AllPatterns(table)
    assert 0 < len(all_cells.free) <= 11
    costs = [
        table.weight[hidden & ~all_cells.primary].sum()
        for hidden in map(all_cells.hidden, range(1 << len(all_cells.free)))
        if all_cells.safe(hidden)
    ]
    assert all_cells.optimum() == pytest.approx(min(costs))


def test_rounded_cuts_come_in_limited_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """On general tables rounding must not flood the relaxation."""
    problem = Problem.of(make("random", 3, shape=(6, 6, 6), values="decimals"))
    assert problem.network is None
    loop = CutLoop(problem)
    loop.run_nodes()
    monkeypatch.setattr(cut_loop, "_MOST_ROUNDED", 5)
    before = len(loop.master.cuts)
    assert loop._add_rounded() == 5
    assert len(loop.master.cuts) == before + 5
    x = loop.fractions
    added = [float(c.coefficients @ x[c.cells]) for c in loop.master.cuts[before:]]
    assert np.all(np.array(added) < 1.0)


@pytest.mark.parametrize("seed", [11587, 22191, 27024, 30326])
def test_tables_that_were_read_too_narrowly(seed: int) -> None:
    """Values twelve powers of ten apart, levels at their bounds, hardly any room."""
    assert check(seed).bad == []


def test_counts_that_no_whole_numbers_protect_are_named() -> None:
    """Searches do not know of whole numbers: the judge says what they cannot give."""
    seed = 11691
    assert check(seed).skipped == "beyond any pattern"
    result = evosdc.protect(draw(seed)[1], stop=evosdc.Stop(evaluations=20))
    assert result.verdict.word == "EXPOSED"
    assert any("levels beyond any pattern" in note for note in result.notes)


@pytest.mark.parametrize("seed", [28004, 28238])
def test_searches_know_that_counts_are_whole(seed: int) -> None:
    """Bounds in per cent: a count of 2 known to be from 0.4 to 3.6 is 1, 2 or 3."""
    assert check(seed).bad == []
    assert evosdc.protect(draw(seed)[1], stop=evosdc.Stop(evaluations=20)).safe
