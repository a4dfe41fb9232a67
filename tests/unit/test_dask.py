"""A pool of Dask workers: the same answers as in this process, whoever is lost."""

from __future__ import annotations

import os
import signal
import socket
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evosdc
from builders import (
    UntilElsewhere,
    UntilHelped,
    assert_same_judgement,
    half_hidden_cube,
    run_method,
)
from evosdc.attack import judge, judge_attackers, tasks
from evosdc.errors import EvosdcError, LevelError
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.parallel import open_pool, open_workers
from evosdc.parallel import pool as pools
from evosdc.suppress.methods import hitas
from evosdc.suppress.methods.hybrid import HybridParameters, run_hybrid
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run import search as runs
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search
from pool_tasks import deadly_once, process, scaled

dask = pytest.importorskip("dask", reason="Dask is not installed")
distributed = pytest.importorskip(
    "distributed", reason="Dask is not installed: pip install 'evosdc[dask]'"
)


def wrong(_: int, flag: str) -> None:
    with Path(flag).open("a") as file:
        file.write("x")
    raise LevelError("no pattern gives it")


def test_answers_are_those_of_this_process(both: Any):
    with open_workers(both) as cluster:
        assert cluster.count == 2
        with open_pool(cluster, 10) as pool:
            assert pool.map(scaled, [3, 1, 2]) == [30, 10, 20]
            assert sorted(pool.stream(scaled, [3, 1, 2])) == [10, 20, 30]
            task = pool.submit(scaled, 7)
            assert task.result() == 70
            assert task.done()
            assert os.getpid() not in pool.map(process, [0.0])


def test_a_client_that_was_given_stays_open_and_what_runs_is_cancelled(both: Any):
    with open_workers(both) as cluster, open_pool(cluster, 10) as pool:
        task = pool.submit(process, 1.0)
        assert not task.done()
    assert both.status == "running"
    assert both.submit(abs, -3).result() == 3


def test_errors_of_a_task_come_home_and_are_not_tried_again(both: Any, tmp_path: Path):
    flag = tmp_path / "tried"
    with (
        open_workers(both) as cluster,
        open_pool(cluster, 10) as pool,
        pytest.raises(LevelError, match="no pattern"),
    ):
        pool.submit(wrong, str(flag)).result()
    assert flag.read_text() == "x"


