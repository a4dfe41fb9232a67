"""HiTaS: sub-tables first, then the whole; safe whatever its options."""

from __future__ import annotations

import numpy as np
import pytest

import evosdc
from builders import run_method
from evosdc.attack import judge
from evosdc.errors import LevelError, MethodError
from evosdc.evolution.stopping import EvaluationLimit, TimeLimit
from evosdc.instances import make
from evosdc.parallel import Workers
from evosdc.suppress.methods import hitas as hitas_method
from evosdc.suppress.methods.hitas import _Decomposition, solve_problem
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import Method, find_method
from evosdc.suppress.run.search import Search
from evosdc.table import Dimension, Hierarchy, Table, build_table

HITAS = find_method("hitas")


def hitas(table: Table, search: Search | None = None, **options: object) -> np.ndarray:
    chosen = search or Search(stop=EvaluationLimit(1000))
    return run_method("hitas", table, chosen, **options).hidden


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"inherit": None},
        {"inherit": 0.1, "margins": 2.0},
        {"inner": "attacker"},
        {"inner": "hypercube", "again": 0},
    ],
)
@pytest.mark.parametrize("linked", [False, True])
def test_safe(options: dict[str, object], linked: bool) -> None:
    table = make("random", 3, shape=(7, 4, 3), trees=1, linked=linked)
    verdict, _ = judge(table.with_pattern(hitas(table, **options)))
    assert verdict.safe


def two_levels(values: list[float], primary: str) -> Table:
    """Regions N (n1, n2) and S (s1, s2), one response, one sensitive region."""
    tree = Hierarchy.from_parents(
        {"N": "Total", "S": "Total", "n1": "N", "n2": "N", "s1": "S", "s2": "S"}
    )
    leaves = ["n1", "n2", "s1", "s2"]
    table = build_table(
        [Dimension("r", tree)], [[tree.node_of[c]] for c in leaves], values
    )
    at = int(np.flatnonzero(table.codes[:, 0] == tree.node_of[primary])[0])
    status = table.status.copy()
    status[at] = "u"
    level = np.where(np.arange(len(table)) == at, 1.0, 0.0)
    return table.replace(status=status, upl=level, lpl=level)


def test_a_secondary_is_protected_in_every_subtable_it_stands_in() -> None:
    table = two_levels([5, 6, 7, 8], primary="N")
    search = Search(stop=EvaluationLimit(100))
    cut = _Decomposition(Problem.of(table), HITAS.configure({}), search)
    cut.solve()
    names = {table.label(c).split("=")[1] for c in np.flatnonzero(cut.hidden)}
    # N needs S above; N needs a part below, and so does S as it is hidden.
    assert {"N", "S", "n1", "s1"} <= names or {"N", "S", "n2", "s2"} <= names
    left = _Decomposition(Problem.of(table), HITAS.configure({"inherit": None}), search)
    left.solve()
    assert left.hidden.sum() < cut.hidden.sum()


def test_a_margin_is_hidden_only_when_it_must_be() -> None:
    # n1's only partner n2 is an empty cell: the margin N must be hidden, and then S.
    table = two_levels([5, 0, 7, 8], primary="n1")
    problem = Problem.of(table)
    search = Search(stop=EvaluationLimit(100))
    cut = _Decomposition(problem, HITAS.configure({}), search)
    cut.solve()
    assert cut.forced == 1
    assert cut.runs.max() == 1
    assert "a settled margin had to be hidden" in cut.summary()
    verdict, _ = judge(table.with_pattern(hitas(table)))
    assert verdict.safe
    rich = two_levels([5, 6, 7, 8], primary="n1")
    calm = _Decomposition(Problem.of(rich), HITAS.configure({}), search)
    calm.solve()
    assert calm.forced == 0
    assert [rich.label(c) for c in np.flatnonzero(calm.hidden)] == ["r=n1", "r=n2"]


