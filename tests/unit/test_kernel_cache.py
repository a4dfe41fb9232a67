"""Compiled code of different signatures never shares a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.caching import IndexDataCacheFile

from evosdc import kernel_cache


def _file(folder: Path) -> IndexDataCacheFile:
    return IndexDataCacheFile(str(folder), "kernel", "stamp")


def test_versions_saved_at_the_same_moment_stay_apart(tmp_path: Path) -> None:
    """Both processes look at the index before either has saved."""
    mine, theirs = _file(tmp_path), _file(tmp_path)
    mine._load_index = theirs._load_index = dict
    kernel_cache._save(mine, "int", "code for int")
    index_of_mine = (tmp_path / "kernel.nbi").read_bytes()
    kernel_cache._save(theirs, "float", "code for float")
    (tmp_path / "kernel.nbi").write_bytes(index_of_mine)
    assert _file(tmp_path).load("int") == "code for int"


def test_versions_are_found_again_and_replaced(tmp_path: Path) -> None:
    for key, code in (("int", 1), ("float", 2), ("int", 3)):
        kernel_cache._save(_file(tmp_path), key, code)
    assert _file(tmp_path).load("int") == 3
    assert _file(tmp_path).load("float") == 2
    assert len(list(tmp_path.glob("*.nbc"))) == 2


class Renamed(NamedTuple):
    """A type of a kernel's argument that the next release calls otherwise."""


def test_an_index_with_a_class_that_is_gone_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel_cache.name_by_signature()
    kernel_cache._save(_file(tmp_path), Renamed, 1)
    assert _file(tmp_path).load(Renamed) == 1
    monkeypatch.delitem(globals(), "Renamed")
    assert _file(tmp_path).load("int") is None
    kernel_cache._save(_file(tmp_path), "int", 2)
    assert _file(tmp_path).load("int") == 2


def test_numba_has_been_told() -> None:
    njit(lambda x: x + 1)(np.int64(1))
    assert IndexDataCacheFile.save is kernel_cache._save


def test_importing_the_module_does_not_import_numba() -> None:
    code = "import sys, evosdc.kernel_cache; print('numba' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "False"
