"""Which crew does the work."""

from __future__ import annotations

from typing import TypeVar

from evosdc.parallel.cluster import Cluster
from evosdc.parallel.crew import Crew, SerialCrew

S = TypeVar("S")


def open_crew(size: int, shared: S, cluster: Cluster | None = None) -> Crew[S]:
    """Return a crew that does so many tasks at a time; below one, this process does.

    They are done by processes of this machine or, where there is a cluster, by its
    workers.
    """
    # What is not used need not be installed, nor loaded.
    if size < 1:
        return SerialCrew(shared)
    if cluster is not None:
        from evosdc.parallel.dask_crew import DaskCrew

        return DaskCrew(cluster, size, shared)
    from evosdc.parallel.processes import ProcessCrew

    return ProcessCrew(size, shared)
