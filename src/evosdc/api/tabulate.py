"""The verb tabulate: from microdata to a table with its sensitive cells marked."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from evosdc.compile.clock import moment
from evosdc.errors import InputError
from evosdc.frames import like
from evosdc.io import open_microdata, pattern_frame, read_hierarchy, read_waiver
from evosdc.io.argus.rda import Description
from evosdc.io.records import Microdata
from evosdc.options import checked
from evosdc.results.tables import Tabulation
from evosdc.rules import Rule, parse_rules
from evosdc.table import TOTAL, Hierarchy
from evosdc.table.codes import listed
from evosdc.tabulation import tabulate as tabulate_one
from evosdc.tabulation import tabulate_linked

_NONE = "none"
Tree: TypeAlias = Hierarchy | str | os.PathLike[str]


@checked(
    tabulate_linked,
    tabulate_one,
    least={"threads": 1, "floor": 0},
    unchecked=("hierarchies",),
)
def tabulate(
    source: Any,
    by: Sequence[str] | Sequence[Sequence[str]] | str,
    value: str | None = None,
    *,
    weight: str | None = None,
    holding: str | None = None,
    request: str | None = None,
    hierarchies: Mapping[str, Tree | Sequence[str]] | None = None,
    rules: Sequence[Rule | str] | Rule | str = (),
    waiver: Sequence[str] | str | Path = (),
    link: Mapping[str, str] | None = None,
    **options: Any,
) -> Tabulation:
    """Tabulate microdata and mark its sensitive cells.

    Parameters
    ----------
    source
        A frame of any kind, a dict of columns, or the path of a file of any format of
        records (a pattern for several): CSV and Parquet are streamed, whatever their
        size; what the description of a tau-Argus file says of hierarchies holds unless
        they are given. Records may also stay where they are, in a database that
        aggregates them: ``"postgresql://host/database?table=firms"`` (credentials from
        the environment), a Spark DataFrame, or an Ibis table.
    by
        The spanning variables; several lists of them give linked tables, joined to one.
    value
        The response; without one the table counts records.
    weight, holding, request
        Columns with sampling weights, the group a contributor belongs to, and the
        contributors that asked for protection. Weights that the description of a
        tau-Argus file names are applied unless `weight` is ``"none"``; other roles that
        it names and that are not given here are said in a note.
    hierarchies
        The trees of codes of the variables that have one, the files of the trees, or
        lists of columns of the records, coarse to fine, the variable last:
        ``{"A88": ["A10", "A21", "A88"]}``. These are then levels of one variable in all
        tables.
    rules
        What makes a cell sensitive: rules, their short form such as ``"p:15"``, or the
        name of a preset. ``"none"`` where no rule applies: nothing is SAFE then.
    waiver
        Holdings that consented to be recognised, or the path of a file with one of them
        on each line: rules pass them over.
    link
        Of linked tables: columns that are levels of a variable of another name, or are
        unrelated to all others: ``{"A21": "A88", "SIZE": "none"}``.
    options
        Passed on to `evosdc.tabulation.tabulate`.

    Examples
    --------
    >>> import evosdc
    >>> firms = {
    ...     "region": ["N", "N", "N", "S", "S"],
    ...     "turnover": [90, 8, 7, 40, 35],
    ... }
    >>> evosdc.tabulate(firms, ["region"], "turnover", rules=["nk:1,75"])
    Tabulation(Table(region(3): 3 cells, 1 equations, 1 primaries), rules nk:1,75)
    """
    start = moment()
    if isinstance(waiver, (str, Path)):
        waiver = read_waiver(waiver)
    spans = _spans(by)
    total = options.get("total", TOTAL)
    template = source
    records = Microdata(source)
    if isinstance(source, (str, os.PathLike)):
        records = open_microdata(source, total=total)
    named = {name for span in spans for name in span}
    trees = {n: t for n, t in records.hierarchies.items() if n in named}
    trees |= read_trees(hierarchies, total) or {}
    weight, weighting = _weighting(weight, records.description)
    linked = tabulate_linked(
        records.source,
        spans,
        value,
        weight=weight,
        holding=holding,
        request=request,
        hierarchies=trees,
        rules=_rules(rules),
        waiver=waiver,
        link=link,
        **options,
    )
    notes = _not_used(records, named, total, holding, request, options)
    table = replace(
        linked.table,
        notes=(*linked.table.notes, *notes),
        origin=replace(linked.table.origin, weighting=weighting),
    )
    settings = {
        "by": spans,
        "value": value,
        "weight": weight,
        "rules": [rule for rule, _ in table.origin.rules or ()],
    }
    frame = like(pattern_frame(table), template)
    return Tabulation(table, frame, settings, moment() - start)


def read_trees(
    given: Mapping[str, Tree | Sequence[str]] | None, total: str = TOTAL
) -> dict[str, Any] | None:
    """Read the hierarchies that are given as files; leave trees and columns alone."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InputError(
            f"hierarchies is a {type(given).__name__}",
            expected="a mapping from the name of a variable to its hierarchy",
            hint="give hierarchies={'region': 'region.hrc'}",
        )
    return {
        name: list(tree) if _is_columns(tree) else _tree(name, tree, total)
        for name, tree in given.items()
    }


