"""Candidates improved by pools: the same copies from threads, processes and Dask."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import evosdc
from evosdc.io import checkpoint as checkpoints
from evosdc.parallel import Workers
from evosdc.synth import Synthesiser
from evosdc.synth.fit import fit
from evosdc.synth.search import memetic, mover
from pool_tasks import task_lost_once

SHORT: dict[str, Any] = {"generations": 4, "moves": 2000, "time_limit": None}
# Rounds of a single answer; a front, whose candidates have goals of their own;
# candidates that are crossed.
WAYS: dict[str, dict[str, Any]] = {
    "copies": {"copies": 3},
    "front": {"mode": "pareto", "population": 3, "key": ["a", "b"], "target": "c"},
    "crossed": {"population": 4, "noise_floor": False},
}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table({name: rng.integers(0, 4, 150) for name in "abc"})


def candidates(
    people: pa.Table, way: str, threads: int, workers: Workers | None
) -> Any:
    model = Synthesiser(**SHORT, **WAYS[way])
    return fit(people, model.options, threads, workers).candidates


@pytest.mark.parametrize("way", WAYS)
def test_processes_and_threads_give_the_same_candidates(
    people: pa.Table, way: str, monkeypatch: pytest.MonkeyPatch
):
    alone = candidates(people, way, 1, None)
    assert np.array_equal(alone, candidates(people, way, 3, None))
    # Whoever is asked in this process was not asked elsewhere.
    monkeypatch.setattr(mover.Mover, "improve", None)
    assert np.array_equal(alone, candidates(people, way, 1, Workers(2)))


@pytest.mark.parametrize("way", WAYS)
def test_dask_gives_the_same_candidates_and_records_travel_once(
    people: pa.Table, way: str, both: Any, monkeypatch: pytest.MonkeyPatch
):
    here = Synthesiser(**SHORT, **WAYS[way]).fit(people)
    sent: list[Any] = []
    scatter = both.scatter

    def counted(what: Any, **how: Any) -> Any:
        sent.append(what)
        return scatter(what, **how)

    monkeypatch.setattr(both, "scatter", counted)
    there = Synthesiser(cluster=both, **SHORT, **WAYS[way]).fit(people)
    assert len(sent) == 1
    assert [g.cost for g in here.record_] == [g.cost for g in there.record_]
    for one, other in zip(here.samples(), there.samples(), strict=True):
        assert one.equals(other)


def test_copies_are_the_same_when_a_worker_is_lost_and_when_a_run_goes_on(
    people: pa.Table, both: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    options: dict[str, Any] = {
        "copies": 2,
        "generations": 6,
        "moves": 3000,
        "time_limit": None,
        "noise_floor": False,
        "checkpoint": tmp_path / "checkpoint.json",
    }
    here = evosdc.synthesise(people, **options)

    def crash(generation: Any) -> None:
        if generation.generation == 3:
            raise ChildProcessError

    monkeypatch.setattr(checkpoints, "INTERVAL", 0.0)
    monkeypatch.setattr(checkpoints, "INTERVAL_IF_BETTER", 0.0)
    with pytest.raises(ChildProcessError):
        evosdc.synthesise(people, listener=crash, **options)
    flag = tmp_path / "lost"
    lost = partial(task_lost_once, str(flag))
    monkeypatch.setattr(memetic, "run_task", lost)
    address = both.scheduler.address
    there = evosdc.synthesise(people, cluster=address, resume=True, **options)
    assert flag.exists()
    assert there.model.record_[0].generation == 2
    for one, other in zip(here.copies, there.copies, strict=True):
        assert one.equals(other)
