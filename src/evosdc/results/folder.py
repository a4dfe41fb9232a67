"""The folders of a result: what may leave the office, what must not, what is stale.

``publish/`` holds what may leave the office, and is there only where the verdict allows
it; a protected table that may not be published goes to ``draft/``. Everything else is
in ``confidential/``. The last two are readable by their owner only.

All files of a result are written to a folder of their own first, which only its owner
can enter, and moved to their places when they are complete, ``publish/`` last. Where
one cannot be written or moved, none is left.

``confidential/claim.json`` lists the files of a result. It is there before them, so
that what a run that was killed left is known as well. Only what it lists is ever
removed or written over; a link, or a file that it does not list, under a name that the
run needs ends the run before anything is changed.
"""

from __future__ import annotations

import glob
import hashlib
import json
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evosdc.errors import InputError
from evosdc.io.paths import (
    PathLike,
    make_folder,
    refuse_existing,
    refuse_link,
    refuse_unwritable,
    unwritable,
    write_text,
)

PUBLISH = "publish"
DRAFT = "draft"
CONFIDENTIAL = "confidential"
INPUT = "input"
CLAIM = "claim.json"
UNJUDGED = "unjudged.txt"
CHECKPOINT = "checkpoint.json"
REPORT = "report.html"
PATTERN = "pattern.csv"
CERTIFICATE = "certificate.npz"
# What `claim.json` says of itself; folders of versions before 0.3 have no format.
FORMAT = "evosdc-result 1"
NOT_JUDGED = (
    "Not judged yet: pattern.csv is what the search found, and the run that wrote it "
    "has not said\nwhether it is safe. If that run is over, it was cut short. Nothing "
    "may be published of it;\njudge it with: evosdc audit TABLE --pattern pattern.csv\n"
)

Names = Mapping[str, re.Pattern[str]]
_TABLE = (
    r"published(-\d+-[^/\\]+|-pivot|-grid|-sbs)?\.csv|report\.html"
    r"|published(-\d+-[^/\\]+)?\.(tab|rda|parquet)|published(-[^/\\]+)?-\d+\.hrc"
)
_COPY = r"synthetic(-\d+)?\.(csv|parquet)"
# Names that a run may need, by folder: of any result, and of the demo.
RESULT: Names = {
    PUBLISH: re.compile(rf"{_TABLE}|{_COPY}|README\.txt"),
    DRAFT: re.compile(_TABLE),
    CONFIDENTIAL: re.compile(
        rf"pattern\.csv|certificate\.npz|run\.csv|report\.html|claim\.json|{_COPY}"
        r"|unjudged\.txt|next-year\.hst|table\.jj(\.json)?|table\.csv(\.json)?"
        r"|table\.parquet|front\.csv|metrics\.csv|evaluation\.json"
    ),
}
DEMO: Names = {**RESULT, INPUT: re.compile(r"firms\.csv|[^/\\]+\.hrc")}
_JJ = re.compile(r"[^/\\]+\.jj(\.json)?")
_PART = re.compile(r"\..+\.[0-9a-f]{16}\.part")
_STAGE = re.compile(r"\.[0-9a-f]{16}\.part")
# What version 0.1 wrote into one folder, every time.
_FLAT = (PATTERN, "published.csv", CERTIFICATE, "run.csv")


@dataclass(frozen=True)
class Output:
    """Files of a result that are written together.

    Attributes
    ----------
    place
        The folder that they go to: publish, draft or confidential.
    names
        What they may be called; not all need be written.
    write
        Writes them to the folder that it is given.
    """

    place: str
    names: tuple[str, ...]
    write: Callable[[Path], object]


def text_output(place: str, name: str, text: str) -> Output:
    """Return a file of text; others may read it if it is to be published."""
    return Output(
        place, (name,), lambda to: write_text(to / name, text, public=place == PUBLISH)
    )


def read_claim(folder: Path) -> Mapping[str, Any] | None:
    """Return what the ``claim.json`` of a result says; None where there is none."""
    try:
        text = (folder / CONFIDENTIAL / CLAIM).read_text(encoding="utf-8")
        claim = json.loads(text)
    except (OSError, ValueError):
        return None
    return claim if isinstance(claim, dict) else None


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_claim(
    folder: Path,
    files: Iterable[str],
    content: Mapping[str, Any] | None = None,
    *,
    force: bool = True,
) -> None:
    """Write what a result is, and which files are of it.

    Without `content` it says that the result is being written.
    """
    claim = {
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        **({"verdict": "NOT JUDGED"} if content is None else content),
        "files": list(files),
    }
    text = json.dumps(claim, indent=2, ensure_ascii=False, default=str)
    write_text(folder / CONFIDENTIAL / CLAIM, text + "\n", force)


