"""The last resort: hide the totals above every sensitive cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from evosdc.suppress.engine.finish import cover_and_finish
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.hide_totals import hide_totals
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.search import Search


@dataclass(frozen=True)
class MarginalParameters:
    """No options."""


def run(problem: Problem, _: MarginalParameters, search: Search) -> Pattern:
    """Hide totals; where they are fixed or too small, ask the attacker's program."""
    state = GeneralEngine(problem).start()
    totals = partial(hide_totals, state.table.programs)
    failed = state.cover_by(totals, stopped=search.stopped)
    if failed:
        search.note(f"totals do not cover {failed} levels: asking programs")
    return cover_and_finish(state, search, "totals hidden")


METHOD = Method(
    name="marginal",
    summary="hides the totals above sensitive cells; protects whatever can be",
    tables="any",
    source="tau-Argus, as compared by Smith et al. 2011",
    parameters=MarginalParameters,
    contracts=False,
    run=run,
)
