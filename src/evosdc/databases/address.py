"""Addresses of records in databases, and how they are opened: without a password.

A password in an address ends up in shell histories, process lists and logs. It is
refused: the environment (PGPASSWORD) or a file (PGPASSFILE, PGSERVICEFILE) has it. A
library is imported only for a source of its kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from evosdc.databases.base import Database
from evosdc.errors import InputError

_SCHEMES = ("postgresql", "postgres")
_EXAMPLE = "postgresql://host/database?table=schema.name"
# Settings allowed in an address besides table and query; libpq knows many more.
_SETTINGS = (
    "application_name",
    "channel_binding",
    "connect_timeout",
    "gssencmode",
    "host",
    "hostaddr",
    "port",
    "service",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
)


@dataclass(frozen=True)
class Address:
    """A table or a query in a PostgreSQL database.

    `server` is what libpq connects to; `table` the parts of a name; `query` a SELECT.
    """

    server: str
    table: tuple[str, ...] = ()
    query: str = field(default="", repr=False)

    def __str__(self) -> str:
        what = ".".join(self.table) or "a query"
        return f"{what} of {self.server.partition('?')[0]}"


def is_address(source: object) -> bool:
    """Whether a source is the address of records in a database, not a path."""
    return isinstance(source, str) and source.partition("://")[0] in _SCHEMES


def read_address(text: str) -> Address:
    """Read ``postgresql://[user@]host[:port]/database?table=[schema.]name``."""
    parts = urlsplit(text)
    if parts.password is not None:
        raise InputError(
            f"the address of a database at {parts.hostname or 'a host'} holds a "
            "password",
            expected=f"an address without one, such as {_EXAMPLE}",
            hint="set PGPASSWORD in the environment, or name a password file in "
            "PGPASSFILE; and change this one, it may be in your shell's history",
        )
    table: tuple[str, ...] = ()
    query = ""
    settings: list[str] = []
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name == "table":
            table = _table(value)
        elif name == "query":
            query = value.strip().rstrip(";")
        elif name in _SETTINGS:
            settings.append(f"{name}={value}")
        else:
            raise InputError(
                f"the address of a database has the setting {name!r}",
                expected=f"table, query, or one of {', '.join(_SETTINGS)}",
                hint="credentials belong into the environment (PGPASSWORD) or a file "
                "(PGPASSFILE)",
            )
    if bool(table) == bool(query):
        raise InputError(
            "the address of a database names "
            + ("both a table and a query" if table else "no table"),
            expected=f"a table, as in {_EXAMPLE}, or query=SELECT ...",
            hint="say where the records are",
        )
    server = urlunsplit(
        ("postgresql", parts.netloc, parts.path, "&".join(settings), "")
    )
    return Address(server, table, query)


def _table(text: str) -> tuple[str, ...]:
    parts = tuple(unquote(part) for part in text.split("."))
    if not all(parts) or len(parts) > 2:
        raise InputError(
            f"table {text!r}",
            expected="a name, or schema.name",
            hint="use query=SELECT ... for anything else",
        )
    return parts


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
