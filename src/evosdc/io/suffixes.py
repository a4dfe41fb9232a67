"""Which format of the registry a file has, by its suffix, and the functions for it.

Text may be compressed: any suffix of such a format may be followed by ``.gz`` or
``.zst``. Where two formats have a suffix, the file decides: with a description
(``.rda``) in the same folder it is one of tau-Argus, with a separator in its first line
a CSV.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from evosdc.errors import InputError
from evosdc.formats import ASC, CSV, FORMATS, PACKINGS, Content, Format, suffix_list
from evosdc.io.encoding import first_line
from evosdc.io.paths import PathLike, file_named, readable

SEPARATORS = ("\t", ";", ",", "|")
_CONTENTS = {
    "table": "a table",
    "records": "records",
    "hierarchy": "a hierarchy",
    "columns": "a file of columns",
}


def load(function: str) -> Callable[..., Any]:
    """Import what the registry names as ``module:function``."""
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def format_to_read(path: PathLike, content: Content) -> Format:
    """Return the format of a file that exists."""
    p = readable(path)
    named = _named(p)
    if len(named) > 1:
        named = [_format_inside(p)]
    return _first_that_holds(p, named, content, reading=True)


def format_to_write(path: PathLike, content: Content) -> Format:
    """Return the format that a name says; the file need not exist."""
    p = Path(path)
    named = [f for f in _named(p) if f.written]
    return _first_that_holds(p, named, content, reading=False)


def format_of_pattern(pattern: str, content: Content) -> Format:
    """Return the format of files that a pattern such as ``firms-*.csv`` names."""
    p = Path(pattern)
    return _first_that_holds(p, _named(p)[:1], content, reading=True)


def unpacked_name(path: PathLike) -> str:
    """Return the name of a file in lower case, without ``.gz`` or ``.zst``."""
    name = Path(path).name.lower()
    for packing in PACKINGS:
        name = name.removesuffix(packing)
    return name


def find_description(path: PathLike) -> Path | None:
    """Return the ``.rda`` of a file, whatever the case of its name, if there is one."""
    wanted = Path(unpacked_name(path)).with_suffix(".rda").name
    return file_named(Path(path).parent, wanted)


def _named(path: Path) -> list[Format]:
    name = path.name.lower()
    return [one for one in FORMATS if name.endswith(one.endings())]


def _format_inside(path: Path) -> Format:
    if find_description(path) is not None:
        return ASC
    if any(sign in first_line(path) for sign in SEPARATORS):
        return CSV
    raise InputError(
        f"{path.name} has no description in its folder and no separator in its first "
        "line",
        expected=f"{Path(unpacked_name(path)).with_suffix('.rda')} in its folder "
        "(fixed format), or names of columns separated by commas, semicolons or tabs "
        "(CSV)",
        hint="put the .rda there under the same name, or name the file .csv",
    )


def _first_that_holds(
    path: Path, named: list[Format], content: Content, *, reading: bool
) -> Format:
    known = suffix_list(content, reading=reading)
    if not named:
        raise InputError(
            f"{path.name} has no suffix of {_CONTENTS[content]}",
            expected=f"a name that ends in {known}; text may be compressed "
            f"({', '.join(PACKINGS)})",
            hint="rename the file",
        )
    found = named[0]
    if content not in (found.read if reading else found.written):
        tabulate = content == "table" and "records" in found.read
        raise InputError(
            f"{path.name} is of the format {found.name} ({found.what}), which does not "
            f"hold {_CONTENTS[content]}",
            expected=f"a name that ends in {known}",
            hint="tabulate the records first (evosdc tabulate)"
            if tabulate
            else "name another file",
        )
    return found
