"""The attacker's program: warm starts that lead nowhere are asked again cold."""

from __future__ import annotations

from evosdc import protect
from evosdc.instances import make
from evosdc.suppress.engine.general.model import Demand, Move
from evosdc.suppress.engine.general.programs import Programs
from evosdc.suppress.problem.problem import Problem


def test_what_was_asked_before_changes_no_answer() -> None:
    problem = Problem.of(make("random", 3, shape=(4, 4, 3), sensitive=0.3))
    programs, levels = Programs(problem), problem.levels

    def cheapest(level: int) -> Move:
        cell, sign = int(levels.cell[level]), int(levels.sign[level])
        amount = float(levels.amount[level])
        move = programs.cheapest(Demand(cell, sign, amount), problem.cost)
        assert move is not None
        return move

    order = range(len(levels))
    there = [cheapest(level) for level in order]
    back = [cheapest(level) for level in reversed(order)]
    for first, again in zip(there, reversed(back), strict=True):
        assert first.cells.tolist() == again.cells.tolist()
        assert first.by.tolist() == again.by.tolist()


def test_every_method_of_a_general_table_has_a_lower_bound() -> None:
    table = make("random", 3, shape=(4, 4, 3), sensitive=0.3)
    for method in ("attacker", "marginal", "greedy"):
        result = protect(table, method=method, time_limit=5)
        assert result.safe
        assert result.lower_bound is not None
        assert 0 < result.lower_bound <= result.cost
