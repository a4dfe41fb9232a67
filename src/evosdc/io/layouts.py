"""Further layouts of a protected table, for publication and for other programs.

What may be published is written from a copy of the table without hidden values,
contributors, weights, bounds, levels and the difference between primaries and
secondaries, so that no layout can show one. A JJ file holds all of these and an
a-priori file says which hidden cells are secondary: they go to the confidential files.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from evosdc.errors import InputError
from evosdc.formats import LAYOUTS, Layout, layout_names
from evosdc.io.argus.hst import write_hst
from evosdc.io.columns import write_parquet
from evosdc.io.delimited import format_numbers, write_csv
from evosdc.io.frames import HIDDEN_MARK, frame_of, published_frame, refuse_unlabelled
from evosdc.io.paths import PathLike, write_text
from evosdc.io.suffixes import load
from evosdc.table import Table, linked_parts
from evosdc.table.parts import as_published
from evosdc.table.status import FIXED, PRIMARY, SECONDARY

EMPTY_MARK = "-"
SBS_REASONS = ("A", "B", "C", "F")


def write_grid(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a two-dimensional table as rows and columns: ``x`` hidden, ``-`` empty."""
    refuse_no_grid(table)
    rows, columns = (d.hierarchy for d in table.dimensions)
    grid = np.full((len(rows), len(columns)), EMPTY_MARK, dtype=object)
    grid[table.codes[:, 0], table.codes[:, 1]] = _published_text(table)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    corner = f"{table.dimensions[0].name}/{table.dimensions[1].name}"
    writer.writerow([corner, *columns.codes])
    for code, texts in zip(rows.codes, grid, strict=True):
        writer.writerow([code, *texts])
    write_text(path, out.getvalue(), force, public=True)


def refuse_no_grid(table: Table) -> None:
    """Refuse a table that has other than two dimensions."""
    if len(table.dimensions) != 2:
        raise InputError(
            f"a table of {len(table.dimensions)} dimensions has no grid",
            expected="two dimensions",
            hint="choose the layout pivot instead",
        )


def write_pivot(
    path: PathLike, table: Table, *, status: bool = False, force: bool = False
) -> None:
    """Write one row per cell: codes, value (``x`` hidden, ``-`` empty), perhaps status.

    The status tells primaries from secondaries: leave it out of what is published.
    """
    frame = _labels(table)
    frame = frame.append_column(table.name, [_published_text(table).tolist()])
    if status:
        frame = frame.append_column("Status", [table.status.tolist()])
    write_csv(path, frame, force=force, public=not status)


def write_sbs(
    path: PathLike,
    table: Table,
    *,
    confidential: bool = False,
    reasons: ArrayLike | None = None,
    force: bool = False,
) -> None:
    """Write the format of Structural Business Statistics.

    One row per cell without header: codes, value, frequency, flag.

    As it may be published, values of hidden cells are blank, all hidden cells have the
    flag ``D``, which in the format means hidden to protect others, all others ``V``,
    and the frequency is blank throughout: with the numbers of contributors of
    published cells and totals those of hidden cells could be worked out.

    Parameters
    ----------
    confidential
        Write what tau-Argus writes: values and frequencies of all cells, to be sent to
        those who may see them, and never published. Flags are ``V`` safe or protected
        from suppression; ``A`` primary by too few contributors; ``B`` primary by
        dominance of one contributor, and every primary by request, zero or hand; ``C``
        primary by dominance of two or more; ``F`` primary by the p % or (p,q) rule;
        ``D`` secondary; ``-`` empty (no contributors).
    reasons
        With `confidential`: a letter of A, B, C or F for each cell; only those of
        primaries are looked at. B for all where None: a table does not know which rule
        made a cell sensitive.
    """
    texts = _number_text(table)
    flags = np.where(table.hidden, "D", "V")
    frequency = None
    if confidential:
        frequency, flags, empty = _whole_flags(table, reasons)
        texts[empty] = EMPTY_MARK
    elif reasons is not None:
        raise InputError(
            "reasons say which hidden cells are sensitive",
            expected="no reasons in a file that may be published",
            hint="leave them out, or write the confidential file: confidential=True",
        )
    else:
        texts[table.hidden] = None
    frame = _labels(table)
    for name, column in (
        ("value", pa.array(texts, pa.string())),
        ("frequency", pa.nulls(len(table)) if frequency is None else frequency),
        ("flag", flags.tolist()),
    ):
        frame = frame.append_column(name, [column])
    write_csv(path, frame, header=False, force=force, public=not confidential)