def add_to_claim(folder: Path, files: Iterable[Path]) -> None:
    """List further files in the claim of a result, before they are written."""
    claim = dict(read_claim(folder) or {})
    more = [path.relative_to(folder).as_posix() for path in files]
    write_claim(folder, [*claim.pop("files", ()), *more], claim)


def write_outputs(
    folder: Path,
    outputs: Sequence[Output],
    content: Mapping[str, Any] | None = None,
    *,
    claimed: bool = True,
) -> list[Path]:
    """Write the files of a result, all or none, in place of those of an earlier run.

    Parameters
    ----------
    outputs
        The files; what stands in another folder than ``confidential/`` goes last.
    content
        What ``claim.json`` is to say besides files and digests; None where
        the result has still to be judged.
    claimed
        Whether the files are listed in ``claim.json``; a pattern that waits for its
        verdict has ``unjudged.txt`` instead.
    """
    names = [f"{o.place}/{name}" for o in outputs for name in o.names]
    claim = f"{CONFIDENTIAL}/{CLAIM}"
    names += [claim] * claimed
    refuse_foreign(folder, files=[folder / name for name in names])
    make_folder(folder)
    # What waits for its verdict is not lost if the disk fails now.
    waiting = _waiting(folder) if content is not None else []
    stage = make_folder(folder / f".{secrets.token_hex(8)}.part", private=True)
    moved: list[Path] = []
    try:
        make_folder(stage / CONFIDENTIAL, private=True)
        write_claim(stage, [*names, claim])
        for output in outputs:
            public = output.place == PUBLISH
            output.write(make_folder(stage / output.place, private=not public))
        made = [name for name in names if (stage / name).exists()]
        if content is not None:
            digests = {n: digest_of(stage / n) for n in made if n != claim}
            content = {**content, "digests": digests}
        if claimed:
            write_claim(stage, made, content)
        else:
            (stage / claim).unlink()
        refuse_foreign(folder, files=[folder / name for name in made])
        remove_stale(folder, [*waiting, *(stage / name for name in made)])
        _move(stage, folder, made, waiting, moved)
    except BaseException as error:
        for path in moved:
            if path not in waiting:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
        remove_empty(folder)
        if isinstance(error, OSError):
            raise unwritable(folder, error.strerror or error) from error
        raise
    finally:
        _remove_stage(stage)
    for path in {*waiting} - {*moved}:
        path.unlink(missing_ok=True)
    return moved


def _move(
    stage: Path, folder: Path, names: list[str], waiting: list[Path], moved: list[Path]
) -> None:
    """Move what is complete to its place: the claim first, ``publish/`` last."""
    order = (CONFIDENTIAL, DRAFT, PUBLISH)
    claim_first = sorted(names, key=lambda n: not n.endswith(CLAIM))
    for place in order:
        mine = [name for name in claim_first if name.startswith(f"{place}/")]
        if not mine:
            continue
        target = refuse_link(folder / place)
        if place == DRAFT:
            for name in mine:
                (stage / name).chmod(0o600)
        if not target.exists():
            (stage / place).rename(target)
            moved += [folder / name for name in mine]
            continue
        make_folder(target, private=place != PUBLISH)
        for name in mine:
            path = refuse_existing(folder / name, folder / name in waiting)
            (stage / name).replace(path)
            moved.append(path)


def _remove_stage(stage: Path) -> None:
    """Remove the folder that files were made in: it was created by this run."""
    shutil.rmtree(stage, ignore_errors=True)


def _waiting(folder: Path) -> list[Path]:
    """Return the files of a run that were written before it had a verdict."""
    inside, claim = folder / CONFIDENTIAL, read_claim(folder)
    if (inside / UNJUDGED).exists():
        return [inside / PATTERN, inside / UNJUDGED]
    return sorted(owned_files(folder)) if is_unjudged(claim) else []


