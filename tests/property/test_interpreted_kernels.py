"""Interpreted kernels give the answers of compiled ones, and compile nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evosdc.compile import kernels, small_jobs
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import METHODS, find_method
from evosdc.suppress.run.search import Search

SHAPES = ("5,5", "3,3,3")


def answers(cells: int) -> Iterator[tuple[str, list[Any]]]:
    """Run every method on small tables, as a job of so many cells."""
    for shape in SHAPES:
        problem = Problem.of(make("random", 1, shape=shape, sensitive=0.2))
        for name in METHODS:
            method = find_method(name)
            if method.takes(problem) is not None:
                continue
            search = Search(stop=EvaluationLimit(40))
            with small_jobs.job(cells):
                pattern = method.run(problem, method.configure({}), search)
            hidden = pattern.hidden.nonzero()[0].tolist()
            yield f"{name} on {shape}", [hidden, search.evaluations, search.bound]


def test_every_method(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, __file__],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(tmp_path.rglob("*.nbc")) == []
    assert found == dict(answers(10**9))
    assert len(found) > 50


def test_a_kernel_that_takes_long_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels.KernelCache, "holds", lambda *_: False)
    made = kernels.kernel(_count)
    with small_jobs.job(1):
        assert made(5) == 5
        assert made.signatures == []
        made._interpreted = kernels._LONG + 1
        assert made(5) == 5
    assert len(made.signatures) == 1


def _count(most: int) -> int:
    count = 0
    for _ in range(most):
        count += 1
    return count


if __name__ == "__main__":
    kernels._LONG = float("inf")
    sys.stdout.write(json.dumps(dict(answers(1))))
