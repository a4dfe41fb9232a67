"""CSV files as frames of text, whatever their separator, decimal mark and encoding."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from typing import Any

from evosdc.errors import InputError
from evosdc.io.paths import PathLike, open_output, read_text
from evosdc.io.suffixes import SEPARATORS, unpacked_name
from evosdc.io.words import line_bytes, number_words, quoted

_CHUNK = 100_000


def read_csv(path: PathLike, *, numbers: Collection[str] = ()) -> Any:
    """Read a CSV file with a header as an Arrow table of text.

    The separator is a tab, a semicolon, a comma or a bar, the first that is in the
    header. Blank
    fields become null. Codes such as 01 stay as they are.

    Parameters
    ----------
    numbers
        Columns of numbers: decimal commas there become points where the separator is
        not a comma.
    """
    text = read_text(path).lstrip("\n")
    header = text.partition("\n")[0]
    separator = next((s for s in SEPARATORS if s in header), ",")
    names = [name.strip() for name in split_line(header, separator)]
    if not any(names):
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
    frame = parse_rows(text, names, separator, str(path), header=True)
    if frame.num_rows == 0:
        raise InputError(
            f"{path} has a header and no rows",
            expected="at least one row below it",
            hint="check that the program that wrote it ended well",
        )
    return decimal_points(frame, numbers, separator, str(path))


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
    import pyarrow as pa

    if separator is None:
        separator = "\t" if unpacked_name(path).endswith(".tsv") else ","

    names = quoted(pa.array(frame.column_names), separator).to_pylist()
    with open_output(path, force, public=public) as stream:
        if header:
            stream.write((separator.join(names) + "\n").encode())
        for start in range(0, frame.num_rows, _CHUNK):
            part = frame.slice(start, _CHUNK)
            columns = [_words(part[name], separator) for name in frame.column_names]
            stream.write(line_bytes(columns, separator))


def _words(column: Any, separator: str) -> Any:
    """A column as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pa.concat_arrays(column.chunks)
    if pa.types.is_floating(array.type):
        words = number_words(array.fill_null(0.0).to_numpy())
        return pc.if_else(array.is_valid(), words, None)
    if pa.types.is_integer(array.type):
        return array.cast(pa.string())
    return quoted(array.cast(pa.string()), separator)


def parse_rows(
    text: str, names: Sequence[str], separator: str, source: str, *, header: bool
) -> Any:
    """Cut text into columns of words; blank fields become null."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    try:
        return arrow_csv.read_csv(
            pa.BufferReader(text.encode("utf-8")),
            read_options=arrow_csv.ReadOptions(
                column_names=list(names), skip_rows=int(header)
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=separator),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:
        pass
    # Arrow's message shows the row, which is confidential: say the line instead.
    for number, line in enumerate(text.split("\n"), 1):
        row = split_line(line, separator)
        if row and len(row) != len(names):
            raise InputError(
                f"{source}, line {number}: {len(row)} fields",
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
    """Fields of one line, quotes removed; a line that is beyond that is one field."""
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return [line]


def decimal_points(
    frame: Any, numbers: Collection[str], separator: str, source: str
) -> Any:
    """Turn decimal commas into points in columns of numbers.

    With a comma as separator a comma inside a number can only part thousands: it is
    left alone, and the number is refused later.
    """
    import pyarrow.compute as pc

    for k, name in enumerate(frame.column_names):
        words = frame[name]
        if separator == "," or name not in numbers:
            continue
        if not pc.any(pc.match_substring(words, ",")).as_py():
            continue
        if pc.any(pc.match_substring(words, ".")).as_py():
            raise InputError(
                f"{source}: column {name!r} has both points and commas in its numbers",
                expected="a decimal comma or a decimal point",
                hint="remove the thousands separators",
            )
        frame = frame.set_column(k, name, pc.replace_substring(words, ",", "."))
    return frame
