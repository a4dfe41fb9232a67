"""Records of any kind, in a local DuckDB or in a database."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa

from evosdc.databases import DUCKDB, Column, Database, Dialect, as_database
from evosdc.databases.dialect import FRACTION, NUMBERS, OTHER, TEXT, TRUTH, WHOLE
from evosdc.errors import InputError, refuse_unknown
from evosdc.formats import CSV, PARQUET
from evosdc.frames import KINDS, is_frame, is_stream, to_arrow
from evosdc.io.delimited import CsvFiles, open_csv_files
from evosdc.io.numbers import AROUND, MINUS, PLAIN, Unreadable, choose_styles
from evosdc.io.paths import is_pattern
from evosdc.io.suffixes import format_of_pattern, format_to_read
from evosdc.table.hierarchy import BLANKS, NO_WIDTH, ODD_BLANKS
from evosdc.tabulation.identity import column_numbers, record_numbers

_MAX_DIGITS = 100
_NULL = '"NULL"'
_DIGITS = "0123456789"


@dataclass(frozen=True)
class Columns:
    """The columns of the records, by the role of each.

    `digits` is the width of columns whose codes have lost their leading zeros.
    """

    by: tuple[str, ...]
    value: str | None
    shadow: str | None = None
    weight: str | None = None
    holding: str | None = None
    request: str | None = None
    cost: str | None = None
    digits: Mapping[str, int] = field(default_factory=dict)

    @property
    def numeric(self) -> dict[str, str]:
        """Parts that are numbers, with the column of each."""
        parts = {
            "x": self.value,
            "s": self.shadow,
            "w": self.weight,
            "c": self.cost,
        }
        return {part: column for part, column in parts.items() if column is not None}

    @property
    def codes(self) -> dict[str, str]:
        """Parts that are codes, with the column of each; a request may be missing."""
        parts = {f"d{k}": column for k, column in enumerate(self.by)}
        if self.holding is not None:
            parts["h"] = self.holding
        return parts

    def where(self, dialect: Dialect) -> str:
        """Return the condition that leaves out records of weight 0."""
        if self.weight is None:
            return ""
        return f" WHERE {dialect.number_of(self.weight)} > {dialect.constant(0.0)}"

    def all(self) -> list[str]:
        """Every column needed, once."""
        named = [*self.codes.values(), *self.numeric.values()]
        if self.request is not None:
            named.append(self.request)
        return list(dict.fromkeys(named))


@contextmanager
def connect(memory_limit: str, threads: int | None) -> Iterator[Any]:
    """Open a DuckDB in memory, which spills to disk beyond `memory_limit`.

    What it spills are records: they go to a folder that only its owner can read, where
    the system keeps temporary files (TMPDIR), and are removed whatever happens.
    """
    config: dict[str, Any] = {"memory_limit": memory_limit}
    if threads is not None:
        config["threads"] = threads
    with TemporaryDirectory(prefix="evosdc-", ignore_cleanup_errors=True) as spilled:
        try:
            connection = duckdb.connect(config={**config, "temp_directory": spilled})
        except duckdb.Error as error:
            raise InputError(
                f"DuckDB refuses memory limit {memory_limit!r} or {threads} threads",
                expected="a limit such as 3GB and a whole number of threads",
                hint="change them",
            ) from error
        with connection:
            # Groups are sorted afterwards; keeping the order of records would cost
            # memory.
            connection.execute("SET preserve_insertion_order = false")
            yield connection


@dataclass(frozen=True, eq=False)
class OpenRecords:
    """Records that can be asked in SQL, and the DuckDB of the local.

    `database` is None where the records are in the local DuckDB too, as view ``raw``.
    Of a CSV file that has only the columns asked for, and hashes of each whole record
    in the columns `hashed`.
    """

    local: Any
    columns: Mapping[str, Column]
    database: Database | None = None
    hashed: tuple[str, ...] = ()

    @property
    def dialect(self) -> Dialect:
        """How the engine that holds the records writes SQL."""
        return DUCKDB if self.database is None else self.database.dialect

    @property
    def relation(self) -> str:
        """What stands after FROM."""
        return "raw" if self.database is None else self.database.relation

    def store(self, name: str, query: str) -> None:
        """Ask the records, and keep the answer as a table of the local."""
        if self.database is None:
            self.local.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}")
            return
        with self._without_values():
            self.local.register("answer", self.database.fetch(query))
            self.local.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM answer")
            self.local.unregister("answer")

    def fetch_row(self, query: str) -> dict[str, Any]:
        """Query the records for one row."""
        if self.database is None:
            answer = self.local.sql(query).to_arrow_table()
        else:
            with self._without_values():
                answer = self.database.fetch(query)
                if isinstance(answer, pa.RecordBatchReader):
                    answer = answer.read_all()
        row: dict[str, Any] = answer.to_pylist()[0]
        return row

    @contextmanager
    def _without_values(self) -> Iterator[None]:
        """Raise errors of reading an answer without its values."""
        try:
            yield
        except (duckdb.Error, pa.ArrowException) as error:
            raise InputError(
                f"what comes from {self.database} cannot be read "
                f"({type(error).__name__})",
                expected="text, numbers and truth values",
                hint="cast columns of other types in a query",
            ) from None


@contextmanager
def open_records(
    source: Any, columns: Columns, memory_limit: str = "3GB", threads: int | None = None
) -> Iterator[OpenRecords]:
    """Open records where they are, and a local DuckDB for the answers to queries.

    Records that are open already, for several tables, are shared. A CSV file is parsed
    once, whatever is asked of it.

    Messages of DuckDB may quote records: none gets out, here or while they are queried.
    """
    if isinstance(source, OpenRecords):
        _refuse_columns(source, columns)
        yield source
        return
    with (
        connect(memory_limit, threads) as local,
        ExitStack() as opened,
        _without_values("the records"),
    ):
        database = as_database(source)
        if database is not None:
            opened.enter_context(database)
            records = OpenRecords(local, database.columns(), database)
            _refuse_columns(records, columns)
        else:
            relation, files = _relation(local, source, opened)
            described = zip(relation.columns, relation.types, strict=True)
            found = {name: _column(str(kind)) for name, kind in described}
            records = OpenRecords(local, found)
            _refuse_columns(records, columns)
            if files is not None:
                records = replace(records, hashed=_hash_names(found))
                relation = _parsed(records, relation, columns)
            numbers = dict.fromkeys(columns.numeric.values())
            relation = _plain_numbers(
                relation,
                [name for name in numbers if found[name].kind == TEXT],
                None if files is None else files.separator,
                None if files is None else files.line_of,
            )
            relation.create_view("raw")
        yield records


def _hash_names(columns: Mapping[str, Column]) -> tuple[str, ...]:
    """Return names for the hashes of a record that none of its columns has."""
    known, name = {column.casefold() for column in columns}, "record"
    while any(f"{name}{i}" in known for i in (0, 1)):
        name += "_"
    return f"{name}0", f"{name}1"


def _parsed(records: OpenRecords, relation: Any, columns: Columns) -> Any:
    """Parse a CSV file once, and keep the columns that are asked for."""
    relation.create_view("parsed")
    used = {name: f"q{i}" for i, name in enumerate(columns.all())}
    inner = [f"{DUCKDB.name_of(name)} AS {alias}" for name, alias in used.items()]
    inner += column_numbers(DUCKDB, records.columns)
    hashes = record_numbers(len(records.columns), records.hashed)
    records.local.execute(
        f"CREATE TEMP TABLE kept AS SELECT {', '.join([*used.values(), *hashes])} "
        f"FROM (SELECT {', '.join(inner)} FROM parsed)"
    )
    named = [f"{alias} AS {DUCKDB.name_of(name)}" for name, alias in used.items()]
    return records.local.table("kept").project(", ".join([*named, *records.hashed]))


def _refuse_columns(records: OpenRecords, columns: Columns) -> None:
    refuse_unknown(columns.all(), records.columns, "no column {} in the records")
    numbers = (*NUMBERS, TEXT) if records.dialect.reads_text else NUMBERS
    for name in columns.numeric.values():
        column = records.columns[name]
        if column.kind not in numbers and column.type != _NULL:
            raise InputError(
                f"column {name!r} has type {column.type}",
                expected="numbers",
                hint="name another column or convert it",
            )


def _column(kind: str) -> Column:
    """Return the column of a type of DuckDB."""
    name = kind.upper()
    # Text, in which blanks may stand.
    if name.startswith(("VARCHAR", "ENUM")):
        return Column(TEXT, kind)
    if name.startswith(("FLOAT", "DOUBLE", "DECIMAL", "REAL")):
        return Column(FRACTION, kind)
    if name.startswith("BOOL"):
        return Column(TRUTH, kind)
    return Column(WHOLE if name.endswith("INT") or name == "INTEGER" else OTHER, kind)


def tidied(text: str, digits: int | None = None) -> str:
    """Return SQL of the local DuckDB that does to a code what `tidy_code` does.

    With `digits`, codes of fewer digits get zeros in front; other codes are left alone.
    """
    tidy = _tidy(text)
    if digits is None:
        return tidy
    return (
        f"CASE WHEN regexp_full_match({tidy}, '[0-9]{{1,{digits}}}') "
        f"THEN lpad({tidy}, {digits}, '0') ELSE {tidy} END"
    )


def _tidy(text: str) -> str:
    odd, plain, around = map(
        DUCKDB.literal, (ODD_BLANKS + NO_WIDTH, " " * len(ODD_BLANKS), BLANKS)
    )
    tidied = f"trim(nfc_normalize(translate({text}, {odd}, {plain})), {around})"
    # That a plain code is tidy is found at a twentieth of the cost.
    return (
        f"CASE WHEN strlen({text}) = length({text}) AND {text} >= '!' "
        f"AND ascii(right({text}, 1)) > 32 THEN {text} ELSE {tidied} END"
    )


def _relation(
    local: Any, source: Any, opened: ExitStack
) -> tuple[Any, CsvFiles | None]:
    """Open records of any kind; with those of CSV files come the files."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        several = is_pattern(path)
        form = (format_of_pattern if several else format_to_read)(path, "records")
        if form is CSV:
            folder = opened.enter_context(TemporaryDirectory(prefix="evosdc-"))
            files = open_csv_files(path, Path(folder))
            return _read_csv(local, files), files
        if form is PARQUET:
            # DuckDB takes every name for a pattern: data[1].csv would be data1.csv.
            named = path if several else glob.escape(path)
            with _without_values(path, (duckdb.Error,)):
                return local.read_parquet(named), None
        raise InputError(
            f"{path} is of the format {form.name} ({form.what})",
            expected="CSV, Parquet, or the records of one such file",
            hint="open it first: evosdc.io.open_microdata(path).source",
        )
    if is_stream(source):
        # A stream can be read once only, and the records are queried several times; a
        # relation belongs to a connection of its own, so its rows are copied likewise.
        with _without_values("the stream of records", (Exception,)):
            stream = pa.RecordBatchReader.from_stream(source)
            local.register("stream", stream)
            local.execute("CREATE TEMP TABLE kept AS SELECT * FROM stream")
            local.unregister("stream")
            return local.table("kept"), None
    if is_frame(source):
        return local.from_arrow(to_arrow(source)), None
    raise InputError(
        f"records of type {type(source).__name__}",
        expected=f"a path, or {KINDS}",
        hint="convert the records to one of them",
    )


