"""Two Dask workers of this machine, for the tests that need some."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def two_workers() -> Iterator[Any]:
    distributed = pytest.importorskip(
        "distributed", reason="Dask is not installed: pip install 'evosdc[dask]'"
    )
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
        distributed.Client(local, set_as_default=False) as known,
    ):
        yield known


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with two_workers() as known:
        yield known


@pytest.fixture
def both(client: Any) -> Iterator[Any]:
    """The client, when workers that a test has killed are back."""
    try:
        client.wait_for_workers(2, timeout=20)
    except TimeoutError:
        # On a busy machine a nanny that starts a worker anew gives up: others, then.
        with two_workers() as other:
            yield other
    else:
        yield client
