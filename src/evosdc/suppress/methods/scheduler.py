"""The operators of a search, and which of them has the next slice of the budget.

Adaptive operator selection by probability matching (Thierens 2005; Fialho et al. 2010).
An operator is credited with the share of the gap that it closes, by the share of all
seconds so far that its turn took; of evaluations without a limit of time, so that a run
without a clock repeats. So early gains, large and quick for whoever comes first, count
no more than later ones. The past counts less the more turns ago it was. Each operator
has a first turn, in the order given, as soon as the one before it gains little. From
then on one is drawn in proportion to its rate of gain, and with a small chance
whichever it is, since what an operator yields changes as the others get on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import TYPE_CHECKING, Protocol

import numpy as np

from evosdc.arrays import Real
from evosdc.evolution.stopping import gap
from evosdc.suppress.engine.base import State, Stopped, Walker, WalkOptions, reporter
from evosdc.suppress.methods.gensup import GensupParameters, breed
from evosdc.suppress.run.search import Search

if TYPE_CHECKING:
    from evosdc.suppress.methods.islands import Island

# A gap at which a pattern counts as proven: the tolerance of integer programmes.
CLOSED = 2e-6
# First turns wait while one operator gains so large a share of the cost per turn. At
# half of it cutting a small table goes on for longer before other operators are tried,
# at twice of it they are tried while the first bound still rises quickly.
_PAYING_GAIN = 0.003
# What is left of an operator's credit after another turn of it. At 0.25 one lucky turn
# decides, at 0.7 an operator that no longer gains keeps its share for four more turns.
_CREDIT_KEPT = 0.5
# Share of the turns that are drawn evenly. At half of it tables whose bound stands
# still for long are proven later, at twice of it less is gained by those that gain.
_EVEN_SHARE = 0.15
# A proof that gained nothing is tried again where the gap is so many times smaller than
# at its last turn. At half of it trees wait until the end, at twice of it (never less
# than once) they are run after each new bound.
_GAP_RATIO_FOR_PROOF = 1.5
# A slice is this share of what is spent so far, so that tables that are proven at once
# are not kept waiting. At half of it operators take turns more often, and what each one
# sets up counts for more; at twice of it a proof waits longer for its turn.
_SLICE_OF_SPENT = 0.2
# A slice that gained nothing may have been too short: the next one of this operator is
# twice as long, up to so many times. At half of it trees that need long to raise the
# bound get nowhere, at twice of it operators that are stuck take most of the time.
_MOST_GROWTH = 4.0
# Slices are at most this share of what is left, and at least so many seconds or
# evaluations: below that, restarting an operator takes longer than it works. At half of
# the share operators begin more often, at twice of it one may use up the end of a run.
_SLICE_OF_LEFT, _LEAST_SECONDS, _LEAST_EVALUATIONS = 0.06, 0.05, 8.0
# Share of what is spent that a turn counts at least: some end at once. At half of it a
# turn that ends at once with a gain counts for twice as much, at twice of it for half.
_LEAST_SHARE_SPENT = 1e-3
# Walks begin at one of so many best patterns, at the best one in this share of the
# cases. At half of them more walks repeat one another, at twice more begin at patterns
# that cost more.
_STARTS, _FROM_BEST = 4, 0.4
# Turns of a walk without a better pattern after which it begins elsewhere. With one or
# two good places are left early, with six walks stay where nothing is found.
_TURNS_WITHOUT_GAIN = 3
# How much cheaper a walk finds cells that the relaxation hides, at most. At half of it
# walks follow the relaxation less; 1 would make its cells free.
_WALK_DISCOUNT = 0.95
# Generations without a better best after which half of the patterns are replaced; every
# child is mutated in the one halfway. With half as many a population is given up while
# it still gains, with twice as many breeding goes on in vain.
_GENERATIONS_WITHOUT_GAIN = 4


def proven(search: Search) -> bool:
    """Whether the best pattern of a run is proven optimal."""
    if search.best is None:
        return False
    now = gap(search.best.cost, search.bound)
    return now is not None and now <= CLOSED


class Budget:
    """What a run has spent and may still spend: seconds where time ends it."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.timed = isfinite(search.seconds_left())

    @property
    def spent(self) -> float:
        """Seconds, or evaluations of this process."""
        search = self._search
        return search.seconds if self.timed else float(search.evaluations)

    @property
    def left(self) -> float:
        """Seconds or evaluations until the limit, infinite where there is none."""
        search = self._search
        return search.seconds_left() if self.timed else search.evaluations_left()


@dataclass(frozen=True)
class Slice:
    """What an operator may spend in one turn, and its randomness.

    `seconds` is infinite and `nodes` a number of branches where no clock runs.
    """

    stopped: Stopped
    seconds: float
    nodes: int | None
    rng: np.random.Generator


