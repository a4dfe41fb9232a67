"""Errors that say what was found, what was expected and what to do next.

Messages name cells by label and never print confidential values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class EvosdcError(Exception):
    """Base of every error raised on purpose; the command line exits with 2.

    Parameters
    ----------
    what
        What is wrong, naming the thing found.
    expected
        What would have been right.
    hint
        The next step for the user.
    """

    exit_code = 2

    def __init__(self, what: str, *, expected: str = "", hint: str = "") -> None:
        self.what = what
        self.expected = expected
        self.hint = hint
        parts = [what.rstrip(".") + "."]
        if expected:
            parts.append(f"Expected: {expected.rstrip('.')}.")
        if hint:
            parts.append(f"Next step: {hint.rstrip('.')}.")
        super().__init__(" ".join(parts))


class InputError(EvosdcError):
    """A file, a frame or an option that cannot be used as it is."""


class TableError(EvosdcError):
    """Cells, equations or hierarchies that do not form a table."""


class NotAdditiveError(TableError):
    """Totals that are not the sum of their parts."""


class HierarchyError(TableError):
    """Codes that do not form a tree."""


class RequestError(EvosdcError):
    """Requests about cells that contradict each other or the table."""


class LevelError(EvosdcError):
    """Protection levels that no suppression pattern can give.

    `cells` are the numbers of those that were found, where that is known.
    """

    cells: tuple[int, ...] = ()


class ProtectionFailed(EvosdcError):  # noqa: N818
    """A method that cannot protect every cell, where another method might."""

    exit_code = 3


class MethodError(EvosdcError):
    """An unknown method, an unknown parameter, or a table it does not take."""


class MissingExtraError(EvosdcError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs the package {package!r}, which is not installed",
            hint=f"run: pip install 'evosdc[{extra}]'",
        )


def refuse_unknown(
    given: Iterable[str],
    known: Iterable[str],
    what: str,
    *,
    hint: str = "check the spelling; capitals count",
) -> None:
    """Raise an `InputError` for names that are not known.

    `what` says what is wrong with them; they go where it has ``{}``.
    """
    listed = list(dict.fromkeys(known))
    missing = [repr(name) for name in given if name not in listed]
    if missing:
        raise InputError(
            what.replace("{}", ", ".join(missing[:3])),
            expected=f"one of {', '.join(map(str, listed)) or 'none'}",
            hint=hint,
        )
