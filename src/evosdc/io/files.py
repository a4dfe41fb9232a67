"""One door for tables: the suffix of a name says the format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from evosdc.errors import InputError, refuse_unknown
from evosdc.io.argus.jj import read_jj, write_jj
from evosdc.io.argus.tab import read_tab, write_tab
from evosdc.io.labelled import labelled_columns, read_labelled, write_labelled
from evosdc.io.paths import PathLike, refuse_existing, refuse_side
from evosdc.io.sidecar import read_sidecar, refuse_sidecar, write_with_sidecar
from evosdc.io.suffixes import (
    CSV,
    JJ,
    PARQUET,
    TAB,
    Format,
    format_to_read,
    format_to_write,
)
from evosdc.table import Table, link_tables

_LABELLED = (CSV, PARQUET)


def read_table(path: PathLike, **options: Any) -> Table:
    """Read a table from a JJ, CSV, Parquet or tau-Argus file.

    `options` are those of `evosdc.io.labelled.read_labelled` or
    `evosdc.io.argus.tab.read_tab`; None is left out. JJ files say everything
    themselves and take none, and the totals of a ``.tab`` are those of its ``.rda``:
    ``totals`` is passed over for both.

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
    given = {key: option for key, option in options.items() if option is not None}
    if form not in _LABELLED:
        given.pop("totals", None)
    readers: dict[Format, Callable[..., Table]] = {TAB: read_tab, JJ: read_jj}
    reader = readers.get(form, read_labelled)
    known = [
        name
        for name, parameter in signature(reader).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    what = "this format takes no option {}"
    refuse_unknown(given, known, what, hint="leave the option out")
    table = reader(p, **given)
    if form in _LABELLED:
        return table
    side = read_sidecar(p)
    return table if side is None else side.added_to(table, labels=form is TAB)


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
        if (trees or flat) and format_to_read(path, "table") in _LABELLED:
            columns = labelled_columns(path)
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
    """Write a table in the format its name says, and what that cannot hold beside it.

    Rules, prior knowledge and hierarchies travel with the table: inside a Parquet file,
    for the others in ``NAME.json`` (see ``docs/reference/formats.md``).

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
    if form in _LABELLED:
        write_labelled(p, table, force=force)
        return
    write = write_tab if form is TAB else write_jj
    write_with_sidecar(p, table, write, labels=form is TAB, force=force)


def check_output_file(path: PathLike, *, force: bool = False) -> Path:
    """Return the path of a table that may be written, before the work begins."""
    form = format_to_write(path, "table")
    p = refuse_existing(path, force)
    if form is not PARQUET:
        refuse_sidecar(p, force)
    if form is TAB:
        refuse_side(p.with_suffix(".rda"), p, force)
    return p
