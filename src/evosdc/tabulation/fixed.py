"""Sums that do not depend on the order of adding, nor on the engine that adds.

A number is cut into whole numbers that are small enough for all partial sums to be
exact in double precision. Each part is added up separately, in any order, on any number
of machines, and the sums are combined at the end. Only products with powers of two
(or of ten, where the numbers have few decimals), ``floor`` and differences are used,
which IEEE 754 fixes to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp

from evosdc.databases import Dialect

# Partial sums stay below it, so that adding a half to one is exact too.
EXACT = 2.0**52
_BITS = 52
_MAX_SHIFT = 37  # three parts fit one number of 128 bits
_MAX_POWER = 1000


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
