"""Candidates that others improve: the same copies, whoever makes the moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from evosdc.errors import InputError
from evosdc.parallel import Workers
from evosdc.synth import Synthesiser
from evosdc.synth.fit import Fitted, fit
from evosdc.synth.search import blocks, floor_search, memetic
from evosdc.synth.search.mover import MoveTask

RUNS: dict[str, dict[str, Any]] = {
    "copies": {"copies": 2},
    "a front": {"mode": "pareto", "population": 3},
    "crossed": {"copies": 3, "objective": "tables", "noise_floor": False},
    "swaps": {"copies": 2, "objective": "cramer", "noise_floor": False},
}
# Below one nobody else works, and what is asked is worked out when it is asked.
HERE = Workers(0)


def people() -> pa.Table:
    rng = np.random.default_rng(1)
    age = rng.integers(0, 60, 240)
    return pa.table(
        {
            "age": age,
            "wage": 3.0 * age + rng.normal(0.0, 20.0, 240),
            "sex": rng.choice(["m", "f"], 240),
            "job": np.array(["a", "b", "c"])[(age + rng.integers(0, 20, 240)) % 3],
        }
    )


def fitted(workers: Workers | None, **options: Any) -> Fitted:
    usual = {"generations": 4, "moves": 6000, "time_limit": None, "seed": 3}
    model = Synthesiser(["age", "sex"], "job", **{**usual, **options})
    return fit(people(), model.options, 2, workers)


def assert_same(one: Fitted, other: Fitted) -> None:
    for mine, theirs in zip(one.candidates, other.candidates, strict=True):
        assert np.array_equal(mine, theirs)
    assert [g.cost for g in one.results.record] == [
        g.cost for g in other.results.record
    ]
    assert one.results.record[-1].evaluations == other.results.record[-1].evaluations
    assert one.results.risk == other.results.risk


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[MoveTask]:
    """The tasks that are given to others."""
    out: list[MoveTask] = []
    run = memetic.run_task

    def listening(worker_state: Any, task: MoveTask) -> Any:
        out.append(task)
        return run(worker_state, task)

    monkeypatch.setattr(memetic, "run_task", listening)
    return out


@pytest.mark.parametrize("kind", RUNS)
def test_tasks_leave_candidates_as_threads_do(kind: str, sent: list[MoveTask]):
    options = RUNS[kind]
    here = fitted(None, **options)
    assert not sent
    assert_same(here, fitted(HERE, **options))
    many = options.get("copies") or options["population"]
    assert {task.k for task in sent} == set(range(many))


def test_blocks_of_a_candidate_travel_together(
    sent: list[MoveTask], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(blocks, "_MIN_RECORDS", 200)
    assert_same(fitted(None, copies=2), fitted(HERE, copies=2))
    # All sums of a generation are one task.
    assert len(sent) == 2 * 4
    assert len(sent[0].plan) > 1


def test_a_single_candidate_stays_here(sent: list[MoveTask]):
    fitted(HERE, population=1)
    assert not sent


def test_under_a_clock_tasks_are_longer_and_end(
    sent: list[MoveTask], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(floor_search, "_SECONDS_PER_TASK", 0.0)
    made = fitted(HERE, copies=2, generations=None, moves=None, time_limit=0.5)
    assert len(sent[0].plan) == floor_search._GENERATIONS_PER_TASK
    # After the first piece of a plan there was no time left.
    asked = sum(task.plan[0].moves for task in sent)
    assert made.results.record[-1].evaluations == 2 + asked


def test_processes_give_the_same_copies():
    # A lost worker is in the tests of crews, and of Dask.
    options = RUNS["copies"]
    assert_same(fitted(None, **options), fitted(Workers(2), **options))


def test_a_genetic_algorithm_has_no_use_for_a_cluster():
    model = Synthesiser(memetic=False, cluster="tcp://nobody:1")
    with pytest.raises(InputError, match="genetic algorithm"):
        model.fit(people())
