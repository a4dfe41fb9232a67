"""Files of columns, whatever their suffix, as Arrow tables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from evosdc.errors import InputError
from evosdc.io.delimited import read_csv
from evosdc.io.paths import PathLike
from evosdc.io.suffixes import PARQUET, format_to_read


def read_columns(
    path: PathLike, *, numbers: Collection[str] = (), ours: bool = False
) -> Any:
    """Read a CSV file as text (see `read_csv`) or a Parquet file as it is."""
    if format_to_read(path, "columns") is PARQUET:
        return read_parquet(path)
    return read_csv(path, numbers=numbers, ours=ours)


def read_parquet(path: PathLike) -> Any:
    """Read a Parquet file as an Arrow table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path} is not a Parquet file that can be read",
            expected="a complete Parquet file",
            hint="write it again, or give CSV",
        ) from error
