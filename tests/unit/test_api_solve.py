"""Pose, solve, judge: what is judged is what was asked, and a limit of time holds."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import evosdc
from builders import flat_table
from evosdc.api.audit import cells_for
from evosdc.attack import judge
from evosdc.instances import make
from evosdc.results import TableVerdict
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.running import RunClock
from evosdc.table import Origin, Table

solving = import_module("evosdc.api.solve")
FIRST = "a first pattern"


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


def undecided(
    monkeypatch: pytest.MonkeyPatch, which: set[int]
) -> list[tuple[TableVerdict, Any]]:
    """Let the judge run out of time on some calls; return what it says."""
    said: list[tuple[TableVerdict, Any]] = []
    judged = solving.judge_all

    def unsure(*asked: Any, **options: Any) -> tuple[TableVerdict, Any]:
        verdict, certificate = judged(*asked, **options)
        if len(said) in which:
            verdict = replace(verdict, ok=None, open=("a cell",))
        said.append((verdict, certificate))
        return said[-1]

    monkeypatch.setattr(solving, "judge_all", unsure)
    return said


def events(result: evosdc.Protection) -> list[str]:
    return [entry.event for entry in result.record]


def test_a_first_pattern_is_judged_early() -> None:
    result = evosdc.protect(
        guarded_grid(), time_limit=40.0, stop=evosdc.Stop(evaluations=20)
    )
    assert result.safe
    (first,) = [event for event in events(result) if event.startswith(FIRST)]
    assert first.endswith("SAFE")


def test_nothing_is_judged_early_without_a_limit_of_time() -> None:
    result = evosdc.protect(
        guarded_grid(), time_limit=None, stop=evosdc.Stop(evaluations=10)
    )
    assert result.safe
    assert not any(event.startswith(FIRST) for event in events(result))


def test_what_was_judged_first_stands_where_the_last_pattern_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = undecided(monkeypatch, set(range(1, 20)))
    result = evosdc.protect(
        guarded_grid(), time_limit=30.0, stop=evosdc.Stop(evaluations=20)
    )
    assert len(said) > 1
    assert result.safe
    assert solving.FIRST_INSTEAD in result.notes


def test_a_limit_that_is_too_short_says_what_to_try() -> None:
    clock = RunClock(10.0)
    clock.count(11.0)
    verdict = TableVerdict(
        ok=None,
        exposed=(),
        judged=100,
        exact=True,
        tolerance=0.0,
        strict=False,
        open=("x",) * 75,
        proofs={},
    )
    words = solving._too_short(clock, verdict, 6.0, "hybrid")
    # Six seconds decided 25 cells, so that 75 need eighteen more.
    assert "75 of 100 cells" in words
    assert words.endswith(
        "try 30 s or more (--time-limit 30), or a quicker method (--method hypercube)"
    )
    # Where nothing is decided nobody knows: four times as long is a try.
    nothing = replace(verdict, open=("x",) * 100)
    words = solving._too_short(clock, nothing, 6.0, "hypercube")
    assert words.endswith("try 45 s or more (--time-limit 45)")


def test_a_part_of_a_clock_ends_earlier() -> None:
    clock = RunClock(100.0)
    short = clock.within(10.0)
    assert clock.end is not None
    assert short.end is not None
    assert short.end < clock.end - 90.0
    assert not short.over()
    short.count(11.0)
    assert short.over()
    assert not clock.over()


def test_cells_that_the_judge_finds_exposed_become_demands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A level that the search misses within its tolerance is asked for again."""
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
    monkeypatch.setattr(solving, "run", search)
    found = evosdc.protect(table, method="attacker", stop=evosdc.Stop(evaluations=5))
    assert found.safe
    # The third cell alone does, so that the second is published again.
    assert found.cost == 60.0
    assert any("more is suppressed" in event for event in events(found))


def beyond_reach() -> Table:
    """Two sensitive cells, of which no pattern protects the first in full."""
    value = [10.0, 20, 30, 40, 50, 60]
    level = [0.0, 8.0, 0, 2.0, 0, 0]
    table = flat_table(
        {"r": "abc", "s": "xy"},
        value,
        status=["s", "u", "s", "u", "s", "s"],
        lpl=level,
        upl=level,
    )
    upper = np.full(len(table), np.inf)
    upper[1] = 25.0
    return table.replace(upper=upper, origin=replace(table.origin, bounds="columns"))


def test_levels_that_no_pattern_gives_are_listed_and_the_rest_protected() -> None:
    result = evosdc.protect(beyond_reach(), stop=evosdc.Stop(evaluations=20))
    assert result.safe is False
    assert result.verdict.exposed_cells == (1,)
    assert any("beyond any pattern: r=a, s=y" in note for note in result.notes)
    assert any("--accept" in step for step in result.verdict.next_steps)


def test_what_can_be_accepted_is_found_out_within_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posing = import_module("evosdc.api.pose")
    asked, deadlines = posing.judge, list[float | None]()

    def watched(*given: Any, deadline: float | None = None, **more: Any) -> Any:
        deadlines.append(deadline)
        return asked(*given, deadline=deadline, **more)

    monkeypatch.setattr(posing, "judge", watched)
    accept = evosdc.CellRequests(accept="r=a,s=y")
    evosdc.protect(beyond_reach(), time_limit=2, workers=1, cells=accept)
    assert deadlines
    assert None not in deadlines


