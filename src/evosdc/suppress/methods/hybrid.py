"""The flagship: bounds, breeding and integer programmes in turn.

The relaxation over cuts (as in ``optimal``) steers cheapest paths or programs to a
first generation near the bound. Then three searches take turns and feed each
other: generations of GenSup's crossover, ruin and recreate, and integer programmes over
the cuts: one on all cells that may still lead to something cheaper, which also raises
the bound, and one on the few cells that good patterns hide. With more than one worker
other islands search beside it, and home looks after the proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.evolution.stopping import gap
from evosdc.parallel import Hands
from evosdc.suppress.bounds.branch import Branch
from evosdc.suppress.bounds.branch_and_cut import BranchAndCut
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.methods.island import Habits, Island
from evosdc.suppress.methods.islands import PARTS, Islands
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
# Share of the time for a bound that needs no programs, before the first pattern.
_BEFORE = 0.1
# Seconds between two looks at what other islands have found.
_LOOK = 0.2
# Cells above which another worker builds the first pattern.
_LONG = 4000
# Open cells up to which a tree is likely to get somewhere.
_SMALL_TREE = 1000
# Cuts of programs pay while so many rounds raise the bound by this share; integer
# programmes raise it faster then, and sooner on small tables.
_STALL, _PAYS, _PAYS_SMALL = 10, 3e-3, 1e-2
# Above this gap cuts are worth more than what a programme proves: so many times that.
_FAR = 0.02
_FAR_EASE = 3.0


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
    islands
        Populations beside the first, on other workers; None for one per worker under a
        limit of time, and none without: answers then depend on no number of workers.
    bridgeless, combined, planes
        Whether bridgeless rows and, in tables that are no networks, cuts of combined
        equations and of planes raise the bound.
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
    islands: int | None = None
    bridgeless: bool = True
    combined: bool = True
    planes: bool = True


@dataclass
class _Run:
    """What the searches share."""

    problem: Problem
    parameters: HybridParameters
    search: Search
    home: Island
    islands: Islands
    loop: CutLoop
    proof: Branch | None = None
    tree: BranchAndCut | None = None
    explored: bool = False  # whether nothing is left of the tree
    complete: bool = False  # whether cutting came to its end, not that of its time
    again: float = 0.0  # when to look for other islands' patterns again

    @property
    def quick(self) -> bool:
        return self.home.engine.quick

    @property
    def best(self) -> Pattern:
        assert self.search.best is not None
        return self.search.best

    def closed(self) -> bool:
        """Whether the best pattern is proven optimal."""
        if self.search.best is None:
            return False
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

    @property
    def roams(self) -> bool:
        """Whether walks that roam bring more than a tree that is far from its end.

        In small tables without dimensions the tree does: in a minute on hie1372d, seed
        0, it proved 523,924 where walks in its time left the bound at 476,398.
        """
        engine = self.home.engine
        return engine.agile and engine.roaming is not None and not self.near()

    def over(self) -> bool:
        return self.closed() or self.search.stopped()

    def slice(self, share: float) -> Callable[[], bool]:
        """Return a criterion that leaves the other searches their time."""
        end = self.search.seconds + share * self.search.seconds_left()

        def stopped() -> bool:
            self.exchange()
            return self.over() or self.search.seconds >= end

        return stopped

    def open_cells(self) -> Flags:
        """Cells that a pattern cheaper than the best may hide, and those it hides."""
        cells = self.loop.open_cells(self.best.cost) | self.best.hidden
        return cells & ~self.problem.primary

    @property
    def fractions(self) -> NDArray[np.float64]:
        """What patterns are steered by: a relaxation, deep in the tree if there is one.

        Below the root it is nearer to whole patterns, and another one each time.
        """
        relaxed = None if self.tree is None else self.tree.relaxed
        return self.loop.fractions if relaxed is None else relaxed

    def raise_bound(self, value: float) -> None:
        """Tell of a bound; islands that have come back are sent out again."""
        self.search.raise_bound(value)
        self.exchange()

    def exchange(self) -> None:
        """Take in what other islands have found, and let them go on."""
        if not (self.islands and self.timed) or self.search.seconds < self.again:
            return
        self.again = self.search.seconds + _LOOK
        self.islands.gather()
        if self.search.best is None:
            return
        self.islands.send(self.fractions)
        if self.tree is not None:
            self.tree.lower(self.best.cost)

    @property
    def timed(self) -> bool:
        return bool(np.isfinite(self.search.seconds_left()))


def run_hybrid(
    problem: Problem, parameters: HybridParameters, search: Search
) -> Pattern:
    """Run the hybrid."""
    habits = Habits(parameters.population, parameters.patience, parameters.steps)
    home = Island(problem, habits, search)
    with (
        Islands(home, parameters.islands) as islands,
        Hands(problem, help=islands.spare) as hands,
    ):
        loop = CutLoop(
            problem,
            bridgeless=parameters.bridgeless,
            combined=parameters.combined,
            planes=parameters.planes,
            hands=hands,
        )
        run = _Run(problem, parameters, search, home, islands, loop)
        if _start(run):
            for cycle in range(parameters.cycles):
                if run.over() or _cycle(run, cycle):
                    break
        if not run.closed():
            islands.come_home()
    return run.best


def _cycle(run: _Run, cycle: int) -> bool:
    """Let each search have its turn; return whether nothing is left to do."""
    # Without a clock islands begin and end with the cycle, wherever they are.
    if run.islands and not run.timed:
        run.islands.send(run.loop.fractions)
    if _explores(run, cycle):
        _explore(run, cycle)
    if run.islands and not run.timed:
        run.islands.gather()
    run.exchange()
    # On networks programmes raise the bound faster than cuts that take so long, and
    # find cuts themselves: a table of 250 x 250 was proven in 15 s by these alone.
    if not (run.complete or run.quick):
        _raise(run, 0.3, run.raise_bound)
        return False
    # On networks programmes in turn find better patterns, but a small tree is quicker
    # to the proof than a new tree after each round of cuts.
    if not run.quick or (run.small and not run.explored):
        return _branch_and_cut(run, _share_of_tree(run, cycle))
    if _programme(run, run.open_cells(), _share_of_proof(run), True):
        return True
    _programme(run, _core(run), 0.25, False)
    return False


def _explores(run: _Run, cycle: int) -> bool:
    """Whether patterns are bettered at home before the next turn of the proof."""
    if not run.quick and run.small:
        if run.roams:
            return True
        # A tree that has got somewhere steers better than the first relaxation.
        if cycle < 2:
            return cycle == 1
    elif not cycle and (run.home.heavy or run.near()):
        return False
    # Other islands explore while there is something to prove.
    return not (run.timed and run.islands.busy and _proving(run))


def _proving(run: _Run) -> bool:
    """Whether the proof still has work, so that other islands explore meanwhile."""
    if run.quick or not run.complete:
        return True
    if run.tree is None:
        return int(run.open_cells().sum()) <= run.parameters.tree
    return not run.explored


def _explore(run: _Run, cycle: int) -> None:
    """Better the patterns at home."""
    home, fractions = run.home, run.fractions
    rng = run.search.rng(1, cycle)
    if run.quick:
        size = home.population.size
        keep = size if cycle == 0 else size // 2
        home.refill(fractions, rng, keep, run.slice(0.1))
        home.breed(run.search.rng(2, cycle), run.slice(0.15))
    else:
        share = 0.1 if home.engine.agile else 0.15 if run.small else 0.4
        # Walks that roam find more from the best pattern than others from scratch.
        if home.engine.roaming is None or cycle % 3 == 2:
            home.steer(fractions, rng, run.slice(share))
    share = 0.25
    if run.small and not run.quick:
        share = 0.6 if run.roams else 0.1
    home.walk(fractions, run.search.rng(3, cycle), run.slice(share))


def _start(run: _Run) -> bool:
    """Build the first patterns and the relaxation; False where nothing is left."""
    search, home, loop = run.search, run.home, run.loop
    if not run.quick:
        _first_bound(run)
    if search.best is None:
        home.settle()
    elif not home.population.states:
        # The pattern of a run that was cut short: checking it took what building does.
        home.welcome(search.best)
        home.building = search.restoring
    if run.best.cost > 0 and not search.stopped():
        home.try_programs()
    if run.best.cost == 0:
        search.raise_bound(0.0)
    if run.best.cost == 0 or search.stopped():
        return False
    if run.quick:
        loop.run_nodes()

    def follow(value: float) -> None:
        run.raise_bound(value)
        # Ever more rarely: where shortest paths are slow, the bound must not wait.
        if home.heavy or home.slow or loop.rounds & (loop.rounds - 1):
            return
        home.guide(loop.fractions)

    if run.timed and not run.islands and home.parts_pay:
        home.solve_parts(PARTS * search.seconds_left())
    follow(loop.value)
    _raise(run, 0.3 if run.quick else 0.2, follow)
    if not (search.stopped() or home.slow):
        home.guide(loop.fractions)
    return True


def _first_bound(run: _Run) -> None:
    """Bound the cost before there is a pattern, where that takes long to build.

    Where it takes very long, another worker builds it meanwhile.
    """
    loop, search = run.loop, run.search
    long = len(run.problem.cost) > _LONG and search.best is None
    elsewhere = long and run.islands.ask_first()
    end = search.seconds + _BEFORE * search.seconds_left()
    loop.run_nodes()
    search.raise_bound(loop.value)
    loop.run_rows(lambda: search.stopped() or search.seconds >= end, search.raise_bound)
    if elsewhere:
        stopped = run.slice(1.0)
        loop.run_cuts(
            lambda: stopped() or search.best is not None,
            run.raise_bound,
            stall=_STALL,
            least=_PAYS,
        )
        if search.best is None:
            run.islands.gather(wait=True)


def _raise(run: _Run, share: float, follow: Callable[[float], None]) -> None:
    """Cut until nothing is violated or, where cuts take programs, while they pay."""
    stopped = run.slice(share)
    if run.quick:
        run.loop.run_cuts(stopped, follow)
    else:
        least = _PAYS_SMALL if run.small else _PAYS
        run.loop.run_cuts(stopped, follow, stall=_STALL, least=least)
    run.complete = not stopped()


def _core(run: _Run) -> Flags:
    """Cells that good patterns hide, and those of least reduced cost."""
    core = np.zeros(len(run.problem.cost), dtype=np.bool_)
    for state in run.home.population.states:
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
    if run.home.heavy:
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
        run.home.attempt(candidate.hidden, stopped)
        run.exchange()
        if not violated:
            if candidate.bound >= run.best.cost * (1 - _CLOSED):
                return True
            if tolerance <= _WHOLLY:
                return False
            ease /= 10
    return False


def _share_of_tree(run: _Run, cycle: int) -> float:
    """How much of the time left to spend on the tree; a small one has most of it."""
    if not run.small:
        return 0.2
    if run.roams:
        # A tree that is far from its end must not keep patterns from getting better.
        return 0.1 if not cycle else 0.25
    return 0.9 if cycle or run.quick else 0.1


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

    def attempt(hidden: Flags) -> None:
        run.home.attempt(hidden, stopped)

    _, run.explored = run.tree.solve(
        share * left,
        None if np.isfinite(left) else run.parameters.nodes,
        stopped,
        attempt,
        lambda bound: run.raise_bound(min(bound, run.best.cost)),
        attempt,
    )
    return run.closed()


METHOD = Method(
    name="hybrid",
    summary="bound-guided patterns, breeding, ruin and integer programmes in turn",
    tables="any; proofs for tables of a few thousand cells",
    source="this project, after Almeida et al. 2008 and Fischetti & Salazar 1999",
    parameters=HybridParameters,
    run=run_hybrid,
    parts=("gensup", "ls-ruin"),
)
