"""Rows of an experiment in a CSV file: written as they come, never run twice."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from evosdc.errors import InputError
from evosdc.io.encoding import read_text
from evosdc.io.paths import write_text

Row: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[Any, ...]

_WORDS = {"": None, "true": True, "false": False}


class Store:
    """A table of rows that grows on disk.

    Parameters
    ----------
    path
        The CSV file; rows in it are taken over, so that a run can be resumed.
    key
        Columns that name a row: no two rows have the same.
    columns
        All columns, in order.
    """

    def __init__(self, path: Path, key: Sequence[str], columns: Sequence[str]) -> None:
        self.path = path
        self._key = tuple(key)
        self._columns = tuple(columns)
        self._rows: dict[Key, Row] = {}
        if path.exists():
            for row in _read(path, self._columns):
                self._rows[self.key_of(row)] = row

    @property
    def rows(self) -> list[Row]:
        """All rows so far."""
        return list(self._rows.values())

    def key_of(self, row: Row) -> Key:
        """What names a row."""
        return tuple(row[name] for name in self._key)

    def get(self, key: Key) -> Row | None:
        """Return the row of this name, if there is one."""
        return self._rows.get(key)

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: Row) -> None:
        """Keep a row and write it at once: what is finished survives an interrupt."""
        known = {name: row.get(name) for name in self._columns}
        new = not self.path.exists()
        with self.path.open("a", encoding="utf-8", newline="") as stream:
            stream.write(_text([known], self._columns, header=new))
        self._rows[self.key_of(known)] = known

    def sort(self, order: Iterable[Key]) -> None:
        """Rewrite the file in this order; rows of other names come last."""
        place = {key: n for n, key in enumerate(order)}
        keys = sorted(self._rows, key=lambda key: place.get(key, len(place)))
        self._rows = {key: self._rows[key] for key in keys}
        if self._rows:
            text = _text(self.rows, self._columns, header=True)
            write_text(self.path, text, force=True)


def _text(rows: Iterable[Row], columns: Sequence[str], *, header: bool) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if header:
        writer.writerow(columns)
    for row in rows:
        writer.writerow([_word(row.get(name)) for name in columns])
    return out.getvalue()


def _word(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _read(path: Path, columns: tuple[str, ...]) -> list[Row]:
    if not path.stat().st_size:
        path.unlink()
        return []
    text = read_text(path)
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        # A machine that went down may leave half a row: that run is done again.
        write_text(path, whole, force=True)
        return _read(path, columns)
    lines = list(csv.reader(io.StringIO(whole)))
    if tuple(lines[0]) != columns or any(len(x) != len(columns) for x in lines[1:]):
        raise InputError(
            f"{path} does not hold rows of this experiment",
            expected=f"the columns {', '.join(columns)}",
            hint="name another folder, or give --force to begin anew",
        )
    return [
        {name: _value(word) for name, word in zip(columns, line, strict=True)}
        for line in lines[1:]
    ]


def _value(word: str) -> Any:
    if word in _WORDS:
        return _WORDS[word]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
