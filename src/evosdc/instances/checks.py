"""Checks of the options of a family: what was found, what would have been right."""

from __future__ import annotations

from collections.abc import Iterable

from evosdc.errors import InputError

_HINT = "see: evosdc instances --help"


def need_count(name: str, value: int, least: int = 1, most: int = 10_000_000) -> None:
    """Refuse a number outside ``least..most``."""
    if not least <= value <= most:
        raise InputError(
            f"option {name} is {value}",
            expected=f"a whole number from {least} to {most}",
            hint=_HINT,
        )


def need_share(name: str, value: float, most: float = 1.0) -> None:
    """Refuse a share outside ``0..most``."""
    if not 0.0 <= value <= most:
        raise InputError(
            f"option {name} is {value}",
            expected=f"a share from 0 to {most:g}",
            hint=_HINT,
        )


def need_one_of(name: str, value: object, known: Iterable[object]) -> None:
    """Refuse a value that is not among the known ones."""
    choices = list(known)
    if value not in choices:
        raise InputError(
            f"option {name} is {value!r}",
            expected=f"one of {', '.join(map(str, choices))}",
            hint=_HINT,
        )
