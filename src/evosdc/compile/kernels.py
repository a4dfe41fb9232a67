"""How kernels are compiled: each one once, however many others call it.

Numba copies the code of a kernel into each kernel that calls it, and of that into each
that calls the caller: what stands at the bottom is optimised again at every level.
Here only what is small enough to be inlined is copied. A larger kernel is compiled
once and called where it lies, under a name that says what it takes and returns.

The name is the same in every process. What a kernel calls is written down with its
compiled code, and is fetched before that code is loaded from the disk.

``kernel(inner=True)`` is for kernels that only kernels call: Python has no way in,
which is half of the work where the arguments are dozens of arrays. Python may still
call them; another version is compiled then.

In a small job (see `small_jobs`) Python runs a kernel as it is written, until that has
taken long or a compiled version is on disk.
"""

from __future__ import annotations

import copy
import hashlib
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numba.core import config, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import OmittedArg
from numba.core.registry import CPUDispatcher
from numba.core.types.misc import unliteral
from numba.core.typing.templates import make_concrete_template

from evosdc.compile import clock, small_jobs
from evosdc.compile.cache import KernelCache, OutOfDateError, described

_THIS_MODULE = sys._getframe().f_code

# LLVM inlines what has fewer instructions than about this many.
_SMALL = 250
# Symbols of the kernels that can be called in this process.
_NAMED: set[str] = set()
# Seconds that Python may spend on a kernel before it is worth compiling.
_LONG = 5.0
# Held while what a kernel is for Python is made; never while one is compiled.
_MAKING = threading.RLock()


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    inner: bool = False,
    inline: str = "never",
    nogil: bool = False,
    borrows: bool = False,
) -> Any:
    """Compile a function on first use and keep the code on disk.

    Parameters
    ----------
    function
        Loops over plain arrays.
    inner
        Whether only other kernels call it.
    inline
        "always" for what is copied into its callers as it is written.
    nogil
        Whether other threads may run meanwhile.
    borrows
        Whether it makes and returns no array: those of its callers outlive it, and
        are not counted, which is expensive where bundles of them are passed.
    """

    def made(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return function
        options: dict[str, Any] = {"nopython": True, "boundscheck": None}
        options["no_cfunc_wrapper"] = True
        if inner:
            options["no_cpython_wrapper"] = True
        if inline != "never":
            options["inline"] = inline
        if nogil:
            options["nogil"] = True
        # Said in any case: what a caller is compiled with passes on to its callees.
        options["_nrt"] = not borrows
        return Kernel(function, targetoptions=options)

    return made if function is None else made(function)


class Kernel(CPUDispatcher):
    """A function that is compiled for the types it is called with."""

    def __init__(
        self,
        py_func: Callable[..., Any],
        locals: dict[str, Any] | None = None,
        targetoptions: dict[str, Any] | None = None,
        **further: Any,
    ) -> None:
        super().__init__(py_func, locals, targetoptions, **further)
        self._inner = bool(self.targetoptions.get("no_cpython_wrapper"))
        self._shown: Kernel | None = None
        self._plain: Callable[..., Any] | None = None
        self._interpreted = 0.0
        self._cache = KernelCache(self, self._inner, compiler=_THIS_MODULE)

    def compile(self, sig: Any) -> Any:
        """Compile for argument types, or load; larger ones are then called in place."""
        # One thread at a time: what another compiles is complete before it is called.
        with clock.stopped(), global_compiler_lock:
            known = len(self.overloads)
            entry = super().compile(sig)
            for compiled in list(self.overloads.values())[known:]:
                self._stand_apart(compiled)
        return entry

    def add_overload(self, cres: Any) -> None:
        """Add a version; Python does not get to see one that it cannot call."""
        if self._inner:
            self.overloads[tuple(cres.signature.args)] = cres
        else:
            super().add_overload(cres)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Type a call by another kernel: one version for whole numbers of any width."""
        pysig, args = self._compiler.fold_argument_types(args, kws)
        wide = tuple(map(_widest, args))
        self.compile(wide)
        name = self.py_func.__name__
        template = make_concrete_template(
            f"CallTemplate({name})", name, [self.overloads[wide].signature]
        )
        return template, pysig, args, {}

    def symbol_for(self, args: tuple[types.Type, ...]) -> str:
        """Return the name under which compiled code finds the version for `args`."""
        self.compile(args)
        return _symbol(self.overloads[args])

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        """Python calls: an inner kernel is compiled once more, with a way in."""
        if self._is_interpreted(args):
            return self._interpret
        if not self._inner:
            return super()._compile_for_args(*args, **kws)
        with _MAKING:
            if self._shown is None:
                options = dict(self.targetoptions)
                del options["no_cpython_wrapper"]
                self._shown = Kernel(self.py_func, targetoptions=options)
        return self._shown._compile_for_args(*args, **kws)

    def plain(self) -> Callable[..., Any]:
        """Return the function for Python, which calls kernels as such functions too."""
        with _MAKING:
            if self._plain is None:
                function = self.py_func
                names = dict(function.__globals__)
                self._plain = FunctionType(
                    function.__code__,
                    names,
                    function.__name__,
                    function.__defaults__,
                    function.__closure__,
                )
                for name in function.__code__.co_names:
                    value = names.get(name)
                    if isinstance(value, Kernel):
                        names[name] = value.plain()
                    elif isinstance(value, ModuleType):
                        names[name] = _plain_module(value)
            return self._plain

    def _is_interpreted(self, args: tuple[Any, ...]) -> bool:
        """Whether Python runs the function: in a small job, while that is quick."""
        if not small_jobs.small() or self._interpreted > _LONG:
            return False
        if self._interpreted:
            # Looking at types and at the disk takes as long as a small kernel does.
            return True
        types_ = tuple(self.typeof_pyval(argument) for argument in args)
        return not self._cache.holds(types_, self.targetctx.codegen())

    def _interpret(self, *args: Any) -> Any:
        began = time.perf_counter()
        # The dispatcher marks defaults that a call left out.
        args = tuple(a.value if isinstance(a, OmittedArg) else a for a in args)
        try:
            # Random numbers are meant to wrap around.
            with np.errstate(over="ignore"):
                return self.plain()(*args)
        finally:
            self._interpreted += time.perf_counter() - began

    def _stand_apart(self, compiled: Any) -> None:
        """Have callers call a version instead of copying it, unless it is small."""
        library, name = compiled.library, compiled.fndesc.llvm_func_name
        # Numba forgets this when it loads a library.
        library._reload_init.update(compiled.reload_init)
        symbol = _symbol(compiled)
        llvm.add_symbol(symbol, library.get_pointer_to_function(name))
        _NAMED.add(symbol)
        if _is_small(library, name):
            return
        function = copy.copy(compiled.fndesc)
        function.mangled_name = symbol
        needed = _Needed(
            self.py_func.__module__,
            self.py_func.__qualname__,
            tuple(compiled.signature.args),
            symbol,
        )
        self.targetctx.remove_user_function(compiled.entry_point)
        self.targetctx.insert_user_function(
            compiled.entry_point, function, [_Elsewhere(library, needed)]
        )


@dataclass(frozen=True)
class _Needed:
    """A kernel that compiled code calls, to be there before that code is loaded."""

    module: str
    name: str
    args: tuple[types.Type, ...]
    symbol: str

    def __call__(self) -> None:
        if self.symbol in _NAMED:
            return
        found = getattr(import_module(self.module), self.name, None)
        if not isinstance(found, Kernel) or found.symbol_for(self.args) != self.symbol:
            raise OutOfDateError(self.symbol)


class _Elsewhere:
    """A library that callers do not copy: they only remember that they need it."""

    def __init__(self, library: Any, needed: _Needed) -> None:
        self._library = library  # Code is unloaded with its last user.
        self._reload_init = {needed}

    def _ensure_finalized(self) -> None:
        self._library._ensure_finalized()

    def _get_module_for_linking(self) -> Any:
        codegen = self._library.codegen
        return llvm.parse_assembly(str(codegen._create_empty_module("elsewhere")))


def _plain_module(module: ModuleType) -> Any:
    """Return a module as interpreted kernels see it."""
    kernels = {k: v for k, v in vars(module).items() if isinstance(v, Kernel)}
    if not kernels:
        return module
    plain = {name: kernel.plain() for name, kernel in kernels.items()}
    return SimpleNamespace(**(vars(module) | plain))


def _widest(type_: types.Type) -> types.Type:
    """Return the type that a kernel is compiled for where it gets such an argument."""
    type_ = unliteral(type_)
    if type_ in types.signed_domain:
        return types.int64
    return type_


def _symbol(compiled: Any) -> str:
    """Name a version by its place, and by what it takes and returns."""
    function = compiled.fndesc
    types_ = described((compiled.signature.args, compiled.signature.return_type))
    digest = hashlib.sha256(types_.encode()).hexdigest()[:16]
    return f"evosdc.{function.modname}.{function.qualname}.{digest}"


def _is_small(library: Any, name: str) -> bool:
    """Whether a compiled function has few instructions."""
    body = library._get_module_for_linking().get_function(name)
    all_of_them = (line for block in body.blocks for line in block.instructions)
    # Not counted to their end: thousands of them take longer than loading the kernel.
    return next(islice(all_of_them, _SMALL, None), None) is None
