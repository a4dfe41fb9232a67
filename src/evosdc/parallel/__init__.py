"""Pools of workers, in processes or on a cluster, with the same answers everywhere."""

from evosdc.parallel.pool import (
    Closing,
    LazyPool,
    SerialPool,
    Task,
    WorkerPool,
    Workers,
    open_pool,
    open_workers,
)

__all__ = [
    "Closing",
    "LazyPool",
    "SerialPool",
    "Task",
    "WorkerPool",
    "Workers",
    "open_pool",
    "open_workers",
]
