"""The studies at the Office for National Statistics, run again."""

from __future__ import annotations

import time
from functools import partial

from benchmarks.experiments.experiment import Experiment
from benchmarks.experiments.ons_elements import ELEMENTS
from benchmarks.experiments.ons_page import write_ons
from benchmarks.experiments.ons_published import AS_PUBLISHED, SIX
from benchmarks.experiments.ons_rows import LARGE_FAMILIES
from benchmarks.experiments.run import COLUMNS, Instance
from benchmarks.experiments.store import Row
from evosdc.attack import judge
from evosdc.errors import InputError
from evosdc.instances import make
from evosdc.instances.published import OFFICE
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.unpick import unpick
from evosdc.table import Table, detect_network
from evosdc.table.status import FIXED

# The published order by falling weight, before anything is cleaned up.
REFERENCE = "order-by-weight"
_COPIES = {"A": 5, "B": 5, "C": 5, "D": 5, "E": 5, "F": 5, "G": 2}
_FACTS = (
    "cells",
    "equations",
    "zeros",
    "primaries",
    "unpicked",
    "narrow",
    "unpick_seconds",
    "exposed",
)


def instance(family: str, number: int) -> Instance:
    """Make table `number` of a family: A to G, H1 to H6, or large-1 to large-14."""
    if family in LARGE_FAMILIES:
        line = LARGE_FAMILIES.index(family) + 1
        return Instance(family, number, partial(make, "large", number, table=line))
    if family in OFFICE:
        return Instance(family, number, partial(make, "ons", number, table=family))
    raise InputError(
        f"there is no family {family!r} in this experiment",
        expected=f"{', '.join(OFFICE)}, or {LARGE_FAMILIES[0]} to {LARGE_FAMILIES[-1]}",
        hint="for example: --families A,B,large-1",
    )


def describe(table: Table) -> Row:
    """Say what a table is like before anything is done to it.

    `unpicked` counts sensitive cells that unpicking finds (K_u), `narrow` those that
    bounds rule out besides, `exposed` those that the judge finds exposed (K); the last
    only where the table is a network and the judge is quick.
    """
    problem = Problem.of(table, strict=True)
    before = time.process_time()
    found = unpick(problem)
    seconds = time.process_time() - before
    exposed = None
    if detect_network(table.matrix) is not None:
        exposed = len(judge(table, strict=True)[0].exposed)
    return {
        "cells": len(table),
        "equations": int(table.matrix.shape[0]),
        "zeros": round(float((table.status == FIXED).mean()), 4),
        "primaries": len(table.primaries),
        "unpicked": int(found.follows.sum()),
        "narrow": int(found.narrow.sum()),
        "unpick_seconds": round(seconds, 4),
        "exposed": exposed,
    }


EXPERIMENT = Experiment(
    name="ons",
    title="Orders of protection on ONS-like and large tables",
    about=(
        "The study of Smith, Clark, Staggemeier and Serpell (2011) with the methods of "
        "Staggemeier et al. (2007): thirty ONS-like tables (A to F), G, the "
        "hierarchical shapes H1 to H6, and fourteen large three-way tables. The tables "
        "of the source are not public: these have their shapes, shares of zeros and "
        "numbers of sensitive cells, so costs compare within a table only. Values of A "
        "to F and of the large tables are sums of contributions -1/log r by Poisson "
        "numbers of contributors, as the source describes its generator. Protection "
        "levels must be exceeded, as the Office reads them: in G to H6 many sensitive "
        "cells are so small that their levels are 0."
    ),
    families=(*OFFICE, *LARGE_FAMILIES),
    methods=(
        "order-ga",
        "order-ga+ruin=0",
        "order-ga-swap",
        "order-ga-insert",
        "order-ga-invert",
        "ls-swap",
        "ls-insert",
        "ls-invert",
        "grasp",
        "ants",
        "greedy",
        "descent",
        "hyper",
        "hitas",
        "hypercube",
        "marginal",
        "optimal",
        "attacker",
        "ls-rebuild",
        "hybrid",
        *(name + AS_PUBLISHED for _, name in SIX),
        *ELEMENTS.values(),
    ),
    instance=instance,
    reference=REFERENCE,
    with_reference=True,
    tables=5,
    copies=dict.fromkeys((*OFFICE, *LARGE_FAMILIES), 1) | _COPIES,
    strict=True,
    columns=(*COLUMNS, "cells", "primaries", "secondaries", "judge_seconds"),
    facts=(_FACTS, describe),
    samples=(partial(make, "random", 1, shape=(4, 4, 3), trees=1),),
    write=write_ons,
)

# For smoke tests: one small table of each kind that is quick to judge.
QUICK = {"tables": 1, "families": ("A", "B"), "time_limit": 2.0}
