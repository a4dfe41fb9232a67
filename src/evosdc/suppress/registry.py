"""Every method is an entry here: a name, the tables it takes, parameters and source.

A module of a method calls `register` when it is imported; `load_methods` imports them
all. Scripts call methods by these names, so a name never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from evosdc.errors import MethodError
from evosdc.options import configure
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search

# Modules that register methods, in the order `evosdc methods` lists them.
_MODULES: list[str] = [
    "evosdc.suppress.construct.hypercube",
    "evosdc.suppress.construct.greedy",
    "evosdc.suppress.construct.marginal",
    "evosdc.suppress.construct.attacker",
    "evosdc.suppress.construct.sp",
    "evosdc.suppress.construct.castro",
    "evosdc.suppress.construct.kelly",
    "evosdc.suppress.construct.hypercube_2d",
    "evosdc.suppress.construct.pbp",
    "evosdc.suppress.construct.hitas",
    "evosdc.suppress.evolve.gensup",
    "evosdc.suppress.evolve.heurgene",
    "evosdc.suppress.evolve.gapn",
    "evosdc.suppress.evolve.ruin",
    "evosdc.suppress.evolve.rebuild",
    "evosdc.suppress.evolve.descent",
    "evosdc.suppress.evolve.grasp",
    "evosdc.suppress.evolve.ants",
    "evosdc.suppress.evolve.hyper",
    "evosdc.suppress.exact.optimal",
    "evosdc.suppress.evolve.hybrid",
    "evosdc.suppress.evolve.orders.methods",
]

# What other programs call a method that is here under its author's name.
_ALIASES = {"modular": "hitas"}

Run = Callable[[Problem, Any, Search], Pattern]
Takes = Callable[[Problem], str | None]


def any_table(_: Problem) -> str | None:
    """Take every table."""
    return None


def networks_only(problem: Problem) -> str | None:
    """Take tables that are networks (two-dimensional ones)."""
    if problem.network is None:
        return "the equations do not form a two-dimensional table (a network)"
    return None


@dataclass(frozen=True)
class Method:
    """A registered method.

    Attributes
    ----------
    name
        What scripts call it.
    summary, tables, source
        One line each for people: what it does, what it takes, where it was published.
    parameters
        A frozen dataclass with the published defaults.
    run
        Builds a pattern that protects everything by the method's own check, or raises
        `LevelError` naming what no pattern can reach.
    takes
        Why a table is refused, or None.
    parts
        Other methods whose kernels it uses: they are compiled before the clock starts.
    may_fail
        Whether it may raise `ProtectionFailed` on tables that others can protect, as
        published; such a failure names the cells.
    """

    name: str
    summary: str
    tables: str
    source: str
    parameters: type
    run: Run
    takes: Takes = any_table
    parts: tuple[str, ...] = ()
    may_fail: bool = False

    def configure(self, options: Mapping[str, Any]) -> Any:
        """Turn ``name=value`` options into parameters."""
        return configure(
            self.parameters,
            options,
            owner=f"method {self.name!r}",
            error=MethodError,
            hint="see: evosdc methods",
        )


_METHODS: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Add a method to the registry."""
    known = _METHODS.get(method.name)
    if known is not None and known.run is not method.run:
        raise MethodError(f"two methods are called {method.name!r}")
    _METHODS[method.name] = method
    return method


def load_methods() -> dict[str, Method]:
    """Import every method module and return all methods by name."""
    for module in _MODULES:
        import_module(module)
    return _METHODS


def find_method(name: str) -> Method:
    """Look a method up by name."""
    methods = load_methods()
    name = _ALIASES.get(name, name)
    if name not in methods:
        raise MethodError(
            f"there is no method {name!r}",
            expected=f"auto or one of {', '.join(sorted(methods))}",
            hint="see: evosdc methods",
        )
    return methods[name]
