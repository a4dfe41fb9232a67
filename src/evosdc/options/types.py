"""What is of a type, what a type is called, and how text is read as one."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Protocol, TypeAlias, Union, get_args, get_origin

# A limit of time: a number, None for no limit, or "auto" for what the verb has then.
Seconds: TypeAlias = float | Literal["auto"] | None
DEFAULT_TIME_LIMIT = 60.0

_SWITCH = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
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
