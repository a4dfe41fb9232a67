"""What the user should know of a run, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evosdc.synth.data.derived import Derived
from evosdc.synth.data.impossible import Impossible
from evosdc.synth.objective.tables import JSD
from evosdc.synth.prepare import Prepared
from evosdc.synth.search.population import SynthesisProblem
from evosdc.synth.search.run import EvolutionRun

_MANY_LEVELS = 1000
_MAX_PAIRS_NAMED = 5
# The full table alone is a bad aim where a larger share of records is alone in it.
_MAX_UNIQUE_SHARE = 0.5


def notes(prepared: Prepared, met: bool, run: EvolutionRun) -> list[str]:
    """Say in plain words what the user should know."""
    out, variables = [], prepared.domain.variables
    flat = [v.name for v in variables if v.size == 1]
    if flat:
        out.append("constant columns are copied: " + ", ".join(flat))
    many = [v.name for v in variables if v.size > _MANY_LEVELS]
    if many:
        out.append(
            f"columns with more than {_MANY_LEVELS:,} levels are hard to synthesise: "
            f"{', '.join(many)}; leave out identifiers, bin numbers or pool rare levels"
        )
    if _sparse_full(prepared.problem):
        out.append(
            "the full table has hardly a cell with two records: jsd:full alone rewards "
            "repeated records, not structure; add jsd:2 (jsd:2+jsd:full)"
        )
    if prepared.unruly:
        out.append(
            f"{prepared.unruly} records of the original break a rule; no synthetic one "
            "does"
        )
    if not met:
        out.append("a risk limit is not met; see risk_ and risk_limits_")
    if prepared.limits.key is None:
        out.append(
            "no key and target were given: the search limited no disclosure risk"
        )
    if run.generations is None:
        out.append(
            "the run followed the clock: another one may differ; moves or generations "
            "make it repeatable"
        )
    elif run.hurried:
        out.append("the time limit cut the run short; another run may differ")
    return out


def logic_notes(
    derived: Sequence[Derived], impossible: Sequence[Impossible]
) -> list[str]:
    """Say which columns are computed, and what no record has."""
    out = [d.text() for d in derived]
    if impossible:
        cells = sum(i.cells for i in impossible)
        most = sorted(impossible, key=lambda i: -i.expected)[:_MAX_PAIRS_NAMED]
        named = "; ".join(i.text() for i in most)
        out.append(
            f"{cells:,} impossible combinations of {len(impossible)} pairs of columns "
            f"were learnt, and no record has one: {named}"
            + ("; ..." if len(impossible) > _MAX_PAIRS_NAMED else "")
        )
    return out


def front_notes(closer: list[bool]) -> list[str]:
    """Say which points of a front are closer than a fresh sample."""
    near = [str(k) for k, close in enumerate(closer) if close]
    if not near:
        return []
    return [
        f"points {', '.join(near)} of the front are closer to the original than a "
        "fresh sample would be: they repeat people, not structure, whatever their risk "
        "figures"
    ]


def _sparse_full(problem: SynthesisProblem) -> bool:
    """Whether the full table is the only aim and most records are alone in it."""
    target, variables = problem.target, problem.original.shape[1]
    compared = np.flatnonzero(target.kind == JSD)
    alone = int((target.original == 1).sum())
    return (
        len(compared) == 1
        and int(target.cells.order[compared[0]]) == variables > 2
        and alone > _MAX_UNIQUE_SHARE * len(problem.original)
    )
