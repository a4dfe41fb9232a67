"""Contributors that are holdings: exact at every level.

One holding has records in several inner cells, so the largest holdings of a total need
not be among the largest of its parts. Records are summed to (inner cell, holding) once,
where they are, and then to (cell, holding) for each combination of depths in the
local DuckDB, which spills. A cell belongs to exactly one combination of depths.

Sums are whole numbers of 128 bits (see `evosdc.tabulation.check`): exact in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.table import Dimension
from evosdc.table.index import CellIndex
from evosdc.table.rounding import significant
from evosdc.tabulation.check import CheckedRecords
from evosdc.tabulation.identity import DIGITS, Respondents
from evosdc.tabulation.source import OpenRecords, tidied

PAIRS = "pairs"


def pair_records(task: CheckedRecords) -> None:
    """Aggregate the records by their codes and holdings, and keep the answer."""
    records, columns, facts = task.records, task.columns, task.facts
    dialect, parts = records.dialect, columns.codes
    asking = range(len(task.flags))
    wanted = [
        *task.as_text(parts),
        "count(*) AS n",
        *facts.fixed("total").sums(dialect, "s * w", "s"),
        *(facts.fixed("value").sums(dialect, "x * w", "x") if columns.shadow else ()),
        *(f"max(CASE WHEN a{i} THEN 1 ELSE 0 END) AS a{i}" for i in asking),
    ]
    records.store(
        PAIRS,
        f"SELECT {', '.join(wanted)} FROM (SELECT {', '.join(task.selected(parts))} "
        f"FROM {records.relation} AS t{columns.where(dialect)}) AS u "
        f"GROUP BY {', '.join(parts)}",
    )


def holding_names(records: OpenRecords) -> set[str]:
    """Return the holdings of the records."""
    found = records.local.sql(f"SELECT DISTINCT {tidied('h')} FROM {PAIRS}").fetchall()
    return {name for (name,) in found}


def holdings_of(
    task: CheckedRecords, dimensions: Sequence[Dimension], codes: NDArray[np.int32]
) -> tuple[dict[str, Any], Respondents]:
    """Find number, total and largest of the holdings of each cell, and who they are.

    The numbers are those of `evosdc.rules.Contributors`.

    A holding counts as one contributor with the weighted sum of its records (tau-Argus
    does not allow holdings and weights together), and asks when any of them asks.
    """
    connection, facts = task.records.local, task.facts
    fixed, waived = facts.fixed("total"), task.waived
    n_top, asks = task.n_top, list(task.asked or ())
    _load_trees(connection, dimensions)
    _sum_records(task, len(asks))
    index = CellIndex.of(dimensions, codes)
    names = connection.sql("SELECT count(*) + 1 FROM names").fetchall()[0][0]
    found = np.zeros((len(codes), 6 + n_top + len(asks) + 4 * task.largest))
    for depths in product(
        *(range(int(d.hierarchy.depth.max()) + 1) for d in dimensions)
    ):
        query = _at_depths(
            depths, index.sizes, names, n_top, len(asks), largest=task.largest
        )
        cell, *measured = connection.sql(query).to_arrow_table().columns
        found[index.at(cell.to_numpy())] = np.column_stack(
            [column.to_numpy() for column in measured]
        )
    measures = significant(found[:, 4:] * fixed.unit, DIGITS)
    lone = found[:, 2].astype(np.int64)
    largest, amount = None, None
    seen = lone
    if task.largest:
        response = fixed if task.columns.shadow is None else facts.fixed("value")
        largest = found[:, -2:].astype(np.int64)
        amount = significant(found[:, -4:-2] * response.unit, DIGITS)
        seen = np.append(lone, largest)
    wanted = ",".join(map(str, np.unique(seen[seen > 0]).tolist()))
    named = connection.sql(
        f"SELECT id, h FROM names WHERE id IN ({wanted or 'NULL'})"
    ).fetchall()
    active = found[:, 1].astype(np.int64)
    contributors = {
        "total": measures[:, 1],
        "largest": measures[:, 2 : 2 + n_top],
        "holdings": found[:, 0].astype(np.int64),
        "active_holdings": active,
        "asking": measures[:, 2 + n_top :][:, : len(asks)] if asks else None,
        "target": measures[:, 0] if waived else None,
        "needing": found[:, 3] if waived else None,
    }
    return contributors, Respondents(lone, active, largest, amount, dict(named))


def _load_trees(connection: Any, dimensions: Sequence[Dimension]) -> None:
    """Make one table per dimension: codes, nodes, and their nodes at every depth."""
    for k, dimension in enumerate(dimensions):
        tree = dimension.hierarchy
        # From the total down.
        lines = [tree.line(node)[::-1] for node in range(len(tree))]
        columns = {
            "code": pa.array(tree.codes, pa.string()),
            "node": pa.array(range(len(tree)), pa.int32()),
        }
        for level in range(int(tree.depth.max()) + 1):
            at = [line[level] if level < len(line) else None for line in lines]
            columns[f"n{level}"] = pa.array(at, pa.int32())
        connection.register(f"given{k}", pa.table(columns))
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE tree{k} AS SELECT * FROM given{k}"
        )
        connection.unregister(f"given{k}")


def _sum_records(task: CheckedRecords, n_asks: int) -> None:
    """Sum the pairs by numbers of codes and holdings, which group much faster."""
    connection, columns, facts = task.records.local, task.columns, task.facts
    consent = pa.array(task.waived, pa.string())
    connection.register("consent", pa.table({"h": consent}))
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE names AS SELECT h, "
        "(row_number() OVER (ORDER BY h))::INTEGER AS id, "
        "h IN (SELECT h FROM consent) AS waived "
        f"FROM (SELECT DISTINCT {tidied('h')} AS h FROM {PAIRS})"
    )
    connection.unregister("consent")
    n_dims = len(columns.by)
    keys = [f"tree{k}.node AS d{k}" for k in range(n_dims)] + ["names.id AS h"]
    joins = [
        f"JOIN tree{k} ON {tidied(f'p.d{k}', columns.digits.get(name))} = tree{k}.code"
        for k, name in enumerate(columns.by)
    ]
    total = facts.fixed("total").as_whole("s")
    response = total if columns.shadow is None else facts.fixed("value").as_whole("x")
    sums = [
        f"sum({total}) AS s",
        f"sum({response}) AS x",
        "any_value(names.waived) AS waived",
        *(f"max(a{i}) > 0 AS a{i}" for i in range(n_asks)),
    ]
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE held AS SELECT {', '.join(keys + sums)} "
        f"FROM {PAIRS} AS p {' '.join(joins)} "
        f"JOIN names ON {tidied('p.h')} = names.h GROUP BY ALL"
    )


def _at_depths(
    depths: tuple[int, ...],
    sizes: Sequence[int],
    names: int,
    n_top: int,
    n_asks: int,
    *,
    largest: bool,
) -> str:
    """Write the query for the cells at these depths: the key of each, and measures.

    Cell and holding are one number, which groups three times as fast as a column each.
    """
    kind = "BIGINT" if names * float(np.prod(sizes, dtype=float)) < 2**62 else "HUGEINT"
    key, joins, known = f"0::{kind}", [], ["true"]
    for k, (level, size) in enumerate(zip(depths, sizes, strict=True)):
        node = "0"  # the total, which needs no join
        if level > 0:
            node = f"tree{k}.n{level}"
            joins.append(f"JOIN tree{k} ON held.d{k} = tree{k}.node")
            known.append(f"{node} IS NOT NULL")
        key = f"({key} * {size} + {node})"
    asked = "".join(f", bool_or(a{i}) AS a{i}" for i in range(n_asks))
    per_holding = (
        f"SELECT {key} * {names} + h AS pair, abs(sum(s)) AS s, "
        "abs(sum(x)) AS x, sum(x) <> 0 AS active, "
        f"any_value(waived) AS waived{asked} FROM held "
        f"{' '.join(joins)} WHERE {' AND '.join(known)} GROUP BY pair"
    )
    measures = [
        "count(*) AS n",
        "count(*) FILTER (active) AS active",
        "CASE WHEN count(*) FILTER (active) = 1 THEN "
        f"(max(pair) FILTER (active) % {names})::BIGINT WHEN count(*) = 1 THEN "
        f"(any_value(pair) % {names})::BIGINT ELSE 0 END AS lone",
        "count(*) FILTER (NOT waived) AS needing",
        "coalesce(max(s) FILTER (NOT waived), 0)::DOUBLE AS target",
        "sum(s)::DOUBLE AS total",
    ]
    measures += [
        f"coalesce((max(s, {n_top}))[{i + 1}], 0)::DOUBLE AS top{i}"
        for i in range(n_top)
    ]
    measures += [
        f"coalesce(max(s) FILTER (a{i}), 0)::DOUBLE AS ask{i}" for i in range(n_asks)
    ]
    # Of equal holdings the one that comes last by name: ids are in the order of names.
    pairs = f"max({{'x': x, 'h': pair % {names}}}, 2)"
    measures += [
        f"coalesce(({pairs})[{i + 1}].{field}, 0)::DOUBLE AS {field}{i}"
        for field in "xh"
        for i in range(2 * largest)
    ]
    return (
        f"SELECT (pair // {names})::BIGINT AS cell, {', '.join(measures)} "
        f"FROM ({per_holding}) GROUP BY cell"
    )
