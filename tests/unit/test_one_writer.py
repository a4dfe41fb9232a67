"""Files of users are written, closed and removed in few places of the source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import evosdc

WRITES = {"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to"}
WRITES |= {"to_csv", "to_parquet", "to_json", "to_pickle", "savefig", "tofile"}
WRITES |= {"NamedTemporaryFile", "mkstemp", "mktemp", "mkfifo"}
REMOVES = {"unlink", "rmtree", "rename", "renames", "removedirs", "chmod"}
WRITER = {"io/paths.py"}
# Folders of results, and checkpoints: each looks first whose a file is.
REMOVERS = WRITER | {"results/folder.py", "io/checkpoint.py"}
# A side file goes with its table, compiled code with the source it was made from.
REMOVERS |= {"io/sidecar.py", "compile/cache.py"}


def is_method(node: ast.Call, names: set[str]) -> bool:
    """A function of such a name, imported from io/paths.py, is the writer itself."""
    return isinstance(node.func, ast.Attribute) and node.func.attr in names


def opens_to_write(node: ast.Call) -> bool:
    if ast.unparse(node.func).rpartition(".")[2] != "open":
        return False
    given = [*node.args, *(k.value for k in node.keywords if k.arg == "mode")]
    texts = [a.value for a in given if isinstance(a, ast.Constant)]
    modes = [t for t in texts if isinstance(t, str) and set(t) <= set("rwaxbt+")]
    return any(set(text) & set("wax+") for text in modes)


RULES: dict[str, tuple[Callable[[ast.Call], bool], set[str]]] = {
    "open": (opens_to_write, set()),
    "write": (lambda node: is_method(node, WRITES), set()),
    # A checkpoint has its folder on disk as well, which is opened for reading.
    "os.open": (
        lambda node: ast.unparse(node.func) == "os.open",
        WRITER | {"io/checkpoint.py"},
    ),
    "remove": (lambda node: is_method(node, REMOVES), REMOVERS),
    "umask": (lambda node: is_method(node, {"umask"}), set()),
    "duckdb": (
        lambda node: ast.unparse(node.func) == "duckdb.connect",
        {"tabulation/source.py"},
    ),
}


@pytest.fixture(scope="module")
def calls() -> list[tuple[str, ast.Call]]:
    def found() -> Iterator[tuple[str, ast.Call]]:
        root = Path(evosdc.__file__).parent
        for path in sorted(root.rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Call):
                    yield path.relative_to(root).as_posix(), node

    return list(found())


@pytest.mark.parametrize("rule", RULES)
def test_only_few_places_touch_files(
    calls: list[tuple[str, ast.Call]], rule: str
) -> None:
    breaks, allowed = RULES[rule]
    places = [(path, node.lineno) for path, node in calls if breaks(node)]
    assert [place for place in places if place[0] not in allowed] == []
    assert {path for path, _ in places} == allowed


def test_the_rules_see_what_they_look_for() -> None:
    for rule, text in {
        "open": "open(p, 'w')",
        "write": "Path(p).write_text(t)",
        "os.open": "os.open(p, 0)",
        "remove": "p.unlink()",
        "umask": "os.umask(0)",
        "duckdb": "duckdb.connect()",
    }.items():
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        assert RULES[rule][0](call)
    reading = ast.parse("p.open('rb')", mode="eval").body
    assert isinstance(reading, ast.Call)
    assert not opens_to_write(reading)
