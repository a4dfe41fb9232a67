"""Labelled tables as CSV and Parquet, with their hierarchies beside or inside."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from evosdc.errors import InputError, TableError
from evosdc.io.delimited import read_csv, write_csv
from evosdc.io.encoding import read_text
from evosdc.io.frames import RESERVED, frame_of, table_from_frame
from evosdc.io.paths import (
    PathLike,
    readable,
    refuse_existing,
    replacing,
    write_text,
)
from evosdc.io.suffixes import PARQUET, format_to_read, format_to_write
from evosdc.io.tabular import read_columns, read_parquet
from evosdc.table import Hierarchy, Origin, Table, missing_cells
from evosdc.table.build import equations

_KEY = b"evosdc"
_FORMAT = "evosdc-table"
_TEXTS = ("status", "respondent")


def read_labelled(
    path: PathLike,
    *,
    dimensions: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    totals: Mapping[str, str] | str | None = None,
    value: str | None = None,
    missing: Literal["error", "empty"] | None = None,
    level_percent: float | None = None,
    flat: Collection[str] = (),
) -> Table:
    """Read a table from CSV or Parquet.

    Hierarchies, totals and what absent cells mean are taken from the Parquet metadata
    or from ``NAME.csv.json`` beside the CSV, unless they are given here. Without either
    a dimension is flat, and absent inner cells are an error; codes that are sums of
    other codes are refused there, unless `flat` says that it is chance.
    `evosdc.io.frames.table_from_frame` says which columns are recognised.
    """
    p = readable(path)
    if format_to_read(p, "table") is PARQUET:
        frame, known = _read_parquet(p)
    else:
        sidecar = _sidecar(p)
        numbers = {value or "value", *RESERVED} - {*_TEXTS}
        frame = read_csv(p, numbers=numbers, ours=sidecar.exists())
        text = read_text(sidecar) if sidecar.exists() else None
        known = None if text is None else _description(text, str(sidecar))
    trees = dict(hierarchies or {})
    trusted: set[str] = set()
    if known is not None:
        # What was written with the table is known to be so.
        trusted = set(known["hierarchies"]) - set(trees)
        trees = known["hierarchies"] | trees
        dimensions = dimensions or list(known["hierarchies"])
        missing = missing or known["absent"]
    return table_from_frame(
        frame,
        dimensions=dimensions,
        hierarchies=trees,
        totals=totals,
        value=value or "value",
        missing=missing or "error",
        level_percent=level_percent,
        name=None if known is None else known["name"],
        origin=None if known is None else known["origin"],
        flat=flat,
        trusted=trusted,
    )


def labelled_columns(path: PathLike) -> list[str]:
    """Names of the columns of a CSV or Parquet file."""
    return list(read_columns(path).column_names)


def write_labelled(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a table as CSV or Parquet so that `read_labelled` gives it back."""
    p = Path(path)
    if not table.dimensions:
        raise InputError(
            "the table has no labels",
            expected="a table with dimensions for CSV and Parquet",
            hint="write it as .jj",
        )
    _refuse_other_equations(table)
    text = json.dumps(_describe(table), ensure_ascii=False, indent=1)
    frame = frame_of(table)
    if format_to_write(p, "table") is PARQUET:
        import pyarrow.parquet as pq

        with replacing(p, force) as temporary:
            pq.write_table(
                frame.replace_schema_metadata({_KEY: text.encode()}), temporary
            )
        return
    refuse_existing(_sidecar(p), force)
    write_csv(p, frame, force=force)
    write_text(_sidecar(p), text + "\n", force)


def _sidecar(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _describe(table: Table) -> dict[str, Any]:
    """Dimensions as code, parent pairs; JSON keeps their order."""
    absent = missing_cells(table.dimensions, table.codes, most=1)
    return {
        "format": _FORMAT,
        "version": 2,
        "name": table.name,
        "absent": "empty" if absent else "error",
        "origin": table.origin.as_json(),
        "dimensions": [
            {
                "name": d.name,
                "total": d.hierarchy.total,
                "parents": [
                    [code, d.hierarchy.codes[parent]]
                    for code, parent in zip(
                        d.hierarchy.codes[1:], d.hierarchy.parents[1:], strict=True
                    )
                ],
            }
            for d in table.dimensions
        ],
    }


def _description(text: str, source: str) -> dict[str, Any]:
    """Read back what `_describe` wrote."""
    try:
        data = json.loads(text)
        if data["format"] != _FORMAT or data["absent"] not in ("error", "empty"):
            raise ValueError
        trees = {
            str(d["name"]): _tree(str(d["total"]), d["parents"])
            for d in data["dimensions"]
        }
        origin = data.get("origin")
        return {
            "origin": None if origin is None else Origin.from_json(origin),
            "name": str(data["name"]),
            "absent": data["absent"],
            "hierarchies": trees,
        }
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{source} does not describe a table",
            expected="JSON with format, name, absent and dimensions",
            hint="remove it and give the hierarchies yourself, or write it again",
        ) from error


def _tree(total: str, pairs: Sequence[Sequence[str]]) -> Hierarchy:
    """Nodes in the order written, so that a table comes back exactly as it was."""
    node = {total: 0}
    parents = [-1]
    for code, parent in pairs:
        parents.append(node[parent])
        node[str(code)] = len(parents) - 1
    return Hierarchy((total, *(str(code) for code, _ in pairs)), tuple(parents))


def _read_parquet(path: Path) -> tuple[Any, dict[str, Any] | None]:
    frame = read_parquet(path)
    text = (frame.schema.metadata or {}).get(_KEY)
    return frame, None if text is None else _description(text.decode(), str(path))


def _refuse_other_equations(table: Table) -> None:
    """Labels must say all there is to say about the equations."""
    implied = equations(table.dimensions, table.codes)
    # Tables that we made have the very matrix; sorting a million equations takes long.
    same = _is_same(implied, table.matrix)
    if np.any(table.rhs) or not (same or _rows(implied) == _rows(table.matrix)):
        raise TableError(
            "the table has other equations than its labels imply",
            expected="every total the sum of its parts, and nothing else",
            hint="write it as .jj, which keeps any equation",
        )


def _is_same(one: Any, other: Any) -> bool:
    if one.shape != other.shape or one.nnz != other.nnz:
        return False
    return bool((sparse.csr_array(one) != sparse.csr_array(other)).nnz == 0)


def _rows(matrix: Any) -> list[tuple[bytes, bytes]]:
    """Equations in an order of their own, to compare two sets of them."""
    rows = sparse.csr_array(matrix)
    rows.sort_indices()
    indices = rows.indices.astype(np.int64)
    cuts = rows.indptr.tolist()
    return sorted(
        (indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in pairwise(cuts)
    )
