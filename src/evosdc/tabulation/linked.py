"""Several tables over the same records as one: each span a table, shared cells once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from evosdc.databases import as_database
from evosdc.errors import InputError
from evosdc.rules import Group, Rule, rule_text
from evosdc.table import Hierarchy, Table
from evosdc.table.knowledge import read_bounds, with_bounds
from evosdc.table.link import LinkedTables, cells_of_spans, in_a_ring, link_tables
from evosdc.table.status import SECONDARY
from evosdc.tabulation.microdata import tabulate


def tabulate_linked(
    source: Any,
    spans: Sequence[Sequence[str]],
    value: str | None = None,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    digits: Mapping[str, int] | None = None,
    flat: Collection[str] = (),
    **options: Any,
) -> LinkedTables:
    """Tabulate the same records by several spans of variables and link the tables.

    Parameters
    ----------
    source, value
        As in `evosdc.tabulation.tabulate`.
    spans
        The spanning variables of each table.
    hierarchies, digits, flat
        By variable; each table takes those of its own variables.
    options
        Those of `evosdc.tabulation.tabulate`, the same for all tables.
    """
    options["flat"] = flat
    strange = sorted(set(flat) - {name for span in spans for name in span})
    if strange:
        raise InputError(
            f"--flat (flat) names {strange[0]!r}, which no table is made by",
            expected="variables of the tables",
            hint="check the spelling",
        )
    if len(spans) == 1:
        table = tabulate(
            source, spans[0], value, hierarchies=hierarchies, digits=digits, **options
        )
        return LinkedTables(table, (np.arange(len(table)),))
    trees, widths = dict(hierarchies or {}), dict(digits or {})
    known = dict.fromkeys(name for span in spans for name in span)
    for name in (*trees, *widths):
        if name not in known:
            raise InputError(
                f"a hierarchy or digits for {name!r}, which no table is made by",
                expected=f"some of {', '.join(known)}",
                hint="add the variable to a table, or leave it out",
            )
    if isinstance(source, pa.RecordBatchReader):
        # A stream can be read once only, and every table reads the records.
        source = source.read_all()
    rules = list(options.pop("rules", ()))
    _refuse_groups(rules, list(known))
    database = as_database(source)
    if database is not None:
        # All tables see the same state of the records.
        with database:
            return _linked(database, spans, value, trees, widths, rules, known, options)
    return _linked(source, spans, value, trees, widths, rules, known, options)


def _linked(
    source: Any,
    spans: Sequence[Sequence[str]],
    value: str | None,
    trees: Mapping[str, Hierarchy],
    widths: Mapping[str, int],
    rules: Sequence[Rule],
    known: Collection[str],
    options: Mapping[str, Any],
) -> LinkedTables:
    if in_a_ring(spans):
        whole = tabulate(
            source,
            list(known),
            value,
            hierarchies=trees,
            digits=widths,
            rules=rules,
            spans=spans,
            **options,
        )
        return LinkedTables(_of_spans(whole, spans), ())
    linked = link_tables(
        [
            tabulate(
                source,
                span,
                value,
                hierarchies={name: trees[name] for name in span if name in trees},
                digits={name: widths[name] for name in span if name in widths},
                rules=[rule for rule in rules if _is_for(rule, span)],
                **options,
            )
            for span in spans
        ]
    )
    table = linked.table
    if table.origin.zeros and read_bounds(table.origin.bounds)[0] != "columns":
        # Empty cells of one table may be hidden: nobody knows that a cell is not empty.
        linked = replace(linked, table=with_bounds(table, table.origin.bounds))
    return linked


def _of_spans(table: Table, spans: Sequence[Sequence[str]]) -> Table:
    """Leave the cells of a table of all variables that no span has unshown.

    They cost nothing, have no levels and are hidden in any case: what attackers know
    of them (that they are not negative, or empty) is part of the system all the same.
    """
    shown = cells_of_spans(table.dimensions, table.codes, spans)
    status = np.where(shown, table.status, SECONDARY)
    return table.replace(
        status=status,
        weight=np.where(shown, table.weight, 0.0),
        lpl=np.where(shown, table.lpl, 0.0),
        upl=np.where(shown, table.upl, 0.0),
        spl=np.where(shown, table.spl, 0.0),
        unshown=~shown,
    )


def _is_for(rule: Rule, span: Sequence[str]) -> bool:
    """Whether a rule looks at a table by these variables."""
    return not isinstance(rule, Group) or rule.variable in ("", *span)


def _refuse_groups(rules: Sequence[Rule], known: Sequence[str]) -> None:
    for rule in rules:
        if not _is_for(rule, known):
            raise InputError(
                f"the rule {rule_text(rule)} is of a variable that no table is made by",
                expected=f"one of {', '.join(known)}",
                hint="check the name, or write group for all of them",
            )
