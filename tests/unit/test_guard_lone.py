"""Guarding against lone respondents after a search: who shares what is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evosdc
from evosdc.attack import insider_doubts, judge
from evosdc.instances import make
from evosdc.suppress.engine.general.programs import Programs
from evosdc.suppress.problem import Problem
from evosdc.suppress.singletons import guard
from evosdc.table import Table


@pytest.fixture(scope="module")
def cube() -> Table:
    """A table for which programs over all cells are slow; firms alone in cells."""
    plain = make("random", 1, shape=(15, 13, 12), sensitive=0.03)
    rng = np.random.default_rng(1)
    alone = (rng.random(len(plain)) < 0.3) & (plain.status == "u")
    return plain.replace(frequency=np.where(alone, 1, 5))


def test_a_deviation_is_looked_for_once_for_many_respondents(
    cube: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem.of(cube)
    made = evosdc.protect(cube, method="hypercube", singletons=False)
    pattern, hidden = made.table, made.table.hidden
    verdict, certificate = judge(pattern)
    doubts, _ = insider_doubts(pattern, verdict, certificate)
    asked: list[int] = []
    cheapest = Programs.cheapest

    def counted(self: Programs, cell: int, *rest: Any) -> Any:
        asked.append(cell)
        return cheapest(self, cell, *rest)

    monkeypatch.setattr(Programs, "cheapest", counted)
    found = guard(problem, hidden, doubts)
    assert len(doubts) > 20
    # Each pair has two levels, up and down; a deviation closes those of many.
    assert 0 < len(asked) < 0.6 * 2 * len(doubts)
    again = cube.with_pattern(found.hidden)
    verdict, certificate = judge(again, hints=found.hints)
    left, _ = insider_doubts(again, verdict, certificate, hints=found.hints)
    assert set(left) & set(doubts) <= found.hopeless
