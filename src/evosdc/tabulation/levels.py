"""A hierarchy from columns of the records that run from coarse to fine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evosdc.table import TOTAL, Hierarchy
from evosdc.tabulation.source import Columns, connect, open_records, text_of


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
    connection = connect("1GB", None)
    types = open_records(connection, source, Columns(tuple(columns), None))
    codes = ", ".join(
        text_of(column, types[column], widths.get(column)) for column in columns
    )
    every = ", ".join(str(k + 1) for k in range(len(columns)))
    rows = connection.sql(
        f"SELECT DISTINCT {codes} FROM raw ORDER BY {every}"
    ).fetchall()
    cleaned = [[code or "" for code in row] for row in rows]
    return Hierarchy.from_levels(cleaned, total)
