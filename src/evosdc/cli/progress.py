"""Progress on stderr: cost, bound, gap, evaluations and time; silent when piped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.text import Text

from evosdc.compile.clock import Clock, compiled, moment
from evosdc.evolution.record import Entry
from evosdc.evolution.stopping import gap

# Seconds that nobody needs to hear of: loading what is compiled.
_PATIENCE = 2.0


@contextmanager
def progress(
    wanted: bool, time_limit: float | None
) -> Iterator[Callable[[Entry], None] | None]:
    """Show a line that follows the search while the block runs.

    Where nobody watches a terminal, it only says that it has to compile first.
    """
    if not wanted or not sys.stderr.isatty():
        with announced():
            yield None
        return
    from rich.live import Live

    from evosdc.cli.console import plain_console

    view = _Line(time_limit)
    console = plain_console(stderr=True)
    with Live(view, console=console, refresh_per_second=4, transient=True):
        yield view.hear


@contextmanager
def announced() -> Iterator[None]:
    """Say once that kernels are being compiled, where that is so."""
    with Clock(on_compile=_say):
        yield


def _say() -> None:
    sys.stderr.write("compiling kernels (first use); no limit of time counts this\n")
    sys.stderr.flush()


class _Line:
    def __init__(self, time_limit: float | None) -> None:
        self._entry: Entry | None = None
        self._limit = time_limit
        self._start, self._compiled = moment(), compiled()

    def hear(self, entry: Entry) -> None:
        self._entry = entry

    def __rich__(self) -> Text:
        spent = moment() - self._start
        compiling = compiled() - self._compiled
        left = (
            "" if self._limit is None else f", {max(0, self._limit - spent):.0f} s left"
        )
        first_use = (
            f", compiling kernels (first use): {compiling:.0f} s"
            if compiling > _PATIENCE
            else ""
        )
        entry = self._entry
        if entry is None:
            return Text(f"preparing: {spent:.0f} s{first_use}")
        cost = "none yet" if entry.cost is None else f"{entry.cost:,.6g}"
        bound = "unknown" if entry.bound is None else f"{entry.bound:,.6g}"
        share = gap(entry.cost, entry.bound)
        shown = "unknown" if share is None else f"{100 * share:.2f} %"
        return Text.assemble(
            "cost ",
            (cost, "bold"),
            f"  bound {bound}  gap {shown}  evaluations {entry.evaluations:,}  "
            f"{spent:.0f} s{left}{first_use}",
        )