def test_under_a_clock_what_islands_find_comes_home(
    both: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(runs, "SECONDS_BEFORE_WORKERS", 0.5)
    asked = Problem.of(make("random", 3, shape=(6, 5, 5), sensitive=0.15))
    with open_workers(both) as cluster:
        search = UntilHelped(seed=1, workers=cluster)
        run_hybrid(asked, HybridParameters(tree=0), search)
    assert search.helped


def test_walks_are_started_on_a_cluster(both: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runs, "SECONDS_BEFORE_WORKERS", 0.5)
    table = make("random", 4, shape=(12, 10, 8), sensitive=0.05)
    with open_workers(both) as cluster:
        search = UntilElsewhere(seed=1, workers=cluster)
        run_method("ls-rebuild", table, search)
    assert search.reason == "helped"


def test_a_lost_worker_costs_its_task_only(both: Any, tmp_path: Path):
    with open_workers(both) as cluster, open_pool(cluster, 10) as pool:
        others = [pool.submit(scaled, i) for i in range(4)]
        lost = pool.submit(deadly_once, str(tmp_path / "flag"))
        assert lost.result() == "survived"
        assert [task.result() for task in others] == [0, 10, 20, 30]


def test_what_is_shared_is_sent_again_when_everyone_who_had_it_is_lost(both: Any):
    with open_workers(both) as cluster, open_pool(cluster, 10) as pool:
        assert pool.map(scaled, [1]) == [10]
        for pid in both.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        assert pool.map(scaled, [3, 1, 2]) == [30, 10, 20]


def test_what_is_shared_is_sent_again_where_a_worker_is_lost_on_the_way(
    both: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evosdc.parallel.dask_pool._SECONDS_BETWEEN_SENDINGS", 0.0)
    gone = distributed.comm.CommClosedError("gone")
    lost = [gone, TimeoutError("nobody yet")]
    scatter = both.scatter

    def lossy(*what: Any, **how: Any) -> Any:
        if lost:
            raise lost.pop()
        return scatter(*what, **how)

    monkeypatch.setattr(both, "scatter", lossy)
    with open_workers(both) as cluster, open_pool(cluster, 10) as pool:
        assert pool.map(scaled, [1]) == [10]
    assert not lost
    lost[:] = [gone] * 5
    with (
        open_workers(both) as cluster,
        open_pool(cluster, 10) as pool,
        pytest.raises(EvosdcError, match="lost 3 worker"),
    ):
        pool.map(scaled, [1])


def test_one_of_two_workers_killed_in_the_middle_changes_no_answer(both: Any):
    # No proof, which would end the run before the islands come back.
    few = HybridParameters(population=4, islands=2, rounds=0, tree=0)
    some = EvaluationLimit(150)
    asked = Problem.of(make("random", 3, shape=(5, 4, 4), sensitive=0.15))
    here = Search(seed=5, stop=some)
    pattern = run_hybrid(asked, few, here)
    victim = next(iter(both.run(os.getpid).values()))
    killer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
    with open_workers(both) as cluster:
        there = Search(seed=5, stop=some, workers=cluster)
        killer.start()
        other = run_hybrid(asked, few, there)
    killer.join()
    assert np.array_equal(pattern.hidden, other.hidden)
    assert here.evaluations == there.evaluations
    assert here.bound == there.bound


def test_sub_tables_of_hitas_are_solved_by_workers(
    both: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hitas, "_SECONDS_BEFORE_WORKERS", 0.0)
    asked = Problem.of(make("random", 3, shape=(12, 8, 3), trees=2, sensitive=0.2))
    method = find_method("hitas")
    # No clock for sub-tables: it would end them at any moment.
    options = method.configure({"inner": "attacker", "seconds": 1000.0})
    here = method.run(asked, options, Search())
    with open_workers(both) as cluster:
        there = method.run(asked, options, Search(workers=cluster))
    assert np.array_equal(here.hidden, there.hidden)


def test_cuts_are_separated_by_workers(both: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pools, "_SECONDS_BEFORE_WORKERS", -1.0)
    monkeypatch.setattr("evosdc.compile.small_jobs._FEW_CELLS", 0)
    given: list[Any] = []
    scatter = both.scatter
    monkeypatch.setattr(
        both, "scatter", lambda what, **how: given.append(what) or scatter(what, **how)
    )
    table = make("random", 3, shape=(6, 5, 4), sensitive=0.15)
    here, there = (
        evosdc.lower_bound(table, workers=1),
        evosdc.lower_bound(table, run=evosdc.Run(cluster=both)),
    )
    assert here.complete
    assert here.cuts > 0
    assert (there.value, there.cuts) == (here.value, here.cuts)
    assert [type(what) for what in given] == [Problem]


def test_rows_of_a_bench_are_made_by_workers(both: Any, tmp_path: Path):
    pytest.importorskip("matplotlib", reason="the extra bench is not installed")
    from benchmarks.experiments import gensup, run, store
    from benchmarks.experiments.experiment import Settings, plan

    settings = Settings(tables=2, methods=("sp", "pbp"), families=("class2-6x6",))
    rows = []
    for cluster in (None, both):
        kept = store.Store(tmp_path / f"{len(rows)}.csv", run.KEY, run.COLUMNS)
        run.run_all(
            plan(gensup.EXPERIMENT, settings),
            kept,
            workers=None,
            cluster=cluster,
            bound_limit=5.0,
        )
        rows.append(
            sorted(
                (row["table"], row["method"], row["cost"], row["bound"])
                for row in kept.rows
            )
        )
    assert len(rows[0]) == 4
    assert rows[0] == rows[1]


@pytest.mark.parametrize("deadly", [None, 3])
def test_the_judge_gives_the_same_certificate_whoever_is_lost(
    both: Any, deadly: int | None, monkeypatch: pytest.MonkeyPatch
):
    from evosdc.parallel.dask_pool import DaskPool  # loads Dask

    table = half_hidden_cube()
    alone = judge(table)
    insiders = judge_attackers(table, *alone)
    victim = next(iter(both.run(os.getpid).values()))
    given: list[Any] = []
    give = DaskPool.submit

    def listening(self: DaskPool[Any], function: Any, argument: Any, **how: Any) -> Any:
        given.append(argument)
        task = give(self, function, argument, **how)
        if len(given) == deadly:
            os.kill(victim, signal.SIGKILL)
        return task

    monkeypatch.setattr(DaskPool, "submit", listening)
    monkeypatch.setattr(pools, "_SECONDS_BEFORE_WORKERS", -1.0)
    with open_workers(both) as cluster:
        assert_same_judgement(insiders, judge_attackers(table, *alone, workers=cluster))
        asked = len(given)
        # Parts as many as those of a large table; no part cuts up what it is given.
        monkeypatch.setattr(tasks, "_SMALL_MOVE_LEVELS", 16)
        monkeypatch.setattr(tasks, "_PROGRAM_LEVELS", 4)
        assert_same_judgement(judge(table), judge(table, workers=cluster))
    assert 3 < asked < len(given)


def test_protect_takes_an_address(both: Any):
    table = make("random", 3, shape=(4, 3, 3), sensitive=0.15)
    options = {"islands": 2, "tree": 0, "rounds": 0}
    here = evosdc.protect(
        table, stop=evosdc.Stop(evaluations=30), run=evosdc.Run(method_options=options)
    )
    there = evosdc.protect(
        table,
        stop=evosdc.Stop(evaluations=30),
        run=evosdc.Run(method_options=options, cluster=both.scheduler.address),
    )
    assert there.safe is True
    assert there.cost == here.cost
    assert there.evaluations == here.evaluations


def longer(by: int, values: bytes) -> int:
    return by * len(values)


def test_large_arguments_are_nothing_to_warn_of(both: Any):
    with (
        open_workers(both) as cluster,
        open_pool(cluster, 10) as pool,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        assert pool.submit(longer, bytes(11_000_000)).result() == 110_000_000


def test_workers_of_another_version_are_refused(
    both: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evosdc.parallel.dask_pool._own_version", lambda: "0.0")
    with pytest.raises(EvosdcError, match="has evosdc"), open_workers(both):
        pass


def test_an_address_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch):
    waited = []

    class Noting(distributed.Client):
        def __init__(self, *words: Any, timeout: float, **more: Any) -> None:
            waited.append(timeout)
            super().__init__(*words, timeout=timeout, **more)

    monkeypatch.setattr(distributed, "Client", Noting)
    monkeypatch.setattr("evosdc.parallel.dask_pool._SECONDS_TO_ANSWER", 1.0)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with (
            pytest.raises(EvosdcError, match="no scheduler answers") as error,
            open_workers(address),
        ):
            pass
    # Not measured: a busy machine may take longer to say so.
    assert waited == [1.0]
    assert address in str(error.value)
    assert "Next step: start one" in str(error.value)


@pytest.mark.parametrize("cluster", ["localhost", 8786])
def test_what_is_no_address_is_said(cluster: Any):
    with pytest.raises(EvosdcError, match="cluster is"), open_workers(cluster):
        pass
