"""The file of a checkpoint: whole or not there at all, and for its owner only.

A line of JSON, no code: reading one runs nothing. A sum over its content tells half a
file, or one that was changed by accident, from a whole one. It is no signature: who may
write the file may write the sum, so that nothing in it is taken for evidence.
"""

from __future__ import annotations

import base64
import binascii
import glob
import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.io.paths import (
    PathLike,
    make_folder,
    open_output,
    read_bytes,
    refuse_unwritable,
)

_KIND = "evosdc checkpoint"
# Windows cannot set the time of a link itself.
_FOLLOW_LINKS = os.utime not in os.supports_follow_symlinks
_HEAD = json.dumps({"kind": _KIND})[:-1].encode()
_ARRAY = "array"


def pack_cells(cells: NDArray[np.bool_]) -> str:
    """Return which cells are meant as text, a bit a cell before it is packed."""
    return base64.b64encode(zlib.compress(np.packbits(cells).tobytes())).decode("ascii")


def unpack_cells(text: str, count: int) -> NDArray[np.bool_]:
    """Read back what `pack_cells` gave; raises `ValueError` for anything else."""
    try:
        raw = zlib.decompress(base64.b64decode(text, validate=True))
    except (binascii.Error, zlib.error) as error:
        raise ValueError(str(error)) from error
    if len(raw) != (count + 7) // 8:
        raise ValueError("not as many cells as the table has")
    bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), count=count)
    return bits.astype(np.bool_)


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
        raise damaged(p) from error
    return content


def is_checkpoint(path: PathLike) -> bool:
    """Whether a file begins as ours do; one that was cut short in writing it, too."""
    p = Path(path)
    if p.is_symlink() or not p.is_file():
        return False
    with p.open("rb") as stream:
        found = stream.read(len(_HEAD))
    # Nothing is written in place: under its own name a file is never shorter.
    return found == _HEAD or (p.suffix == ".part" and _HEAD.startswith(found))


def damaged(path: PathLike) -> InputError:
    """Describe a file that is no whole checkpoint."""
    return InputError(
        f"{path} is damaged, or no checkpoint of evosdc",
        expected="a whole file, as a run that was cut short leaves it",
        hint="restore it from a copy, or remove it and start afresh without --resume",
    )


def ready_folder(path: PathLike, *, ours: bool) -> list[Path]:
    """Make the folder of a checkpoint; return the folders that were not there.

    One of `ours` is closed to others; somebody else's is left as it is.
    """
    folder = Path(path).parent
    refuse_unwritable(folder)
    made = [f for f in (folder, *folder.parents) if not f.exists()]
    if ours:
        make_folder(folder, private=True)
    elif made:
        raise InputError(
            f"there is no folder {folder}",
            expected="a folder that exists",
            hint="create it first",
        )
    return made


def count_on(path: PathLike, moment: float) -> None:
    """Say in the file's time up to when its run has gone on since it was written."""
    with suppress(OSError):
        os.utime(path, (moment, moment), follow_symlinks=_FOLLOW_LINKS)


def counted_until(path: PathLike) -> float:
    """Return what `count_on` said last, or when the file was written."""
    return Path(path).stat().st_mtime


def remove_checkpoint(path: PathLike, made: list[Path] | None = None) -> None:
    """Remove a checkpoint, what was cut short in writing it, and empty folders."""
    p = Path(path)
    for one in (p, *p.parent.glob(f".{glob.escape(p.name)}.*.part")):
        with suppress(OSError):
            if is_checkpoint(one):
                one.unlink()
    for folder in made or ():
        # It stays where there is something in it.
        with suppress(OSError):
            folder.rmdir()


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
