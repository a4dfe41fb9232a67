"""Frames of any kind become Arrow tables, and answers the kind that was given.

Taken are pandas, polars (lazy too), Arrow tables, batches and readers, DuckDB
relations, anything else with the Arrow PyCapsule interface, and dicts of columns. The
same data give the same Arrow table whatever held them: missing values (NaN too) are
nulls, a column that mixes numbers and words is words, and column names are text.

A named pandas index is data (a pivot or a group-by put it there): its levels become
the first columns. An index without a name is not: one of whole numbers counts rows, as
it does after filtering, and goes without a word; one of anything else goes with a
warning, since nobody can name its column but who made it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evosdc.errors import EvosdcError, InputError, MissingExtraError

__all__ = ["Kind", "is_frame", "is_stream", "kind_of", "like", "to_arrow"]

KINDS = (
    "a pandas or polars frame, an Arrow table, batch or reader, a DuckDB relation, "
    "another frame with the Arrow interface, or a dict of columns"
)


@dataclass(frozen=True, eq=False)
class Kind:
    """What kind of frame was given: enough to answer in kind, without a record of it.

    Attributes
    ----------
    name
        ``pandas``, ``polars``, ``polars lazy``, ``dict`` or ``arrow``, which is also
        the answer to batches, readers, relations and paths.
    types
        Column types that Arrow does not tell apart from plain ones (``Int64`` of
        pandas, ``Enum`` of polars), with the Arrow type that they had.
    """

    name: str
    types: Mapping[str, tuple[Any, pa.DataType]] = field(default_factory=dict)


def to_arrow(frame: Any) -> pa.Table:
    """Return a frame of any kind as an Arrow table whose missing values are nulls."""
    try:
        table = _table(frame)
    except EvosdcError:
        raise
    except Exception as error:
        # Arrow, polars, DuckDB and others quote the value that they cannot take.
        raise InputError(
            f"the {type(frame).__name__} cannot be turned into columns "
            f"({type(error).__name__})",
            expected="columns of one length, each of one type",
            hint="give every column one type, for instance text for codes",
        ) from None
    if table is None:
        raise InputError(
            f"a {type(frame).__name__} is not a frame",
            expected=KINDS,
            hint="build a table of columns from it first",
        )
    _refuse_same_names(table.column_names)
    for at, column in enumerate(table.columns):
        plain = _with_nulls(column)
        if plain is not column:
            name = table.column_names[at]
            table = table.set_column(at, pa.field(name, plain.type), plain)
    return table


def like(table: pa.Table, given: Any) -> Any:
    """Return an Arrow table as the kind of frame that was `given` (or its `Kind`).

    What was an index comes back as columns.
    """
    kind = given if isinstance(given, Kind) else kind_of(given)
    if kind.name == "pandas":
        return _pandas(table, kind)
    if kind.name.startswith("polars"):
        frame = _polars(table, kind)
        return frame.lazy() if kind.name == "polars lazy" else frame
    if kind.name == "dict":
        return {
            name: table[name].to_numpy(zero_copy_only=False)
            for name in table.column_names
        }
    return table


def kind_of(frame: Any) -> Kind:
    """Return the kind of a frame, to answer in it later; paths are answered in Arrow.

    It can be kept and pickled with a model: it holds no record.
    """
    if _is_pandas(frame):
        return Kind("pandas", _pandas_types(frame))
    if _comes_from(frame, "polars"):
        if hasattr(frame, "collect"):
            return Kind("polars lazy", _polars_types(frame.collect_schema()))
        return Kind("polars", _polars_types(frame.schema))
    return Kind("dict" if isinstance(frame, Mapping) else "arrow")


def is_frame(source: Any) -> bool:
    """Whether `to_arrow` takes this for a frame; nothing is read."""
    return (
        isinstance(source, (pa.Table, pa.RecordBatch, Mapping))
        or _is_pandas(source)
        or _is_lazy(source)
        or hasattr(source, "__arrow_c_stream__")
    )


def is_stream(frame: Any) -> bool:
    """Whether a frame comes batch by batch and may be larger than memory."""
    return isinstance(frame, pa.RecordBatchReader) or any(
        _comes_from(frame, library) for library in ("duckdb", "ibis")
    )


def _table(frame: Any) -> pa.Table | None:
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if isinstance(frame, Mapping):
        return pa.table({str(name): _column(part) for name, part in frame.items()})
    if _is_pandas(frame):
        return _from_pandas(frame)
    if _is_lazy(frame):
        frame = frame.collect()
    if _comes_from(frame, "polars") and hasattr(frame, "columns"):
        return frame.to_arrow()
    return pa.table(frame) if hasattr(frame, "__arrow_c_stream__") else None


def _refuse_same_names(names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"column {twice[0]!r} stands twice",
            expected="each column once",
            hint="rename one of them (a named pandas index is a column too)",
        )


def _with_nulls(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with nulls for NaN, in a type that every function of Arrow takes.

    A column without either is returned as it is, not copied.
    """
    kind = column.type
    if pa.types.is_floating(kind):
        absent = pc.is_nan(column)
        if pc.any(absent).as_py():
            return pc.if_else(absent, pa.scalar(None, kind), column)
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        plain = pa.dictionary(kind.index_type, pa.large_string(), kind.ordered)
        return pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(
                    chunk.indices,
                    chunk.dictionary.cast(pa.large_string()),
                    ordered=kind.ordered,
                )
                for chunk in column.chunks
            ],
            type=plain,
        )
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    return column


