"""Compiled kernels on disk, loaded only if nothing they were compiled from has changed.

Each version of a kernel has one file, named after the kernel and the types of its
arguments. It begins with a digest of everything that was compiled into it: the kernel,
every kernel that it calls, directly or not, the global constants that they read, and
the compiler. A file that begins with another digest is not loaded, and is overwritten.

The digest is one of what Python has loaded, not of source files. So a copy of the
package keeps its compiled code, comments may change, and a file that is edited while a
process runs does not pass for what that process compiles.

Numba's own cache is not used, because it looks for changes in the file of the kernel
alone, though small kernels and constants of other files are copied into it. It also
numbers files in the order they are saved: two processes that save different versions at
the same moment may give both the same number, and run code made for other arguments.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from glob import escape
from pathlib import Path
from types import CodeType, EllipsisType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config, types
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
)
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

from evosdc.compile import clock

_THIS_MODULE = sys._getframe().f_code
# What these provide is known by its name and their version.
_LIBRARIES = {"llvmlite", "numba", "numpy", *sys.stdlib_module_names}
_VERSIONS = tuple(library.__version__ for library in (llvmlite, numba, np))
_CONSTANTS = (
    bool | int | float | complex | str | bytes | EllipsisType | np.generic | None
)


class OutOfDateError(Exception):
    """Code on disk calls a kernel that takes or returns something else by now."""


class KernelCache(FunctionCache):
    """Compiled versions of one kernel on disk.

    Parameters
    ----------
    kernel
        What is compiled.
    inner
        Whether Python cannot call what is compiled.
    compiler
        The code that decides how kernels are compiled.
    """

    def __init__(self, kernel: Dispatcher, inner: bool, compiler: CodeType) -> None:
        super().__init__(kernel.py_func)
        self._asked = (inner, bool(config.BOUNDSCHECK))
        self._cache_file = _Files(
            self.cache_path,
            self._impl.filename_base,
            lambda: _digest(compiler, _THIS_MODULE, kernel),
        )

    def holds(self, sig: Any, codegen: Any) -> bool:
        """Whether a version is on disk."""
        return self._cache_file.holds(self._index_key(sig, codegen))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except OutOfDateError:
            found = None
        if found is None:
            clock.tell_of_compiling()
        return found

    def _index_key(self, sig: Any, codegen: Any) -> bytes:
        return _digest(tuple(sig), codegen.magic_tuple(), self._asked)

    class _impl_class(CompileResultCacheImpl):  # noqa: N801 - Numba's name
        def get_filename_base(self, fullname: str, abiflags: str) -> str:
            """Name files without a line number: a kernel that moved is the same."""
            name = fullname.replace("<", "").replace(">", "")
            return f"{name}.{sys.implementation.cache_tag}{abiflags}"


class _Files(IndexDataCacheFile):
    """The files of one kernel; there is no index, so that none can be out of date.

    Parameters
    ----------
    folder
        Where they are.
    base
        How their names begin.
    compiled_from
        Digest of what the kernel would be compiled from now.
    """

    def __init__(
        self, folder: str, base: str, compiled_from: Callable[[], bytes]
    ) -> None:
        super().__init__(folder, base, None)
        self._base = base
        self._compiled_from = compiled_from

    def load(self, key: bytes) -> Any:
        """Return what was saved for a key, or None."""
        with suppress(OSError), self._path(key).open("rb") as file:
            if self._begins_well(file, key):
                return pickle.load(file)
        return None

    def holds(self, key: bytes) -> bool:
        """Whether `load` would find something."""
        with suppress(OSError), self._path(key).open("rb") as file:
            return self._begins_well(file, key)
        return False

    def save(self, key: bytes, data: Any) -> None:
        """Save for a key, and remove what was compiled from anything else."""
        compiled_from = self._compiled_from()
        with self._open_for_write(str(self._path(key))) as file:
            file.write(compiled_from + key + self._dump(data))
        for path in self._all():
            with suppress(OSError):
                with path.open("rb") as file:
                    stale = file.read(len(compiled_from)) != compiled_from
                if stale:
                    path.unlink()

    def flush(self) -> None:
        """Remove every version."""
        for path in self._all():
            path.unlink(missing_ok=True)

    def _begins_well(self, file: Any, key: bytes) -> bool:
        beginning = self._compiled_from() + key
        return file.read(len(beginning)) == beginning

    def _path(self, key: bytes) -> Path:
        return Path(self._cache_path, f"{self._base}.{key.hex()[:16]}.nbc")

    def _all(self) -> Iterator[Path]:
        return Path(self._cache_path).glob(f"{escape(self._base)}.*.nbc")


def _digest(*values: Any) -> bytes:
    """Digest values and every function that compiling them would read."""
    functions: list[FunctionType] = []
    lines = [described(value, functions) for value in (_VERSIONS, *values)]
    known = set()
    # The list grows while it is read.
    for function in functions:
        if function not in known:
            known.add(function)
            lines.append(_described_function(function, functions))
    return hashlib.sha256("\n".join(lines).encode()).digest()


def described(value: Any, functions: list[FunctionType] | None = None) -> str:
    """Describe what compiled code may depend on, alike in every process.

    Parameters
    ----------
    value
        A global variable of a kernel, or a type of Numba.
    functions
        To be extended by the functions whose code matters too.

    Raises
    ------
    TypeError
        If there is no way to see that such a value has changed.
    """
    if isinstance(value, _CONSTANTS):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple | list):
        parts = ", ".join(described(part, functions) for part in value)
        return f"{type(value).__name__} {getattr(value, '_fields', '')} ({parts})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(described(p, functions) for p in value))}}}"
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        content = hashlib.sha256(value.tobytes()).hexdigest()
        return f"array {value.dtype.descr} {value.shape} {value.strides} {content}"
    if isinstance(value, types.Type):
        return f"{type(value).__name__}: {described(value.key, functions)}"
    if isinstance(value, CodeType):
        return _described_code(value)
    if isinstance(value, Dispatcher):
        # How Python calls a kernel is no matter of what it computes.
        options = value.targetoptions.items()
        asked = sorted((k, repr(v)) for k, v in options if k != "no_cpython_wrapper")
        return f"{asked} {described(value.py_func, functions)}"
    if isinstance(value, _Intrinsic):
        return described(value._defn, functions)
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    module = getattr(value, "__module__", None) or ""
    fields = getattr(value, "_fields", None)
    plain = _is_of_a_library(module) or not isinstance(value, type)
    if name is None or not (plain or fields or issubclass(value, Exception)):
        raise TypeError(
            f"a kernel depends on {value!r} of the type {type(value).__name__}; "
            "expected a number, a text, an array, a tuple or a kernel"
        )
    name = f"{module}.{name}"
    if fields is not None:
        # Names of fields are compiled as their positions.
        defaults = tuple(value._field_defaults.items())
        return f"{name} {fields} {described(defaults, functions)}"
    if isinstance(value, FunctionType) and not _is_of_a_library(module):
        if functions is not None:
            functions.append(value)
        return f"{name} {_described_code(value.__code__)}"
    return name


def _described_function(function: FunctionType, functions: list[FunctionType]) -> str:
    """Describe a function with the values of the names that it looks up."""
    names = _names(function.__code__)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    kept = (function.__defaults__, *(function.__kwdefaults__ or {}).items(), *cells)
    lines = [described(function), described(kept, functions)]
    scopes = [("", function.__globals__)]
    for path, scope in scopes:
        for name in names:
            if name not in scope:
                continue
            value = scope[name]
            lines.append(f"{path}{name} = {described(value, functions)}")
            if isinstance(value, ModuleType) and not _is_of_a_library(value.__name__):
                inside = (f"{path}{name}.", vars(value))
                if all(vars(value) is not known for _, known in scopes):
                    scopes.append(inside)
    return "\n".join(lines)


@cache
def _described_code(code: CodeType) -> str:
    """Describe byte code without line numbers."""
    parts = (
        code.co_code,
        code.co_consts,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        code.co_exceptiontable,
    )
    return hashlib.sha256(described(parts).encode()).hexdigest()


@cache
def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names of globals and attributes in a function and those within it."""
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return tuple(sorted({*code.co_names, *(n for part in inner for n in _names(part))}))


def _is_of_a_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES
