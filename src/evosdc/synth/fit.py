"""Evolve copies of a table: prepare, search, choose, hold back, measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.compile.clock import Clock
from evosdc.evolution.stopping import Criterion, Progress
from evosdc.metrics.data import from_codes
from evosdc.metrics.figures import risk_figures
from evosdc.parallel import Workers
from evosdc.synth.apart import LonePeople, lone_people
from evosdc.synth.data.derived import Derived
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes, Ints
from evosdc.synth.data.identifiers import Identifier
from evosdc.synth.data.impossible import Impossible
from evosdc.synth.data.shades import Exact, exact_of
from evosdc.synth.dependence import Dependence, find_dependence
from evosdc.synth.moments import Moments, find_moments
from evosdc.synth.notes import front_notes, logic_notes, notes
from evosdc.synth.objective.covariances import find_covariances
from evosdc.synth.objective.front import two_fronts
from evosdc.synth.objective.names import describe
from evosdc.synth.objective.noise import closer_than, distances
from evosdc.synth.objective.risk import RISKS
from evosdc.synth.objective.scenario import RiskLimits, base_goal, baselines
from evosdc.synth.objective.tables import Component
from evosdc.synth.options import Options
from evosdc.synth.prepare import FULL, Prepared, make_goals, prepare
from evosdc.synth.ranks import RankModel
from evosdc.synth.search.engines import initial_model, make_engine, population_size
from evosdc.synth.search.holding import Holder
from evosdc.synth.search.population import Team
from evosdc.synth.search.run import EvolutionEngine, EvolutionRun, Generation
from evosdc.synth.search.schedule import Schedule
from evosdc.synth.small_groups import PairCount, count_pairs

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Score:
    """What a candidate is worth: distances as one and one by one, and four risks.

    `closer` says whether its full table is nearer to the original's than a fresh
    sample's would be; None outside the Pareto mode.
    """

    utility: float
    distances: dict[str, float]
    risks: Floats
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
    derived: list[Derived]
    impossible: list[Impossible]
    ranks: RankModel
    moments: dict[int, Moments]
    dependence: Dependence | None
    lone: LonePeople | None


@dataclass(frozen=True)
class UtilityReached:
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


def fit(
    table: pa.Table, options: Options, threads: int, workers: Workers | None = None
) -> Fitted:
    """Evolve synthetic copies of a table; the time limit holds for all of it.

    Candidates are improved by threads or, where there are any, by `workers`.
    """
    with Clock(options.schedule.seconds) as clock:
        rng = np.random.default_rng([options.seed, 0])
        options.say("looking at columns")
        prepared = prepare(table, options, rng)
        run = search(prepared, options, rng, threads, clock, workers)
        options.say("measuring risks")
        if options.trade_off.front:
            closer = closer_slots(prepared, run.engine)
            order = front_order(run.engine, prepared.limits, options, closer)
        else:
            closer = {}
            order = best_order(run.engine, prepared.limits, options.copies)
            if options.trade_off.noise_floor:
                hold_back(prepared, run.engine, order, options.seed, clock)
            _measure(run.engine, prepared.codes, order, prepared.components)
        return described(prepared, run, order, closer, options)


def search(
    prepared: Prepared,
    options: Options,
    rng: np.random.Generator,
    threads: int,
    clock: Clock,
    workers: Workers | None = None,
) -> EvolutionRun:
    """Make generations until there is a reason to stop."""
    schedule, front = options.schedule, options.trade_off.front
    problem = prepared.problem
    size = population_size(problem, schedule, front=front, copies=options.copies)
    by_clock = problem.aim is not None and schedule.by_clock
    resumed = None if options.keeper is None else options.keeper.stored
    options.say("drawing first candidates" if resumed is None else "taking up a run")
    with Team(threads, workers) as team:
        engine = make_engine(
            problem,
            make_goals(prepared, options, size),
            schedule,
            options.operators,
            initial_model(problem, schedule, prepared.domain),
            rng,
            team,
            front=front,
            drawn=resumed is None,
        )
        run = EvolutionRun(
            engine,
            None if by_clock else schedule.most_generations,
            schedule.seconds,
            _criteria(schedule),
            options.listener,
            clock=clock,
            keeper=options.keeper,
        )
        options.say("searching")
        run.go()
    if resumed is not None:
        clock.count(float(resumed["spent"]))
    return run


def _criteria(schedule: Schedule) -> tuple[Criterion, ...]:
    out: list[Criterion] = []
    if schedule.patience is not None:
        out.append(Patience(schedule.patience))
    if schedule.stop_utility is not None:
        out.append(UtilityReached(schedule.stop_utility))
    return tuple(out)


def closer_slots(prepared: Prepared, engine: EvolutionEngine) -> dict[int, bool]:
    """Say which candidates of a front are closer than a fresh sample would be."""
    codes, alive = prepared.codes, engine.alive
    _measure(engine, codes, alive, prepared.components)
    fresh = float(prepared.floor.objectives[prepared.measured.index(FULL)])
    made, sizes = engine.population.codes, prepared.domain.sizes
    return {
        slot: closer_than(float(distances(codes, made[slot], sizes, (FULL,))[0]), fresh)
        for slot in map(int, alive)
    }


def front_order(
    engine: EvolutionEngine,
    limits: RiskLimits,
    options: Options,
    closer: Mapping[int, bool],
) -> Ints:
    """Return the slots of a front, those not `closer` than a fresh sample first."""
    population, alive = engine.population, engine.alive
    share = base_goal(limits, options.trade_off).share
    points = np.column_stack(
        [population.groups[alive], population.risks[alive] @ share]
    )
    return alive[two_fronts(points, np.array([closer[int(s)] for s in alive]))]


def best_order(engine: EvolutionEngine, limits: RiskLimits, copies: int) -> Ints:
    """Return the slots to keep, the best first.

    A candidate within the user's limits is better than one outside them.
    """
    alive = engine.alive
    risks = engine.population.risks[alive]
    outside = np.zeros(len(alive), bool)
    for r in limits.hard:
        outside |= risks[:, r] > limits.limits[r] + 1e-12
    order = np.lexsort((engine.costs(), outside))
    return alive[order[: max(1, copies)]]


def hold_back(
    prepared: Prepared, engine: EvolutionEngine, slots: Ints, seed: int, clock: Clock
) -> None:
    """Take candidates back that come closer to records than a fresh sample would."""
    population = engine.population
    holder = Holder(
        prepared.table, prepared.domain, prepared.problem, prepared.limits.roles, seed
    )
    back = []
    for slot in map(int, slots):
        made = population.codes[slot]
        held = holder.hold(made, clock.left)
        if held is not made:
            population.put(slot, held)
            back.append(slot)
    if back:
        engine.mend(np.array(back, np.int64))


def _measure(
    engine: EvolutionEngine,
    codes: Codes,
    slots: Ints,
    components: tuple[Component, ...],
) -> None:
    """Set the distances of some slots: from the original, not from what was stirred."""
    population = engine.population
    sizes = population.problem.sizes
    for slot in map(int, slots):
        found = distances(codes, population.codes[slot], sizes, components)
        population.groups[slot] = 0.0
        population.groups[slot, : len(found)] = found


def described(
    prepared: Prepared,
    run: EvolutionRun,
    order: Ints,
    closer: Mapping[int, bool],
    options: Options,
) -> Fitted:
    """Say what the chosen candidates are worth, the best first."""
    domain, codes, limits = prepared.domain, prepared.codes, prepared.limits
    population = run.engine.population
    made = [population.codes[int(s)].copy() for s in order]
    risks = [
        _risks(population.risks[slot], copy, prepared.exact, limits)
        for slot, copy in zip(order, made, strict=True)
    ]
    names = [describe(c) for c in prepared.components]
    # Of a front the user takes what he likes; of copies each has to meet the limits.
    bound = risks[:1] if options.trade_off.front else risks
    met = all(
        risk[r] <= limit + 1e-12
        for risk in bound
        for r, limit in limits.binding.items()
    )
    near = distances(codes, made[0], domain.sizes, prepared.measured)
    ranks = RankModel(
        domain,
        prepared.table,
        codes,
        limits.roles,
        np.random.default_rng([options.seed, 9]),
    )
    return Fitted(
        domain=domain,
        objective=prepared.objective,
        candidates=made,
        scores=[
            Score(
                float(np.sqrt((population.groups[slot, : len(names)] ** 2).mean())),
                dict(zip(names, map(float, population.groups[slot]), strict=False)),
                risk,
                closer.get(int(slot)),
            )
            for slot, risk in zip(order, risks, strict=True)
        ],
        utility=_named(prepared.measured, near),
        risk=_by_risk(risks[0], limits),
        limits={RISKS[r]: limit for r, limit in limits.binding.items()},
        met=met,
        floor=_named(prepared.measured, prepared.floor.objectives),
        fresh_risk=_by_risk(prepared.floor.risks, limits),
        baseline=baselines(prepared.exact.codes, limits.key, limits.target),
        record=run.record,
        reason=run.reason,
        hurried=run.hurried,
        seconds=run.record[-1].seconds,
        notes=logic_notes(prepared.derived, prepared.impossible)
        + notes(domain, prepared.unruly, prepared.problem, limits, met, run)
        + front_notes([bool(closer.get(int(s))) for s in order]),
        roles=[domain.names[j] for j in limits.roles],
        identifiers=prepared.identifiers,
        pairs=count_pairs(codes, made[0], domain, options.coding.least),
        derived=prepared.derived,
        impossible=prepared.impossible,
        ranks=ranks,
        moments=find_moments(domain, prepared.table, ranks.columns)
        if options.coding.moments
        else {},
        dependence=_dependence(prepared, options),
        lone=lone_people(prepared.table, np.random.default_rng([options.seed, 10]))
        if options.trade_off.noise_floor and options.columns is None
        else None,
    )


def _dependence(prepared: Prepared, options: Options) -> Dependence | None:
    """Return what numbers of a single answer have to do with each other."""
    if prepared.problem.aim is None or not options.coding.moments:
        return None
    domain, table, codes = prepared.domain, prepared.table, prepared.codes
    terms = prepared.problem.aim.covariances
    if not len(terms.wanted):
        terms = find_covariances(domain, table, codes, options.coding.categories)
    return find_dependence(domain, table, codes, terms)


def _named(components: tuple[Component, ...], values: Floats) -> dict[str, float]:
    """Return distances by name, as far as they were measured."""
    return {
        describe(c): float(value) for c, value in zip(components, values, strict=False)
    }


def _by_risk(values: Floats, limits: RiskLimits) -> dict[str, float]:
    """Return risks by name; none where there is no scenario."""
    if limits.key is None:
        return {}
    return dict(zip(RISKS, map(float, values), strict=True))


def _risks(found: Floats, codes: Codes, exact: Exact, limits: RiskLimits) -> Floats:
    """Return the risks of a candidate as an evaluation of its file finds them.

    The search adds and takes away; an evaluation adds up. Their sums differ in the
    last digit, and there should be one figure.
    """
    if limits.key is None or limits.target is None:
        return found.copy()
    first, second = (
        from_codes(
            values,
            key=limits.key,
            target=limits.target,
            levels=(exact.sizes + 1).tolist(),
        )
        for values in (exact.codes, exact_of(codes, exact))
    )
    figures = risk_figures(first, second)
    return np.array([figures[name] for name in RISKS])
