"""Levels with few digits: never lower, never beyond a cell's room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import evosdc
from evosdc.instances import make
from evosdc.suppress.engine.base import Demands
from evosdc.suppress.engine.general.table import digits_of, round_levels_up
from evosdc.suppress.problem.problem import Problem


def demands_on(problem: Problem) -> Demands:
    levels = problem.levels
    return Demands(levels.cell, levels.sign, levels.amount)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_amounts_are_raised_by_a_thousandth_of_the_unit_at_most(
    seed: int, strict: bool
) -> None:
    table = make("random", seed, shape=(5, 4, 3), sensitive=0.2)
    table = replace(table, upl=table.upl / 3, lpl=table.lpl / 7)
    problem = Problem.of(table, strict=strict)
    demands = demands_on(problem)
    digits = digits_of(problem)
    assert digits is not None
    amount = round_levels_up(problem, demands)
    room = np.where(
        demands.sign > 0, problem.up[demands.cell], problem.down[demands.cell]
    )
    unit = 10.0 ** -(digits + 3)
    assert np.all(amount >= demands.amount)
    assert np.all(amount <= demands.amount + unit * (1 + 1e-9))
    assert np.all((amount <= room) | (amount == demands.amount))
    assert np.any(amount > demands.amount)
    few = np.round(amount, digits + 3) == amount
    assert np.all(few | (amount + unit > room))


def test_amounts_with_few_digits_stay_as_they_are() -> None:
    table = make("random", 0, shape=(4, 3, 3), sensitive=0.2)
    problem = Problem.of(table)
    few = replace(table, upl=np.ceil(table.upl), lpl=np.ceil(table.lpl))
    demands = demands_on(replace(problem, levels=Problem.of(few).levels))
    assert np.array_equal(round_levels_up(problem, demands), demands.amount)


def test_values_with_endless_digits_leave_the_levels_alone() -> None:
    table = make("random", 0, shape=(4, 3, 3), sensitive=0.2)
    third = replace(
        table,
        value=table.value / 3,
        upper=table.upper / 3,
        lower=table.lower / 3,
    )
    problem = Problem.of(third)
    assert digits_of(problem) is None
    demands = demands_on(problem)
    assert round_levels_up(problem, demands) is demands.amount


@pytest.mark.parametrize("method", ["attacker", "order-by-weight"])
def test_a_strict_run_on_a_decimal_table_is_judged_by_its_own_deviations(
    method: str,
) -> None:
    table = make("random", 1, shape=(30, 12, 8), sensitive=0.1)
    names = ("value", "lower", "upper")
    smaller = {name: getattr(table, name) / 100 for name in names}
    table = replace(table, **smaller, upl=table.upl / 300, lpl=table.lpl / 300)
    # Without a limit of time no other pattern is judged before.
    result = evosdc.protect(
        table,
        method=method,
        attackers=evosdc.Attackers(strict=True),
        stop=evosdc.Stop(evaluations=100_000),
    )
    assert result.safe
    assert result.verdict.exact
    assert set(result.verdict.proofs) <= {"hint", "shared"}
