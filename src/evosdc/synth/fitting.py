"""From parameters and a table to evolved candidates and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.evolution.pareto import non_dominated
from evosdc.evolution.stopping import Progress
from evosdc.synth.anneal import Goal
from evosdc.synth.domain import Coding, Domain, make_domain
from evosdc.synth.encoding import Codes, Ints
from evosdc.synth.engines import make_engine
from evosdc.synth.noise import Floor, distances, floors_that_bind, noise_floor
from evosdc.synth.objective import describe, parse_objective, parse_risks
from evosdc.synth.population import Problem, Team
from evosdc.synth.risk import RISKS, build_risk, no_risk
from evosdc.synth.rules import broken, build_rules, cut_points
from evosdc.synth.run import Engine, Generation, Run
from evosdc.synth.tables import JSD, Component, build_target

if TYPE_CHECKING:
    from evosdc.synth.synthesiser import Synthesiser

# A limit the user sets weighs more than any distance; one we suggest weighs so much
# that a tenth of the risk is worth a hundredth of distance.
_HARD, _SOFT = 2.0, 0.1
_FRESH_SHARE = 0.5
_MANY_LEVELS = 1000
# The full table alone is a bad aim when so many of its cells hold a single record.
_SPARSE = 0.5
_ALWAYS = (Component(JSD, 1), Component(JSD, 2), Component(JSD, 0))


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a run leaves behind."""

    domain: Domain
    candidates: list[Codes]
    scores: list[tuple[float, NDArray[np.float64]]]
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