def test_out_of_reach_names_the_cell() -> None:
    table = two_levels([5, 6, 7, 8], primary="n1")
    status = np.where(table.status == "s", "z", table.status)
    with pytest.raises(LevelError, match="r=n1"):
        hitas(table.replace(status=status))


def test_no_time_is_still_safe_and_the_record_says_what_was_cut() -> None:
    table = make("random", 5, shape=(9, 6), trees=2)
    search = Search(stop=TimeLimit(0.0))
    verdict, _ = judge(table.with_pattern(hitas(table, search)))
    assert verdict.safe
    assert any("sub-tables" in e.event for e in search.record.entries)


def test_flat_table_is_left_to_the_best_method() -> None:
    table = make("random", 1, shape=(6, 5))
    search = Search(stop=EvaluationLimit(200))
    hidden = hitas(table, search)
    assert judge(table.with_pattern(hidden))[0].safe
    assert any("single sub-table" in e.event for e in search.record.entries)


@pytest.mark.parametrize(
    "options",
    [{"inner": "hitas"}, {"inner": "nobody"}, {"margins": 0.5}, {"again": -1}],
)
def test_wrong_options(options: dict[str, object]) -> None:
    with pytest.raises(MethodError):
        HITAS.configure(options)


def test_the_other_name_is_the_same_method() -> None:
    assert find_method("modular") is HITAS


def test_hidden_margins_send_it_back_up() -> None:
    table = make("random", 6, shape=(9, 6), trees=2, zeros=0.4)
    search = Search(stop=EvaluationLimit(1000))
    cut = _Decomposition(
        Problem.of(table), HITAS.configure({"inner": "attacker"}), search
    )
    cut.solve()
    assert cut.runs.max() > 1
    assert not cut.dirty.any()
    # Stable: one more round over all sub-tables hides nothing more.
    before = cut.hidden.copy()
    cut.dirty[:] = True
    cut.runs[:] = 0
    cut.solve()
    assert np.array_equal(before, cut.hidden)


def test_workers_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hitas_method, "_SECONDS_BEFORE_WORKERS", 0.0)
    problem = Problem.of(make("random", 3, shape=(12, 8, 3), trees=2, sensitive=0.2))
    answers = []
    for workers in (1, 3):
        search = Search(workers=Workers(workers))
        # No clock for sub-tables: it would end them at any moment.
        options = HITAS.configure({"inner": "attacker", "seconds": 1000.0})
        cut = _Decomposition(problem, options, search)
        cut.solve()
        answers.append((cut.hidden.tolist(), cut.runs.tolist(), cut.summary()))
    assert answers[0] == answers[1]


def test_without_a_limit_of_time_no_clock_ends_a_subtable() -> None:
    table = make("random", 9, shape=(6, 5, 4), trees=1)
    answers = [
        evosdc.protect(
            table,
            method="hitas",
            workers=workers,
            stop=evosdc.Stop(evaluations=5),
            attackers=evosdc.Attackers(who="public"),
        )
        for workers in (1, 2)
    ]
    assert np.array_equal(answers[0].table.status, answers[1].table.status)
    assert answers[0].record[-1].event.endswith("repeats exactly")
    timed = evosdc.protect(
        table, method="hitas", time_limit=60, attackers=evosdc.Attackers(who="public")
    )
    assert "for a run that repeats exactly" in timed.record[-1].event


@pytest.mark.parametrize("seconds", [1.0, np.inf])
def test_cut_and_branch_needs_a_clock(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def find(name: str) -> Method:
        asked.append(name)
        return find_method("attacker")

    monkeypatch.setattr(hitas_method, "find_method", find)
    piece = Problem.of(make("random", 3, shape=(3, 3, 3), sensitive=0.2))
    solve_problem(piece, HITAS.configure({}), 0, seconds)
    assert asked == ["optimal" if seconds == 1.0 else "attacker"]
