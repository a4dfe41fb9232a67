"""From parameters and a table to evolved candidates and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.clock import Clock
from evosdc.errors import InputError
from evosdc.evolution.stopping import Progress
from evosdc.metrics.data import from_codes
from evosdc.metrics.figures import risk_figures
from evosdc.synth.data.domain import Coding, Domain, make_domain
from evosdc.synth.data.encoding import Codes, Ints
from evosdc.synth.data.identifiers import Identifier, find_identifiers
from evosdc.synth.data.rules import build_rules, cut_points
from evosdc.synth.data.shades import Exact, exact_of, exact_values
from evosdc.synth.notes import front_notes, notes
from evosdc.synth.objective.front import Front, two_fronts
from evosdc.synth.objective.goal import Goal
from evosdc.synth.objective.names import (
    describe,
    parse_objective,
    resolve_objective,
)
from evosdc.synth.objective.noise import (
    Floor,
    bootstrap_risks,
    closer_than,
    deep,
    distances,
    floors_that_bind,
    noise_floor,
)
from evosdc.synth.objective.pairs import stir
from evosdc.synth.objective.risk import RISKS, build_risk, no_risk
from evosdc.synth.objective.scenario import (
    FRESH_SHARE,
    Scenario,
    attack,
    base_goal,
    baselines,
    make_scenario,
    named_columns,
)
from evosdc.synth.objective.stirred_floor import raised
from evosdc.synth.objective.tables import JSD, Component, build_target
from evosdc.synth.search.engines import make_engine
from evosdc.synth.search.holding import Holder
from evosdc.synth.search.population import Population, Problem, Team
from evosdc.synth.search.run import Engine, Generation, Run
from evosdc.synth.small_groups import PairCount, count_pairs

if TYPE_CHECKING:
    from evosdc.synth.synthesiser import Synthesiser

_FULL = Component(JSD, 0)
_ALWAYS = (Component(JSD, 1), Component(JSD, 2), _FULL)


@dataclass(frozen=True, eq=False)
class Score:
    """What a candidate is worth: distances as one and one by one, and four risks.

    `closer` says whether its full table is nearer to the original's than a fresh
    sample's would be; None outside the Pareto mode.
    """

    utility: float
    distances: dict[str, float]
    risks: NDArray[np.float64]
    closer: bool | None


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a run leaves behind."""

    domain: Domain
    objective: str
    candidates: list[Codes]
    scores: list[Score]
    utility: dict[str, float]
    risk: dict[str, float]
    limits: dict[str, float]
    met: bool
    floor: dict[str, float]
    fresh_risk: dict[str, float]
    baseline: dict[str, float]
    record: list[Generation]
    reason: str
    hurried: bool
    seconds: float
    notes: list[str]
    roles: list[str]
    identifiers: list[Identifier]
    pairs: list[PairCount]


@dataclass(frozen=True)
class TradeOff:
    """Stop when the distance is reached; the cost holds the penalty of any excess."""

    utility: float

    def reason(self, progress: Progress) -> str | None:
        if progress.cost is not None and progress.cost <= self.utility:
            return "trade-off reached"
        return None


@dataclass(frozen=True)
class Patience:
    """Stop after so many generations without a better candidate."""

    generations: int

    def reason(self, progress: Progress) -> str | None:
        held = progress.generations - progress.improved_at
        return "no improvement" if held >= self.generations else None


def fit(table: pa.Table, options: Synthesiser, workers: int) -> Fitted:
    """Evolve synthetic copies of a table; the time limit holds for all of it."""
    with Clock(options.time_limit) as clock:
        return _fit(table, options, workers, clock)


