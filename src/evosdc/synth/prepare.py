"""From a table and options to what a search needs: codes, floors, limits, indices."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from evosdc.arrays import Long
from evosdc.errors import InputError
from evosdc.synth.data.derived import Derived, find_derived, given_columns
from evosdc.synth.data.domain import Domain, make_domain
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.exact_values import ExactCodes, exact_values
from evosdc.synth.data.identifiers import Identifier, find_identifiers
from evosdc.synth.data.impossible import Impossible, learn_rules, sharp_cuts
from evosdc.synth.data.rules import Cells, broken, build_rules, cut_points
from evosdc.synth.data.variable import check_column
from evosdc.synth.objective.cost import CandidateGoal
from evosdc.synth.objective.covariances import NONE, find_covariances
from evosdc.synth.objective.front import Front
from evosdc.synth.objective.objective import Objective
from evosdc.synth.objective.options import parse_objective
from evosdc.synth.objective.resampled_target import resample_records
from evosdc.synth.objective.risk import build_risk, no_risk
from evosdc.synth.objective.risk_limits import (
    FRESH_SHARE,
    RiskLimits,
    base_goal,
    make_limits,
    positions,
)
from evosdc.synth.objective.sample_uniques import SampleUniques
from evosdc.synth.objective.split_halves import (
    Floor,
    bootstrap_risks,
    deep,
    floor_of_swapped,
    floors_that_bind,
    fresh_match_share,
    noise_floor,
)
from evosdc.synth.objective.swapped_pairs import SwappedPairs, swap_small_cells
from evosdc.synth.objective.table_selection import with_measured_tables
from evosdc.synth.objective.tables import JSD, Component, build_target
from evosdc.synth.options import Options
from evosdc.synth.search.population import SynthesisProblem

FULL = Component(JSD, 0)
_ALWAYS_MEASURED = (Component(JSD, 1), Component(JSD, 2), FULL)


@dataclass(eq=False)
class Prepared:
    """A table ready for the search.

    Attributes
    ----------
    table
        The original without columns that are left out or replaced by fresh ones.
    codes, exact
        The original by levels, and by the exact values of key and target.
    unruly
        How many records of the original break a rule of the user's.
    learnt
        The forbidden cells of the `impossible` combinations.
    objective, asked, components
        What is minimised, as users write it and part by part; the components have
        tables to be measured by where those of the search are chosen.
    measured
        The distances of the result: the components and those that everybody asks for.
    floor
        What a fresh sample of the same population would score.
    problem
        All of it, indexed for the search.
    """

    table: pa.Table
    identifiers: list[Identifier]
    derived: list[Derived]
    learnt: list[Cells]
    impossible: list[Impossible]
    domain: Domain
    codes: Codes
    unruly: int
    exact: ExactCodes
    objective: str
    asked: tuple[Component, ...]
    components: tuple[Component, ...]
    measured: tuple[Component, ...]
    floor: Floor
    limits: RiskLimits
    problem: SynthesisProblem = field(init=False)


def prepare(table: pa.Table, options: Options, rng: np.random.Generator) -> Prepared:
    """Encode a table, find what chance alone would show, and index it."""
    coding, trade_off, seed = options.coding, options.trade_off, options.seed
    memetic = options.schedule.memetic
    for name in (*coding.exclude, *coding.categories):
        check_column(name, table.column_names)
    table = table.drop_columns(list(coding.exclude))
    wishes = dict(coding.identifiers or {})
    wishes = {n: wish for n, wish in wishes.items() if n not in coding.exclude}
    identifiers = find_identifiers(table, coding.least, wishes, options.named)
    table = table.drop_columns([i.name for i in identifiers if i.action != "keep"])
    derived = _derived(table, options)
    table = table.drop_columns([d.name for d in derived])
    domain = make_domain(table, coding, _cuts(table, options))
    codes = domain.encode(table)
    learnt: list[Cells] = []
    impossible: list[Impossible] = []
    if options.logic.learn_rules and memetic:
        options.say("learning rules")
        # What few people have is shown by nobody, also where it is nearly impossible.
        few = coding.least if options.columns is None else 1
        learnt, impossible = learn_rules(domain, codes, options.logic.possible, few)
    objective = trade_off.resolved(memetic)
    asked = parse_objective(objective)
    single = _single(options, asked)
    components = with_measured_tables(asked, domain.sizes, len(codes), seed)
    measured = components + tuple(c for c in _ALWAYS_MEASURED if c not in components)
    key, target = positions(domain, options.scenario)
    exact = exact_values(table, domain, codes, key, target, seed)
    options.say("finding what chance alone would show")
    floor = noise_floor(
        codes,
        domain.sizes,
        measured if trade_off.front or single else components,
        key,
        target,
        rng,
        exact,
        expected=single,
    )
    limits = make_limits(options.scenario, trade_off, key, target, floor, len(codes))
    unruly = int(broken(build_rules(list(options.rules), domain, codes), codes).sum())
    # Rules that nobody keeps are refused where records are drawn.
    if len(codes) < 2 * unruly < 2 * len(codes):
        raise InputError(
            f"the rules are broken by {unruly:,} of {len(codes):,} records",
            expected="rules that most records of the original keep",
            hint="--rule says what holds, rules in Python say what cannot be; for a "
            "copy of some people only, leave the others out of the file",
        )
    prepared = Prepared(
        table,
        identifiers,
        derived,
        learnt,
        impossible,
        domain,
        codes,
        unruly,
        exact,
        objective,
        asked,
        components,
        measured,
        floor,
        limits,
    )
    prepared.problem = make_problem(prepared, options)
    return prepared


def _single(options: Options, asked: tuple[Component, ...]) -> bool:
    """Whether a single answer is searched for by record moves and their own tables."""
    plain = all(c.kind == JSD for c in asked)
    return options.schedule.memetic and not options.trade_off.front and plain


def _derived(table: pa.Table, options: Options) -> list[Derived]:
    """Return the columns that are computed from others, given or found."""
    logic = options.logic
    given = given_columns(table, logic.derive)
    # The genetic algorithm is that of the thesis, which knows no logic.
    if not logic.find_derived or not options.schedule.memetic:
        return given
    kept = logic.not_derived | set(options.named)
    if options.columns is not None:
        kept |= set(table.column_names) - set(options.columns)
    return [*given, *find_derived(table, kept, given, options.coding.least)]


def _cuts(table: pa.Table, options: Options) -> dict[str, list[float]]:
    """Return by column where bins are cut: at what rules compare, and at sharp ends."""
    out = cut_points(list(options.rules))
    if options.logic.learn_rules and options.schedule.memetic:
        for name, cuts in sharp_cuts(table).items():
            out[name] = [*out.get(name, []), *cuts]
    return out


def make_problem(prepared: Prepared, options: Options) -> SynthesisProblem:
    """Index the original for the search."""
    domain, codes, exact = prepared.domain, prepared.codes, prepared.exact
    sizes, min_group, limits = domain.sizes, options.coding.least, prepared.limits
    free = _free_columns(domain, options)
    # A stream of its own: what is swapped changes no other draw.
    rng = np.random.default_rng([options.seed, 6])
    swapped = swap_small_cells(codes, sizes, free, domain.ordered, min_group, rng)
    rules = build_rules(list(options.rules), domain, codes, prepared.learnt)
    if limits.key is None or limits.target is None:
        risk = no_risk(codes, sizes)
    else:
        roles = limits.key, limits.target
        risk = build_risk(exact.codes, exact.sizes, *roles, exact.values)
    if _single(options, prepared.asked):
        objective = _objective(prepared, swapped, options)
        records, target = swapped.records, objective.target({})
        return SynthesisProblem(records, sizes, target, risk, rules, free, objective)
    target = build_target(codes, sizes, prepared.asked, swapped.numbers)
    if options.trade_off.noise_floor:
        fresh = floor_of_swapped(
            prepared.floor.objectives[: len(prepared.asked)],
            codes,
            sizes,
            prepared.asked,
            free,
            domain.ordered,
            min_group if swapped.exchanges else 0,
            rng,
        )
        target = target._replace(floor=floors_that_bind(fresh, prepared.asked))
    return SynthesisProblem(swapped.records, sizes, target, risk, rules, free)


def _objective(
    prepared: Prepared, swapped: SwappedPairs, options: Options
) -> Objective:
    """Return the objective of a single answer."""
    domain, codes, sizes = prepared.domain, prepared.codes, prepared.domain.sizes
    noise, matches, resampled, uniques = options.trade_off.noise_floor, None, None, None
    if noise and options.columns is None:
        # Streams of their own: what is looked for changes no other draw.
        rng = np.random.default_rng([options.seed, 7])
        matches = FRESH_SHARE * fresh_match_share(codes, sizes, rng)
        rng = np.random.default_rng([options.seed, 14])
        resampled = resample_records(codes, sizes, domain.ordered, rng)
        binned = np.array([v.edges is not None for v in domain.variables])
        uniques = SampleUniques(codes, sizes, binned, options.seed)
    covariances = NONE
    if options.coding.moments and noise:
        # Without a floor tables are followed to the end: all covariances are right.
        without = options.coding.categories
        covariances = find_covariances(domain, prepared.table, codes, without)
    return Objective(
        codes,
        sizes,
        swapped,
        prepared.asked,
        prepared.floor.objectives[: len(prepared.asked)],
        options.coding.least,
        noise,
        matches,
        covariances,
        resampled,
        uniques,
    )


def _free_columns(domain: Domain, options: Options) -> Long:
    """Return the positions of the columns that are synthesised."""
    if options.columns is None:
        return np.arange(len(domain.variables))
    free = np.array(sorted({domain.position(c) for c in options.columns}), np.int64)
    if not len(free):
        raise InputError("no column is to be synthesised", hint="name some columns")
    return free


def make_goals(prepared: Prepared, options: Options, size: int) -> list[CandidateGoal]:
    """Return what each of so many candidates aims at."""
    goal = base_goal(prepared.limits, options.trade_off)
    objective = prepared.problem.objective
    if objective is not None:
        return [goal._replace(mix=np.ones(objective.groups))] * size
    if not (options.trade_off.front and options.schedule.memetic):
        return [goal] * size
    # A stream of its own: what a front needs to know changes no other draw.
    rng = np.random.default_rng([options.seed, 2])
    front = Front(
        goal,
        deep(prepared.components),
        options.trade_off.noise_floor,
        prepared.limits.risks,
        FRESH_SHARE * prepared.floor.risks,
        bootstrap_risks(prepared.exact.codes, prepared.problem.risk, rng),
    )
    return front.goals(size)
