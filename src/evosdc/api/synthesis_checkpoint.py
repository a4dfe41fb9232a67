"""The checkpoints of `synthesise`: the candidates of a generation and all they need.

Only the search is taken up. Columns are looked at again, copies drawn, judged and
written as always, so that nothing in the file stands for evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evosdc import __version__
from evosdc.io.checkpoint import (
    Checkpoint,
    digest_of,
    pack_arrays,
    setting_text,
    unpack_arrays,
)

if TYPE_CHECKING:
    from evosdc.synth import Synthesiser

# What a run may be given again when it goes on: when to stop.
_FREE = ("time_limit", "generations", "patience", "stop_utility")


class KeptSynthesis:
    """Writes what a search has to a checkpoint, every now and then."""

    def __init__(self, kept: Checkpoint, stored: Mapping[str, Any] | None) -> None:
        self._kept = kept
        self.stored = stored
        self.written = stored is not None

    def keep(
        self, state: Callable[[], dict[str, Any]], seconds: float, *, last: bool
    ) -> None:
        """Hear of a generation, and write it where it is time to."""

        def content() -> dict[str, Any]:
            return {"run": pack_arrays(state())}

        written = self._kept.write(content, seconds, better=not self.written, last=last)
        self.written = self.written or written


@contextmanager
def keeping(
    kept: Checkpoint | None, model: Synthesiser, table: pa.Table
) -> Iterator[float]:
    """Have a model's search written to a checkpoint while the block runs.

    Gives the seconds that the run has taken before, where it goes on. What a block
    leaves that fails before there is a generation is nothing to go on from.
    """
    if kept is None:
        yield 0.0
        return
    from evosdc.synth.search.run import StateError

    stored = _stored(kept, model, table)
    keeper = KeptSynthesis(kept, stored)
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


def _stored(
    kept: Checkpoint, model: Synthesiser, table: pa.Table
) -> dict[str, Any] | None:
    """Make room for the checkpoint of a run; return what it goes on from, if so."""
    content = kept.begin("synthesise", __version__, _columns(table), _settings(model))
    if content is None or content.get("run") is None:
        return None
    with kept.reading():
        run = unpack_arrays(content["run"])
        # What the file's own time says counts as well.
        return {**run, "spent": max(float(run["spent"]), content["seconds"])}


def _columns(table: pa.Table) -> dict[str, str]:
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
    for group in (
        options.scenario,
        options.trade_off,
        options.coding,
        options.operators,
        options.schedule,
    ):
        found |= {name: _plain(value) for name, value in vars(group).items()}
    return {n: setting_text(value) for n, value in found.items() if n not in _FREE}


def _plain(value: Any) -> Any:
    """Return a setting without what is another in every process."""
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, str | int | float | bool | None):
        return value
    # A frame to start from: where it began is nothing to a run that goes on.
    return type(value).__name__
