"""Choose and start the engine that the parameters ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.rules import index_cells
from evosdc.synth.objective.cost import CandidateGoal
from evosdc.synth.search.bayes import BayesNetwork
from evosdc.synth.search.blocks import moves_at_once, worth_cutting
from evosdc.synth.search.breeding import CROSSOVERS
from evosdc.synth.search.floor_search import FloorSearch
from evosdc.synth.search.genetic import Genetic
from evosdc.synth.search.initial import (
    Cart,
    Model,
    candidate,
    given,
    mutated,
    uniform,
    univariate,
)
from evosdc.synth.search.memetic import Memetic
from evosdc.synth.search.mover import Cooling
from evosdc.synth.search.options import Operators, Schedule
from evosdc.synth.search.population import CandidatePopulation, SynthesisProblem, Team
from evosdc.synth.search.run import EvolutionEngine
from evosdc.synth.search.trees import Trees

# Costs that late acceptance remembers.
_LATE_COSTS = 5000
# Simple models; a mutated original is drawn from one of them.
_SOURCES: dict[str, Model] = {"uniform": uniform, "univariate": univariate}
_GENETIC_SIZE, _FRONT_SIZE = 100, 8
# With more elements the default minute has too few moves for a start from margins.
_MAX_ELEMENTS = 2_000_000
# The first temperature of a search for a single answer, in records: its start is good.
_WARM_RECORDS = 0.02
# Record moves between two looks at the clock, where that is the budget.
_MOVES_BETWEEN_LOOKS = 5_000


def population_size(
    problem: SynthesisProblem, schedule: Schedule, *, front: bool, copies: int
) -> int:
    """Return how many candidates live at a time."""
    # A second candidate is worth little: blocks of one have better use for a core.
    cut = problem.objective is not None and worth_cutting(len(problem.original))
    size = max(1 if cut or _large(problem, schedule) else 2, copies)
    if not schedule.memetic:
        size = _GENETIC_SIZE
    elif front:
        size = _FRONT_SIZE
    size = size if schedule.population is None else schedule.population
    if size < max(1, copies):
        raise InputError(
            f"a population of {size} cannot hold {copies} copies",
            expected="at least as many candidates as copies",
        )
    return size


def make_engine(
    problem: SynthesisProblem,
    goals: Sequence[CandidateGoal],
    schedule: Schedule,
    operators: Operators,
    model: Model,
    rng: np.random.Generator,
    team: Team,
    *,
    front: bool,
    drawn: bool = True,
) -> EvolutionEngine:
    """Return an engine with its first population, a candidate for each goal.

    The genetic algorithm has one goal, the first. Without `drawn` its candidates are
    to be restored from a run that was cut short.
    """
    size = len(goals)
    watched = goals[0].looks_at_risk or front or schedule.memetic
    population = CandidatePopulation(problem, 2 * size + 2 if size > 1 else 3, watched)
    for slot in range(size if drawn else 0):
        population.put(slot, candidate(model, problem, rng))
    if not schedule.memetic:
        return Genetic(population, size, goals[0], operators, rng, team, front=front)
    cooling = _cooling(problem, schedule, operators, front)
    generations = schedule.most_generations
    if problem.objective is None:
        return Memetic(population, goals, cooling, rng, team, generations)
    objective = problem.objective
    return FloorSearch(population, goals, cooling, rng, team, generations, objective)


def _large(problem: SynthesisProblem, schedule: Schedule) -> bool:
    """Whether a memetic run is so large that it starts from a model of pairs."""
    initial = schedule.initial
    named = isinstance(initial, str) and initial in ("auto", "network")
    return schedule.memetic and named and problem.original.size > _MAX_ELEMENTS


def _cooling(
    problem: SynthesisProblem, schedule: Schedule, operators: Operators, front: bool
) -> Cooling:
    """Scale temperatures to one record: a move shifts the cost by about 1 / n."""
    n, m = problem.original.shape
    moves, single = schedule.moves, problem.objective is not None
    hot, cold = (_WARM_RECORDS, 0.0005) if single else (0.1, 0.001)
    if single and schedule.by_clock:
        piece = moves_at_once(n) if worth_cutting(n) else _MOVES_BETWEEN_LOOKS
        soft = schedule.softness
        return Cooling(piece, hot / n, cold / n, soft=soft, by_clock=True)
    if moves is None:
        # A front shares the time of one answer among its candidates.
        if _large(problem, schedule):
            moves = 3 * n if front else 10 * n
        else:
            moves = max(1_000_000, 10 * n * m) if front else max(2_000_000, 30 * n * m)
    return Cooling(
        max(1, moves // schedule.most_generations),
        hot / n,
        cold / n,
        late=_LATE_COSTS if schedule.acceptance == "late" else 0,
        crossover=CROSSOVERS.index(operators.crossover),
        crossover_rate=operators.memetic_crossing,
        soft=schedule.softness,
    )


def initial_model(
    problem: SynthesisProblem, schedule: Schedule, domain: Domain
) -> Model:
    """Return what the first candidates are drawn from."""
    initial, records = schedule.initial, len(problem.original)
    if not isinstance(initial, str):
        frames = initial if isinstance(initial, list | tuple) else [initial]
        return given([_encoded(f, domain, records) for f in frames])
    name, *parts = initial.split(":")
    if name == "auto":
        usual = "univariate" if problem.objective is None else "trees"
        name = "network" if _large(problem, schedule) else usual
    if name == "trees":
        return _trees(problem, domain)
    if name == "network":
        return BayesNetwork()
    if name in _SOURCES:
        return _SOURCES[name]
    if name == "cart":
        return Cart()
    if name == "mutation":
        try:
            rate = float(parts[0]) if parts else 0.1
            source = _SOURCES[parts[1]] if len(parts) > 1 else uniform
        except (ValueError, KeyError):
            raise InputError(
                f"cannot read {initial!r}",
                expected="for example mutation:0.1 or mutation:0.1:univariate",
            ) from None
        return mutated(rate, source)
    raise InputError(
        f"unknown initial model {initial!r}",
        expected="auto, univariate, uniform, trees, network, cart, mutation, "
        "mutation:RATE, mutation:RATE:univariate, or frames",
    )


def _trees(problem: SynthesisProblem, domain: Domain) -> Model:
    """Return trees of the original that keep off empty cells and those of few."""
    aim = problem.objective
    if aim is None:
        return Trees(domain.ordered, (problem.rules,))
    empty = index_cells(aim.swapped.empty(aim.codes, aim.sizes), aim.sizes)
    trees = Trees(domain.ordered, (problem.rules, empty))
    return lambda _, sizes, rng, count: trees(aim.codes, sizes, rng, count)


def _encoded(frame: Any, domain: Domain, records: int) -> Any:
    table: pa.Table = to_arrow(frame)
    if table.num_rows != records:
        raise InputError(
            f"an initial candidate has {table.num_rows} records",
            expected=f"{records}, as many as the original",
        )
    return domain.encode(table)
