"""Progress of both jobs on stderr; silent when piped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.text import Text

from evosdc.compile.clock import Clock, compiled, moment
from evosdc.evolution.stopping import Entry, gap

# Seconds of compiling that are not shown: loading what is compiled.
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
        yield view.listen


@contextmanager
def announced() -> Iterator[None]:
    """Print once that kernels are being compiled, where that is so."""
    text = "compiling kernels (first use); no limit of time counts this"
    with Clock(on_compile=lambda: print(text, file=sys.stderr, flush=True)):
        yield


class _Line:
    def __init__(self, time_limit: float | None) -> None:
        self._entry: Entry | None = None
        self._limit = time_limit
        self._start, self._compiled = moment(), compiled()

    def listen(self, entry: Entry) -> None:
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


def print_compiling() -> None:
    """Say why a first use of a synthesis takes long; its clock is stopped."""
    print("evosdc: compiling kernels (first use)", file=sys.stderr, flush=True)


@contextmanager
def synthesis_progress(
    wanted: bool, time_limit: float | None
) -> Iterator[Callable[[Any], None] | None]:
    """Show a line that follows the phases and generations of a synthesis."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from evosdc.cli.console import plain_console

    console = plain_console(stderr=True)
    start = time.monotonic()
    with console.status("preparing") as status:

        def listen(news: Any) -> None:
            limit = "" if time_limit is None else f" of {time_limit:.0f}"
            if not isinstance(news, str):
                news = (
                    f"generation {news.generation}  distance {news.utility:.4g}  "
                    f"cost {news.cost:.4g}"
                )
            status.update(Text(f"{news}  {time.monotonic() - start:.0f}{limit} s"))

        yield listen
