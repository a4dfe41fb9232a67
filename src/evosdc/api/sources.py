"""What is given for a table, and what is assumed of its attackers, as a table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.api.tabulate import read_trees
from evosdc.errors import InputError
from evosdc.io import read_table, table_from_frame
from evosdc.io.cells import read_earlier
from evosdc.results.tables import Tabulation
from evosdc.table import Hierarchy, Table
from evosdc.table.knowledge import (
    as_counts,
    in_whole_numbers,
    with_bounds,
    with_threshold,
    with_whole_numbers,
)
from evosdc.table.link import LinkedTables, link_tables
from evosdc.table.origin import AUTO
from evosdc.table.status import PRIMARY

NO_RULE = "none"


@dataclass(frozen=True, eq=False)
class Known:
    """Cells that everyone has from earlier publications, and which these were."""

    cells: NDArray[np.bool_]
    words: tuple[str, ...]
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()


def as_table(
    source: Any, *, link: Mapping[str, str] | None = None, **reading: Any
) -> Table:
    """Take a `Table`, a `Tabulation`, a frame or a path for a table.

    Several are linked; `link` is that of `evosdc.table.link_tables`.
    """
    if link and not isinstance(source, (list, tuple)):
        raise InputError(
            "link (--link) for one table",
            expected="several tables, whose variables can be linked",
            hint="leave it out; tables that are made together are linked already",
        )
    if isinstance(source, Table):
        return source
    if isinstance(source, (Tabulation, LinkedTables)):
        return source.table
    if isinstance(source, (list, tuple)):
        parts = [as_table(part, **reading) for part in source]
        return link_tables(parts, links=link).table
    if "hierarchies" in reading:
        trees = read_trees(reading["hierarchies"])
        for name, tree in (trees or {}).items():
            if not isinstance(tree, Hierarchy):
                raise InputError(
                    f"the hierarchy of {name!r} is of type {type(tree).__name__}",
                    expected="a Hierarchy or the path of a file",
                    hint="columns of levels belong to tabulate, which has the records",
                )
        reading["hierarchies"] = trees
    if isinstance(source, (str, os.PathLike)):
        return read_table(source, **reading)
    return table_from_frame(source, **reading)


def assumed(
    table: Table,
    *,
    bounds: str | None,
    counts: bool | None,
    threshold: int | None,
    whole_numbers: bool | None,
    rules: str | Sequence[str] | None,
    by_hand: bool = False,
) -> Table:
    """Return the table with what its attackers are assumed to know.

    Parameters
    ----------
    bounds, threshold, whole_numbers
        See `evosdc.table.knowledge`.
    counts
        Whether cells count people or firms; None leaves it to the table.
    rules
        ``"none"`` where somebody decided that no primary rule applies.
    by_hand
        Whether somebody names sensitive cells besides.
    """
    if counts is True and not table.origin.counts:
        table = as_counts(table)
    elif counts is False and table.origin.counts:
        table = table.replace(origin=replace(table.origin, counts=False))
        if table.origin.bounds == AUTO:
            table = with_bounds(table, AUTO)
    if bounds is not None:
        table = with_bounds(table, bounds)
    if threshold is not None:
        table = with_threshold(table, threshold)
    table = in_whole_numbers(with_whole_numbers(table, whole_numbers))
    return _with_rules(table, rules, by_hand)


def _with_rules(
    table: Table, rules: str | Sequence[str] | None, by_hand: bool
) -> Table:
    given = [rules] if isinstance(rules, str) else list(rules or ())
    if given and given != [NO_RULE]:
        raise InputError(
            f"rules {', '.join(given)} for a table that is made already",
            expected=f"{NO_RULE!r}, or no rules: they look at contributors",
            hint="tabulate the records with these rules (evosdc tabulate --rule ...)",
        )
    if given:
        if table.origin.rules:
            raise InputError(
                "no rule is to apply to a table that was made with "
                + ", ".join(rule for rule, _ in table.origin.rules),
                expected="a table without rules",
                hint="leave --rule none out",
            )
        return table.replace(origin=replace(table.origin, rules=()))
    someone = by_hand or bool((table.status == PRIMARY).any())
    if not table.origin.rules and not someone:
        raise InputError(
            "the table has no sensitive cell, and no rule says that it has none",
            expected="statuses u in the table, or the rules that found no such cell",
            hint="tabulate with --rule p:10 --rule freq:3, mark cells by hand, or say "
            "that no rule applies: --rule none (rules='none'); nothing is SAFE then",
        )
    return table


def known_before(table: Table, earlier: Any) -> Known:
    """Read earlier publications: paths or frames, one or several."""
    given = [] if earlier is None else earlier
    if not isinstance(given, (list, tuple)):
        given = [given]
    cells = np.zeros(len(table), dtype=bool)
    words: list[str] = []
    notes: list[str] = []
    files: list[Path] = []
    for source in given:
        found = read_earlier(source, table)
        cells |= found.known
        named = isinstance(source, (str, os.PathLike))
        name = Path(source).name if named else "a frame"
        files += [Path(source).resolve()] if named else []
        word = f"{name} ({int(found.known.sum()):,} cells)"
        if found.others:
            word += f", {found.others:,} more of its cells are not judged with this"
            notes.append(
                f"{found.others:,} published cells of {name} are no cells of this "
                "table: what follows from them is not judged; link the tables from the "
                "records if they are of the same"
            )
        words.append(word)
    return Known(cells, tuple(words), tuple(notes), tuple(files))


def template_of(source: Any) -> Any:
    """The frame whose kind the answer has."""
    first = source[0] if isinstance(source, (list, tuple)) else source
    return first.frame if isinstance(first, Tabulation) else first
