"""Bounds against costs: no bound above any safe pattern, on random tables of all kinds.

Small tables are solved by trying all patterns (`all_patterns.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from all_patterns import AllPatterns
from drawn_tables import draw

import evosdc
from evosdc.attack import judge
from evosdc.errors import EvosdcError, LevelError, ProtectionFailed
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.suppress.bounds.cut_loop import (
    cut_bound,
    equation_bound,
    node_bound,
    row_bound,
)
from evosdc.suppress.methods.contracted import run_contracted
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search
from evosdc.table.knowledge import in_whole_numbers, with_whole_numbers

# Free cells up to which all patterns are tried.
ENUMERATED = 14
# Rounding in the sums of costs.
_SAME = 1e-6
# A share of a level that searchers may miss by the tolerances of their solvers; `auto`
# may not, and what misses it is no safe pattern.
_HAIR = 1e-4
_QUICK = ("attacker", "greedy", "marginal")
_QUICK_NETWORK = ("sp", "kelly", "pbp")
# Evaluations of the methods that report bounds.
_BUDGET = 15
# The flagship whole, and with parts of it switched off, by turns.
_PARTS: tuple[dict[str, Any], ...] = (
    {},
    {"bridgeless": False},
    {"planes": False},
    {"columns": 0, "tree": 0},
    {"tree": 0},
    {"columns": 0},
)


@dataclass
class Outcome:
    """What came of one table."""

    kind: str
    cost: float | None = None
    optimum: float | None = None
    bounds: dict[str, float] = field(default_factory=dict)
    proven: int = 0
    skipped: str = ""
    bad: list[str] = field(default_factory=list)


def check(
    seed: int, enumerate_to: int = ENUMERATED, largest: int | None = None
) -> Outcome:
    """Draw a table and hold its bounds against the costs of its patterns.

    Tables of more than `largest` cells are left out.
    """
    try:
        kind, table = draw(seed)
        # As the verbs see it.
        table = in_whole_numbers(with_whole_numbers(table))
        problem = Problem.of(table)
    except EvosdcError as error:
        return Outcome(f"seed {seed}", skipped=type(error).__name__)
    out = Outcome(kind)
    if largest is not None and len(table) > largest:
        out.skipped = "large"
        return out
    if not len(problem.levels) + len(problem.levels.slide):
        out.skipped = "nothing to protect"
        return out
    everything = problem.pattern(problem.hideable)
    all_cells = AllPatterns(table)
    small = len(all_cells.free) <= enumerate_to
    costs: dict[str, float] = {}
    try:
        for name, pattern, bound in _runs(problem, seed):
            cost = pattern.cost
            if bound is not None:
                out.bounds[name] = bound
            short = _missing(problem, pattern)
            if short > _HAIR and _missing(problem, everything) > _HAIR:
                # In whole numbers, which searches do not know of.
                out.skipped = "beyond any pattern"
                return out
            if short > _HAIR:
                out.bad.append(f"{name} leaves a cell with {short:.2g} of a level open")
            elif not short:
                costs[name] = cost
                out.proven += bound is not None and bound >= cost * (1 - _SAME)
    except LevelError:
        out.skipped = "beyond any pattern"
        if small and all_cells.optimum() is not None:
            out.bad.append("called beyond any pattern, and there is one")
        return out
    out.bounds |= {
        "node": node_bound(problem).value,
        "row": row_bound(problem).value,
        "cut": cut_bound(problem).value,
        "equation": equation_bound(problem),
        "verb": evosdc.lower_bound(table, time_limit=1.0).value,
    }
    if not costs:
        out.skipped = "missed by a hair"
        return out
    out.cost = min(costs.values())
    least = out.cost
    if small:
        out.optimum = all_cells.optimum()
        if out.optimum is None:
            out.bad.append(f"a pattern of {out.cost} where there is none")
            return out
        least = min(least, out.optimum)
        out.bad += [
            f"{name} costs {cost}, less than the optimum {out.optimum}"
            for name, cost in costs.items()
            if cost < out.optimum - _slack(out.optimum)
        ]
    out.bad += [
        f"bound {name} is {bound}, a pattern costs {least}"
        for name, bound in out.bounds.items()
        if bound > least + _slack(least)
    ]
    return out


def _missing(problem: Problem, pattern: Pattern) -> float:
    """The largest share of a level that the judge misses in a pattern, 0 for none."""
    verdict, _ = judge(problem.table.with_pattern(pattern.hidden))
    return max((1.0 - e.share for e in verdict.exposed), default=0.0)


def _slack(cost: float) -> float:
    return _SAME * abs(cost) + 1e-12


def _runs(problem: Problem, seed: int) -> Iterator[tuple[str, Pattern, float | None]]:
    """Yield pattern and reported bound of each quick method, and of those that prove.

    Contraction and the parts of the flagship are switched off by turns; `auto` is the
    verb, which ends in the judge.
    """
    names = _QUICK if problem.network is None else _QUICK + _QUICK_NETWORK
    for name in names:
        method = find_method(name)
        try:
            pattern = method.run(problem, method.configure({}), Search())
        except ProtectionFailed:
            continue
        yield name, pattern, None
    parts = {"optimal": {}, "hybrid": _PARTS[seed // 2 % len(_PARTS)]}
    for at, (name, options) in enumerate(parts.items()):
        method = find_method(name)
        search = Search(seed, stop=EvaluationLimit(_BUDGET))
        if (seed + at) % 2:
            pattern = run_contracted(problem, method, method.configure(options), search)
        else:
            pattern = method.run(problem, method.configure(options), search)
        yield name, pattern, search.bound
    result = evosdc.protect(
        problem.table,
        seed=seed,
        stop=evosdc.Stop(evaluations=_BUDGET, gap=0.0),
        attackers=evosdc.Attackers(who="public"),
    )
    if result.safe:
        yield "auto", problem.pattern(result.table.hidden), result.lower_bound
