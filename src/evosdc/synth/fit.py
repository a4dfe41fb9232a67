"""Evolve copies of a table: prepare, search, choose, limit matches, measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evosdc.arrays import Long, Real
from evosdc.compile.clock import Clock
from evosdc.evolution.stopping import Criterion, Progress
from evosdc.metrics.attribution import risk_figures
from evosdc.metrics.data import from_codes
from evosdc.parallel import Workers
from evosdc.synth.data.derived import Derived
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.exact_values import ExactCodes, to_exact
from evosdc.synth.data.impossible import Impossible
from evosdc.synth.dependence import Dependence, find_dependence
from evosdc.synth.moments import find_moments
from evosdc.synth.notes import front_notes, logic_notes, notes
from evosdc.synth.objective.covariances import find_covariances
from evosdc.synth.objective.front import two_fronts
from evosdc.synth.objective.risk import RISKS
from evosdc.synth.objective.risk_limits import RiskLimits, base_goal, baselines
from evosdc.synth.objective.split_halves import closer_than, distances
from evosdc.synth.objective.tables import Component
from evosdc.synth.options import Options
from evosdc.synth.prepare import FULL, Prepared, make_goals, prepare
from evosdc.synth.search.engines import initial_model, make_engine, population_size
from evosdc.synth.search.limit_record_matches import RecordMatchLimiter
from evosdc.synth.search.population import Team
from evosdc.synth.search.run import EvolutionEngine, EvolutionRun, Generation
from evosdc.synth.small_groups import SmallGroups, describe
from evosdc.synth.values import RankModel, UniqueRecords, ValueModel


@dataclass(frozen=True)
class FrontPoint:
    """One candidate of a Pareto front; `number` is what `sample` takes.

    `closer_than_fresh` says that its full table is nearer to the original's than that
    of a fresh sample of the same population would be: it repeats people, not
    structure. It is None where no front was asked for.
    """

    number: int
    utility: float
    risks: Mapping[str, float]
    distances: Mapping[str, float]
    closer_than_fresh: bool | None = None


@dataclass(frozen=True, eq=False)
class Results:
    """What users see of a run; see `Synthesiser.fit`."""

    domain: Domain
    objective: str
    utility: dict[str, float]
    risk: dict[str, float]
    risk_limits: dict[str, float]
    risk_met: bool
    floor: dict[str, float]
    fresh_risk: dict[str, float]
    baseline: dict[str, float]
    derived: tuple[Derived, ...]
    impossible: tuple[Impossible, ...]
    record: tuple[Generation, ...]
    reason: str
    hurried: bool
    generations: int
    seconds: float
    front: tuple[FrontPoint, ...]
    small_groups: SmallGroups
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a run leaves behind; `first` is the first copy as it is written."""

    candidates: list[Codes]
    values: ValueModel
    first: pa.Table
    results: Results


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
    """Evolve synthetic copies of a table; the time limit holds for the search.

    Candidates are improved by threads or, where there are any, by `workers`.
    """
    with Clock(options.schedule.seconds) as clock:
        rng = np.random.default_rng([options.seed, 0])
        options.say("looking at columns")
        prepared = prepare(table, options, rng)
        run = search(prepared, options, rng, threads, clock, workers)
        options.say("measuring risks")
        engine = run.engine
        if options.trade_off.front:
            closer = closer_slots(prepared, engine)
            order = front_order(engine, prepared.limits, options, closer)
        else:
            closer = {}
            order = best_order(engine, prepared.limits, options.copies)
            if options.trade_off.noise_floor:
                limit_matches(prepared, engine, order, options.seed, clock)
            _measure(engine, prepared, order)
        candidates = [engine.population.codes[int(s)].copy() for s in order]
        values = value_model(table, prepared, options)
    options.say("drawing values")
    rng = np.random.default_rng([options.seed, 1, 0])
    first = values.records(candidates[0], rng, whole=True)
    results = _results(table, prepared, run, order, closer, options, candidates, first)
    return Fitted(candidates, values, first, results)


