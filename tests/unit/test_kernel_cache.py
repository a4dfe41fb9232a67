"""Compiled code on disk is loaded only if all that was compiled into it is the same."""

from __future__ import annotations

import importlib
import pkgutil
import shutil
import subprocess
import sys
from collections import namedtuple
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import types

import evosdc
from evosdc.compile.cache import _digest, _Files, described
from evosdc.compile.kernels import Kernel
from kernel_modules import ask

CONSTANTS = "SCALE = 2.0\nSHIFT = 10.0\n"
DEEPER = """
from evosdc.compile.kernels import kernel

@kernel(inner=True)
def deep(x):
    return x + 100.0
"""
SMALL = """
import constants
import deeper
from typing import NamedTuple
from evosdc.compile.kernels import kernel

class Pair(NamedTuple):
    first: float
    second: float

@kernel(inner=True)
def small(x, n):
    return Pair(deeper.deep(x) + constants.SHIFT, n * 1.0)
"""
CALLER = """
import small as module
from constants import SCALE
from evosdc.compile.kernels import kernel

@kernel
def caller(x, n):
    pair = module.small(x, n)
    return SCALE * (pair.first + 1000.0 * pair.second)
"""
FIRST = 2.0 * (1.0 + 100.0 + 10.0 + 4000.0)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of kernels that are compiled."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "constants.py").write_text(CONSTANTS)
    (folder / "deeper.py").write_text(DEEPER)
    (folder / "small.py").write_text(SMALL)
    (folder / "caller.py").write_text(CALLER)
    assert ask(folder) == (FIRST, ["caller", "deep", "small"])
    return folder


@pytest.fixture
def copy(compiled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(compiled, tmp_path / "copy", copy_function=shutil.copy))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_copy_keeps_its_compiled_code(copy: Path) -> None:
    for path in copy.glob("*.py"):
        path.write_text("# Only the lines of the code move.\n" + path.read_text())
    assert ask(copy) == (FIRST, [])


@pytest.mark.parametrize(
    ("file", "old", "new", "expected", "again"),
    [
        ("deeper.py", "100.0", "300.0", FIRST + 400, ["caller", "deep", "small"]),
        ("constants.py", "SHIFT = 1", "SHIFT = 2", FIRST + 20, ["caller", "small"]),
        ("constants.py", "SCALE = 2", "SCALE = 4", 2 * FIRST, ["caller"]),
        # The field's name is its position once it is compiled.
        (
            "small.py",
            "first: float\n    second: float",
            "second: float\n    first: float",
            2.0 * (4.0 + 1000.0 * 111.0),
            ["caller", "small"],
        ),
        (
            "small.py",
            "(inner=True)",
            "(inner=True, borrows=True)",
            FIRST,
            ["caller", "small"],
        ),
    ],
    ids=["inner kernel", "constant", "imported constant", "named tuple", "options"],
)
def test_a_change_of_what_is_inlined_is_compiled(
    copy: Path, file: str, old: str, new: str, expected: float, again: list[str]
) -> None:
    files = {path.name for path in (copy / "__pycache__").iterdir()}
    edit(copy / file, old, new)
    assert ask(copy) == (expected, again)
    # What is out of date is replaced: it does not pile up.
    assert {path.name for path in (copy / "__pycache__").iterdir()} == files


def test_files_of_others_are_neither_loaded_nor_removed(copy: Path) -> None:
    """As earlier releases and other programs leave them."""
    folder = copy / "__pycache__"
    foreign = {
        folder / "caller.caller-6.py311.nbi": b"not a pickle",
        folder / "caller.caller-6.py311.1.nbc": b"not code",
    }
    for path, content in foreign.items():
        path.write_bytes(content)
    for path in folder.glob("caller.caller.*.nbc"):
        path.write_bytes(b"")
    assert ask(copy) == (FIRST, ["caller"])
    assert {path: path.read_bytes() for path in foreign} == foreign


def files(folder: Path, compiled_from: bytes = b"text") -> _Files:
    return _Files(str(folder), "kernel", lambda: compiled_from)


def test_versions_saved_at_the_same_moment_stay_apart(tmp_path: Path) -> None:
    """Both processes look at what there is before either has saved."""
    mine, theirs = files(tmp_path), files(tmp_path)
    integer, decimal = _digest("int"), _digest("float")
    assert not mine.holds(integer)
    assert not theirs.holds(decimal)
    mine.save(integer, "code for int")
    theirs.save(decimal, "code for float")
    assert files(tmp_path).load(integer) == "code for int"
    assert files(tmp_path).load(decimal) == "code for float"


