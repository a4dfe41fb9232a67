"""Bounds against costs: no bound above any safe pattern, on random tables of all kinds.

Small tables are solved by trying all patterns in order of cost; what is safe is decided
by plain attacker's programs that share nothing with the engines. A pattern that is not
safe is made as large as it can be without becoming safe, so that few of the others have
to be tried: what is within it is not safe either.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from evosdc.errors import EvosdcError, LevelError, ProtectionFailed
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.bounds.cut_loop import cut_bound, node_bound, row_bound
from evosdc.suppress.bounds.equation_bound import equation_bound
from evosdc.suppress.contracted import run_contracted
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import find_method
from evosdc.suppress.search import Search
from evosdc.table import Table

Mask = NDArray[np.bool_]
# Free cells up to which all patterns are tried.
ENUMERATED = 14
# A level counts as reached by the attacker's programs with this share of it missing.
_SHORT = 1e-6
# Rounding in the sums of costs.
_SAME = 1e-6
# No deviation has to be larger than so many times the level (all equations are sums).
_FAR = 1e5
_QUICK = ("attacker", "greedy", "marginal")
_QUICK_NETWORK = ("sp", "kelly", "pbp")
# Evaluations of the methods that report bounds.
_BUDGET = 15


def draw(seed: int) -> tuple[str, Table]:
    """Draw a table of any kind, and say what it is."""
    rng = np.random.default_rng(seed)

    def one(*choices: Any) -> Any:
        return choices[int(rng.integers(len(choices)))]

    def size(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    kind = one("random", "random", "random", "tiny", "tiny", "tiny", "families")
    if kind == "families":
        kind = one("class1", "class2", "heurgene", "register", "frequency")
    options: dict[str, Any]
    if kind == "class1" or kind == "class2":
        options = {"rows": size(3, 14), "columns": size(3, 14)}
        if kind == "class1":
            # Hundreds of cells before one is sensitive.
            options = {"rows": size(10, 25), "columns": size(10, 25)}
    elif kind == "heurgene":
        options = {
            "rows": size(4, 16),
            "columns": size(4, 16),
            "sensitive": one(0.02, 0.05, 0.1),
            "decimals": one(0, 3),
        }
    elif kind == "register":
        options = {"rows": size(5, 12), "columns": size(4, 10), "levels": size(2, 3)}
    elif kind == "frequency":
        shape = one((size(3, 9), size(3, 9)), (size(2, 4), size(2, 4), size(2, 3)))
        options = {"shape": shape, "mean": one(4.0, 8.0), "threshold": size(2, 4)}
    else:
        options = _random(one, size, kind == "tiny")
        kind = "random"
    told = ", ".join(f"{name}={value}" for name, value in options.items())
    return f"{kind}, seed {seed}: {told}", make(kind, seed, **options)


def _random(one: Any, size: Any, tiny: bool) -> dict[str, Any]:
    values = one("integers", "decimals", "ties", "tiny", "huge", "negative")
    ways = one(2, 2, 3) if tiny else one(1, 2, 2, 3, 3, 4)
    largest = {1: 6, 2: 3, 3: 2}[ways] if tiny else {1: 9, 2: 6, 3: 3, 4: 2}[ways]
    shape = tuple(size(2, largest) for _ in range(ways))
    return {
        "shape": shape,
        "trees": one(0, 0, size(0, ways)),
        "values": values,
        "sensitive": one(0.1, 0.2, 0.4),
        "margins": one(0.0, 0.05, 0.2),
        "zeros": one(0.0, 0.2, 0.5),
        "level": one(0.05, 0.2, 0.6),
        "width": one(0.0, 0.0, 0.5),
        "bounds": "open" if values == "negative" else one("open", "tau"),
        "linked": ways > 2 and one(True, False),
    }


class Enumeration:
    """All patterns of a small problem, asked one by one whether they are safe."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        moves = (problem.up > 0) | (problem.down > 0)
        self.free = np.flatnonzero(problem.hideable & ~problem.primary & moves)
        self.programs = 0
        levels = problem.levels
        self._asked = [
            [(int(cell), int(sign), float(amount))]
            for cell, sign, amount in zip(
                levels.cell, levels.sign, levels.amount, strict=True
            )
        ]
        self._widths = [
            (int(cell), float(amount))
            for cell, amount in zip(levels.slide, levels.slide_amount, strict=True)
        ]
        self._lp = highspy.Highs()
        self._lp.setOptionValue("output_flag", False)
        self._lp.setOptionValue("threads", 1)
        self._lp.setOptionValue("primal_feasibility_tolerance", 1e-9)
        matrix, n = problem.table.matrix, len(problem.cost)
        self._every = np.arange(n, dtype=np.int32)
        self._lp.addVars(n, np.zeros(n), np.zeros(n))
        rows = matrix.shape[0]
        self._lp.addRows(
            rows,
            np.zeros(rows),
            np.zeros(rows),
            matrix.nnz,
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data.astype(np.float64),
        )

    def safe(self, hidden: Mask) -> bool:
        """Whether every level is reached, up to a small share of it."""
        for k, [(cell, sign, amount)] in enumerate(self._asked):
            if self._most(hidden, cell, sign, amount) < 1.0 - _SHORT:
                # What failed last is likely to fail again.
                self._asked.insert(0, self._asked.pop(k))
                return False
        for cell, amount in self._widths:
            width = self._most(hidden, cell, 1, amount)
            width += self._most(hidden, cell, -1, amount)
            if width < 1.0 - _SHORT:
                return False
        return True

    def _most(self, hidden: Mask, cell: int, sign: int, amount: float) -> float:
        """How far a cell can be moved, as a share of an amount, at most 1."""
        self.programs += 1
        problem, n = self.problem, len(self._every)
        up = np.where(hidden, np.minimum(problem.up / amount, _FAR), 0.0)
        down = np.where(hidden, np.minimum(problem.down / amount, _FAR), 0.0)
        (up if sign > 0 else down)[cell] = min(1.0, (up if sign > 0 else down)[cell])
        cost = np.zeros(n)
        cost[cell] = -sign
        self._lp.changeColsBounds(n, self._every, -down, up)
        self._lp.changeColsCost(n, self._every, cost)
        self._lp.run()
        if self._lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise AssertionError(self._lp.getModelStatus())
        return -float(self._lp.getInfo().objective_function_value)

    def optimum(self) -> float | None:
        """Cost of the cheapest safe pattern; None where not even all cells are."""
        count = len(self.free)
        primary = self.problem.primary
        everything = primary.copy()
        everything[self.free] = True
        if not self.safe(everything):
            return None
        codes = np.arange(1 << count, dtype=np.int64)
        cost = np.zeros(1 << count)
        for bit, cell in enumerate(self.free):
            cost[(codes >> bit) & 1 == 1] += self.problem.cost[cell]
        order = np.argsort(cost, kind="stable")
        open_codes = np.ones(1 << count, dtype=bool)
        for code in order.tolist():
            if not open_codes[code]:
                continue
            if self.safe(self._hidden(code)):
                return float(cost[code])
            for bit in range(count):
                if not code >> bit & 1 and not self.safe(self._hidden(code | 1 << bit)):
                    code |= 1 << bit
            # Nothing within a pattern that is not safe is safe.
            open_codes[(codes & ~code) == 0] = False
        raise AssertionError("all cells hidden were safe")

    def _hidden(self, code: int) -> Mask:
        hidden = self.problem.primary.copy()
        hidden[self.free[[b for b in range(len(self.free)) if code >> b & 1]]] = True
        return hidden


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


