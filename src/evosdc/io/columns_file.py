"""The columns file: what the user says of each column, in TOML (`evosdc inspect`)."""

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
    """The options of a synthesis that a columns file sets.

    Attributes
    ----------
    exclude
        Columns to leave out.
    identifiers
        Columns that get new values, and columns that only look like identifiers.
    categories
        Columns of numbers that are categories.
    bins_by_name
        Bins by column.
    refuse
        Columns to synthesise although they look derived.
    """

    exclude: tuple[str, ...] = ()
    identifiers: Mapping[str, str] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    bins_by_name: Mapping[str, int] = field(default_factory=dict)
    refuse: tuple[str, ...] = ()


def read_columns_file(path: Path | None) -> ColumnsFile:
    """Read a columns file; without a file no option is set."""
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
    return _options(columns)


def _options(columns: Mapping[str, Any]) -> ColumnsFile:
    exclude, categories, refuse = [], [], []
    identifiers: dict[str, str] = {}
    bins: dict[str, int] = {}
    for name, given in columns.items():
        kind, action = _checked(name, given)
        if action == "drop":
            exclude.append(name)
        elif action == "new":
            identifiers[name] = "new"
        elif action == "synthesise":
            # Even if it looks derived, or like an identifier.
            refuse.append(name)
            identifiers[name] = "keep"
            if kind in ("category", "ordered"):
                categories.append(name)
        if "bins" in given:
            bins[name] = given["bins"]
    return ColumnsFile(
        tuple(exclude), identifiers, tuple(categories), bins, tuple(refuse)
    )


def _checked(name: str, given: Any) -> tuple[str, str]:
    if not isinstance(given, dict):
        raise InputError(f"column {name!r} has no section", expected="kind and action")
    unknown = [key for key in given if key not in _FIELDS]
    if unknown:
        raise InputError(
            f"column {name!r} has the unknown entry {unknown[0]!r}",
            expected=", ".join(_FIELDS),
        )
    kind, action = given.get("kind", "category"), given.get("action", "synthesise")
    for value, known, what in ((kind, KINDS, "kind"), (action, ACTIONS, "action")):
        if value not in known:
            raise InputError(
                f"the {what} of column {name!r} is {value!r}", expected=", ".join(known)
            )
    if not isinstance(given.get("bins", 1), int) or given.get("bins", 1) < 1:
        raise InputError(
            f"the bins of column {name!r} are {given['bins']!r}",
            expected="a whole number, at least 1",
        )
    return kind, action
