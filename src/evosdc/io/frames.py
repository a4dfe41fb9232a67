"""Frames in, frames out: pandas, polars, Arrow, anything that speaks Arrow, dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evosdc.errors import InputError, MissingExtraError
from evosdc.io.from_frame import LEVELS, RESERVED, table_from_frame
from evosdc.table import Table
from evosdc.table.status import HIDDEN

__all__ = [
    "LEVELS",
    "RESERVED",
    "frame_of",
    "like",
    "pattern_frame",
    "published_frame",
    "table_from_frame",
    "to_arrow",
]

HIDDEN_MARK = "x"  # what a reader of the publication sees of a hidden cell


def to_arrow(frame: Any) -> Any:
    """Return an Arrow table of a pandas, polars or Arrow frame or a dict of arrays."""
    import pyarrow as pa

    try:
        if isinstance(frame, pa.Table):
            return frame
        if isinstance(frame, pa.RecordBatch):
            return pa.Table.from_batches([frame])
        if isinstance(frame, Mapping):
            return pa.table({str(k): _plain(v) for k, v in frame.items()})
        if _kind(frame) == "pandas":
            # A named index carries labels (a pivot, a group-by); a bare one does not.
            named = any(name is not None for name in frame.index.names)
            flat = frame.reset_index() if named else frame
            columns = [_plain(flat.iloc[:, k]) for k in range(flat.shape[1])]
            return pa.table(columns, names=[str(name) for name in flat.columns])
        if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):
            frame = frame.collect()  # a lazy polars frame
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise InputError(
            f"the frame cannot be turned into columns ({type(error).__name__})",
            expected="columns of one length, each of one type",
            hint="give every column one type, for instance strings for codes",
        ) from error
    raise InputError(
        f"a {type(frame).__name__} is not a frame",
        expected="a pandas, polars or Arrow table, or a dict of arrays",
        hint="build a table of columns from it first",
    )


def like(table: Any, template: Any) -> Any:
    """Return an Arrow table as a frame of the same kind as `template`."""
    kind = _kind(template)
    if kind == "pandas":
        try:
            import pandas  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("pandas", "frames") from error
        return table.to_pandas()
    if kind == "polars":
        try:
            import polars
        except ImportError as error:
            raise MissingExtraError("polars", "frames") from error
        return polars.from_arrow(table)
    if isinstance(template, Mapping):
        return {
            name: table[name].to_numpy(zero_copy_only=False)
            for name in table.column_names
        }
    return table


def frame_of(table: Table, *, original_ids: ArrayLike | None = None) -> Any:
    """Return every cell with all that is known of it, as an Arrow table."""
    import pyarrow as pa

    columns = _ids(table, original_ids) | _labels(table)
    columns["value"] = pa.array(table.value)
    columns["status"] = pa.array(table.status.astype(object), pa.string())
    for name in ("weight", "lower", "upper", *LEVELS):
        columns[name] = pa.array(getattr(table, name))
    if table.frequency is not None:
        columns["frequency"] = pa.array(table.frequency)
    return pa.table(columns)


def pattern_frame(table: Table, *, original_ids: ArrayLike | None = None) -> Any:
    """Return cell numbers, labels, values, statuses: for the owner, not to publish."""
    names = ["cell_id", *(d.name for d in table.dimensions), "value", "status"]
    return frame_of(table, original_ids=original_ids).select(names)


def published_frame(table: Table) -> Any:
    """Return the table as it may be published: hidden values blank and marked ``x``.

    Primaries and secondaries look alike here: which of the hidden cells is sensitive
    is itself confidential. Tables without labels keep their cell numbers.
    """
    import pyarrow as pa

    hidden = np.isin(table.status, HIDDEN)
    columns = _labels(table) or _ids(table, None)
    columns["value"] = pa.array(table.value, mask=hidden)
    seen = np.where(hidden, HIDDEN_MARK, table.status)
    columns["status"] = pa.array(seen.astype(object), pa.string())
    return pa.table(columns)


def _kind(frame: Any) -> str:
    """The library a frame comes from, without importing it."""
    return type(frame).__module__.partition(".")[0]


def _plain(column: Any) -> Any:
    """An Arrow array of a column; codes that mix numbers and words become words."""
    import pyarrow as pa

    if isinstance(column, np.ndarray) and column.dtype.kind in "US":
        return pa.array(column.astype("U").astype(object), pa.string())
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        if not any(isinstance(entry, str) for entry in column):
            raise
        # A missing entry is the only one that differs from itself, or is None.
        absent = [entry is None or entry != entry for entry in column]
        words = [None if a else str(e) for a, e in zip(absent, column, strict=True)]
        return pa.array(words, pa.string())


def _ids(table: Table, original: ArrayLike | None) -> dict[str, Any]:
    import pyarrow as pa

    ids = np.arange(len(table)) if original is None else np.asarray(original)
    return {"cell_id": pa.array(ids)}


def _labels(table: Table) -> dict[str, Any]:
    import pyarrow as pa

    return {
        d.name: pa.array(d.hierarchy.codes, pa.string()).take(
            pa.array(table.codes[:, k])
        )
        for k, d in enumerate(table.dimensions)
    }
