"""Tables of Ibis: their records are asked on the engine that Ibis is connected to."""

from __future__ import annotations

from typing import Any

from evosdc.databases.base import Database
from evosdc.databases.spark import Spark
from evosdc.errors import InputError


def database_of(table: Any) -> Database | None:
    """Return the engine behind an Ibis table.

    None for DuckDB and engines that we do not speak to: Ibis streams their rows.
    """
    try:
        backend = table.get_backend()
    except Exception as error:
        raise InputError(
            f"an Ibis {type(table).__name__} without a connection "
            f"({type(error).__name__})",
            expected="a table of a connection: connection.table('firms')",
            hint="connect first",
        ) from None
    if backend.name == "postgres":
        from evosdc.databases.postgresql import Connected

        return Connected(backend.con, str(backend.compile(table)))
    if backend.name == "pyspark":
        return Spark(backend._session.sql(str(backend.compile(table))))
    return None
