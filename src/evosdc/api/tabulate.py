"""The verb tabulate: from microdata to a table with its sensitive cells marked."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from evosdc.api.verb import verb
from evosdc.compile.clock import moment
from evosdc.errors import InputError
from evosdc.frames import like
from evosdc.io import (
    open_microdata,
    pattern_frame,
    read_apriori_into,
    read_waiver,
)
from evosdc.io.argus.rda import Description
from evosdc.io.as_declared import read_trees
from evosdc.io.records import Microdata
from evosdc.options import tables as options
from evosdc.options.objects import Paths
from evosdc.results.tables import Tabulation
from evosdc.rules import Rule, parse_rules
from evosdc.table import TOTAL
from evosdc.table.codes import listed
from evosdc.tabulation import tabulate_linked

_NONE = "none"
# Roles of columns that a description may name.
_ROLES = ("holding", "request", "shadow", "cost")


@verb(options.TABULATE)
def tabulate(
    source: Any,
    by: Sequence[str] | Sequence[Sequence[str]] | str,
    value: str | None = None,
    *,
    rules: Sequence[Rule | str] | Rule | str = (),
    workers: int | None = None,
    contributors: options.Contributors | None = None,
    prior: options.Prior | None = None,
    read: options.Read | None = None,
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
    rules
        What makes a cell sensitive: rules, their short form such as ``"p:15"``, or the
        name of a preset. ``"none"`` where no rule applies: nothing is SAFE then.
    workers
        Threads that read records.
    contributors, prior, read
        Who stands behind the cells: weights, holdings, consent; what everyone knows;
        and how the records are read: hierarchies, totals, digits of codes, links of
        variables. Weights that the description of a tau-Argus file names are applied
        unless the weight is ``"none"``; other roles that it names and that are not
        given here are said in a note. A hierarchy may also be a list of columns of the
        records, coarse to fine, the variable last: ``{"A88": ["A10", "A21", "A88"]}``;
        these are then levels of one variable in all tables.

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
    options.TabulateKeywords(rules=rules, workers=workers)
    given = options.VerbOptions.of(
        options.TABULATE, contributors=contributors, prior=prior, read=read
    )
    who, reading, known = given.contributors, given.read, given.prior
    spans = _spans(by)
    total = TOTAL if reading.totals is None else reading.totals
    if not isinstance(total, str):
        raise InputError(
            "totals is a mapping", expected="one code for the totals of all variables"
        )
    is_path = isinstance(source, (str, os.PathLike))
    records = open_microdata(source, total=total) if is_path else Microdata(source)
    named = {name for span in spans for name in span}
    trees = {n: t for n, t in records.hierarchies.items() if n in named}
    trees |= read_trees(reading.hierarchies, total) or {}
    weight, weighting = _weighting(who.weight, records.description)
    further = {
        "bounds": known.bounds,
        "memory_limit": reading.memory_limit,
        "threads": workers,
    }
    linked = tabulate_linked(
        records.source,
        spans,
        value,
        weight=weight,
        holding=who.holding,
        request=who.request,
        shadow=who.shadow,
        cost=who.cost,
        hierarchies=trees,
        rules=_rules(rules),
        floor=who.floor,
        waiver=_consent(who.consent),
        count_zeros=who.count_zeros,
        contributions=who.contributions,
        whole_numbers=known.whole_numbers,
        total=total,
        digits=reading.digits,
        flat=reading.flat,
        link=reading.link,
        **{name: one for name, one in further.items() if one is not None},
    )
    notes = _not_used(records, named, total, who)
    table = replace(
        linked.table,
        notes=(*linked.table.notes, *notes),
        origin=replace(linked.table.origin, weighting=weighting),
    )
    if reading.apriori is not None:
        table = read_apriori_into(table, reading.apriori)
    settings = {
        "by": spans,
        "value": value,
        "weight": weight,
        "rules": [rule for rule, _ in table.origin.rules or ()],
    }
    frame = like(pattern_frame(table), source)
    return Tabulation(table, frame, settings, moment() - start)


def _consent(given: Sequence[str] | Paths) -> Sequence[str]:
    if isinstance(given, (str, os.PathLike)):
        return read_waiver(given)
    return given


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
            hint=f"choose: --weight {names[0]} (Contributors(weight={names[0]!r})), or "
            "--weight none",
        )
    return names[0], f"records weighted by {names[0]!r}, as their description says"


def _not_used(
    records: Microdata, named: Collection[str], total: str, who: options.Contributors
) -> list[str]:
    """Say what a description names and the table does not take up."""
    if records.description is None:
        return []
    used = {role: getattr(who, role) for role in _ROLES}
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
