"""The terminal: names, codes and paths are shown as they are."""

from __future__ import annotations

from rich.console import Console


def plain_console(*, stderr: bool = False) -> Console:
    """Return a console that takes no text for markup.

    Columns may be called ``[/x]``, ``[eur]`` or ``:key:``. Styles are those of `Text`.
    """
    return Console(stderr=stderr, markup=False, emoji=False)
