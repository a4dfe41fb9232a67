"""One pass over the records that finds everything wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb

from evosdc.errors import InputError
from evosdc.table.codes import merged_note
from evosdc.tabulation.source import (
    Columns,
    is_text,
    number_of,
    plain_text,
    quoted,
    text_of,
)

# Up to so many decimals, sums are kept in units of the last decimal, where they are
# whole numbers and exact in any order.
MOST_DECIMALS = 6
_EXACT = 2.0**53


@dataclass(frozen=True)
class Facts:
    """What the pass over the records found.

    Attributes
    ----------
    records
        How many there are.
    negative
        Whether any contribution to the response is negative.
    unit
        Sums of the response are whole multiples of ``1 / unit``, and small enough to be
        exact in floating point; None where they are not.
    notes
        Spellings that were taken for one code.
    """

    records: int
    negative: bool
    unit: float | None
    notes: tuple[str, ...] = ()


def check_records(connection: Any, columns: Columns, types: dict[str, str]) -> Facts:
    """Raise an `InputError` for anything that cannot be tabulated."""
    wanted = {"records": "count(*)"}
    for part, column in columns.codes.items():
        code = text_of(column, types[column])
        wanted[f"{part}_missing"] = f"count(*) FILTER ({code} IS NULL OR {code} = '')"
        if is_text(types[column]):
            written = plain_text(column, types[column])
            wanted[f"{part}_untidy"] = f"count(*) FILTER ({code} <> {written})"
    for part, column in columns.numeric.items():
        number = number_of(column)
        empty = f"{quoted(column)} IS NULL"
        if is_text(types[column]):
            wanted |= _marks(part, quoted(column))
        wanted |= {
            f"{part}_missing": f"count(*) FILTER ({empty})",
            f"{part}_text": f"count(*) FILTER ({number} IS NULL AND NOT {empty})",
            f"{part}_odd": f"count(*) FILTER (NOT isfinite({number}))",
            f"{part}_negative": f"count(*) FILTER ({number} < 0)",
        }
    product = f"({number_of(columns.value)} * {number_of(columns.weight)})"
    wanted["size"] = f"sum(abs({product}))"
    for k in range(MOST_DECIMALS + 1):
        scaled = f"{product} * 1e{k}"
        wanted[f"decimals_{k}"] = (
            f"bool_and(abs({scaled} - round({scaled})) <= 1e-15 * abs({scaled}))"
        )
    selected = ", ".join(f"{formula} AS {name}" for name, formula in wanted.items())
    try:
        rows = connection.sql(f"SELECT {selected} FROM raw").to_arrow_table()
    except duckdb.Error as error:
        raise InputError(
            f"the records cannot be read: {str(error).splitlines()[0]}",
            expected="records that all have the same columns",
            hint="check the file",
        ) from error
    found = rows.to_pylist()[0]
    _refuse(found, columns)
    return Facts(
        records=found["records"],
        negative=bool(found.get("x_negative")),
        unit=_unit(found),
        notes=_merged(connection, columns, types, found),
    )


def _marks(part: str, text: str) -> dict[str, str]:
    """Count numbers with a point, and those where it may part thousands."""
    return {
        f"{part}_points": f"count(*) FILTER (contains({text}, '.'))",
        f"{part}_thousands": f"count(*) FILTER (length({text}) BETWEEN 5 AND 8 "
        f"AND substr({text}, length({text}) - 3, 1) = '.' "
        f"AND NOT starts_with(ltrim({text}, ' +-'), '0'))",
        f"{part}_large": f"count(*) FILTER (abs(TRY_CAST({text} AS DOUBLE)) >= 1000)",
    }


def _merged(
    connection: Any, columns: Columns, types: dict[str, str], found: dict[str, Any]
) -> tuple[str, ...]:
    """Say which spellings became one code; only where some have blanks."""
    notes: list[str] = []
    for part, column in columns.codes.items():
        if not found.get(f"{part}_untidy"):
            continue
        kind = types[column]
        rows = connection.sql(
            f"SELECT DISTINCT {plain_text(column, kind)} AS a, "
            f"{text_of(column, kind)} AS b FROM raw ORDER BY b, a"
        ).fetchall()
        note = merged_note(column, [a for a, _ in rows], [b for _, b in rows])
        notes += [note] * bool(note)
    return tuple(notes)


def _unit(found: dict[str, Any]) -> float | None:
    for k in range(MOST_DECIMALS + 1):
        if found[f"decimals_{k}"]:
            unit = 10.0**k
            return unit if found["size"] * unit < _EXACT else None
    return None


def _refuse(found: dict[str, Any], columns: Columns) -> None:
    records = found["records"]
    if records == 0:
        raise InputError(
            "there are no records",
            expected="at least one record",
            hint="check that the file is not empty",
        )
    for part, column in columns.codes.items():
        count = found[f"{part}_missing"]
        if count:
            what = "holding" if part == "h" else "code"
            raise InputError(
                f"column {column!r} has no {what} in {count} of {records} records",
                expected=f"a {what} in every record",
                hint="give them a code of their own, or leave the records out",
            )
    for part, column in columns.numeric.items():
        for kind, words in (
            ("missing", "is missing"),
            ("text", "is not a number"),
            ("odd", "is not finite"),
        ):
            count = found[f"{part}_{kind}"]
            if count:
                raise InputError(
                    f"column {column!r} {words} in {count} of {records} records",
                    expected="a finite number, with a decimal point, in every record",
                    hint="correct the records or leave them out",
                )
        _refuse_thousands(found, part, column)
        count = found[f"{part}_negative"]
        if count and part in ("w", "c"):
            what = "sampling weight" if part == "w" else "cost"
            raise InputError(
                f"the {what} {column!r} is negative in {count} of {records} records",
                expected="numbers of 0 or more",
                hint="correct the records or leave the column out",
            )


def _refuse_thousands(found: dict[str, Any], part: str, column: str) -> None:
    """Refuse 1.234 beside 567: the point parts thousands there, it seems."""
    points = found.get(f"{part}_points")
    if (
        not points
        or points == found["records"]
        or points != found[f"{part}_thousands"]
        or found[f"{part}_large"]
    ):
        return
    raise InputError(
        f"column {column!r} has a point before the last three digits in {points} of "
        f"{found['records']} records and none in the others: it seems to part "
        "thousands",
        expected="numbers without thousands separators",
        hint="remove the separators; if these are decimals, write them in every record "
        "(12.000)",
    )
