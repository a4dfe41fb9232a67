"""Hierarchies from columns of the records, and how columns depend on each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.table import TOTAL, Hierarchy
from evosdc.tabulation.source import Columns, OpenRecords, open_records, tidied


def hierarchy_from_columns(
    source: Any,
    columns: Sequence[str],
    *,
    total: str = TOTAL,
    digits: Mapping[str, int] | None = None,
) -> Hierarchy:
    """Read the hierarchy of the last of some columns, which go from coarse to fine.

    Records of registers often carry every level of a classification, such as section,
    division and group; their combinations are the tree. `digits` is that of
    `evosdc.tabulation.tabulate`.
    """
    wanted = Columns(tuple(dict.fromkeys(columns)), None)
    with open_records(source, wanted) as records:
        return LevelColumns(records, digits or {}, None).tree(columns, total)


@dataclass(frozen=True, eq=False)
class Pair:
    """How many records have each pair of codes of two columns.

    `one` and `two` are the codes; `rows` are the numbers of a pair of codes, and how
    many records have it.
    """

    one: tuple[str, ...]
    two: tuple[str, ...]
    rows: NDArray[np.int64]

    def swapped(self) -> Pair:
        """The same with the columns exchanged."""
        return Pair(self.two, self.one, self.rows[:, [1, 0, 2]])

    @property
    def determines(self) -> bool:
        """Whether each code of the first column has one code of the second."""
        return len(self.rows) == len(self.one)

    @property
    def renamed(self) -> bool:
        """Whether the columns differ only in the names of the codes."""
        return len(self.rows) == len(self.one) == len(self.two) and any(
            self.one[a] != self.two[b] for a, b, _ in self.rows.tolist()
        )


@dataclass(frozen=True, eq=False)
class LevelColumns:
    """Columns of open records that may be levels of each other."""

    records: OpenRecords
    digits: Mapping[str, int]
    weight: str | None
    pairs: dict[tuple[str, str], Pair] = field(default_factory=dict)

    def tree(self, columns: Sequence[str], total: str) -> Hierarchy:
        """Read the hierarchy of the last of some columns, coarse to fine."""
        rows = self._rows(columns, counted=False)
        return Hierarchy.from_levels([row[:-1] for row in rows], total)

    def pair(self, one: str, two: str) -> Pair:
        """Compare two columns record by record; records without weight do not count."""
        if (two, one) in self.pairs:
            return self.pairs[two, one].swapped()
        if (one, two) not in self.pairs:
            rows = self._rows((one, two), counted=True)
            codes = [tuple(dict.fromkeys(row[k] for row in rows)) for k in (0, 1)]
            number = [{code: k for k, code in enumerate(each)} for each in codes]
            self.pairs[one, two] = Pair(
                codes[0],
                codes[1],
                np.array(
                    [(number[0][a], number[1][b], n) for a, b, n in rows],
                    dtype=np.int64,
                ).reshape(-1, 3),
            )
        return self.pairs[one, two]

    def _rows(self, columns: Sequence[str], *, counted: bool) -> list[tuple[Any, ...]]:
        """Return the combinations of codes, in order, and the number of records."""
        records, dialect = self.records, self.records.dialect
        keys = [f"d{k}" for k in range(len(columns))]
        texts = ", ".join(
            f"{dialect.code_of(name, records.columns)} AS {key}"
            for key, name in zip(keys, columns, strict=True)
        )
        weighted = Columns((), None, weight=self.weight if counted else None)
        listed = ", ".join(keys)
        records.store(
            "levels",
            f"SELECT {listed}, count(*) AS n FROM (SELECT {texts} FROM "
            f"{records.relation} AS t{weighted.where(dialect)}) AS u GROUP BY {listed}",
        )
        codes = ", ".join(
            f"coalesce({tidied(key, self.digits.get(name))}, '') AS {key}"
            for key, name in zip(keys, columns, strict=True)
        )
        found: list[tuple[Any, ...]] = records.local.sql(
            f"SELECT {listed}, CAST(sum(n) AS BIGINT) FROM (SELECT {codes}, n FROM "
            f"levels) GROUP BY {listed} ORDER BY {listed}"
        ).fetchall()
        return found
