"""Microdata: opened where they are, or as a frame with a file's own way of writing.

Numbers are read as numbers only where writing them back gives the same text (or where
there are too many different ones to be categories); codes such as 01 stay text. Days
such as 2021-07-31 are dates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike as _PathLike
from pathlib import Path
from typing import Any

from evosdc.databases import as_database, is_address
from evosdc.frames import is_stream, to_arrow
from evosdc.io.argus.asc import read_asc
from evosdc.io.argus.rda import Description, rda_beside, read_rda
from evosdc.io.columns import read_parquet, write_parquet
from evosdc.io.delimited import read_words, write_csv
from evosdc.io.numbers import has_marks, may_be_numbers, plain_words, shapes_of
from evosdc.io.paths import PathLike, is_pattern
from evosdc.io.suffixes import CSV, PARQUET, format_to_read, format_to_write
from evosdc.io.text import number_words
from evosdc.table import TOTAL, Hierarchy

# Words that stand for "missing" in columns of numbers.
_MISSING = ("NA", "NaN", "nan", ".")
# Decimals with at most so many different values are categories, and stay text.
_FEW = 30
_DAY = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


@dataclass(frozen=True, eq=False)
class RecordFile:
    """A frame and, for columns of numbers, how its file writes them.

    Attributes
    ----------
    missing
        The word for a missing number, where there is one.
    decimals
        The least digits after the point, where every number has some: 26.0 is not
        written 26, nor 12.50 as 12.5.
    """

    frame: Any
    missing: Mapping[str, str] = field(default_factory=dict)
    decimals: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records and what their description says of them.

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

    The ``.rda`` of tau-Argus files is looked for beside them, whatever the case of its
    name, unless it is given.
    """
    if is_address(path):
        return Microdata(as_database(path))
    p = Path(path)
    if is_pattern(path) or (
        rda is None and format_to_read(p, "records") in (CSV, PARQUET)
    ):
        return Microdata(p)
    description = read_rda(rda_beside(p, "records") if rda is None else rda)
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
    """Hang codes that a tree does not have right under its total."""
    new = tuple(code for code in codes if code not in tree.node_of)
    return Hierarchy(tree.codes + new, tree.parents + (0,) * len(new))


def read_records(path: PathLike, like: Any = None) -> RecordFile:
    """Read microdata of any format, or of a database, as an Arrow table.

    Parameters
    ----------
    like
        A frame of the same variables: what is text or numbers there is read as such,
        so that two files of the same survey agree even where one of them alone would
        look different.
    """
    database = as_database(path) if is_address(path) else None
    if database is not None:
        return RecordFile(_as_in(database.frame(), like))
    form = format_to_read(path, "records")
    if form is PARQUET:
        return RecordFile(_as_in(read_parquet(path), like))
    if form is not CSV:
        return RecordFile(_as_in(open_microdata(path).source, like))
    text = _with_points(path, like)
    columns: dict[str, Any] = {}
    missing: dict[str, str] = {}
    decimals: dict[str, int] = {}
    for column in text.column_names:
        words = text[column].combine_chunks()
        if _is_text(like, column):
            columns[column] = words
            continue
        columns[column], word = _numbers(words, always=like is not None)
        if word:
            missing[column] = word
        digits = _least_digits(columns[column], words)
        if digits:
            decimals[column] = digits
    import pyarrow as pa

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

    Few different words are categories. Words of one shape that have a point are read
    and written alike whatever it means; with other marks, such as blanks after every
    third digit, they are rather identifiers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    text, separator, where = read_words(path)
    numbers: dict[str, Any] = {}
    for name in text.column_names:
        words = text[name].combine_chunks()
        words = pc.if_else(pc.is_in(words, value_set=pa.array(_MISSING)), None, words)
        shapes = shapes_of(words).unique().drop_null().to_pylist()
        few = like is None and pc.count_distinct(words).as_py() <= _FEW
        alike = len(shapes) == 1 and "," not in shapes[0]
        if few or alike or _is_text(like, name) or not has_marks(shapes):
            continue
        if may_be_numbers(shapes):
            numbers[name] = words
    for name, plain in plain_words(numbers, separator, where).items():
        at = text.column_names.index(name)
        words = pc.coalesce(plain, text[name].combine_chunks())
        text = text.set_column(at, name, words)
    return text