def is_unjudged(claim: Mapping[str, Any] | None) -> bool:
    """Whether a claim is that of a run without a verdict."""
    return claim is not None and "format" in claim and "kind" not in claim


def is_begun(folder: Path, *, unjudged: bool) -> bool:
    """Whether a folder holds the checkpoint of a run, and nothing else.

    With `unjudged` it may hold files that wait for their verdict as well.
    """
    if {p.name for p in folder.iterdir()} != {CONFIDENTIAL}:
        return False
    inside = folder / CONFIDENTIAL
    names = {p.name for p in inside.iterdir()}
    half = {n for n in names if n.startswith(f".{CHECKPOINT}.")}
    left = names - half - {CHECKPOINT}
    if unjudged and left == {p.name for p in _waiting(folder)}:
        return True
    return bool(names) and not left


def owned_files(folder: Path) -> set[Path]:
    """Return the files that an earlier run is known to have written.

    A name alone does not make a file ours: a claim that lists itself must list it, or
    the mark of an unjudged pattern be in its folder.
    """
    inside = folder / CONFIDENTIAL
    found: list[Path] = []
    claim = read_claim(folder)
    listed = None if claim is None else claim.get("files")
    if isinstance(listed, list) and f"{CONFIDENTIAL}/{CLAIM}" in listed:
        split = [str(name).split("/") for name in listed]
        # A run that was killed while it moved its files has left some where they were.
        places = (folder, *_stages(folder))
        found += [at.joinpath(*p) for at in places for p in split if _is_known(p)]
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
    found += [path for stage in _stages(folder) for path in owned_files(stage)]
    return {
        path
        for path in found
        # A link is somebody's way to a file elsewhere.
        if path.is_file() and not path.is_symlink() and not path.parent.is_symlink()
    }


def _stages(folder: Path) -> list[Path]:
    """Return the folders in which a run that was killed made its files."""
    return [
        path
        for path in folder.glob(".*.part")
        if _STAGE.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    ]


def refuse_foreign(
    folder: Path, names: Names = RESULT, files: Iterable[Path] = ()
) -> None:
    """End a run where a link, or a file of somebody else's, is in its way.

    Parameters
    ----------
    names
        What the run may need: `RESULT` or `DEMO`.
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


def check_output_directory(
    path: PathLike,
    *,
    force: bool = False,
    unjudged: bool = False,
    names: Names = RESULT,
    sources: Sequence[PathLike] = (),
    files: Iterable[str] = (),
) -> Path:
    """Return a folder that results may be written to; it need not be there yet.

    It may hold a checkpoint, and with `unjudged` what waits for its verdict. With
    `force` it may hold anything but links, files of somebody else's under names that
    are needed (`names`, and `files` of ``confidential/``) and the `sources` themselves,
    where an earlier run wrote them.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"{folder} is a file",
            expected="a folder for the results",
            hint="give another name",
        )
    refuse_foreign(folder, names, [folder / CONFIDENTIAL / name for name in files])
    replaced = {path.resolve() for path in owned_files(folder)}
    for path in sources:
        if Path(path).resolve() in replaced:
            raise InputError(
                f"{path} belongs to the result in {folder}, which would be replaced",
                expected="a table that the run does not remove",
                hint="give another folder, or copy the table elsewhere first",
            )
    taken = folder.is_dir() and any(folder.iterdir())
    if taken and not force and not is_begun(folder, unjudged=unjudged):
        raise InputError(
            f"{folder} exists already and is not empty",
            expected="a new or an empty folder",
            hint="give another name, or --force (force=True) to overwrite its files",
        )
    refuse_unwritable(folder)
    return folder


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
    for stage in _stages(folder):
        remove_empty(stage)
        with suppress(OSError):
            stage.rmdir()
    remove_empty(folder)


def remove_empty(folder: Path) -> None:
    """Remove the folders of ours that have nothing in them."""
    for name in (PUBLISH, DRAFT, CONFIDENTIAL):
        # It stays where there is something of somebody else's in it.
        with suppress(OSError):
            (folder / name).rmdir()


def _is_known(parts: list[str]) -> bool:
    """Whether a file that a claim lists is one that a run may have written."""
    if len(parts) != 2:
        return False
    place, name = parts
    if place == CONFIDENTIAL and _JJ.fullmatch(name):
        return True
    return place in DEMO and bool(DEMO[place].fullmatch(name))
