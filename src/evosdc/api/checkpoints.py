"""What `protect` and `synthesise` write to their checkpoints, and go on from.

A checkpoint is no evidence. Cost and safety of a pattern are worked out again, its
bound is shown and never used, and the judge sees the final pattern as always. Of a
synthesis only the search is resumed: copies are drawn and judged as always.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc import __version__
from evosdc.evolution.stopping import Entry
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
from evosdc.suppress.running import RunClock
from evosdc.table import Table

if TYPE_CHECKING:
    from evosdc.synth import Synthesiser

# What a run may be given again when it goes on: when to stop changes no answer.
_FREE_TO_PROTECT = ("time_limit", "evaluations", "gap")
_FREE_TO_SYNTHESISE = ("time_limit", "generations", "patience", "stop_utility")


@dataclass(frozen=True, eq=False)
class StoredPattern:
    """What a run of `protect` had when its checkpoint was written."""

    hidden: NDArray[np.bool_] | None
    cost: float | None
    bound: float | None
    seconds: float
    evaluations: int

    def words(self) -> str:
        """Describe what is resumed, for the run record."""
        had = "no pattern yet"
        if self.cost is not None:
            known = self.bound is not None
            bound = f"a bound of {self.bound:,.6g}" if known else "no bound"
            had = f"a pattern of cost {self.cost:,.6g} and {bound}, found again now"
        return f"resumed after {self.seconds:.0f} s with {had}"


def resumed_pattern(
    kept: Checkpoint, table: Table, settings: Mapping[str, Any]
) -> StoredPattern | None:
    """Make space for the checkpoint of `protect`; return what it goes on from."""
    named = {
        n: setting_text(v) for n, v in settings.items() if n not in _FREE_TO_PROTECT
    }
    content = kept.begin("protect", __version__, _table_parts(table), named)
    if content is None:
        return None
    with kept.reading():
        hidden = unpack_arrays(content["hidden"])
        if hidden is not None and hidden.shape != (len(table),):
            raise ValueError(hidden.shape)
        evaluations = int(content["evaluations"])
        if evaluations < 0:
            raise ValueError(evaluations)
        cost, bound = content["cost"], content["bound"]
        return StoredPattern(
            hidden=None if hidden is None else hidden.astype(bool),
            cost=None if cost is None else float(cost),
            bound=None if bound is None else float(bound),
            seconds=content["seconds"],
            evaluations=evaluations,
        )


@contextmanager
def writing_patterns(
    kept: Checkpoint | None, search: Search, clock: RunClock
) -> Iterator[None]:
    """Write what a search has at intervals while the block runs.

    A thread does it where the search reports nothing for long. Time counts up to the
    end of the search: the judge is asked again.
    """
    if kept is None:
        yield
        return
    over = threading.Event()
    written: Pattern | None = None

    def write(_: Entry | None = None, **when: bool) -> None:
        nonlocal written
        best = search.stored if search.best is None else search.best

        def content() -> dict[str, Any]:
            return {
                "hidden": None if best is None else pack_arrays(best.hidden),
                "cost": None if best is None else float(best.cost),
                "bound": None if search.bound is None else float(search.bound),
                "evaluations": int(search.evaluations),
            }

        better = best is not written
        if kept.write(content, clock.spent(), better=better, **when):
            written = best

    def beat() -> None:
        while not over.wait(INTERVAL_IF_BETTER):
            write()

    write(first=True)
    search.record.listeners.append(write)
    thread = threading.Thread(target=beat, name="checkpoint", daemon=True)
    thread.start()
    try:
        yield
    except Exception:
        over.set()
        thread.join()
        if written is None:
            kept.remove()  # nothing to go on from
        raise
    finally:
        over.set()
        thread.join()
        search.record.listeners.remove(write)
    write(last=True)


def _table_parts(table: Table) -> dict[str, str]:
    """Return fingerprints of a table, by the words for its parts."""
    trees = [(d.name, d.hierarchy.codes, d.hierarchy.parents) for d in table.dimensions]
    matrix, known = table.matrix, table.contributions
    who: list[Any] = [table.frequency, table.holdings, table.respondent]
    who += [] if known is None else [known.count, known.who, known.amount]
    return {
        "labels": digest_of(repr(trees), table.name, table.codes),
        "values": digest_of(table.value),
        "equations": digest_of(matrix.indptr, matrix.indices, matrix.data, table.rhs),
        "statuses": digest_of(table.status, table.unshown),
        "protection levels": digest_of(table.lpl, table.upl, table.spl),
        "bounds": digest_of(table.lower, table.upper),
        "weights": digest_of(table.weight),
        "contributors": digest_of(*who),
    }


class _Keeper:
    """Writes what a synthesis has to a checkpoint at intervals."""

    def __init__(self, kept: Checkpoint, stored: Mapping[str, Any] | None) -> None:
        self._kept = kept
        self.stored = stored
        self.written = stored is not None

    def keep(
        self, state: Callable[[], dict[str, Any]], seconds: float, *, last: bool
    ) -> None:
        """Write a generation where it is time to."""
        better = not self.written
        self.written |= self._kept.write(
            lambda: {"run": pack_arrays(state())}, seconds, better=better, last=last
        )


@contextmanager
def writing_generations(
    kept: Checkpoint | None, model: Synthesiser, table: pa.Table
) -> Iterator[float]:
    """Have a model's search written to a checkpoint while the block runs.

    Gives the seconds that the run has taken before, where it goes on. The checkpoint of
    a block that fails before there is a generation is removed.
    """
    if kept is None:
        yield 0.0
        return
    from evosdc.synth.search.run import StateError

    stored = _resumed_synthesis(kept, model, table)
    keeper = _Keeper(kept, stored)
    if stored is None:
        kept.write(lambda: {"run": None}, 0.0, first=True)
    model.set_params(keeper=keeper)
    try:
        yield 0.0 if stored is None else float(stored["spent"])
    except StateError as error:
        raise kept.damaged() from error
    except Exception:
        if not keeper.written:
            kept.remove()
        raise
    finally:
        model.set_params(keeper=None)


def _resumed_synthesis(
    kept: Checkpoint, model: Synthesiser, table: pa.Table
) -> dict[str, Any] | None:
    """Make space for the checkpoint of `synthesise`; return what it goes on from."""
    parts, settings = _column_parts(table), _settings(model)
    content = kept.begin("synthesise", __version__, parts, settings)
    if content is None or content.get("run") is None:
        return None
    with kept.reading():
        run = unpack_arrays(content["run"])
        # What the file's own time says counts as well.
        return {**run, "spent": max(float(run["spent"]), content["seconds"])}


def _column_parts(table: pa.Table) -> dict[str, str]:
    """Return a fingerprint of each column, by its name."""
    out = {"the order of columns": digest_of(table.column_names)}
    for name in table.column_names:
        column = table[name].combine_chunks()
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        places = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        words = repr(column.dictionary.to_pylist())
        out[f"column {name!r}"] = digest_of(words, np.asarray(places, np.int64))
    return out


def _settings(model: Synthesiser) -> dict[str, str]:
    options = model.options
    found: dict[str, Any] = {
        "columns": options.columns,
        "rules": [_plain(rule) for rule in options.rules],
        "copies": options.copies,
        "seed": options.seed,
        "logic": asdict(options.logic),
    }
    for name in ("scenario", "trade_off", "coding", "operators", "schedule"):
        group = getattr(options, name)
        found |= {field: _plain(value) for field, value in vars(group).items()}
    return {
        n: setting_text(v) for n, v in found.items() if n not in _FREE_TO_SYNTHESISE
    }


def _plain(value: Any) -> Any:
    """Return a setting without what differs between processes."""
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, str | int | float | bool | None):
        return value
    # A frame to start from: what a run began with is nothing to one that goes on.
    return type(value).__name__
