"""Compiled kernels on disk, safe with several processes at once.

Numba numbers the files of a function's compiled versions in the order they are saved.
Two processes that save different versions at the same moment give both the same number,
and one of them then runs code made for other arguments: a crash, or worse. Here a file
is named after what it was compiled for, and is there before the index mentions it.

An index that an earlier release left behind may name classes that are gone. It is taken
for an empty one, and the kernel is compiled again.

Numba calls `name_by_signature` before it compiles anything, as one of its extensions
(see the entry points in ``pyproject.toml``).
"""

from __future__ import annotations

import hashlib
from typing import Any


def name_by_signature() -> None:
    """Have Numba name compiled versions after their signature, not by counting."""
    from numba.core.caching import IndexDataCacheFile

    IndexDataCacheFile.save = _save
    if IndexDataCacheFile._load_index is not _load_index:
        _load_index.plain = IndexDataCacheFile._load_index  # type: ignore[attr-defined]
        IndexDataCacheFile._load_index = _load_index


def _load_index(self: Any) -> Any:
    """Load an index; takes the place of Numba's method."""
    try:
        return _load_index.plain(self)  # type: ignore[attr-defined]
    except (AttributeError, ImportError):
        return {}


def _save(self: Any, key: Any, data: Any) -> None:
    """Save what was compiled for `key`; takes the place of Numba's method."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    name = self._data_name(int.from_bytes(digest[:8], "big"))
    self._save_data(name, data)
    overloads = self._load_index()
    if overloads.get(key) != name:
        overloads[key] = name
        self._save_index(overloads)
