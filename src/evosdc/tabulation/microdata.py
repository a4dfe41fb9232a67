"""Tabulate records: inner cells, all totals, rules, levels, costs, bounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError, refuse_unknown
from evosdc.io.from_frame import refuse_reserved
from evosdc.rules import (
    CellContributors,
    Group,
    Request,
    Rule,
    mark,
    rest_limit,
    rule_text,
)
from evosdc.table import TOTAL, Dimension, Hierarchy, Origin, Table
from evosdc.table.build import equations
from evosdc.table.hidden_totals import refuse_totals_in_records
from evosdc.table.hierarchy import look_alikes
from evosdc.table.knowledge import read_bounds, with_bounds, with_whole_numbers
from evosdc.table.origin import AUTO, Axis, Dominated
from evosdc.table.parts import cells_of_spans
from evosdc.table.rounding import ROUNDING, significant
from evosdc.table.status import PRIMARY, SAFE
from evosdc.tabulation import inner
from evosdc.tabulation.check import CheckedRecords, check_records, spellings
from evosdc.tabulation.groups import Groups, find_groups
from evosdc.tabulation.holdings import PAIRS, holding_names, holdings_of, pair_records
from evosdc.tabulation.identity import Identity, Respondents
from evosdc.tabulation.inner import roll_up
from evosdc.tabulation.source import (
    Columns,
    OpenRecords,
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
    bounds: str = AUTO,
    floor: float | None = None,
    waiver: Sequence[str] = (),
    count_zeros: bool = False,
    whole_numbers: bool | None = None,
    contributions: bool = False,
    spans: Sequence[Sequence[Axis]] | None = None,
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
        Or records in a database: the address of a PostgreSQL table, a Spark DataFrame,
        an Ibis table; the aggregation runs there, and only groups are transferred.
    by
        The spanning variables. Their codes are text; in a CSV file 01 stays 01.
    value
        The response; without it the table counts records.
    weight, holding, request, shadow, cost, floor, waiver, count_zeros, contributions
        Who contributes to the cells: see `evosdc.options.tables.Contributors`, where
        `waiver` is called `consent`. Records of weight 0 are left
        out.
    hierarchies, total, digits, flat, memory_limit
        How records are read: see `evosdc.options.tables.Read`. Trees of codes are by
        variable, others are flat; records carry codes without parts.
    bounds, whole_numbers
        What everyone knows of a cell beforehand: see `evosdc.table.knowledge`.
    rules
        What makes a cell sensitive.
    spans
        The tables that are made of this one, where it is not published itself: only
        their cells are counted for the rules.
    threads
        How many threads read records; all cores where None.
    """
    refuse_overlap(by)
    refuse_reserved(by)
    refuse_digits(by, digits)
    trees = dict(hierarchies or {})
    read_bounds(bounds)
    _check_options(by, trees, rules, request, value)
    _check_consent(holding, waiver)
    columns = columns_for(
        by,
        value,
        shadow=shadow,
        weight=weight,
        holding=holding,
        request=request,
        cost=cost,
        digits=digits,
    )
    asked = _request_codes(rules)
    with open_records(source, columns, memory_limit, threads) as records:
        facts = check_records(records, columns)
        # The largest is always found: it may dominate the cell.
        n_top = max((rule.needs for rule in rules), default=0)
        n_top = max(n_top, int(value is not None or holding is not None))
        task = CheckedRecords(
            records, columns, facts, n_top, asked, waiver, contributions
        )
        inner.group_records(task)
        notes = spellings(task, inner.GROUPS)
        if holding is not None:
            pair_records(task)
            notes += spellings(task, PAIRS, parts=["h"])
        rows = inner.inner_cells(task)
        if not len(rows):
            raise InputError(
                f"column {weight!r} is 0 in all {facts.records} records",
                expected="a record with a sampling weight above 0",
                hint="check the column",
            )
        dimensions, codes = inner.dimensions_of(rows, by, trees, total, flat)
        for k, d in enumerate(dimensions):
            used = np.unique(codes[:, k]).tolist()
            notes += tuple(look_alikes(d.name, [d.hierarchy.codes[n] for n in used]))
        if value is not None:
            loose = [d.name for d in dimensions if d.name not in {*trees, *flat}]
            sums = rows.column("value").to_numpy().astype(np.float64)
            refuse_totals_in_records(dimensions, codes, sums, loose)
        cells = roll_up(dimensions, inner.cells_of(rows, codes, facts))
        identity = Identity.of(records)
        notes += identity.notes(facts.records)
        _refuse_unknown_consent(records, waiver)
        contributors, found = _contributors(task, cells, dimensions)
    counts = columns.value is None and columns.weight is None
    contributors = replace(
        contributors, floor=_floor(contributors, counts) if floor is None else floor
    )
    if count_zeros:
        contributors = replace(contributors, active=None, active_holdings=None)
    counted = None if spans is None else cells_of_spans(dimensions, cells.codes, spans)
    table = _table(
        dimensions, cells, contributors, columns, rules, cost, counted, counts=counts
    )
    extra = len(table) - len(cells.codes)
    table = table.replace(
        respondent=np.append(identity.hashes(found.lone, found.names), [""] * extra),
        contributions=identity.contributions(
            found, _has_negative(contributors), facts.unit, extra
        ),
        origin=replace(
            table.origin,
            floor=contributors.floor,
            waived=len(waiver),
            count_zeros=count_zeros if value is not None else None,
            dominated=_dominated(table, contributors, rules, counted),
            source=identity.source,
        ),
    )
    table = with_bounds(replace(table, notes=notes), bounds)
    return with_whole_numbers(table, whole_numbers)


