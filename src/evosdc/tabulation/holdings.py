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
from evosdc.table import Dimension, Hierarchy
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
    """Make a table a dimension: each code, its node, and its node at every depth."""
    for k, dimension in enumerate(dimensions):
        tree = dimension.hierarchy
        columns = {
            "code": pa.array(tree.codes, pa.string()),
            "node": pa.array(range(len(tree)), pa.int32()),
        }
        for level in range(int(tree.depth.max()) + 1):
            at = [_node_at(tree, node, level) for node in range(len(tree))]
            columns[f"n{level}"] = pa.array(at, pa.int32())
        connection.register(f"given{k}", pa.table(columns))
        connection.execute(f"CREATE TEMP TABLE tree{k} AS SELECT * FROM given{k}")
        connection.unregister(f"given{k}")


def _node_at(tree: Hierarchy, node: int, level: int) -> int | None:
    if tree.depth[node] < level:
        return None
    while tree.depth[node] > level:
        node = tree.parents[node]
    return node


def _sum_records(connection: Any, n_dims: int, asks: Sequence[str]) -> None:
    """Sum to (inner cell, holding), with numbers for codes: they group much faster."""
    connection.execute(
        "CREATE TEMP TABLE names AS SELECT h, (row_number() OVER ())::INTEGER AS id "
        "FROM (SELECT DISTINCT h FROM records)"
    )
    keys = [f"tree{k}.node AS d{k}" for k in range(n_dims)] + ["names.id AS h"]
    joins = [f"JOIN tree{k} ON records.d{k} = tree{k}.code" for k in range(n_dims)]
    sums = ["sum(s * w) AS s"] + [
        f"coalesce(bool_or(r = {literal(code)}), false) AS a{i}"
        for i, code in enumerate(asks)
    ]
    connection.execute(
        f"CREATE TEMP TABLE held AS SELECT {', '.join(keys + sums)} FROM records "
        f"{' '.join(joins)} JOIN names ON records.h = names.h GROUP BY ALL"
    )


def _at_depths(depths: tuple[int, ...], n_top: int, n_asks: int) -> str:
    """Write the query for the cells at these depths: a node a dimension, measures."""
    lower = [k for k, level in enumerate(depths) if level > 0]
    nodes = [f"tree{k}.n{depths[k]}" for k in lower]
    named = "".join(f"{node} AS c{k}, " for node, k in zip(nodes, lower, strict=True))
    joins = " ".join(f"JOIN tree{k} ON held.d{k} = tree{k}.node" for k in lower)
    known = " AND ".join(f"{node} IS NOT NULL" for node in nodes) or "true"
    asked = "".join(f", bool_or(a{i}) AS a{i}" for i in range(n_asks))
    per_holding = (
        f"SELECT {named}h, abs(sum(s)) AS s{asked} FROM held {joins} "
        f"WHERE {known} GROUP BY ALL"
    )
    # A total is node 0 and needs no join.
    cells = [f"c{k}" if level > 0 else f"0 AS c{k}" for k, level in enumerate(depths)]
    measures = ["count(*) AS n", "sum(s) AS total"]
    measures += [
        f"coalesce((max(s, {n_top}))[{i + 1}], 0.0) AS top{i}" for i in range(n_top)
    ]
    measures += [
        f"coalesce(max(s) FILTER (a{i}), 0.0) AS ask{i}" for i in range(n_asks)
    ]
    return f"SELECT {', '.join(cells + measures)} FROM ({per_holding}) GROUP BY ALL"
