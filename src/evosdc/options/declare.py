"""Options are declared once, as fields of frozen dataclasses.

A field says its type, its default, which values it may have and what it is for; the
checks, the messages, the command line and the reference page are made of that.
"""

from __future__ import annotations

import math
import operator
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import MISSING, Field, dataclass, field, fields
from difflib import get_close_matches
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    Protocol,
    Self,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from evosdc.errors import EvosdcError, InputError, MethodError

# A limit of time: a number, None for no limit, or "auto" for what the verb has then.
Seconds: TypeAlias = float | Literal["auto"] | None
DEFAULT_TIME_LIMIT = 60.0

_SWITCH = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "at least": operator.ge,
    "above": operator.gt,
    "at most": operator.le,
    "below": operator.lt,
}


def is_of(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    if kind is bool:
        return isinstance(value, bool)
    # Python counts a switch as a number.
    if kind is int:
        return not isinstance(value, bool) and isinstance(value, Integral)
    if kind is float:
        number = not isinstance(value, bool) and isinstance(value, Real)
        return number and not math.isnan(value)
    if kind in (str, NoneType):
        return isinstance(value, kind)
    parts = get_args(kind)
    if parts and get_origin(kind) in (Union, UnionType):
        return any(is_of(value, part) for part in parts)
    if get_origin(kind) is Literal:
        return value in parts
    known = get_origin(kind) or kind
    if known in (Mapping, Sequence, Collection):
        if not isinstance(value, known) or isinstance(value, (str, bytes)):
            return False
        if known is Mapping:
            pairs = zip(value.keys(), value.values(), strict=True)
            return not parts or all(
                is_of(key, parts[0]) and is_of(one, parts[1]) for key, one in pairs
            )
        return not parts or all(is_of(one, parts[0]) for one in value)
    if known is tuple or not isinstance(known, type) or Protocol in known.__mro__:
        return True
    return isinstance(value, known)


def type_name(kind: Any) -> str:
    """Name the type of an option for people."""
    if get_origin(kind) is tuple:
        return "whole numbers such as 6x5"
    origin = get_origin(kind)
    names = {Mapping: "mapping", Sequence: "list", Collection: "list"}
    if origin in names or origin is Callable:
        return names.get(origin, "function")
    parts = get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(type_name(part) for part in parts))
    if parts and origin is Literal:
        return " or ".join(map(repr, parts))
    kind = origin or kind
    plain = {NoneType: "none", bool: "true or false", int: "whole number", str: "text"}
    plain |= {float: "number", Any: "any"}
    return plain.get(kind, getattr(kind, "__name__", str(kind)))


def read_text(text: str, kind: Any) -> Any:
    """Read text as a value of a type; a ValueError where it is none."""
    if kind is bool:
        if text.lower() not in _SWITCH:
            raise ValueError(text)
        return _SWITCH[text.lower()]
    if kind is NoneType:
        if text.lower() != "none":
            raise ValueError(text)
        return None
    if kind in (int, float, str):
        return kind(text)
    if get_origin(kind) is Literal:
        if text not in get_args(kind):
            raise ValueError(text)
        return text
    if get_origin(kind) is tuple:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    # A union: the first of its types that can read the text, "none" before the others.
    for part in sorted(get_args(kind), key=lambda p: p is not NoneType):
        try:
            return read_text(text, part)
        except ValueError:
            continue
    raise ValueError(text)


@dataclass(frozen=True, kw_only=True)
class Flag:
    """How the command line says an option, where it is not the name of the field.

    Attributes
    ----------
    name
        With its dashes, and for switches with the opposite: ``--counts/--magnitudes``.
        Empty for an option that only Python has.
    former
        Names that it had, each with the words that stand for it now.
    metavar
        What stands for the value in a help text.
    form
        How its words are read, where the type does not say it: see `evosdc.cli.flags`.
    """

    name: str = ""
    former: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metavar: str | None = None
    form: str = ""