def columns_for(
    by: Sequence[str],
    value: str | None,
    *,
    shadow: str | None = None,
    weight: str | None = None,
    holding: str | None = None,
    request: str | None = None,
    cost: str | None = None,
    digits: Mapping[str, int] | None = None,
    **_: Any,
) -> Columns:
    """Return the columns that options of `tabulate` name; ignore other options."""
    return Columns(
        by=tuple(by),
        value=value,
        shadow=None if shadow == value else shadow,
        weight=weight,
        holding=holding,
        request=request,
        cost=None if cost in _COSTS else cost,
        digits=digits or {},
    )


def _contributors(
    task: CheckedRecords, cells: inner.Cells, dimensions: tuple[Dimension, ...]
) -> tuple[CellContributors, Respondents]:
    """Return what rules look at, and the respondents of each cell."""
    unit, columns = task.facts.unit or 1.0, task.columns
    size = cells.sums[:, inner.SIZE] / unit
    shared: dict[str, Any] = {
        "value": cells.sums[:, inner.VALUE] / unit,
        "size": size,
        "units": cells.sums[:, inner.UNITS],
        "active": cells.sums[:, inner.ACTIVE_UNITS],
        "shadow": columns.shadow is not None,
    }
    if columns.holding is not None:
        measured, found = holdings_of(task, dimensions, cells.codes)
        return CellContributors(**shared, **measured), found
    contributors = CellContributors(
        **shared,
        total=size if columns.shadow is None else cells.sums[:, inner.TOTAL],
        largest=cells.top,
        weights=cells.top_weight,
        asking=cells.asking,
    )
    active = cells.sums[:, inner.ACTIVE].astype(np.int64)
    return contributors, Respondents(cells.lone, active, cells.largest, cells.amount)


def _has_negative(contributors: CellContributors) -> NDArray[np.bool_]:
    """Return which cells have a contribution below 0."""
    size = contributors.size
    return np.asarray(size - contributors.value > ROUNDING * size)


def _dominated(
    table: Table,
    contributors: CellContributors,
    rules: Sequence[Rule],
    counted: NDArray[np.bool_] | None,
) -> Dominated | None:
    """Count the cells that one contributor dominates without being alone there."""
    if not contributors.largest.shape[1]:
        return None
    limit = rest_limit(rules)
    found = contributors.dominated(limit)
    cells = np.flatnonzero(found if counted is None else found & counted)
    sensitive = int((table.status[cells] == PRIMARY).sum())
    return Dominated(limit, sensitive, len(cells) - sensitive)


def _floor(contributors: CellContributors, counts: bool) -> float:
    """Return the lowest level of cells with few contributors.

    One person in tables of counts, else a hundredth of the mean contribution: little
    compared with any ordinary cell, and more than nothing where a cell is 0.
    """
    if counts:
        return 1.0
    size, units = contributors.size.max(), contributors.units.max()
    return float(significant(np.array([size / units / 100.0]), 2)[0]) or 1.0


