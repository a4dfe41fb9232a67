"""A temporary copy of the package in which a page "Add a ..." has been followed."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A file, or a registry in a file, named in the text; then the block that goes there.
_STEP = re.compile(
    r"(?:to `(?P<registry>[A-Z]+)` in )?`src/(?P<file>[\w/]+\.py)`[^`]*```python\n"
    r"(?P<code>.*?)```",
    re.DOTALL,
)
_COMMAND = re.compile(r"^```\nevosdc (.*)\n```$", re.MULTILINE)


class FollowedPage:
    """The package with the code blocks of a page in it, and the page's command."""

    def __init__(self, page: str, folder: Path) -> None:
        self.folder = folder
        text = (ROOT / "docs/how-to" / page).read_text(encoding="utf-8")
        self.command = _COMMAND.findall(text)[0].split()
        shutil.copytree(ROOT / "src/evosdc", folder / "src/evosdc")
        steps = list(_STEP.finditer(text))
        assert [bool(step["registry"]) for step in steps] == [False, True]
        for step in steps:
            path = folder / "src" / step["file"]
            if step["registry"]:
                _add_entry(path, step["registry"], step["code"])
            else:
                assert not path.exists()
                path.write_text(step["code"], encoding="utf-8")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the copy in its folder; by default that of the page."""
        return subprocess.run(
            [sys.executable, "-m", "evosdc", *(arguments or self.command)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder / "src")},
            capture_output=True,
            text=True,
            check=False,
        )

    def write(self, name: str, lines: list[str]) -> None:
        """Write a file for the command."""
        (self.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _add_entry(path: Path, registry: str, code: str) -> None:
    """Add a line at the end of a dict or tuple at the top of a module."""
    text = path.read_text(encoding="utf-8")
    (value,) = [
        node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and ast.unparse(node).startswith(registry)
    ]
    (entries,) = [
        node
        for node in ast.walk(value or ast.Tuple())
        if isinstance(node, ast.Dict | ast.Tuple)
        and len(getattr(node, "keys", None) or getattr(node, "elts", ())) > 3
    ]
    lines = text.splitlines(keepends=True)
    lines.insert((entries.end_lineno or 0) - 1, code)
    path.write_text("".join(lines), encoding="utf-8")
