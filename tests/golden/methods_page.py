"""The table of methods on their reference page, made of the registry.

    python tests/golden/methods_page.py

writes it into ``docs/reference/methods.md``, after methods have changed.
"""

from __future__ import annotations

from pathlib import Path

import evosdc

PAGE = Path(__file__).parents[2] / "docs/reference/methods.md"
HEAD = "| method | tables | what it does | source |\n| --- | --- | --- | --- |\n"


def with_current_table(text: str) -> str:
    """Return the page with the table that the registry gives."""
    before, _, rest = text.partition(HEAD)
    after = rest[rest.index("\n\n") :]
    rows = (
        f"| `{m.name}` | {m.tables} | {m.summary} | {m.source} |"
        for m in evosdc.methods()
    )
    return before + HEAD + "\n".join(rows) + after


if __name__ == "__main__":
    found = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_current_table(found), encoding="utf-8")