def _table(
    dimensions: tuple[Dimension, ...],
    cells: inner.Cells,
    contributors: CellContributors,
    columns: Columns,
    rules: Sequence[Rule],
    cost: str | None,
    counted: NDArray[np.bool_] | None,
    *,
    counts: bool,
) -> Table:
    value = contributors.value
    groups = [rule for rule in rules if isinstance(rule, Group)]
    # Negative where some contribution to this very cell is, and nowhere else.
    lowest = np.where(_has_negative(contributors), -np.inf, 0.0)
    if counts and not groups:
        lowest = np.ones(len(value))
    marks = mark(contributors, rules, floor=lowest, whole=counts, counted=counted)
    frequency = cells.sums[:, inner.COUNT].astype(np.int64)
    price = {
        None: np.abs(value),
        "value": np.abs(value),
        "frequency": frequency.astype(np.float64),
        "unit": np.ones(len(value)),
    }.get(cost, cells.sums[:, inner.COST])
    columns_of_cells: dict[str, Any] = {
        "value": value,
        "weight": price,
        "lower": lowest,
        "frequency": frequency,
        "lpl": marks.lpl,
        "upl": marks.upl,
        "spl": marks.spl,
        "status": marks.status,
    }
    if contributors.holdings is not None:
        columns_of_cells["holdings"] = contributors.holdings
    codes, marked = cells.codes, dict(marks.marked)
    for rule in groups:
        group = find_groups(dimensions, codes, columns_of_cells["value"], rule)
        codes = np.vstack([codes, group.added])
        _add_group(columns_of_cells, group)
        marked[rule_text(rule)] = len(group.full)
    return Table.of(
        columns_of_cells.pop("value"),
        equations(dimensions, codes),
        dimensions=dimensions,
        codes=codes,
        name=columns.value or "count",
        origin=Origin(rules=tuple(marked.items()), counts=counts, zeros=bool(groups)),
        **columns_of_cells,
    )


def _add_group(columns: dict[str, NDArray[Any]], group: Groups) -> None:
    """Append the empty cells of groups in one category, and mark what is sensitive."""
    cells = len(columns["value"])
    blank = {"weight": 1.0, "status": SAFE}
    for name, column in columns.items():
        extra = np.full(len(group.added), blank.get(name, 0), column.dtype)
        columns[name] = np.append(column, extra)
    # Somebody of the group may have another category: one less here, one more there.
    possible = cells + group.possible
    columns["status"][np.append(group.full, possible)] = PRIMARY
    for level, sensitive in (("upl", possible), ("lpl", group.full)):
        columns[level][sensitive] = np.maximum(columns[level][sensitive], 1.0)


def _refuse_unknown_consent(records: OpenRecords, waiver: Sequence[str]) -> None:
    """Refuse consent of a holding that is not in the records: it may be misspelt."""
    if not waiver:
        return
    known = holding_names(records)
    unknown = [name for name in waiver if name not in known]
    if unknown:
        raise InputError(
            f"{len(unknown)} of {len(waiver)} contributors who consented are not in "
            "the records",
            expected="contributors as the column of holdings names them",
            hint="check the spelling; capitals count",
        )


def _check_consent(holding: str | None, waiver: Sequence[str]) -> None:
    if waiver and holding is None:
        raise InputError(
            f"consent of {len(waiver)} contributors, and no column that names them",
            expected="the column that says who a contributor is",
            hint="name it: holding=..., --holding COLUMN",
        )


def _check_options(
    by: Sequence[str],
    trees: Mapping[str, Hierarchy],
    rules: Sequence[Rule],
    request: str | None,
    value: str | None,
) -> None:
    refuse_unknown(trees, by, "a hierarchy for {}, which the table is not made by")
    if request is None and _request_codes(rules) is not None:
        raise InputError(
            "a request rule without a request column",
            expected="the column that says who asks for protection",
            hint="name the column, or leave the rule out",
        )
    if value is not None and any(isinstance(rule, Group) for rule in rules):
        raise InputError(
            f"a group rule for the magnitudes of {value!r}",
            expected="a table of counts",
            hint="leave the value out, so that records are counted",
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
