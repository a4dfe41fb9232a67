"""The record of a run tells the truth about how to repeat it."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest

import evosdc
from evosdc.evolution.stopping import EvaluationLimit, TimeLimit
from evosdc.instances import make
from evosdc.suppress import running
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method, find_method
from evosdc.suppress.run.search import Search

# The package gives the verb this name, so that the module is asked for by its own.
solving = import_module("evosdc.api.solve")


def test_a_search_knows_that_it_was_cut_short() -> None:
    now = [0.0]
    search = Search(stop=TimeLimit(1.0), clock=lambda: now[0])
    search.count(3)
    assert not search.stopped()
    now[0] = 2.0
    assert search.stopped()
    assert not search.cut_short
    search.count()  # the pattern that was under way
    assert search.cut_short


def test_a_search_that_ends_between_patterns_is_not_cut_short() -> None:
    search = Search(stop=EvaluationLimit(2))
    search.count(2)
    assert search.stopped()
    assert not search.cut_short


@pytest.mark.parametrize("evaluations", [1, 100])
def test_the_record_says_how_to_repeat_a_run(evaluations: int) -> None:
    table = make("random", 3, shape="4,3,3", sensitive=0.3)
    result = evosdc.protect(
        table, method="attacker", stop=evosdc.Stop(evaluations=evaluations)
    )
    last = result.record[-1].event
    assert "repeats exactly" in last
    again = int(last.split("--evaluations ")[1].split()[0])
    repeat = evosdc.protect(
        table, method="attacker", stop=evosdc.Stop(evaluations=again)
    )
    assert (repeat.table.status == result.table.status).all()


def test_a_hurried_pattern_does_not_pretend_to_repeat() -> None:
    table = make("random", 3, shape="4,3,3", sensitive=0.3)
    result = evosdc.protect(table, method="attacker", time_limit=1e-9)
    assert result.safe
    last = result.record[-1].event
    assert "time limit" in last
    assert "in the middle of a pattern" in last


def test_an_interrupt_before_the_first_pattern_ends_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = find_method("marginal")
    limits = []

    def interrupted(*_: object) -> Pattern:
        raise KeyboardInterrupt

    def watched(problem: Problem, parameters: object, search: Search) -> Pattern:
        limits.append(search.seconds_left())
        return real.run(problem, parameters, search)

    swaps = {"attacker": interrupted, "marginal": watched}

    def find(name: str) -> Method:
        method = find_method(name)
        return replace(method, run=swaps.get(name, method.run))

    monkeypatch.setattr(solving, "find_method", find)
    monkeypatch.setattr(running, "find_method", find)
    table = make("random", 3, shape="4,3,3", sensitive=0.3)
    result = evosdc.protect(table, method="attacker")
    assert result.safe
    assert result.reason == "interrupted"
    assert "by 'marginal'" in result.notes[0]
    assert limits[0] < 10
    assert result.record[0].event == "started: attacker"


def test_an_interrupt_while_the_first_pattern_is_judged_ends_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, calls = solving.judge_all, []

    def judge(*asked: object, **options: object) -> object:
        calls.append(asked)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return real(*asked, **options)

    monkeypatch.setattr(solving, "judge_all", judge)
    table = make("random", 3, shape="4,3,3", sensitive=0.3)
    result = evosdc.protect(table, time_limit=600)
    assert result.safe
    assert result.reason == "interrupted"
    assert result.seconds < 60