class Operator(Protocol):
    """Something that improves patterns or bounds.

    `bounds` says that it raises the bound, `proves` that it searches what the gap
    leaves: the smaller that is, the better.
    """

    @property
    def bounds(self) -> bool: ...

    @property
    def proves(self) -> bool: ...

    def applies(self) -> bool:
        """Whether there is anything for it to do, and time for it."""
        ...

    def turn(self, slice: Slice) -> None:
        """Work until its slice is over, or for the shortest while that it can."""
        ...


@dataclass
class _Credit:
    gained: float = 0.0
    spent: float = 0.0
    longer: float = 1.0
    gap: float = inf  # when it had its last turn

    @property
    def rate(self) -> float:
        return self.gained / self.spent


class Scheduler:
    """Gives slices to operators.

    Parameters
    ----------
    key
        Names the randomness of this scheduler within the run.
    others
        What others have gained for this run so far: no operator is credited with it.
    searching
        How many other workers search for patterns all the time: operators that do so
        here are drawn that much less often than by their rates.
    """

    def __init__(
        self,
        operators: Sequence[Operator],
        search: Search,
        key: tuple[int, ...] = (),
        others: Callable[[], float] = lambda: 0.0,
        searching: Callable[[], int] = lambda: 0,
    ) -> None:
        self._operators, self._search, self._key = operators, search, key
        self._searching = searching
        self._credits = [_Credit() for _ in operators]
        self._others = others
        self.budget = Budget(search)
        self.turns = 0
        self._last, self._last_pays = -1, False
        self.moved = self.budget.spent  # when cost or bound moved last

    def turn(self) -> bool:
        """Give one operator a slice; False where there is nothing to do for any."""
        search, budget = self._search, self.budget
        able = [k for k, one in enumerate(self._operators) if one.applies()]
        if not able:
            return False
        rng = search.rng(*self._key, self.turns)
        self.turns += 1
        chosen = self._choose(able, rng)
        before, foreign, begun = self._state(), self._others(), budget.spent
        credit = self._credits[chosen]
        credit.gap = self._gap()
        length = self._length(credit.longer)
        end = begun + length

        def stopped() -> bool:
            return search.stopped() or proven(search) or budget.spent >= end

        self._operators[chosen].turn(
            Slice(
                stopped,
                length if budget.timed else np.inf,
                None if budget.timed else int(length),
                rng,
            )
        )
        cost, bound = self._state()
        gained = (before[0] - cost + bound - before[1]) / max(before[0], 1e-300)
        if gained > 0:
            self.moved = budget.spent
        gained -= self._others() - foreign
        left = max(before[0] - before[1], CLOSED * before[0], 1e-300)
        spent = (budget.spent - begun) / max(budget.spent, 1e-300)
        credit.longer = 1.0 if gained > 0 else min(2.0 * credit.longer, _MOST_GROWTH)
        self._last, self._last_pays = chosen, gained > _PAYING_GAIN
        closed = max(gained, 0.0) * before[0] / left
        credit.gained = _CREDIT_KEPT * credit.gained + closed
        credit.spent = _CREDIT_KEPT * credit.spent + max(spent, _LEAST_SHARE_SPENT)
        return True

    def _choose(self, able: list[int], rng: np.random.Generator) -> int:
        untried = [k for k in able if not self._credits[k].spent]
        if untried:
            return self._last if self._last_pays and self._last in able else untried[0]
        closer = _GAP_RATIO_FOR_PROOF * self._gap()
        for k in able:
            proves, credit = self._operators[k].proves, self._credits[k]
            if proves and not credit.gained and closer < credit.gap:
                return k
        rates = np.array([self._credits[k].rate for k in able])
        if rng.random() < _EVEN_SHARE or not rates.sum() > 0:
            rates = np.ones(len(able))
        elsewhere = 1 + self._searching()
        rates[[not self._operators[k].bounds for k in able]] /= elsewhere
        return able[int(rng.choice(len(able), p=rates / rates.sum()))]

    def _length(self, longer: float) -> float:
        budget = self.budget
        least = _LEAST_SECONDS if budget.timed else _LEAST_EVALUATIONS
        most = _SLICE_OF_LEFT * budget.left
        usual = max(least, min(most, _SLICE_OF_SPENT * budget.spent))
        return max(usual, min(longer * usual, _SLICE_OF_LEFT * 3 * budget.left))

    def _gap(self) -> float:
        cost, bound = self._state()
        return cost - bound

    def _state(self) -> tuple[float, float]:
        search = self._search
        cost = 0.0 if search.best is None else search.best.cost
        return cost, min(search.bound or 0.0, cost)


