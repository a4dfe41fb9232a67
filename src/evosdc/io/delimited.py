"""CSV files of any separator, decimal mark and encoding, and columns as text.

They are read as frames of text, or converted so that DuckDB can read them. They are
written with the shortest numbers, and with quotes where needed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from evosdc.errors import InputError
from evosdc.io.encoding import kind_of, line_error, read_text, text_blocks
from evosdc.io.numbers import read_numbers, shapes_of
from evosdc.io.paths import PathLike, is_pattern, open_output
from evosdc.io.suffixes import SEPARATORS, unpacked_name
from evosdc.table.hierarchy import tidy_code

# A spreadsheet evaluates text that begins so, except a number (-5, +49, -1.5e3) and a
# single sign, such as the "-" of an empty cell.
_FORMULA = re.compile(r"[=+\-@\t\r](?=.*[^=+\-@\s])", re.DOTALL)
_SIGNED = re.compile(r"[+-]\s?\d+([.,]\d+)*([eE][+-]?\d+)?\s?%?")
_MOST_NAMED = 5
_CHUNK = 100_000
_ROWS = 10_000


def formula_notes(columns: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Name the codes, and names of columns, that a spreadsheet takes for formulas."""
    found = [
        f"{name}={code!r}"
        for name, codes in columns.items()
        for code in codes
        if _is_formula(code)
    ]
    found = [f"column {name!r}" for name in columns if _is_formula(name)] + found
    if not found:
        return ()
    more = len(found) - _MOST_NAMED
    named = ", ".join(found[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    kind = "formulas" if len(found) > 1 else "a formula"
    return (
        f"a spreadsheet that opens the published files takes {named} for {kind}: "
        "import such columns as text, or rename the codes before you publish",
    )


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _SIGNED.fullmatch(text)


def text_columns(frames: Iterable[Any]) -> dict[str, dict[str, None]]:
    """Return the distinct texts of each column of Arrow tables; none of numbers."""
    found: dict[str, dict[str, None]] = {}
    for frame in frames:
        for name in frame.column_names:
            texts = pc.unique(frame[name])
            if pa.types.is_dictionary(texts.type):
                texts = texts.dictionary_decode()
            kind = texts.type
            text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
            seen = texts.drop_null().to_pylist() if text else ()
            found.setdefault(name, {}).update(dict.fromkeys(seen))
    return found


def format_numbers(values: NDArray[np.float64]) -> Any:
    """Return numbers as text: whole ones without a point, the others shortest."""
    numbers = np.asarray(values, dtype=np.float64) + 0.0  # no minus zero in a file
    # Below 2**53 a whole double is an exact integer and is written as one.
    whole = (numbers == np.rint(numbers)) & (np.abs(numbers) < 2.0**53)
    integers = pc.cast(pa.array(np.where(whole, numbers, 0).astype(np.int64)), "string")
    return pc.if_else(pa.array(whole), integers, pc.cast(pa.array(numbers), "string"))


def format_number(value: float) -> str:
    """Return one number as `format_numbers` writes it."""
    return str(format_numbers(np.array([value]))[0].as_py())


def quoted(texts: Any, separator: str) -> Any:
    """Quote the entries that a CSV reader would otherwise misread."""
    if pa.types.is_null(texts.type):
        # A column of nulls has a type without text functions.
        return pc.cast(texts, "string")
    odd = pc.match_substring_regex(texts, f'["\\r\\n{separator}]|^\\s|\\s$')
    mark = pa.scalar('"')
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(odd, pc.binary_join_element_wise(mark, doubled, mark, ""), texts)


def line_bytes(columns: Sequence[Any], separator: str) -> bytes:
    """Return the lines made of columns of text as bytes; null is blank."""
    joined = pc.binary_join_element_wise(
        *columns, separator, null_handling="replace", null_replacement=""
    )
    ended = pc.binary_join_element_wise(joined, pa.scalar("\n"), "")
    if isinstance(ended, pa.ChunkedArray):
        ended = pa.concat_arrays(ended.chunks)
    if not len(ended):
        return b""
    offsets = np.frombuffer(ended.buffers()[1], dtype=np.int32)
    first, last = offsets[ended.offset], offsets[ended.offset + len(ended)]
    return bytes(ended.buffers()[2][first:last])


def read_csv(
    path: PathLike, *, numbers: Collection[str] = (), from_evosdc: bool = False
) -> Any:
    """Read a CSV file with a header as an Arrow table of text.

    The separator is a tab, a semicolon, a comma or a bar, the first that is in the
    header. Blank fields become null. Codes such as 01 stay as they are.

    Parameters
    ----------
    numbers
        Columns of numbers, which are read as such: see `evosdc.io.numbers`.
    from_evosdc
        As in `evosdc.io.numbers.read_numbers`.
    """
    frame, separator, where = read_csv_text(path)
    return with_numbers(frame, numbers, separator, where, from_evosdc=from_evosdc)


def read_csv_text(path: PathLike) -> tuple[Any, str, Callable[[int], str]]:
    """Return all columns as text, their separator, and what names the line of a row."""
    text = read_text(path)
    names, separator = read_header(path, text)
    frame = parse_rows(text, names, separator, str(path), header=True)
    if frame.num_rows == 0:
        raise InputError(
            f"{path} has a header and no rows",
            expected="at least one row below it",
            hint="check that the program that wrote it ended well",
        )
    return frame, separator, line_finder(path, text, separator)


def read_header(path: PathLike, text: str) -> tuple[list[str], str]:
    """Return the names in the first line of a text, and their separator."""
    header = text.lstrip("\n").partition("\n")[0]
    bare = re.sub('"[^"]*"', "", header)
    separator = next((s for s in SEPARATORS if s in bare), ",")
    names = [tidy_code(name) for name in split_line(header, separator)]
    if not any(names) or '"' in bare:
        raise InputError(
            f"{path} has no header",
            expected="names of columns in the first line",
            hint="add a line such as region,industry,value",
        )
    for name in names:
        if not name or names.count(name) > 1:
            raise InputError(
                f"{path}: the header has {'a blank name' if not name else repr(name)}"
                f"{' twice' if name else ''}",
                expected="each column with a name of its own",
                hint="correct the first line",
            )
    return names, separator


def write_csv(
    path: PathLike,
    frame: Any,
    *,
    separator: str | None = None,
    header: bool = True,
    force: bool = False,
    public: bool = False,
) -> None:
    """Write an Arrow table; numbers shortest, blanks for null, quotes where needed.

    The separator is a comma, and a tab in a ``.tsv``, unless it is given. Only the
    owner can read the file, unless it is `public`.
    """
    if separator is None:
        separator = "\t" if unpacked_name(path).endswith(".tsv") else ","

    names = quoted(pa.array(frame.column_names), separator).to_pylist()
    with open_output(path, force, public=public) as stream:
        if header:
            stream.write((separator.join(names) + "\n").encode())
        for start in range(0, frame.num_rows, _CHUNK):
            part = frame.slice(start, _CHUNK)
            columns = [_as_text(part[name], separator) for name in frame.column_names]
            stream.write(line_bytes(columns, separator))


def _as_text(column: Any, separator: str) -> Any:
    """Return a column as text, quoted where needed."""
    array = pa.concat_arrays(column.chunks)
    if pa.types.is_floating(array.type):
        texts = format_numbers(array.fill_null(0.0).to_numpy())
        return pc.if_else(array.is_valid(), texts, None)
    if pa.types.is_integer(array.type):
        return array.cast(pa.string())
    return quoted(array.cast(pa.string()), separator)


def parse_rows(
    text: str, names: Sequence[str], separator: str, source: str, *, header: bool
) -> Any:
    """Split text into columns of text; blank fields become null."""
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(text.lstrip("\n").encode("utf-8")),
            read_options=arrow_csv.ReadOptions(
                column_names=list(names), skip_rows=int(header)
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator, newlines_in_values='"' in text
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:
        pass
    # Arrow's message shows the row, which is confidential: name the line instead.
    for number, row in row_lines(lines_of(text), separator):
        if len(row) != len(names):
            raise line_error(
                source,
                number,
                f"{len(row)} fields",
                expected=f"{len(names)} fields separated by {separator!r}: "
                f"{', '.join(names)}",
                hint="quote fields that contain the separator",
            )
    raise InputError(
        f"{source} is not a CSV file that can be read",
        expected=f"fields separated by {separator!r}",
        hint="check quotes and line ends",
    )


def split_line(line: str, separator: str) -> list[str]:
    """Return the fields of a line without quotes; one field if it has no CSV form."""
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return [line]


def with_numbers(
    frame: Any,
    numbers: Collection[str],
    separator: str | None,
    where: Callable[[int], str],
    *,
    decimals: Collection[str] = (),
    from_evosdc: bool = False,
) -> Any:
    """Read columns of a frame of text as numbers: see `evosdc.io.numbers`."""
    found = read_numbers(
        {
            name: frame[name].combine_chunks()
            for name in frame.column_names
            if name in numbers
        },
        separator,
        where,
        decimals=decimals,
        from_evosdc=from_evosdc,
    )
    for name, column in found.items():
        frame = frame.set_column(frame.column_names.index(name), name, column)
    return frame


def row_lines(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line in which each row begins, and its fields."""
    reader = csv.reader(lines, delimiter=separator)
    begin = 1
    with suppress(csv.Error):  # a quote that is not closed
        for fields in reader:
            if fields:
                yield begin, fields
            begin = reader.line_num + 1


def lines_of(text: str) -> Iterable[str]:
    """Return the lines of a text with Unix line ends; other breaks end no line."""
    return io.StringIO(text, newline="\n")


def line_finder(
    path: PathLike, text: str, separator: str, *, header: bool = True
) -> Callable[[int], str]:
    """Return a function that names the line of a row, numbered from 0."""

    def where(row: int) -> str:
        lines = (line for line, _ in row_lines(lines_of(text), separator))
        return f"{path}, line {next(islice(lines, row + header, None), '?')}"

    return where


@dataclass(frozen=True)
class CsvFiles:
    """Files with the same columns, as they were given and as DuckDB can read them.

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
        """Name the file and line of the first number of some shapes."""
        wanted = pa.array(sorted(shapes), pa.string())
        at = self.names.index(column)
        for path in self.given:
            rows = islice(row_lines(_file_lines(path), self.separator), 1, None)
            while some := list(islice(rows, _ROWS)):
                texts = [row[at] if at < len(row) else None for _, row in some]
                found = pc.is_in(shapes_of(pa.array(texts, pa.string())), wanted)
                row = pc.index(found, pa.scalar(True)).as_py()
                if row >= 0:
                    return f"{path}, line {some[row][0]}"
        return self.given[0]


def open_csv_files(path: str, folder: Path) -> CsvFiles:
    """Inspect a CSV file, or those of a pattern, for DuckDB to read.

    Files in other encodings, with several kinds of line ends or with blank lines before
    the header are copied to `folder` in UTF-8. They hold records: only the owner may be
    able to read that folder.
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
                expected="the same names in the same order, with the same separator",
                hint="read the files one by one, or make their headers the same",
            )
        names, separator = header
        # DuckDB reads some characters in a name as a pattern.
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


def _file_lines(path: str) -> Iterator[str]:
    for block in text_blocks(path):
        yield from lines_of(block)
