"""Tables in files of any format, read as the options say."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, TypeGuard

from evosdc.errors import InputError, refuse_unknown
from evosdc.formats import PARQUET, TAB
from evosdc.io.argus.hrc import read_hierarchy
from evosdc.io.argus.hst import read_apriori_into
from evosdc.io.columns import read_columns
from evosdc.io.paths import PathLike, refuse_companion, refuse_existing
from evosdc.io.sidecar import read_sidecar, refuse_sidecar, write_with_sidecar
from evosdc.io.suffixes import format_to_read, format_to_write, load
from evosdc.options.objects import Read
from evosdc.table import TOTAL, Hierarchy, Table, link_tables


def read_table(path: PathLike, **options: Any) -> Table:
    """Read a table from a JJ, CSV, Parquet or tau-Argus file.

    `options` are those of the reader of the format, such as
    `evosdc.io.labelled.read_labelled` or `evosdc.io.argus.tab.read_tab`; None is left
    out. JJ files say everything themselves and take none, and the totals of a ``.tab``
    are those of its ``.rda``: ``totals`` has no effect on both.

    Examples
    --------
    >>> import evosdc, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.csv")
    ...     _ = path.write_text("region,value,status\\nN,5,s\\nS,20,s\\n")
    ...     evosdc.read_table(path)
    Table(region(3): 3 cells, 1 equations, 0 primaries)
    """
    p = Path(path)
    form = format_to_read(p, "table")
    reader = load(form.read["table"])
    known = [
        name
        for name, parameter in signature(reader).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    given = {key: option for key, option in options.items() if option is not None}
    if "totals" not in known:
        given.pop("totals", None)
    what = "this format takes no option {}"
    refuse_unknown(given, known, what, hint="leave the option out")
    table: Table = reader(p, **given)
    if form.has_columns:
        return table
    side = read_sidecar(p)
    return table if side is None else side.apply_to(table, labels=form.labels)


def read_tables(
    paths: Sequence[PathLike],
    *,
    link: Mapping[str, str] | None = None,
    **options: Any,
) -> Table:
    """Read a table, or several over the same records as one of linked tables.

    `options` are those of `read_table`; a hierarchy, or a name in ``flat``, goes to the
    tables that have its dimension. `link` is that of `evosdc.table.link_tables`.
    """
    if len(paths) == 1:
        if link:
            raise InputError(
                f"--link for one table, {paths[0]}",
                expected="several tables, whose variables can be linked",
                hint="leave it out; tables that are made together are linked already",
            )
        return read_table(paths[0], **options)
    given = dict(options)
    trees = dict(given.pop("hierarchies", None) or {})
    flat = list(given.pop("flat", None) or ())
    tables: list[Table] = []
    used: set[str] = set()
    for path in paths:
        mine: dict[str, Any] = {}
        sure: list[str] = []
        if (trees or flat) and format_to_read(path, "table").has_columns:
            columns = read_columns(path).column_names
            mine = {name: tree for name, tree in trees.items() if name in columns}
            sure = [name for name in flat if name in columns]
        used.update(mine, sure)
        tables.append(
            read_table(path, **given, hierarchies=mine or None, flat=sure or None)
        )
    what = "there is a hierarchy or --flat for {}, which no table has"
    refuse_unknown([*trees, *flat], used, what)
    return link_tables(tables, links=link).table


def write_table(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a table in the format its name says, with a side file where it needs one.

    Rules, prior knowledge and hierarchies are kept with the table: inside a Parquet
    file, else in ``NAME.json`` (see ``docs/reference/formats.md``).

    Parameters
    ----------
    path
        The file, for its owner only: ``.csv``, ``.parquet``, ``.jj`` or ``.tab``.
    force
        Replace a file that is there.

    Examples
    --------
    >>> import evosdc, pathlib, tempfile
    >>> firms = {"region": ["N", "N", "S"], "sales": [90, 8, 40]}
    >>> table = evosdc.tabulate(firms, ["region"], "sales", rules=["p:10"]).table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.parquet")
    ...     evosdc.write_table(path, table)
    ...     evosdc.read_table(path).origin.rules
    (('p:10', 3),)
    """
    p = check_output_file(path, force=force)
    form = format_to_write(p, "table")
    write = load(form.written["table"])
    if form.has_columns:
        write(p, table, force=force)
    else:
        write_with_sidecar(p, table, write, labels=form.labels, force=force)


def check_output_file(path: PathLike, *, force: bool = False) -> Path:
    """Return the path of a table that may be written, before the work begins."""
    form = format_to_write(path, "table")
    p = refuse_existing(path, force)
    if form is not PARQUET:
        refuse_sidecar(p, force)
    if form is TAB:
        refuse_companion(p.with_suffix(".rda"), p, force)
    return p


def read_declared(paths: Sequence[PathLike], read: Read) -> Table:
    """Read a table, or several as one of linked tables, as the options say."""
    table = read_tables(paths, link=read.link, **reader_options(read))
    if read.apriori is None:
        return table
    return read_apriori_into(table, read.apriori, level_percent=read.level_percent)


def reader_options(read: Read) -> dict[str, Any]:
    """Return the options of reading as `read_table` takes them."""
    names = ("dimensions", "totals", "value", "missing", "flat", "level_percent")
    given = {name: getattr(read, name) for name in names}
    total = read.totals if isinstance(read.totals, str) else TOTAL
    given["hierarchies"] = read_hierarchies(read.hierarchies, total)
    for name, tree in (given["hierarchies"] or {}).items():
        if not isinstance(tree, Hierarchy):
            raise InputError(
                f"the hierarchy of {name!r} is of type {type(tree).__name__}",
                expected="a Hierarchy or the path of a file",
                hint="columns of levels belong to tabulate, which has the records",
            )
    return {name: value for name, value in given.items() if value}


def read_hierarchies(
    given: Mapping[str, Any] | None, total: str = TOTAL
) -> dict[str, Any] | None:
    """Read the hierarchies that are given as files; return the others as they are."""
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
