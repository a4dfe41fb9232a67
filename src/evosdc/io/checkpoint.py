"""Checkpoints, from which a run that was interrupted is resumed.

The file is complete or absent, and readable by its owner only. It is one line of JSON:
reading it runs no code. A checksum of the content detects a file that is incomplete or
was changed by accident. It is no signature, as whoever may write the file may write the
checksum: nothing in a checkpoint is taken as evidence.

The content is defined by the verbs (`evosdc.api`). This module has what they share:
when a checkpoint is written, which run it belongs to, and when it is refused.
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
# Seconds between two checkpoints, and after which a better answer is written.
INTERVAL, INTERVAL_IF_BETTER = 10.0, 1.0
# Settings that may name cells, files or values: messages do not show them.
_CONFIDENTIAL = (
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
_RESTART = "or start again without --resume (resume=False)"


class Checkpoint:
    """The file to which a run writes its state, and from which it may be resumed.

    Parameters
    ----------
    path
        The file.
    resume
        Resume from it; it must exist and be of the same data, version and options.
    force
        Replace an existing file.
    keep
        Keep the file when the verb returns, until the answer has been written.
    in_result
        Whether its folder is that of a result, which is made, for its owner only.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        resume: bool = False,
        force: bool = False,
        keep: bool = False,
        in_result: bool = False,
    ) -> None:
        self.path = Path(path)
        self.resume, self.keep = resume, keep
        self._force, self._in_result = force, in_result
        self._made: list[Path] = []
        self._about: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._last = self._touched = -math.inf
        self._at = self._seconds = 0.0
        self._failed = False

    def refuse_existing(self) -> None:
        """Refuse to replace what an interrupted run has left."""
        refuse_link(self.path)
        if self.path.is_dir():
            raise InputError(
                f"{self.path} is a directory",
                expected="the name of a file for the checkpoint",
                hint="add a file name",
            )
        if self.path.exists() and not (self.resume or self._force):
            raise InputError(
                f"there is a checkpoint of an interrupted run: {self.path}",
                expected="to resume from it, or a name that is free",
                hint="give --resume (resume=True) to resume, or remove the file",
            )
        if self.path.exists() and not (self.resume or _is_checkpoint(self.path)):
            raise InputError(
                f"{self.path} is no checkpoint of evosdc",
                expected="a name that is free, or a checkpoint to replace",
                hint="give another name, or move the file away",
            )

    def begin(
        self,
        verb: str,
        version: str,
        data: Mapping[str, str],
        settings: Mapping[str, str],
    ) -> dict[str, Any] | None:
        """Return the state to resume from, if any; make the folder.

        Parameters
        ----------
        data
            Digests of the parts of the table or the records, by name.
        settings
            The settings that change an answer, by name, as text.
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
        if self._in_result:
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
        """Write the file if it is due; only the first time must it succeed.

        Between two writes the modification time of the file records how long the run
        has taken, so that its time is known to the second.

        Parameters
        ----------
        content
            Called for the state of the run, if it is to be written.
        seconds
            The time that the run has taken so far.
        better
            There is a better answer than the one that was written.
        first, last
            Write in any case.
        """
        with self._lock:
            now = time.monotonic()
            wait = INTERVAL_IF_BETTER if better else INTERVAL
            if now - self._last < wait and not (first or last):
                if now - self._touched >= INTERVAL_IF_BETTER:
                    until = self._at + max(0.0, seconds - self._seconds)
                    with suppress(OSError):
                        os.utime(
                            self.path, (until, until), follow_symlinks=_FOLLOW_LINKS
                        )
                    self._touched = now
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
                    _LOG.warning(
                        "no checkpoint was written, the run continues: %s", error
                    )
                self._failed = True
            else:
                self._at, self._seconds, self._failed = at, seconds, False
            self._last = self._touched = time.monotonic()
            return not self._failed

    def remove(self) -> None:
        """Remove the file, and the folders that were made for it and are empty."""
        remove_checkpoint(self.path, self._made)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise that the file is damaged if a block cannot interpret it."""
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self.damaged() from error

    def damaged(self) -> InputError:
        """Return the error for a file with impossible content."""
        return _damaged(self.path)

    def _read(self) -> dict[str, Any]:
        content = read_checkpoint(self.path)
        with self.reading():
            self._refuse_another(content)
            seconds, at = float(content["seconds"]), float(content["at"])
            if not 0 <= seconds < math.inf:
                raise ValueError(seconds)
        # A copy of the file has another time: at most one interval is added.
        since = min(max(self.path.stat().st_mtime - at, 0.0), INTERVAL)
        return {**content, "seconds": seconds + since}

    def _refuse_another(self, content: Mapping[str, Any]) -> None:
        """Refuse a checkpoint of another run, and say in what it differs."""

        def refuse(what: str, expected: str, hint: str) -> NoReturn:
            raise InputError(
                f"{self.path} {what}", expected=expected, hint=f"{hint}, {_RESTART}"
            )

        mine = self._about
        version, verb = content["version"], content["verb"]
        if version != mine["version"]:
            refuse(
                f"was written by evosdc {version}",
                f"a checkpoint of this version, {mine['version']}",
                "resume with that version",
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
                "the data of the interrupted run",
                "give those",
            )
        theirs, ours = content["settings"], mine["settings"]
        for name in sorted({*theirs, *ours}):
            was, now = theirs.get(name), ours.get(name)
            if was != now:
                shown = "" if name in _CONFIDENTIAL else f": {was} there, {now} here"
                refuse(
                    f"is of a run with another setting of {name!r}{shown}",
                    "the same options as those of the interrupted run",
                    "give that option as it was",
                )


