"""The reference page of options, made of their declarations.

    python tests/golden/options_page.py

writes ``docs/reference/options.md``, after options have changed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from evosdc.cli.flags import FORMER_FLAGS
from evosdc.options import Declaration, OptionObject, Takes, copies, declarations
from evosdc.options.tables import KEYWORDS, OBJECTS, VERBS

PAGE = Path(__file__).parents[2] / "docs/reference/options.md"
_BEGINNING = """# Options

This page is made of the declarations in `evosdc.options`, as are the checks, the
help texts of the command line and the settings in `claim.json`.

Each option is in one place. `method`, `time_limit`, `seed` and `workers` are keywords
of a verb; everything else is a field of an object:

<!-- data: table -->
```python
import evosdc

evosdc.protect(
    "table.csv",
    time_limit=300,
    stop=evosdc.Stop(gap=0.005),
    cells=evosdc.CellRequests(hide="region=North"),
)
```

On the command line each option is a flag, and in
[`evosdc.toml`](../how-to/options-file.md) a key of the section that the object is
called: `[protect.stop]`. No time limit is `None` in Python and `none` elsewhere.
"""


def options_page() -> str:
    """Return the page."""
    lines = [_BEGINNING, *_verbs(), *_objects(OBJECTS)]
    lines += [
        "# Options of a synthesis\n",
        *_table(copies.SYNTHESISE[KEYWORDS].options()),
    ]
    return "\n".join([*lines, *_objects(copies.OBJECTS), *_former()]) + "\n"


def _verbs() -> Iterator[str]:
    yield "## What each verb takes\n"
    for verb, takes in VERBS.items():
        listed = [
            f"`{keyword}={group.kind.__name__}(...)`" + _only(group)
            for keyword, group in takes.items()
            if keyword != KEYWORDS
        ]
        yield f"### {verb}\n"
        yield textwrap.fill(f"Objects: {'; '.join(listed)}.", 100) + "\n"
        if KEYWORDS in takes:
            yield from _table(takes[KEYWORDS].options())


def _only(group: Takes) -> str:
    if not group.only:
        return ""
    return f" of {', '.join(f'`{name}`' for name in group.only)}"


def _objects(objects: Mapping[str, type[OptionObject]]) -> Iterator[str]:
    for kind in objects.values():
        yield f"## {kind.__name__}\n"
        yield f"{_summary(kind)}\n"
        yield from _table(declarations(kind))


def _summary(kind: type[OptionObject]) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


def _table(found: tuple[Declaration, ...]) -> Iterator[str]:
    yield "| option | flag | type | default | what it is |"
    yield "| --- | --- | --- | --- | --- |"
    for one in found:
        flag = f"`{one.flag.name}`" if one.flag.name else "in Python only"
        default = "" if one.default in (None, ()) else f"`{one.default}`"
        cells = (f"`{one.name}`", flag, one.type_name, default, one.help)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _former() -> Iterator[str]:
    yield "## Former names\n"
    yield "Understood on the command line until 0.3, with a line on stderr.\n"
    yield "| former | now |"
    yield "| --- | --- |"
    for kind in (*OBJECTS.values(), *copies.OBJECTS.values()):
        for one in declarations(kind):
            for former, new in one.flag.former.items():
                yield f"| `{former}` | `{' '.join(new)}` |"
    for former, new in FORMER_FLAGS.items():
        yield f"| `{former}` | `{' '.join(new)}` |"
    yield "| `evosdc bounds` | `evosdc lower-bound` |"


if __name__ == "__main__":
    PAGE.write_text(options_page(), encoding="utf-8")