class _Measured:
    """An operator that makes whole patterns: it knows what the last one took."""

    bounds = proves = False

    def __init__(self, island: Island) -> None:
        self.island = island
        self._takes = 0.0

    @property
    def affordable(self) -> bool:
        """Whether another pattern fits into the first half of what is left."""
        budget = Budget(self.island.search)
        takes = max(self._takes, self.island.building if budget.timed else 0.0)
        return 2 * takes <= budget.left


class Guided(_Measured):
    """Patterns built with prices guided by the relaxation, then with noise as well."""

    def __init__(self, island: Island) -> None:
        super().__init__(island)
        self._followed: Real | None = None

    def applies(self) -> bool:
        return self.affordable

    def turn(self, slice: Slice) -> None:
        island = self.island
        budget = Budget(island.search)
        while not slice.stopped():
            begun = budget.spent
            if self._followed is island.fractions:
                island.build_randomised(slice.rng)
            else:
                self._followed = island.fractions
                # The largest first: what they move far covers many others.
                amount = island.engine.demands.amount
                order = np.argsort(-amount, kind="stable")
                island.build_guided(island.fractions, order=order)
                island.build_guided(island.fractions)
            self._takes = budget.spent - begun


class Breeding(_Measured):
    """Generations of GenSup; where they no longer pay, half of the patterns is new."""

    def __init__(self, island: Island) -> None:
        super().__init__(island)
        self._held = 0

    def applies(self) -> bool:
        return len(self.island.population.states) > 1 and self.affordable

    def turn(self, slice: Slice) -> None:
        island = self.island
        budget = Budget(island.search)
        options = GensupParameters(population=island.population.size)
        while not slice.stopped() and len(island.population.states) > 1:
            begun = budget.spent
            if self._held >= _GENERATIONS_WITHOUT_GAIN:
                self._held = 0
                island.renew(slice.rng, slice.stopped)
            better = breed(
                island.population,
                island.mender,
                options,
                slice.rng,
                island.search,
                slice.stopped,
                mutate_all=self._held == _GENERATIONS_WITHOUT_GAIN // 2,
            )
            self._held = 0 if better else self._held + 1
            self._takes = (budget.spent - begun) / len(island.population.states)


class PatternWalk:
    """Ruin and recreate from good patterns, by boxes and paths or by programs."""

    bounds = proves = False

    def __init__(self, island: Island, *, boxes: bool) -> None:
        self._island, self._boxes = island, boxes
        self._walker: Walker | None = None
        self._state: State | None = None
        self._held = 0  # turns without a better pattern

    def applies(self) -> bool:
        engine = self._island.engine
        if self._boxes:
            return engine.has_boxes
        return engine.program_walk is not None or not engine.has_boxes

    def turn(self, slice: Slice) -> None:
        island = self._island
        search, best = island.search, island.population.states[0].cost
        walker = self._walker
        behind = walker is not None and walker.best_cost > best * (1 + 1e-9)
        elsewhere = behind and slice.rng.random() < _FROM_BEST
        if walker is None or self._held >= _TURNS_WITHOUT_GAIN or elsewhere:
            walker = self._begin(slice.rng)
        if walker is None:
            search.count()
            return
        before = walker.best_cost
        report = reporter(search, "ruin and recreate", walker.steps)
        left = slice.nodes
        while not slice.stopped():
            steps = walker.steps
            if not walker.turn(slice.stopped, left):
                self._walker = None
                break
            report(walker)
            if left is not None:
                left -= walker.steps - steps
                if left <= 0:
                    break
        self._held = 0 if walker.best_cost < before else self._held + 1
        if walker.best_cost < before:
            self._admit(walker)

    def _begin(self, rng: np.random.Generator) -> Walker | None:
        island = self._island
        states = island.population.states
        first = 0 if rng.random() < _FROM_BEST else int(rng.integers(_STARTS))
        self._state = states[min(first, len(states) - 1)].copy()
        self._held = 0
        self._walker = island.engine.walker(self._state, rng, self._options())
        return self._walker

    def _options(self) -> WalkOptions | None:
        program_walk = self._island.engine.program_walk
        if self._boxes or program_walk is None:
            return None
        return replace(
            program_walk,
            discount=_WALK_DISCOUNT * np.clip(self._island.fractions, 0.0, 1.0),
        )

    def _admit(self, walker: Walker) -> None:
        """Admit the best pattern; walks of networks may have gone on from it."""
        assert self._state is not None
        island = self._island
        if island.engine.is_network:
            parent = island.population.states[0]
            state = island.mender.child(parent, walker.best().hidden)
        else:
            state = self._state.copy()
        island.population.add(state)
