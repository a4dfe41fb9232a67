"""Every method is an entry here: a name, the tables it takes, parameters and source.

`METHODS` says in which module each one is; it is imported when it is first used.
Scripts call methods by these names, so a name never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from evosdc.errors import MethodError
from evosdc.options import MethodOptions, read_options
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search

# Where each method is, in the order `evosdc methods` lists them. Strings, so that one
# method is looked up without importing the others.
METHODS: dict[str, str] = {
    "hypercube": "evosdc.suppress.methods.constructions:HYPERCUBE",
    "greedy": "evosdc.suppress.papers.relaxed_search:GREEDY",
    "greedy-unit": "evosdc.suppress.papers.relaxed_search:GREEDY_UNIT",
    "greedy-few": "evosdc.suppress.papers.relaxed_search:GREEDY_FEW",
    "greedy-ahead": "evosdc.suppress.papers.relaxed_search:GREEDY_AHEAD",
    "marginal": "evosdc.suppress.methods.constructions:MARGINAL",
    "attacker": "evosdc.suppress.methods.constructions:ATTACKER",
    "sp": "evosdc.suppress.methods.shortest_paths:SP",
    "hypercube-2d": "evosdc.suppress.papers.once_through:HYPERCUBE",
    "castro": "evosdc.suppress.papers.once_through:CASTRO",
    "kelly": "evosdc.suppress.papers.once_through:KELLY",
    "pbp": "evosdc.suppress.methods.shortest_paths:PBP",
    "hitas": "evosdc.suppress.methods.hitas:METHOD",
    "gensup": "evosdc.suppress.methods.gensup:METHOD",
    "heurgene": "evosdc.suppress.papers.heurgene:HEURGENE",
    "gapn": "evosdc.suppress.papers.heurgene:GAPN",
    "ls-ruin": "evosdc.suppress.methods.walking:RUIN",
    "ls-rebuild": "evosdc.suppress.methods.walking:REBUILD",
    "descent": "evosdc.suppress.papers.relaxed_search:DESCENT",
    "grasp": "evosdc.suppress.papers.relaxed_search:GRASP",
    "ants": "evosdc.suppress.papers.ants:METHOD",
    "hyper": "evosdc.suppress.papers.hyper:METHOD",
    "optimal": "evosdc.suppress.methods.optimal:METHOD",
    "hybrid": "evosdc.suppress.methods.hybrid:METHOD",
    "order-by-weight": "evosdc.suppress.methods.constructions:BY_WEIGHT",
    "order-ga": "evosdc.suppress.papers.orders:GENETIC",
    "order-ga-swap": "evosdc.suppress.papers.orders:GENETIC_SWAP",
    "order-ga-insert": "evosdc.suppress.papers.orders:GENETIC_INSERT",
    "order-ga-invert": "evosdc.suppress.papers.orders:GENETIC_INVERT",
    "ls-swap": "evosdc.suppress.papers.orders:LOCAL_SWAP",
    "ls-insert": "evosdc.suppress.papers.orders:LOCAL_INSERT",
    "ls-invert": "evosdc.suppress.papers.orders:LOCAL_INVERT",
}

# The best method that there is: what `auto` runs on every table.
FLAGSHIP = "hybrid"

# What other programs call a method that is here under its author's name.
_ALIASES = {"modular": "hitas"}

Run = Callable[[Problem, Any, Search], Pattern]
Takes = Callable[[Problem], str | None]
_LISTED = MethodOptions.listed


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
    contracts
        Whether it may run on the contracted problem (`structure.contract`): methods
        that look at labels, or at which cell is a total, may not.
    contracts_bounds
        Whether it contracts what it bounds by itself, so that its patterns need not be
        contracted where that would lose the dimensions of the table.
    may_fail
        Whether it may raise `ProtectionFailed` on tables that others can protect, as
        published; such a failure names the cells.
    """

    name: str
    summary: str
    source: str
    parameters: type
    run: Run
    tables: str = "any"
    takes: Takes = any_table
    contracts: bool = True
    contracts_bounds: bool = False
    may_fail: bool = False

    @property
    def public_only(self) -> bool:
        """Whether it knows no attackers but the public: networks have one amount each.

        `contracted.run_contracted` has its pattern made safe from the others.
        """
        return self.takes is networks_only

    def configure(self, options: Mapping[str, Any]) -> Any:
        """Turn ``name=value`` options into parameters."""
        given = read_options(
            self.parameters,
            options,
            owner=f"method {self.name!r}",
            error=MethodError,
            hint=_LISTED,
        )
        return self.parameters(**given)


# A method that takes two-dimensional tables only.
network_method = partial(Method, tables="two-dimensional", takes=networks_only)


def load_methods() -> dict[str, Method]:
    """Import every method and return them by name."""
    return {name: _load(name) for name in METHODS}


def find_method(name: str) -> Method:
    """Look a method up by name; only its own module is imported."""
    name = _ALIASES.get(name, name)
    if name not in METHODS:
        raise MethodError(
            f"there is no method {name!r}",
            expected=f"auto or one of {', '.join(sorted(METHODS))}",
            hint=_LISTED,
        )
    return _load(name)


def _load(name: str) -> Method:
    module, _, attribute = METHODS[name].partition(":")
    method: Method = getattr(import_module(module), attribute)
    return method
