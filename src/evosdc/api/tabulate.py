"""The verbs that make tables: tabulate from records, link several to one."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evosdc.api.sources import as_table, verb
from evosdc.compile.clock import moment
from evosdc.errors import InputError
from evosdc.frames import like
from evosdc.io import (
    open_microdata,
    pattern_frame,
    read_apriori_into,
    read_consents,
)
from evosdc.io.argus.rda import Description
from evosdc.io.records import Microdata
from evosdc.io.tables import read_hierarchies
from evosdc.options import tables as options
from evosdc.results.tables import Tabulation
from evosdc.rules import Rule, parse_rules
from evosdc.table import TOTAL
from evosdc.table.hierarchy import listed
from evosdc.table.link import LinkedTables, link_tables
from evosdc.tabulation import tabulate_linked

_NONE = "none"
# Roles of columns that a description may name; and all that is handed on as it is.
_ROLES = ("holding", "request", "shadow", "cost")
_CONTRIBUTORS = (*_ROLES, "floor", "count_zeros", "contributions")


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
    trees |= read_hierarchies(reading.hierarchies, total) or {}
    consent = who.consent
    if isinstance(consent, (str, os.PathLike)):
        consent = read_consents(consent)
    weight, weighting = _weighting(who.weight, records.description)
    where_given: dict[str, Any] = {"bounds": known.bounds, "threads": workers}
    where_given["memory_limit"] = reading.memory_limit
    linked = tabulate_linked(
        records.source,
        spans,
        value,
        hierarchies=trees,
        rules=_rules(rules),
        weight=weight,
        waiver=consent,
        whole_numbers=known.whole_numbers,
        total=total,
        **{name: getattr(who, name) for name in _CONTRIBUTORS},
        **{name: getattr(reading, name) for name in ("digits", "flat", "link")},
        **{name: one for name, one in where_given.items() if one is not None},
    )
    table = replace(
        linked.table,
        notes=(*linked.table.notes, *_not_used(records, named, total, who)),
        origin=replace(linked.table.origin, weighting=weighting),
    )
    if reading.apriori is not None:
        table = read_apriori_into(table, reading.apriori)
    used = [rule for rule, _ in table.origin.rules or ()]
    settings = {"by": spans, "value": value, "weight": weight, "rules": used}
    frame = like(pattern_frame(table), source)
    return Tabulation(table, frame, settings, moment() - start)


def _weighting(
    weight: str | None, description: Description | None
) -> tuple[str | None, str]:
    """Return the column of weights, and what the claim says of it."""
    names: list[str] = []
    if description is not None:
        names = [variable.name for variable in description.with_role("weight")]
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
    """Return notes on what a description names and the table does not use."""
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
    for one in listed:
        if not isinstance(one, str) and not hasattr(one, "needs"):
            raise InputError(
                f"a rule is a {type(one).__name__}",
                expected="a rule, or its short form such as 'p:15'",
                hint="see docs/reference/rules.md",
            )
    parsed = (parse_rules([one]) if isinstance(one, str) else [one] for one in listed)
    return [rule for rules in parsed for rule in rules]


def _spans(by: Sequence[str] | Sequence[Sequence[str]] | str) -> list[list[str]]:
    """Read one list of spanning variables, or several."""
    if isinstance(by, str):
        return [[by]]
    if all(isinstance(name, str) for name in by):
        return [[str(name) for name in by]]
    return [[span] if isinstance(span, str) else list(span) for span in by]


@verb(options.LINK)
def link(
    tables: Sequence[Any],
    links: Mapping[str, str] | None = None,
    *,
    read: options.Read | None = None,
) -> LinkedTables:
    """Join tables over the cells that they share, so that they are protected together.

    Parameters
    ----------
    tables
        Labelled tables, in any of the kinds that `protect` takes: a code of a dimension
        of the same name stands for the same records in all of them.
    links
        Dimensions of other names that are levels of one variable, ``{"A21": "A88"}``,
        or that are unrelated to all others, ``{"A21": "none"}``.
    read
        How the frames and files are read, as in `protect`.

    Returns
    -------
    LinkedTables
        The joint table, and where the cells of each part are in it; every verb takes
        it for a table.

    Examples
    --------
    >>> import evosdc
    >>> by_region = {"region": ["N", "S"], "value": [30, 70]}
    >>> by_size = {"size": ["a", "b", "c"], "value": [20, 35, 45]}
    >>> linked = evosdc.link([by_region, by_size])
    >>> len(linked.table), [len(cells) for cells in linked.cell_numbers]
    (6, [3, 4])
    """
    given = options.VerbOptions.of(options.LINK, read=read)
    parts = [as_table(table, given.read) for table in tables]
    return link_tables(parts, links=links)