def option(
    default: Any,
    help: str = "",
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    known: Collection[Any] = (),
    flag: str | None = None,
    former: str | Mapping[str, tuple[str, ...]] = "",
    metavar: str | None = None,
    form: str = "",
) -> Any:
    """Declare the default of an option, what it is for and which values it may have.

    None is right besides. With a range, values that are `known` are right outside of
    it. `flag`, `former`, `metavar` and `form` are those of `Flag`; a former name that
    is text stands for the new name.
    """
    ranges = {"at least": least, "above": above, "at most": most, "below": below}
    given = {words: bound for words, bound in ranges.items() if bound is not None}
    return field(
        default=default,
        metadata={
            "ranges": given,
            "known": known,
            "help": help,
            "flag": flag,
            "former": former,
            "metavar": metavar,
            "form": form,
        },
    )


def time_limit_option(
    help: str, *, least: float | None = None, above: float | None = None
) -> Any:
    """Declare a limit of time, which is of the type `Seconds`."""
    return option(
        "auto",
        help,
        least=least,
        above=above,
        known=("auto",),
        form="text",
        metavar="SECONDS",
    )


class Declared:
    """Base of options that refuse what their fields do not declare with `option`."""

    refused: ClassVar[type[EvosdcError]] = InputError
    listed: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]  # dataclasses inherit this
            value = getattr(self, one.name)
            ranges, known = self.declared(one)
            if value is None or not (ranges or known):
                continue
            for part in value if isinstance(value, tuple) else (value,):
                expected = _expected(part, ranges, known)
                if expected:
                    raise self.refused(
                        f"option {one.name.replace('_', ' ')} is {part!r}",
                        expected=expected,
                        hint=self.listed,
                    )

    def declared(self, one: Field[Any]) -> tuple[Mapping[str, float], Collection[Any]]:
        """Return the ranges of a field, and the values it may have besides."""
        return one.metadata.get("ranges", {}), one.metadata.get("known", ())


class UnknownOptionError(InputError, TypeError):
    """An argument that an object of options does not take."""


def nearest_first(name: str, known: Iterable[str]) -> str:
    """List names for a message, those that `name` may be a misspelling of in front."""
    listed = list(dict.fromkeys(known))
    near = get_close_matches(name, listed)
    if not near:
        return f"one of {', '.join(listed) or 'none'}"
    others = [one for one in listed if one not in near]
    rest = f"; the others are {', '.join(others)}" if others else ""
    return f"{' or '.join(near)}{rest}"


class OptionObject(Declared):
    """Base of the options of a verb: types are checked too, and `help` is complete."""

    def __new__(cls, *args: Any, **given: Any) -> Self:
        listed = fields(cls)  # type: ignore[arg-type]
        names = [one.name for one in listed]
        # Only objects of a synthesis take some options by their place.
        for value in args[sum(not one.kw_only for one in listed) :]:
            raise UnknownOptionError(
                f"{cls.__name__} is given a {type(value).__name__} without a name",
                expected=f"names, such as {cls.__name__}({names[0]}=...)",
                hint=cls.listed,
            )
        for name in given:
            if name not in names:
                raise UnknownOptionError(
                    f"{cls.__name__} has no option {name!r}",
                    expected=nearest_first(name, names),
                    hint=cls.listed,
                )
        return super().__new__(cls)

    def __init_subclass__(cls, verb: str = "") -> None:
        super().__init_subclass__()
        cls.listed = f"see help(evosdc.{verb or cls.__name__})"

    def __post_init__(self) -> None:
        # Any text is true to Python, and a switch is a number.
        hints = get_type_hints(type(self))
        for one in fields(self):  # type: ignore[arg-type]
            value, kind = getattr(self, one.name), hints[one.name]
            if not is_of(value, kind):
                raise self.refused(
                    f"{one.name.replace('_', ' ')} is {value!r}",
                    expected=f"a value of type {type_name(kind)}",
                    hint=self.listed,
                )
        super().__post_init__()

    @classmethod
    def document(cls) -> None:
        """Write what the fields declare into the docstring."""
        lines = [cls.__doc__ or "", "", "Attributes", "----------"]
        for one in declarations(cls):
            lines += [f"{one.name} : {one.type_name}", f"    {one.help}"]
        cls.__doc__ = "\n".join(lines)


