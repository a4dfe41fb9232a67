"""Open files for reading and writing: clear errors, never half a file."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias, cast

from evosdc.errors import InputError

PathLike: TypeAlias = str | os.PathLike[str]

# What may follow the suffix of a text file.
PACKINGS = (".gz", ".zst")


def is_pattern(path: PathLike) -> bool:
    """Whether a path names several files, such as ``firms-*.csv``."""
    text = os.fspath(path)
    return any(sign in text for sign in "*?[") and not Path(text).exists()


def readable(path: PathLike) -> Path:
    """Return the path of a file that exists and is not empty."""
    p = Path(path)
    if p.is_dir():
        raise InputError(
            f"{p} is a directory",
            expected="a file",
            hint="name one of the files in it",
        )
    if not p.exists():
        raise InputError(
            f"there is no file {p}",
            expected="a file that exists",
            hint="check the spelling and the folder",
        )
    if p.stat().st_size == 0:
        raise InputError(
            f"{p} is empty",
            expected="a file with content",
            hint="check that the program that wrote it ended well",
        )
    return p


def read_bytes(path: PathLike) -> bytes:
    """Return the content of a file, unpacked where its name ends in a packing."""
    with open_input(path) as stream:
        return stream.read()


@contextmanager
def open_input(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file, unpacked where its name ends in ``.gz`` or ``.zst``."""
    p = readable(path)
    packing = p.suffix.lower()
    try:
        if packing == ".gz":
            with gzip.open(p, "rb") as packed:
                yield cast(IO[bytes], packed)
        elif packing == ".zst":
            import pyarrow as pa

            with pa.input_stream(p, compression="zstd") as packed:
                yield io.BufferedReader(packed)
        else:
            with p.open("rb") as stream:
                yield stream
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise _damaged(p, error) from error
    except OSError as error:
        if packing == ".zst" and error.errno is None:
            raise _damaged(p, error) from error
        raise InputError(
            f"{p} cannot be read: {error.strerror or error}",
            expected="a file you may read",
            hint="check its permissions",
        ) from error


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path} cannot be unpacked: {error}",
        expected=f"a complete file packed as {path.suffix} says",
        hint=f"copy or download the file again, or remove {path.suffix} from its name",
    )


def refuse_existing(path: PathLike, force: bool) -> Path:
    """Return the path of an output that may be written."""
    p = Path(path)
    if p.is_dir():
        raise InputError(
            f"{p} is a directory",
            expected="the name of a file to write",
            hint="add a file name",
        )
    if p.exists() and not force:
        raise InputError(
            f"{p} exists already",
            expected="a name that is free",
            hint="give another name, or --force (force=True) to overwrite it",
        )
    if not p.parent.is_dir():
        raise InputError(
            f"there is no folder {p.parent}",
            expected="a folder that exists",
            hint="create it first",
        )
    refuse_unwritable(p.parent)
    return p


def refuse_unwritable(folder: Path) -> None:
    """Raise for a folder that cannot be written to, or cannot be made."""
    nearest = folder.resolve()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise unwritable(folder, f"{nearest} is a file")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise unwritable(folder, f"no permission to write to {nearest}")


def unwritable(path: PathLike, why: object) -> InputError:
    """Describe an output that cannot be written."""
    return InputError(
        f"{path} cannot be written: {why}",
        expected="a folder you may write to, on a disk with room",
        hint="give another name, or check permissions and free space",
    )


@contextmanager
def replacing(path: PathLike, force: bool = False) -> Iterator[Path]:
    """Give a temporary name to write to and rename it when all went well."""
    p = refuse_existing(path, force)
    temporary = p.with_name(f".{p.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(p)
    except OSError as error:
        raise unwritable(p, error.strerror or error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def open_output(path: PathLike, force: bool = False) -> Iterator[IO[bytes]]:
    """Open a binary file that appears under its name only when it is complete.

    Packed where the name ends in ``.gz`` or ``.zst``; the same content gives the same
    bytes.
    """
    packing = Path(path).suffix.lower()
    with replacing(path, force) as temporary, temporary.open("wb") as plain:
        if packing not in PACKINGS:
            yield plain
            return
        if packing == ".zst":
            import pyarrow as pa

            with pa.CompressedOutputStream(plain, "zstd") as zipped:
                yield zipped
            return
        # No name and no time in the header: the file depends on its content only.
        with gzip.GzipFile(
            filename="", mode="wb", fileobj=plain, compresslevel=6, mtime=0
        ) as packed:
            buffered = io.BufferedWriter(packed, 1 << 20)
            yield buffered
            buffered.flush()


def write_text(path: PathLike, text: str, force: bool = False) -> None:
    """Write a text as UTF-8 with Unix line ends."""
    with open_output(path, force) as stream:
        stream.write(text.encode("utf-8"))