def search(
    prepared: Prepared,
    options: Options,
    rng: np.random.Generator,
    threads: int,
    clock: Clock,
    workers: Workers | None = None,
) -> EvolutionRun:
    """Make generations until there is a reason to stop."""
    schedule, problem = options.schedule, prepared.problem
    front = options.trade_off.front
    size = population_size(problem, schedule, front=front, copies=options.copies)
    by_clock = problem.objective is not None and schedule.by_clock
    resumed = None if options.keeper is None else options.keeper.stored
    options.say("drawing first candidates" if resumed is None else "taking up a run")
    criteria: list[Criterion] = []
    if schedule.patience is not None:
        criteria.append(Patience(schedule.patience))
    if schedule.stop_utility is not None:
        criteria.append(UtilityReached(schedule.stop_utility))
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
            tuple(criteria),
            options.listener,
            clock=clock,
            keeper=options.keeper,
        )
        options.say("searching")
        run.go()
    if resumed is not None:
        clock.count(float(resumed["spent"]))
    return run


def closer_slots(prepared: Prepared, engine: EvolutionEngine) -> dict[int, bool]:
    """Say which candidates of a front are closer than a fresh sample would be."""
    codes, sizes = prepared.codes, prepared.domain.sizes
    _measure(engine, prepared, engine.alive)
    fresh = float(prepared.floor.objectives[prepared.measured.index(FULL)])
    made = {slot: engine.population.codes[slot] for slot in map(int, engine.alive)}
    found = {s: distances(codes, m, sizes, (FULL,))[0] for s, m in made.items()}
    return {slot: closer_than(float(d), fresh) for slot, d in found.items()}


def front_order(
    engine: EvolutionEngine,
    limits: RiskLimits,
    options: Options,
    closer: Mapping[int, bool],
) -> Long:
    """Return the slots of a front, those not `closer` than a fresh sample first."""
    population, alive = engine.population, engine.alive
    share = base_goal(limits, options.trade_off).share
    points = np.column_stack(
        [population.groups[alive], population.risks[alive] @ share]
    )
    return alive[two_fronts(points, np.array([closer[int(s)] for s in alive]))]


def best_order(engine: EvolutionEngine, limits: RiskLimits, copies: int) -> Long:
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


def limit_matches(
    prepared: Prepared, engine: EvolutionEngine, slots: Long, seed: int, clock: Clock
) -> None:
    """Change candidates that match more records than a fresh sample would."""
    limiter = RecordMatchLimiter(
        prepared.table, prepared.domain, prepared.problem, prepared.limits.roles, seed
    )
    changed = []
    for slot in map(int, slots):
        made = engine.population.codes[slot]
        held = limiter.limit(made, clock.left)
        if held is not made:
            engine.population.put(slot, held)
            changed.append(slot)
    if changed:
        engine.lower_risks(np.array(changed, np.int64))


def _measure(engine: EvolutionEngine, prepared: Prepared, slots: Long) -> None:
    """Set the distances of some slots: from the original, not from what is aimed at."""
    population = engine.population
    for slot in map(int, slots):
        found = distances(
            prepared.codes,
            population.codes[slot],
            prepared.domain.sizes,
            prepared.components,
        )
        population.groups[slot] = 0.0
        population.groups[slot, : len(found)] = found


def value_model(table: pa.Table, prepared: Prepared, options: Options) -> ValueModel:
    """Return what turns codes into records of a table."""
    domain, codes, roles = prepared.domain, prepared.codes, prepared.limits.roles
    rng = np.random.default_rng([options.seed, 9])
    ranks = RankModel(domain, prepared.table, codes, roles, rng)
    moments = {}
    if options.coding.moments:
        moments = find_moments(domain, prepared.table, ranks.columns)
    uniques = None
    if options.trade_off.noise_floor and options.columns is None:
        rng = np.random.default_rng([options.seed, 10])
        uniques = UniqueRecords.of(prepared.table, rng)
    new = [i.name for i in prepared.identifiers if i.action == "new"]
    return ValueModel(
        domain,
        options.seed,
        roles,
        ranks,
        moments,
        _dependence(prepared, options),
        uniques,
        prepared.derived,
        {name: table[name] for name in new},
        table.column_names,
    )