class MethodOptions(Declared):
    """Base of the options of a method. Numbers are 0 or more unless they say more."""

    refused = MethodError
    listed = "see: evosdc methods"

    def declared(self, one: Field[Any]) -> tuple[Mapping[str, float], Collection[Any]]:
        value, usual = getattr(self, one.name), one.default
        number = isinstance(value, Real) and not isinstance(value, bool)
        if one.metadata or not number:
            return super().declared(one)
        # A default below 0 has a meaning of its own.
        least = min(0, usual) if isinstance(usual, (int, float)) else 0
        return {"at least": least}, ()


@dataclass(frozen=True)
class Declaration:
    """What is declared of one option: see `option`."""

    name: str
    kind: Any
    default: Any
    help: str
    flag: Flag

    @property
    def type_name(self) -> str:
        """The type in words."""
        return type_name(self.kind)


def declarations(kind: type) -> tuple[Declaration, ...]:
    """List the options that a class declares, in order."""
    return tuple(_declarations(kind))


def _declarations(kind: type) -> Iterator[Declaration]:
    hints = get_type_hints(kind)
    for one in fields(kind):
        said = one.metadata
        name = said.get("flag")
        if name is None:
            word = one.name.replace("_", "-")
            name = f"--{word}/--no-{word}" if one.default is True else f"--{word}"
        former = said.get("former", "")
        if isinstance(former, str):
            former = {former: (name,)} if former else {}
        default = one.default
        if default is MISSING and one.default_factory is not MISSING:
            default = one.default_factory()
        yield Declaration(
            name=one.name,
            kind=hints[one.name],
            default=default,
            help=said.get("help", ""),
            flag=Flag(
                name=name,
                former=former,
                metavar=said.get("metavar"),
                form=said.get("form", ""),
            ),
        )


def read_options(
    parameters: type,
    options: Mapping[str, Any],
    *,
    owner: str,
    error: type[EvosdcError],
    hint: str,
) -> dict[str, Any]:
    """Return what parameters are made of; text is read by the type of its field.

    Parameters
    ----------
    parameters
        A dataclass whose defaults hold where an option is not given.
    options
        Values by name; hyphens in a name stand for underscores. Values that are not
        text are taken as they are.
    owner
        Whose options these are, for messages: ``method 'x'``.
    error
        What to raise for an option that is unknown or cannot be read.
    hint
        Where the options are listed.
    """
    hints = get_type_hints(parameters)
    names = [f.name for f in fields(parameters)]
    chosen: dict[str, Any] = {}
    for key, value in options.items():
        name = key.replace("-", "_")
        if name not in names:
            raise error(
                f"{owner} has no option {key!r}",
                expected=f"one of {', '.join(names) or 'none (it has no options)'}",
                hint=hint,
            )
        if isinstance(value, str):
            try:
                value = read_text(value.strip(), hints[name])
            except ValueError:
                raise error(
                    f"option {key} of {owner} is {value!r}",
                    expected=f"a value of type {type_name(hints[name])}",
                    hint=hint,
                ) from None
        chosen[name] = value
    return chosen


def _expected(value: Any, ranges: Mapping[str, float], known: Collection[Any]) -> str:
    """Say what would have been right instead of a value, nothing if it is right."""
    if value in known or not (ranges or known):
        return ""
    if ranges:
        # Text is in no range; what has parts of its own is left to its users.
        within = not isinstance(value, str)
        if isinstance(value, Real):
            within = all(_HOLDS[words](value, end) for words, end in ranges.items())
        if within:
            return ""
    bounds = " and ".join(f"{words} {bound}" for words, bound in ranges.items())
    listed = ", ".join(map(str, known))
    if not known:
        return bounds
    return f"{bounds}, or {listed}" if bounds else f"one of {listed}"


def check_at_least(options: Any, **least: float) -> None:
    """Refuse numbers below the least one that makes sense; None is left alone."""
    for name, lowest in least.items():
        value = getattr(options, name)
        if value is not None and not value >= lowest:
            raise InputError(
                f"{name} is {value}",
                expected=f"at least {lowest:g}",
                hint="leave it out for the usual value",
            )
