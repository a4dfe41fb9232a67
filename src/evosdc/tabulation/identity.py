"""Pseudonyms of lone respondents: hashes keyed by the records themselves.

The key is made of all records, so that nobody without them can test a name against a
hash, every table of the same records has the same hashes, and a run repeats exactly.

A record is hashed column by column in whole numbers below 2**62, so that each engine
gives the same: 5 is 5 in every type of number, and text is text.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evosdc.databases import Column, Dialect
from evosdc.databases.dialect import FRACTION, TRUTH, WHOLE
from evosdc.table import Contributions
from evosdc.table.rounding import significant

if TYPE_CHECKING:
    from evosdc.tabulation.source import OpenRecords

_DIGITS = 16
# Digits of a sum that do not depend on the order of adding.
DIGITS = 14
# Names of the two numbers of a record.
HASHES = ("h0", "h1")
# A prime, and two multipliers below it: products stay below 2**63.
PRIME = 2**31 - 1
_MULTIPLIERS = (1_403_630_843, 1_785_979_561)
_LARGE = 9.0e15  # beyond it a double has no fraction, and is hashed as one number
_MISSING = 1_234_567_891


def column_numbers(dialect: Dialect, columns: Mapping[str, Column]) -> list[str]:
    """Return each column of a record as a whole number, named v0, v1, ..."""
    return [
        f"{_number(dialect, name, column.kind)} AS v{k}"
        for k, (name, column) in enumerate(columns.items())
    ]


def record_numbers(columns: int, names: Sequence[str] = HASHES) -> list[str]:
    """Return the two numbers of a record, from those of its columns."""
    found: list[str] = []
    for name, multiplier in zip(names, _MULTIPLIERS, strict=True):
        number = f"CAST({columns} AS BIGINT)"
        for k in range(columns):
            number = f"(({number} * {multiplier} + v{k}) % {PRIME})"
        found.append(f"{number} AS {name}")
    return found


def hashing(records: OpenRecords) -> tuple[list[str], list[str]]:
    """Return what to select from records, and from that, for the hashes of each."""
    if records.hashed:
        both = list(zip(records.hashed, HASHES, strict=True))
        return [f"{a} AS v{b}" for a, b in both], [f"v{b} AS {b}" for _, b in both]
    columns = records.columns
    return column_numbers(records.dialect, columns), record_numbers(len(columns))


def _number(dialect: Dialect, name: str, kind: str) -> str:
    column = dialect.name_of(name)
    if kind == TRUTH:
        number = f"CASE WHEN {column} THEN 1 WHEN NOT {column} THEN 0 END"
    elif kind == WHOLE:
        number = _positive(f"CAST({column} % {PRIME} AS BIGINT)")
    elif kind == FRACTION:
        read = f"CAST({column} AS {dialect.double})"
        large = dialect.constant(_LARGE)
        read = f"CASE WHEN abs({read}) < {large} THEN {read} ELSE {large} END"
        below = dialect.floor(read)
        rest = f"(({read}) - {below}) * {dialect.constant(float(PRIME))}"
        whole = _positive(f"(CAST({below} AS BIGINT) % {PRIME})")
        number = f"(({whole} + CAST(floor({rest}) AS BIGINT) * 7919) % {PRIME})"
    else:
        text = f"CAST({column} AS {dialect.text})"
        number = dialect.number_of_md5.format(text)
    return f"coalesce({number}, {_MISSING})"


def _positive(number: str) -> str:
    return f"(({number} + {PRIME}) % {PRIME})"


@dataclass(frozen=True, eq=False)
class Respondents:
    """The respondents of each cell, as numbers of records or of holdings.

    Attributes
    ----------
    lone
        The only respondent of a cell, 0 where there are more; one that contributes
        nothing does not count where another contributes.
    active
        How many have a contribution that is not zero.
    largest, amount
        The two that contribute most to the response, and how much; None where the table
        does not keep them.
    names
        Names by number; None for records, which have no name.
    """

    lone: NDArray[np.int64]
    active: NDArray[np.int64]
    largest: NDArray[np.int64] | None
    amount: NDArray[np.float64] | None
    names: Mapping[int, str] | None = None


@dataclass(frozen=True)
class Identity:
    """The key of a set of records, and a fingerprint that does not give it away.

    `repeated` counts the records that agree with another one in every column.
    """

    key: bytes
    source: str
    repeated: int = 0

    @classmethod
    def of(cls, records: OpenRecords) -> Identity:
        """Compute the key in one pass over the records, in any order."""
        dialect = records.dialect
        numbers, hashes = (", ".join(parts) for parts in hashing(records))
        text = dialect.text
        found = records.fetch_row(
            f"SELECT CAST(sum(n) AS {text}) AS n, CAST(sum(h0 * n) AS {text}) AS a, "
            f"CAST(sum(h1 * n) AS {text}) AS b, "
            f"CAST(sum(CASE WHEN n > 1 THEN n ELSE 0 END) AS {text}) AS repeated "
            "FROM (SELECT h0, h1, count(*) AS n FROM "
            f"(SELECT {hashes} FROM (SELECT {numbers} FROM {records.relation} AS t"
            f"{dialect.fence}) AS u) AS h GROUP BY h0, h1) AS g"
        )
        seed = repr((found["n"], found["a"], found["b"])).encode()
        return cls(
            key=sha256(b"respondents" + seed).digest(),
            source=sha256(b"records" + seed).hexdigest()[:_DIGITS],
            repeated=int(found["repeated"]),
        )

    def notes(self, records: int) -> tuple[str, ...]:
        """Say how many records agree in every column: some may be there twice."""
        if not self.repeated:
            return ()
        return (
            f"{self.repeated:,} of {records:,} records agree with another one in every "
            "column: check that none is in the file twice",
        )

    def contributions(
        self,
        found: Respondents,
        negative: NDArray[np.bool_],
        unit: float | None,
        extra: int,
    ) -> Contributions | None:
        """Return the largest that a table keeps, with `extra` empty cells at the end.

        Parameters
        ----------
        negative
            Cells with a contribution below 0, where one contribution bounds nothing.
        unit
            Contributions are multiples of ``1 / unit``, where that is not None.
        """
        if found.largest is None or found.amount is None:
            return None
        if unit is None:
            amount = significant(found.amount, DIGITS)
        else:
            amount = np.rint(found.amount * unit) / unit
        who = self.hashes(np.where(amount > 0, found.largest, 0).ravel(), found.names)
        amount = np.where(negative[:, None], 0.0, amount)
        listed = Contributions(found.active, who.reshape(amount.shape), amount)
        return listed.padded(extra)

    def hashes(
        self, numbers: NDArray[Any], names: Mapping[int, str] | None = None
    ) -> NDArray[np.str_]:
        """Hash each number that is not 0, or the name it stands for; else blank."""
        distinct, place = np.unique(numbers, return_inverse=True)
        hashed = [
            ""
            if number == 0
            else self._hash(str(number) if names is None else names[number])
            for number in distinct.tolist()
        ]
        return np.array(hashed, dtype=f"U{_DIGITS}")[place]

    def _hash(self, text: str) -> str:
        return hmac.new(self.key, text.encode(), "sha256").hexdigest()[:_DIGITS]