def as_checkpoint(
    given: PathLike | Checkpoint | None, *, resume: bool
) -> Checkpoint | None:
    """Return the checkpoint that a verb was given, as a path or an object."""
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
            expected="the file to resume from",
            hint="give checkpoint=FILE as well",
        )
    return None


def setting_text(value: Any) -> str:
    """Return a setting as text, to compare it with that of another run."""
    if isinstance(value, np.ndarray):
        return digest_of(value)
    return json.dumps(value, sort_keys=True, default=str)


def digest_of(*parts: Any) -> str:
    """Return a SHA-256 digest of arrays and plain values.

    It is confidential, as small data can be guessed from their digest.
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
    """Write a checkpoint; the last one is replaced when this one is on disk."""
    p = Path(path)
    body = json.dumps(dict(content), sort_keys=True, allow_nan=False)
    whole = json.dumps({"kind": _KIND, "sum": _checksum(body), "content": body})
    with open_output(p, True, durable=True) as stream:
        stream.write(whole.encode("utf-8") + b"\n")
    _sync_folder(p.parent)


def read_checkpoint(path: PathLike) -> dict[str, Any]:
    """Read what `write_checkpoint` wrote."""
    p = Path(path)
    if not p.exists():
        raise InputError(
            f"there is no checkpoint {p}",
            expected="the file of an interrupted run",
            hint="check the name, or start again without --resume (resume=False)",
        )
    try:
        whole = json.loads(read_bytes(p))
        if whole["kind"] != _KIND or whole["sum"] != _checksum(whole["content"]):
            raise ValueError("another checksum")
        content = json.loads(whole["content"])
        if not isinstance(content, dict):
            raise ValueError("no content")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(p) from error
    return content


def _is_checkpoint(path: PathLike) -> bool:
    """Whether a file begins like a checkpoint, or is an incomplete temporary file."""
    p = Path(path)
    if p.is_symlink() or not p.is_file():
        return False
    with p.open("rb") as stream:
        found = stream.read(len(_HEAD))
    # Nothing is written in place: a file with its final name is never shorter.
    return found == _HEAD or (p.suffix == ".part" and _HEAD.startswith(found))


def _damaged(path: PathLike) -> InputError:
    """Return the error for a file that is no complete checkpoint."""
    return InputError(
        f"{path} is damaged, or no checkpoint of evosdc",
        expected="a complete file, as an interrupted run leaves it",
        hint="restore it from a copy, or remove it and start again without --resume",
    )


def remove_checkpoint(path: PathLike, made: Iterable[Path] = ()) -> None:
    """Remove a checkpoint, its temporary files, and the given folders if empty."""
    p = Path(path)
    for one in (p, *p.parent.glob(f".{glob.escape(p.name)}.*.part")):
        with suppress(OSError):
            if _is_checkpoint(one):
                one.unlink()
    for folder in made:
        with suppress(OSError):
            folder.rmdir()


def pack_arrays(value: Any) -> Any:
    """Return nested plain values with each array encoded as text."""
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
    """Decode what `pack_arrays` returned; raise `ValueError` for anything else."""
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


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8")).hexdigest()


def _sync_folder(folder: Path) -> None:
    """Flush the new name to disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
