"""Records of any kind as one DuckDB view with the columns that tabulation wants."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa

from evosdc.errors import InputError
from evosdc.frames import KINDS, is_frame, is_stream, to_arrow
from evosdc.io.paths import is_pattern
from evosdc.io.suffixes import CSV, PARQUET, format_of_pattern, format_to_read
from evosdc.table.codes import BLANKS, NO_WIDTH, ODD_BLANKS

_NUMERIC = ("INT", "FLOAT", "DOUBLE", "DECIMAL", "REAL", "BOOL", "VARCHAR", "NULL")
_MOST_DIGITS = 100
_FRACTION = ("FLOAT", "DOUBLE", "DECIMAL", "REAL")


@dataclass(frozen=True)
class Columns:
    """Which column of the records plays which part.

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

    def all(self) -> list[str]:
        """Every column needed, once."""
        named = [*self.codes.values(), *self.numeric.values()]
        if self.request is not None:
            named.append(self.request)
        return list(dict.fromkeys(named))


def connect(memory_limit: str, threads: int | None) -> Any:
    """Open a DuckDB in memory, which spills to disk beyond `memory_limit`."""
    config: dict[str, Any] = {"memory_limit": memory_limit}
    if threads is not None:
        config["threads"] = threads
    try:
        connection = duckdb.connect(config=config)
    except duckdb.Error as error:
        raise InputError(
            f"DuckDB refuses memory limit {memory_limit!r} or {threads} threads",
            expected="a limit such as 3GB and a whole number of threads",
            hint="change them",
        ) from error
    # Groups are sorted afterwards; keeping the order of records would cost memory.
    connection.execute("SET preserve_insertion_order = false")
    return connection


def open_records(connection: Any, source: Any, columns: Columns) -> dict[str, str]:
    """Make the view ``raw`` of the records; return the type of each column."""
    relation = _relation(connection, source)
    types = {
        name: str(kind)
        for name, kind in zip(relation.columns, relation.types, strict=True)
    }
    missing = [column for column in columns.all() if column not in types]
    if missing:
        raise InputError(
            f"no column {', '.join(map(repr, missing))} in the records",
            expected=f"columns among {', '.join(map(str, types))}",
            hint="check the names; capitals count",
        )
    for column in columns.numeric.values():
        if not types[column].upper().startswith(_numeric_types()):
            raise InputError(
                f"column {column!r} has type {types[column]}",
                expected="numbers",
                hint="name another column or convert it",
            )
    relation.create_view("raw")
    return types


def define_records(connection: Any, columns: Columns, types: dict[str, str]) -> None:
    """Make the view ``records``: d0, d1, ... text; x, s, w, c numbers; h, r text; who.

    Records of sampling weight 0 stand for nobody and are left out.
    """
    parts = [
        f"{text_of(column, types[column], columns.digits.get(column))} AS {part}"
        for part, column in columns.codes.items()
    ]
    parts.append(f"{number_of(columns.value)} AS x")
    parts.append(f"{number_of(columns.shadow or columns.value)} AS s")
    parts.append(f"{number_of(columns.weight)} AS w")
    if columns.cost is not None:
        parts.append(f"{number_of(columns.cost)} AS c")
    if columns.request is not None:
        parts.append(f"{text_of(columns.request, types[columns.request])} AS r")
    # Who a record is, whatever else is asked of it: two records that agree in all
    # columns stand in the same cells, so that neither is ever alone.
    parts.append("hash(raw) AS who")
    where = "" if columns.weight is None else f" WHERE {number_of(columns.weight)} > 0"
    connection.execute(
        f"CREATE VIEW records AS SELECT {', '.join(parts)} FROM raw{where}"
    )