def _whole_flags(
    table: Table, reasons: ArrayLike | None
) -> tuple[NDArray[np.int64], NDArray[np.str_], NDArray[np.bool_]]:
    """Return the frequency and the flag of each cell, and which cells are empty."""
    if table.frequency is None:
        raise InputError(
            "the table has no frequencies",
            expected="the number of contributors of each cell for SBS files",
            hint="tabulate with counts, or add a column 'frequency'",
        )
    primary = table.status == PRIMARY
    given = np.full(len(table), "B") if reasons is None else np.asarray(reasons, str)
    if given.shape != primary.shape or not np.isin(given[primary], SBS_REASONS).all():
        raise InputError(
            "the reasons are not a letter of A, B, C or F for each cell",
            expected=f"{len(table)} letters",
            hint="give A for frequency, C for dominance, F for p % and (p,q), else B",
        )
    empty = (table.frequency == 0) & (table.status == FIXED)
    flags = np.where(primary, given, "V")
    flags[table.status == SECONDARY] = "D"
    flags[empty] = EMPTY_MARK
    return table.frequency, flags, empty


def _labels(table: Table) -> Any:
    refuse_unlabelled(table, "this layout")
    return frame_of(table).select([d.name for d in table.dimensions])


def _number_text(table: Table) -> NDArray[Any]:
    return np.array(format_numbers(table.value).to_pylist(), dtype=object)


def _published_text(table: Table) -> NDArray[Any]:
    texts = _number_text(table)
    if table.frequency is not None:
        texts[(table.frequency == 0) & (table.status == FIXED)] = EMPTY_MARK
    texts[table.hidden] = HIDDEN_MARK
    return texts


def write_published_parquet(path: PathLike, table: Table) -> None:
    """Write the columns of ``published.csv`` as Parquet."""
    write_parquet(path, published_frame(table), public=True)


JJ_NAME = "table.jj"
HST_NAME = "next-year.hst"
# The cost of hiding a secondary of this year again next year: low, not zero.
_COST_NEXT_YEAR = 1.0


def read_formats(formats: str | Sequence[str]) -> tuple[str, ...]:
    """Read ``"pivot,grid"`` or a list of such texts; each name once."""
    known = layout_names()
    texts = [formats] if isinstance(formats, str) else list(formats)
    if not all(isinstance(text, str) for text in texts):
        raise InputError(
            "a format that is no text",
            expected=f"some of {', '.join(known)}",
            hint="give formats='pivot,grid'",
        )
    names = [n.strip().lower() for text in texts for n in text.split(",") if n.strip()]
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no format {name!r}",
                expected=f"some of {', '.join(known)}",
                hint="published.csv is always written; see docs/reference/formats.md",
            )
    return tuple(dict.fromkeys(names))


def check_formats(formats: str | Sequence[str], table: Table) -> tuple[str, ...]:
    """Refuse formats in which a table cannot be written, before the work begins."""
    names = read_formats(formats)
    without = [*(layout.name for layout in LAYOUTS if not layout.labels), "jj"]
    for name in names:
        if not table.dimensions and name not in without:
            raise InputError(
                f"a table without labels has no {name}",
                expected=f"a table with dimensions, or {' or '.join(without)}",
                hint="give the labelled table",
            )
    checks = [layout.check for layout in _chosen(names) if layout.check]
    for _, part in _parts(table) if checks else ():
        for check in checks:
            load(check)(part)
    return names


def layout_files(folder: Path, table: Table, formats: Sequence[str]) -> list[Path]:
    """Name the files that `write_layouts` writes."""
    found: list[Path] = []
    for stem, part in _parts(table):
        for layout in _chosen(formats):
            path = folder / f"{stem}{layout.ending}"
            found += [path] if layout.files is None else load(layout.files)(path, part)
    return found


def write_layouts(folder: Path, table: Table, formats: Sequence[str]) -> None:
    """Write a table, and each of several linked ones, in the publishable layouts."""
    for stem, part in _parts(table):
        for layout in _chosen(formats):
            load(layout.write)(folder / f"{stem}{layout.ending}", part)


def write_next_year(folder: Path, table: Table) -> None:
    """Write the secondaries as an a-priori file, to hide them again next year."""
    write_hst(folder / HST_NAME, table, cost=_COST_NEXT_YEAR)


def file_stem(names: Sequence[str]) -> str:
    """Join names of dimensions so that any system takes them in the name of a file."""
    return "-".join(re.sub(r"[^\w.]+", "_", name) for name in names)


def _chosen(formats: Sequence[str]) -> list[Layout]:
    known = {layout.name: layout for layout in LAYOUTS}
    return [known[name] for name in formats if name in known]


def _parts(table: Table) -> list[tuple[str, Table]]:
    """Return the table, or each of several linked ones, with the stem of its files."""
    # A cell that no table shows is not published, not even as a hidden one.
    table = table.visible()
    parts = linked_parts(table)
    if len(parts) == 1:
        return [("published", as_published(table))]
    return [
        (f"published-{number}-{file_stem(part.names)}", as_published(table, part))
        for number, part in enumerate(parts, 1)
    ]