def check(seed: int, enumerate_to: int = ENUMERATED) -> Outcome:
    """Draw a table and hold its bounds against the costs of its patterns."""
    try:
        kind, table = draw(seed)
        problem = Problem.of(table)
    except EvosdcError as error:
        return Outcome(f"seed {seed}", skipped=type(error).__name__)
    out = Outcome(kind)
    if not len(problem.levels) + len(problem.levels.slide):
        out.skipped = "nothing to protect"
        return out
    all_cells = Enumeration(problem)
    small = len(all_cells.free) <= enumerate_to
    costs: dict[str, float] = {}
    try:
        for name, cost, bound in _runs(problem, seed):
            costs[name] = cost
            if bound is not None:
                out.bounds[name] = bound
                out.proven += bound >= cost * (1 - _SAME)
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
    }
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


def _slack(cost: float) -> float:
    return _SAME * abs(cost) + 1e-12


def _runs(problem: Problem, seed: int) -> Iterator[tuple[str, float, float | None]]:
    """Yield cost and reported bound of each quick method, and of those that prove.

    One of these runs on the table as it is and the other contracted, by turns.
    """
    names = _QUICK if problem.network is None else _QUICK + _QUICK_NETWORK
    for name in names:
        method = find_method(name)
        try:
            pattern = method.run(problem, method.configure({}), Search())
        except ProtectionFailed:
            continue
        yield name, pattern.cost, None
    for at, name in enumerate(("optimal", "hybrid")):
        method = find_method(name)
        search = Search(seed, stop=EvaluationLimit(_BUDGET))
        options = method.configure({})
        if (seed + at) % 2:
            pattern = run_contracted(problem, method, options, search)
        else:
            pattern = method.run(problem, options, search)
        yield name, pattern.cost, search.bound
