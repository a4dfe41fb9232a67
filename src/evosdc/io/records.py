"""Microdata: opened where they are, or read with the way their file writes numbers.

Numbers are read as numbers only if writing them back gives the same text (or if there
are too many different ones to be categories); codes such as 01 stay text. Days such as
2021-07-31 are dates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike as _PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evosdc.databases import as_database, is_address
from evosdc.formats import ASC, CSV, PARQUET
from evosdc.frames import is_stream, to_arrow
from evosdc.io.argus.asc import read_asc
from evosdc.io.argus.rda import Description, description_of, read_rda
from evosdc.io.delimited import format_numbers, read_csv_text, write_csv
from evosdc.io.numbers import has_marks, may_be_numbers, plain_numbers, shapes_of
from evosdc.io.paths import PathLike, is_pattern
from evosdc.io.suffixes import format_to_read, format_to_write, load
from evosdc.table import TOTAL, Hierarchy

# DuckDB reads them from the file: they need not fit in memory.
_STREAMED = (CSV, PARQUET)
# What stands for a missing value in columns of numbers.
_MISSING = ("NA", "NaN", "nan", ".")
# Decimals with at most so many different values are categories, and stay text.
_MOST_CATEGORIES = 30
_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


@dataclass(frozen=True, eq=False)
class RecordFile:
    """Records as an Arrow table, and how their file writes numbers.

    Attributes
    ----------
    missing
        The text of a missing number, if there is one.
    decimals
        The fewest digits after the point, if every number has some: 26.0 is not
        written 26, nor 12.50 as 12.5.
    """

    frame: Any
    missing: Mapping[str, str] = field(default_factory=dict)
    decimals: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records with their description.

    Attributes
    ----------
    source
        A path to be streamed (CSV, Parquet), the records as an Arrow table, or the
        database that holds them.
    hierarchies
        Trees of the variables that have one.
    description
        The ``.rda`` of tau-Argus files.
    missing
        Codes in the records that mean "unknown", by variable.
    """

    source: Any
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    description: Description | None = None
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)


def open_microdata(
    path: PathLike, *, rda: PathLike | None = None, total: str = TOTAL
) -> Microdata:
    """Open microdata of any format, several files by a pattern, or a database.

    The ``.rda`` of tau-Argus files is looked for in their folder, whatever the case of
    its name, unless it is given.
    """
    if is_address(path):
        return Microdata(as_database(path))
    p = Path(path)
    if is_pattern(path):
        return Microdata(p)
    form = format_to_read(p, "records") if rda is None else ASC
    if form in _STREAMED:
        return Microdata(p)
    if form is not ASC:
        return Microdata(load(form.read["records"])(p))
    description = read_rda(description_of(p, "records") if rda is None else rda)
    frame = read_asc(p, description)
    trees: dict[str, Hierarchy] = {}
    unknown: dict[str, list[str]] = {}
    for variable in description.with_role("code"):
        codes = set(frame[variable.name].unique().drop_null().to_pylist())
        missing = unknown[variable.name] = sorted(codes & set(variable.missing))
        codes -= set(missing)
        tree = description.hierarchy(variable.name, sorted(codes), total=total)
        if tree is not None:
            trees[variable.name] = _with_leaves(tree, missing)
    return Microdata(frame, trees, description, unknown)


def _with_leaves(tree: Hierarchy, codes: Sequence[str]) -> Hierarchy:
    """Add codes that a hierarchy lacks directly below its total."""
    new = tuple(code for code in codes if code not in tree.node_of)
    return Hierarchy(tree.codes + new, tree.parents + (0,) * len(new))


def read_records(path: PathLike, like: Any = None) -> RecordFile:
    """Read microdata of any format, or of a database, as an Arrow table.

    Parameters
    ----------
    like
        A frame of the same variables, whose types are taken, so that two files of the
        same survey have the same types.
    """
    database = as_database(path) if is_address(path) else None
    if database is not None:
        return RecordFile(_as_in(database.frame(), like))
    form = format_to_read(path, "records")
    if form is ASC:
        return RecordFile(_as_in(open_microdata(path).source, like))
    if form is not CSV:
        return RecordFile(_as_in(load(form.read["records"])(path), like))
    text = _with_points(path, like)
    columns: dict[str, Any] = {}
    missing: dict[str, str] = {}
    decimals: dict[str, int] = {}
    for column in text.column_names:
        texts = text[column].combine_chunks()
        if _is_text(like, column):
            columns[column] = texts
            continue
        columns[column], mark = _numbers(texts, always=like is not None)
        if mark:
            missing[column] = mark
        digits = _least_digits(columns[column], texts)
        if digits:
            decimals[column] = digits

    return RecordFile(_as_in(pa.table(columns), like), missing, decimals)


def as_records(source: Any, like: Any = None) -> Any:
    """Return a frame as it is, and a file or a stream as an Arrow table.

    A stream can be read once, and records are looked at several times.

    Parameters
    ----------
    source
        pandas, polars (lazy too), Arrow, a dict of columns, a path, the address of a
        PostgreSQL table, a Spark DataFrame or an Ibis table.
    like
        A frame of the same variables: a file is read with its types.
    """
    if isinstance(source, (str, _PathLike)):
        return read_records(source, None if like is None else to_arrow(like)).frame
    database = as_database(source)
    if database is not None:
        return database.frame()
    return to_arrow(source) if is_stream(source) else source


