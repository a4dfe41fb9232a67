"""Tabulate records: inner cells, all totals, rules, levels, costs, bounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.rules import Contributors, Request, Rule, mark
from evosdc.table import TOTAL, Dimension, Hierarchy, Table
from evosdc.table.build import equations
from evosdc.tabulation import inner
from evosdc.tabulation.check import Facts, check_records
from evosdc.tabulation.holdings import holdings_of
from evosdc.tabulation.mixed import code_notes, refuse_mixed
from evosdc.tabulation.rollup import roll_up
from evosdc.tabulation.source import (
    Columns,
    connect,
    define_records,
    open_records,
    refuse_digits,
    refuse_overlap,
)

_COSTS = ("value", "frequency", "unit")


def tabulate(
    source: Any,
    by: Sequence[str],
    value: str | None = None,
    *,
    weight: str | None = None,
    holding: str | None = None,
    request: str | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    rules: Sequence[Rule] = (),
    shadow: str | None = None,
    cost: str | None = None,
    bounds: str = "open",
    total: str = TOTAL,
    digits: Mapping[str, int] | None = None,
    flat: Collection[str] = (),
    memory_limit: str = "3GB",
    threads: int | None = None,
) -> Table:
    """Tabulate records and mark the sensitive cells.

    Only cells with records are in the table: that a combination of codes is empty is
    known to everyone. All totals of all levels of all dimensions are there.

    Parameters
    ----------
    source
        A path or pattern of CSV or Parquet files, an Arrow table or reader, a pandas or
        polars frame, a dict of columns, or a DuckDB relation. Streamed; spills to disk.
    by
        The spanning variables. Their codes are text; in a CSV file 01 stays 01.
    value
        The response; without it the table counts records.
    weight
        Sampling weights. Records of weight 0 stand for nobody and are left out.
    holding
        The group a record belongs to; rules then look at groups.
    request
        Who asks for protection: see `evosdc.rules.Request`.
    hierarchies
        Trees of codes by variable; others are flat. Records carry codes without parts.
    shadow
        The variable rules look at, where it is not the response.
    cost
        What hiding a cell costs: ``value`` (the default), ``frequency``, ``unit``, or
        a column to add up.
    bounds
        What everyone knows of a cell beforehand: ``open`` (0 or more; nothing at all
        when some contribution is negative) or ``percent:50`` (to within 50 %).
    digits
        How many digits the codes of a variable have, where their leading zeros are
        lost: with 2, code 7 is read as 07.
    flat
        Variables whose codes are all ordinary ones, though some sound like totals or
        have exactly the sums of others.
    memory_limit, threads
        Limits for DuckDB.
    """
    refuse_overlap(by)
    refuse_digits(by, digits)
    trees = dict(hierarchies or {})
    _check_options(by, trees, rules, request, bounds)
    columns = Columns(
        by=tuple(by),
        value=value,
        shadow=None if shadow == value else shadow,
        weight=weight,
        holding=holding,
        request=request,
        cost=None if cost in _COSTS else cost,
        digits=digits or {},
    )
    asked = _request_codes(rules)
    with connect(memory_limit, threads) as connection:
        types = open_records(connection, source, columns)
        facts = check_records(connection, columns, types)
        define_records(connection, columns, types)
        n_top = max((rule.needs for rule in rules), default=0)
        plain = holding is None
        rows = inner.inner_cells(
            connection, columns, facts, n_top if plain else 0, asked if plain else None
        )
        if not len(rows):
            raise InputError(
                f"column {weight!r} is 0 in all {facts.records} records",
                expected="a record with a sampling weight above 0",
                hint="check the column",
            )
        dimensions, codes = inner.dimensions_of(rows, by, trees, total, flat)
        notes = (*facts.notes, *code_notes(dimensions, codes))
        if value is not None:
            loose = [d.name for d in dimensions if d.name not in {*trees, *flat}]
            refuse_mixed(dimensions, codes, rows.column("value").to_numpy(), loose)
        cells = roll_up(dimensions, inner.cells_of(rows, codes, facts))
        contributors = _contributors(
            cells, facts, columns, connection, dimensions, n_top, asked
        )
    table = _table(dimensions, cells, contributors, facts, columns, rules, cost, bounds)
    return replace(table, notes=notes)


def _contributors(
    cells: inner.Cells,
    facts: Facts,
    columns: Columns,
    connection: Any,
    dimensions: tuple[Dimension, ...],
    n_top: int,
    asked: Sequence[str] | None,
) -> Contributors:
    unit = facts.unit or 1.0
    size = cells.sums[:, inner.SIZE] / unit
    shared: dict[str, Any] = {
        "value": cells.sums[:, inner.VALUE] / unit,
        "size": size,
        "units": cells.sums[:, inner.UNITS],
        "shadow": columns.shadow is not None,
    }
    if columns.holding is not None:
        found = holdings_of(connection, dimensions, cells.codes, n_top, asked)
        return Contributors(
            **shared,
            total=found.total,
            largest=found.top,
            holdings=found.count,
            asking=found.asking,
        )
    return Contributors(
        **shared,
        total=size if columns.shadow is None else cells.sums[:, inner.TOTAL],
        largest=cells.top,
        weights=cells.top_weight,
        asking=cells.asking,
    )


def _table(
    dimensions: tuple[Dimension, ...],
    cells: inner.Cells,
    contributors: Contributors,
    facts: Facts,
    columns: Columns,
    rules: Sequence[Rule],
    cost: str | None,
    bounds: str,
) -> Table:
    floor = -np.inf if facts.negative else 0.0
    counts = columns.value is None and columns.weight is None
    marks = mark(contributors, rules, floor=floor, whole=counts)
    value = contributors.value
    lower, upper = _bounds(value, floor, bounds)
    frequency = cells.sums[:, inner.COUNT].astype(np.int64)
    price = {
        None: np.abs(value),
        "value": np.abs(value),
        "frequency": frequency.astype(np.float64),
        "unit": np.ones(len(value)),
    }.get(cost, cells.sums[:, inner.COST])
    return Table.of(
        value,
        equations(dimensions, cells.codes),
        weight=price,
        status=marks.status,
        lower=lower,
        upper=upper,
        lpl=marks.lpl,
        upl=marks.upl,
        spl=marks.spl,
        dimensions=dimensions,
        codes=cells.codes,
        frequency=frequency,
        name=columns.value or "count",
        holdings=contributors.holdings,
    )


def _bounds(
    value: NDArray[np.float64], floor: float, bounds: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if bounds == "open":
        return np.full(len(value), floor), np.full(len(value), np.inf)
    width = float(bounds.partition(":")[2]) / 100.0 * np.abs(value)
    return np.maximum(value - width, floor), value + width


def _check_options(
    by: Sequence[str],
    trees: Mapping[str, Hierarchy],
    rules: Sequence[Rule],
    request: str | None,
    bounds: str,
) -> None:
    strange = sorted(set(trees) - set(by))
    if strange:
        raise InputError(
            f"a hierarchy for {', '.join(strange)}, which the table is not made by",
            expected=f"hierarchies for {', '.join(by)}",
            hint="add the variable to the table, or leave the hierarchy out",
        )
    if request is None and _request_codes(rules) is not None:
        raise InputError(
            "a request rule without a request column",
            expected="the column that says who asks for protection",
            hint="name the column, or leave the rule out",
        )
    kind, _, percent = bounds.partition(":")
    good = bounds == "open"
    if kind == "percent":
        try:
            good = 0 < float(percent) < np.inf
        except ValueError:
            good = False
    if not good:
        raise InputError(
            f"unknown bounds {bounds!r}",
            expected="open, or percent:P with P above 0",
            hint="use one of them",
        )


def _request_codes(rules: Sequence[Rule]) -> tuple[str, str] | None:
    found = {rule.codes for rule in rules if isinstance(rule, Request)}
    if len(found) > 1:
        raise InputError(
            "request rules with different codes",
            expected="one pair of codes",
            hint="give all request rules the same codes",
        )
    return next(iter(found), None)
