"""Frames in, the same kind of frame out: pandas, polars or Arrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evosdc.errors import InputError


def to_table(frame: Any) -> pa.Table:
    """Return a frame as an Arrow table whose missing values are nulls."""
    if isinstance(frame, pa.Table):
        table = frame
    elif _from(frame, "pandas"):
        table = _pandas_table(frame)
    elif _from(frame, "polars"):
        table = frame.to_arrow()
    else:
        raise InputError(
            f"cannot read a frame of type {type(frame).__name__!r}",
            expected="a pandas or polars DataFrame or an Arrow table",
        )
    if len(set(table.column_names)) != table.num_columns:
        raise InputError(
            "two columns have the same name", hint="rename one of the columns"
        )
    for at, field in enumerate(table.schema):
        column = table.column(at)
        if pa.types.is_floating(field.type):
            values = pc.if_else(pc.is_nan(column), None, column)
            table = table.set_column(at, field, values.cast(field.type))
    return table


def like(table: pa.Table, frame: Any) -> Any:
    """Return an Arrow table as the kind of frame that was given."""
    if _from(frame, "polars"):
        import polars

        out = polars.from_arrow(table)
        kinds = {n: k for n, k in frame.schema.items() if n in table.column_names}
        for name, kind in kinds.items():
            if isinstance(kind, polars.Enum):
                # Categories of few people are pooled: their list is not the same.
                shown = table[name].unify_dictionaries().chunk(0).dictionary
                kinds[name] = polars.Enum(shown.to_pylist())
        return out.cast(kinds)
    if _from(frame, "pandas"):
        return table.to_pandas()
    return table


def _from(frame: Any, package: str) -> bool:
    return type(frame).__module__.split(".")[0] == package


def _pandas_table(frame: Any) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(
            f"a column mixes types ({error.args[-1] if error.args else error})",
            expected="one type a column",
            hint="convert the column, for example with astype(str)",
        ) from None