def _with_points(path: PathLike, like: Any) -> Any:
    """Read the text of a CSV file, with decimal points in what may be numbers.

    Columns of few distinct texts are categories. Texts of one shape that have a point
    are read and written alike whatever it means; with other marks, such as blanks after
    every third digit, they are more likely identifiers.
    """
    text, separator, where = read_csv_text(path)
    numbers: dict[str, Any] = {}
    for name in text.column_names:
        texts = text[name].combine_chunks()
        texts = pc.if_else(pc.is_in(texts, value_set=pa.array(_MISSING)), None, texts)
        shapes = shapes_of(texts).unique().drop_null().to_pylist()
        few = like is None and pc.count_distinct(texts).as_py() <= _MOST_CATEGORIES
        alike = len(shapes) == 1 and "," not in shapes[0]
        if few or alike or _is_text(like, name) or not has_marks(shapes):
            continue
        if may_be_numbers(shapes):
            numbers[name] = texts
    for name, plain in plain_numbers(numbers, separator, where).items():
        at = text.column_names.index(name)
        texts = pc.coalesce(plain, text[name].combine_chunks())
        text = text.set_column(at, name, texts)
    return text


def write_records(
    path: PathLike,
    frame: Any,
    *,
    like: RecordFile | None = None,
    force: bool = False,
    public: bool = False,
) -> None:
    """Write microdata in the format of the suffix; a CSV writes numbers as `like` does.

    `public` as in `evosdc.io.paths.open_output`.
    """
    form = format_to_write(path, "records")
    if form is not CSV:
        write = load(form.written["records"])
        write(path, frame, force=force, public=public)
        return
    like = like or RecordFile(frame)
    for column in sorted({*like.missing, *like.decimals} & {*frame.column_names}):
        at = frame.column_names.index(column)
        texts = _as_written(
            frame[column].combine_chunks(),
            like.missing.get(column, ""),
            like.decimals.get(column, 0),
        )
        frame = frame.set_column(at, column, texts)
    write_csv(path, frame, force=force, public=public)


def _least_digits(numbers: Any, texts: Any) -> int:
    """Return the fewest digits that a number has after its point."""
    if not pa.types.is_floating(numbers.type):
        return 0
    written = texts.filter(numbers.is_valid())
    if pc.any(pc.match_substring_regex(written, "[eE]")).as_py():
        return 0
    return int(pc.min(_digits(written)).as_py() or 0)


def _digits(texts: Any) -> Any:

    after = pc.subtract(pc.utf8_length(texts), pc.find_substring(texts, "."))
    return pc.if_else(pc.match_substring(texts, "."), pc.subtract(after, 1), 0)


def _as_written(numbers: Any, missing: str, digits: int) -> Any:
    """Return numbers as text with at least so many digits after the point."""
    if pa.types.is_floating(numbers.type):
        texts = format_numbers(numbers.fill_null(0.0).to_numpy(zero_copy_only=False))
        scientific = pc.match_substring_regex(texts, "[eE]")
        short = pc.max_element_wise(pc.subtract(digits, _digits(texts)), 0)
        short = pc.if_else(scientific, 0, short)
        whole = pc.and_(pc.greater(short, 0), pc.equal(_digits(texts), 0))
        point = pc.if_else(whole, ".", "")
        zeros = pc.binary_repeat(pa.scalar("0"), short)
        texts = pc.binary_join_element_wise(texts, point, zeros, "")
        texts = pc.if_else(numbers.is_valid(), texts, None)
    else:
        texts = numbers.cast(pa.string())
    return pc.fill_null(texts, missing) if missing else texts


def _is_text(like: Any, column: str) -> bool:

    if like is None or column not in like.column_names:
        return False
    kind = like.schema.field(column).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _as_in(frame: Any, like: Any) -> Any:
    """Cast columns to their type in another frame, if that loses nothing."""
    if like is None:
        return frame
    for at, column in enumerate(frame.column_names):
        if column in like.column_names:
            wanted = like.schema.field(column)
            try:
                frame = frame.set_column(at, wanted, frame[column].cast(wanted.type))
            except pa.ArrowException:
                # A code that the first file does not have: the column keeps its type,
                # and its values are further levels.
                continue
    return frame


def _days(texts: Any) -> Any:
    """Return a column of dates such as 2021-07-31; None for any other column."""
    if not pc.all(pc.match_substring_regex(texts, _DAY)).as_py():
        return None
    try:
        return texts.cast(pa.date32())
    except pa.ArrowInvalid:
        # Such as the 31st of February: a code, not a date.
        return None


def _numbers(texts: Any, *, always: bool = False) -> tuple[Any, str]:
    """Return a column as numbers if that loses nothing, and its text for missing ones.

    Decimals of few distinct values are categories and stay text, unless `always`.
    """
    known = pc.is_in(texts, value_set=pa.array(_MISSING))
    marks = texts.filter(known)
    plain = pc.if_else(known, None, texts)
    if plain.null_count == len(plain):
        return texts, ""
    mark = marks[0].as_py() if len(marks) else ""
    days = _days(plain)
    if days is not None:
        return days, mark
    try:
        whole = plain.cast(pa.int64())
        if pc.all(pc.equal(whole.cast(pa.string()), plain)).as_py():
            return whole, mark
    except pa.ArrowInvalid:
        pass
    # 01 is a code; 0.1 and -0.5 are numbers. Digits beyond double precision are lost.
    if pc.any(pc.match_substring_regex(plain, "^[+-]?(0[0-9]|[0-9]{17})")).as_py():
        return texts, ""
    try:
        real = plain.cast(pa.float64())
    except pa.ArrowInvalid:
        return texts, ""
    if not pc.all(pc.is_finite(real)).as_py():
        return texts, ""
    if not always and pc.count_distinct(real).as_py() <= _MOST_CATEGORIES:
        return texts, ""
    return real, mark
