"""A limit of time: what is found is judged, and judging is measured, not guessed."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

import evosdc
from builders import flat_table
from evosdc.api import rehearsal
from evosdc.api.running import Clock
from evosdc.api.stages import Judged
from evosdc.results import Verdict
from evosdc.table import Table

steps = import_module("evosdc.api.steps")
ON_THE_WAY = "settled and judged on the way"


def guarded_grid() -> Table:
    """Three by four; two sensitive cells, each of a lone respondent."""
    value = [10.0, 20, 30, 15, 40, 50, 60, 25, 12, 35, 22, 18]
    status = ["u", *"ssss", "u", *"ssssss"]
    level = [2.0 if s == "u" else 0.0 for s in status]
    return flat_table(
        {"r": "abc", "s": "wxyz"},
        value,
        status=status,
        lpl=level,
        upl=level,
        frequency=[1 if s == "u" else 5 for s in status],
    )


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "_FROM", 0.0)


def undecided(
    monkeypatch: pytest.MonkeyPatch, which: set[int]
) -> list[tuple[Verdict, Any]]:
    """Let the judge run out of time on some calls; return what it says."""
    said: list[tuple[Verdict, Any]] = []
    judged = steps._judged

    def unsure(*asked: Any) -> tuple[Verdict, Any]:
        verdict, certificate = judged(*asked)
        if len(said) in which:
            verdict = replace(verdict, safe=None, open=("a cell",))
        said.append((verdict, certificate))
        return said[-1]

    monkeypatch.setattr(steps, "_judged", unsure)
    return said


def events(result: evosdc.Protection) -> list[str]:
    return [entry.event for entry in result.record]


def test_the_search_has_all_that_judging_does_not_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits: list[float] = []
    made = rehearsal.stopping

    def noted(seconds: float, *rest: Any) -> Any:
        limits.append(seconds)
        return made(seconds, *rest)

    monkeypatch.setattr(rehearsal, "stopping", noted)
    result = evosdc.protect(guarded_grid(), time_limit=40.0, evaluations=20)
    assert result.safe
    assert sum(ON_THE_WAY in event for event in events(result)) == 1
    assert 35.0 < limits[0] < 40.0


def test_nothing_is_rehearsed_without_a_limit_of_time() -> None:
    result = evosdc.protect(guarded_grid(), time_limit=None, evaluations=10)
    assert result.safe
    assert not any(ON_THE_WAY in event for event in events(result))


def test_what_was_judged_stands_where_the_last_pattern_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whatever was found after the rehearsal is another pattern.
    monkeypatch.setattr(Judged, "is_of", lambda *_: False)
    said = undecided(monkeypatch, {1})
    result = evosdc.protect(guarded_grid(), time_limit=30.0, evaluations=20)
    assert len(said) == 2
    assert result.safe
    assert rehearsal.FIRST_INSTEAD in result.notes


def test_a_quick_method_stands_in_where_nothing_can_be_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = undecided(monkeypatch, {0})
    result = evosdc.protect(guarded_grid(), time_limit=30.0, evaluations=500)
    assert len(said) == 2
    assert result.safe
    assert any("by 'hypercube', safe but dearer" in note for note in result.notes)
    assert any("--time-limit" in note for note in result.notes)


def test_a_pattern_that_is_nearly_judged_has_what_is_left_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = undecided(monkeypatch, {0})
    # One of two cells is open: more than half decided in this small table.
    monkeypatch.setattr(rehearsal, "_nearly", lambda verdict: verdict.safe is None)
    result = evosdc.protect(guarded_grid(), time_limit=30.0, evaluations=500)
    assert said[1][0].safe  # the same pattern again; another may be found later
    assert result.safe
    assert sum(ON_THE_WAY in event for event in events(result)) == 2
    assert not any("hypercube" in note for note in result.notes)


def test_a_limit_that_is_too_short_says_what_to_try() -> None:
    clock = Clock(10.0)
    clock.count(11.0)
    verdict = Verdict(
        safe=None,
        exposed=(),
        judged=100,
        exact=True,
        tolerance=0.0,
        strict=False,
        open=("x",) * 75,
        proofs={},
    )
    words = rehearsal.too_short(clock, verdict, 6.0, "hybrid")
    # Six seconds decided 25 cells, so that 75 need eighteen more.
    assert "75 of 100 cells" in words
    assert words.endswith(
        "try 30 s or more (--time-limit 30), or a quicker method (--method hypercube)"
    )
    # Where nothing is decided nobody knows: four times as long is a try.
    nothing = replace(verdict, open=("x",) * 100)
    words = rehearsal.too_short(clock, nothing, 6.0, "hypercube")
    assert words.endswith("try 45 s or more (--time-limit 45)")


def test_a_part_of_a_clock_ends_earlier() -> None:
    clock = Clock(100.0)
    part = clock.part(10.0)
    assert clock.end is not None
    assert part.end is not None
    assert part.end < clock.end - 90.0
    assert not part.over()
    part.count(11.0)
    assert part.over()
    assert not clock.over()
