"""Rows of earlier runs, so that a long experiment can be made in pieces.

Runs of a minute each for several files and seeds take longer than a machine is free.
What a directory holds already is not run again, and stays on the page.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from types import NoneType
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from benchmarks.experiments.write import write_rows
from evosdc.errors import InputError

Row = TypeVar("Row")


class Pieces(Generic[Row]):
    """Rows of one kind in a CSV file, written as they come.

    Parameters
    ----------
    path
        The file; rows in it are taken over.
    kind
        The dataclass of a row.
    key
        What names a run; all its rows have the same.
    again
        Whether rows of earlier runs are dropped.
    """

    def __init__(
        self,
        path: Path,
        kind: type[Row],
        key: Callable[[Row], tuple[str, ...]],
        *,
        again: bool = False,
    ) -> None:
        self.path = path
        self._key = key
        self._runs: dict[tuple[str, ...], list[Row]] = {}
        if path.exists() and not again:
            for row in _read(path, kind):
                self._runs.setdefault(key(row), []).append(row)

    def __contains__(self, key: tuple[str, ...]) -> bool:
        return key in self._runs

    @property
    def rows(self) -> list[Row]:
        """All rows, in the order of the names of their runs."""
        return [row for key in sorted(self._runs) for row in self._runs[key]]

    def add(self, rows: Iterable[Row]) -> None:
        """Keep the rows of a run, and write all of them: an interrupt loses none."""
        for row in rows:
            self._runs.setdefault(self._key(row), []).append(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(self.path, self.rows)


def _read(path: Path, kind: type[Row]) -> list[Row]:
    hints = get_type_hints(kind)
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is None or list(reader.fieldnames) != list(hints):
            raise InputError(
                f"{path} has other columns",
                expected=", ".join(hints),
                hint="--force begins again; or choose another directory",
            )
        return [kind(**{n: _value(hints[n], row[n]) for n in hints}) for row in reader]


def _value(kind: Any, text: str) -> Any:
    """Return a value of a type that CSV wrote as text; nothing stands for None."""
    kinds = get_args(kind) or (kind,)
    if NoneType in kinds and not text:
        return None
    return next(k for k in kinds if k is not NoneType)(text)
