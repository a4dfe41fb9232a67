"""Two Dask workers of this machine, for the tests that need some."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

# On a busy machine a worker takes long to start, and must not be given up meanwhile.
PATIENT = {
    "distributed.comm.timeouts.connect": "300s",
    "distributed.comm.timeouts.tcp": "300s",
}


class Workers:
    """Two workers; where those that a test has killed do not come back, two others."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self.renew()

    def renew(self) -> None:
        self.close()
        distributed = pytest.importorskip(
            "distributed", reason="Dask is not installed: pip install 'evosdc[dask]'"
        )
        known = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        )
        self._open.enter_context(known)
        client = distributed.Client(known, set_as_default=False)
        self.client = self._open.enter_context(client)

    def close(self) -> None:
        self._open.close()


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    with dask.config.set(PATIENT), closing(Workers()) as known:
        yield known


@pytest.fixture
def both(workers: Workers) -> Any:
    """The client, when workers that a test has killed are back."""
    try:
        workers.client.wait_for_workers(2, timeout=60)
    except TimeoutError:
        workers.renew()
        workers.client.wait_for_workers(2, timeout=300)
    return workers.client
