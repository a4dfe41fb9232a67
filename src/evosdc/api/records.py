"""What is given for microdata: a frame of any kind, or the path of a file."""

from __future__ import annotations

from os import PathLike
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evosdc.databases import as_database
from evosdc.frames import is_stream, to_arrow
from evosdc.io import read_records


def repeated_note(records: pa.Table) -> list[str]:
    """Say how many records agree with another one in every column."""
    plain = {
        str(k): column.cast(column.type.value_type)
        if pa.types.is_dictionary(column.type)
        else column
        for k, column in enumerate(records.columns)
    }
    grouped = pa.table(plain).group_by(list(plain)).aggregate([([], "count_all")])
    counts = grouped["count_all"]
    repeated = pc.sum(counts.filter(pc.greater(counts, 1))).as_py() or 0
    if not repeated:
        return []
    return [
        f"{repeated:,} of {records.num_rows:,} records of the original agree with "
        "another one in every column: check that none is in the file twice"
    ]


def as_records(source: Any, like: Any = None) -> Any:
    """Return a frame as it is, and a file or a stream as an Arrow table.

    A stream can be read once, and records are looked at several times.

    Parameters
    ----------
    source
        pandas, polars (lazy too), Arrow, a dict of columns, a path, the address of a
        PostgreSQL table, a Spark DataFrame or an Ibis table.
    like
        A frame of the same variables: a file is read with its types.
    """
    if not isinstance(source, (str, PathLike)):
        database = as_database(source)
        if database is not None:
            return database.frame()
        return to_arrow(source) if is_stream(source) else source
    return read_records(source, None if like is None else to_arrow(like)).frame
