"""Rules as text: ``p:15``, ``nk:1,75``, ``freq:3``, or the name of a preset."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields

from evosdc.errors import InputError
from evosdc.rules.concentration import Dominance, PPercent, PriorPosterior
from evosdc.rules.counting import Frequency, Request, ZeroUnsafe
from evosdc.rules.group import Group
from evosdc.rules.mark import Rule
from evosdc.rules.presets import PRESETS

# What each rule is made of, how its numbers read, and how many must be there.
FORMS: dict[str, tuple[Callable[..., Rule], tuple[Callable[[str], object], ...], int]]
FORMS = {
    "p": (PPercent, (float, int), 1),
    "nk": (Dominance, (int, float), 2),
    "pq": (PriorPosterior, (float, float, int), 2),
    "freq": (Frequency, (int, float, str), 1),
    "zero": (ZeroUnsafe, (float,), 1),
    "req": (Request, (float, float, float), 1),
    "group": (Group, (str,), 0),
}
_USAGE = (
    "p:P[,COALITION], nk:N,K, pq:P,Q[,COALITION], freq:N[,PERCENT[,records]], "
    "zero:RANGE, req:SHARE[,SHARE[,MARGIN]] or group[:VARIABLE]"
)


def parse_rule(text: str) -> Rule:
    """Read one rule, such as ``p:15``, ``nk:1,75``, ``pq:10,100`` or ``freq:3,30``."""
    name, _, rest = text.strip().partition(":")
    form = FORMS.get(name.strip().lower())
    # The name of a variable may have a comma in it.
    most = 0 if form is not None and form[1] == (str,) else -1
    given = [part.strip() for part in rest.split(",", most)] if rest.strip() else []
    if form is None:
        raise InputError(
            f"unknown rule {text!r}",
            expected=_USAGE,
            hint="write for example p:10, or one of the presets "
            + ", ".join(sorted(PRESETS)),
        )
    make, kinds, least = form
    if not least <= len(given) <= len(kinds):
        raise InputError(
            f"rule {text!r} has {len(given)} numbers", expected=_USAGE, hint="add them"
        )
    try:
        values = {
            name: kind(part)
            for i, (name, kind, part) in enumerate(
                zip(_names(make), kinds, given, strict=False)
            )
            # A blank between two numbers stands for what the rule says without it.
            if part or not least <= i < len(given) - 1
        }
    except ValueError:
        raise InputError(
            f"rule {text!r} has something that is not a number of the right kind",
            expected=_USAGE,
            hint="write numbers with a decimal point, counts as whole numbers",
        ) from None
    return make(**values)


def _names(make: Callable[..., Rule]) -> list[str]:
    return [field.name for field in fields(make)]  # type: ignore[arg-type]


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Read several rules; the name of a preset stands for all of its rules."""
    rules: list[Rule] = []
    for text in texts:
        for one in PRESETS.get(text.strip().lower(), (text,)):
            rules.append(parse_rule(one))
    return tuple(rules)
