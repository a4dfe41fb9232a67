"""One pass over the records that finds what cannot be tabulated, and exact sums.

The sums depend neither on the order of adding nor on the engine that adds. A number is
cut into whole numbers that are small enough for all partial sums to be exact in double
precision. Each part is added up separately, in any order, on any number of machines,
and the sums are combined at the end. Only products with powers of two (or of ten, where
the numbers have few decimals), ``floor`` and differences are used, which IEEE 754 fixes
to the last bit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import frexp
from typing import Any

from evosdc.databases import Dialect
from evosdc.databases.dialect import TEXT, WHOLE
from evosdc.errors import InputError
from evosdc.io.numbers import inexact
from evosdc.table.hierarchy import merged_note
from evosdc.table.table import refuse_too_large
from evosdc.tabulation.source import Columns, OpenRecords, tidied

# Partial sums stay below it, so that adding a half to one is exact too.
EXACT = 2.0**52
_BITS = 52
_MAX_SHIFT = 37  # three parts fit one number of 128 bits
_MAX_POWER = 1000
# Numbers of at most so many decimals are summed in units of the last decimal: as whole
# numbers, which are exact in any order.
_MAX_DECIMALS = 6


@dataclass(frozen=True)
class Fixed:
    """How numbers of a column are cut into whole numbers.

    Attributes
    ----------
    factor
        What a number is multiplied with first.
    shift
        Bits of each further part; 0 where one part has everything.
    """

    factor: float
    shift: int = 0

    @classmethod
    def decimal(cls, unit: float) -> Fixed:
        """Numbers that are whole multiples of ``1 / unit``."""
        return cls(unit)

    @classmethod
    def binary(cls, records: int, peak: float) -> Fixed:
        """Any numbers, so many of them, none larger than `peak`.

        Less than ``4 * records * peak / 2**(52 + 2 * shift)`` is cut off each: up to
        2**30 records less than 2**-61 of the peak.
        """
        many = max(records, 1).bit_length()
        large = frexp(peak)[1] if peak > 0.0 else 0
        power = max(-_MAX_POWER, min(_MAX_POWER, _BITS - many - large))
        return cls(2.0**power, min(_MAX_SHIFT, _BITS - many))

    @property
    def parts(self) -> int:
        """How many sums there are."""
        return 1 if self.shift == 0 else 3

    def sums(self, dialect: Dialect, expression: str, name: str) -> list[str]:
        """Return the sums of the parts of an expression, named name0, name1, ..."""
        scaled = f"(({expression}) * {dialect.constant(self.factor)})"
        half = dialect.constant(0.5)
        if self.parts == 1:
            return [f"sum({dialect.floor(f'{scaled} + {half}')}) AS {name}0"]
        step = dialect.constant(2.0**self.shift)
        first = dialect.floor(scaled)
        rest = f"(({scaled} - {first}) * {step})"
        second = dialect.floor(rest)
        third = dialect.floor(f"({rest} - {second}) * {step}")
        return [
            f"sum({part}) AS {name}{i}" for i, part in enumerate((first, second, third))
        ]

    def as_double(self, name: str) -> str:
        """Return the sum in double precision; a decimal one in units of the factor."""
        if self.parts == 1:
            return f"{name}0"
        step = f"CAST('{2.0**-self.shift!r}' AS DOUBLE)"
        whole = f"(({name}2 * {step} + {name}1) * {step} + {name}0)"
        return f"{whole} / CAST('{self.factor!r}' AS DOUBLE)"

    def as_whole(self, name: str) -> str:
        """Return the sum as one whole number of 128 bits, in units of `unit`."""
        if self.parts == 1:
            return f"CAST({name}0 AS HUGEINT)"
        step = f"CAST({2**self.shift} AS HUGEINT)"
        parts = [f"CAST({name}{i} AS HUGEINT)" for i in range(3)]
        return f"(({parts[0]} * {step} + {parts[1]}) * {step} + {parts[2]})"

    @property
    def unit(self) -> float:
        """The value of one unit of `as_whole`."""
        return 2.0 ** (-2 * self.shift) / self.factor


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
    peaks
        The largest size of a response, a weight and so on, weighted.
    """

    records: int
    negative: bool
    unit: float | None
    peaks: Mapping[str, float] = field(default_factory=dict)

    def fixed(self, measure: str) -> Fixed:
        """Return how a measure is added up."""
        if measure == "value" and self.unit is not None:
            return Fixed.decimal(self.unit)
        return Fixed.binary(self.records, self.peaks[measure])


