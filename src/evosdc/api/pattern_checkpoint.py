"""The checkpoints of `protect`: the best pattern, and what was spent on it.

A checkpoint is no evidence. What it says of cost and safety is worked out again, its
bound is shown and never used, and the judge sees the final pattern as always.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc import __version__
from evosdc.evolution.record import Entry
from evosdc.io.checkpoint import (
    INTERVAL_IF_BETTER,
    Checkpoint,
    digest_of,
    pack_arrays,
    setting_text,
    unpack_arrays,
)
from evosdc.suppress.problem.problem import Pattern
from evosdc.suppress.run.search import Search
from evosdc.suppress.running import Clock
from evosdc.table import Table

# What a run may be given again when it goes on: when to stop changes no pattern.
_FREE = ("time_limit", "evaluations", "gap")


@dataclass(frozen=True, eq=False)
class Stored:
    """What a run had when its checkpoint was written."""

    hidden: NDArray[np.bool_] | None
    cost: float | None
    bound: float | None
    seconds: float
    evaluations: int

    def words(self) -> str:
        """Say what is taken up, for the run record."""
        had = "no pattern yet"
        if self.cost is not None:
            bound = (
                "no bound" if self.bound is None else f"a bound of {self.bound:,.6g}"
            )
            had = f"a pattern of cost {self.cost:,.6g} and {bound}, found again now"
        return f"resumed after {self.seconds:.0f} s with {had}"


def take_up(
    kept: Checkpoint, table: Table, settings: Mapping[str, Any]
) -> Stored | None:
    """Make room for the checkpoint of a run; return what it goes on from, if so."""
    content = kept.begin(
        "protect",
        __version__,
        _parts(table),
        {n: setting_text(value) for n, value in settings.items() if n not in _FREE},
    )
    if content is None:
        return None
    with kept.reading():
        hidden = unpack_arrays(content["hidden"])
        if hidden is not None and hidden.shape != (len(table),):
            raise ValueError(hidden.shape)
        stored = Stored(
            hidden=None if hidden is None else hidden.astype(bool),
            cost=_number(content["cost"]),
            bound=_number(content["bound"]),
            seconds=content["seconds"],
            evaluations=int(content["evaluations"]),
        )
        if stored.evaluations < 0:
            raise ValueError(stored.evaluations)
    return stored


@contextmanager
def following(kept: Checkpoint, search: Search, clock: Clock) -> Iterator[None]:
    """Write what a search has, every now and then, while the block runs.

    A thread does it where the search itself has nothing to tell for long. Time counts
    up to the end of the search: the judge is asked again.
    """
    over = threading.Event()
    written: list[Pattern | None] = [None]

    def write(**when: bool) -> None:
        best = search.stored if search.best is None else search.best
        better = best is not written[0]
        if kept.write(
            lambda: _content(best, search), clock.spent(), better=better, **when
        ):
            written[0] = best

    def hear(_: Entry) -> None:
        write()

    def beat() -> None:
        while not over.wait(INTERVAL_IF_BETTER):
            write()

    write(first=True)
    search.record.listeners.append(hear)
    thread = threading.Thread(target=beat, name="checkpoint", daemon=True)
    thread.start()
    try:
        yield
    except Exception:
        over.set()
        thread.join()
        if written[0] is None:
            kept.remove()  # nothing to go on from
        raise
    finally:
        over.set()
        thread.join()
        search.record.listeners.remove(hear)
    write(last=True)


def _content(best: Pattern | None, search: Search) -> dict[str, Any]:
    return {
        "hidden": None if best is None else pack_arrays(best.hidden),
        "cost": None if best is None else float(best.cost),
        "bound": None if search.bound is None else float(search.bound),
        "evaluations": int(search.evaluations),
    }


def _parts(table: Table) -> dict[str, str]:
    """Return fingerprints of a table, by the words for its parts."""
    trees = [(d.name, d.hierarchy.codes, d.hierarchy.parents) for d in table.dimensions]
    matrix, known = table.matrix, table.contributions
    contributions = () if known is None else (known.count, known.who, known.amount)
    return {
        "labels": digest_of(repr(trees), table.name, table.codes),
        "values": digest_of(table.value),
        "equations": digest_of(matrix.indptr, matrix.indices, matrix.data, table.rhs),
        "statuses": digest_of(table.status, table.unshown),
        "protection levels": digest_of(table.lpl, table.upl, table.spl),
        "bounds": digest_of(table.lower, table.upper),
        "weights": digest_of(table.weight),
        "contributors": digest_of(
            table.frequency, table.holdings, table.respondent, *contributions
        ),
    }


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
