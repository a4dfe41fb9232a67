"""What a verb is given, checked and read as one question about a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from evosdc.api.requests import attackers_asked
from evosdc.attack import Requirements
from evosdc.compile import small_jobs
from evosdc.errors import InputError
from evosdc.io import read_apriori_into, read_table, table_from_frame
from evosdc.io.cells import read_already_published
from evosdc.io.from_frame import refuse_reserved
from evosdc.io.tables import read_declared, reader_options
from evosdc.options import Takes, check_arguments
from evosdc.options.tables import Read, VerbOptions
from evosdc.results import Claim, TableVerdict
from evosdc.results.claims import claim_of
from evosdc.results.result import WrittenResult
from evosdc.results.tables import Tabulation
from evosdc.table import Table
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
P = ParamSpec("P")
R = TypeVar("R")


def verb(takes: Mapping[str, Takes]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a verb that takes these objects of options, by its keywords."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            check_arguments(function, takes, args, kwargs)
            with small_jobs.job():
                return function(*args, **kwargs)

        return call

    return decorate


@dataclass(frozen=True, eq=False)
class Known:
    """Cells that everyone has from earlier publications, and which these were."""

    cells: NDArray[np.bool_]
    words: tuple[str, ...]
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()


@dataclass(frozen=True, eq=False)
class TableQuestion:
    """What is asked of a table: its cells, its attackers, and what everyone has."""

    table: Table
    options: VerbOptions
    against: Requirements
    before: Known

    @classmethod
    def of(cls, source: Any, given: VerbOptions) -> TableQuestion:
        """Read all that a verb was given."""
        table = as_table(source, given.read)
        refuse_reserved(d.name for d in table.dimensions)
        table = _with_prior(table, given)
        small_jobs.has(len(table))
        against = attackers_asked(given.attackers, table)
        return cls(table, given, against, _known(table, given.prior.already_published))

    def claim(
        self, table: Table, verdict: TableVerdict, bound: str | None = None
    ) -> Claim:
        """Return what a verdict on a pattern of the table states; see `claim_of`."""
        return claim_of(
            table,
            verdict,
            strict=self.against.strict,
            secondaries=self.against.secondaries,
            earlier=self.before.words,
            known=self.before.cells,
            attackers=self.against.attackers,
            coalitions=len(self.against.coalitions),
            bound=bound,
        )


def as_table(source: Any, read: Read) -> Table:
    """Take a `Table`, a `Tabulation`, a frame or a path for a table; link several."""
    sources = list(source) if isinstance(source, (list, tuple)) else [source]
    if read.link and len(sources) == 1:
        raise InputError(
            "link (--link) for one table",
            expected="several tables, whose variables can be linked",
            hint="leave it out; tables that are made together are linked already",
        )
    if all(isinstance(one, (str, os.PathLike)) for one in sources):
        return read_declared(sources, read)
    parts = [_one(one, read) for one in sources]
    table = parts[0]
    if len(parts) > 1:
        table = link_tables(parts, links=read.link).table
    if read.apriori is None:
        return table
    return read_apriori_into(table, read.apriori, level_percent=read.level_percent)


def _one(source: Any, read: Read) -> Table:
    if isinstance(source, (Tabulation, LinkedTables)):
        source = source.table
    if isinstance(source, Table):
        # With an a-priori file the percentage is of the cells that it names.
        used = replace(read, level_percent=None) if read.apriori else read
        for name in reader_options(used):
            raise InputError(
                f"read has {name} for a table that is made already",
                expected="a frame or a file, which are read",
                hint=f"leave {name} out",
            )
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_table(source, **reader_options(read))
    if isinstance(source, WrittenResult):
        kind = type(source).__name__
        article = "an" if kind[0] in "AE" else "a"
        found = [n for n in ("table", "pattern") if hasattr(source, n)]
        part = found[0] if found else "files"
        more = " (and pattern=result.pattern for audit)" if "pattern" in found else ""
        raise InputError(
            f"{article} {kind} is given for a table",
            expected="a table, a frame or a path",
            hint=f"give a part of it: result.{part}{more}",
        )
    return table_from_frame(source, **reader_options(read))


def _with_prior(table: Table, given: VerbOptions) -> Table:
    """Return the table with what its attackers are assumed to know."""
    prior = given.prior
    if prior.counts is True and not table.origin.counts:
        table = as_counts(table)
    elif prior.counts is False and table.origin.counts:
        table = table.replace(origin=replace(table.origin, counts=False))
        if table.origin.bounds == AUTO:
            table = with_bounds(table, AUTO)
    if prior.bounds is not None:
        table = with_bounds(table, prior.bounds)
    if prior.published_threshold is not None:
        table = with_threshold(table, prior.published_threshold)
    table = in_whole_numbers(with_whole_numbers(table, prior.whole_numbers))
    return _with_rules(table, given.read.rules, by_hand=bool(given.cells.hide))


def _with_rules(
    table: Table, rules: str | Sequence[str] | None, *, by_hand: bool
) -> Table:
    """Note that no rule applies; refuse tables of which nobody says what is sensitive.

    `by_hand`: sensitive cells are requested besides.
    """
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
    marked = by_hand or bool((table.status == PRIMARY).any())
    # Of a table that was tabulated without rules it is known: its rules are none.
    if table.origin.rules is None and not marked:
        raise InputError(
            "the table has no sensitive cell, and no rule says that it has none",
            expected="statuses u in the table, or the rules that found no such cell",
            hint="tabulate with --rule p:10 --rule freq:3, mark cells by hand, or say "
            "that no rule applies: --rule none (Read(rules='none')); nothing is SAFE "
            "then",
        )
    return table


def _known(table: Table, earlier: Any) -> Known:
    """Read earlier publications: paths or frames, one or several."""
    given = [] if earlier is None else earlier
    if not isinstance(given, (list, tuple)):
        given = [given]
    cells = np.zeros(len(table), dtype=bool)
    words: list[str] = []
    notes: list[str] = []
    files: list[Path] = []
    for source in given:
        found = read_already_published(source, table)
        cells |= found.known
        name = "a frame"
        if isinstance(source, (str, os.PathLike)):
            name = Path(source).name
            files.append(Path(source).resolve())
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
