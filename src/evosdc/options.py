"""Options given as ``name=value`` become a frozen dataclass of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from evosdc.errors import EvosdcError

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


def type_name(kind: Any) -> str:
    """Name the type of an option for people."""
    if get_origin(kind) is tuple:
        return "whole numbers such as 6x5"
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
