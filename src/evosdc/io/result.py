"""The folder a protected table is written to, and the pattern read back from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evosdc.errors import InputError
from evosdc.io.argus.jj import write_jj
from evosdc.io.delimited import write_csv
from evosdc.io.folders import (
    CLAIM,
    CONFIDENTIAL,
    DRAFT,
    NOT_JUDGED,
    PATTERN,
    PUBLISH,
    REPORT,
    TABLES,
    UNJUDGED,
    Names,
    close_file,
    is_begun,
    make_folder,
    or_nothing,
    owned_files,
    refuse_foreign,
    remove_stale,
    write_claim,
)
from evosdc.io.formats import (
    HST_NAME,
    JJ_NAME,
    also_files,
    check_also,
    file_words,
    write_also,
    write_also_hst,
)
from evosdc.io.frames import pattern_frame, published_frame
from evosdc.io.paths import (
    PathLike,
    open_output,
    refuse_unwritable,
    write_text,
)
from evosdc.io.related_results import fingerprints
from evosdc.io.release import Releasable, may_leave
from evosdc.io.sidecar import sidecar_path, write_with_sidecar
from evosdc.io.suffixes import JJ
from evosdc.table import Table, linked_parts

_RECORD = ("seconds", "evaluations", "cost", "bound", "diversity", "event")


def write_protection(
    directory: PathLike,
    protection: Releasable,
    *,
    certificate_arrays: Mapping[str, NDArray[Any]],
    report_html: str | None = None,
    share_html: str | None = None,
    source: PathLike | None = None,
    original_ids: ArrayLike | None = None,
    warnings: Sequence[str] = (),
    also: str | Sequence[str] = (),
    force: bool = False,
) -> list[Path]:
    """Write all that `protect` found and return the files.

    What may leave the office goes to ``publish/``, or to ``draft/`` where the verdict
    is not SAFE; the rest goes to ``confidential/``. Only the owner can read the last
    two.

    Parameters
    ----------
    directory
        Made where it is not there; refused where there is something in it, unless that
        is the pattern that `write_pattern_first` left, or with `force`. What an earlier
        run left there is then removed; other files are not, and are refused where they
        have a name that is needed.
    certificate_arrays
        The witnesses, as arrays, for ``certificate.npz``.
    report_html, share_html
        The text of ``report.html`` for inside and of the one to share.
    source
        Where the table came from; a JJ file is written back with the new statuses.
    warnings
        What `kin_warnings` found, for ``claim.json``.
    also
        Further formats, as in `evosdc.io.formats`.
    """
    table = protection.table
    formats = check_also(also, table)
    sources = () if source is None else (source,)
    folder = check_output_directory(
        directory, force=force, unjudged=True, sources=sources
    )
    out = folder / (PUBLISH if may_leave(protection) else DRAFT)
    inside = folder / CONFIDENTIAL
    frames = {"published.csv": published_frame(table), **_published_parts(table)}
    again = None if source is None else _jj_name(Path(source))
    made = [inside / PATTERN, inside / "certificate.npz", inside / "run.csv"]
    made += [inside / REPORT] * (report_html is not None)
    made += [out / name for name in frames] + also_files(out, table, formats)
    made += [out / REPORT] * (share_html is not None)
    jj = inside / (again or JJ_NAME)
    whole = [jj, sidecar_path(jj)] if again is not None or "jj" in formats else []
    whole += [inside / HST_NAME] * ("hst" in formats)
    claim = inside / CLAIM
    refuse_foreign(folder, files=[*made, *whole])
    first = (inside / PATTERN, inside / UNJUDGED)
    # A pattern that waits for its verdict is not lost if the disk fails now.
    waiting = list(first) if first[1].exists() else []
    _begin(folder, waiting)
    with or_nothing(
        folder, [path for path in (*made, *whole, claim) if path not in waiting]
    ):
        write_claim(folder, [*made, *whole, claim])
        if again is not None or "jj" in formats:
            write_with_sidecar(jj, table, write_jj, force=False)
        if "hst" in formats:
            write_also_hst(inside, table)
        pattern = pattern_frame(table, original_ids=original_ids)
        write_csv(inside / PATTERN, pattern, force=bool(waiting))
        with open_output(inside / "certificate.npz") as stream:
            save: Any = np.savez_compressed
            save(stream, **certificate_arrays)
        write_csv(inside / "run.csv", _record_frame(protection))
        if report_html is not None:
            write_text(inside / REPORT, report_html)
        files = [*made, *(path for path in whole if path.exists()), claim]
        write_claim(
            folder,
            files,
            {
                "version": protection.version,
                "verdict": protection.verdict.word,
                "next_steps": list(protection.verdict.next_steps),
                "claim": protection.claim.as_json(),
                "notes": list(protection.notes),
                "warnings": list(warnings),
                "settings": dict(protection.settings),
                **fingerprints(table, table.hidden),
            },
        )
        public = out.name == PUBLISH
        make_folder(out, private=not public)
        for name, frame in frames.items():
            write_csv(out / name, frame, public=public)
        write_also(out, table, formats)
        if share_html is not None:
            write_text(out / REPORT, share_html, public=public)
        for path in () if public else made:
            close_file(path)
    first[1].unlink(missing_ok=True)
    return files


def write_pattern_first(
    directory: PathLike,
    table: Table,
    *,
    source: PathLike | None = None,
    original_ids: ArrayLike | None = None,
    force: bool = False,
) -> list[Path]:
    """Write a pattern before it is judged, so that it is not lost if judging is cut.

    `write_protection` follows and removes the mark that it is not judged. Call
    `kin_warnings` before: with `force` this removes what an earlier run left.

    Parameters
    ----------
    table
        With the statuses of the pattern.
    source
        The file that the table was read from, which must not be one to replace.
    """
    sources = () if source is None else (source,)
    folder = check_output_directory(directory, force=force, sources=sources)
    _begin(folder)
    inside = folder / CONFIDENTIAL
    files = [inside / PATTERN, inside / UNJUDGED]
    with or_nothing(folder, files):
        write_text(inside / UNJUDGED, NOT_JUDGED)
        pattern = pattern_frame(table, original_ids=original_ids)
        write_csv(inside / PATTERN, pattern)
    return files


def _begin(folder: Path, keep: Sequence[Path] = ()) -> None:
    """Make the folder, without what an earlier run left in it."""
    make_folder(folder)
    remove_stale(folder, keep)
    make_folder(folder / CONFIDENTIAL, private=True)


def check_output_directory(
    path: PathLike,
    *,
    force: bool = False,
    unjudged: bool = False,
    names: Names = TABLES,
    sources: Sequence[PathLike] = (),
) -> Path:
    """Return a folder that results may be written to; it need not be there yet.

    It may hold a checkpoint, and with `unjudged` what `write_pattern_first` left. With
    `force` it may hold anything but links, files of somebody else's under names that
    are needed (`names`, and that of a JJ file to write back for the first of `sources`)
    and the tables themselves, where an earlier run wrote them.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"{folder} is a file",
            expected="a folder for the results",
            hint="give another name",
        )
    again = _jj_name(Path(sources[0])) if sources else None
    jj = [] if again is None else [folder / CONFIDENTIAL / again]
    refuse_foreign(folder, names, [*jj, *map(sidecar_path, jj)])
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


def _published_parts(table: Table) -> dict[str, Any]:
    """Each of several linked tables as it may be published, by the name of its file."""
    table = table.visible()
    parts = linked_parts(table)
    if len(parts) == 1:
        return {}
    frame = published_frame(table)
    found: dict[str, Any] = {}
    for part in parts:
        names = [table.dimensions[k].name for k in part.dimensions]
        kept = frame.take(part.cells).select([*names, "value", "status"])
        kept = kept.rename_columns([*part.names, "value", "status"])
        found[f"published-{len(found) + 1}-{file_words(part.names)}.csv"] = kept
    return found


def _record_frame(protection: Releasable) -> Any:
    import pyarrow as pa

    kinds = dict.fromkeys(_RECORD, pa.float64())
    kinds |= {"evaluations": pa.int64(), "event": pa.string()}
    return pa.table(
        {
            name: pa.array([getattr(e, name) for e in protection.record], kinds[name])
            for name in _RECORD
        }
    )


def _jj_name(source: Path) -> str | None:
    """Name of the JJ file to write back; None where the source was no JJ file."""
    for suffix in JJ.endings():
        if source.name.lower().endswith(suffix):
            return source.name[: -len(suffix)] + ".jj"
    return None
