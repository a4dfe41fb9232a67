"""Bounds of runs that are interrupted again and again: none is above the optimum.

The optimum comes from a model that shares nothing with the bounds (one flow of
deviations per level, see `test_stronger_cuts`), and from trying all patterns for some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from all_patterns import AllPatterns
from test_stronger_cuts import optimum, problem_of

from evosdc.suppress.bounds import master
from evosdc.suppress.bounds.branch_and_cut import BranchAndCut
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.bounds.master import Branch
from evosdc.suppress.methods import hybrid
from evosdc.suppress.methods.scheduler import Slice
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search

_SHAPES = ((3, 2), (2, 2, 2), (3, 3), (3, 2, 2), (4, 3))
_VALUES = ("integers", "ties", "decimals")
# More than a tree of so few cells needs, however often it is interrupted.
_TURNS = 400


@cache
def cases(first: int) -> list[tuple[int, Problem, float]]:
    """Thirty small tables with their optima."""
    out = []
    seed = first * 1000
    while len(out) < 30:
        seed += 1
        problem = problem_of(
            {
                "seed": seed,
                "shape": _SHAPES[seed % len(_SHAPES)],
                "values": _VALUES[seed % len(_VALUES)],
                "sensitive": 0.2,
            }
        )
        if problem is not None:
            out.append((seed, problem, optimum(problem)[0]))
    return out


def above(best: float) -> float:
    """What no bound may exceed."""
    return best * (1 + 1e-6) + 1e-9


def interrupted(seed: int, share: float) -> Callable[[], bool]:
    """Return a criterion that ends a run this often when it is asked."""
    rng = np.random.default_rng(seed)
    return lambda: bool(rng.random() < share)


def test_the_optima_are_those_of_all_patterns() -> None:
    tried = 0
    for _, problem, best in cases(0):
        patterns = AllPatterns(problem.table)
        if len(patterns.free) <= 11 and tried < 4:
            assert patterns.optimum() == pytest.approx(best)
            tried += 1
    assert tried == 4


@pytest.mark.parametrize("first", range(10))
def test_no_bound_of_an_interrupted_tree_is_above_the_optimum(first: int) -> None:
    for seed, problem, best in cases(first):
        free = problem.hideable & ~problem.primary
        for share in (0.3, 0.7):
            loop = CutLoop(problem)
            loop.run_nodes()
            everything = float(problem.cost[free].sum()) + 1.0
            tree = BranchAndCut(loop, problem.cost, free, everything)
            stopped = interrupted(seed, share)
            bounds: list[float] = []
            found: list[float] = []

            def note(hidden: np.ndarray) -> None:
                found.append(float(problem.cost[hidden].sum()))  # noqa: B023

            for _ in range(_TURNS):
                bound, done = tree.solve(np.inf, None, stopped, note, bounds.append)
                bounds.append(bound)
                if done:
                    break
            assert done, seed
            assert max(bounds) <= above(best), seed
            assert bounds[-1] == pytest.approx(best, rel=1e-5, abs=1e-5), seed
            assert min(found) == pytest.approx(best, rel=1e-6, abs=1e-6), seed


@pytest.mark.parametrize("first", range(3))
def test_no_bound_of_an_interrupted_programme_is_above_the_optimum(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Asked:
        def __bool__(self) -> bool:
            return stopped()

    @contextmanager
    def held_back() -> Iterator[Asked]:
        yield Asked()

    monkeypatch.setattr(master, "held_back", held_back)
    for seed, problem, best in cases(first):
        stopped = interrupted(seed, 0.5)
        free = problem.hideable & ~problem.primary
        loop = CutLoop(problem)
        loop.run_nodes()
        programme = Branch(loop, problem.cost, free)
        for nodes in (0, 1, None):
            for _ in range(3):
                candidate = programme.solve(free, np.inf, 0.0, nodes)
                assert candidate.bound <= above(best), seed
                programme.strengthen(candidate)


def test_cutting_that_its_time_ended_is_not_complete() -> None:
    for ended in (True, False):
        run = SimpleNamespace(
            search=Search(),
            follow=lambda _: None,
            raise_bound=lambda _: None,
            loop=SimpleNamespace(
                value=0.0,
                fractions=None,
                run_cuts=lambda stopped, *_, **__: not stopped(),
            ),
        )
        cuts = hybrid.Cuts(run)  # type: ignore[arg-type]
        rng = np.random.default_rng(1)
        cuts.turn(Slice(lambda ended=ended: ended, 1.0, None, rng))
        assert cuts.applies() is ended
