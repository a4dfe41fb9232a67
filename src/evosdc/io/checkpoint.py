"""Checkpoints: a run that is killed goes on from what it had written last.

The file is whole or not there at all, and for its owner only. It is a line of JSON, no
code: reading one runs nothing. A sum over its content tells half a file, or one that
was changed by accident, from a whole one. It is no signature: who may write the file
may write the sum, so that nothing in it is taken for evidence.

What is in it is the business of the verb that writes it (`evosdc.api`). Here is what
they share: when it is written, what it is known again by, and when it is refused.
"""

from __future__ import annotations

import base64
import binascii
import glob
import hashlib
import json
import logging
import math
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from evosdc.errors import EvosdcError, InputError
from evosdc.io.paths import (
    PathLike,
    make_folder,
    open_output,
    read_bytes,
    refuse_link,
    refuse_unwritable,
)

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
_KIND = "evosdc checkpoint"
# Windows cannot set the time of a link itself.
_FOLLOW_LINKS = os.utime not in os.supports_follow_symlinks
_HEAD = json.dumps({"kind": _KIND})[:-1].encode()
_ARRAY = "array"
_AFRESH = "or start afresh without --resume (resume=False)"


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
        if self.path.exists() and not (self.resume or _is_checkpoint(self.path)):
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
        folder = self.path.parent
        refuse_unwritable(folder)
        self._made = [f for f in (folder, *folder.parents) if not f.exists()]
        if self._ours:
            make_folder(folder, private=True)
        elif self._made:
            raise InputError(
                f"there is no folder {folder}",
                expected="a folder that exists",
                hint="create it first",
            )
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
                    until = self._at + max(0.0, seconds - self._seconds)
                    with suppress(OSError):
                        os.utime(
                            self.path, (until, until), follow_symlinks=_FOLLOW_LINKS
                        )
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

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Say that the file is damaged where a block cannot make sense of it."""
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self.damaged() from error

    def damaged(self) -> InputError:
        """Describe a file that says something which cannot be."""
        return _damaged(self.path)

    def _read(self) -> dict[str, Any]:
        content = read_checkpoint(self.path)
        with self.reading():
            self._refuse_another(content)
            seconds, at = float(content["seconds"]), float(content["at"])
            if not 0 <= seconds < math.inf:
                raise ValueError(seconds)
        # A file that was copied has another time: no more than an interval is believed.
        since = min(max(self.path.stat().st_mtime - at, 0.0), INTERVAL)
        return {**content, "seconds": seconds + since}

    def _refuse_another(self, content: Mapping[str, Any]) -> None:
        """Say in what a checkpoint is not one of this run."""

        def refuse(what: str, expected: str, hint: str) -> NoReturn:
            raise InputError(
                f"{self.path} {what}", expected=expected, hint=f"{hint}, {_AFRESH}"
            )

        mine = self._about
        version, verb = content["version"], content["verb"]
        if version != mine["version"]:
            refuse(
                f"was written by evosdc {version}",
                f"a checkpoint of this version, {mine['version']}",
                "go on with that version",
            )
        if verb != mine["verb"]:
            refuse(
                f"is of a run of evosdc {verb}",
                f"a checkpoint of evosdc {mine['verb']}",
                "give the other command",
            )
        theirs, ours = content["data"], mine["data"]
        other = [p for p in {**ours, **theirs} if theirs.get(p) != ours.get(p)]
        if other:
            refuse(
                f"is of other data: they differ in {', '.join(other)}",
                "the data of the run that was cut short",
                "give those",
            )
        theirs, ours = content["settings"], mine["settings"]
        for name in sorted({*theirs, *ours}):
            was, now = theirs.get(name), ours.get(name)
            if was != now:
                shown = "" if name in _PRIVATE else f": {was} there, {now} here"
                refuse(
                    f"is of a run with another setting of {name!r}{shown}",
                    "the same options as those of the run that was cut short",
                    "give that option as it was",
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


def setting_text(value: Any) -> str:
    """Return a setting as text by which it is known again."""
    if isinstance(value, np.ndarray):
        return digest_of(value)
    return json.dumps(value, sort_keys=True, default=str)


def digest_of(*parts: Any) -> str:
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


def write_checkpoint(path: PathLike, content: Mapping[str, Any]) -> None:
    """Write a checkpoint in place of the last one, which stays until this is on disk.

    Raises
    ------
    InputError
        Where it cannot be written.
    """
    p = Path(path)
    body = json.dumps(dict(content), sort_keys=True, allow_nan=False)
    whole = json.dumps({"kind": _KIND, "sum": _sum(body), "content": body})
    with open_output(p, True, durable=True) as stream:
        stream.write(whole.encode("utf-8") + b"\n")
    _sync_folder(p.parent)


def read_checkpoint(path: PathLike) -> dict[str, Any]:
    """Read what `write_checkpoint` wrote."""
    p = Path(path)
    if not p.exists():
        raise InputError(
            f"there is no checkpoint {p}",
            expected="the file of a run that was cut short",
            hint="check the name, or start afresh without --resume (resume=False)",
        )
    try:
        whole = json.loads(read_bytes(p))
        if whole["kind"] != _KIND or whole["sum"] != _sum(whole["content"]):
            raise ValueError("its sum is another one")
        content = json.loads(whole["content"])
        if not isinstance(content, dict):
            raise ValueError("no content")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(p) from error
    return content


def _is_checkpoint(path: PathLike) -> bool:
    """Whether a file begins as ours do; one that was cut short in writing it, too."""
    p = Path(path)
    if p.is_symlink() or not p.is_file():
        return False
    with p.open("rb") as stream:
        found = stream.read(len(_HEAD))
    # Nothing is written in place: under its own name a file is never shorter.
    return found == _HEAD or (p.suffix == ".part" and _HEAD.startswith(found))


def _damaged(path: PathLike) -> InputError:
    """Describe a file that is no whole checkpoint."""
    return InputError(
        f"{path} is damaged, or no checkpoint of evosdc",
        expected="a whole file, as a run that was cut short leaves it",
        hint="restore it from a copy, or remove it and start afresh without --resume",
    )


def remove_checkpoint(path: PathLike, made: Iterable[Path] = ()) -> None:
    """Remove a checkpoint, what was cut short in writing it, and empty folders."""
    p = Path(path)
    for one in (p, *p.parent.glob(f".{glob.escape(p.name)}.*.part")):
        with suppress(OSError):
            if _is_checkpoint(one):
                one.unlink()
    for folder in made:
        # It stays where there is something in it.
        with suppress(OSError):
            folder.rmdir()


def pack_arrays(value: Any) -> Any:
    """Return nested plain values with each array in them as text."""
    if isinstance(value, np.ndarray):
        raw = zlib.compress(np.ascontiguousarray(value).tobytes(), 1)
        return {
            _ARRAY: base64.b64encode(raw).decode("ascii"),
            "type": value.dtype.str,
            "shape": list(value.shape),
        }
    if isinstance(value, Mapping):
        return {str(name): pack_arrays(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [pack_arrays(part) for part in value]
    return value


def unpack_arrays(value: Any) -> Any:
    """Read back what `pack_arrays` gave; raises `ValueError` for anything else."""
    if isinstance(value, list):
        return [unpack_arrays(part) for part in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY not in value:
        return {name: unpack_arrays(part) for name, part in value.items()}
    try:
        kind = np.dtype(str(value["type"]))
        if kind.kind not in "biuf":
            raise ValueError("an array that is not of numbers")
        raw = zlib.decompress(base64.b64decode(value[_ARRAY], validate=True))
        return np.frombuffer(raw, kind).reshape(value["shape"]).copy()
    except (binascii.Error, zlib.error, KeyError, TypeError) as error:
        raise ValueError(str(error)) from error


def _sum(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8")).hexdigest()


def _sync_folder(folder: Path) -> None:
    """Have the new name on disk as well; not every system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
