"""Read what a user says of each column: the file that `evosdc inspect` writes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evosdc.errors import InputError
from evosdc.io.encoding import read_text

KINDS = (
    "category",
    "ordered",
    "number",
    "date",
    "derived",
    "identifier",
    "text",
    "constant",
)
ACTIONS = ("synthesise", "compute", "drop", "new", "copy")
_FIELDS = ("kind", "action", "bins")


@dataclass(frozen=True)
class ColumnsFile:
    """What a file of columns asks for, as options of a synthesis.

    Attributes
    ----------
    exclude
        Columns to leave out.
    identifiers
        Columns with fresh values, and columns that look like identifiers and are not.
    categories
        Columns of numbers whose values are levels.
    bins_by_name
        Bins by column.
    refuse
        Columns that look derived and are to be synthesised.
    """

    exclude: tuple[str, ...] = ()
    identifiers: Mapping[str, str] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    bins_by_name: Mapping[str, int] = field(default_factory=dict)
    refuse: tuple[str, ...] = ()


def read_columns_file(path: Path | None) -> ColumnsFile:
    """Read a file of columns; no file asks for nothing."""
    if path is None:
        return ColumnsFile()
    try:
        found = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"{path} is not TOML: {error}", hint="evosdc inspect FILE --toml writes one"
        ) from None
    columns = found.get("columns")
    if not isinstance(columns, dict):
        raise InputError(
            f"{path} has no columns", expected='sections such as [columns."age"]'
        )
    return _wishes(columns)


def _wishes(columns: Mapping[str, Any]) -> ColumnsFile:
    exclude, categories, refuse = [], [], []
    identifiers: dict[str, str] = {}
    bins: dict[str, int] = {}
    for name, wish in columns.items():
        kind, action = _checked(name, wish)
        if action == "drop":
            exclude.append(name)
        elif action == "new":
            identifiers[name] = "new"
        elif action == "synthesise":
            # Whatever it looks like: not derived, and no identifier to leave out.
            refuse.append(name)
            identifiers[name] = "keep"
            if kind in ("category", "ordered"):
                categories.append(name)
        if "bins" in wish:
            bins[name] = wish["bins"]
    return ColumnsFile(
        tuple(exclude), identifiers, tuple(categories), bins, tuple(refuse)
    )


def _checked(name: str, wish: Any) -> tuple[str, str]:
    if not isinstance(wish, dict):
        raise InputError(f"column {name!r} has no section", expected="kind and action")
    strange = [key for key in wish if key not in _FIELDS]
    if strange:
        raise InputError(
            f"column {name!r} has the unknown entry {strange[0]!r}",
            expected=", ".join(_FIELDS),
        )
    kind, action = wish.get("kind", "category"), wish.get("action", "synthesise")
    for value, known, what in ((kind, KINDS, "kind"), (action, ACTIONS, "action")):
        if value not in known:
            raise InputError(
                f"the {what} of column {name!r} is {value!r}", expected=", ".join(known)
            )
    if not isinstance(wish.get("bins", 1), int) or wish.get("bins", 1) < 1:
        raise InputError(
            f"the bins of column {name!r} are {wish['bins']!r}",
            expected="a whole number, at least 1",
        )
    return kind, action
