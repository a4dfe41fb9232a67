"""Several tables over the same records as one, in which shared cells occur once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evosdc.errors import InputError, refuse_unknown
from evosdc.io.from_frame import refuse_reserved
from evosdc.rules import Group, Rule, rule_text
from evosdc.table import TOTAL, Hierarchy, Table
from evosdc.table.knowledge import read_bounds, with_bounds
from evosdc.table.link import LinkedTables, link_tables
from evosdc.table.origin import Axis
from evosdc.table.parts import cells_of_spans, in_a_ring, splits
from evosdc.table.status import SECONDARY
from evosdc.tabulation.hierarchy_from_columns import LevelColumns
from evosdc.tabulation.microdata import columns_for, tabulate
from evosdc.tabulation.related import Trees, Variables, columns_of, find_variables
from evosdc.tabulation.source import OpenRecords, open_records


def tabulate_linked(
    source: Any,
    spans: Sequence[Sequence[str]],
    value: str | None = None,
    *,
    hierarchies: Trees | None = None,
    digits: Mapping[str, int] | None = None,
    flat: Collection[str] = (),
    link: Mapping[str, str] | None = None,
    **options: Any,
) -> LinkedTables:
    """Tabulate the same records by several spans of variables and link the tables.

    Columns that are levels of one hierarchy are one variable: a table by a level has
    the totals of all levels above it, and cells with the same records are one cell.

    Parameters
    ----------
    source, value
        As in `evosdc.tabulation.tabulate`.
    spans
        The spanning variables of each table.
    hierarchies, digits, flat
        By variable; each table takes those of its own variables. A hierarchy may also
        be a list of columns of the records, from coarse to fine.
    link
        Columns of other names that are levels of a variable, ``{"A21": "A88"}``, or
        that are unrelated to all others although records say so, ``{"A21": "none"}``.
    options
        Those of `evosdc.tabulation.tabulate`, the same for all tables.
    """
    options["flat"] = flat
    trees, widths = dict(hierarchies or {}), dict(digits or {})
    coarse = {c for t in trees.values() if isinstance(t, (list, tuple)) for c in t}
    known = dict.fromkeys(name for span in spans for name in span)
    refuse_reserved(known)
    for what, named in (
        ("--flat (flat)", flat),
        ("a hierarchy", trees),
        ("digits", [name for name in widths if name not in coarse]),
    ):
        refuse_unknown(named, known, f"{what} for {{}}, which no table is made by")
    rules = list(options.pop("rules", ()))
    _refuse_groups(rules, list(known))
    for name, tree in trees.items():
        if not isinstance(tree, Hierarchy):
            known |= dict.fromkeys(columns_of(name, tree))
    columns = columns_for(list(known), value, **options)
    limits = {k: options[k] for k in ("memory_limit", "threads") if k in options}
    # Opened once, so that all tables see the same state of the records.
    with open_records(source, columns, **limits) as records:
        total = options.get("total", TOTAL)
        levels = LevelColumns(records, widths, options.get("weight"))
        variables = find_variables(levels, spans, trees, link or {}, total)
        made = _Tables(records, value, variables, trees, widths, rules, options)
        if len(spans) == 1:
            table = made.tabulate(spans[0])
            return LinkedTables(table, (np.arange(len(table)),))
        return made.linked(spans)


@dataclass(frozen=True, eq=False)
class _Tables:
    """What tables of the same records have in common."""

    records: OpenRecords
    value: str | None
    variables: Variables
    declared: Trees
    widths: Mapping[str, int]
    rules: Sequence[Rule]
    options: Mapping[str, Any]

    def tabulate(self, by: Sequence[str], **more: Any) -> Table:
        """Make the table by some columns."""
        trees = self.variables.trees
        return tabulate(
            self.records,
            by,
            self.value,
            # Codes of columns without a hierarchy are looked at for totals.
            hierarchies={
                name: trees[name]
                for name in by
                if name in trees
                and not (trees[name].is_flat and name not in self.declared)
            },
            digits={name: self.widths[name] for name in by if name in self.widths},
            rules=[rule for rule in self.rules if _is_for(rule, by)],
            **{**self.options, **more},
        )

    def linked(self, spans: Sequence[Sequence[str]]) -> LinkedTables:
        """Make the tables by several spans, and link them."""
        variables = self.variables
        variable_of, unlinked = variables.variable_of, variables.unlinked
        axes = [variables.axes(span) for span in spans]
        groups = any(isinstance(rule, Group) for rule in self.rules)
        # Empty cells that a group rule lists must be listed down to the finest codes.
        if in_a_ring([self._splits(span) for span in axes]) or (groups and variable_of):
            finest = dict.fromkeys(axis.variable for span in axes for axis in span)
            rules = [
                replace(rule, variable=variable_of[rule.variable])
                if isinstance(rule, Group) and rule.variable in variable_of
                else rule
                for rule in self.rules
            ]
            whole = replace(self, rules=rules).tabulate(list(finest), spans=axes)
            origin = replace(
                whole.origin,
                tables=tuple(axes) if variable_of else (),
                unlinked=unlinked,
            )
            return LinkedTables(_of_spans(whole.replace(origin=origin), axes), ())
        linked = link_tables(
            [self.tabulate(span) for span in spans],
            links={name: v for name, v in variable_of.items() if name != v},
            unlinked=unlinked,
        )
        table = linked.table
        if table.origin.zeros and read_bounds(table.origin.bounds)[0] != "columns":
            # Empty cells may be hidden: nobody knows that a cell is not empty.
            table = with_bounds(table, table.origin.bounds)
        return replace(linked, table=table)

    def _splits(self, span: Sequence[Axis]) -> set[tuple[str, str]]:
        """Return what a table splits of each variable: the total if without levels."""
        found: set[tuple[str, str]] = set()
        for axis in span:
            tree = self.variables.trees.get(axis.variable)
            if axis.codes and tree is not None:
                found |= splits(tree, axis.variable, axis.codes)
            else:
                found.add((axis.variable, ""))
        return found


def _of_spans(table: Table, spans: Sequence[Sequence[Axis]]) -> Table:
    """Mark the cells of a table of all variables that no span has as not shown.

    They are hidden in any case, at no cost and without levels. They stay in the system,
    as attackers know that they are not negative, or empty.
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
    """Whether a rule applies to a table by these variables."""
    return not isinstance(rule, Group) or rule.variable in ("", *span)


def _refuse_groups(rules: Sequence[Rule], known: Sequence[str]) -> None:
    for rule in rules:
        if not _is_for(rule, known):
            raise InputError(
                f"the rule {rule_text(rule)} is of a variable that no table is made by",
                expected=f"one of {', '.join(known)}",
                hint="check the name, or write group for all of them",
            )
