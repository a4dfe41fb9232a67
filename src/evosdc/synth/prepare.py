"""From a table and options to what a search needs: codes, floors, limits, indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evosdc.errors import InputError
from evosdc.synth.data.derived import Derived, find_derived, given_columns
from evosdc.synth.data.domain import Domain, make_domain
from evosdc.synth.data.encoding import Codes, Ints
from evosdc.synth.data.identifiers import Identifier, find_identifiers
from evosdc.synth.data.impossible import (
    Cells,
    Impossible,
    learn_rules,
    sharp_cuts,
)
from evosdc.synth.data.rules import broken, build_rules, cut_points
from evosdc.synth.data.shades import Exact, exact_values
from evosdc.synth.objective.aim import Aim
from evosdc.synth.objective.anew import draw_anew
from evosdc.synth.objective.choice import measurable
from evosdc.synth.objective.covariances import NONE, find_covariances
from evosdc.synth.objective.front import Front
from evosdc.synth.objective.goal import CandidateGoal
from evosdc.synth.objective.lone import Lone, fresh_matches
from evosdc.synth.objective.names import parse_objective
from evosdc.synth.objective.noise import (
    Floor,
    bootstrap_risks,
    deep,
    floors_that_bind,
    noise_floor,
)
from evosdc.synth.objective.pairs import Stirred, stir
from evosdc.synth.objective.risk import RiskIndex, build_risk, no_risk
from evosdc.synth.objective.scenario import (
    FRESH_SHARE,
    RiskLimits,
    base_goal,
    make_limits,
    positions,
)
from evosdc.synth.objective.stirred_floor import raised
from evosdc.synth.objective.tables import JSD, Component, build_target
from evosdc.synth.options import Options
from evosdc.synth.search.population import SynthesisProblem

FULL = Component(JSD, 0)
_ALWAYS = (Component(JSD, 1), Component(JSD, 2), FULL)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table ready for the search.

    Attributes
    ----------
    table
        The original without the columns that are left out or made anew.
    codes, exact
        The original by levels, and by the exact values of key and target.
    unruly
        How many records of the original break a rule of the user's.
    objective, components
        What is minimised, as users write it and part by part.
    measured
        The distances of the result: the components and those that everybody asks for.
    floor
        What a fresh sample of the same population would score.
    """

    table: pa.Table
    identifiers: list[Identifier]
    derived: list[Derived]
    impossible: list[Impossible]
    domain: Domain
    codes: Codes
    unruly: int
    exact: Exact
    objective: str
    components: tuple[Component, ...]
    measured: tuple[Component, ...]
    floor: Floor
    limits: RiskLimits
    problem: SynthesisProblem


