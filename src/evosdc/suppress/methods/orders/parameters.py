"""Options of the methods that evolve orders, with the published defaults."""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.errors import MethodError
from evosdc.options import MethodOptions, option
from evosdc.suppress.engine.base import AnyEngine
from evosdc.suppress.methods.orders.operators import OPERATORS
from evosdc.suppress.structure.elements import CELLS, GROUPINGS, Grouping

CLEAN = ("never", "best", "every")
# Above so many cells groups beat single cells (Smith et al. 2011).
_LARGE = 30_000
# Steps of ruin and recreate a place and order: about as long as the order takes.
_RUIN = 0.5
# Groups where `groups` leaves the choice to the table.
_GROUPS = {"all": 40, "exposed": 40, "unpicked": 20}


@dataclass(frozen=True)
class WeightParameters(MethodOptions):
    """Options of the plain heuristic.

    Attributes
    ----------
    cells
        Sensitive cells to protect: all; exposed (those that the primaries alone leave
        short: K); unpicked (those that follow from the equations one by one: K_u, and
        in tables that are no networks those whose levels the bounds of their neighbours
        rule out; the others are protected as a closing group); or auto: exposed, but
        unpicked in tables of more than 30,000 cells.
    groups
        Groups the cells are protected in; 0 for one at a time; -1 for one at a time up
        to 30,000 cells and 40 (20 for unpicked) beyond.
    grouping
        How groups are made: weight, row or column.
    together
        One program for a whole group and direction, halved where it has no solution,
        as published; otherwise the cells of a group one after another. None: one
        program in networks and in tables of up to 30,000 cells, where it is quick.
    clean
        Whether redundant cells are published again: never (as published), best (each
        pattern that is the best so far), every (each pattern, and by its cost then the
        order is judged).
    """

    cells: str = option("auto", known=("auto", *CELLS))
    groups: int = -1
    grouping: str = option("weight", known=GROUPINGS)
    together: bool | None = None
    clean: str = option("never", known=CLEAN)

    def grouping_for(self, engine: AnyEngine) -> Grouping:
        """Settle what is left to the table."""
        large = len(engine.problem.table) > _LARGE
        cells = self.cells
        if cells == "auto":
            cells = "unpicked" if large else "exposed"
        groups = self.groups
        if groups < 0:
            groups = _GROUPS[cells] if large else 0
        together = self.together
        if together is None:
            together = not large or engine.quick
        return Grouping(cells, groups, self.grouping, together)


@dataclass(frozen=True)
class OrderParameters(WeightParameters):
    """Options of the genetic algorithm over orders.

    Attributes
    ----------
    mutation
        swap, insert or invert; adapt lets each individual carry its own, and its rate.
    population
        Orders: falling weight, rising weight, the rest at random. One order makes it a
        local search.
    crossover
        Probability of Davis's order crossover.
    change
        Probability of each of the two genes that steer mutation to change, where they
        adapt; fixed operators strike at each place with one over the length.
    evaluations
        Orders evaluated at most; a limit of the run may end it before.
    patience
        Offspring without a better best at most.
    converged
        Iterations in a row with the mean cost within `within` of the best at most; 0
        for no such limit. Smith et al. use 100 with fixed operators and none with
        genes that adapt; Staggemeier et al. use 5,000.
    within
        Share of the best cost.
    ties
        Whether offspring that costs as much as the dearest order replaces it. The
        published rule asks for less; a local search crosses plateaus with it.
    batch
        Offspring bred before the first of them is let in; 1 as published, more keeps
        several workers busy.
    ruin
        Steps of ruin and recreate (as in ls-ruin and ls-rebuild) that the best pattern
        makes for every order evaluated, for each place of the order; 0 as published; -1
        for a half on networks of up to 30,000 cells and none elsewhere.
    """

    clean: str = option("best", known=CLEAN)
    mutation: str = option("adapt", known=("adapt", *OPERATORS))
    population: int = option(10, least=1)
    crossover: float = 0.7
    change: float = 0.1
    evaluations: int = 10_000
    patience: int = 1_000
    converged: int = 0
    within: float = 0.01
    ties: bool = False
    batch: int = option(1, least=1)
    ruin: float = -1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.ruin >= 0 or self.ruin == -1):
            raise MethodError(
                f"option ruin is {self.ruin:g}",
                expected="0 or more, or -1 for what suits the table",
            )

    def ruin_for(self, engine: AnyEngine) -> float:
        """Settle the steps of ruin and recreate where they are left to the table."""
        if self.ruin >= 0:
            return self.ruin
        small = len(engine.problem.table) <= _LARGE
        return _RUIN if engine.quick and small else 0.0


def preset(by: str, size: int = 10) -> type[OrderParameters]:
    """Return the options for one mutation; of one order it makes a local search."""

    @dataclass(frozen=True)
    class Preset(OrderParameters):
        """The genetic algorithm, or local search, with a fixed mutation."""

        mutation: str = option(by, known=("adapt", *OPERATORS))
        population: int = option(size, least=1)
        converged: int = 100
        ruin: float = 0.0

    return Preset