def test_lower_levels_hold_for_the_cells_for_which_they_are_accepted() -> None:
    result = evosdc.protect(
        beyond_reach(),
        stop=evosdc.Stop(evaluations=20),
        cells=evosdc.CellRequests(accept="r=a,s=y"),
    )
    assert result.safe
    assert "lowered to what can be had" in result.claim.rules
    assert any("r=a, s=y (at most" in note for note in result.notes)
    assert result.table.upl[1] <= 5.0
    assert result.table.lpl[3] == 2.0
    with pytest.raises(evosdc.errors.InputError, match="not sensitive"):
        evosdc.protect(
            beyond_reach(),
            stop=evosdc.Stop(evaluations=20),
            cells=evosdc.CellRequests(accept="r=b,s=x"),
        )


def test_a_requested_cell_is_asked_for_no_more_than_the_judge_asks() -> None:
    """North and South suppress each other: no bound may ask that North can rise."""
    table = flat_table(
        {"region": "NSEW"},
        [5.0, 0, 20, 30],
        status=["s"] * 4,
        weight=[1.0, 1, 20, 30],
    )
    cells = evosdc.CellRequests(hide="region=N", publish="region=Total")
    result = evosdc.protect(
        table,
        cells=cells,
        prior=evosdc.Prior(bounds="0:inf"),
        read=evosdc.Read(rules="none"),
        stop=evosdc.Stop(evaluations=50),
    )
    assert result.safe
    assert result.lower_bound is not None
    assert result.lower_bound <= 1.0


def test_levels_that_nobody_can_have_bound_no_cost() -> None:
    result = evosdc.protect(beyond_reach(), stop=evosdc.Stop(evaluations=20))
    assert result.lower_bound is not None
    assert result.lower_bound <= result.cost
    everything = evosdc.protect(
        beyond_reach(), method="marginal", stop=evosdc.Stop(evaluations=20)
    )
    assert result.lower_bound <= everything.cost


def test_what_an_interrupt_leaves_is_the_first_pattern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, calls = solving.judge_all, []

    def judge(*asked: Any, **options: Any) -> Any:
        calls.append(asked)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*asked, **options)

    monkeypatch.setattr(solving, "judge_all", judge)
    result = evosdc.protect(
        guarded_grid(), time_limit=30.0, stop=evosdc.Stop(evaluations=20)
    )
    assert result.safe
    assert result.reason == "interrupted"
    assert solving.FIRST_INSTEAD in result.notes


def test_patterns_are_told_before_they_are_judged() -> None:
    told: list[Table] = []
    result = evosdc.protect(
        guarded_grid(),
        run=evosdc.Run(on_pattern=told.append),
        stop=evosdc.Stop(evaluations=5),
    )
    assert np.array_equal(told[-1].hidden, result.table.hidden)


def test_a_pattern_is_not_judged_again_for_what_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Kept secondaries cost 100, the pattern that was judged 10: nothing is cheaper."""
    posed: Any = SimpleNamespace(
        clock=SimpleNamespace(limit=10.0, spent=lambda: 9.0), cost_of=lambda _: 110.0
    )
    pattern = Pattern(np.ones(2, dtype=bool), 10.0)
    first: Any = SimpleNamespace(pattern=pattern, table=None, seconds=0.1)
    search = Search()
    search.offer(pattern)

    def judge(*_: Any) -> None:
        raise AssertionError("judged again")

    monkeypatch.setattr(solving, "_judge", judge)
    solving._Meanwhile(posed, search, first)()


def test_cells_without_time_are_protected_as_in_the_pattern_judged_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last pattern leaves one level open: the first one's witness closes it."""
    table = make("random", 2, shape=(6, 5, 4), sensitive=0.15)
    said: list[tuple[TableVerdict, Any]] = []
    judged = solving.judge_all

    def unsure(
        judged_table: Table, *asked: Any, **options: Any
    ) -> tuple[TableVerdict, Any]:
        verdict, certificate = judged(judged_table, *asked, **options)
        said.append((verdict, certificate))
        if len(said) == 2:
            label = judged_table.label(int(judged_table.primaries[0]))
            verdict = replace(verdict, ok=None, open=(label,))
        return verdict, certificate

    monkeypatch.setattr(solving, "judge_all", unsure)
    # The first one is by single boxes, so that it costs more than what is completed.
    monkeypatch.setattr(solving, "_CELLS_A_SECOND", 0)
    # No pattern is judged in between.
    monkeypatch.setattr(solving, "_JUDGED_FROM", 2.0)
    result = evosdc.protect(table, time_limit=300.0, stop=evosdc.Stop(evaluations=40))
    assert len(said) == 3
    assert result.safe
    assert result.verdict.exact
    assert evosdc.audit(result.table).safe
    assert solving.COMPLETED.format(1) in result.notes


def test_few_cells_are_added_for_the_witness_of_a_level() -> None:
    table = make("random", 4, shape=(6, 5, 4), sensitive=0.15)
    everything = table.with_pattern(table.status != "z")
    _, safe = judge(everything)
    cell = int(table.primaries[0])
    cost = np.ones(len(table))
    hidden = table.status == "u"
    more = cells_for(table, np.array([cell]), hidden, cost, safe, False)
    pattern = table.with_pattern(hidden | more)
    verdict, _ = judge(pattern, among=np.arange(len(table)) == cell)
    assert verdict.safe
    moves = [
        slice(*safe.indptr[w : w + 2])
        for w in range(len(safe.cells))
        if cell in safe.indices[slice(*safe.indptr[w : w + 2])]
    ]
    fewest = min(int((~hidden[safe.indices[part]]).sum()) for part in moves)
    most = sum(int((~hidden[safe.indices[part]]).sum()) for part in moves)
    assert fewest <= int((more & ~hidden).sum()) < most
