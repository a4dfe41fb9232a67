"""Labelled tables in formats of columns, with their hierarchies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from evosdc.errors import TableError
from evosdc.formats import PARQUET
from evosdc.io.columns import read_columns
from evosdc.io.frames import frame_of, refuse_unlabelled
from evosdc.io.from_frame import RESERVED, table_from_frame
from evosdc.io.paths import PathLike, readable
from evosdc.io.sidecar import (
    METADATA,
    TEXTS,
    Sidecar,
    describe,
    parse_sidecar,
    read_sidecar,
    write_together,
)
from evosdc.io.suffixes import format_to_read, format_to_write, load
from evosdc.table import Hierarchy, Table
from evosdc.table.build import equations


def read_labelled(
    path: PathLike,
    *,
    dimensions: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    totals: Mapping[str, str] | str | None = None,
    value: str | None = None,
    missing: Literal["error", "empty"] | None = None,
    level_percent: float | None = None,
    flat: Collection[str] = (),
) -> Table:
    """Read a table from CSV, Parquet or another format of columns.

    Hierarchies, totals and what absent cells mean are taken from the Parquet metadata
    or the side file ``NAME.json``, unless they are given here; either is refused if it
    was written with other cells (`evosdc.io.sidecar`). Without them a dimension is
    flat, absent inner cells are an error, and so are codes that are sums of other
    codes, unless `flat` says that this is a coincidence.
    `evosdc.io.from_frame.table_from_frame` says which columns are recognised.
    """
    p = readable(path)
    value = value or "value"
    inside = format_to_read(p, "table") is PARQUET
    known = None if inside else read_sidecar(p)
    numbers = {value, *RESERVED} - {*TEXTS}
    frame = read_columns(p, numbers=numbers, from_evosdc=known is not None)
    if inside:
        known = _sidecar_inside(frame, p)
    trees = dict(hierarchies or {})
    trusted: set[str] = set()
    # Without the column of values the frame is refused below.
    if known is not None and value in frame.column_names:
        known.refuse_other(frame, value)
        # What was written with the table is known to be so.
        trusted = set(known.hierarchies) - set(trees)
        trees = {**known.hierarchies, **trees}
        dimensions = dimensions or list(known.hierarchies)
        missing = missing or known.absent
    return table_from_frame(
        frame,
        dimensions=dimensions,
        hierarchies=trees,
        totals=totals,
        value=value,
        missing=missing or "error",
        level_percent=level_percent,
        name=None if known is None else known.name,
        origin=None if known is None else known.origin,
        flat=flat,
        trusted=trusted,
    )


def write_labelled(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a table as columns so that `read_labelled` returns the same table."""
    p = Path(path)
    refuse_unlabelled(table, "CSV and Parquet")
    form = format_to_write(p, "table")
    write = load(form.written["columns"])
    refuse_other_equations(table)
    frame = frame_of(table)
    text = describe(table, frame)
    if form is PARQUET:
        frame = frame.replace_schema_metadata({METADATA: text.encode()})
        write(p, frame, force=force)
        return
    write_together(p, text, lambda: write(p, frame, force=force), force=force)


def _sidecar_inside(frame: Any, path: Path) -> Sidecar | None:
    """Return what the metadata of a Parquet file say, in place of a side file."""
    text = (frame.schema.metadata or {}).get(METADATA)
    return None if text is None else parse_sidecar(text.decode(), path)


def refuse_other_equations(table: Table) -> None:
    """Refuse a table whose equations are not those that its labels imply."""
    implied = equations(table.dimensions, table.codes)
    # Tables of evosdc have the same matrix; sorting a million equations takes long.
    one, other = sparse.csr_array(implied), sparse.csr_array(table.matrix)
    same = one.shape == other.shape and one.nnz == other.nnz and not (one != other).nnz
    if np.any(table.rhs) or not (same or _rows(one) == _rows(other)):
        raise TableError(
            "the table has other equations than its labels imply",
            expected="every total the sum of its parts, and nothing else",
            hint="write it as .jj, which keeps any equation",
        )


def _rows(rows: Any) -> list[tuple[bytes, bytes]]:
    """Return the equations in canonical order, to compare two sets of them."""
    rows = rows.sorted_indices()
    indices = rows.indices.astype(np.int64)
    cuts = rows.indptr.tolist()
    return sorted(
        (indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in pairwise(cuts)
    )
