"""The attacker's program: warm starts that lead nowhere are asked again cold."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc import protect
from evosdc.instances import make
from evosdc.suppress.engine.general import model
from evosdc.suppress.engine.general.programs import Programs
from evosdc.suppress.problem import Problem


def cheapest_costs(problem: Problem) -> list[float]:
    engine, levels = Programs(problem), problem.levels
    out = []
    for cell, sign, amount in zip(levels.cell, levels.sign, levels.amount, strict=True):
        move = engine.cheapest(int(cell), int(sign), float(amount), problem.cost)
        assert move is not None
        out.append(float(problem.cost[move.cells] @ np.abs(move.by)) / amount)
    return out


def test_impatience_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.of(make("random", 3, shape=(4, 4, 3), sensitive=0.3))
    patient = cheapest_costs(problem)
    monkeypatch.setattr(model.DeviationModel, "_patience", lambda _: 1)
    assert cheapest_costs(problem) == pytest.approx(patient)


def test_every_method_of_a_general_table_has_a_lower_bound() -> None:
    table = make("random", 3, shape=(4, 4, 3), sensitive=0.3)
    for method in ("attacker", "marginal", "greedy"):
        result = protect(table, method=method, time_limit=5)
        assert result.safe
        assert result.lower_bound is not None
        assert 0 < result.lower_bound <= result.cost