def _fit(table: pa.Table, options: Synthesiser, workers: int, clock: Clock) -> Fitted:
    identifiers = find_identifiers(
        table, options.least, dict(options.identifiers or {}), named_columns(options)
    )
    table = table.drop_columns([i.name for i in identifiers if i.action != "keep"])
    rules = list(options.rules)
    coding = Coding(
        options.bins,
        options.binning,
        options.restore,
        options.most_levels,
        options.pool,
        cut_points(rules),
        options.least,
    )
    domain = make_domain(table, coding)
    codes = domain.encode(table)
    pareto = options.mode == "pareto"
    objective = resolve_objective(options.objective, pareto and options.memetic)
    components = parse_objective(objective)
    measured = components + tuple(c for c in _ALWAYS if c not in components)
    rng = np.random.default_rng([options.seed, 0])
    key, target = attack(domain, options.key, options.target)
    exact = exact_values(table, domain, codes, key, target, options.seed)
    floor = noise_floor(
        codes,
        domain.sizes,
        measured if pareto else components,
        key,
        target,
        rng,
        exact,
    )
    scenario = make_scenario(options, key, target, floor, len(codes))
    problem = make_problem(domain, codes, exact, components, scenario, options, floor)
    goal = base_goal(scenario, options)

    def spread(size: int) -> list[Goal]:
        return make_front(problem, exact, components, scenario, options, floor).goals(
            size
        )

    with Team(workers) as team:
        engine, generations = make_engine(
            problem, goal, options, domain, rng, team, spread
        )
        run = Run(
            engine,
            generations,
            options.time_limit,
            _criteria(options),
            options.listener,
            clock=clock,
        )
        run.go()
    population = engine.population
    closer = {}
    if pareto:
        _measure(engine, codes, engine.alive, components)
        fresh = float(floor.objectives[measured.index(_FULL)])
        closer = {
            slot: closer_than(_full_distance(engine, slot, codes), fresh)
            for slot in map(int, engine.alive)
        }
    order = ranked(engine, scenario, options, closer)
    if options.noise_floor and not pareto:
        roles = [j for j in (*(key or ()), target) if j is not None]
        holder = Holder(table, domain, problem, roles, options.seed)
        for slot in map(int, order):
            made = population.codes[slot]
            held = holder.hold(made, clock.left)
            if held is not made:
                population.put(slot, held)
    best = int(order[0])
    if not pareto:
        _measure(engine, codes, order, components)
    risks = {int(s): _risks(population, int(s), exact, scenario) for s in order}
    judged = scenario.judged
    met = all(risks[best][r] <= v + 1e-12 for r, v in judged.items())
    names = [describe(c) for c in components]
    return Fitted(
        domain,
        objective,
        [population.codes[int(s)].copy() for s in order],
        [
            Score(
                float(population.utility(np.array([s]))[0]),
                dict(zip(names, map(float, population.groups[s]), strict=True)),
                risks[int(s)],
                closer.get(int(s)),
            )
            for s in order
        ],
        dict(
            zip(
                [describe(c) for c in measured],
                map(
                    float,
                    distances(codes, population.codes[best], domain.sizes, measured),
                ),
                strict=True,
            )
        ),
        dict(zip(RISKS, map(float, risks[best]), strict=True))
        if key is not None
        else {},
        {RISKS[r]: limit for r, limit in judged.items()},
        met,
        {
            describe(c): float(d)
            for c, d in zip(measured, floor.objectives, strict=False)
        },
        dict(zip(RISKS, map(float, floor.risks), strict=True))
        if key is not None
        else {},
        baselines(exact.codes, key, target),
        run.record,
        run.reason,
        run.hurried,
        run.record[-1].seconds,
        notes(domain, codes, problem, scenario, met, run)
        + front_notes([bool(closer.get(int(s))) for s in order]),
        [domain.names[j] for j in (*(key or ()), target) if j is not None],
        identifiers,
        count_pairs(codes, population.codes[best], domain, options.least),
    )


