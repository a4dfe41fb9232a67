"""A table as Arrow tables: with all that is known, as pattern, as publication."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from evosdc.errors import InputError
from evosdc.io.from_frame import refuse_reserved
from evosdc.table import Table
from evosdc.table.status import HIDDEN, LEVELS

HIDDEN_MARK = "x"  # the status of hidden cells in publications


def refuse_unlabelled(table: Table, form: str, hint: str = "write it as .jj") -> None:
    """Refuse a table without labels, for a format that needs them."""
    if not table.dimensions:
        raise InputError(
            "the table has no labels",
            expected=f"a table with dimensions for {form}",
            hint=hint,
        )


def frame_of(table: Table, *, original_ids: ArrayLike | None = None) -> Any:
    """Return all columns of a table, one row per cell."""
    columns = _ids(table, original_ids) | _labels(table)
    columns["value"] = pa.array(table.value)
    columns["status"] = pa.array(table.status.astype(object), pa.string())
    for name in ("weight", "lower", "upper", *LEVELS):
        columns[name] = pa.array(getattr(table, name))
    for name in ("frequency", "holdings"):
        if getattr(table, name) is not None:
            columns[name] = pa.array(getattr(table, name))
    if table.respondent is not None:
        columns["respondent"] = pa.array(table.respondent.astype(object), pa.string())
    if table.contributions is not None:
        for name, column in table.contributions.columns().items():
            text = column.dtype.kind == "U"
            columns[name] = pa.array(column.astype(object) if text else column)
    if table.unshown is not None:
        columns["unshown"] = pa.array(table.unshown.astype(np.int64))
    return pa.table(columns)


def pattern_frame(table: Table, *, original_ids: ArrayLike | None = None) -> Any:
    """Return cell numbers, labels, values and statuses, which are confidential."""
    names = ["cell_id", *(d.name for d in table.dimensions), "value", "status"]
    frame = frame_of(table, original_ids=original_ids).select(names)
    return frame if table.unshown is None else frame.filter(pa.array(table.shown))


def published_frame(table: Table) -> Any:
    """Return the table as it may be published: hidden values blank and marked ``x``.

    Primaries and secondaries look alike, as which hidden cell is sensitive is itself
    confidential. Tables without labels keep their cell numbers.
    """
    hidden = np.isin(table.status, HIDDEN)
    columns = _labels(table) or _ids(table, None)
    # A mask alone leaves the values in the buffer, where Arrow files keep them.
    columns["value"] = pa.array(np.where(hidden, 0.0, table.value), mask=hidden)
    seen = np.where(hidden, HIDDEN_MARK, table.status)
    columns["status"] = pa.array(seen.astype(object), pa.string())
    frame = pa.table(columns)
    return frame if table.unshown is None else frame.filter(pa.array(table.shown))


def _ids(table: Table, original: ArrayLike | None) -> dict[str, Any]:

    ids = np.arange(len(table)) if original is None else np.asarray(original)
    return {"cell_id": pa.array(ids)}


def _labels(table: Table) -> dict[str, Any]:
    refuse_reserved(d.name for d in table.dimensions)
    return {
        d.name: pa.array(d.hierarchy.codes, pa.string()).take(
            pa.array(table.codes[:, k])
        )
        for k, d in enumerate(table.dimensions)
    }