@dataclass(frozen=True, eq=False)
class CheckedRecords:
    """Records that were checked, and what is to be found out about them.

    Attributes
    ----------
    n_top
        How many of the largest contributors of a cell rules look at.
    asked
        Codes by which somebody asks for protection; None where no rule looks at them.
    waived
        Holdings that consented to be recognised, which rules ignore.
    largest
        Whether the table keeps the two that contribute most to each cell.
    """

    records: OpenRecords
    columns: Columns
    facts: Facts
    n_top: int = 0
    asked: Sequence[str] | None = None
    waived: Sequence[str] = ()
    largest: bool = False

    @property
    def flags(self) -> list[str]:
        """Whether a record asks for protection: a column per code."""
        name = self.columns.request
        if self.asked is None or name is None:
            return []
        dialect = self.records.dialect
        text = f"trim({dialect.code_of(name, self.records.columns)})"
        return [
            f"coalesce({text} = {dialect.literal(code)}, false) AS a{i}"
            for i, code in enumerate(self.asked)
        ]

    def selected(self, parts: Mapping[str, str]) -> list[str]:
        """Return the codes of a record, its numbers and what it asks for."""
        dialect = self.records.dialect
        codes = [f"{dialect.name_of(name)} AS {part}" for part, name in parts.items()]
        return [*codes, *numbers_of(dialect, self.columns), *self.flags]

    def as_text(self, parts: Mapping[str, str]) -> list[str]:
        """Return the codes of a group as tables are built from them."""
        dialect, columns = self.records.dialect, self.records.columns
        return [
            f"{dialect.as_text(part, columns[name].kind)} AS {part}"
            for part, name in parts.items()
        ]


def measures_of(columns: Columns) -> dict[str, str]:
    """What is added up, in terms of the numbers x, s, w and c of a record."""
    found = {"value": "x * w"}
    if columns.weight is not None:
        found["units"] = "w"
    if columns.shadow is not None or columns.holding is not None:
        found["total"] = "s * w"
    if columns.cost is not None:
        found["cost"] = "c * w"
    return found


def _named(measure: str, columns: Columns) -> str:
    """Name the column of a measure for messages."""
    column = {
        "value": columns.value or columns.weight,
        "units": columns.weight,
        "total": columns.shadow or columns.value,
        "cost": columns.cost,
    }[measure]
    return f"column {column!r}" if column else "the records"


def numbers_of(dialect: Dialect, columns: Columns) -> list[str]:
    """Return the numbers x, s, w and c of a record."""
    named = {
        "x": columns.value,
        "s": columns.shadow or columns.value,
        "w": columns.weight,
    }
    if columns.cost is not None:
        named["c"] = columns.cost
    return [f"{dialect.number_of(column)} AS {part}" for part, column in named.items()]


def check_records(records: OpenRecords, columns: Columns) -> Facts:
    """Raise an `InputError` for anything that cannot be tabulated."""
    dialect = records.dialect
    # Names that no column of the records can have.
    own = {name: f"q{i}" for i, name in enumerate(columns.all())}
    wanted = {"records": "count(*)"}
    for part, column in columns.codes.items():
        name = own[column]
        blank = f"{name} IS NULL"
        if records.columns[column].kind == TEXT:
            blank += f" OR trim({dialect.as_text(name, TEXT)}) = ''"
        wanted[f"{part}_missing"] = _count(blank)
    for part, column in columns.numeric.items():
        name = own[column]
        number = dialect.number.format(name)
        kind = records.columns[column].kind
        wanted[f"{part}_long"] = _count(_beyond_exact(dialect, name, number, kind))
        finite = dialect.is_finite(number)
        wanted |= {
            f"{part}_missing": _count(f"{name} IS NULL"),
            f"{part}_text": _count(f"{number} IS NULL AND {name} IS NOT NULL"),
            f"{part}_odd": _count(f"NOT ({finite})"),
            f"{part}_negative": _count(f"{number} < {dialect.constant(0.0)}"),
        }
    wanted["size"] = "sum(abs(x * w))"
    for k in range(_MAX_DECIMALS + 1):
        scaled = f"(x * w * {dialect.constant(10.0**k)})"
        whole = dialect.floor(f"{scaled} + {dialect.constant(0.5)}")
        near = f"{dialect.constant(1e-15)} * abs({scaled})"
        wanted[f"decimals_{k}"] = (
            f"min(CASE WHEN abs({scaled} - {whole}) <= {near} THEN 1 ELSE 0 END)"
        )
    for measure, expression in measures_of(columns).items():
        wanted[f"peak_{measure}"] = f"max(abs({expression}))"
    selected = ", ".join(f"{formula} AS {name}" for name, formula in wanted.items())
    used = [f"{dialect.name_of(name)} AS {alias}" for name, alias in own.items()]
    used += numbers_of(dialect, columns)
    found = records.fetch_row(
        f"SELECT {selected} FROM "
        f"(SELECT {', '.join(used)} FROM {records.relation} AS t) AS u"
    )
    _refuse(found, columns)
    for measure in measures_of(columns):
        peak = float(found[f"peak_{measure}"])
        size = found["size"] if measure == "value" else peak * found["records"]
        refuse_too_large(float(size), f"the numbers of {_named(measure, columns)}")
    return Facts(
        records=found["records"],
        negative=bool(found.get("x_negative")),
        unit=_unit(found),
        peaks={m: float(found[f"peak_{m}"]) for m in measures_of(columns)},
    )


