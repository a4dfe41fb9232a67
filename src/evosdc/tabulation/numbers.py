"""Numbers that are text in the records: read as every reader of files reads them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from evosdc.databases import DUCKDB
from evosdc.io.numbers import AROUND, MINUS, PLAIN, Unreadable, choose_styles

_DIGITS = "0123456789"


def plain_numbers(
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
        What parts the columns of the file, None where there is none.
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
        name, (old, new) = DUCKDB.name_of(column), styles[column].signs
        text = f"translate({_trimmed(name)}, {_literal(old)}, {_literal(new)})"
        changes.append(f"nullif({text}, '') AS {name}")
    if not changes:
        return relation
    return relation.project(f"* REPLACE ({', '.join(changes)})")


def _shape(column: str) -> str:
    """Return the shape of a number in SQL: see `evosdc.io.numbers.shapes_of`."""
    text = _trimmed(DUCKDB.name_of(column))
    zero = f"starts_with(ltrim({text}, {_literal('+-' + MINUS)}), '0')"
    body = f"lower(translate({text}, '{_DIGITS}', '{'0' * len(_DIGITS)}'))"
    first = f"CASE WHEN {zero} THEN '0' ELSE 'N' END"
    return f"CASE WHEN {text} <> '' THEN {first} || {body} END"


def _trimmed(name: str) -> str:
    return f"trim({name}, {_literal(AROUND)})"


def _literal(text: str) -> str:
    return DUCKDB.literal(text)
