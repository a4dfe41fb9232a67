"""Problems are freed when nobody uses them, with what was derived from them."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections.abc import Callable

import numpy as np
import pytest

from evosdc.instances import make
from evosdc.suppress.engine.base import WalkOptions
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.general.cuts import programs_of
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.methods.contracted import contraction_for
from evosdc.suppress.methods.islands import Guide, RemoteIsland, explore
from evosdc.suppress.methods.walking import Walk, WalkPlan
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Assignment, go_on


def contracted(problem: Problem) -> None:
    found = contraction_for(problem)
    assert found is not None
    assert contraction_for(problem) is found


def island(problem: Problem) -> None:
    guide = Guide(False, np.zeros(len(problem.cost)))
    explore(problem, Assignment(RemoteIsland, 4, 1, 1, 0, 60.0, (), guide=guide))


def companion(problem: Problem) -> None:
    state = engine_for(problem).start()
    state.cover()
    plan = WalkPlan(GeneralEngine, WalkOptions(2, 0.3, 4), 5, "rebuilt")
    go_on(problem, Assignment(Walk, plan, 3, 1, 0, 60.0, (state.pattern(),)))


def programs(problem: Problem) -> None:
    assert programs_of(problem) is programs_of(problem)


@pytest.mark.parametrize("use", [contracted, island, companion, programs])
def test_a_problem_is_freed_after_use(use: Callable[[Problem], None]) -> None:
    problem = Problem.of(make("random", 3, shape=(5, 4), zeros=0.5))
    use(problem)
    gone = weakref.ref(problem)
    # What is derived stays here: workers get the problem alone.
    assert "derived" not in pickle.loads(pickle.dumps(problem)).__dict__
    del problem
    gc.collect()
    assert gone() is None
