"""Names and sentences use the words of the field.

A reader of a paper on disclosure control should guess what a file or a function does.
What is listed here went, because only its author understood it; the glossary has the
words that took its place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "benchmarks", "examples")
# In names of files, modules, classes, functions, arguments and variables.
NAMES = {
    *("agile", "anew", "crew", "dearer", "door", "doors", "errand", "guest", "hands"),
    *("haul", "heard", "house", "kin", "lure", "outpost", "redrawn", "roam", "roaming"),
    *("shades", "stir", "stirred", "stranger", "strangers", "stretch", "welcome"),
}
# In code, messages, comments and docstrings.
TEXT = re.compile(
    r"\b(anew|dearer|errands?|haul|house rules|outposts?|redrawn|strangers?|stirred)\b",
    re.IGNORECASE,
)
# Stored claims and reports have had these sentences since version 0.1.
STORED = ("made anew", "drawn anew")


def python_files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def names_in(path: Path) -> Iterator[str]:
    """Yield what a file is called and every name that is bound in it."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def parts_of(name: str) -> set[str]:
    """Return the words that a name is made of."""
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+", name)}


@pytest.mark.parametrize("path", python_files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_words_that_went_are_not_used(path: Path) -> None:
    found = {name for name in names_in(path) if parts_of(name) & NAMES}
    assert not found
    if "src" not in path.relative_to(ROOT).parts:
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not any(sentence in line for sentence in STORED):
            assert not TEXT.search(line), f"line {number}: {line.strip()}"


def test_a_word_is_found_within_names() -> None:
    assert parts_of("_StirredFloor_of") == {"stirred", "floor", "of"}
    assert TEXT.search("it is drawn anew")
