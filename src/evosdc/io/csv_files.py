"""CSV files for another program to read: UTF-8, and how their columns are parted."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from glob import glob
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from evosdc.errors import InputError
from evosdc.io.delimited import lines_of, read_header, row_lines
from evosdc.io.encoding import kind_of, text_blocks
from evosdc.io.numbers import shapes_of
from evosdc.io.paths import is_pattern, open_output

_ROWS = 10_000


@dataclass(frozen=True)
class CsvFiles:
    """Files of the same columns, as they were given and as they can be read.

    Attributes
    ----------
    readable
        The files, or copies of them in UTF-8 with one kind of line end; the first line
        of each is the header.
    """

    given: tuple[str, ...]
    readable: tuple[str, ...]
    names: tuple[str, ...]
    separator: str

    def line_of(self, column: str, shapes: Collection[str]) -> str:
        """Say the file and line of the first number of some shapes."""
        wanted = pa.array(sorted(shapes), pa.string())
        at = self.names.index(column)
        for path in self.given:
            rows = islice(row_lines(_lines(path), self.separator), 1, None)
            while some := list(islice(rows, _ROWS)):
                words = [row[at] if at < len(row) else None for _, row in some]
                found = pc.is_in(shapes_of(pa.array(words, pa.string())), wanted)
                row = pc.index(found, pa.scalar(True)).as_py()
                if row >= 0:
                    return f"{path}, line {some[row][0]}"
        return self.given[0]


def open_csv_files(path: str, folder: Path) -> CsvFiles:
    """Look at a CSV file, or at those of a pattern.

    Files in other encodings, with several kinds of line ends or with blank lines before
    the header are written to `folder` in UTF-8. They hold records: nobody else may read
    that folder.
    """
    given = sorted(glob(path, recursive=True)) if is_pattern(path) else [path]
    if not given:
        raise InputError(
            f"no file is called {path}",
            expected="a pattern that some files match, such as firms-*.csv",
            hint="check the spelling and the folder",
        )
    readable: list[str] = []
    names: list[str] = []
    separator = ""
    for number, one in enumerate(given):
        kind = kind_of(one)
        text = next(text_blocks(one, kind), "")
        header = read_header(one, text)
        if separator and header != (names, separator):
            raise InputError(
                f"{one} has other columns than {given[0]}",
                expected="the same names in the same order, parted alike",
                hint="read the files one by one, or make their headers the same",
            )
        names, separator = header
        # DuckDB takes some signs in a name for a pattern.
        if kind.is_plain and not text.startswith("\n") and not set(one) & set("*?["):
            readable.append(one)
            continue
        copy = folder / f"{number}.csv"
        with open_output(copy) as stream:
            for position, block in enumerate(text_blocks(one, kind)):
                plain = block if position else block.lstrip("\n")
                stream.write(plain.encode("utf-8"))
        readable.append(str(copy))
    return CsvFiles(tuple(given), tuple(readable), tuple(names), separator)


def _lines(path: str) -> Iterator[str]:
    for block in text_blocks(path):
        yield from lines_of(block)
