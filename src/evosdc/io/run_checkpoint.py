"""Checkpoints: a run that is killed goes on from what it had written last.

What is in the file is the business of the verb that writes it: `pattern_checkpoint`,
`synthesis_checkpoint`. Here is what both share: when it is written, what it is known
again by, and when it is refused.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evosdc.errors import EvosdcError, InputError
from evosdc.io.checkpoint import (
    count_on,
    counted_until,
    damaged,
    is_checkpoint,
    read_checkpoint,
    ready_folder,
    remove_checkpoint,
    write_checkpoint,
)
from evosdc.io.paths import PathLike, refuse_link

_LOG = logging.getLogger(__name__)
# Seconds between two checkpoints, and the fewest where there is something better.
INTERVAL, SOON = 10.0, 1.0
# Settings whose words name cells, files or values: they are said to differ, not how.
_PRIVATE = (
    "hide",
    "publish",
    "cost_factor",
    "accept",
    "already_published",
    "known",
    "rules",
    "logic",
)


class Checkpoint:
    """The file that a run writes what it has to, and may go on from.

    Parameters
    ----------
    path
        The file.
    resume
        Go on from it; it must be there, and of the same data, version and options.
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
        self._last = self._beaten = -math.inf
        self._at = self._seconds = 0.0
        self._failed = False

    def refuse_existing(self) -> None:
        """Refuse to write over what a run that was cut short has left."""
        refuse_link(self.path)
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
        if self.path.exists() and not (self.resume or is_checkpoint(self.path)):
            raise InputError(
                f"{self.path} is no checkpoint of evosdc",
                expected="a name that is free, or a checkpoint to write over",
                hint="give another name, or move the file away",
            )

    def begin(
        self,
        verb: str,
        version: str,
        data: Mapping[str, str],
        settings: Mapping[str, str],
    ) -> dict[str, Any] | None:
        """Return what to go on from, if anything; make room for the file.

        Parameters
        ----------
        data
            Fingerprints of the table or the records, by the words for their parts.
        settings
            What changes an answer, by name, as text.
        """
        self.refuse_existing()
        self._about = {
            "verb": verb,
            "version": version,
            "data": dict(data),
            "settings": dict(settings),
        }
        stored = self._read() if self.resume else None
        self._made = ready_folder(self.path, ours=self._ours)
        return stored

    def write(
        self,
        content: Callable[[], Mapping[str, Any]],
        seconds: float,
        *,
        better: bool = False,
        last: bool = False,
        first: bool = False,
    ) -> bool:
        """Write the file if it is time to; only the first time must it succeed.

        In between the time of the file says how long the run has gone on: what it
        spent counts up to its last second, without a write for each.

        Parameters
        ----------
        content
            Called for what the run has, where it is to be written.
        seconds
            What the run has taken so far.
        better
            There is something better than what was written: that is not put off.
        first, last
            Write in any case.
        """
        with self._lock:
            now = time.monotonic()
            wait = SOON if better else INTERVAL
            if now - self._last < wait and not (first or last):
                if now - self._beaten >= SOON:
                    count_on(self.path, self._at + max(0.0, seconds - self._seconds))
                    self._beaten = now
                return False
            at = time.time()
            try:
                write_checkpoint(
                    self.path,
                    {**self._about, **content(), "seconds": float(seconds), "at": at},
                )
            except EvosdcError as error:
                if first:
                    raise
                if not self._failed:
                    _LOG.warning("no checkpoint, and the run goes on: %s", error)
                self._failed = True
            else:
                self._at, self._seconds, self._failed = at, seconds, False
            self._last = self._beaten = time.monotonic()
            return not self._failed

    def remove(self) -> None:
        """Remove the file, and the folders that were made for it and are empty."""
        remove_checkpoint(self.path, self._made)

    def damaged(self) -> InputError:
        """Describe a file that says something which cannot be."""
        return damaged(self.path)

    def _read(self) -> dict[str, Any]:
        content = read_checkpoint(self.path)
        try:
            self._refuse_another(content)
            seconds, at = float(content["seconds"]), float(content["at"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self.damaged() from error
        if not 0 <= seconds < math.inf:
            raise self.damaged()
        # A file that was copied has another time: no more than an interval is believed.
        since = min(max(counted_until(self.path) - at, 0.0), INTERVAL)
        return {**content, "seconds": seconds + since}

    def _refuse_another(self, content: Mapping[str, Any]) -> None:
        """Say in what a checkpoint is not one of this run."""
        afresh = "or start afresh without --resume (resume=False)"
        version = self._about["version"]
        if content["version"] != version:
            raise InputError(
                f"{self.path} was written by evosdc {content['version']}",
                expected=f"a checkpoint of this version, {version}",
                hint=f"go on with that version, {afresh}",
            )
        verb = self._about["verb"]
        if content["verb"] != verb:
            raise InputError(
                f"{self.path} is of a run of evosdc {content['verb']}",
                expected=f"a checkpoint of evosdc {verb}",
                hint=f"give the other command, {afresh}",
            )
        theirs, ours = content["data"], self._about["data"]
        other = [
            part for part in {**ours, **theirs} if theirs.get(part) != ours.get(part)
        ]
        if other:
            raise InputError(
                f"{self.path} is of other data: they differ in {', '.join(other)}",
                expected="the data of the run that was cut short",
                hint=f"give those, {afresh}",
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


def as_checkpoint(
    given: PathLike | Checkpoint | None, *, resume: bool
) -> Checkpoint | None:
    """Return the checkpoint that a verb was given, as a path or as it is."""
    if isinstance(given, Checkpoint):
        return given
    if isinstance(given, (str, os.PathLike)):
        return Checkpoint(given, resume=resume)
    if given is not None:
        raise InputError(
            f"checkpoint is of type {type(given).__name__}",
            expected="the path of a file",
            hint="give checkpoint='run.checkpoint'",
        )
    if resume:
        raise InputError(
            "resume is asked for without a checkpoint",
            expected="the file to go on from",
            hint="give checkpoint=FILE as well",
        )
    return None


def in_words(value: Any) -> str:
    """Return a setting as text by which it is known again."""
    if isinstance(value, np.ndarray):
        return sha_of(value)
    return json.dumps(value, sort_keys=True, default=str)


def sha_of(*parts: Any) -> str:
    """Return a fingerprint of arrays and plain values.

    Confidential, as what a hash of small data was made of can be guessed.
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            # The width of indices and of text depends on how data were read.
            if part.dtype.kind in "iu":
                part = part.astype(np.int64)
            elif part.dtype.kind in "US":
                part = np.array("\n".join(part.ravel().tolist()).encode("utf-8"))
            digest.update(str(part.shape).encode() + np.ascontiguousarray(part).data)
        else:
            digest.update(repr(part).encode("utf-8"))
        digest.update(b"\0")
    return digest.hexdigest()