def _count(condition: str) -> str:
    return f"count(CASE WHEN {condition} THEN 1 END)"


def _beyond_exact(dialect: Dialect, name: str, number: str, kind: str) -> str:
    """Return the condition that a whole number has more digits than a double."""
    if kind not in (WHOLE, TEXT):
        return "FALSE"
    large = f"abs({number}) >= {dialect.constant(2.0**53)}"
    if kind == WHOLE:
        return large
    # Only DuckDB reads numbers from text.
    return f"{large} AND regexp_full_match({name}, '[-+]?[0-9]+')"


def spellings(
    task: CheckedRecords, stored: str, parts: Collection[str] | None = None
) -> tuple[str, ...]:
    """Say which spellings became one code; refuse codes of odd blanks only.

    `stored` is the local table with the codes as the records have them, `parts` are the
    columns to look at, by default those of the table to make.
    """
    records, columns, facts = task.records, task.columns, task.facts
    notes: list[str] = []
    looked = [f"d{k}" for k in range(len(columns.by))] if parts is None else parts
    for part, column in columns.codes.items():
        if part not in looked or records.columns[column].kind != TEXT:
            continue
        tidy = tidied(part)
        rows = records.local.sql(
            f"SELECT {part} AS a, {tidy} AS b, sum(n) FROM {stored} "
            f"WHERE {part} <> {tidy} GROUP BY ALL ORDER BY b, a"
        ).fetchall()
        blank = sum(int(n) for _, b, n in rows if not b)
        if blank:
            _refuse_missing(part, column, blank, facts.records)
        if rows:
            both = records.local.sql(
                f"SELECT DISTINCT {part} AS a, {tidy} AS b FROM {stored} ORDER BY b, a"
            ).fetchall()
            note = merged_note(column, [a for a, _ in both], [b for _, b in both])
            notes += [note] * bool(note)
    return tuple(notes)


def _unit(found: dict[str, Any]) -> float | None:
    for k in range(_MAX_DECIMALS + 1):
        if found[f"decimals_{k}"]:
            unit = 10.0**k
            return unit if found["size"] * unit < EXACT else None
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
        _refuse_missing(part, column, found[f"{part}_missing"], records)
    for part, column in columns.numeric.items():
        for kind, problem in (
            ("missing", "is missing"),
            ("text", "is not a number"),
            ("odd", "is not finite"),
        ):
            count = found[f"{part}_{kind}"]
            if count:
                raise InputError(
                    f"column {column!r} {problem} in {count} of {records} records",
                    expected="a finite number, with a decimal point, in every record",
                    hint="correct the records or leave them out",
                )
        if found[f"{part}_long"]:
            raise inexact(column).error(f"{found[f'{part}_long']} records")
        count = found[f"{part}_negative"]
        if count and part in ("w", "c"):
            what = "sampling weight" if part == "w" else "cost"
            raise InputError(
                f"the {what} {column!r} is negative in {count} of {records} records",
                expected="numbers of 0 or more",
                hint="correct the records or leave the column out",
            )


def _refuse_missing(part: str, column: str, count: int, records: int) -> None:
    if count:
        what = "holding" if part == "h" else "code"
        raise InputError(
            f"column {column!r} has no {what} in {count} of {records} records",
            expected=f"a {what} in every record",
            hint="give them a code of their own, or leave the records out",
        )
