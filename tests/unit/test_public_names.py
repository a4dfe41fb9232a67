"""One name for one thing: public classes, and what may be imported by name."""

from __future__ import annotations

import ast
from pathlib import Path

import evosdc

PACKAGE = Path(evosdc.__file__).parent


def test_no_public_class_name_stands_for_two_things() -> None:
    """A class of the same name as its base is the same thing, with more to it."""
    found: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
            if node.name not in bases:
                module = path.relative_to(PACKAGE).with_suffix("").as_posix()
                found.setdefault(node.name, []).append(module)
    assert len(found) > 100
    assert {name: at for name, at in found.items() if len(at) > 1} == {}
