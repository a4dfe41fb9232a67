"""Options: ``name=value`` becomes a frozen dataclass, and fields are what they say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from evosdc.errors import EvosdcError, InputError

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


def check_types(options: Any) -> None:
    """Refuse fields that are not of the type they say: any text is true to Python.

    Fields of types other than switches, numbers and text are left to their users.
    """
    hints = get_type_hints(type(options))
    for field in fields(options):
        value, kind = getattr(options, field.name), hints[field.name]
        if not _is_of(value, kind):
            raise InputError(
                f"{field.name.replace('_', ' ')} is {value!r}",
                expected=f"a value of type {type_name(kind)}",
                hint=f"see help(evosdc.{type(options).__name__})"
                if type(options).__module__.startswith("evosdc.api")
                else f"see help(evosdc.synth.{type(options).__name__})",
            )


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
    known = get_origin(kind) or kind
    if known in (Mapping, Sequence):
        return isinstance(value, known) and not isinstance(value, str)
    return True


def type_name(kind: Any) -> str:
    """Name the type of an option for people."""
    if get_origin(kind) is tuple:
        return "whole numbers such as 6x5"
    known = {Mapping: "mapping", Sequence: "list"}.get(get_origin(kind))
    if known:
        return known
    parts = get_args(kind)
    if parts:
        return " or ".join(type_name(p) for p in parts)
    names = {NoneType: "none", bool: "true or false", int: "whole number", str: "text"}
    return names.get(kind, "number" if kind is float else str(kind))


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