def make_problem(
    domain: Domain,
    codes: Codes,
    exact: Exact,
    components: tuple[Component, ...],
    scenario: Scenario,
    options: Synthesiser,
    floor: Floor,
) -> Problem:
    """Index the original for the search."""
    sizes = domain.sizes
    free = np.arange(len(sizes))
    if options.columns is not None:
        free = np.array(sorted({domain.position(c) for c in options.columns}), np.int64)
        if not len(free):
            raise InputError("no column is to be synthesised", hint="name some columns")
    # A stream of its own: what is stirred changes no other draw.
    rng = np.random.default_rng([options.seed, 6])
    stirred = stir(codes, sizes, free, domain.ordered, options.least, rng)
    target = build_target(codes, sizes, components, stirred.numbers)
    if options.noise_floor:
        fresh = raised(
            floor.objectives[: len(components)],
            codes,
            sizes,
            components,
            free,
            domain.ordered,
            options.least if stirred.exchanges else 0,
            rng,
        )
        target = target._replace(floor=floors_that_bind(fresh, components))
    if scenario.key is None or scenario.target is None:
        risk = no_risk(codes, sizes)
    else:
        risk = build_risk(
            exact.codes, exact.sizes, scenario.key, scenario.target, exact.shades
        )
    rules = build_rules(list(options.rules), domain, codes)
    return Problem(stirred.records, sizes, target, risk, rules, free)


def make_front(
    problem: Problem,
    exact: Exact,
    components: tuple[Component, ...],
    scenario: Scenario,
    options: Synthesiser,
    floor: Floor,
) -> Front:
    """Set what the candidates of a front aim at."""
    # A stream of its own: what a front needs to know changes no other draw.
    rng = np.random.default_rng([options.seed, 2])
    return Front(
        base_goal(scenario, options),
        deep(components),
        options.noise_floor,
        scenario.risks,
        FRESH_SHARE * floor.risks,
        bootstrap_risks(exact.codes, problem.risk, rng),
    )


def ranked(
    engine: Engine,
    scenario: Scenario,
    options: Synthesiser,
    closer: Mapping[int, bool],
) -> Ints:
    """Return the slots to keep, the best first.

    A candidate within the user's limits is better than one outside them. Of a front
    those that are not `closer` than a fresh sample come first.
    """
    population, alive = engine.population, engine.alive
    risks = population.risks[alive]
    if options.mode == "pareto":
        share = base_goal(scenario, options).share
        points = np.column_stack([population.groups[alive], risks @ share])
        return alive[two_fronts(points, np.array([closer[int(s)] for s in alive]))]
    outside = np.zeros(len(alive), bool)
    for r in scenario.hard:
        outside |= risks[:, r] > scenario.limits[r] + 1e-12
    order = np.lexsort((engine.costs(), outside))
    return alive[order[: max(1, options.copies)]]


def _risks(
    population: Population, slot: int, exact: Exact, scenario: Scenario
) -> NDArray[np.float64]:
    """Return the risks of a candidate as an evaluation of its file finds them.

    The search adds and takes away; an evaluation adds up. Their sums differ in the
    last digit, and there should be one figure.
    """
    if scenario.key is None or scenario.target is None:
        return population.risks[slot].copy()
    made = exact_of(population.codes[slot], exact)
    first, second = (
        from_codes(
            codes,
            key=scenario.key,
            target=scenario.target,
            levels=(exact.sizes + 1).tolist(),
        )
        for codes in (exact.codes, made)
    )
    figures = risk_figures(first, second)
    return np.array([figures[name] for name in RISKS])


def _measure(
    engine: Engine, codes: Codes, slots: Ints, components: tuple[Component, ...]
) -> None:
    """Set the distances of some slots: from the original, not from what was stirred."""
    population = engine.population
    sizes = population.problem.sizes
    for slot in map(int, slots):
        population.groups[slot] = distances(
            codes, population.codes[slot], sizes, components
        )


def _full_distance(engine: Engine, slot: int, codes: Codes) -> float:
    """Return the distance of a candidate's full table."""
    population = engine.population
    sizes = population.problem.sizes
    return float(distances(codes, population.codes[slot], sizes, (_FULL,))[0])


def _criteria(options: Synthesiser) -> tuple[Any, ...]:
    out: list[Any] = []
    if options.patience is not None:
        out.append(Patience(options.patience))
    if options.stop_utility is not None:
        out.append(TradeOff(options.stop_utility))
    return tuple(out)
