"""Frames in, frames out: pandas, polars, Arrow, anything that speaks Arrow, dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evosdc.errors import InputError, MissingExtraError


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
