"""Pools: the same answers in one process and in several, whoever is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evosdc.compile import small_jobs
from evosdc.compile.clock import moment
from evosdc.errors import EvosdcError
from evosdc.parallel import LazyPool, Workers, open_pool, open_workers
from evosdc.parallel import pool as pools
from pool_tasks import deadly_once, is_small, meet, process, scaled


def deadly(_: int, __: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("size", [0, 2])
def test_answers_do_not_depend_on_who_works(size: int):
    with open_pool(Workers(size), 10) as pool:
        assert pool.map(scaled, [3, 1, 2]) == [30, 10, 20]
        assert sorted(pool.stream(scaled, [3, 1, 2])) == [10, 20, 30]
        task = pool.submit(scaled, 7)
        assert task.result() == 70
        assert task.done()


def test_processes_work_beside_this_one(tmp_path: Path):
    with open_pool(Workers(2), str(tmp_path)) as pool:
        workers = pool.map(meet, ["one", "two"])
    assert os.getpid() not in workers
    assert len(set(workers)) == 2


@pytest.mark.parametrize("cells", [49, 50_000])
def test_workers_of_a_small_job_compile_nothing_either(cells: int):
    with small_jobs.job(cells), open_pool(Workers(1), 0) as pool:
        assert pool.map(is_small, [0]) == [cells == 49]


@pytest.mark.parametrize("cells", [49, 50_000])
def test_nobody_is_called_for_a_small_job(cells: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pools, "_SECONDS_BEFORE_WORKERS", -1.0)
    with small_jobs.job(cells), LazyPool(10, workers=Workers(2)) as pool:
        assert pool.map(scaled, [3, 1], 2) == [30, 10]
        assert pool.opened is (cells == 50_000)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_task_is_told_what_is_left_when_it_begins(workers: int, monkeypatch):
    """Told beforehand, each of many tasks would take all the time that is left."""
    monkeypatch.setattr(pools, "_SECONDS_BEFORE_WORKERS", -1.0)
    with (
        small_jobs.job(50_000),
        LazyPool(0, moment() + 100.0, Workers(workers)) as pool,
    ):
        told: list[float] = []

        def tasks() -> Iterator[float]:
            for _ in range(8):
                left = pool.left()
                assert left is not None
                told.append(left)
                yield 0.05

        assert len(pool.map(process, tasks(), 8)) == 8
        assert pool.opened is (workers == 2)
    at_once = 2 * workers if workers > 1 else 1
    assert told[0] - told[at_once + 1] >= 0.05


def test_a_lost_worker_costs_its_task_only(tmp_path: Path):
    with open_pool(Workers(2), 10) as pool:
        others = [pool.submit(scaled, i) for i in range(4)]
        lost = pool.submit(deadly_once, str(tmp_path / "flag"))
        assert lost.result() == "survived"
        assert [task.result() for task in others] == [0, 10, 20, 30]


def test_a_task_that_kills_its_workers_is_not_given_for_ever():
    with (
        open_pool(Workers(1), 0) as pool,
        pytest.raises(EvosdcError, match="lost 3 worker"),
    ):
        pool.submit(deadly, 0).result()


def test_closing_does_not_wait_for_what_is_being_done():
    pool = open_pool(Workers(1), 0)
    pool.submit(process, 0.0).result()
    pool.submit(process, 60.0)
    began = time.monotonic()
    pool.close()
    assert time.monotonic() - began < 30.0


def test_a_script_without_a_main_guard_may_use_processes(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(
        "import math\n"
        "from evosdc.parallel import Workers, open_pool\n"
        "print('once')\n"
        "with open_pool(Workers(2), 2.0) as pool:\n"
        "    print(pool.map(math.pow, [3.0, 4.0]))\n"
    )
    ended = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True
    )
    assert ended.stdout.split("\n")[:2] == ["once", "[8.0, 16.0]"]


@pytest.mark.skipif(sys.platform == "win32", reason="processes have other parents")
def test_workers_end_where_the_one_who_gave_the_work_is_killed(tmp_path: Path):
    script = tmp_path / "killed.py"
    script.write_text(
        "import os\n"
        "from pool_tasks import process\n"
        "from evosdc.parallel import Workers, open_pool\n"
        "pool = open_pool(Workers(1), 0)\n"
        "print(*pool.map(process, [0.0]), flush=True)\n"
        "input()\n"
    )
    path = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    ) as killed:
        assert killed.stdout is not None
        worker = int(killed.stdout.readline())
        os.kill(worker, 0)
        killed.kill()
    end = time.monotonic() + 60
    while _runs(worker):
        assert time.monotonic() < end
        time.sleep(0.1)


def _runs(pid: int) -> bool:
    """Whether a process is there, and not only waits for its parent to look at it."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # no such file system: the signal tells
        return not Path("/proc").exists()


def test_a_cluster_without_dask_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "evosdc.parallel.dask_pool", raising=False)
    wanted = pytest.raises(EvosdcError, match=r"pip install 'evosdc\[dask\]'")
    with wanted, open_workers("tcp://localhost:8786"):
        pass


def test_pools_that_are_not_used_are_not_loaded():
    code = (
        "import sys, evosdc.api, evosdc.parallel; "
        "print({'loky', 'dask', 'distributed'} & set(sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "set()"
