"""A cluster of Dask workers that somebody else runs.

Dask is optional, and slow to import: nothing here loads it before a cluster is asked
for.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from evosdc.errors import EvosdcError, MissingExtraError

# Seconds within which a scheduler answers, and has a worker.
_ANSWER, _WORKERS = 6.0, 5.0
# Every island reports to the one at home, which takes patterns in one by one.
_MOST = 64


class ClusterError(EvosdcError):
    """A cluster that does not answer, or that cannot do this work."""


@dataclass(frozen=True, eq=False)
class Cluster:
    """A client of a scheduler, and how many of its workers are used at a time."""

    client: Any
    size: int


@contextmanager
def joined(cluster: Any, most: int | None = None) -> Iterator[Cluster | None]:
    """Join a cluster for a while.

    Parameters
    ----------
    cluster
        The address of a scheduler, ``tcp://host:8786`` or ``tls://host:8786``, or a
        `distributed.Client`, which is left open; None for no cluster.
    most
        Most workers that are used; None for all, up to 64.
    """
    if cluster is None:
        yield None
        return
    try:
        import distributed
    except ImportError as error:
        raise MissingExtraError("distributed", "dask") from error
    if isinstance(cluster, distributed.Client):
        yield _checked(cluster, most)
        return
    client = _connected(distributed.Client, cluster)
    try:
        yield _checked(client, most)
    finally:
        client.close()


def _connected(kind: Any, address: Any) -> Any:
    wanted = "the address of a Dask scheduler, such as tcp://host:8786, or a Client"
    if not isinstance(address, str) or "://" not in address:
        raise ClusterError(f"cluster is {address!r}", expected=wanted)
    try:
        # Keys and certificates of tls:// come from Dask's own configuration.
        return kind(address, timeout=_ANSWER, set_as_default=False)
    except Exception as error:
        # Each transport has errors of its own, down to those of its TLS files.
        said = str(error).split("\n")[0]
        raise ClusterError(
            f"no scheduler answers at {address!r} ({type(error).__name__}: {said})",
            expected=wanted,
            hint="start one with: dask scheduler; or leave the cluster out",
        ) from error


def _own_version() -> str:
    return importlib.metadata.version("evosdc")


def _checked(client: Any, most: int | None) -> Cluster:
    """Return a cluster whose workers can do the work, and give the same answers."""
    if client.asynchronous or client.status != "running":
        raise ClusterError(
            f"the client given as cluster is {client.status}"
            + (" and asynchronous" if client.asynchronous else ""),
            expected="a connected client that is not asynchronous",
            hint="make one with: distributed.Client('tcp://host:8786')",
        )
    where = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=_WORKERS)
    except TimeoutError as error:
        raise ClusterError(
            f"the scheduler at {where} has no workers",
            expected="one or more",
            hint=f"start some with: dask worker {where} --nthreads 1",
        ) from error
    own = _own_version()
    # Not a function of ours: a worker without this package must be able to answer.
    found = client.run(importlib.metadata.version, "evosdc", on_error="return")
    for worker, version in sorted(found.items()):
        if version != own:
            has = "no evosdc" if isinstance(version, Exception) else f"evosdc {version}"
            raise ClusterError(
                f"the worker at {worker} has {has}",
                expected=f"evosdc {own}, as here: another may give another answer",
                hint=f"on that machine run: pip install evosdc=={own}",
            )
    return Cluster(client, min(len(found), most or _MOST))
