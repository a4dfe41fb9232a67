"""Open files for reading and writing, with clear errors and no incomplete files.

Every file of a user is written by `open_output`: to a temporary file that is created
exclusively in the same folder, never through a symbolic link, and readable only by its
owner unless the caller says that it is for publication.
"""

from __future__ import annotations

import gzip
import io
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias, cast

import pyarrow as pa

from evosdc.errors import InputError

PathLike: TypeAlias = str | os.PathLike[str]

# Create, never open what is there. Some of these flags are of one system only.
_CREATE = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_PRIVATE, _PUBLIC = 0o600, 0o666  # the second as far as the umask allows


def is_pattern(path: PathLike) -> bool:
    """Whether a path names several files, such as ``firms-*.csv``."""
    text = os.fspath(path)
    return any(sign in text for sign in "*?[") and not Path(text).exists()


def file_named(folder: Path, name: str) -> Path | None:
    """Return the file of that name, ignoring case as Windows does."""
    candidates = sorted(folder.iterdir()) if folder.is_dir() else []
    return next((p for p in candidates if p.name.lower() == name.lower()), None)


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
    """Return the content of a file, decompressed as its suffix says."""
    with open_input(path) as stream:
        return stream.read()


@contextmanager
def open_input(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file, decompressed if its name ends in ``.gz`` or ``.zst``."""
    p = readable(path)
    packing = p.suffix.lower()
    try:
        if packing == ".gz":
            with gzip.open(p, "rb") as packed:
                yield cast(IO[bytes], packed)
        elif packing == ".zst":
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


def refuse_link(path: PathLike) -> Path:
    """Raise for a symbolic link: writing to it would change another file."""
    p = Path(path)
    if p.is_symlink():
        raise InputError(
            f"{p} is a symbolic link",
            expected="a file or a folder itself; nothing is written through a link",
            hint="remove the link, or give the name of its target",
        )
    return p


def refuse_existing(path: PathLike, force: bool) -> Path:
    """Return the path of an output if it may be written; raise otherwise."""
    p = refuse_link(path)
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


def refuse_companion(side: PathLike, path: PathLike, force: bool) -> None:
    """Raise for a companion of a file that may not be written, or is of another file.

    `force` applies to the file that was named. A companion of the same name, such as
    the ``.rda`` of microdata, is replaced only together with its table.
    """
    refuse_existing(side, force)
    if Path(side).exists() and not Path(path).exists():
        raise InputError(
            f"{side} exists without {Path(path).name}: it belongs to another file",
            expected="a name whose companions do not exist",
            hint="give another name, or move that file away",
        )


def refuse_unwritable(folder: Path) -> None:
    """Raise for a folder that cannot be written to or made."""
    nearest = folder.resolve()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise unwritable(folder, f"{nearest} is a file")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise unwritable(folder, f"no permission to write to {nearest}")


def make_folder(folder: Path, *, private: bool = False) -> Path:
    """Make a folder, never through a link; only the owner can read a `private` one."""
    refuse_link(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
        if private:
            folder.chmod(0o700)
    except OSError as error:
        raise unwritable(folder, error.strerror or error) from error
    return folder


def is_private(path: Path) -> bool:
    """Whether only the owner can read a file or folder, as far as the system tells."""
    return os.name == "posix" and not stat.S_IMODE(path.stat().st_mode) & 0o077


def unwritable(path: PathLike, why: object) -> InputError:
    """Describe an output that cannot be written."""
    return InputError(
        f"{path} cannot be written: {why}",
        expected="a folder you may write to, on a disk with room",
        hint="give another name, or check permissions and free space",
    )


@contextmanager
def open_output(
    path: PathLike,
    force: bool = False,
    *,
    public: bool = False,
    durable: bool = False,
) -> Iterator[IO[bytes]]:
    """Open a binary file that gets its name only when it is complete.

    It is compressed if the name ends in ``.gz`` or ``.zst``; the same content gives the
    same bytes.

    Parameters
    ----------
    force
        Replace an existing file, but never a link.
    public
        The file holds nothing confidential: others may read it as the umask says.
        Without it only the owner can, from the first byte on.
    durable
        Flush it to disk before it replaces an existing file.
    """
    p = refuse_existing(path, force)
    # An unpredictable name, where nobody can have put a link or a file.
    temporary = p.with_name(f".{p.name}.{secrets.token_hex(8)}.part")
    try:
        handle = os.open(temporary, _CREATE, _PUBLIC if public else _PRIVATE)
    except OSError as error:
        raise unwritable(p, error.strerror or error) from error
    try:
        with os.fdopen(handle, "wb") as plain:
            with _packed(plain, p.suffix.lower()) as stream:
                yield stream
            if durable:
                plain.flush()
                os.fsync(plain.fileno())
        # It may have changed while the content was made.
        refuse_existing(p, force)
        temporary.replace(p)
    except OSError as error:
        raise unwritable(p, error.strerror or error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def _packed(plain: IO[bytes], packing: str) -> Iterator[IO[bytes]]:
    """Compress what is written, if the suffix of the file says so."""
    if packing == ".zst":
        with pa.CompressedOutputStream(plain, "zstd") as zipped:
            yield zipped
    elif packing == ".gz":
        # No name and no time in the header: the file depends on its content only.
        with gzip.GzipFile(
            filename="", mode="wb", fileobj=plain, compresslevel=6, mtime=0
        ) as packed:
            buffered = io.BufferedWriter(packed, 1 << 20)
            yield buffered
            buffered.flush()
    else:
        yield plain


def write_text(
    path: PathLike, text: str, force: bool = False, *, public: bool = False
) -> None:
    """Write a text as UTF-8 with Unix line ends; `public` as in `open_output`."""
    with open_output(path, force, public=public) as stream:
        stream.write(text.encode("utf-8"))
