"""The folders of a result: what may leave the office, what must not, what is stale.

``publish/`` holds what may leave the office, and is there only where the verdict is
SAFE; otherwise the same files go to ``draft/``. Everything else is in
``confidential/``. The last two are readable by their owner only.

``confidential/claim.json`` lists the files of a result. It is written before them, so
that what a run that was killed left is known as well. Only what it lists is ever
removed or written over; a link, or a file that it does not list, under a name that the
run needs ends the run before anything is changed.
"""

from __future__ import annotations

import glob
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evosdc.errors import InputError
from evosdc.io.paths import refuse_link, unwritable, write_text

PUBLISH = "publish"
DRAFT = "draft"
CONFIDENTIAL = "confidential"
INPUT = "input"
CLAIM = "claim.json"
UNJUDGED = "unjudged.txt"
CHECKPOINT = "checkpoint.json"
REPORT = "report.html"
PATTERN = "pattern.csv"
NOT_JUDGED = (
    "Not judged yet: pattern.csv is what the search found, and the run that wrote it "
    "has not said\nwhether it is safe. If that run is over, it was cut short. Nothing "
    "may be published of it;\njudge it with: evosdc audit TABLE --pattern pattern.csv\n"
)

Names = Mapping[str, re.Pattern[str]]
_OUT = re.compile(
    r"published(-\d+-[^/\\]+|-pivot|-grid|-sbs)?\.csv|report\.html"
    r"|published(-\d+-[^/\\]+)?\.(tab|rda|parquet)|published(-[^/\\]+)?-\d+\.hrc"
)
_COPY = r"synthetic(-\d+)?\.(csv|parquet)|report\.html"
# Names that a run may need, by folder: of a table, of synthetic records, of the demo.
TABLES: Names = {
    PUBLISH: _OUT,
    DRAFT: _OUT,
    CONFIDENTIAL: re.compile(
        r"pattern\.csv|certificate\.npz|run\.csv|report\.html|claim\.json"
        r"|unjudged\.txt|next-year\.hst|table\.jj(\.json)?"
    ),
}
RECORDS: Names = {
    PUBLISH: re.compile(rf"{_COPY}|README\.txt"),
    CONFIDENTIAL: re.compile(
        rf"{_COPY}|run\.csv|front\.csv|metrics\.csv|evaluation\.json|claim\.json"
    ),
}
DEMO: Names = {**TABLES, INPUT: re.compile(r"firms\.csv|[^/\\]+\.hrc")}
_JJ = re.compile(r"[^/\\]+\.jj(\.json)?")
_PART = re.compile(r"\..+\.[0-9a-f]{16}\.part")
# What version 0.1 wrote into one folder, every time.
_FLAT = (PATTERN, "published.csv", "certificate.npz", "run.csv")


def make_folder(folder: Path, *, private: bool = False) -> Path:
    """Make a folder that is no link; only the owner can read a `private` one."""
    refuse_link(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
        if private:
            folder.chmod(0o700)
    except OSError as error:
        raise unwritable(folder, error.strerror or error) from error
    return folder


def close_file(path: Path) -> None:
    """Let only the owner read a file."""
    try:
        path.chmod(0o600)
    except OSError as error:
        raise unwritable(path, error.strerror or error) from error


def is_private(path: Path) -> bool:
    """Whether only the owner can read a file or folder, as far as the system tells."""
    return os.name == "posix" and not stat.S_IMODE(path.stat().st_mode) & 0o077


def read_claim(folder: Path) -> Mapping[str, Any] | None:
    """Return what the ``claim.json`` of a result says; None where there is none."""
    try:
        text = (folder / CONFIDENTIAL / CLAIM).read_text(encoding="utf-8")
        claim = json.loads(text)
    except (OSError, ValueError):
        return None
    return claim if isinstance(claim, dict) else None


def write_claim(
    folder: Path, files: Iterable[Path], content: Mapping[str, Any] | None = None
) -> None:
    """Write what a result is, and which files are of it.

    Without `content` it says that the result is being written. Write that first.
    """
    claim = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **({"verdict": "NOT JUDGED"} if content is None else content),
        "files": [path.relative_to(folder).as_posix() for path in files],
    }
    _save_claim(folder, claim)


def add_to_claim(folder: Path, files: Iterable[Path]) -> None:
    """List further files in the claim of a result, before they are written."""
    claim = dict(read_claim(folder) or {})
    more = [path.relative_to(folder).as_posix() for path in files]
    _save_claim(folder, {**claim, "files": [*claim.get("files", ()), *more]})


def _save_claim(folder: Path, claim: Mapping[str, Any]) -> None:
    words = json.dumps(claim, indent=2, ensure_ascii=False, default=str)
    write_text(folder / CONFIDENTIAL / CLAIM, words + "\n", True)


