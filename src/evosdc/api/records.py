"""What is given for microdata: a frame of any kind, or the path of a file."""

from __future__ import annotations

from os import PathLike
from typing import Any

from evosdc.databases import as_database
from evosdc.frames import is_stream, to_arrow
from evosdc.io import read_records


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
