"""The protocol of an engine that holds records: columns, and answers to queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, Self

from evosdc.databases.dialect import Column, Dialect


class Database(ABC):
    """Records in a database, which are only read.

    ``with`` opens it; within that, further ``with`` blocks share the same state of the
    records, so that several tables agree.
    """

    dialect: Dialect

    def __init__(self) -> None:
        self._users = 0

    def __enter__(self) -> Self:
        if self._users == 0:
            self._open()
        self._users += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._users -= 1
        if self._users == 0:
            self._close()

    def _open(self) -> None:  # noqa: B027
        """Begin to read; nothing to do by default."""

    def _close(self) -> None:  # noqa: B027
        """End reading; nothing to do by default."""

    @property
    @abstractmethod
    def relation(self) -> str:
        """What stands after FROM."""

    @abstractmethod
    def columns(self) -> dict[str, Column]:
        """Return the columns in their order."""

    @abstractmethod
    def fetch(self, query: str) -> Any:
        """Return the answer to a query: an Arrow table, or a reader of batches."""

    @abstractmethod
    def frame(self) -> Any:
        """Return all records as an Arrow table."""
