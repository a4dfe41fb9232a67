"""One door for microdata: what DuckDB can stream is left on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evosdc.databases import as_database, is_address
from evosdc.io.argus.asc import read_asc
from evosdc.io.argus.rda import Description, rda_beside, read_rda
from evosdc.io.paths import PathLike, is_pattern
from evosdc.io.suffixes import (
    CSV,
    PARQUET,
    format_to_read,
)
from evosdc.table import TOTAL, Hierarchy


@dataclass(frozen=True, eq=False)
class Microdata:
    """Records and what their description says of them.

    Attributes
    ----------
    source
        A path to be streamed (CSV, Parquet), the records as an Arrow table, or the
        database that holds them.
    hierarchies
        Trees of the variables that have one.
    description
        The ``.rda`` of tau-Argus files.
    missing
        Codes in the records that mean "unknown", by variable.
    """

    source: Any
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    description: Description | None = None
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)


def open_microdata(
    path: PathLike, *, rda: PathLike | None = None, total: str = TOTAL
) -> Microdata:
    """Open microdata of any format, several files by a pattern, or a database.

    The ``.rda`` of tau-Argus files is looked for beside them, whatever the case of its
    name, unless it is given.
    """
    if is_address(path):
        return Microdata(as_database(path))
    p = Path(path)
    if is_pattern(path) or (
        rda is None and format_to_read(p, "records") in (CSV, PARQUET)
    ):
        return Microdata(p)
    description = read_rda(rda_beside(p, "records") if rda is None else rda)
    frame = read_asc(p, description)
    trees: dict[str, Hierarchy] = {}
    unknown: dict[str, list[str]] = {}
    for variable in description.with_role("code"):
        codes = set(frame[variable.name].unique().drop_null().to_pylist())
        missing = unknown[variable.name] = sorted(codes & set(variable.missing))
        codes -= set(missing)
        tree = description.hierarchy(variable.name, sorted(codes), total=total)
        if tree is not None:
            trees[variable.name] = _with_leaves(tree, missing)
    return Microdata(frame, trees, description, unknown)


def _with_leaves(tree: Hierarchy, codes: Sequence[str]) -> Hierarchy:
    """Hang codes that a tree does not have right under its total."""
    new = tuple(code for code in codes if code not in tree.node_of)
    return Hierarchy(tree.codes + new, tree.parents + (0,) * len(new))
