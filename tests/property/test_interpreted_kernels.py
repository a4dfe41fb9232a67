"""Interpreted kernels: for a while only.

That they give the answers of compiled ones, and compile nothing, is checked where every
method runs: `tests/integration/test_suppress_conformance.py`.
"""

from __future__ import annotations

import pytest

from evosdc.compile import kernels, small_jobs


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