@dataclass(frozen=True)
class Scenario:
    """Who attacks what, and how much of it is allowed.

    `hard` are the limits that the user set; the others are suggested.
    """

    key: tuple[int, ...] | None
    target: int | None
    risks: tuple[int, ...]
    limits: dict[int, float]
    hard: frozenset[int]

    @property
    def judged(self) -> dict[int, float]:
        """The limits a run has to meet: the user's, else the suggested ones."""
        if not self.hard:
            return self.limits
        return {r: limit for r, limit in self.limits.items() if r in self.hard}


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
    """Evolve synthetic copies of a table."""
    rules = list(options.rules)
    coding = Coding(
        options.bins,
        options.binning,
        options.restore,
        options.most_levels,
        options.pool,
        cut_points(rules),
    )
    domain = make_domain(table, coding)
    codes = domain.encode(table)
    components = parse_objective(options.objective)
    rng = np.random.default_rng([options.seed, 0])
    key, target = attack(domain, options.key, options.target)
    floor = noise_floor(codes, domain.sizes, components, key, target, rng)
    scenario = make_scenario(options, key, target, floor, len(codes))
    problem = make_problem(domain, codes, components, scenario, options, floor)
    goal = base_goal(scenario, options)
    with Team(workers) as team:
        engine, generations = make_engine(problem, goal, options, domain, rng, team)
        run = Run(
            engine,
            generations,
            options.time_limit,
            _criteria(options),
            options.listener,
        )
        run.go()
    order = ranked(engine, scenario, options)
    best = int(order[0])
    population = engine.population
    risk = dict(zip(RISKS, map(float, population.risks[best]), strict=True))
    judged = scenario.judged
    met = all(population.risks[best][r] <= v + 1e-12 for r, v in judged.items())
    names = [describe(c) for c in components]
    measured = components + tuple(c for c in _ALWAYS if c not in components)
    return Fitted(
        domain,
        [population.codes[int(s)].copy() for s in order],
        [
            (float(population.utility(np.array([s]))[0]), population.risks[s].copy())
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
        risk if key is not None else {},
        {RISKS[r]: limit for r, limit in judged.items()},
        met,
        dict(zip(names, map(float, floor.objectives), strict=True)),
        dict(zip(RISKS, map(float, floor.risks), strict=True))
        if key is not None
        else {},
        baselines(codes, key, target),
        run.record,
        run.reason,
        run.hurried,
        run.record[-1].seconds,
        notes(domain, codes, problem, scenario, met, run),
    )


def attack(
    domain: Domain, key: Any, target: str | None
) -> tuple[tuple[int, ...] | None, int | None]:
    """Return the positions of key and target, or None where none are given."""
    if key is None and target is None:
        return None, None
    if target is None:
        raise InputError(
            "a key is given without a target",
            hint="name the column an attacker wants to learn as target",
        )
    at = domain.position(target)
    if key is None:
        names = [n for n in domain.names if n != target]
    else:
        names = key.split(",") if isinstance(key, str) else list(key)
    members = tuple(domain.position(n) for n in names)
    if at in members:
        raise InputError(
            f"the key includes the target {target!r}",
            expected="a target that the attacker does not know",
        )
    if not members or len(set(members)) < len(members):
        raise InputError(
            "the key is empty or names a column twice",
            expected="one or more different columns",
        )
    return members, at


def make_scenario(
    options: Synthesiser,
    key: tuple[int, ...] | None,
    target: int | None,
    floor: Floor,
    records: int,
) -> Scenario:
    """Set the limits: the user's, else half of what a fresh sample would show."""
    risks = parse_risks(
        options.risk if isinstance(options.risk, str) else list(options.risk)
    )
    given = options.risk_limit
    if key is None:
        if given is not None:
            raise InputError(
                "a risk limit is given without key and target",
                hint="name what an attacker knows (key) and wants to learn (target)",
            )
        return Scenario(None, None, (), {}, frozenset())
    if not risks:
        raise InputError("no risk is named", expected=", ".join(RISKS))
    limits: dict[int, float] = {}
    if isinstance(given, Mapping):
        limits = {parse_risks(n)[0]: float(v) for n, v in given.items()}
    elif given is not None:
        limits = {risks[0]: float(given)}
    for r, limit in limits.items():
        if not 0.0 <= limit <= 1.0:
            raise InputError(
                f"the limit of {RISKS[r]} is {limit}", expected="a share from 0 to 1"
            )
    hard = frozenset(limits)
    if options.mode == "constraint":
        for r in risks:
            limits.setdefault(
                r, max(_FRESH_SHARE * float(floor.risks[r]), 1.0 / records)
            )
    return Scenario(key, target, risks, limits, hard)


def make_problem(
    domain: Domain,
    codes: Codes,
    components: tuple[Component, ...],
    scenario: Scenario,
    options: Synthesiser,
    floor: Floor,
) -> Problem:
    """Index the original for the search."""
    sizes = domain.sizes
    target = build_target(codes, sizes, components)
    if options.noise_floor:
        target = target._replace(floor=floors_that_bind(floor.objectives, components))
    if scenario.key is None or scenario.target is None:
        risk = no_risk(codes, sizes)
    else:
        risk = build_risk(codes, sizes, scenario.key, scenario.target)
    free = np.arange(len(sizes))
    if options.columns is not None:
        free = np.array(sorted({domain.position(c) for c in options.columns}), np.int64)
        if not len(free):
            raise InputError("no column is to be synthesised", hint="name some columns")
    rules = build_rules(list(options.rules), domain, codes)
    return Problem(codes, sizes, target, risk, rules, free)


def base_goal(scenario: Scenario, options: Synthesiser) -> Goal:
    """Return the cost that the mode asks for."""
    share = np.zeros(4)
    share[list(scenario.risks)] = 1.0 / max(1, len(scenario.risks))
    limit = np.full(4, np.inf)
    penalty = np.zeros(4)
    for r, value in scenario.limits.items():
        limit[r] = value
        penalty[r] = _HARD if r in scenario.hard else _SOFT
    weighted = options.mode == "weighted" and bool(scenario.risks)
    weight = float(options.risk_weight) if weighted else 0.0
    scale = 1.0 / np.sqrt(1.0 + weight * weight) if weighted else 1.0
    return Goal(weighted, scale, weight * scale, share, limit, penalty)


def ranked(engine: Engine, scenario: Scenario, options: Synthesiser) -> Ints:
    """Return the slots to keep, the best first.

    A candidate within the user's limits is better than one outside them.
    """
    population, alive = engine.population, engine.alive
    risks = population.risks[alive]
    utility = population.utility(alive)
    if options.mode == "pareto":
        share = base_goal(scenario, options).share
        front = non_dominated(np.column_stack([utility, risks @ share]))
        _, first = np.unique(utility[front], return_index=True)
        return alive[front[first]]
    outside = np.zeros(len(alive), bool)
    for r in scenario.hard:
        outside |= risks[:, r] > scenario.limits[r] + 1e-12
    order = np.lexsort((engine.costs(), outside))
    return alive[order[: max(1, options.copies)]]


def baselines(
    codes: Codes, key: tuple[int, ...] | None, target: int | None
) -> dict[str, float]:
    """Return what guessing from the target's distribution alone would score."""
    if key is None or target is None:
        return {}
    _, inverse, count = np.unique(
        codes[:, list(key)], axis=0, return_inverse=True, return_counts=True
    )
    share = np.bincount(codes[:, target]) / len(codes)
    mine = share[codes[:, target]]
    unique = count[inverse.ravel()] == 1
    return {
        "dcap": float(mine.mean()),
        "dcap-u": float(mine[unique].mean()) if unique.any() else 0.0,
    }


def notes(
    domain: Domain,
    codes: Codes,
    problem: Problem,
    scenario: Scenario,
    met: bool,
    run: Run,
) -> list[str]:
    """Say in plain words what the user should know."""
    out = []
    flat = [v.name for v in domain.variables if v.size == 1]
    if flat:
        out.append("constant columns are copied: " + ", ".join(flat))
    many = [v.name for v in domain.variables if v.size > _MANY_LEVELS]
    if many:
        out.append(
            f"columns with more than {_MANY_LEVELS:,} levels are hard to synthesise: "
            f"{', '.join(many)}; leave out identifiers, bin numbers or pool rare levels"
        )
    if _sparse_full(problem):
        out.append(
            "the full table has hardly a cell with two records: jsd:full alone rewards "
            "repeated records, not structure; add jsd:2 (jsd:2+jsd:full)"
        )
    bad = int(broken(problem.rules, codes).sum())
    if bad:
        out.append(f"{bad} records of the original break a rule; no synthetic one does")
    if not met:
        out.append("a risk limit is not met; see risk_ and risk_limits_")
    if scenario.key is None:
        out.append("no key and target were given: no disclosure risk was measured")
    if run.hurried:
        out.append("the time limit cut the run short; another run may differ")
    return out


def _sparse_full(problem: Problem) -> bool:
    """Whether the full table is the only aim and most records are alone in it."""
    cells, variables = problem.target.cells, problem.original.shape[1]
    alone = int((problem.target.original == 1).sum())
    return (
        len(cells.order) == 1
        and int(cells.order[0]) == variables > 2
        and alone > _SPARSE * len(problem.original)
    )


def _criteria(options: Synthesiser) -> tuple[Any, ...]:
    out: list[Any] = []
    if options.patience is not None:
        out.append(Patience(options.patience))
    if options.stop_utility is not None:
        out.append(TradeOff(options.stop_utility))
    return tuple(out)