def _dependence(prepared: Prepared, options: Options) -> Dependence | None:
    """Return what numbers of a single answer have to do with each other."""
    objective = prepared.problem.objective
    if objective is None or not options.coding.moments:
        return None
    domain, table, codes = prepared.domain, prepared.table, prepared.codes
    terms = objective.covariances
    if not len(terms.wanted):
        terms = find_covariances(domain, table, codes, options.coding.categories)
    return find_dependence(domain, table, codes, terms)


def _results(
    table: pa.Table,
    prepared: Prepared,
    run: EvolutionRun,
    order: Long,
    closer: Mapping[int, bool],
    options: Options,
    candidates: list[Codes],
    first: pa.Table,
) -> Results:
    """Say what the chosen candidates are worth, the best first."""
    domain, limits = prepared.domain, prepared.limits
    population = run.engine.population
    risks = [
        _risks(population.risks[slot], codes, prepared.exact, limits)
        for slot, codes in zip(order, candidates, strict=True)
    ]
    # Of a front the user takes what he likes; of copies each has to meet the limits.
    bound = risks[:1] if options.trade_off.front else risks
    met = all(
        risk[r] <= limit + 1e-12
        for risk in bound
        for r, limit in limits.binding.items()
    )
    near = distances(prepared.codes, candidates[0], domain.sizes, prepared.measured)
    names = [c.name for c in prepared.components]
    points = []
    for k, (slot, risk) in enumerate(zip(order, risks, strict=True)):
        found = population.groups[slot, : len(names)]
        utility = float(np.sqrt((found**2).mean()))
        by_name = dict(zip(names, map(float, found), strict=True))
        shown = dict(zip(RISKS, map(float, risk), strict=True))
        points.append(FrontPoint(k, utility, shown, by_name, closer.get(int(slot))))
    small_groups = describe(
        table,
        first,
        domain,
        options.coding.least,
        prepared.identifiers,
        (prepared.codes, candidates[0]),
        [n for n in domain.names if n not in (options.columns or domain.names)],
    )
    return Results(
        domain=domain,
        objective=prepared.objective,
        utility=_named(prepared.measured, near),
        risk=_by_risk(risks[0], limits),
        risk_limits={RISKS[r]: limit for r, limit in limits.binding.items()},
        risk_met=met,
        floor=_named(prepared.measured, prepared.floor.objectives),
        fresh_risk=_by_risk(prepared.floor.risks, limits),
        baseline=baselines(prepared.exact.codes, limits.key, limits.target),
        derived=tuple(prepared.derived),
        impossible=tuple(prepared.impossible),
        record=tuple(run.record),
        reason=run.reason,
        hurried=run.hurried,
        generations=run.record[-1].generation,
        seconds=run.record[-1].seconds,
        front=tuple(points),
        small_groups=small_groups,
        notes=(
            *small_groups.sentences(),
            *logic_notes(prepared.derived, prepared.impossible),
            *notes(prepared, met, run),
            *front_notes([bool(point.closer_than_fresh) for point in points]),
        ),
    )


def _named(components: tuple[Component, ...], values: Real) -> dict[str, float]:
    """Return distances by name, as far as they were measured."""
    return {c.name: float(v) for c, v in zip(components, values, strict=False)}


def _by_risk(values: Real, limits: RiskLimits) -> dict[str, float]:
    """Return risks by name; none where there is no scenario."""
    if limits.key is None:
        return {}
    return dict(zip(RISKS, map(float, values), strict=True))


def _risks(found: Real, codes: Codes, exact: ExactCodes, limits: RiskLimits) -> Real:
    """Return the risks of a candidate as an evaluation of its file finds them.

    The search adds and takes away; an evaluation adds up. Their sums differ in the
    last digit, and there should be one figure.
    """
    if limits.key is None or limits.target is None:
        return found.copy()
    levels = (exact.sizes + 1).tolist()
    original, made = (
        from_codes(values, key=limits.key, target=limits.target, levels=levels)
        for values in (exact.codes, to_exact(codes, exact))
    )
    figures = risk_figures(original, made)
    return np.array([figures[name] for name in RISKS])
