"""Flags, help texts and checks of a command, made of the options that are declared.

A command takes the objects of its verb. Here each becomes flags, one for each field, in
a panel of the help text; what is given, on the command line or in `evosdc.toml`,
becomes the objects again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from evosdc.errors import InputError
from evosdc.options import Declaration, Takes, read_text, type_name
from evosdc.options.tables import KEYWORDS

# How the words of a flag are taken, by form: what typer reads them as.
_TYPES: dict[str, Any] = {
    "switch": bool,
    "choice": bool | None,
    "whole": int | None,
    "number": float | None,
    "text": str | None,
    "list": str | None,
    "rate": str | None,
    "file": Path | None,
    "files": list[Path],
    "texts": list[str],
    "names": list[str],
    "pairs": list[str],
    "trees": list[str],
}
# Former names of flags of commands, in addition to those that are declared.
FORMER_FLAGS: dict[str, tuple[str, ...]] = {
    "--also": ("--formats",),
    "--least": ("--min-group",),
}
SAVE = typer.Option(
    None,
    "--save-options",
    metavar="FILE",
    help="Write the options of this run, to be used again: evosdc run FILE.",
)


def takes(
    objects: Mapping[str, Takes], *, name: str = "", saves: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command that takes the objects of a verb, so that it has their flags.

    Parameters
    ----------
    objects
        What the verb takes, by keyword.
    name
        The name of the step in `evosdc.toml`; that of the function where empty.
    saves
        Whether the options can be saved.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command)
        mine, flags = [], []
        for one in signature(command).parameters.values():
            if one.name not in objects:
                mine.append(one.replace(annotation=hints[one.name]))
        for keyword, group in objects.items():
            flags += [_parameter(one, keyword) for one in _shown(group)]
        positional = [p for p in mine if _is_argument(p)]
        others = [p for p in mine if not _is_argument(p)]
        extra = [_option("save_options", Path | None, SAVE)] if saves else []

        def call(**given: Any) -> None:
            step = name or command.__name__
            save = given.pop("save_options", None)
            written = dict(given)
            made = {
                keyword: group.kind(**_values(group, given))
                for keyword, group in objects.items()
            }
            if save is not None:
                from evosdc.cli.settings import save_options

                for keyword, group in objects.items():
                    for one in _shown(group):
                        value = getattr(made[keyword], one.name)
                        # Flags are text where they may be more than a number.
                        if isinstance(value, (int, float)):
                            written[one.name] = value
                save_options(save, step, objects, written)
            command(**given, **made)

        parameters = [*positional, *flags, *others, *extra]
        call.__name__, call.__doc__ = command.__name__, command.__doc__
        call.__annotations__ = {p.name: p.annotation for p in parameters}
        call.__signature__ = signature(call).replace(  # type: ignore[attr-defined]
            parameters=[p.replace(kind=_KEYWORD) for p in parameters]
        )
        call.objects = objects  # type: ignore[attr-defined]
        return call

    return decorate


_KEYWORD = Parameter.KEYWORD_ONLY


def _is_argument(one: Parameter) -> bool:
    return isinstance(one.default, typer.models.ArgumentInfo)


def _option(name: str, kind: Any, default: Any) -> Parameter:
    return Parameter(name, _KEYWORD, default=default, annotation=kind)


def _shown(group: Takes) -> list[Declaration]:
    """List the options that have a flag."""
    return [one for one in group.options() if one.flag.name]


def _parameter(one: Declaration, keyword: str) -> Parameter:
    """Return a flag as typer takes it, in the panel of its object."""
    kind = _TYPES[form_of(one)]
    default = one.default
    if get_origin(kind) is list:
        default = []
    elif isinstance(default, tuple):
        default = ",".join(default) or None
    elif kind == str | None and default is not None:
        default = str(default)
    return _option(
        one.name,
        kind,
        typer.Option(
            default,
            one.flag.name,
            metavar=one.flag.metavar,
            help=one.help,
            rich_help_panel=None if keyword == KEYWORDS else f"Options: {keyword}",
        ),
    )


def form_of(one: Declaration) -> str:
    """Return how the words of a flag are read."""
    if one.flag.form:
        return one.flag.form
    parts = get_args(one.kind) if get_origin(one.kind) not in _WHOLE else ()
    kinds = [part for part in parts or (one.kind,) if part is not NoneType]
    if kinds == [bool]:
        return "switch" if one.kind is bool else "choice"
    plain = {int: "whole", float: "number", str: "text"}
    if len(kinds) == 1 and kinds[0] in plain:
        return plain[kinds[0]]
    origins = [get_origin(kind) for kind in kinds]
    if origins == [Literal]:
        return "text"
    if origins == [_MAPPING]:
        return "pairs"
    if origins in ([_SEQUENCE], [_COLLECTION]):
        return "names"
    return "file"


_MAPPING, _SEQUENCE, _COLLECTION = (
    get_origin(kind) for kind in (Mapping[str, str], Sequence[str], Collection[str])
)
_WHOLE = (Literal, _MAPPING, _SEQUENCE, _COLLECTION)


def _values(group: Takes, given: dict[str, Any]) -> dict[str, Any]:
    """Take the words of an object's flags; those that are not given have defaults."""
    found = {}
    for one in _shown(group):
        value = given.pop(one.name)
        if value is not None and value != []:
            found[one.name] = _read(one, value)
    return found