def _read_csv(connection: Any, files: CsvFiles) -> Any:
    """Open CSV files as the readers of tables do: all is text, nothing is guessed."""
    return connection.read_csv(
        list(files.readable),
        columns=dict.fromkeys(files.names, "VARCHAR"),
        delimiter=files.separator,
        quotechar='"',
        escapechar='"',
        header=False,
        skiprows=1,
        auto_detect=False,
        hive_partitioning=False,
    )


@contextmanager
def _without_values(
    what: str,
    kinds: tuple[type[Exception], ...] = (duckdb.Error, pa.ArrowException),
) -> Iterator[None]:
    """Raise errors of these `kinds` without what they quote."""
    try:
        yield
    except kinds as error:
        raise _unreadable(what, error) from None


def _unreadable(what: str, error: Exception) -> InputError:
    """Describe an error by its kind and line: DuckDB and Arrow quote records."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return InputError(
            f"there is not enough memory for {what}, or not enough space to spill them",
            expected="space for the groups of the table",
            hint="set TMPDIR to a folder on a larger disk, or give more memory "
            "(memory_limit)",
        )
    line = re.match(
        r"Invalid Input Error: CSV Error on Line: (\d+)$", str(error).partition("\n")[0]
    )
    where = f"CSV error on line {line[1]}" if line else type(error).__name__
    return InputError(
        f"{what} cannot be read ({where})",
        expected="a CSV file with a header line and as many fields in each line, or a "
        "Parquet file; all with the same columns",
        hint="check the file, at that line if one is named",
    )


def refuse_overlap(by: Sequence[str]) -> None:
    """Refuse a table without dimensions or with one twice."""
    if not by or len(set(by)) != len(by):
        raise InputError(
            "no dimension" if not by else f"a dimension twice among {', '.join(by)}",
            expected="one or more different columns to tabulate by",
            hint="name each column once",
        )


def refuse_digits(columns: Sequence[str], digits: Mapping[str, int] | None) -> None:
    """Refuse widths of codes that make no sense or are of other columns."""
    what = "digits for {}, which the table is not made by"
    refuse_unknown(digits or (), columns, what)
    for name, width in (digits or {}).items():
        if not 1 <= width <= _MAX_DIGITS:
            raise InputError(
                f"codes of {name!r} with {width} digits",
                expected=f"1 to {_MAX_DIGITS} digits",
            )


def _plain_numbers(
    relation: Any,
    columns: Sequence[str],
    separator: str | None,
    line_of: Callable[[str, Collection[str]], str] | None,
) -> Any:
    """Return the records with numbers that DuckDB reads in columns of text.

    Parameters
    ----------
    columns
        The columns of text that hold numbers.
    separator
        The separator of the columns of the file, None where there is none.
    line_of
        Says where the first number of some shapes is in the file.
    """
    if not columns:
        return relation
    wanted = []
    for k, column in enumerate(columns):
        shape, name = _shape(column), DUCKDB.name_of(column)
        wanted += [
            f"list(DISTINCT {shape}) FILTER (WHERE {shape} IS NOT NULL) AS shapes{k}",
            f"bool_or(strlen({name}) <> length({name})) AS odd{k}",
        ]
    found = relation.aggregate(", ".join(wanted)).to_arrow_table().to_pylist()[0]
    shapes = {column: found[f"shapes{k}"] or [] for k, column in enumerate(columns)}
    try:
        styles = choose_styles(shapes, separator)
    except Unreadable as error:
        where = line_of(error.column, error.shapes) if line_of else "the records"
        raise error.error(where) from None
    changes = []
    for k, column in enumerate(columns):
        if styles[column] == PLAIN and not found[f"odd{k}"]:
            continue
        name, (old, new) = DUCKDB.name_of(column), styles[column].replaced
        text = (
            f"translate({_trimmed(name)}, {DUCKDB.literal(old)}, {DUCKDB.literal(new)})"
        )
        changes.append(f"nullif({text}, '') AS {name}")
    if not changes:
        return relation
    return relation.project(f"* REPLACE ({', '.join(changes)})")


def _shape(column: str) -> str:
    """Return the shape of a number in SQL: see `evosdc.io.numbers.shapes_of`."""
    text = _trimmed(DUCKDB.name_of(column))
    zero = f"starts_with(ltrim({text}, {DUCKDB.literal('+-' + MINUS)}), '0')"
    body = f"lower(translate({text}, '{_DIGITS}', '{'0' * len(_DIGITS)}'))"
    first = f"CASE WHEN {zero} THEN '0' ELSE 'N' END"
    return f"CASE WHEN {text} <> '' THEN {first} || {body} END"


def _trimmed(name: str) -> str:
    return f"trim({name}, {DUCKDB.literal(AROUND)})"
