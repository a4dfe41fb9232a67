"""Tables in files, read as the declared options say."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from evosdc.errors import InputError
from evosdc.io.argus.hrc import read_hierarchy
from evosdc.io.argus.hst import read_apriori_into
from evosdc.io.files import read_tables
from evosdc.io.paths import PathLike
from evosdc.options.objects import Read
from evosdc.table import TOTAL, Hierarchy, Table


def read_files(paths: Sequence[PathLike], read: Read) -> Table:
    """Read a table, or several as one of linked tables, with an a-priori file."""
    table = read_tables(paths, link=read.link, **reading(read))
    if read.apriori is None:
        return table
    return read_apriori_into(table, read.apriori, level_percent=read.level_percent)


def reading(read: Read) -> dict[str, Any]:
    """Return what is said of reading, as `evosdc.io.read_table` takes it."""
    names = ("dimensions", "totals", "value", "missing", "flat", "level_percent")
    given = {name: getattr(read, name) for name in names}
    total = read.totals if isinstance(read.totals, str) else TOTAL
    given["hierarchies"] = read_trees(read.hierarchies, total)
    for name, tree in (given["hierarchies"] or {}).items():
        if not isinstance(tree, Hierarchy):
            raise InputError(
                f"the hierarchy of {name!r} is of type {type(tree).__name__}",
                expected="a Hierarchy or the path of a file",
                hint="columns of levels belong to tabulate, which has the records",
            )
    return {name: value for name, value in given.items() if value}


def read_trees(
    given: Mapping[str, Any] | None, total: str = TOTAL
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
