"""Choose and start the engine that the parameters ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evosdc.errors import InputError
from evosdc.evolution.replacement import REPLACEMENTS
from evosdc.evolution.selection import parse_selection
from evosdc.synth.data.domain import Domain
from evosdc.synth.frames import to_table
from evosdc.synth.objective.goal import Goal
from evosdc.synth.search.bayes import Network
from evosdc.synth.search.breeding import CROSSOVERS, MUTATIONS
from evosdc.synth.search.genetic import Genetic, Operators
from evosdc.synth.search.initial import (
    Cart,
    Model,
    candidate,
    given,
    mutated,
    uniform,
    univariate,
)
from evosdc.synth.search.memetic import Memetic, Schedule
from evosdc.synth.search.population import Population, Problem, Team
from evosdc.synth.search.rates import parse_rate
from evosdc.synth.search.run import Engine

if TYPE_CHECKING:
    from evosdc.synth.synthesiser import Synthesiser

# Published rates: Chen (2020), 5.2 and 5.3, table 2; they move as many elements each.
_RATES = {
    "matrix": 1.0,
    "variable": 0.5455,
    "cpc": 0.5005,
    "round-cpc": 0.5005,
    "whole-cpc": 0.3505,
    "puc": 0.3818,
}
_GENERATIONS = {True: 60, False: 1000}
_LATE = 5000
# What a mutated original is redrawn from.
_SOURCES: dict[str, Model] = {"uniform": uniform, "univariate": univariate}
_FRONT_SIZE = 8
# With more elements the default minute has too few moves for a start from margins.
_LARGE = 2_000_000


def make_engine(
    problem: Problem,
    goal: Goal,
    options: Synthesiser,
    domain: Domain,
    rng: np.random.Generator,
    team: Team,
    spread: Callable[[int], list[Goal]],
) -> tuple[Engine, int]:
    """Return an engine with its first population, and its number of generations.

    `spread` gives the goals of so many candidates of a front.
    """
    _check(options)
    front = options.mode == "pareto"
    size = options.population
    if size is None:
        size = _size(problem, options)
    if size < max(1, options.copies):
        raise InputError(
            f"a population of {size} cannot hold {options.copies} copies",
            expected="at least as many candidates as copies",
        )
    generations = options.generations
    if generations is None:
        generations = _GENERATIONS[bool(options.memetic)]
    watched = goal.looks_at_risk or front or options.memetic
    population = Population(problem, 2 * size + 2 if size > 1 else 3, watched)
    model = _model(options, domain, problem)
    for slot in range(size):
        population.put(
            slot,
            candidate(
                model, problem.original, problem.sizes, problem.rules, problem.free, rng
            ),
        )
    if options.memetic:
        schedule = _schedule(problem, options, generations)
        goals = spread(size) if front else [goal] * size
        return (
            Memetic(population, goals, schedule, rng, team, generations),
            generations,
        )
    operators = _operators(options)
    return Genetic(population, size, goal, operators, rng, team), generations


def _large(problem: Problem, options: Synthesiser) -> bool:
    """Whether a memetic run is so large that it starts from a model of pairs."""
    initial = options.initial
    named = isinstance(initial, str) and initial in ("auto", "network")
    return bool(options.memetic) and named and problem.original.size > _LARGE


def _size(problem: Problem, options: Synthesiser) -> int:
    if not options.memetic:
        return 100
    if options.mode == "pareto":
        return _FRONT_SIZE
    # A second candidate is worth little, and a large file has better use for a core.
    return max(1 if _large(problem, options) else 2, options.copies)


def _check(options: Synthesiser) -> None:
    choices = {
        "mode": ("constraint", "weighted", "pareto"),
        "crossover": CROSSOVERS,
        "replacement": ("generational", *REPLACEMENTS),
        "algorithm": ("nsga2", "npga"),
        "mutation": MUTATIONS,
        "acceptance": ("annealing", "late"),
    }
    for name, allowed in choices.items():
        if getattr(options, name) not in allowed:
            raise InputError(
                f"unknown {name} {getattr(options, name)!r}",
                expected=", ".join(allowed),
            )
    parse_selection(options.selection)
    for name in ("population", "generations", "moves"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}", expected="at least 1")
    if not 0.0 <= options.softness < np.inf:
        raise InputError(
            f"softness is {options.softness}",
            expected="a number from 0 (off) to 3 or so",
        )
    if options.copies < 1:
        raise InputError(f"copies is {options.copies}", expected="at least 1")


def _operators(options: Synthesiser) -> Operators:
    rate = options.crossover_rate
    return Operators(
        CROSSOVERS.index(options.crossover),
        parse_rate(_RATES[options.crossover] if rate is None else rate),
        parse_rate(options.mutation_rate),
        parse_selection(options.selection),
        MUTATIONS.index(options.mutation),
        options.replacement,
        options.elitism,
        options.algorithm if options.mode == "pareto" else "",
    )


def _schedule(problem: Problem, options: Synthesiser, generations: int) -> Schedule:
    """Scale temperatures to one record: a move shifts the cost by about 1 / n."""
    n, m = problem.original.shape
    moves = options.moves
    if moves is None:
        # A front shares the time of one answer among its candidates.
        front = options.mode == "pareto"
        if _large(problem, options):
            moves = 3 * n if front else 10 * n
        else:
            moves = max(1_000_000, 10 * n * m) if front else max(2_000_000, 30 * n * m)
    rate = options.crossover_rate
    return Schedule(
        max(1, moves // generations),
        0.1 / n,
        0.001 / n,
        late=_LATE if options.acceptance == "late" else 0,
        crossover=CROSSOVERS.index(options.crossover),
        crossover_rate=0.1 if rate is None else float(rate),  # type: ignore[arg-type]
        soft=options.softness,
    )


def _model(options: Synthesiser, domain: Domain, problem: Problem) -> Model:
    initial, records = options.initial, len(problem.original)
    if not isinstance(initial, str):
        frames = initial if isinstance(initial, list | tuple) else [initial]
        return given([_encoded(f, domain, records) for f in frames])
    name, *parts = initial.split(":")
    if name == "auto":
        name = "network" if _large(problem, options) else "univariate"
    if name == "network":
        return Network()
    if name == "uniform":
        return uniform
    if name == "univariate":
        return univariate
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
        expected="auto, univariate, uniform, network, cart, mutation, mutation:RATE, "
        "mutation:RATE:univariate, or frames",
    )


def _encoded(frame: Any, domain: Domain, records: int) -> Any:
    table: pa.Table = to_table(frame)
    if table.num_rows != records:
        raise InputError(
            f"an initial candidate has {table.num_rows} records",
            expected=f"{records}, as many as the original",
        )
    return domain.encode(table)