def write_records(
    path: PathLike,
    frame: Any,
    *,
    like: RecordFile | None = None,
    force: bool = False,
    public: bool = False,
) -> None:
    """Write microdata; the suffix says how, and in a CSV `like` how numbers look.

    `public` as in `evosdc.io.paths.open_output`.
    """
    if format_to_write(path, "records") is PARQUET:
        write_parquet(path, frame, force=force, public=public)
        return
    like = like or RecordFile(frame)
    for column in sorted({*like.missing, *like.decimals} & {*frame.column_names}):
        at = frame.column_names.index(column)
        words = _as_written(
            frame[column].combine_chunks(),
            like.missing.get(column, ""),
            like.decimals.get(column, 0),
        )
        frame = frame.set_column(at, column, words)
    write_csv(path, frame, force=force, public=public)


def _least_digits(numbers: Any, words: Any) -> int:
    """Return how many digits every number has after its point, at least."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(numbers.type):
        return 0
    written = words.filter(numbers.is_valid())
    if pc.any(pc.match_substring_regex(written, "[eE]")).as_py():
        return 0
    return int(pc.min(_digits(written)).as_py() or 0)


def _digits(words: Any) -> Any:
    import pyarrow.compute as pc

    after = pc.subtract(pc.utf8_length(words), pc.find_substring(words, "."))
    return pc.if_else(pc.match_substring(words, "."), pc.subtract(after, 1), 0)


def _as_written(numbers: Any, missing: str, digits: int) -> Any:
    """Return the words of numbers with so many digits after the point, or more."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(numbers.type):
        words = number_words(numbers.fill_null(0.0).to_numpy(zero_copy_only=False))
        scientific = pc.match_substring_regex(words, "[eE]")
        short = pc.max_element_wise(pc.subtract(digits, _digits(words)), 0)
        short = pc.if_else(scientific, 0, short)
        whole = pc.and_(pc.greater(short, 0), pc.equal(_digits(words), 0))
        point = pc.if_else(whole, ".", "")
        zeros = pc.binary_repeat(pa.scalar("0"), short)
        words = pc.binary_join_element_wise(words, point, zeros, "")
        words = pc.if_else(numbers.is_valid(), words, None)
    else:
        words = numbers.cast(pa.string())
    return pc.fill_null(words, missing) if missing else words


def _is_text(like: Any, column: str) -> bool:
    import pyarrow as pa

    if like is None or column not in like.column_names:
        return False
    kind = like.schema.field(column).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _as_in(frame: Any, like: Any) -> Any:
    """Give columns the type they have in another frame where that loses nothing."""
    import pyarrow as pa

    if like is None:
        return frame
    for at, column in enumerate(frame.column_names):
        if column in like.column_names:
            wanted = like.schema.field(column)
            try:
                frame = frame.set_column(at, wanted, frame[column].cast(wanted.type))
            except pa.ArrowException:
                # A code that the first file does not have: the column stays as it was
                # read, and its values count as levels of their own.
                continue
    return frame


def _days(words: Any) -> Any:
    """Return a column of dates such as 2021-07-31; None for any other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(words, _DAY)).as_py():
        return None
    try:
        return words.cast(pa.date32())
    except pa.ArrowInvalid:
        # Such as the 31st of February: a code, whatever it looks like.
        return None


def _numbers(words: Any, *, always: bool = False) -> tuple[Any, str]:
    """Turn a column of text into numbers where that loses nothing.

    Few different decimals are categories and stay text, unless `always`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pc.is_in(words, value_set=pa.array(_MISSING))
    marks = words.filter(known)
    plain = pc.if_else(known, None, words)
    if plain.null_count == len(plain):
        return words, ""
    word = marks[0].as_py() if len(marks) else ""
    days = _days(plain)
    if days is not None:
        return days, word
    try:
        whole = plain.cast(pa.int64())
        if pc.all(pc.equal(whole.cast(pa.string()), plain)).as_py():
            return whole, word
    except pa.ArrowInvalid:
        pass
    # 01 is a code; 0.1 and -0.5 are numbers. More digits than a double has are lost.
    if pc.any(pc.match_substring_regex(plain, "^[+-]?(0[0-9]|[0-9]{17})")).as_py():
        return words, ""
    try:
        real = plain.cast(pa.float64())
    except pa.ArrowInvalid:
        return words, ""
    if not pc.all(pc.is_finite(real)).as_py():
        return words, ""
    if not always and pc.count_distinct(real).as_py() <= _FEW:
        return words, ""
    return real, word
