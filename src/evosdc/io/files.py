"""One door for tables: the suffix of a name says the format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evosdc.errors import InputError
from evosdc.io.jj import read_jj, write_jj
from evosdc.io.labelled import read_labelled, write_labelled
from evosdc.io.paths import PathLike, open_output, readable
from evosdc.io.tab import read_tab, write_tab
from evosdc.table import Table

__all__ = ["open_output", "read_table", "write_table"]

_LABELLED = (".csv", ".csv.gz", ".parquet")
_JJ = (".jj", ".jj.gz")
_SUFFIXES = ".jj, .jj.gz, .csv, .csv.gz, .parquet or .tab"


def read_table(path: PathLike, **options: Any) -> Table:
    """Read a table from ``.jj``, ``.jj.gz``, ``.csv``, ``.csv.gz``, ``.parquet``, ``.tab``.

    `options` go to the reader of the format (`read_labelled`, `read_tab`); options that
    are None are left out, and JJ files, which say everything themselves, take none.
    """
    p = readable(path)
    name = p.name.lower()
    given = {key: option for key, option in options.items() if option is not None}
    if name.endswith(_JJ):
        if given:
            raise InputError(
                f"a JJ file takes no option {next(iter(given))!r}",
                expected="no options: values, levels and equations are in the file",
                hint="leave the option out",
            )
        return read_jj(p)
    if name.endswith(_LABELLED):
        return read_labelled(p, **given)
    if name.endswith(".tab"):
        return read_tab(p, **given)
    raise _unknown(p)


def write_table(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a table in the format its name says."""
    p = Path(path)
    name = p.name.lower()
    if name.endswith(_JJ):
        write_jj(p, table, force=force)
    elif name.endswith(_LABELLED):
        write_labelled(p, table, force=force)
    elif name.endswith(".tab"):
        write_tab(p, table, force=force)
    else:
        raise _unknown(p)


def _unknown(path: Path) -> InputError:
    return InputError(
        f"{path.name} has no suffix of a table",
        expected=f"a name that ends in {_SUFFIXES}",
        hint="rename the file",
    )