def prepare(table: pa.Table, options: Options, rng: np.random.Generator) -> Prepared:
    """Encode a table, find what chance alone would show, and index it."""
    coding, trade_off, seed = options.coding, options.trade_off, options.seed
    memetic = options.schedule.memetic
    _known(table, [*coding.exclude, *coding.categories])
    table = table.drop_columns(list(coding.exclude))
    wishes = dict(coding.identifiers or {})
    for name in coding.exclude:
        wishes.pop(name, None)
    identifiers = find_identifiers(table, coding.least, wishes, options.named)
    table = table.drop_columns([i.name for i in identifiers if i.action != "keep"])
    derived = _derived(table, options)
    table = table.drop_columns([d.name for d in derived])
    domain = make_domain(table, coding, _cuts(table, options))
    codes = domain.encode(table)
    cells: list[Cells] = []
    impossible: list[Impossible] = []
    if options.logic.learn_rules and memetic:
        options.say("learning rules")
        # What few people have is shown by nobody, also where it is nearly impossible.
        few = coding.least if options.columns is None else 1
        cells, impossible = learn_rules(domain, codes, options.logic.possible, few)
    objective = trade_off.resolved(memetic)
    asked = parse_objective(objective)
    closing = memetic and not trade_off.front and all(c.kind == JSD for c in asked)
    components = measurable(asked, domain.sizes, len(codes), seed)
    measured = components + tuple(c for c in _ALWAYS if c not in components)
    key, target = positions(domain, options.scenario)
    exact = exact_values(table, domain, codes, key, target, seed)
    options.say("finding what chance alone would show")
    floor = noise_floor(
        codes,
        domain.sizes,
        measured if trade_off.front or closing else components,
        key,
        target,
        rng,
        exact,
        redrawn=closing,
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
    return Prepared(
        table,
        identifiers,
        derived,
        impossible,
        domain,
        codes,
        unruly,
        exact,
        objective,
        components,
        measured,
        floor,
        limits,
        make_problem(
            table, domain, codes, exact, asked, limits, options, floor, cells, closing
        ),
    )


def _known(table: pa.Table, names: Sequence[str]) -> None:
    """Refuse names of columns that are not there."""
    for name in names:
        if name not in table.column_names:
            raise InputError(
                f"unknown column {name!r}",
                expected="one of " + ", ".join(map(repr, table.column_names)),
            )


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


def make_problem(
    table: pa.Table,
    domain: Domain,
    codes: Codes,
    exact: Exact,
    components: tuple[Component, ...],
    limits: RiskLimits,
    options: Options,
    floor: Floor,
    learnt: list[Cells],
    closing: bool,
) -> SynthesisProblem:
    """Index the original for the search."""
    sizes, least = domain.sizes, options.coding.least
    free = _free_columns(domain, options)
    # A stream of its own: what is stirred changes no other draw.
    rng = np.random.default_rng([options.seed, 6])
    stirred = stir(codes, sizes, free, domain.ordered, least, rng)
    rules = build_rules(list(options.rules), domain, codes, learnt)
    risk = _risk_index(codes, sizes, exact, limits)
    if closing:
        aim = _aim(table, domain, codes, stirred, components, floor, options)
        records, target = stirred.records, aim.target({})
        return SynthesisProblem(records, sizes, target, risk, rules, free, aim)
    target = build_target(codes, sizes, components, stirred.numbers)
    if options.trade_off.noise_floor:
        fresh = raised(
            floor.objectives[: len(components)],
            codes,
            sizes,
            components,
            free,
            domain.ordered,
            least if stirred.exchanges else 0,
            rng,
        )
        target = target._replace(floor=floors_that_bind(fresh, components))
    return SynthesisProblem(stirred.records, sizes, target, risk, rules, free)


def _aim(
    table: pa.Table,
    domain: Domain,
    codes: Codes,
    stirred: Stirred,
    components: tuple[Component, ...],
    floor: Floor,
    options: Options,
) -> Aim:
    """Return what a single answer aims at."""
    noise, matches, sizes = options.trade_off.noise_floor, None, domain.sizes
    drawn = lone = None
    if noise and options.columns is None:
        # A stream of its own: what is looked for changes no other draw.
        rng = np.random.default_rng([options.seed, 7])
        matches = FRESH_SHARE * fresh_matches(codes, sizes, rng)
        rng = np.random.default_rng([options.seed, 14])
        drawn = draw_anew(codes, sizes, domain.ordered, rng)
        binned = np.array([v.edges is not None for v in domain.variables])
        lone = Lone(codes, sizes, binned, options.seed)
    return Aim(
        codes,
        sizes,
        stirred,
        components,
        floor.objectives[: len(components)],
        options.coding.least,
        noise,
        matches,
        # Tables that are followed to the end have all covariances right.
        find_covariances(domain, table, codes, options.coding.categories)
        if options.coding.moments and noise
        else NONE,
        drawn,
        lone,
    )


def _free_columns(domain: Domain, options: Options) -> Ints:
    """Return the positions of the columns that are synthesised."""
    if options.columns is None:
        return np.arange(len(domain.variables))
    free = np.array(sorted({domain.position(c) for c in options.columns}), np.int64)
    if not len(free):
        raise InputError("no column is to be synthesised", hint="name some columns")
    return free


def _risk_index(
    codes: Codes, sizes: Ints, exact: Exact, limits: RiskLimits
) -> RiskIndex:
    if limits.key is None or limits.target is None:
        return no_risk(codes, sizes)
    return build_risk(exact.codes, exact.sizes, limits.key, limits.target, exact.shades)


def make_goals(prepared: Prepared, options: Options, size: int) -> list[CandidateGoal]:
    """Return what each of so many candidates aims at."""
    goal = base_goal(prepared.limits, options.trade_off)
    aim = prepared.problem.aim
    if aim is not None:
        return [goal._replace(mix=np.ones(aim.groups))] * size
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
