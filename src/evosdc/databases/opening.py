"""Sources that are databases; a library is imported only for a source of its kind."""

from __future__ import annotations

from typing import Any

from evosdc.databases.address import is_address, read_address
from evosdc.databases.base import Database
from evosdc.errors import InputError


def as_database(source: Any) -> Database | None:
    """Return the database behind an address, a Spark frame or an Ibis table.

    None for anything else: a file, a frame, a stream.
    """
    if isinstance(source, Database):
        return source
    if is_address(source):
        from evosdc.databases.postgresql import PostgreSQL

        return PostgreSQL(read_address(source))
    library = type(source).__module__.partition(".")[0]
    if library == "pyspark":
        from evosdc.databases.spark import Spark

        if not hasattr(source, "sparkSession"):
            raise InputError(
                f"a {type(source).__name__} of Spark does not say which records",
                expected="a DataFrame",
                hint='give spark.table("firms")',
            )
        return Spark(source)
    if library == "ibis":
        return _behind_ibis(source)
    return None


def _behind_ibis(table: Any) -> Database | None:
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
        from evosdc.databases.spark import Spark

        return Spark(backend._session.sql(str(backend.compile(table))))
    return None
