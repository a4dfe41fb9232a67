"""The shortest path heuristic (SP) for two-dimensional tables, with clean-up.

Carvalho, Dellaert & Osorio (1994); as described by Almeida, Schuetz & Carvalho (2008):
sensitive cells in any order, cheapest augmenting paths until each level is covered,
cells free once hidden, upper levels first and then lower ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Long
from evosdc.options import MethodOptions, option
from evosdc.suppress.engine.finish import finish
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.problem.pattern import Pattern
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import Method, networks_only
from evosdc.suppress.run.search import Search

ORDERS = ("given", "descending", "ascending", "random")


@dataclass(frozen=True)
class SpParameters(MethodOptions):
    """Options of SP.

    Attributes
    ----------
    order
        Order of the sensitive cells: given, descending or ascending (by weight), or
        random. The authors found no best one.
    by_side
        All upper levels before all lower ones; otherwise cell by cell.
    clean_up
        Publish what is not needed in the end.
    """

    order: str = option("given", known=ORDERS)
    by_side: bool = True
    clean_up: bool = True


def cell_order(problem: Problem, order: str, rng: np.random.Generator) -> Long:
    """Put the sensitive cells in the order of that name."""
    cells = np.flatnonzero(problem.primary)
    weight = problem.table.weight[cells]
    if order == "descending":
        return cells[np.argsort(-weight, kind="stable")]
    if order == "ascending":
        return cells[np.argsort(weight, kind="stable")]
    return rng.permutation(cells) if order == "random" else cells


def run_sp(problem: Problem, parameters: SpParameters, search: Search) -> Pattern:
    """Run SP once."""
    cells = cell_order(problem, parameters.order, search.rng(0))
    network = TableNetwork(problem)
    state = PatternState(network)
    state.cover(network.level_order(cells, parameters.by_side))
    return finish(state, search, parameters.clean_up, "shortest paths")


METHOD = Method(
    name="sp",
    summary="cheapest augmenting paths for one level after another, then clean-up",
    tables="two-dimensional",
    source="Carvalho, Dellaert & Osorio 1994; Almeida, Schuetz & Carvalho 2008",
    parameters=SpParameters,
    run=run_sp,
    takes=networks_only,
)
