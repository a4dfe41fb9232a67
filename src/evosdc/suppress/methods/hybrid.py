"""The flagship: bounds, breeding and integer programmes in turn.

The relaxation over cuts (as in ``optimal``) steers cheapest paths or programs to a
first generation near the bound. Then three searches take turns and feed each
other: generations of GenSup's crossover, ruin and recreate, and integer programmes over
the cuts: one on all cells that may still lead to something cheaper, which also raises
the bound, and one on the few cells that good patterns hide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.evolution.stopping import gap
from evosdc.suppress.bounds.branch import Branch
from evosdc.suppress.bounds.branch_and_cut import BranchAndCut
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.engine.base import AnyEngine, Mender, State
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.methods.gensup import (
    GensupParameters,
    Population,
    admit,
    admit_child,
    breed,
    guided_state,
)
from evosdc.suppress.methods.walking import walk_from
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.search import Search

Flags = NDArray[np.bool_]
# A gap at which a pattern counts as proven: what integer programmes can tell.
_CLOSED = 2e-6
# A gap below which an integer programme on all open cells is likely to close it.
_NEAR = 0.1
# Integer programmes are solved to this share of the gap that is left, and to their end
# where that is less than the second.
_EASE = 0.1
_WHOLLY = 1e-5
# Share of the time left above which building one more pattern does not pay.
_DEAR = 0.15
# Share of the time for a bound that needs no programs, before the first pattern.
_BEFORE = 0.1
# Open cells up to which a tree is likely to get somewhere.
_SMALL_TREE = 1000
# Cuts of programs pay while so many rounds raise the bound by this share; integer
# programmes raise it faster then.
_STALL, _PAYS = 10, 3e-3
# So many times slower are steps by programs, where no limit of time ends them.
_SLOWER = 40
# Walks by programs begin at one of so many best patterns.
_STARTS = 3
# Patterns whose cells are made cheap for the next ones.
_TRAIL = 6
# Above this gap cuts are worth more than what a programme proves: so many times that.
_FAR = 0.02
_FAR_EASE = 3.0
# Secondaries above which changing and mending a pattern is slow.
_LARGE = 1000


@dataclass(frozen=True)
class HybridParameters:
    """Options of the hybrid.

    Attributes
    ----------
    cycles
        How often the three searches take their turns; a limit may end the run before.
    population
        Patterns kept.
    patience
        Generations without a better best before the next search has its turn.
    columns
        Most cells of an integer programme on all open cells.
    tree
        Most cells of a tree of branch and cut, on tables that are no networks.
    core
        Cells of the small integer programme: those of good patterns, then those of
        least reduced cost.
    nodes
        Most branches of an integer programme where there is no time limit.
    rounds
        Integer programmes in one turn.
    steps
        Steps of ruin and recreate in one turn.
    bridgeless, planes
        Whether bridgeless rows, and cuts of planes in tables that are no networks,
        raise the bound.
    """

    cycles: int = 20
    population: int = 20
    patience: int = 4
    columns: int = 20000
    tree: int = 3000
    core: int = 600
    nodes: int = 500
    rounds: int = 12
    steps: int = 8000
    bridgeless: bool = True
    planes: bool = True


@dataclass
class _Run:
    """What the searches share."""

    problem: Problem
    engine: AnyEngine
    parameters: HybridParameters
    search: Search
    mender: Mender[Any]
    loop: CutLoop
    population: Population
    proof: Branch | None = None
    tree: BranchAndCut | None = None
    explored: bool = False  # whether nothing is left of the tree
    building: float = 0.0  # seconds that the first pattern took
    complete: bool = False  # whether the relaxation has no violated cut left

    @property
    def heavy(self) -> bool:
        """Whether patterns are so large that integer programmes had better go first."""
        many = len(self.population.states[0].secondaries) > _LARGE
        return self.engine.quick and many

    @property
    def slow(self) -> bool:
        """Whether building one pattern takes a good part of the time that is left."""
        return self.building > _DEAR * self.search.seconds_left()

    @property
    def best(self) -> Pattern:
        assert self.search.best is not None
        return self.search.best

    def closed(self) -> bool:
        """Whether the best pattern is proven optimal."""
        now = gap(self.best.cost, self.search.bound)
        return now is not None and now <= _CLOSED

    @property
    def small(self) -> bool:
        """Whether a tree over the open cells is likely to get somewhere."""
        return int(self.open_cells().sum()) <= _SMALL_TREE

    def near(self) -> bool:
        """Whether an integer programme on all open cells is likely to close the gap."""
        now = gap(self.best.cost, self.search.bound)
        return now is not None and now < _NEAR

    def over(self) -> bool:
        return self.closed() or self.search.stopped()

    def guide(
        self,
        fractions: NDArray[np.float64],
        noise: NDArray[np.float64] | float = 1.0,
        order: NDArray[np.int64] | None = None,
    ) -> None:
        """Let in a pattern that follows the relaxation."""
        stopped = self.search.stopped
        state = guided_state(self.engine, self.mender, fractions, noise, stopped, order)
        admit(self.population, state, self.search, "guided by the bound")

    def slice(self, share: float) -> Callable[[], bool]:
        """Return a criterion that leaves the other searches their time."""
        end = self.search.seconds + share * self.search.seconds_left()
        return lambda: self.over() or self.search.seconds >= end

    def open_cells(self) -> Flags:
        """Cells that a pattern cheaper than the best may hide, and those it hides."""
        cells = self.loop.open_cells(self.best.cost) | self.best.hidden
        return cells & ~self.problem.primary


def run_hybrid(
    problem: Problem, parameters: HybridParameters, search: Search
) -> Pattern:
    """Run the hybrid."""
    run = _start(problem, parameters, search)
    if run is None:
        assert search.best is not None
        return search.best
    for cycle in range(parameters.cycles):
        if run.over():
            break
        if cycle or not (run.heavy or run.near()):
            if run.engine.quick:
                _refill(run, cycle)
                _breed(run, cycle)
            else:
                _steer(run, cycle)
            _walk(run, cycle)
        if not run.complete:
            _raise(run, 0.3, search.raise_bound)
            continue
        if not run.engine.quick:
            if _branch_and_cut(run, _share_of_tree(run)):
                break
            continue
        if _programme(run, run.open_cells(), _share_of_proof(run), True):
            break
        _programme(run, _core(run), 0.25, False)
    return run.best


def _start(
    problem: Problem, parameters: HybridParameters, search: Search
) -> _Run | None:
    """Build the first patterns and the relaxation; None where nothing is left."""
    engine = engine_for(problem)
    loop = CutLoop(problem, bridgeless=parameters.bridgeless, planes=parameters.planes)
    if not engine.quick:
        _first_bound(loop, search)
    begun = search.seconds
    population = Population(parameters.population)
    state: State = engine.start()
    state.cover(stopped=search.stopped)
    state.clean_up(stopped=search.stopped)
    admit(population, state, search, "first pattern")
    if state.cost == 0:
        search.raise_bound(0.0)
    if state.cost == 0 or search.stopped():
        return None
    mender = engine.mender(search.rng(0), search.stopped)
    run = _Run(problem, engine, parameters, search, mender, loop, population)
    run.building = search.seconds - begun
    if engine.quick:
        loop.run_nodes()

    def follow(value: float) -> None:
        search.raise_bound(value)
        # Ever more rarely: where shortest paths are slow, the bound must not wait.
        if run.heavy or run.slow or loop.rounds & (loop.rounds - 1):
            return
        run.guide(loop.fractions)

    follow(loop.value)
    _raise(run, 0.3 if engine.quick else 0.2, follow)
    if not (search.stopped() or run.slow):
        run.guide(loop.fractions)
    return run


def _first_bound(loop: CutLoop, search: Search) -> None:
    """Bound the cost before there is a pattern, where that takes long to build."""
    end = search.seconds + _BEFORE * search.seconds_left()
    loop.run_nodes()
    search.raise_bound(loop.value)
    loop.run_rows(lambda: search.stopped() or search.seconds >= end, search.raise_bound)


def _raise(run: _Run, share: float, follow: Callable[[float], None]) -> None:
    """Cut until nothing is violated or, where cuts take programs, while they pay."""
    stopped = run.slice(share)
    if run.engine.quick:
        run.loop.run_cuts(stopped, follow)
        run.complete = True
        return
    run.loop.run_cuts(stopped, follow, stall=_STALL, least=_PAYS)
    run.complete = not stopped()


def _steer(run: _Run, cycle: int) -> None:
    """Let in patterns steered by the relaxation and by good patterns, in any order.

    Where covering a level takes a program, the order in which levels are covered
    matters more than what breeding can put together. Prices fall on the cells that good
    patterns hide, as the trails of ants do (Dorigo and Stuetzle 2004).
    """
    rng = run.search.rng(1, cycle)
    stopped = run.slice(0.25 if run.small else 0.4)
    cells, levels = len(run.problem.cost), len(run.engine.demands)
    for _ in range(2 * run.population.size):
        if stopped() or run.slow:
            return
        good = np.mean([s.hidden for s in run.population.states[:_TRAIL]], axis=0)
        share = rng.uniform(0.0, 0.6) * good
        share += rng.uniform(0.0, 0.5) * run.loop.fractions
        noise = np.exp(rng.normal(0.0, rng.uniform(0.05, 0.4), cells))
        run.guide(share, noise, rng.permutation(levels))


def _refill(run: _Run, cycle: int) -> None:
    """Let in patterns steered by the relaxation under noise, as many as half."""
    rng = run.search.rng(1, cycle)
    stopped = run.slice(0.1)
    population = run.population
    keep = population.size if cycle == 0 else population.size // 2
    del population.states[keep:]
    population.cost = population.cost[:keep]
    for _ in range(2 * population.size):
        if len(population.states) == population.size or stopped():
            return
        noise = rng.uniform(0.6, 1.4, len(run.problem.cost))
        share = run.loop.fractions * rng.uniform(0.5, 1.0)
        run.guide(share, noise)


def _breed(run: _Run, cycle: int) -> None:
    """Make generations until they no longer pay."""
    rng = run.search.rng(2, cycle)
    stopped = run.slice(0.15)
    held = 0
    while not stopped() and held < run.parameters.patience:
        if len(run.population.states) < 2:
            return
        better = breed(
            run.population,
            run.mender,
            GensupParameters(population=run.parameters.population),
            rng,
            run.search,
            stopped,
            mutate_all=held == run.parameters.patience // 2,
        )
        held = 0 if better else held + 1


def _core(run: _Run) -> Flags:
    """Cells that good patterns hide, and those of least reduced cost."""
    core = np.zeros(len(run.problem.cost), dtype=np.bool_)
    for state in run.population.states:
        core |= state.hidden
    core |= run.loop.fractions > 1e-6
    core |= run.best.hidden
    core &= run.open_cells()
    wanted = run.parameters.core - int(core.sum())
    if wanted > 0:
        others = np.flatnonzero(run.open_cells() & ~core)
        order = np.argsort(run.loop.reduced[others], kind="stable")
        core[others[order[:wanted]]] = True
    return core


def _share_of_proof(run: _Run) -> float:
    """How much of the time left to spend on all open cells: less if it looks vain."""
    if run.heavy:
        return 0.6
    return 0.3 if run.near() else 0.1


def _programme(run: _Run, cells: Flags, share: float, every: bool) -> bool:
    """Alternate an integer programme on some cells with cuts.

    Its candidates are made safe, which may give better patterns. `every` says that no
    cell outside can lead to a cheaper pattern, so that its bound is one for the table.
    Returns whether nothing cheaper is left in these cells.
    """
    if cells.sum() > run.parameters.columns:
        return False
    search, stopped = run.search, run.slice(share)
    end = search.seconds + share * search.seconds_left()
    branch = run.proof if every else None
    if branch is None:
        branch = Branch(run.loop, run.problem.cost, cells, trusted=every)
    timed = np.isfinite(end)
    ease = _EASE
    for _ in range(run.parameters.rounds):
        if stopped():
            return run.closed()
        if every:
            branch = run.proof = branch.restrict(run.open_cells())
        left = gap(run.best.cost, search.bound) or 0.0
        tolerance = ease * left * (_FAR_EASE if left > _FAR else 1.0)
        candidate = branch.solve(
            run.best.hidden,
            end - search.seconds if timed else np.inf,
            tolerance if tolerance > _WHOLLY else 0.0,
            None if timed else run.parameters.nodes,
        )
        if every:
            search.raise_bound(min(candidate.bound, run.best.cost))
        if candidate.hidden is None:
            return False
        violated = branch.strengthen(candidate, stopped)
        search.raise_bound(min(run.loop.value, run.best.cost))
        _try(run, candidate.hidden, stopped)
        if not violated:
            if candidate.bound >= run.best.cost * (1 - _CLOSED):
                return True
            if tolerance <= _WHOLLY:
                return False
            ease /= 10
    return False


def _share_of_tree(run: _Run) -> float:
    """How much of the time left to spend on the tree of a general table."""
    return 0.9 if run.small else 0.2


def _branch_and_cut(run: _Run, share: float) -> bool:
    """Go on with the tree over all open cells; return whether the best is proven."""
    if run.explored:
        return False
    if run.tree is None:
        cells = run.open_cells()
        if cells.sum() > run.parameters.tree:
            return False
        cost = run.problem.cost
        run.tree = BranchAndCut(run.loop, cost, cells, run.best.cost)
    left = run.search.seconds_left()
    stopped = run.slice(share)
    _, run.explored = run.tree.solve(
        share * left,
        None if np.isfinite(left) else run.parameters.nodes,
        stopped,
        lambda hidden: _try(run, hidden, stopped),
        lambda bound: run.search.raise_bound(min(bound, run.best.cost)),
    )
    return run.closed()


def _try(run: _Run, hidden: Flags, stopped: Callable[[], bool]) -> None:
    """Make a candidate safe and let it in."""
    parent = run.population.states[0]
    child = run.mender.child(parent, hidden | run.problem.primary)
    admit_child(run.population, child, run.mender, run.search, stopped)


def _walk(run: _Run, cycle: int) -> None:
    """Ruin and recreate from the best pattern."""
    rng = run.search.rng(3, cycle)
    # Steps by programs are few, and the best pattern may be stuck.
    first = 0 if run.engine.quick else int(rng.integers(_STARTS))
    states = run.population.states
    state = states[min(first, len(states) - 1)].copy()
    steps = run.parameters.steps
    if not (run.engine.quick or np.isfinite(run.search.seconds_left())):
        steps //= _SLOWER
    share = 0.15 if run.small and not run.engine.quick else 0.25
    pattern = walk_from(run.engine, state, run.search, rng, steps, run.slice(share))
    if pattern is not None:
        run.population.add(run.mender.child(run.population.states[0], pattern.hidden))


METHOD = Method(
    name="hybrid",
    summary="bound-guided patterns, breeding, ruin and integer programmes in turn",
    tables="any; proofs for tables of a few thousand cells",
    source="this project, after Almeida et al. 2008 and Fischetti & Salazar 1999",
    parameters=HybridParameters,
    run=run_hybrid,
    parts=("gensup", "ls-ruin"),
)
