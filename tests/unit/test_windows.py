"""Windows: small programs in a large table, and who shares what they find."""

from __future__ import annotations

import numpy as np
import pytest

import evosdc
from evosdc.attack import insider_doubts, judge
from evosdc.instances import make
from evosdc.suppress.engine.general.programs import SMALL, Programs
from evosdc.suppress.engine.general.windows import Windows
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


def test_a_window_is_small_and_its_deviation_one_of_the_table(
    cube: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem.of(cube)
    assert problem.hideable.sum() > SMALL
    programs = Programs(problem)
    price = np.where(problem.hideable, problem.cost, np.inf)
    price[problem.primary] = 0.0
    shut = np.flatnonzero(~problem.primary)[::7]
    price[shut] = np.inf
    sizes: list[int] = []
    within = Programs.within

    def measured(self: Programs, cells: np.ndarray, *asked: object) -> object:
        sizes.append(len(cells))
        return within(self, cells, *asked)  # type: ignore[arg-type]

    monkeypatch.setattr(Programs, "within", measured)
    windows = Windows(programs, price)
    for cell, sign, amount in list(
        zip(
            problem.levels.cell, problem.levels.sign, problem.levels.amount, strict=True
        )
    )[:8]:
        move = windows.cheapest(int(cell), int(sign), float(amount))
        assert move is not None
        steps = np.zeros(len(cube))
        steps[move.cells] = move.by
        assert np.abs(cube.matrix @ steps).max() <= 1e-6 * np.abs(steps).max()
        assert sign * steps[cell] >= amount * (1 - 1e-9)
        assert not steps[shut].any()
        assert (steps <= problem.up + 1e-6).all()
        assert (-steps <= problem.down + 1e-6).all()
    assert sizes
    assert min(sizes) < 0.5 * len(cube)


def test_a_deviation_is_looked_for_once_for_many_respondents(
    cube: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem.of(cube)
    made = evosdc.protect(cube, method="hypercube", singletons=False)
    pattern, hidden = made.table, made.table.hidden
    verdict, certificate = judge(pattern)
    doubts, _ = insider_doubts(pattern, verdict, certificate)
    asked: list[int] = []
    cheapest = Windows.cheapest

    def counted(self: Windows, cell: int, sign: int, amount: float) -> object:
        asked.append(cell)
        return cheapest(self, cell, sign, amount)

    monkeypatch.setattr(Windows, "cheapest", counted)
    found = guard(problem, hidden, doubts)
    assert len(doubts) > 20
    # Each pair has two levels, up and down; a deviation closes those of many.
    assert 0 < len(asked) < 0.6 * 2 * len(doubts)
    again = cube.with_pattern(found.hidden)
    verdict, certificate = judge(again, hints=found.hints)
    left, _ = insider_doubts(again, verdict, certificate, hints=found.hints)
    assert set(left) & set(doubts) <= found.hopeless
