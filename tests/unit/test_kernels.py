"""Kernels: one version each, called where they lie; small jobs compile nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from threading import Barrier, Event, Thread

import numpy as np
import pytest

from evosdc.compile import small_jobs
from evosdc.compile.clock import Clock, tell_of_compiling
from evosdc.compile.kernels import Kernel, kernel
from evosdc.suppress.structure.primitives import order_of
from kernel_modules import ask

CALLEE = """
from evosdc.compile.kernels import kernel

@kernel(inner=True)
def large(x, n):
    total = x
    {steps}
    return {result}
"""
CALLER = """
from callee import large
from evosdc.compile.kernels import kernel

@kernel
def caller(x, n):
    return large(x, n) + large(x, 1)
"""


def write_callee(folder: Path, result: str) -> None:
    """Write a kernel that is too large to be inlined."""
    steps = "\n    ".join(f"total = total * 0.5 + {k} * n" for k in range(100))
    (folder / "callee.py").write_text(CALLEE.format(steps=steps, result=result))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_callee(tmp_path, "total")
    (tmp_path / "caller.py").write_text(CALLER)
    return tmp_path


def test_a_large_callee_is_found_again_by_another_process(folder: Path) -> None:
    first, names = ask(folder)
    assert names == ["caller", "large"]
    assert ask(folder) == (first, [])


def test_code_that_calls_something_else_by_now_is_compiled_again(folder: Path) -> None:
    first, _ = ask(folder)
    write_callee(folder, "2.0 * total")
    assert ask(folder) == (pytest.approx(2 * first), ["caller", "large"])
    # Another type is another name: the caller must not call it by the old one.
    write_callee(folder, "int(n)")
    assert ask(folder) == (5, ["caller", "large"])


@pytest.mark.parametrize("seed", range(20))
def test_order_is_stable(seed: int) -> None:
    rng = np.random.default_rng(seed)
    key = rng.integers(0, 9, rng.integers(0, 90)).astype(float)
    expected = np.argsort(key, kind="stable")
    np.testing.assert_array_equal(order_of(key), expected)
    np.testing.assert_array_equal(order_of.plain()(key), expected)


def test_a_job_is_large_until_its_size_is_known() -> None:
    assert not small_jobs.small()
    with small_jobs.job():
        assert not small_jobs.small()
        small_jobs.has(49)
        assert small_jobs.small()
        with small_jobs.job():
            assert not small_jobs.small()
        small_jobs.has(100_000)
        assert not small_jobs.small()
    assert not small_jobs.small()


def test_each_thread_has_a_job_of_its_own() -> None:
    with small_jobs.job(49), ThreadPoolExecutor(1) as other:
        assert not other.submit(small_jobs.small).result()
        other.submit(small_jobs.has, 100_000).result()
        assert small_jobs.small()
        # Those that help with a job are told of it.
        assert other.submit(copy_context().run, small_jobs.small).result()


def test_threads_compile_a_kernel_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    stand_apart = Kernel._stand_apart
    monkeypatch.setattr(
        Kernel,
        "_stand_apart",
        lambda kernel, compiled: (made.append(kernel), stand_apart(kernel, compiled)),
    )
    start = Barrier(2)
    fresh = kernel(lambda x: x + 1)

    def call(_: int) -> int:
        start.wait()
        return fresh(1)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(call, range(2))) == [2, 2]
    assert made == [fresh]


PROTECT = """
import numpy as np
from itertools import product
import evosdc
from evosdc.table import Dimension, Hierarchy, build_table
rng = np.random.default_rng(1)
sides = [Dimension(n, Hierarchy.flat([f"{n}{i}" for i in range(30)])) for n in "xy"]
codes = list(product(range(1, 31), repeat=2))
value = rng.integers(1, 100, len(codes)).astype(float)
level = np.where(rng.random(len(codes)) < 0.2, np.ceil(0.2 * value), 0.0)
status = np.where(level > 0, "u", "s")
table = build_table(sides, codes, value, status=status, lpl=level, upl=level)
evosdc.protect(table, time_limit=1)
"""
SYNTHESISE = """
import numpy as np
import pyarrow as pa
import evosdc
rng = np.random.default_rng(1)
columns = {
    "region": rng.choice(list("abc"), 300),
    "age": rng.integers(18, 80, 300),
    "income": rng.gamma(2, 1000, 300).round(),
}
evosdc.synthesise(pa.table(columns), key=["region"], target="income", time_limit=1)
"""
COUNT = """
import gc
import json
from collections import Counter
from evosdc.compile.kernels import Kernel
versions = Counter()
for found in gc.get_objects():
    if isinstance(found, Kernel):
        name = f"{found.py_func.__module__}.{found.py_func.__qualname__}"
        versions[name] += len(found.overloads)
print(json.dumps(versions))
"""


# Flows among hidden cells, once with whole and once with real capacities.
TWO_CAPACITIES = [
    f"evosdc.suppress.engine.network.paths.{name}"
    for name in ("hide_primaries", "send_in_phases")
]


@pytest.mark.slow
@pytest.mark.parametrize("job", [PROTECT, SYNTHESISE], ids=["protect", "synthesise"])
def test_an_ordinary_job_needs_one_version_of_each_kernel(job: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", job + COUNT], capture_output=True, text=True, check=True
    )
    versions = json.loads(done.stdout.splitlines()[-1])
    assert sum(versions.values()) > 20
    several = {name: many for name, many in versions.items() if many > 1}
    assert several == {name: 2 for name in TWO_CAPACITIES if name in several}


@kernel
def raised(x: float, by: float = 2.0) -> float:
    return x + by


def test_interpreted_kernels_know_their_defaults() -> None:
    with small_jobs.job(49):
        assert raised(1.0) == 3.0
        assert raised(1.0, 1.0) == 2.0
    assert raised._interpreted > 0


def test_a_run_is_told_of_its_own_compiling_only() -> None:
    told: list[str] = []

    def other() -> None:
        with Clock(on_compile=lambda: told.append("other")):
            entered.set()
            compiled.wait(10)

    entered, compiled = Event(), Event()
    thread = Thread(target=other)
    thread.start()
    entered.wait(10)
    with Clock(on_compile=lambda: told.append("own")):
        tell_of_compiling()
        tell_of_compiling()
        # Threads that help with a run have its context.
        helper = Thread(target=copy_context().run, args=(tell_of_compiling,))
        helper.start()
        helper.join()
    compiled.set()
    thread.join()
    tell_of_compiling()
    assert told == ["own"]
