"""The folders of a result: what may leave the house, what must not, what is stale.

``publish/`` holds what may leave the house, and is there only where the verdict is
SAFE; otherwise the same files go to ``draft/``. Everything else is in
``confidential/``. The last two are readable by their owner only.
"""

from __future__ import annotations

import json
import os
import re
import stat
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from evosdc.errors import EvosdcError
from evosdc.io.delimited import read_csv
from evosdc.io.jj import read_jj
from evosdc.io.paths import unwritable
from evosdc.table.status import SECONDARY

PUBLISH = "publish"
DRAFT = "draft"
CONFIDENTIAL = "confidential"
CLAIM = "claim.json"
UNJUDGED = "unjudged.txt"
CHECKPOINT = "checkpoint.json"
REPORT = "report.html"
PATTERN = "pattern.csv"
# What a report to share holds, so that a folder is known to be ours without its claim.
GENERATOR = '<meta name="generator" content="evosdc">'

_OUT = re.compile(
    r"published(-\d+-[^/\\]+|-pivot|-grid|-sbs)?\.csv|report\.html"
    r"|published(-\d+-[^/\\]+)?\.(tab|rda|parquet)|published(-[^/\\]+)?-\d+\.hrc"
)
_FLAT_OUT = re.compile(r"published(-\d+-[^/\\]+)?\.csv|report\.html")
_IN = re.compile(
    r"pattern\.csv|certificate\.npz|run\.csv|report\.html|claim\.json|unjudged\.txt"
    r"|next-year\.hst"
)
_JJ = re.compile(r"[^/\\]+\.jj(\.json)?")
# What version 0.1 wrote into one folder, every time.
_FLAT = (PATTERN, "published.csv", "certificate.npz", "run.csv")
_HEAD = 2000


def make_private(folder: Path) -> Path:
    """Make a folder that only its owner can read, or close one that is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
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


def stale_files(folder: Path, keep: Iterable[Path] = ()) -> list[Path]:
    """List the files that an earlier run left in a folder.

    A name alone does not make a file ours: the claim, the mark of an unjudged pattern,
    the generator named in a report, or the four files that version 0.1 always wrote
    must show it.

    Parameters
    ----------
    keep
        Files that are never listed, such as the table that is being protected.
    """
    found: list[Path] = []
    inside = folder / CONFIDENTIAL
    claim = read_claim(folder)
    if claim is not None:
        listed = {str(name) for name in claim.get("files", ())}
        found += [
            folder / place / name
            for place, name in (n.rsplit("/", 1) for n in listed if n.count("/") == 1)
            if _is_known(place, name)
        ]
        found += [p for p in _files(inside) if _IN.fullmatch(p.name)]
    elif (inside / UNJUDGED).is_file():
        found += [inside / PATTERN, inside / UNJUDGED]
    for name in (PUBLISH, DRAFT):
        if _made_by_us(folder / name / REPORT):
            found += [p for p in _files(folder / name) if _OUT.fullmatch(p.name)]
    found += _flat_files(folder)
    kept = {p.resolve() for p in keep}
    return [
        p
        for p in dict.fromkeys(found)
        # A link is somebody's way to a file elsewhere.
        if p.is_file()
        and not p.is_symlink()
        and not p.parent.is_symlink()
        and p.resolve() not in kept
    ]


def remove_stale(folder: Path, keep: Iterable[Path] = ()) -> None:
    """Remove what an earlier run left, and the folders of ours that are then empty."""
    try:
        for path in stale_files(folder, keep):
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


def _is_known(place: str, name: str) -> bool:
    """Whether a file that a claim lists is one that a run may have written."""
    if place == CONFIDENTIAL:
        return bool(_IN.fullmatch(name) or _JJ.fullmatch(name))
    return place in (PUBLISH, DRAFT) and bool(_OUT.fullmatch(name))


def _made_by_us(report: Path) -> bool:
    try:
        with report.open(encoding="utf-8") as stream:
            return GENERATOR in stream.read(_HEAD)
    except (OSError, ValueError):
        return False


def _flat_files(folder: Path) -> list[Path]:
    """What version 0.1 left, when it wrote all files into one folder."""
    if not all((folder / name).is_file() for name in _FLAT):
        return []
    try:
        pattern = read_csv(folder / PATTERN)
        if "status" not in pattern.column_names:
            return []
        with np.load(folder / "certificate.npz") as arrays:
            if "numerators" not in arrays:
                return []
    except (EvosdcError, OSError, ValueError, EOFError, zipfile.BadZipFile):
        return []
    found = [folder / name for name in _FLAT]
    found += [p for p in _files(folder) if _FLAT_OUT.fullmatch(p.name)]
    letters = [str(s) for s in pattern["status"].to_pylist()]
    # Without secondaries the file that was written back looks like the one given.
    if SECONDARY in letters:
        found += [
            p for p in _files(folder) if p.suffix == ".jj" and _jj_letters(p) == letters
        ]
    return found


def _jj_letters(path: Path) -> list[str] | None:
    try:
        return [str(s) for s in read_jj(path).status]
    except EvosdcError:
        return None


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []
