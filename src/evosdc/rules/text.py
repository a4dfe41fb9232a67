"""Rules as text, and the status and levels of cells that follow from them.

A rule is written as ``p:15``, ``nk:1,75``, ``freq:3``, or the name of a preset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from importlib import import_module
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.options.rules import PRESETS, RULES
from evosdc.rules.rule import CellContributors, Numbers, Rule
from evosdc.table.rounding import significant
from evosdc.table.status import PRIMARY, SAFE


def parse_rule(text: str) -> Rule:
    """Read one rule, such as ``p:15``, ``nk:1,75``, ``pq:10,100`` or ``freq:3,30``."""
    name, _, rest = text.strip().partition(":")
    name = name.strip().lower()
    if name not in RULES:
        raise InputError(
            f"unknown rule {text!r}",
            expected=_usage(),
            hint="write for example p:10, or one of the presets "
            + ", ".join(sorted(PRESETS)),
        )
    make = _class_of(name)
    parameters = _parameters(make)
    readers = [_reader(hint) for _, hint in parameters]
    # The name of a variable may have a comma in it.
    splits = 0 if readers == [str] else -1
    given = [part.strip() for part in rest.split(",", splits)] if rest.strip() else []
    required = sum(field.default is MISSING for field, _ in parameters)
    if not required <= len(given) <= len(parameters):
        raise InputError(
            f"rule {text!r} has {len(given)} numbers",
            expected=_usage(),
            hint="add them",
        )
    try:
        values = {
            field.name: read(part)
            for i, ((field, _), read, part) in enumerate(
                zip(parameters, readers, given, strict=False)
            )
            # A blank between two numbers stands for the default.
            if part or not required <= i < len(given) - 1
        }
    except ValueError:
        raise InputError(
            f"rule {text!r} has something that is not a number of the right kind",
            expected=_usage(),
            hint="write numbers with a decimal point, counts as whole numbers",
        ) from None
    return make(**values)


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Read several rules; the name of a preset stands for all of its rules."""
    rules: list[Rule] = []
    for text in texts:
        for one in PRESETS.get(text.strip().lower(), (text,)):
            rules.append(parse_rule(one))
    return tuple(rules)


def rule_text(rule: Rule) -> str:
    """Write a rule as the command line takes it, defaults left out: ``p:10``."""
    given = [
        (getattr(rule, field.name), field.default)
        for field, _ in _parameters(type(rule))
    ]
    while given and given[-1][0] == given[-1][1]:
        given.pop()
    parts = [_written(x) for x, _ in given]
    return f"{rule.name}:{','.join(parts)}" if parts else rule.name


def _class_of(name: str) -> Callable[..., Rule]:
    module, _, attribute = RULES[name].home.partition(":")
    found: Callable[..., Rule] = getattr(import_module(module), attribute)
    return found


def _parameters(make: Callable[..., Rule]) -> list[tuple[Field[Any], Any]]:
    """Return the parameters of a rule that its text has: numbers and words."""
    hints = get_type_hints(make)
    return [
        (field, hints[field.name])
        for field in fields(make)  # type: ignore[arg-type]
        if get_origin(hints[field.name]) is not tuple
    ]


def _reader(hint: Any) -> Callable[[str], object]:
    if get_origin(hint) is Literal:
        return str
    reader: Callable[[str], object] = next(
        kind for kind in (get_args(hint) or (hint,)) if kind is not type(None)
    )
    return reader


def _usage() -> str:
    """Return how each rule is written, from its parameters."""
    *first, last = (_form(name) for name in RULES)
    return f"{', '.join(first)} or {last}"


def _form(name: str) -> str:
    required, optional = "", ""
    for i, (field, hint) in enumerate(_parameters(_class_of(name))):
        shown = field.name.upper()
        if get_origin(hint) is Literal:
            shown = "|".join(get_args(hint))
        shown = f"{',' if i else ':'}{shown}"
        if field.default is MISSING:
            required += shown
        else:
            optional += f"[{shown}"
    return f"{name}{required}{optional}{']' * optional.count('[')}"


def _written(given: object) -> str:
    """Write a number in as few digits as read back as it; nothing where it is None."""
    if given is None:
        return ""
    if not isinstance(given, float):
        return str(given)
    short = f"{given:g}"
    return short if float(short) == given else repr(given)


@dataclass(frozen=True, eq=False)
class Marks:
    """Columns of a table: status and protection levels; and what each rule marked."""

    status: NDArray[np.str_]
    lpl: Numbers
    upl: Numbers
    spl: Numbers
    marked: tuple[tuple[str, int], ...] = ()


def mark(
    contributors: CellContributors,
    rules: Sequence[Rule],
    *,
    floor: float | Numbers = 0.0,
    whole: bool = False,
    counted: NDArray[np.bool_] | None = None,
) -> Marks:
    """Mark the cells that violate any rule, with the largest level any rule asks for.

    Parameters
    ----------
    floor
        The lower bound of cells that everyone knows, one for all or one for each: 1 for
        counts, 0 for magnitudes, minus infinity where contributions are negative. No
        lower level can reach beyond it, so levels are cut there.
    whole
        Round levels up to whole numbers, at least 1, as tau-Argus does: in a table of
        counts, half a person more or less protects nobody.
    counted
        The cells that are counted for each rule; all where None.
    """
    n = len(contributors)
    unsafe = np.zeros(n, dtype=bool)
    upl, lpl = np.zeros(n), np.zeros(n)
    marked: dict[str, int] = {}
    for rule in rules:
        hit, up, down = rule.apply(contributors)
        shown = hit if counted is None else hit & counted
        marked[rule_text(rule)] = int(shown.sum())
        unsafe |= hit
        upl, lpl = np.maximum(upl, up), np.maximum(lpl, down)
    # Levels are read as decimals later on: rounding errors must not be in them.
    upl, lpl = significant(upl, 12), significant(lpl, 12)
    if whole:
        minimum = unsafe.astype(np.float64)
        upl = np.maximum(np.ceil(upl), minimum)
        lpl = np.maximum(np.ceil(lpl), minimum)
    lpl = np.minimum(lpl, np.maximum(contributors.value - floor, 0.0))
    status = np.where(unsafe, PRIMARY, SAFE).astype("U1")
    return Marks(status, lpl, upl, np.zeros(n), tuple(marked.items()))