def _column(column: Any) -> Any:
    """Return a column as Arrow; one that mixes numbers and words becomes words."""
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    if isinstance(column, (str, bytes)):
        raise TypeError("a word is not a column")
    if isinstance(column, np.ndarray) and column.dtype.kind in "US":
        return pa.array(column.astype("U").astype(object), pa.string())
    if _comes_from(column, "polars"):
        return column.to_arrow()
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        if not any(isinstance(entry, str) for entry in column):
            raise
        return _words(column)
    kind = array.type
    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    # Intervals (pandas.cut) and periods are codes like any other: as they print.
    return _words(column) if isinstance(held, pa.BaseExtensionType) else array


def _words(column: Any) -> pa.Array:
    words = [None if _is_missing(entry) else str(entry) for entry in column]
    return pa.array(words, pa.string())


def _is_missing(entry: Any) -> bool:
    """Whether an entry is None, NaN or NaT, not equal to itself, or pandas.NA."""
    try:
        return entry is None or bool(entry != entry)
    except TypeError:
        return True  # pandas.NA does not say whether it equals anything


def _from_pandas(frame: Any) -> pa.Table:
    index = frame.index
    names: list[str] = []
    parts: list[Any] = []
    for level, name in enumerate(index.names):
        values = index.get_level_values(level)
        if name is not None:
            names.append(str(name))
            parts.append(_column(values.to_series()))
        elif index.nlevels > 1 or values.dtype.kind not in "iu":
            warnings.warn(
                "an index without a name is left out of the frame; to keep it as a "
                "column name it (frame.rename_axis('region')), else remove it "
                "(frame.reset_index(drop=True))",
                stacklevel=4,
            )
    names += [str(name) for name in frame.columns]
    parts += [_column(frame.iloc[:, k]) for k in range(frame.shape[1])]
    _refuse_same_names(names)
    return pa.table(parts, names=names)


def _pandas_types(frame: Any) -> dict[str, tuple[Any, pa.DataType]]:
    """Return nullable types and others that know how to come back from Arrow."""
    return {
        str(name): (dtype, pa.array(frame.iloc[:0, k], from_pandas=True).type)
        for k, (name, dtype) in enumerate(frame.dtypes.items())
        if hasattr(dtype, "__from_arrow__")
    }


def _pandas(table: pa.Table, kind: Kind) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("pandas", "frames") from error
    frame = table.to_pandas()
    for name, (dtype, arrow) in kind.types.items():
        if name in table.column_names and table.schema.field(name).type == arrow:
            back = dtype.__from_arrow__(table[name])
            frame[name] = pandas.Series(back, index=frame.index, dtype=dtype)
    return frame


def _polars_types(schema: Any) -> dict[str, tuple[Any, pa.DataType]]:
    return {
        name: (dtype, None)
        for name, dtype in schema.items()
        if type(dtype).__name__ == "Enum"
    }


def _polars(table: pa.Table, kind: Kind) -> Any:
    try:
        import polars
    except ImportError as error:
        raise MissingExtraError("polars", "frames") from error
    frame = polars.from_arrow(table)
    for name in kind.types:
        if name in table.column_names and pa.types.is_dictionary(table[name].type):
            # The categories are those of the answer: it may have fewer, or others.
            parts = table[name].unify_dictionaries().chunks
            shown = parts[0].dictionary.to_pylist() if parts else []
            frame = frame.with_columns(frame[name].cast(polars.Enum(shown)))
    return frame


def _is_pandas(frame: Any) -> bool:
    """Whether a frame is of pandas or of a library built on it; a series is none."""
    return hasattr(frame, "iloc") and hasattr(frame, "columns")


def _is_lazy(frame: Any) -> bool:
    return hasattr(frame, "collect_schema") and hasattr(frame, "collect")


def _comes_from(frame: Any, library: str) -> bool:
    """Whether the type of a frame is from a library, which need not be installed."""
    return type(frame).__module__.partition(".")[0].lstrip("_") == library
