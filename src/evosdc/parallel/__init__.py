"""Pools of workers, in processes or on a cluster, with the same answers everywhere."""

from evosdc.parallel.pool import (
    Closing,
    LazyPool,
    Pool,
    SerialPool,
    Task,
    Workers,
    open_pool,
    open_workers,
)

__all__ = [
    "Closing",
    "LazyPool",
    "Pool",
    "SerialPool",
    "Task",
    "Workers",
    "open_pool",
    "open_workers",
]
