"""Records in Spark: a DataFrame, of a session on one machine or of a cluster."""

from __future__ import annotations

from typing import Any

from evosdc.databases.base import Database
from evosdc.databases.dialect import FRACTION, OTHER, SPARK, TEXT, TRUTH, WHOLE, Column
from evosdc.errors import InputError

# Stands for the DataFrame in a query, until the session puts its view there.
_TOKEN = "\0records\0"
_KINDS = {
    "string": TEXT,
    "varchar": TEXT,
    "char": TEXT,
    "tinyint": WHOLE,
    "smallint": WHOLE,
    "int": WHOLE,
    "bigint": WHOLE,
    "float": FRACTION,
    "double": FRACTION,
    "decimal": FRACTION,
    "boolean": TRUTH,
}


class Spark(Database):
    """A DataFrame; queries run where its session runs, and their answers come here."""

    dialect = SPARK

    def __init__(self, frame: Any) -> None:
        super().__init__()
        self._frame = frame

    def __str__(self) -> str:
        return "a Spark DataFrame"

    @property
    def relation(self) -> str:
        """The DataFrame, which the session puts in as a view of this query only."""
        return _TOKEN

    def columns(self) -> dict[str, Column]:
        """Return names and types."""
        return {
            name: Column(_KINDS.get(kind.partition("(")[0], OTHER), kind)
            for name, kind in self._frame.dtypes
        }

    def fetch(self, query: str) -> Any:
        """Run a query on the session of the DataFrame."""
        # Braces are places to fill for Spark; names and codes may have some.
        plain = query.replace("{", "{{").replace("}", "}}")
        query = plain.replace(_TOKEN, "{records}")
        return self._arrow(
            lambda: self._frame.sparkSession.sql(query, records=self._frame)
        )

    def frame(self) -> Any:
        """Collect the records."""
        return self._arrow(lambda: self._frame)

    def _arrow(self, made: Any) -> Any:
        try:
            return made().toArrow()
        except Exception as error:
            # Messages of Spark may quote values: only the kind of error is passed on.
            raise InputError(
                f"Spark cannot answer ({type(error).__name__})",
                expected="a DataFrame that can be read",
                hint="try frame.count() in the same session; its log says more",
            ) from None
