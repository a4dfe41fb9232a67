"""The flagship: a portfolio of constructions, searches and proofs that measures.

It begins with simple constructions, so that it is never above any of them: shortest
paths, boxes, programs over the whole table, orders by weight, sub-tables from the top
down. What betters patterns or bounds from then on are operators: patterns guided by the
relaxation, ruin and recreate, breeding, cuts, a tree of branch and cut, and integer
programmes over the cuts. A scheduler gives each as much of the budget as it yields.
With more than one worker other islands search beside this one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from evosdc.arrays import Flags, Real
from evosdc.evolution.stopping import gap
from evosdc.options import MethodOptions, option
from evosdc.parallel import LazyPool
from evosdc.suppress.bounds.branch_and_cut import BranchAndCut
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.bounds.master import Branch
from evosdc.suppress.engine.base import Stopped
from evosdc.suppress.methods.constructions import (
    construct,
    constructions,
    evaluations,
)
from evosdc.suppress.methods.contracted import Relaxation
from evosdc.suppress.methods.islands import Island, Islands
from evosdc.suppress.methods.scheduler import (
    CLOSED,
    Budget,
    PatternWalk,
    Scheduler,
    Slice,
    proven,
)
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method
from evosdc.suppress.run.search import DUALITY, TREE, Search

# Integer programmes are solved to this share of the gap that is left, and to their end
# where that is less than the second. At half of the first they take longer and find
# fewer cuts for it, at twice of it their candidates are worse.
_FIRST_TOLERANCE, _TO_THE_END = 0.1, 1e-5
# Share of the time for a bound that needs no programs, before the first pattern, and
# for programs over the whole table: how long these take is not known beforehand. At
# half of them more tables are left without what guides patterns, at twice of them the
# search begins later.
_FIRST_BOUND_SHARE, _PROGRAMS_SHARE = 0.12, 0.4
# Share of the time in which boxes better the first pattern before that, the share of it
# of a turn, and what a turn must save to be followed by another. At half of the first
# short runs end with patterns that boxes alone better, at twice of it programs begin
# later; at half of the last boxes go on for little, at twice of it they stop early.
_FIRST_WALK_SHARE, _TURN_SHARE, _WALK_GAIN = 0.12, 0.34, 0.002
# The same share where walks do that. With half of it relaxations of large tables begin
# before the pattern is any good, at 1 there is no bound that they prove.
_WALKS_SHARE = 0.8
# Cells above which another worker builds the first pattern: it takes a second there. At
# half of it the pattern travels for longer than it takes, at twice of it this process
# builds for several seconds in place of raising the bound.
_CELLS_BUILT_ELSEWHERE = 4000
# Share of the limit, or evaluations without one, after which simple constructions are
# run: tables that are proven before need none. At half of them more small tables run
# what they do not need, at twice of them others gain by it later.
_CONSTRUCTIONS_FROM, _FROM_EVALUATIONS = 0.1, 100.0
# Share of the limit by which they end. At half of it slow ones have no time, at 1 they
# leave none to the operators.
_CONSTRUCTIONS_UNTIL = 0.5
# Share of the limit without a better pattern or bound, or evaluations without a limit,
# after which a run ends unless the user sets another. At half of either some runs end
# before their last gain, at twice of them they last longer for little.
_PATIENCE_SHARE, _PATIENCE_EVALUATIONS = 0.5, 20_000.0
# Rounds of cuts end where so many of them raise the bound by less than that share. At
# half of the rounds cutting ends at chance pauses, at twice of them it goes on in vain.
_STALLED_ROUNDS, _LEAST_GAIN = 10, 1e-4
# Seconds between two looks at whether the first pattern is there: half or twice is not
# noticed.
_SECONDS_BETWEEN_LOOKS = 0.02
# Evaluations of an assignment where no clock runs. With half of them islands exchange
# patterns more often and breed less in between, with twice as many the reverse.
_EVALUATIONS_PER_ASSIGNMENT = 40


@dataclass(frozen=True)
class HybridParameters(MethodOptions):
    """Options of the hybrid.

    Attributes
    ----------
    population
        Patterns kept.
    patience
        Seconds under a limit of time, else evaluations, without a better pattern or
        bound after which the run ends; None for half of the limit.
    columns
        Most cells of an integer programme on all open cells.
    tree
        Most cells of a tree of branch and cut.
    core
        Cells of the small integer programme: those of good patterns, then those of
        least reduced cost.
    nodes
        Most branches of an integer programme where there is no time limit.
    rounds
        Integer programmes in one turn.
    islands
        Populations beside the first, on other workers; None for one per worker under a
        limit of time, and none without: answers then depend on no number of workers.
    bridgeless, combined, planes
        Whether bridgeless rows and, in tables that are no networks, cuts of combined
        equations and of planes raise the bound.
    """

    population: int = option(20, least=1)
    patience: float | None = None
    columns: int = 20000
    tree: int = 3000
    core: int = 600
    nodes: int = 500
    rounds: int = 12
    islands: int | None = None
    bridgeless: bool = True
    combined: bool = True
    planes: bool = True


@dataclass
class _Run:
    """What the operators share."""

    problem: Problem
    parameters: HybridParameters
    search: Search
    home: Island
    islands: Islands
    loop: CutLoop
    relaxation: Relaxation

    @property
    def best(self) -> Pattern:
        assert self.search.best is not None
        return self.search.best

    def over(self) -> bool:
        return proven(self.search) or self.search.stopped()

    @property
    def target(self) -> float:
        """Cost of the best pattern in the problem that is relaxed."""
        return self.best.cost - self.relaxation.base

    @property
    def best_classes(self) -> Flags:
        """What the best pattern hides in the problem that is relaxed."""
        return self.relaxation.classes(self.best.hidden)

    def open_cells(self) -> Flags:
        """Cells that a pattern cheaper than the best may hide, and those it hides.

        They are those of the problem that is relaxed, as in all proofs.
        """
        cells = self.loop.open_cells(self.target) | self.best_classes
        return cells & ~self.relaxation.problem.primary

    def raise_bound(self, value: float, source: str = DUALITY) -> None:
        """Report a bound on the cost in the problem that is relaxed."""
        cost = inf if self.search.best is None else self.search.best.cost
        self.search.raise_bound(min(value + self.relaxation.base, cost), source)

    def repair_candidate(self, hidden: Flags, stopped: Stopped) -> None:
        """Make a pattern of the problem that is relaxed safe and let it in."""
        self.home.repair_candidate(self.relaxation.cells(hidden), stopped)

    def follow(self, fractions: Real) -> None:
        """Let patterns be steered by a relaxation."""
        self.home.fractions = self.relaxation.spread(fractions)

    def raise_by_tree(self, value: float) -> None:
        """Report a bound that a solver says its tree proves."""
        self.raise_bound(value, TREE)


def run_hybrid(
    problem: Problem, parameters: HybridParameters, search: Search
) -> Pattern:
    """Run the hybrid."""
    home = Island(problem, parameters.population, search)
    relaxation = Relaxation(problem)
    with (
        Islands(home, parameters.islands) as islands,
        LazyPool(relaxation.problem, workers=islands.spare) as pool,
    ):
        loop = CutLoop(
            relaxation.problem,
            bridgeless=parameters.bridgeless,
            combined=parameters.combined,
            planes=parameters.planes,
            pool=pool,
            learned=lambda: relaxation.cuts(home.engine.learned()),
        )
        run = _Run(problem, parameters, search, home, islands, loop, relaxation)
        _start(run)
        if not run.over():
            _improve(run)
    return run.best


def _start(run: _Run) -> None:
    """Build the first pattern and the first bound."""
    search, home, loop = run.search, run.home, run.loop
    # Walks better a pattern from its first second on, on all workers.
    by_walks = home.engine.has_walks
    if not (home.engine.is_network or by_walks):
        _first_bound(run)
    if search.best is None:
        home.build_first()
    elif not home.population.states:
        home.admit_pattern(search.best)
    if run.best.cost == 0:
        search.raise_bound(0.0)
    if run.over():
        return
    if by_walks:
        _walk_first(run, PatternWalk(home, boxes=False), _WALKS_SHARE)
    if home.engine.is_network or by_walks:
        loop.run_nodes()
        run.raise_bound(loop.value)
    elif not home.engine.programs_pay:
        _walk_first(run, PatternWalk(home, boxes=True), _FIRST_WALK_SHARE)
        # What guides them is worth a tenth of the cost, and raises the bound anyway.
        end = search.seconds + _FIRST_BOUND_SHARE * search.seconds_left()
        loop.run_cuts(
            lambda: search.stopped() or search.seconds >= end, run.raise_bound
        )
        run.follow(loop.fractions)
        home.build_by_programs(_PROGRAMS_SHARE * search.seconds_left())
    run.follow(loop.fractions)


def _walk_first(run: _Run, walk: PatternWalk, most: float) -> None:
    """Better the first pattern while that pays, in a share of the limit of time.

    Programs over the whole table may take longer than a short limit leaves.
    """
    search = run.search
    share = most * search.seconds_left()
    if not (isfinite(share) and walk.applies()):
        return
    begun, turns = search.seconds, 0
    while not run.over() and search.seconds < begun + share:
        before, end = run.best.cost, search.seconds + _TURN_SHARE * share

        def stopped(end: float = end) -> bool:
            return search.stopped() or search.seconds >= end

        rng = search.rng(3, turns)
        walk.turn(Slice(stopped, _TURN_SHARE * share, None, rng))
        turns += 1
        if before - run.best.cost < _WALK_GAIN * before:
            return


def _first_bound(run: _Run) -> None:
    """Bound the cost before there is a pattern, where that takes long to build.

    Where it takes very long, another worker builds it meanwhile.
    """
    loop, search = run.loop, run.search
    long = len(run.problem.cost) > _CELLS_BUILT_ELSEWHERE and search.best is None
    elsewhere = long and run.islands.submit_first_pattern()
    end = search.seconds + _FIRST_BOUND_SHARE * search.seconds_left()
    loop.run_nodes()
    run.raise_bound(loop.value)
    loop.run_rows(lambda: search.stopped() or search.seconds >= end, run.raise_bound)

    def waited() -> bool:
        run.islands.gather()
        return search.stopped() or search.best is not None

    while elsewhere and not waited():
        if loop.run_cuts(waited, run.raise_bound):
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def _improve(run: _Run) -> None:
    """Run what the scheduler says, and simple constructions when they are due."""
    search, islands, home = run.search, run.islands, run.home
    operators = (
        Cuts(run),
        *home.operators(),
        BranchAndCutTree(run),
        Programme(run, every=True),
        Programme(run, every=False),
    )
    scheduler = Scheduler(
        operators, search, (1,), lambda: islands.gained, lambda: islands.count
    )
    budget = scheduler.budget
    limit = budget.spent + budget.left
    due = _CONSTRUCTIONS_FROM * limit if isfinite(limit) else _FROM_EVALUATIONS
    islands.until = _CONSTRUCTIONS_UNTIL * limit
    patience = run.parameters.patience
    if patience is None:
        patience = _PATIENCE_SHARE * limit if isfinite(limit) else _PATIENCE_EVALUATIONS
    listed = False
    while not run.over():
        if not listed and budget.spent >= due:
            asked, _ = search.origin(run.problem)
            # Where walks build patterns each of these takes most of the time.
            by_walks = home.engine.has_walks
            islands.constructions = [] if by_walks else constructions(asked)
            listed = True
        if islands.constructions and not (islands.timed and islands.count):
            _construct(run, budget)
            continue
        if islands.count and not islands.timed:
            islands.hand_out(_EVALUATIONS_PER_ASSIGNMENT)
        turned = scheduler.turn()
        if islands.count and not islands.timed:
            islands.gather()
        if not turned:
            return
        if budget.spent - scheduler.moved > patience:
            search.note("neither cost nor bound has moved for as long as allowed")
            return


def _construct(run: _Run, budget: Budget) -> None:
    """Run the next simple construction in a fair share of the first half."""
    search, names = run.search, run.islands.constructions
    name = names.pop(0)
    asked, shrink = search.origin(run.problem)
    seconds = inf
    if budget.timed:
        seconds = (run.islands.until - budget.spent) / (len(names) + 1)
    elif 2 * evaluations(asked, name) > budget.left:
        return
    if seconds <= 0:
        return
    part = search.sub_run(seconds)
    pattern = shrink(construct(asked, name, part))
    search.count(max(1, part.evaluations))
    search.offer(pattern, name)
    run.home.admit_pattern(pattern)


class Cuts:
    """Cuts of the relaxation, until none is violated."""

    bounds, proves = True, False

    def __init__(self, run: _Run) -> None:
        self._run = run
        self.complete = False  # whether cutting came to its end, not that of its slice

    def applies(self) -> bool:
        return not self.complete

    def turn(self, slice: Slice) -> None:
        run, loop = self._run, self._run.loop

        def follow(value: float) -> None:
            run.search.count()
            run.raise_bound(value)

        self.complete = loop.run_cuts(
            slice.stopped, follow, stall=_STALLED_ROUNDS, least=_LEAST_GAIN
        )
        run.raise_bound(loop.value)
        run.follow(loop.fractions)


class BranchAndCutTree:
    """A tree of branch and cut over all open cells, kept from turn to turn."""

    bounds = proves = True

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._tree: BranchAndCut | None = None
        self._cuts = 0  # cuts of the loop that the tree has
        self._explored = False  # whether nothing is left of the tree
        self._needs = 0.0  # seconds that must be left for another tree

    def applies(self) -> bool:
        if self._explored or self._tree is not None:
            return not self._explored
        if self._run.search.seconds_left() < self._needs:
            return False
        return int(self._run.open_cells().sum()) <= self._run.parameters.tree

    def turn(self, slice: Slice) -> None:
        run = self._run
        if self._tree is not None and self._tree.bound() < run.loop.value * (
            1 - CLOSED
        ):
            self._tree = None  # cuts have overtaken it: a new one begins where they end
        if self._tree is None:
            cells, cost = run.open_cells(), run.relaxation.problem.cost
            self._tree = BranchAndCut(run.loop, cost, cells, run.target)
        tree = self._tree

        def stopped() -> bool:
            tree.lower(run.target)  # others find patterns meanwhile
            return slice.stopped()

        def attempt(hidden: Flags) -> None:
            run.repair_candidate(hidden, stopped)

        before = tree.nodes
        left = run.search.seconds_left()
        _, self._explored = tree.solve(
            slice.seconds,
            slice.nodes,
            stopped,
            attempt,
            run.raise_by_tree,
            attempt,
            left,
        )
        run.search.count(tree.nodes - before)
        if not tree.usable:
            # Its questions took longer than what a slice may be passed by.
            self._tree, self._needs = None, left
        # Below the root it is nearer to whole patterns, and another one each time.
        if tree.relaxed is not None:
            run.follow(tree.relaxed)


class Programme:
    """Integer programmes in turn with cuts, whose candidates are made safe.

    On `every` open cell: no cell outside can lead to a cheaper pattern, so that their
    bound is one for the table. Or on the core: cells that good patterns hide.
    """

    bounds = proves = True

    def __init__(self, run: _Run, *, every: bool) -> None:
        self._run, self._every = run, every
        self._branch: Branch | None = None
        self._tolerance = _FIRST_TOLERANCE
        self._exhausted = inf  # cost of the best pattern when nothing was left

    def applies(self) -> bool:
        run = self._run
        if not run.parameters.rounds or run.best.cost >= self._exhausted:
            return False
        cells = int(run.open_cells().sum())
        if (
            self._every
            and not run.home.engine.is_network
            and cells <= run.parameters.tree
        ):
            return False  # there the tree is quicker than a new one after each round
        return cells <= run.parameters.columns

    def turn(self, slice: Slice) -> None:
        run, search = self._run, self._run.search
        end = search.seconds + slice.seconds
        timed = isfinite(slice.seconds)
        cells = run.open_cells() if self._every else self._core()
        branch = self._branch if self._every else None
        if branch is None:
            cost = run.relaxation.problem.cost
            branch = Branch(run.loop, cost, cells, trusted=self._every)
        for _ in range(run.parameters.rounds):
            if slice.stopped():
                return
            if self._every:
                branch = self._branch = branch.restrict(run.open_cells())
            tolerance = self._tolerance * (gap(run.best.cost, search.bound) or 0.0)
            search.count()
            candidate = branch.solve(
                run.best_classes,
                end - search.seconds if timed else inf,
                tolerance if tolerance > _TO_THE_END else 0.0,
                None if timed else run.parameters.nodes,
            )
            if self._every:
                run.raise_by_tree(candidate.bound)
            if candidate.hidden is None:
                return
            violated = branch.strengthen(candidate, slice.stopped)
            run.raise_bound(run.loop.value)
            run.repair_candidate(candidate.hidden, slice.stopped)
            run.follow(run.loop.fractions)
            if violated:
                continue
            if candidate.bound >= run.target * (1 - CLOSED) or tolerance <= _TO_THE_END:
                self._exhausted = run.best.cost
                return
            self._tolerance /= 10

    def _core(self) -> Flags:
        """Cells that good patterns hide, and those of least reduced cost."""
        run = self._run
        core = run.best_classes | (run.loop.fractions > 1e-6)
        for state in run.home.population.states:
            core |= run.relaxation.classes(state.hidden)
        free = run.open_cells()
        core &= free
        wanted = run.parameters.core - int(core.sum())
        if wanted > 0:
            others = np.flatnonzero(free & ~core)
            order = np.argsort(run.loop.reduced[others], kind="stable")
            core[others[order[:wanted]]] = True
        return core


METHOD = Method(
    name="hybrid",
    summary="simple constructions, searches and proofs, each by what it yields",
    tables="any; proofs for tables of a few thousand cells",
    source="this project, after Almeida et al. 2008 and Fischetti & Salazar 1999",
    parameters=HybridParameters,
    run=run_hybrid,
    contracts_bounds=True,
)
