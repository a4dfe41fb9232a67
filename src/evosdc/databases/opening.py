"""Which sources are databases; their libraries are loaded where one is given."""

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
        from evosdc.databases.ibis_tables import database_of

        return database_of(source)
    return None
