"""What DuckDB, PostgreSQL and Spark write differently.

Tabulation writes one SQL. It keeps to functions whose results are fixed to the last bit
by IEEE 754 or by whole numbers (``floor``, ``abs``, ``*``, ``md5``), and never to those
that engines define in their own way (``round``, sums of fractions, text of fractions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Kinds of columns, whatever an engine calls its types.
TEXT, WHOLE, FRACTION, TRUTH, OTHER = "text", "whole", "fraction", "truth", "other"
NUMBERS = (WHOLE, FRACTION, TRUTH)
# The largest finite number: what is not below it is infinite or not a number.
_LARGEST = 1.7976931348623157e308


@dataclass(frozen=True)
class Column:
    """A column: its kind, one of those above, and the engine's type."""

    kind: str
    type: str


@dataclass(frozen=True)
class Dialect:
    """How one engine writes SQL.

    Attributes
    ----------
    quote
        The mark around names.
    double, text
        Names of types.
    number
        How a column is read as a number; ``{}`` is the column.
    number_of_md5
        How 28 bits of the MD5 sum of a text become a whole number.
    fence
        Keeps an engine from evaluating the columns of a subquery at each of their uses.
    largest
        Whether ``max(x, n)`` gives the n largest; others number the rows of each group.
    reads_text
        Whether text is read as numbers where it can be; others want numbers.
    """

    name: str
    quote: str
    double: str
    text: str
    number: str
    number_of_md5: str
    fence: str = ""
    largest: bool = False
    reads_text: bool = False

    def name_of(self, column: str) -> str:
        """Return the name of a column as the engine writes it."""
        mark = self.quote
        return mark + column.replace(mark, mark + mark) + mark

    def literal(self, text: str) -> str:
        """Return a text as the engine writes it."""
        if self.name == SPARK.name:
            text = text.replace("\\", "\\\\")
            return "'" + text.replace("'", "\\'") + "'"
        return "'" + text.replace("'", "''") + "'"

    def constant(self, number: float) -> str:
        """Return a number in double precision, every bit of it."""
        return f"CAST('{number!r}' AS {self.double})"

    def number_of(self, column: str | None) -> str:
        """Return a column as a number; no column means that each record counts 1."""
        if column is None:
            return self.constant(1.0)
        return self.number.format(self.name_of(column))

    def floor(self, expression: str) -> str:
        """Return the whole number below, in double precision."""
        return f"CAST(floor({expression}) AS {self.double})"

    def is_finite(self, expression: str) -> str:
        """Return the condition that a number is neither infinite nor no number."""
        return f"abs({expression}) <= {self.constant(_LARGEST)}"

    def code_of(self, column: str, columns: Mapping[str, Column]) -> str:
        """Return a column of codes as text."""
        return self.as_text(self.name_of(column), columns[column].kind)

    def as_text(self, expression: str, kind: str) -> str:
        """Return an expression of a kind as text; whole numbers have no fraction."""
        text = f"CAST({expression} AS {self.text})"
        if kind != FRACTION:
            return text
        return (
            f"CASE WHEN {expression} = floor({expression}) AND abs({expression}) < "
            f"{self.constant(1e18)} "
            f"THEN CAST(CAST({expression} AS BIGINT) AS {self.text}) ELSE {text} END"
        )


DUCKDB = Dialect(
    name="DuckDB",
    quote='"',
    double="DOUBLE",
    text="VARCHAR",
    number="TRY_CAST({} AS DOUBLE)",
    number_of_md5="CAST('0x' || substr(md5({}), 1, 7) AS BIGINT)",
    largest=True,
    reads_text=True,
)
POSTGRESQL = Dialect(
    name="PostgreSQL",
    quote='"',
    double="DOUBLE PRECISION",
    text="TEXT",
    number="CAST({} AS DOUBLE PRECISION)",
    number_of_md5="CAST(CAST('x0' || substr(md5({}), 1, 7) AS BIT(32)) AS BIGINT)",
    fence=" OFFSET 0",
)
SPARK = Dialect(
    name="Spark",
    quote="`",
    double="DOUBLE",
    text="STRING",
    number="CAST({} AS DOUBLE)",
    number_of_md5="CAST(conv(substr(md5({}), 1, 7), 16, 10) AS BIGINT)",
)