def test_versions_are_found_again_and_replaced(tmp_path: Path) -> None:
    integer, decimal = _digest("int"), _digest("float")
    for key, code in ((integer, 1), (decimal, 2), (integer, 3)):
        files(tmp_path).save(key, code)
    assert files(tmp_path).load(integer) == 3
    assert files(tmp_path).load(decimal) == 2
    assert len(list(tmp_path.iterdir())) == 2


def test_a_process_with_older_sources_is_never_loaded(tmp_path: Path) -> None:
    """It began before an edit and saves its code after that of a newer process."""
    key = _digest("int")
    files(tmp_path, b"new!").save(key, "new")
    files(tmp_path, b"old!").save(key, "old")
    assert files(tmp_path, b"new!").load(key) is None
    assert not files(tmp_path, b"new!").holds(key)


class Pair(NamedTuple):
    """Two numbers."""

    first: float
    second: float


def test_types_are_described_as_finely_as_numba_tells_them_apart() -> None:
    other = namedtuple("Pair", ["second", "first"])
    both = [types.float64] * 2
    seen = [
        types.int64,
        types.float64,
        types.Array(types.float64, 1, "C"),
        types.Array(types.float64, 1, "A"),
        types.Array(types.float64, 1, "C", readonly=True),
        types.Array(types.float64, 1, "C", aligned=False),
        types.UniTuple(types.float64, 2),
        types.NamedUniTuple(types.float64, 2, Pair),
        types.NamedUniTuple(types.float64, 2, other),
        types.NamedTuple([types.float64, types.int64], Pair),
        types.Omitted(0.0),
        types.Omitted(1.0),
        tuple(both),
    ]
    assert len({described(kind) for kind in seen}) == len(seen)


def test_constants_are_described_with_their_types() -> None:
    seen = [1, 1.0, True, np.int32(1), np.uint64(1), "1", b"1", (1,), None, 0.0, -0.0]
    seen += [np.zeros(2), np.ones(2), np.zeros((2, 1)), np.zeros(2, np.int64)]
    seen += [(1, 2), Pair(1, 2), namedtuple("Pair", ["second", "first"])(1, 2)]
    assert len({described(constant) for constant in seen}) == len(seen)


class Colour(Enum):
    """Constants that Numba would compile, and that nothing here compares."""

    RED = 1


@pytest.mark.parametrize("value", [np.array([{}]), {}, Colour, Colour.RED, object()])
def test_what_cannot_be_compared_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="a kernel depends on"):
        described(value)


def test_every_kernel_says_what_it_is_compiled_from() -> None:
    members = [
        member
        for found in pkgutil.walk_packages(evosdc.__path__, "evosdc.")
        if not found.name.endswith("__main__")
        for member in vars(importlib.import_module(found.name)).values()
    ]
    kernels = {member for member in members if isinstance(member, Kernel)}
    assert len(kernels) > 250
    digests = {kernel._cache._cache_file._compiled_from() for kernel in kernels}
    assert len(digests) == len(kernels)
    # Types of arguments.
    tuples = {m for m in members if isinstance(m, type) and hasattr(m, "_fields")}
    assert len(tuples) > 10
    assert len({described(kind) for kind in tuples}) == len(tuples)


# A program of somebody else, in an environment where the package is installed.
FOREIGN = """
import sys
from numba.core.caching import FunctionCache, IndexDataCacheFile

from foreign import add
assert add(1) == 2
assert type(add._cache) is FunctionCache
assert type(add._cache._cache_file) is IndexDataCacheFile
methods = [IndexDataCacheFile.save, IndexDataCacheFile._load_index]
print({method.__module__ for method in methods}, "evosdc" in sys.modules)
"""
FOREIGN_MODULE = """
from numba import njit

@njit(cache=True)
def add(x):
    return x + 1
"""
OURS = """
import numpy as np
from evosdc.suppress.structure.primitives import order_of
assert order_of(np.array([2.0, 1.0])).tolist() == [1, 0]
"""


@pytest.mark.parametrize("ours", [False, True], ids=["without us", "beside us"])
def test_programs_of_others_have_the_cache_of_numba(tmp_path: Path, ours: bool) -> None:
    (tmp_path / "foreign.py").write_text(FOREIGN_MODULE)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", (OURS if ours else "") + FOREIGN],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[0] == f"{{'numba.core.caching'}} {ours}"
    assert list((tmp_path / "__pycache__").glob("foreign.add-*.nbi"))