def is_begun(folder: Path, *, unjudged: bool) -> bool:
    """Whether a folder holds the checkpoint of a run, and nothing else.

    With `unjudged` it may hold a pattern that waits for its verdict as well.
    """
    if {p.name for p in folder.iterdir()} != {CONFIDENTIAL}:
        return False
    names = {p.name for p in (folder / CONFIDENTIAL).iterdir()}
    half = {n for n in names if n.startswith(f".{CHECKPOINT}.")}
    left = names - half - {CHECKPOINT}
    if unjudged and left == {PATTERN, UNJUDGED}:
        return True
    return bool(names) and not left


def owned_files(folder: Path) -> set[Path]:
    """Return the files that an earlier run is known to have written.

    A name alone does not make a file ours: a claim that lists itself must list it, or
    the mark of an unjudged pattern stand beside it.
    """
    inside = folder / CONFIDENTIAL
    found: list[Path] = []
    claim = read_claim(folder)
    listed = None if claim is None else claim.get("files")
    if isinstance(listed, list) and f"{CONFIDENTIAL}/{CLAIM}" in listed:
        split = (str(name).split("/") for name in listed)
        found += [folder.joinpath(*parts) for parts in split if _is_known(parts)]
    with suppress(OSError, ValueError):
        if (inside / UNJUDGED).read_text(encoding="utf-8") == NOT_JUDGED:
            found += [inside / PATTERN, inside / UNJUDGED]
    # What a run that was killed had not yet given its name.
    found += [
        part
        for path in found
        for part in path.parent.glob(f".{glob.escape(path.name)}.*.part")
        if _PART.fullmatch(part.name)
    ]
    return {
        path
        for path in found
        # A link is somebody's way to a file elsewhere.
        if path.is_file() and not path.is_symlink() and not path.parent.is_symlink()
    }


def refuse_foreign(
    folder: Path, names: Names = TABLES, files: Iterable[Path] = ()
) -> None:
    """End a run where a link, or a file of somebody else's, is in its way.

    Parameters
    ----------
    names
        What the run may need: `TABLES`, `RECORDS` or `DEMO`.
    files
        Further files that it is to write.
    """
    refuse_link(folder)
    if all((folder / name).exists() for name in _FLAT):
        raise InputError(
            f"{folder} holds {', '.join(_FLAT)}, as version 0.1 wrote them",
            expected="a folder without them: they are not known to be of a run",
            hint="move them away, or give another folder",
        )
    taken = [path for path in files if path.is_symlink() or path.exists()]
    for place, pattern in names.items():
        part = refuse_link(folder / place)
        if part.exists() and not part.is_dir():
            raise unwritable(part, "it is a file")
        if part.is_dir():
            taken += [p for p in sorted(part.iterdir()) if pattern.fullmatch(p.name)]
    for path in taken:
        refuse_link(path)
    owned = owned_files(folder)
    foreign = list(dict.fromkeys(path for path in taken if path not in owned))
    if foreign:
        more = f", and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise InputError(
            f"{foreign[0]} is in the way{more}: no claim of evosdc lists it",
            expected="only files of earlier runs under the names that this run needs",
            hint="move it away, or give another folder; --force replaces what evosdc "
            "wrote, and nothing else",
        )


def remove_stale(folder: Path, keep: Iterable[Path] = ()) -> None:
    """Remove what an earlier run left, and the folders of ours that are then empty.

    `keep` are files that stay, such as a pattern that waits for its verdict.
    """
    kept = set(keep)
    try:
        for path in owned_files(folder):
            # What the demo wrote there is what a user goes on from.
            if path.parent.name != INPUT and path not in kept:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(folder, error.strerror or error) from error
    remove_empty(folder)


def remove_empty(folder: Path) -> None:
    """Remove the folders of ours that have nothing in them."""
    for name in (PUBLISH, DRAFT, CONFIDENTIAL):
        # It stays where there is something of somebody else's in it.
        with suppress(OSError):
            (folder / name).rmdir()


@contextmanager
def or_nothing(folder: Path, files: Iterable[Path]) -> Iterator[None]:
    """Leave nothing of a result behind that could not be written as a whole.

    `files` are those that the block writes; none was there before it.
    """
    try:
        yield
    except BaseException:
        for path in files:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        remove_empty(folder)
        raise


def _is_known(parts: list[str]) -> bool:
    """Whether a file that a claim lists is one that a run may have written."""
    if len(parts) != 2:
        return False
    place, name = parts
    if place == CONFIDENTIAL and _JJ.fullmatch(name):
        return True
    return any(
        place in names and names[place].fullmatch(name) for names in (DEMO, RECORDS)
    )
