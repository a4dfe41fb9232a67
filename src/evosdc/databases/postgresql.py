"""Records in PostgreSQL: one read-only snapshot, answers as a stream of batches."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyarrow import csv

from evosdc.databases.address import Address
from evosdc.databases.base import Database
from evosdc.databases.dialect import (
    FRACTION,
    OTHER,
    POSTGRESQL,
    TEXT,
    TRUTH,
    WHOLE,
    Column,
)
from evosdc.errors import InputError, MissingExtraError

_BLOCK = 1 << 22
# By PostgreSQL's number of each type; 1042 is char(n).
_KINDS = {
    16: TRUTH,
    20: WHOLE,
    21: WHOLE,
    23: WHOLE,
    25: TEXT,
    700: FRACTION,
    701: FRACTION,
    1042: TEXT,
    1043: TEXT,
    1700: FRACTION,
}
_ARROW = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int64(),
    23: pa.int64(),
    700: pa.float64(),
    701: pa.float64(),
    1082: pa.date32(),
    1700: pa.float64(),
}


class _Snapshot(Database):
    """Queries of one read-only transaction, which sees one state of the records."""

    dialect = POSTGRESQL
    _connection: Any = None

    def columns(self) -> dict[str, Column]:
        """Ask for no rows, which describes them."""
        return {
            column.name: Column(
                _KINDS.get(column.type_code, OTHER), column.type_display
            )
            for column in self._describe(f"SELECT * FROM {self.relation} AS t")
        }

    def fetch(self, query: str) -> Any:
        """Return the answer as a reader of batches, which holds little of it."""
        described = self._describe(query)
        names = [column.name for column in described]
        kinds = {c.name: _ARROW.get(c.type_code, pa.string()) for c in described}
        if not names:
            raise InputError("a table without columns", expected="columns of records")
        return csv.open_csv(
            _Stream(self._copied(query)),
            read_options=csv.ReadOptions(column_names=names, block_size=_BLOCK),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=kinds,
                null_values=[""],
                true_values=["t"],
                false_values=["f"],
                strings_can_be_null=True,
                # PostgreSQL quotes an empty text, and not what is missing.
                quoted_strings_can_be_null=False,
            ),
        )

    def frame(self) -> Any:
        """Read all records."""
        with self:
            try:
                return self.fetch(f"SELECT * FROM {self.relation} AS t").read_all()
            except pa.ArrowException as error:
                # Arrow quotes what it cannot read.
                raise InputError(
                    f"what comes from {self} cannot be read ({type(error).__name__})",
                    expected="text, numbers, truth values and dates",
                    hint="cast columns of other types in a query",
                ) from None

    def _describe(self, query: str) -> Any:
        with self._cursor() as cursor, _without_values(self):
            # Prepared, so that a second command behind a semicolon is refused.
            cursor.execute(f"SELECT * FROM ({query}) AS t LIMIT 0", prepare=True)
            return list(cursor.description)

    def _copied(self, query: str) -> Iterator[bytes]:
        with (
            self._cursor() as cursor,
            _without_values(self),
            cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT csv)") as copy,
        ):
            for block in copy:
                yield bytes(block)

    def _cursor(self) -> Any:
        return self._connection.cursor()

    def _begin(self) -> None:
        """Open a transaction that cannot write and sees one state of the records."""
        with self._cursor() as cursor, _without_values(self):
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            # Shortest digits that give the same bits back, and dates as others write.
            cursor.execute("SET LOCAL extra_float_digits = 1")
            cursor.execute("SET LOCAL datestyle = 'ISO'")
            cursor.execute("SET LOCAL client_encoding = 'UTF8'")


class PostgreSQL(_Snapshot):
    """A table or a query at an address; libpq finds the credentials."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        self.address = address

    def __str__(self) -> str:
        return str(self.address)

    @property
    def relation(self) -> str:
        """The table by its name, or the query in brackets."""
        if self.address.query:
            return f"({self.address.query})"
        return ".".join(self.dialect.name_of(part) for part in self.address.table)

    def _open(self) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtraError("psycopg", "postgres") from error
        try:
            self._connection = psycopg.connect(self.address.server, autocommit=True)
        except psycopg.Error as error:
            # What libpq says may quote the connection string: its kind is enough.
            raise InputError(
                f"no connection to {self.address} ({_kind(error)})",
                expected="a server that answers, and credentials in the environment "
                "(PGUSER, PGPASSWORD) or a file (PGPASSFILE)",
                hint="try psql with the same address, without ?table=...",
            ) from None
        try:
            self._begin()
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        connection.close()


class Connected(_Snapshot):
    """A query on a connection that is not ours, such as that of Ibis; it stays open."""

    def __init__(self, connection: Any, query: str) -> None:
        super().__init__()
        self._connection = connection
        self._query = query.strip().rstrip(";")

    def __str__(self) -> str:
        return "an Ibis table of PostgreSQL"

    @property
    def relation(self) -> str:
        """The query in brackets."""
        return f"({self._query})"

    def _open(self) -> None:
        if self._connection.info.transaction_status.name != "IDLE":
            raise InputError(
                "the connection is in the middle of a transaction",
                expected="a connection with nothing begun",
                hint="commit or roll back first",
            )
        self._begin()

    def _close(self) -> None:
        self._connection.rollback()


@contextmanager
def _without_values(where: Database) -> Iterator[None]:
    """Raise errors of PostgreSQL without their text, which may quote a record."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "psycopg":
            raise
        raise InputError(
            f"PostgreSQL cannot read {where} ({_kind(error)})",
            expected="a table or a SELECT that this user may read",
            hint="try SELECT * FROM it LIMIT 1 in psql",
        ) from None


def _kind(error: Any) -> str:
    code = getattr(error, "sqlstate", None)
    return f"{type(error).__name__}, SQLSTATE {code}" if code else type(error).__name__


class _Stream(io.RawIOBase):
    """Blocks of bytes as a file, for the reader of CSV."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        n = min(len(buffer), len(self._rest))
        buffer[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n
