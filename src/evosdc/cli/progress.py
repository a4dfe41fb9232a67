"""Progress on stderr: cost, bound, gap, evaluations and time; silent when piped."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evosdc.evolution.record import Entry
from evosdc.evolution.stopping import gap

_PATIENCE = 3.0  # seconds; with compiled kernels a search begins sooner


@contextmanager
def progress(
    wanted: bool, time_limit: float | None
) -> Iterator[Callable[[Entry], None] | None]:
    """Show a line that follows the search while the block runs.

    Where nobody watches a terminal, a search that does not begin at once says why.
    """
    if not wanted or not sys.stderr.isatty():
        with announced() as ear:
            yield ear
        return
    from rich.console import Console
    from rich.live import Live

    view = _Line(time_limit)
    console = Console(stderr=True)
    with Live(view, console=console, refresh_per_second=4, transient=True):
        yield view.hear


@contextmanager
def announced() -> Iterator[Callable[[Entry], None]]:
    """Say that kernels are being compiled if nothing is heard for a few seconds."""
    timer = threading.Timer(
        _PATIENCE,
        sys.stderr.write,
        ["compiling kernels (first use); no limit of time counts this\n"],
    )
    timer.daemon = True
    timer.start()
    try:
        yield lambda _: timer.cancel()
    finally:
        timer.cancel()


class _Line:
    def __init__(self, time_limit: float | None) -> None:
        self._entry: Entry | None = None
        self._limit = time_limit
        self._start = time.monotonic()

    def hear(self, entry: Entry) -> None:
        self._entry = entry

    def __rich__(self) -> str:
        spent = time.monotonic() - self._start
        left = (
            "" if self._limit is None else f", {max(0, self._limit - spent):.0f} s left"
        )
        entry = self._entry
        if entry is None:
            return f"preparing (kernels compile on first use): {spent:.0f} s"
        cost = "none yet" if entry.cost is None else f"{entry.cost:,.6g}"
        bound = "unknown" if entry.bound is None else f"{entry.bound:,.6g}"
        share = gap(entry.cost, entry.bound)
        shown = "unknown" if share is None else f"{100 * share:.2f} %"
        return (
            f"cost [bold]{cost}[/]  bound {bound}  gap {shown}  "
            f"evaluations {entry.evaluations:,}  {spent:.0f} s{left}"
        )
