"""Options: ``name=value`` becomes a frozen dataclass, and fields are what they say."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import Field, field, fields
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from evosdc.errors import EvosdcError, InputError, MethodError

P = ParamSpec("P")
R = TypeVar("R")
# The type of arguments that are not given, which no user has a reason to read of.
_ABSENT = "NotGiven"
_SWITCH = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


def configure(
    parameters: type,
    options: Mapping[str, Any],
    *,
    owner: str,
    error: type[EvosdcError],
    hint: str,
) -> Any:
    """Build the parameters; text is read by the type of the field it is for.

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
                value = _read(value.strip(), hints[name])
            except ValueError:
                raise error(
                    f"option {key} of {owner} is {value!r}",
                    expected=f"a value of type {type_name(hints[name])}",
                    hint=hint,
                ) from None
        chosen[name] = value
    return parameters(**chosen)


def option(
    default: Any,
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    known: Collection[Any] = (),
) -> Any:
    """Declare the default of an option and which values it may have, None aside.

    With a range, values that are `known` are right outside of it.
    """
    ranges = {"at least": least, "above": above, "at most": most, "below": below}
    given = {words: bound for words, bound in ranges.items() if bound is not None}
    return field(default=default, metadata={"ranges": given, "known": known})


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "at least": operator.ge,
    "above": operator.gt,
    "at most": operator.le,
    "below": operator.lt,
}


class Declared:
    """Base of options that refuse what their fields do not declare with `option`."""

    refused: ClassVar[type[EvosdcError]] = InputError
    listed: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for one in fields(self):  # type: ignore[arg-type]  # dataclasses inherit this
            value = getattr(self, one.name)
            declared = self.declared(one)
            if not declared or value is None:
                continue
            for part in value if isinstance(value, tuple) else (value,):
                expected = _expected(part, **declared)
                if expected:
                    name = one.name.replace("_", " ")
                    raise self.refused(
                        f"option {name} is {part!r}",
                        expected=expected,
                        hint=self.listed,
                    )

    def declared(self, one: Field[Any]) -> Mapping[str, Any]:
        """Return what a field may be."""
        return one.metadata


class MethodOptions(Declared):
    """Base of the options of a method. Numbers are 0 or more unless they say more."""

    refused = MethodError
    listed = "see: evosdc methods"

    def declared(self, one: Field[Any]) -> Mapping[str, Any]:
        value, usual = getattr(self, one.name), one.default
        if one.metadata or isinstance(value, bool) or not isinstance(value, Real):
            return one.metadata
        # A default below 0 has a meaning of its own.
        least = min(0, usual) if isinstance(usual, (int, float)) else 0
        return {"ranges": {"at least": least}, "known": ()}


def _expected(value: Any, ranges: Mapping[str, float], known: Collection[Any]) -> str:
    """Say what would have been right instead of a value, nothing if it is right."""
    # What is not a number is in no range.
    within = all(_HOLDS[words](value, bound) for words, bound in ranges.items())
    if value in known or (within and (ranges or not known)):
        return ""
    bounds = " and ".join(f"{words} {bound}" for words, bound in ranges.items())
    listed = ", ".join(map(str, known))
    if not known:
        return bounds
    return f"{bounds}, or {listed}" if bounds else f"one of {listed}"


def check_types(options: Any) -> None:
    """Refuse fields that are not of the type they say: any text is true to Python.

    Fields of types other than switches, numbers and text are left to their users.
    """
    hints = get_type_hints(type(options))
    for one in fields(options):
        value, kind = getattr(options, one.name), hints[one.name]
        if not _is_of(value, kind):
            raise InputError(
                f"{one.name.replace('_', ' ')} is {value!r}",
                expected=f"a value of type {type_name(kind)}",
                hint=f"see help(evosdc.{type(options).__name__})"
                if type(options).__module__.startswith("evosdc.api")
                else f"see help(evosdc.synth.{type(options).__name__})",
            )


