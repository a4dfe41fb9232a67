"""The hypercube method on two-dimensional tables: a rectangle for each cell.

Giessing & Repsilber (2002), as Almeida, Schuetz & Carvalho (2008) use it: the cheapest
circuit of four cells that covers both levels. Where there is none the method fails.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.errors import ProtectionFailed
from evosdc.suppress.engine.finish import finish
from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.engine.network.rectangle import cheapest_rectangle
from evosdc.suppress.methods.sp import cell_order
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, networks_only
from evosdc.suppress.search import Search


@dataclass(frozen=True)
class HypercubeParameters:
    """Options of the hypercube method.

    Attributes
    ----------
    order
        Order of the sensitive cells: given, descending, ascending or random.
    skip_covered
        Leave out cells that the cells hidden so far protect already, as Herrington
        (2015) does.
    clean_up
        Publish what is not needed in the end.
    """

    order: str = "given"
    skip_covered: bool = False
    clean_up: bool = True


def run_hypercube(
    problem: Problem, parameters: HypercubeParameters, search: Search
) -> Pattern:
    """Hide the cheapest rectangle of each sensitive cell."""
    network = TableNetwork(problem)
    state = PatternState(network)
    demands, arcs = network.demands, network.arcs
    failed: list[int] = []
    for cell in cell_order(problem, parameters.order, search.rng(0)):
        open_levels = np.flatnonzero(demands.cell == cell)
        if parameters.skip_covered:
            state.check(open_levels)
            open_levels = open_levels[state.live.length[open_levels] < 0]
        if not len(open_levels):
            continue
        sign, amount = demands.sign[open_levels], demands.amount[open_levels]
        rise, fall = (int(amount[sign == side].sum()) for side in (1, -1))
        cost, corners = cheapest_rectangle(
            network.graph,
            arcs.up,
            arcs.down,
            problem.cost,
            state.hidden,
            cell,
            rise,
            fall,
        )
        if np.isinf(cost):
            failed.append(int(cell))
        else:
            state.hide(corners)
    if failed:
        raise protection_failed(
            problem, "hypercube-2d", failed, "no rectangle of hidden cells covers"
        )
    state.check()
    return finish(state, search, parameters.clean_up, "rectangles")


def protection_failed(
    problem: Problem, method: str, cells: list[int], why: str
) -> ProtectionFailed:
    """Name the cells that a method cannot protect."""
    named = "; ".join(problem.table.label(cell) for cell in cells[:5])
    more = f" and {len(cells) - 5} more" if len(cells) > 5 else ""
    return ProtectionFailed(
        f"method {method!r} cannot protect {len(cells)} cells: {why} {named}{more}",
        expected="levels that its circuits of cells can cover",
        hint="lower these levels, or use the method sp",
    )


METHOD = Method(
    name="hypercube-2d",
    summary="the cheapest rectangle for each sensitive cell; may fail",
    tables="two-dimensional",
    source="Giessing & Repsilber 2002; Almeida, Schuetz & Carvalho 2008",
    parameters=HypercubeParameters,
    contracts=False,
    run=run_hypercube,
    takes=networks_only,
    may_fail=True,
)
