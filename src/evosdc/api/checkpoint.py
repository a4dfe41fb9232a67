"""Checkpoints: a run that is killed goes on from the best pattern it had written.

A checkpoint is no evidence. What it says of cost and safety is worked out again, its
bound is shown and never used, and the judge sees the final pattern as always.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc import __version__
from evosdc.api.running import Clock
from evosdc.errors import EvosdcError, InputError
from evosdc.evolution.record import Entry
from evosdc.io.checkpoint import (
    damaged,
    pack_cells,
    read_checkpoint,
    ready_folder,
    remove_checkpoint,
    unpack_cells,
    write_checkpoint,
)
from evosdc.io.paths import PathLike
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.search import Search
from evosdc.table import Table

_LOG = logging.getLogger(__name__)
# Seconds between two checkpoints, and the fewest where there is a better pattern.
INTERVAL, _SOON = 10.0, 1.0
# What a run may be given anew when it goes on: when to stop changes no pattern.
_FREE = ("time_limit", "evaluations", "gap")
# Settings whose words name cells or files: they are said to differ, and not how.
_PRIVATE = ("hide", "publish", "prefer", "earlier", "known")


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


class Checkpoint:
    """The file that a run writes what it has to, and may go on from.

    Parameters
    ----------
    path
        The file.
    resume
        Go on from it; it must be there, and of the same table, version and options.
    force
        Write over a file that is there already.
    keep
        Leave the file when the verb returns: who writes the answer removes it then.
    ours
        Whether its folder is one of a result, made and closed to others where need be.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        resume: bool = False,
        force: bool = False,
        keep: bool = False,
        ours: bool = False,
    ) -> None:
        self.path = Path(path)
        self.resume, self.keep = resume, keep
        self._force, self._ours = force, ours
        self._made: list[Path] = []
        self._about: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._last = -math.inf
        self._written: Pattern | None = None
        self._failed = False

    def refuse_existing(self) -> None:
        """Refuse to write over what a run that was cut short has left."""
        if self.path.is_dir():
            raise InputError(
                f"{self.path} is a directory",
                expected="the name of a file for the checkpoint",
                hint="add a file name",
            )
        if self.path.exists() and not (self.resume or self._force):
            raise InputError(
                f"there is a checkpoint of a run that was cut short: {self.path}",
                expected="to go on from it, or a place that is free",
                hint="give --resume (resume=True) to go on, or remove the file",
            )

    def begin(self, table: Table, settings: Mapping[str, Any]) -> Stored | None:
        """Return what to go on from, if anything; make room for the file."""
        self.refuse_existing()
        self._about = fingerprint(table, settings)
        stored = self._read(len(table)) if self.resume else None
        self._made = ready_folder(self.path, ours=self._ours)
        return stored

    @contextmanager
    def following(self, search: Search, clock: Clock) -> Iterator[None]:
        """Write what a search has, every now and then, while the block runs.

        A thread does it where the search itself has nothing to tell for long. Time
        counts up to the end of the search: settling and judging are done anew.
        """
        over = threading.Event()

        def hear(_: Entry | None = None) -> None:
            self._write(search, clock)

        def beat() -> None:
            while not over.wait(_SOON):
                hear()

        self._write(search, clock, first=True)
        search.record.listeners.append(hear)
        thread = threading.Thread(target=beat, name="checkpoint", daemon=True)
        thread.start()
        try:
            yield
        except Exception:
            over.set()
            thread.join()
            if self._written is None:
                self.remove()  # nothing to go on from
            raise
        finally:
            over.set()
            thread.join()
            search.record.listeners.remove(hear)
        self._last = -math.inf
        self._write(search, clock)

    def remove(self) -> None:
        """Remove the file, and the folders that were made for it and are empty."""
        remove_checkpoint(self.path, self._made)

    def _write(self, search: Search, clock: Clock, *, first: bool = False) -> None:
        """Write the file if it is time to; only the first time must it succeed."""
        with self._lock:
            best = search.stored if search.best is None else search.best
            since = time.monotonic() - self._last
            if since < (INTERVAL if best is self._written else _SOON):
                return
            try:
                write_checkpoint(self.path, self._content(best, search, clock))
            except EvosdcError as error:
                if first:
                    raise
                if not self._failed:
                    _LOG.warning("no checkpoint, and the run goes on: %s", error)
                self._failed = True
            else:
                self._written, self._failed = best, False
            self._last = time.monotonic()

    def _content(
        self, best: Pattern | None, search: Search, clock: Clock
    ) -> dict[str, Any]:
        return {
            **self._about,
            "hidden": None if best is None else pack_cells(best.hidden),
            "cost": None if best is None else float(best.cost),
            "bound": None if search.bound is None else float(search.bound),
            "seconds": float(clock.seconds),
            "evaluations": int(search.evaluations),
        }

    def _read(self, cells: int) -> Stored:
        content = read_checkpoint(self.path)
        try:
            self._refuse_another(content)
            hidden = content["hidden"]
            stored = Stored(
                hidden=None if hidden is None else unpack_cells(hidden, cells),
                cost=_number(content["cost"]),
                bound=_number(content["bound"]),
                seconds=float(content["seconds"]),
                evaluations=int(content["evaluations"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(self.path) from error
        if not (0 <= stored.seconds < math.inf and stored.evaluations >= 0):
            raise damaged(self.path)
        return stored

    def _refuse_another(self, content: Mapping[str, Any]) -> None:
        """Say in what a checkpoint is not one of this run."""
        afresh = "or start afresh without --resume (resume=False)"
        if content["version"] != __version__:
            raise InputError(
                f"{self.path} was written by evosdc {content['version']}",
                expected=f"a checkpoint of this version, {__version__}",
                hint=f"go on with that version, {afresh}",
            )
        theirs, ours = content["table"], self._about["table"]
        other = [part for part in ours if theirs.get(part) != ours[part]]
        if other:
            raise InputError(
                f"{self.path} is of another table: it differs in {', '.join(other)}",
                expected="the table of the run that was cut short",
                hint=f"give that table, {afresh}",
            )
        theirs, ours = content["settings"], self._about["settings"]
        for name in sorted({*theirs, *ours}):
            was, now = theirs.get(name), ours.get(name)
            if was == now:
                continue
            shown = "" if name in _PRIVATE else f": {was} there, {now} here"
            raise InputError(
                f"{self.path} is of a run with another setting of {name!r}{shown}",
                expected="the same options as those of the run that was cut short",
                hint=f"give that option as it was, {afresh}",
            )


def fingerprint(table: Table, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return by what a checkpoint is known again: version, table, options.

    Confidential, as what a hash of a small table was made of can be guessed.
    """
    trees = [(d.name, d.hierarchy.codes, d.hierarchy.parents) for d in table.dimensions]
    matrix = table.matrix
    return {
        "version": __version__,
        "table": {
            "labels": _sha(repr(trees), table.name, table.codes),
            "values": _sha(table.value),
            "equations": _sha(matrix.indptr, matrix.indices, matrix.data, table.rhs),
            "statuses": _sha(table.status, table.unshown),
            "protection levels": _sha(table.lpl, table.upl, table.spl),
            "bounds": _sha(table.lower, table.upper),
            "weights": _sha(table.weight),
            "contributors": _sha(table.frequency, table.holdings, table.respondent),
        },
        "settings": {
            name: _sha(value)
            if isinstance(value, np.ndarray)
            else json.dumps(value, sort_keys=True, default=str)
            for name, value in settings.items()
            if name not in _FREE
        },
    }


def as_checkpoint(
    given: PathLike | Checkpoint | None, *, resume: bool
) -> Checkpoint | None:
    """Return the checkpoint that a verb was given, as a path or as it is."""
    if isinstance(given, Checkpoint):
        return given
    if given is not None:
        return Checkpoint(given, resume=resume)
    if resume:
        raise InputError(
            "resume is asked for without a checkpoint",
            expected="the file to go on from",
            hint="give checkpoint=FILE as well",
        )
    return None


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _sha(*parts: Any) -> str:
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            # The width of indices and of text depends on how a table was read.
            if part.dtype.kind in "iu":
                part = part.astype(np.int64)
            elif part.dtype.kind in "US":
                part = np.array("\n".join(part.ravel().tolist()).encode("utf-8"))
            digest.update(str(part.shape).encode() + np.ascontiguousarray(part).data)
        else:
            digest.update(repr(part).encode("utf-8"))
        digest.update(b"\0")
    return digest.hexdigest()
