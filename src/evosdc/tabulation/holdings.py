"""Contributors that are holdings: exact at every level.

One holding has records in several inner cells, so the largest holdings of a total need
not be among the largest of its parts. Records are summed to (inner cell, holding) once,
and then to (cell, holding) for each combination of depths, all inside DuckDB, which
spills. A cell belongs to exactly one combination of depths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.rules.rounding import significant
from evosdc.table import Dimension
from evosdc.table.build import cell_keys
from evosdc.tabulation.inner import DIGITS
from evosdc.tabulation.source import literal


@dataclass(frozen=True, eq=False)
class Holdings:
    """Holdings behind each cell, in the order of the cells asked for."""

    count: NDArray[np.int64]
    total: NDArray[np.float64]
    top: NDArray[np.float64]
    asking: NDArray[np.float64] | None


def holdings_of(
    connection: Any,
    dimensions: Sequence[Dimension],
    codes: NDArray[np.int32],
    n_top: int,
    request_codes: Sequence[str] | None,
) -> Holdings:
    """Find number, total and largest of the holdings of each cell.

    A holding counts as one contributor with the weighted sum of its records (tau-Argus
    does not allow holdings and weights together), and asks when any of them asks.
    """
    _load_trees(connection, dimensions)
    asks = [] if request_codes is None else list(request_codes)
    _sum_records(connection, len(dimensions), asks)
    sizes = [len(d.hierarchy) for d in dimensions]
    keys = cell_keys(sizes, codes)
    order = np.argsort(keys, kind="stable")
    found = np.zeros((len(codes), 2 + n_top + len(asks)))
    for depths in product(
        *(range(int(d.hierarchy.depth.max()) + 1) for d in dimensions)
    ):
        rows = connection.sql(_at_depths(depths, n_top, len(asks))).to_arrow_table()
        if not len(rows):
            continue
        matrix = np.column_stack([column.to_numpy() for column in rows.columns])
        nodes = matrix[:, : len(sizes)].astype(np.int64)
        place = order[np.searchsorted(keys[order], cell_keys(sizes, nodes))]
        found[place] = matrix[:, len(sizes) :]
    measures = significant(found[:, 1:], DIGITS)
    return Holdings(
        count=found[:, 0].astype(np.int64),
        total=measures[:, 0],
        top=measures[:, 1 : 1 + n_top],
        asking=measures[:, 1 + n_top :] if asks else None,
    )


def _load_trees(connection: Any, dimensions: Sequence[Dimension]) -> None:
    """Make a table a dimension: each code and its node at every depth, if any."""
    for k, dimension in enumerate(dimensions):
        tree = dimension.hierarchy
        columns: dict[str, list[Any]] = {"code": list(tree.codes)}
        for level in range(int(tree.depth.max()) + 1):
            columns[f"n{level}"] = [
                _node_at(tree.parents, tree.depth, node, level)
                for node in range(len(tree))
            ]
        schema = pa.schema(
            [("code", pa.string())] + [(name, pa.int64()) for name in list(columns)[1:]]
        )
        connection.register(f"tree{k}", pa.table(columns, schema=schema))


def _node_at(
    parents: tuple[int, ...], depth: NDArray[np.int64], node: int, level: int
) -> int | None:
    if depth[node] < level:
        return None
    while depth[node] > level:
        node = parents[node]
    return node


def _sum_records(connection: Any, n_dims: int, asks: Sequence[str]) -> None:
    keys = [f"d{k}" for k in range(n_dims)] + ["h"]
    parts = [*keys, "fsum(s * w) AS s"]
    parts += [
        f"coalesce(bool_or(r = {literal(code)}), false) AS a{i}"
        for i, code in enumerate(asks)
    ]
    connection.execute(
        f"CREATE TEMP TABLE held AS SELECT {', '.join(parts)} FROM records "
        f"GROUP BY {', '.join(keys)}"
    )


def _at_depths(depths: tuple[int, ...], n_top: int, n_asks: int) -> str:
    nodes = [f"tree{k}.n{level}" for k, level in enumerate(depths)]
    named = ", ".join(f"{node} AS c{k}" for k, node in enumerate(nodes))
    cells = ", ".join(f"c{k}" for k in range(len(depths)))
    joins = " ".join(
        f"JOIN tree{k} ON held.d{k} = tree{k}.code" for k in range(len(depths))
    )
    known = " AND ".join(f"{node} IS NOT NULL" for node in nodes)
    asked = "".join(f", bool_or(a{i}) AS a{i}" for i in range(n_asks))
    per_holding = (
        f"SELECT {named}, h, abs(fsum(s)) AS s{asked} FROM held {joins} "
        f"WHERE {known} GROUP BY ALL"
    )
    measures = ["count(*) AS n", "fsum(s) AS total"]
    measures += [
        f"coalesce((max(s, {n_top}))[{i + 1}], 0.0) AS top{i}" for i in range(n_top)
    ]
    measures += [
        f"coalesce(max(s) FILTER (a{i}), 0.0) AS ask{i}" for i in range(n_asks)
    ]
    return (
        f"SELECT {cells}, {', '.join(measures)} FROM ({per_holding}) GROUP BY {cells}"
    )