def _read(one: Declaration, value: Any) -> Any:
    form, flag = form_of(one), one.flag.name.partition("/")[0]
    if form == "text":
        if one.kind in (Any, str) or str in get_args(one.kind):
            return value  # where text may be anything, "none" is a text as well
        try:
            return read_text(value, one.kind)
        except ValueError:
            raise InputError(
                f"{flag} is {value!r}",
                expected=type_name(one.kind),
                hint=f"see: evosdc COMMAND --help ({flag})",
            ) from None
    if form == "list":
        return names(value)
    if form == "rate":
        return read_text(value, float | str)
    if form == "names":
        return [name for text in value for name in names(text)]
    if form == "trees":
        trees = pairs(value, flag)
        return {n: names(tree) if "," in tree else tree for n, tree in trees.items()}
    if form == "pairs":
        whole = get_args(_mapping_of(one.kind))[1] is int
        return numbers(value, flag) if whole else pairs(value, flag)
    return value


def _mapping_of(kind: Any) -> Any:
    found = [part for part in (kind, *get_args(kind)) if get_origin(part) is _MAPPING]
    return found[0]


def names(text: str) -> list[str]:
    """Read ``a,b,c``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """Read ``name=value`` texts."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name or not value:
            raise InputError(
                f"{option} got {text!r}", expected="NAME=VALUE, for example a=b"
            )
        if name in found:
            raise InputError(
                f"{option} names {name!r} twice", expected="each name once"
            )
        found[name] = value
    return found


def numbers(texts: Iterable[str], option: str) -> dict[str, int]:
    """Read ``name=number`` texts."""
    found: dict[str, int] = {}
    for name, text in pairs(texts, option).items():
        if not text.isdecimal():
            raise InputError(
                f"{option} got {name}={text}", expected="NAME=N with a whole number N"
            )
        found[name] = int(text)
    return found


class Command(TyperCommand):
    """A command that knows the former names of its flags, for one release."""

    former: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    renamed: ClassVar[str] = ""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the new names in the place of former ones, and say so."""
        if self.renamed:
            _tell(f"the command {ctx.info_name}", self.renamed)
        found: list[str] = []
        for place, word in enumerate(args):
            if word == "--":
                found += args[place:]
                break
            flag, sign, value = word.partition("=")
            new = self.former.get(flag)
            if new is None:
                found.append(word)
                continue
            _tell(flag, " ".join(new))
            found += [*new[:-1], new[-1] + sign + value]
        return super().parse_args(ctx, found)


def _tell(former: str, new: str) -> None:
    typer.echo(f"evosdc: {former} is now {new}; the old name ends with 0.3.", err=True)


def command_class(command: Callable[..., None], renamed: str = "") -> type[Command]:
    """Return the class of a command, with the former names of its flags.

    `renamed` is the new name of a command that has another one now.
    """
    known = dict(FORMER_FLAGS)
    for group in getattr(command, "objects", {}).values():
        for one in _shown(group):
            known |= one.flag.former
    return type("Command", (Command,), {"former": known, "renamed": renamed})
