"""A hierarchy from columns of the records that run from coarse to fine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evosdc.table import TOTAL, Hierarchy
from evosdc.tabulation.source import Columns, open_records, tidied


def hierarchy_from_columns(
    source: Any,
    columns: Sequence[str],
    *,
    total: str = TOTAL,
    digits: Mapping[str, int] | None = None,
) -> Hierarchy:
    """Read the tree of the last column from columns beside it, coarse to fine.

    Records of registers often carry every level of a classification, such as section,
    division and group; their combinations are the tree. `digits` is that of
    `evosdc.tabulation.tabulate`.
    """
    widths = digits or {}
    with open_records(source, Columns(tuple(columns), None)) as records:
        dialect = records.dialect
        words = ", ".join(
            f"{dialect.words(column, records.columns[column].kind)} AS d{k}"
            for k, column in enumerate(columns)
        )
        records.keep("levels", f"SELECT DISTINCT {words} FROM {records.relation} AS t")
        codes = ", ".join(
            tidied(f"d{k}", widths.get(column)) for k, column in enumerate(columns)
        )
        every = ", ".join(str(k + 1) for k in range(len(columns)))
        rows = records.house.sql(
            f"SELECT DISTINCT {codes} FROM levels ORDER BY {every}"
        ).fetchall()
    cleaned = [[code or "" for code in row] for row in rows]
    return Hierarchy.from_levels(cleaned, total)
