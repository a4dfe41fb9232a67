"""Records where they lie: SQL that several engines run, and the doors to them."""

from evosdc.databases.address import is_address
from evosdc.databases.base import Column, Database
from evosdc.databases.dialect import DUCKDB, POSTGRESQL, SPARK, Dialect
from evosdc.databases.opening import as_database

__all__ = [
    "DUCKDB",
    "POSTGRESQL",
    "SPARK",
    "Column",
    "Database",
    "Dialect",
    "as_database",
    "is_address",
]
