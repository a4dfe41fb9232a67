"""Records in databases: SQL that several engines run, and how they are opened."""

from evosdc.databases.address import as_database, is_address
from evosdc.databases.base import Database
from evosdc.databases.dialect import DUCKDB, POSTGRESQL, SPARK, Column, Dialect

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
