"""The same table from a Parquet file, PostgreSQL and Spark, of many records.

    python -m benchmarks.databases --records 10000000 \
        --postgresql 'postgresql://user@/db?host=/run/postgresql'
    python -m benchmarks.databases --records 10000000 --spark

The records are those of ``benchmarks/tabulate.py`` (seeded). PostgreSQL gets them in a
table ``evosdc_firms``, which is made, and dropped in the end; its password comes from
the environment. Exit code 1 where anything of a table differs.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import evosdc
from benchmarks.tabulate import industry_codes, region_codes, write_records
from evosdc.table import Hierarchy, Table

_ARRAYS = (
    "value weight status lower upper lpl upl spl codes frequency holdings respondent"
)
_TABLE = "evosdc_firms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgresql", help="a database in which a table can be made")
    parser.add_argument("--spark", action="store_true", help="Spark in local mode")
    given = parser.parse_args()
    same = True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "firms.parquet"
        write_records(path, given.records, given.seed)
        first = tabulated("DuckDB", path)
        print(f"{len(first):,} cells, {len(first.primaries):,} of them sensitive")
        if given.postgresql:
            with loaded(path, given.postgresql) as source:
                same &= alike("PostgreSQL", first, source)
        if given.spark:
            with spark_frame(path) as frame:
                same &= alike("Spark", first, frame)
    return 0 if same else 1


def tabulated(name: str, source: Any) -> Table:
    """Tabulate by four dimensions, and say how long it took."""
    began = time.perf_counter()
    table = evosdc.tabulate(
        source,
        ["industry", "region", "size", "form"],
        "turnover",
        rules=["p:10", "freq:3"],
        read=evosdc.Read(
            hierarchies={
                "industry": Hierarchy.from_levels(industry_codes()),
                "region": Hierarchy.from_levels(region_codes()),
            }
        ),
    ).table
    print(f"{name}: {time.perf_counter() - began:.1f} s", flush=True)
    return table


def alike(name: str, first: Table, source: Any) -> bool:
    """Whether another source gives the same table to the last digit; say so."""
    other = tabulated(name, source)
    differ = [
        part
        for part in _ARRAYS.split()
        if not np.array_equal(getattr(first, part), getattr(other, part))
    ]
    if first.origin != other.origin:
        differ.append("origin")
    if (first.matrix != other.matrix).nnz:
        differ.append("equations")
    print(f"{name}: {'differs in ' + ', '.join(differ) if differ else 'identical'}")
    return not differ


@contextmanager
def loaded(path: Path, address: str) -> Iterator[str]:
    """Copy the records to PostgreSQL; give the address of their table."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            f"CREATE TABLE {_TABLE} (industry text, region text, size text, "
            "form text, turnover double precision)"
        )
        try:
            with (
                connection.cursor() as cursor,
                cursor.copy(f"COPY {_TABLE} FROM STDIN (FORMAT csv)") as copy,
            ):
                for batch in pq.ParquetFile(path).iter_batches(200_000):
                    text = io.StringIO()
                    columns = [column.to_pylist() for column in batch.columns]
                    csv.writer(text).writerows(zip(*columns, strict=True))
                    copy.write(text.getvalue())
            connection.execute(f"ANALYZE {_TABLE}")
            yield f"{address}{'&' if '?' in address else '?'}table={_TABLE}"
        finally:
            connection.execute(f"DROP TABLE {_TABLE}")


@contextmanager
def spark_frame(path: Path) -> Iterator[Any]:
    """Open the file with Spark on this machine."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        yield session.read.parquet(str(path))
    finally:
        session.stop()


if __name__ == "__main__":
    sys.exit(main())
