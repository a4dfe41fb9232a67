"""What a verb takes: keywords of its own, and objects of which it takes some fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import Parameter, signature
from numbers import Real
from typing import Any, get_type_hints

from evosdc.errors import InputError
from evosdc.options.declare import Declaration, declarations, is_of, type_name

# The first of what a verb takes is no object in Python: its fields are keywords.
KEYWORDS = "keywords"
# What keywords were called in version 0.1.
FORMER_KEYWORDS = {
    "earlier": "already_published",
    "threshold": "published_threshold",
    "prefer": "cost_factor",
    "secondaries": "protect_secondaries",
    "singletons": "who",
    "waiver": "consent",
    "options": "method_options",
    "total": "totals",
    "keep": "keep_secondaries",
}


@dataclass(frozen=True)
class Takes:
    """A class of options, and which of its fields a verb takes: all where none is."""

    kind: type
    only: tuple[str, ...] = ()

    def options(self) -> tuple[Declaration, ...]:
        """List the options that the verb takes."""
        found = declarations(self.kind)
        return tuple(one for one in found if not self.only or one.name in self.only)


def taken(takes: Mapping[str, Takes], name: str, given: Any, kind: type[Any]) -> Any:
    """Return the object that was given to a verb, or the one of all defaults.

    Another type is refused, and so are fields that the verb does not take.
    """
    if given is None:
        return kind()
    if not isinstance(given, kind):
        raise InputError(
            f"{name} is of type {type(given).__name__}",
            expected=f"evosdc.{kind.__name__}(...)",
            hint=f"see help(evosdc.{kind.__name__})",
        )
    mine = [one.name for one in takes[name].options()]
    for one in declarations(kind):
        if one.name not in mine and getattr(given, one.name) != one.default:
            raise InputError(
                f"{name} has {one.name}, which this verb does not take",
                expected=f"{kind.__name__} with some of {', '.join(mine)}",
                hint="leave it out",
            )
    return given


def check_arguments(
    function: Callable[..., Any],
    takes: Mapping[str, Takes],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> None:
    """Refuse keywords that a verb does not have, and arguments of other types.

    What `takes` declares is checked when its objects are made.
    """
    parameters = signature(function).parameters
    names, free = [*parameters], Parameter.VAR_KEYWORD
    if all(one.kind is not free for one in parameters.values()):
        for name in kwargs:
            if name not in names:
                raise _unknown(name, names, takes, function.__name__)
    own = takes[KEYWORDS].options() if KEYWORDS in takes else ()
    declared = {*takes, *(one.name for one in own)}
    hints = get_type_hints(function)
    for name, value in (dict(zip(names, args, strict=False)) | dict(kwargs)).items():
        if name not in declared and not is_of(value, hints.get(name, Any)):
            raise InputError(
                f"{name} is {_shown(value)}",
                expected=f"a value of type {type_name(hints[name])}",
                hint=f"see help(evosdc.{function.__name__})",
            )


def _unknown(
    name: str, names: list[str], takes: Mapping[str, Takes], verb_name: str
) -> InputError:
    """Say where an option belongs, or which options there are."""
    wanted = FORMER_KEYWORDS.get(name, name)
    for keyword, one in takes.items():
        if keyword in names and wanted in [o.name for o in one.options()]:
            return InputError(
                f"{name!r} is no keyword of {verb_name}",
                expected=f"{keyword}=evosdc.{one.kind.__name__}({wanted}=...)",
                hint=f"see help(evosdc.{one.kind.__name__})",
            )
    home = {
        option.name: f"{keyword}=evosdc.{one.kind.__name__}({option.name}=...)"
        for keyword, one in takes.items()
        if keyword in names
        for option in one.options()
    }
    near = get_close_matches(name, [*names, *home])
    meant = [home.get(one, one) for one in near]
    known = f"{' or '.join(meant)}; else one of" if near else "one of"
    within = f"; or in these objects {', '.join(home)}" if home else ""
    return InputError(
        f"there is no option {name!r}",
        expected=f"{known} {', '.join(names)}{within}",
        hint=f"see help(evosdc.{verb_name})",
    )


def _shown(value: Any) -> str:
    """Say what was given: a frame given by mistake is not to be seen in a message."""
    if isinstance(value, (str, bool, Real)):
        return repr(value)[:80]
    return f"a {type(value).__name__}"
