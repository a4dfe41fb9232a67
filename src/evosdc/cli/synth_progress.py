"""Progress of a synthesis on stderr; silent when piped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def compiling() -> None:
    """Say why a first use takes long; the clock stands still meanwhile."""
    print("evosdc: compiling kernels (first use)", file=sys.stderr, flush=True)


@contextmanager
def progress(
    wanted: bool, time_limit: float | None
) -> Iterator[Callable[[Any], None] | None]:
    """Show a line that follows phases and generations while the block runs.

    What is heard is the name of a phase or a generation.
    """
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.text import Text

    from evosdc.cli.console import plain_console

    console = plain_console(stderr=True)
    start = time.monotonic()
    with console.status("preparing") as status:

        def hear(news: Any) -> None:
            limit = "" if time_limit is None else f" of {time_limit:.0f}"
            if not isinstance(news, str):
                news = (
                    f"generation {news.generation}  distance {news.utility:.4g}  "
                    f"cost {news.cost:.4g}"
                )
            status.update(Text(f"{news}  {time.monotonic() - start:.0f}{limit} s"))

        yield hear