def checked(
    *passed_on: Callable[..., Any],
    least: Mapping[str, float] | None = None,
    unchecked: Collection[str] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a verb so that it refuses arguments that are not of their types.

    Parameters
    ----------
    passed_on
        Functions that further keywords of the verb are passed on to.
    least
        The least value of numbers.
    unchecked
        Keywords that the verb takes in more forms than who it passes them on to.
    """
    lowest = least or {}

    def decorate(verb: Callable[P, R]) -> Callable[P, R]:
        @wraps(verb)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            hints: dict[str, Any] = {}
            for function in (*passed_on, verb):
                hints |= get_type_hints(function)
            names = list(signature(verb).parameters)
            known = _keywords(verb, *passed_on)
            given = dict(zip(names, args, strict=False)) | kwargs
            for name, value in given.items():
                if name in unchecked:
                    continue
                if passed_on and name not in known:
                    raise InputError(
                        f"there is no option {name!r}",
                        expected=f"one of {', '.join(known)}",
                        hint=f"see help(evosdc.{verb.__name__})",
                    )
                if not _is_of(value, hints.get(name, Any)):
                    raise InputError(
                        f"{name} is {_shown(value)}",
                        expected=f"a value of type {type_name(hints[name])}",
                        hint=f"see help(evosdc.{verb.__name__})",
                    )
                if name in lowest and isinstance(value, Real) and value < lowest[name]:
                    raise InputError(
                        f"{name} is {value}", expected=f"at least {lowest[name]:g}"
                    )
            return verb(*args, **kwargs)

        return call

    return decorate


# What readers of files tell `table_from_frame`, and nobody else may: it switches checks
# off that a side file stands for.
_FOR_READERS = ("origin", "trusted")


def _keywords(verb: Callable[..., Any], *passed_on: Callable[..., Any]) -> list[str]:
    """Name the arguments of a verb and the keywords that it passes on."""
    own = signature(verb).parameters.values()
    further = (
        p
        for f in passed_on
        for p in signature(f).parameters.values()
        if p.name not in _FOR_READERS
    )
    return list(
        dict.fromkeys(
            [
                *(p.name for p in own if p.kind is not Parameter.VAR_KEYWORD),
                *(p.name for p in further if p.kind is Parameter.KEYWORD_ONLY),
            ]
        )
    )


def _shown(value: Any) -> str:
    """Say what was given: a frame given by mistake is not to be seen in a message."""
    if isinstance(value, (str, bool, Real)):
        return repr(value)[:80]
    return f"a {type(value).__name__}"


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


def _is_of(value: Any, kind: Any) -> bool:
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
        return any(_is_of(value, part) for part in parts)
    if get_origin(kind) is Literal:
        return value in parts
    known = get_origin(kind) or kind
    if known in (Mapping, Sequence, Collection):
        if not isinstance(value, known) or isinstance(value, (str, bytes)):
            return False
        if known is Mapping:
            pairs = zip(value.keys(), value.values(), strict=True)
            return not parts or all(
                _is_of(key, parts[0]) and _is_of(one, parts[1]) for key, one in pairs
            )
        return not parts or all(_is_of(one, parts[0]) for one in value)
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
        words = [type_name(p) for p in parts if getattr(p, "__name__", "") != _ABSENT]
        return " or ".join(dict.fromkeys(words))
    if parts and origin is Literal:
        return " or ".join(map(repr, parts))
    kind = origin or kind
    plain = {NoneType: "none", bool: "true or false", int: "whole number", str: "text"}
    plain[float] = "number"
    return plain.get(kind, getattr(kind, "__name__", str(kind)))


def _read(text: str, kind: Any) -> Any:
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
    if get_origin(kind) is tuple:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    # A union: the first of its types that can read the text, "none" before the others.
    for part in sorted(get_args(kind), key=lambda p: p is not NoneType):
        try:
            return _read(text, part)
        except ValueError:
            continue
    raise ValueError(text)
