"""Patterns that miss a level by a hair are mended; others are left as they are."""

from __future__ import annotations

import numpy as np
import pytest

import evosdc
from evosdc.api.mending import mend, missed
from evosdc.attack import judge
from evosdc.instances import make
from evosdc.results import Exposure
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import find_method
from evosdc.suppress.search import Search
from evosdc.table import Origin, Table


def exposure(has: float, insider: str = "") -> Exposure:
    ends = {"needed_low": 0.0, "needed_high": 200.0, "needed_width": 0.0}
    return Exposure(3, "c", low=0.0, high=100 + 100 * has, insider=insider, **ends)


def test_a_hair_is_not_half_a_level():
    assert missed([exposure(1 - 1e-7)]) == [3]
    assert missed([exposure(0.5), exposure(1 - 1e-7, "someone")]) == []


@pytest.fixture(scope="module")
def table() -> Table:
    return make("random", 3, shape=(4, 4, 3), sensitive=0.2)


def test_what_is_missing_is_hidden(table: Table):
    problem = Problem.of(table)
    method = find_method("attacker")
    safe = method.run(problem, method.configure({}), Search()).hidden
    gone = np.flatnonzero(safe & ~problem.primary)[0]
    short = safe.copy()
    short[gone] = False
    verdict, _ = judge(table.with_pattern(short))
    assert verdict.exposed
    found = mend(problem, short, [e.cell for e in verdict.exposed], strict=False)
    assert judge(table.with_pattern(found))[0].safe
    assert not (short & ~found).any()


def test_levels_at_the_end_of_what_can_be_had_hide_all_of_it():
    table = Table.of(
        [5.0, 5.0, 10.0],
        [[1, 1, -1]],
        status=["u", "s", "s"],
        upl=[5, 0, 0],
        upper=[np.inf, 10, 10],
    )
    problem = Problem.of(table)
    assert mend(problem, problem.primary, [0], strict=False).all()


def test_a_run_ends_safe_though_the_search_missed_a_hair(
    monkeypatch: pytest.MonkeyPatch,
):
    table = Table.of(
        [50.0, 40.0, 60.0, 150.0],
        [[1, 1, 1, -1]],
        status=["u", "s", "s", "z"],
        upl=[10, 0, 0, 0],
        lower=[0, 30 + 1e-5, 0, 0],
    )
    # As whole numbers the bound would be 31, and the level missed by more.
    table = table.replace(origin=Origin(whole=False))
    almost = np.array([True, True, False, False])

    def search(problem: Problem, *_: object) -> tuple[Pattern, tuple[str, ...]]:
        return problem.pattern(almost), ()

    assert not evosdc.audit(table, almost).safe
    monkeypatch.setattr("evosdc.api.steps.run", search)
    found = evosdc.protect(table, method="attacker")
    assert found.safe
    assert found.cost == 100.0
    assert any("missed by rounding" in entry.event for entry in found.record)
