"""Ant colonies: patterns built along trails that good patterns leave behind.

Dorigo, Maniezzo & Colorni (1996); used for cell suppression by Thompson at the ONS
(Staggemeier et al.) in two models. In the direct one the trail lies on cells: an ant
draws each cell to hide from the candidates of an equation by trail and visibility, one
over the score of the greedy rule. In the indirect one it lies on which sensitive cell
stands where in the order and on which greedy rule then builds the pattern.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.options import option
from evosdc.suppress.papers.relaxed_check import RelaxedArrays
from evosdc.suppress.papers.relaxed_moves import RULES
from evosdc.suppress.papers.relaxed_search import RelaxedOptions, RelaxedSearch
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method
from evosdc.suppress.run.search import Search

# A trail never falls below this share of its start, so that no cell is lost for good.
# At half of it colonies converge sooner, at twice of it they go on trying other cells.
_LEAST_TRAIL = 0.05
# Parts of the order whose places share a trail. With half of them less can be learnt of
# an order, with twice as many each is learnt from half as many ants.
_ORDER_PARTS = 10


@dataclass(frozen=True)
class AntsParameters(RelaxedOptions):
    """Options of the ant colonies; the document gives no figures.

    Attributes
    ----------
    model
        direct (trail on cells) or indirect (trail on the order and the rule).
    ants
        Patterns per cycle.
    cycles
        Cycles in all.
    evaporation
        Share of the trail that is lost in a cycle.
    trail_weight, visibility_weight
        How much trail and visibility count in a draw.
    candidates
        Cells of an equation an ant looks at.
    rule
        The greedy rule behind visibility: cheapest, per-unit, largest or ahead.
    descent
        Descend from the best pattern of each cycle.
    """

    model: str = option("direct", known=("direct", "indirect"))
    ants: int = option(10, least=1)
    cycles: int = option(10, least=1)
    evaporation: float = option(0.1, least=0, most=1)
    trail_weight: float = option(1.0, least=0)
    visibility_weight: float = option(2.0, least=0)
    candidates: int = option(5, least=1)
    rule: str = option("ahead", known=RULES)
    descent: bool = True


class DirectColony:
    """Trail on cells."""

    def __init__(self, relaxed: RelaxedSearch, parameters: AntsParameters) -> None:
        self._relaxed, self._options = relaxed, parameters
        self._trail = np.ones(len(relaxed.problem.table))

    def walk(self, rng: np.random.Generator) -> tuple[RelaxedArrays, Long]:
        """Build a pattern; what the trail is laid on comes with it."""
        options = self._options
        choice = self._relaxed.choice(
            options.rule,
            options.candidates,
            rng=rng,
            alpha=options.trail_weight,
            beta=options.visibility_weight,
            trail=self._trail,
        )
        live = self._relaxed.build(choice, rng.permutation(self._relaxed.by_weight))
        return live, np.empty(0, dtype=np.int64)

    def learn(self, safe: Pattern, _: Long, worth: float) -> None:
        """Let the trail evaporate and lay more on the cells of a pattern."""
        _evaporate(self._trail, self._options.evaporation)
        self._trail[safe.hidden] += worth


class IndirectColony:
    """Trail on the place of each sensitive cell in the order, and on the rule."""

    def __init__(self, relaxed: RelaxedSearch, parameters: AntsParameters) -> None:
        self._relaxed, self._options = relaxed, parameters
        self._places = np.ones((len(relaxed.by_weight), _ORDER_PARTS))
        self._rules = np.ones(len(RULES))

    def walk(self, rng: np.random.Generator) -> tuple[RelaxedArrays, Long]:
        """Draw an order and a rule and build the pattern they give."""
        options, relaxed = self._options, self._relaxed
        chance = self._rules**options.trail_weight
        rule = int(rng.choice(len(RULES), p=chance / chance.sum()))
        count = len(relaxed.by_weight)
        trail = self._places**options.trail_weight
        # Visibility favours the order by weight, which attacker programs go by.
        usual = np.arange(count) * _ORDER_PARTS // max(1, count)
        far = np.abs(np.arange(_ORDER_PARTS)[None, :] - usual[:, None])
        chances = np.cumsum(trail / (1.0 + far) ** options.visibility_weight, axis=1)
        drawn = rng.random(count) * chances[:, -1]
        band = (drawn[:, None] >= chances).sum(axis=1)
        order = np.lexsort((rng.random(count), band))
        live = relaxed.build(relaxed.choice(RULES[rule]), relaxed.by_weight[order])
        return live, np.append(band, rule)

    def learn(self, _: Pattern, walked: Long, worth: float) -> None:
        """Let the trails evaporate and lay more on an order and a rule."""
        _evaporate(self._places, self._options.evaporation)
        _evaporate(self._rules, self._options.evaporation)
        self._places[np.arange(len(walked) - 1), walked[:-1]] += worth
        self._rules[walked[-1]] += worth


def _evaporate(trail: Real, share: float) -> None:
    np.maximum(trail * (1 - share), _LEAST_TRAIL, out=trail)


def run_ants(problem: Problem, parameters: AntsParameters, search: Search) -> Pattern:
    """Let ants build patterns; the best one of each cycle lays the trail."""
    relaxed = RelaxedSearch(problem, search, parameters.check)
    greedy = relaxed.choice(parameters.rule)
    least = relaxed.repair(relaxed.build(greedy).hidden, "greedy").cost
    colony = (DirectColony if parameters.model == "direct" else IndirectColony)(
        relaxed, parameters
    )
    for cycle in range(parameters.cycles):
        best: tuple[RelaxedArrays, Long] | None = None
        for ant in range(parameters.ants):
            if search.stopped() or relaxed.done:
                break
            live, walked = colony.walk(search.rng(1, cycle, ant))
            search.count()
            if best is None or live.total[0] < best[0].total[0]:
                best = (live, walked)
        if best is None:
            break
        live, walked = best
        if parameters.descent:
            relaxed.descend(live, greedy)
        search.generations += 1
        if not relaxed.repair.affordable():
            break
        safe = relaxed.repair(live.hidden, f"cycle {cycle + 1}")
        # Better than the best before lays more than one unit of trail.
        colony.learn(safe, walked, least / safe.cost if safe.cost > 0 else 1.0)
        least = min(least, safe.cost)
    return relaxed.answer()


METHOD = Method(
    name="ants",
    summary="ant colony with trails on cells, or on the order and the rule",
    source="Dorigo et al. 1996; Staggemeier et al., ant colonies of the ONS",
    parameters=AntsParameters,
    run=run_ants,
)