def _is_columns(tree: Any) -> TypeGuard[Sequence[str]]:
    listed = isinstance(tree, (list, tuple))
    return listed and all(isinstance(column, str) for column in tree)


def _tree(name: str, tree: Any, total: str) -> Hierarchy:
    if isinstance(tree, Hierarchy):
        return tree
    if isinstance(tree, (str, os.PathLike)):
        return read_hierarchy(tree, total=total)
    raise InputError(
        f"the hierarchy of {name!r} is of type {type(tree).__name__}",
        expected="an evosdc.Hierarchy, the path of a .hrc or .csv, or (in tabulate) a "
        "list of columns of the records",
        hint="see help(evosdc.tabulate)",
    )


def _weighting(
    weight: str | None, description: Description | None
) -> tuple[str | None, str]:
    """Return the column of weights, and what the claim says of it."""
    declared = [] if description is None else description.with_role("weight")
    names = [variable.name for variable in declared]
    if weight == _NONE:
        left = ", ".join(map(repr, names))
        return None, f"not weighted by {left}, though described" if names else ""
    if weight is not None:
        return weight, f"records weighted by {weight!r}"
    if not names:
        return None, ""
    if len(names) > 1:
        raise InputError(
            f"the description names {len(names)} variables of weights",
            expected=f"one of {', '.join(names)}, or none",
            hint=f"choose: --weight {names[0]} (weight={names[0]!r}), or --weight none",
        )
    return names[0], f"records weighted by {names[0]!r}, as their description says"


def _not_used(
    records: Microdata,
    named: Collection[str],
    total: str,
    holding: str | None,
    request: str | None,
    options: Mapping[str, Any],
) -> list[str]:
    """Say what a description names and the table does not take up."""
    if records.description is None:
        return []
    used = {"holding": holding, "request": request}
    used |= {role: options.get(role) for role in ("shadow", "cost")}
    notes = records.description.not_used(used, total)
    for name, codes in records.missing.items():
        if codes and name in named:
            notes.append(
                f"codes of {name!r} that the description calls missing are ordinary "
                f"codes: {listed(codes)}"
            )
    return notes


def _rules(given: Sequence[Rule | str] | Rule | str) -> list[Rule]:
    listed: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    if not listed:
        raise InputError(
            "no rule says what makes a cell sensitive",
            expected="rules, such as p:10 and freq:3 for firms or freq:3 for people",
            hint="give --rule p:10 --rule freq:3 (rules=['p:10', 'freq:3']), or say "
            "that no rule applies: --rule none (rules='none')",
        )
    if listed == [_NONE]:
        return []
    rules: list[Rule] = []
    for one in listed:
        if not isinstance(one, str) and not hasattr(one, "needs"):
            raise InputError(
                f"a rule is a {type(one).__name__}",
                expected="a rule, or its short form such as 'p:15'",
                hint="see docs/reference/rules.md",
            )
        rules += parse_rules([one]) if isinstance(one, str) else [one]
    return rules


def _spans(by: Sequence[str] | Sequence[Sequence[str]] | str) -> list[list[str]]:
    """Read one list of spanning variables, or several."""
    if isinstance(by, str):
        return [[by]]
    if all(isinstance(name, str) for name in by):
        return [[str(name) for name in by]]
    return [[span] if isinstance(span, str) else list(span) for span in by]
