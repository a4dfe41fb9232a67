"""Runs that repeat, alone in a process or at the same time in two threads of one.

    python tests/trust/thread_runs.py small large          # one after the other
    python tests/trust/thread_runs.py small,large          # at the same time

Prints, for each run, digests of all that its answer consists of.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import cache
from pathlib import Path
from threading import Barrier

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

import evosdc
from builders import grid_of, options_of
from evosdc.results import Certificate, TableVerdict
from evosdc.table import Table

Answer = dict[str, str]


@cache
def table(*shape: int) -> Table:
    """Make a table with decimals; runs of one process share it."""
    rng = np.random.default_rng(1)
    values = rng.integers(1, 1000, shape) / 4.0
    share = 0.05 if len(shape) == 2 else 0.15
    level = np.where(rng.random(shape) < share, values, 0.0).ravel()
    status = np.where(level > 0, "u", "s")
    return grid_of(values, status=status, lpl=level, upl=level)


@cache
def records() -> pa.Table:
    """Make people; runs of one process share them."""
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "region": rng.choice(list("abc"), 300),
            "age": rng.integers(18, 80, 300),
            "income": rng.gamma(2, 1000, 300).round(),
        }
    )


def protected(shape: Sequence[int], seed: int, **more: object) -> Answer:
    found = evosdc.protect(
        table(*shape), **options_of("protect", time_limit=None, seed=seed, **more)
    )
    certificate = found.certificate
    return {
        "pattern": _digest(found.table.status),
        "verdict": repr([getattr(found.verdict, f.name) for f in fields(TableVerdict)]),
        "certificate": _digest(
            *(np.asarray(getattr(certificate, f.name)) for f in fields(Certificate))
        ),
        "figures": repr((found.cost, found.lower_bound, found.evaluations)),
        "reason": found.reason,
    }


def synthesised(seed: int) -> Answer:
    found = evosdc.synthesise(
        records(),
        key=["region", "age"],
        target="income",
        time_limit=None,
        generations=2,
        moves=20_000,
        seed=seed,
    )
    (copy,) = found.copies
    summary = {k: v for k, v in found.summary().items() if k != "seconds"}
    return {
        "copy": _digest(*(np.asarray(column) for column in copy.columns)),
        "summary": json.dumps(summary, default=str),
    }


def _digest(*arrays: NDArray[np.generic]) -> str:
    text = "\n".join(repr((a.dtype, a.shape, a.tolist())) for a in arrays)
    return hashlib.sha256(text.encode()).hexdigest()


RUNS: dict[str, Callable[[], Answer]] = {
    # Below and above the size at which kernels are compiled.
    "small": lambda: protected((4, 4, 4), 1, evaluations=10),
    "large": lambda: protected((30, 30), 1, evaluations=40),
    # The same table as the one before: other method, other seed.
    "orders": lambda: protected(
        (30, 30), 2, method="order-ga", evaluations=60, workers=2
    ),
    "optimal": lambda: protected((4, 3, 3), 3, method="optimal"),
    "copy": lambda: synthesised(1),
}


def together(names: Sequence[str]) -> dict[str, Answer]:
    """Begin runs at the same moment, each in a thread of its own."""
    start = Barrier(len(names))

    def work(name: str) -> Answer:
        start.wait()
        return RUNS[name]()

    with ThreadPoolExecutor(len(names)) as pool:
        return dict(zip(names, pool.map(work, names), strict=True))


if __name__ == "__main__":
    found = [together(words.split(",")) for words in sys.argv[1:]]
    sys.stdout.write(json.dumps(found))