def quoted(name: str) -> str:
    """Return a column name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def text_of(column: str, kind: str, digits: int | None = None) -> str:
    """Write a code as text: whole numbers without a fraction, text without blanks.

    Text is tidied as `evosdc.table.codes.tidy_code` does it.
    With `digits`, codes of fewer digits get zeros in front; other codes are left alone.
    """
    text = plain_text(column, kind)
    if is_text(kind):
        text = _tidy(text)
    if digits is None:
        return text
    return (
        f"CASE WHEN regexp_full_match({text}, '[0-9]{{1,{digits}}}') "
        f"THEN lpad({text}, {digits}, '0') ELSE {text} END"
    )


def _tidy(text: str) -> str:
    odd, plain = literal(ODD_BLANKS + NO_WIDTH), literal(" " * len(ODD_BLANKS))
    tidied = (
        f"trim(nfc_normalize(translate({text}, {odd}, {plain})), {literal(BLANKS)})"
    )
    # Plain codes are seen to be tidy at a twentieth of the cost.
    return (
        f"CASE WHEN strlen({text}) = length({text}) AND {text} >= '!' "
        f"AND ascii(right({text}, 1)) > 32 THEN {text} ELSE {tidied} END"
    )


def is_text(kind: str) -> bool:
    """Whether a type of column is text, in which blanks may stand."""
    return kind.upper().startswith(("VARCHAR", "ENUM"))


def plain_text(column: str, kind: str) -> str:
    """Write a code as the records have it."""
    name = quoted(column)
    if kind.upper().startswith(_FRACTION):
        return (
            f"CASE WHEN {name} = trunc({name}) AND abs({name}) < 1e18 "
            f"THEN CAST(CAST({name} AS BIGINT) AS VARCHAR) "
            f"ELSE CAST({name} AS VARCHAR) END"
        )
    return f"CAST({name} AS VARCHAR)"


def number_of(column: str | None) -> str:
    """Write a number; no column means that each record counts 1."""
    return "1.0::DOUBLE" if column is None else f"TRY_CAST({quoted(column)} AS DOUBLE)"


def _numeric_types() -> tuple[str, ...]:
    signs = ("TINY", "SMALL", "BIG", "HUGE", "U", '"NULL"')
    return _NUMERIC + signs


def _relation(connection: Any, source: Any) -> Any:
    if isinstance(source, str | os.PathLike):
        return _file(connection, os.fspath(source))
    if is_stream(source):
        # A stream can be read once only, and the records are read several times; a
        # relation lives in its own connection, so that its rows come over as one.
        stream = pa.RecordBatchReader.from_stream(source)
        connection.register("stream", stream)
        connection.execute("CREATE TEMP TABLE kept AS SELECT * FROM stream")
        connection.unregister("stream")
        return connection.table("kept")
    if is_frame(source):
        return connection.from_arrow(to_arrow(source))
    raise InputError(
        f"records of type {type(source).__name__}",
        expected=f"a path, or {KINDS}",
        hint="convert the records to one of them",
    )


def _file(connection: Any, path: str) -> Any:
    several = is_pattern(path)
    form = (format_of_pattern if several else format_to_read)(path, "records")
    try:
        if form is PARQUET:
            return connection.read_parquet(path)
        if form is CSV:
            # Codes such as 01 must stay text, so nothing is guessed.
            return connection.read_csv(path, header=True, all_varchar=True)
    except duckdb.Error as error:
        raise InputError(
            f"{path} cannot be read: {_first_line(error)}",
            expected="a CSV file with a header line, or a Parquet file",
            hint="check the file",
        ) from error
    raise InputError(
        f"{path} is a file of tau-Argus, whose description belongs to it",
        expected="its records",
        hint="open it first: evosdc.io.open_microdata(path).source",
    )


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


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
    for name, width in (digits or {}).items():
        if name not in columns:
            raise InputError(
                f"digits for {name!r}, which the table is not made by",
                expected=f"some of {', '.join(columns)}",
                hint="check the name; capitals count",
            )
        if not 1 <= width <= _MOST_DIGITS:
            raise InputError(
                f"codes of {name!r} with {width} digits",
                expected=f"1 to {_MOST_DIGITS} digits",
            )
