"""The one list of suffixes: which format a name says, for every verb and command.

Text may be packed: any suffix of a packed format may be followed by ``.gz`` or
``.zst``. A suffix of two formats is looked at: a file with a description (``.rda``)
beside it is one of tau-Argus, and one with a separator in its first line is a CSV.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evosdc.errors import InputError
from evosdc.io.encoding import first_line
from evosdc.io.paths import PACKINGS, PathLike, file_named, readable

Content = Literal["table", "records", "hierarchy", "columns"]

SEPARATORS = ("\t", ";", ",", "|")
_WORDS = {
    "table": "a table",
    "records": "records",
    "hierarchy": "a hierarchy",
    "columns": "a file of columns",
}


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes
    ----------
    name
        What it is called.
    suffixes
        The ends of names that it has, in lower case.
    what
        What it is, for the documentation.
    packed
        Whether files may be packed.
    read, written
        What it is read as and what is written in it: tables, records (microdata),
        hierarchies, or any columns, such as patterns and publications.
    """

    name: str
    suffixes: tuple[str, ...]
    what: str
    packed: bool
    read: tuple[Content, ...]
    written: tuple[Content, ...]

    def endings(self) -> tuple[str, ...]:
        """Return every suffix, packed ones too."""
        packings = ("", *PACKINGS) if self.packed else ("",)
        return tuple(s + packing for s in self.suffixes for packing in packings)


CSV = Format(
    "csv",
    (".csv", ".tsv", ".txt", ".dat"),
    "columns parted by commas, semicolons, tabs or bars, names in the first line",
    packed=True,
    read=("table", "records", "hierarchy", "columns"),
    written=("table", "records", "columns"),
)
PARQUET = Format(
    "parquet",
    (".parquet", ".pq"),
    "columns with their types",
    packed=False,
    read=("table", "records", "hierarchy", "columns"),
    written=("table", "records", "columns"),
)
JJ = Format(
    "jj",
    (".jj",),
    "cells with bounds, levels and equations, as tau-Argus writes them",
    packed=True,
    read=("table",),
    written=("table",),
)
TAB = Format(
    "tab",
    (".tab",),
    "tables of tau-Argus, with a .rda beside",
    packed=False,
    read=("table",),
    written=("table",),
)
ASC = Format(
    "asc",
    (".asc", ".txt", ".dat"),
    "records of tau-Argus in fixed or free format, with a .rda beside",
    packed=True,
    read=("records",),
    written=(),
)
HRC = Format(
    "hrc",
    (".hrc",),
    "hierarchies of tau-Argus, a code per line",
    packed=True,
    read=("hierarchy",),
    written=("hierarchy",),
)
FORMATS = (CSV, PARQUET, JJ, TAB, ASC, HRC)


def format_to_read(path: PathLike, content: Content) -> Format:
    """Return the format of a file that exists, looking at it where its name is open."""
    p = readable(path)
    named = _named(p)
    if len(named) > 1:
        named = [_looked_at(p)]
    return _one_that_holds(p, named, content, reading=True)


def format_to_write(path: PathLike, content: Content) -> Format:
    """Return the format that a name says; nothing needs to be there."""
    p = Path(path)
    named = [f for f in _named(p) if f.written]
    return _one_that_holds(p, named, content, reading=False)


def format_of_pattern(pattern: str, content: Content) -> Format:
    """Return the format of files that a pattern such as ``firms-*.csv`` names."""
    p = Path(pattern)
    return _one_that_holds(p, _named(p)[:1], content, reading=True)


def suffixes(content: Content, *, reading: bool) -> tuple[str, ...]:
    """Return the suffixes of all formats of some content, each once."""
    return tuple(
        dict.fromkeys(
            ending
            for one in FORMATS
            if content in (one.read if reading else one.written)
            for ending in one.endings()
        )
    )


def suffix_words(content: Content, *, reading: bool) -> str:
    """Say the suffixes of some content, for messages and help texts."""
    plain = [s for s in suffixes(content, reading=reading) if not s.endswith(PACKINGS)]
    return f"{', '.join(plain[:-1])} or {plain[-1]}"


def unpacked_name(path: PathLike) -> str:
    """Return the name of a file in lower case, without ``.gz`` or ``.zst``."""
    name = Path(path).name.lower()
    for packing in PACKINGS:
        name = name.removesuffix(packing)
    return name


def description_beside(path: PathLike) -> Path | None:
    """Return the ``.rda`` of a file, whatever the case of its name, if there is one."""
    wanted = Path(unpacked_name(path)).with_suffix(".rda").name
    return file_named(Path(path).parent, wanted)


def _named(path: Path) -> list[Format]:
    name = path.name.lower()
    return [one for one in FORMATS if name.endswith(one.endings())]


def _looked_at(path: Path) -> Format:
    if description_beside(path) is not None:
        return ASC
    if any(sign in first_line(path) for sign in SEPARATORS):
        return CSV
    raise InputError(
        f"{path.name} has no description beside it and no separator in its first line",
        expected=f"{Path(unpacked_name(path)).with_suffix('.rda')} beside it (fixed "
        "format), or names of columns parted by commas, semicolons or tabs (CSV)",
        hint="put the .rda beside it under the same name, or name the file .csv",
    )


def _one_that_holds(
    path: Path, named: list[Format], content: Content, *, reading: bool
) -> Format:
    known = suffix_words(content, reading=reading)
    if not named:
        raise InputError(
            f"{path.name} has no suffix of {_WORDS[content]}",
            expected=f"a name that ends in {known}; text may be packed "
            f"({', '.join(PACKINGS)})",
            hint="rename the file",
        )
    found = named[0]
    if content not in (found.read if reading else found.written):
        tabulate = content == "table" and "records" in found.read
        raise InputError(
            f"{path.name} is of the format {found.name} ({found.what}), which does not "
            f"hold {_WORDS[content]}",
            expected=f"a name that ends in {known}",
            hint="tabulate the records first (evosdc tabulate)"
            if tabulate
            else "name another file",
        )
    return found
