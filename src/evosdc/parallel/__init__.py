"""One way to spread work: here, in processes or on a cluster, with the same answers."""

from evosdc.parallel.pool import (
    Closing,
    LazyPool,
    SerialPool,
    Task,
    WorkerPool,
    Workers,
    joined,
    open_pool,
)

__all__ = [
    "Closing",
    "LazyPool",
    "SerialPool",
    "Task",
    "WorkerPool",
    "Workers",
    "joined",
    "open_pool",
]
