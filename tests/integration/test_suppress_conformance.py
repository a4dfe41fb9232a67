"""Every method on shared small tables: the judge has the last word."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.attack import judge
from evosdc.errors import EvosdcError
from evosdc.evolution.stopping import EvaluationLimit, TimeLimit
from evosdc.instances import make
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import load_methods
from evosdc.suppress.search import Search
from evosdc.table import Table

METHODS = sorted(load_methods())

# Every level of these can be had with everything hidden.
TABLES: dict[str, Table] = {
    "two dimensions": make("random", seed=1, shape=(8, 7)),
    "two, class I": make("class1", seed=2, rows=12, columns=9),
    "three dimensions": make("random", seed=3, shape=(5, 4, 4)),
    "four dimensions": make("random", seed=4, shape=(3, 3, 2, 3)),
    "one dimension": make("random", seed=5, shape=(9,), margins=0.0),
    "hierarchical": make("random", seed=6, shape=(9, 6), trees=2),
    "hierarchical, three": make("random", seed=7, shape=(6, 4, 3), trees=1),
    "linked": make("random", seed=8, shape=(5, 4, 3), linked=True),
    "linked trees": make("random", seed=9, shape=(7, 5, 3), trees=1, linked=True),
    "frequency": make("frequency", seed=10, shape=(6, 5, 3)),
    "negative": make("random", seed=11, shape=(6, 6), values="negative"),
    "decimals": make("random", seed=12, shape=(6, 5), values="decimals"),
    "no primaries": make("random", seed=13, shape=(5, 4), sensitive=0.0, margins=0.0),
    "all primaries": make("random", seed=14, shape=(4, 4), sensitive=1.0, margins=1.0),
    "zeros and ties": make("random", seed=15, shape=(7, 6), values="ties", zeros=0.4),
    "tiny": make("random", seed=16, shape=(6, 5), values="tiny"),
    "huge": make("random", seed=17, shape=(6, 5), values="huge"),
    "huge, three": make("random", seed=17, shape=(4, 4, 3), values="huge"),
    "empty margins": make("random", seed=18, shape=(6, 5), empty=2),
    "disconnected": make("random", seed=19, shape=(4, 4), parts=3),
    "sliding": make("random", seed=20, shape=(6, 5), level=0.1, width=0.4),
    "tau bounds": make("random", seed=21, shape=(5, 4, 3), bounds="tau"),
    "strict": make("random", seed=22, shape=(6, 5), strict=True),
}


def bare(table: Table) -> Table:
    """Forget the labels, as a JJ file does."""
    return table.replace(dimensions=(), codes=np.empty((len(table), 0), np.int32))


TABLES["unlabelled"] = bare(TABLES["two dimensions"])
TABLES["unlabelled, hierarchical"] = bare(TABLES["hierarchical, three"])
TABLES["unlabelled, linked"] = bare(TABLES["linked trees"])


def run(name: str, problem: Problem, search: Search | None = None) -> Pattern:
    method = load_methods()[name]
    reason = method.takes(problem)
    if reason is not None:
        pytest.skip(f"{name} does not take it: {reason}")
    return method.run(problem, method.configure({}), search or Search(seed=3))


def assert_protects(table: Table, pattern: Pattern, strict: bool = False) -> None:
    problem = Problem.of(table, strict=strict)
    assert not (pattern.hidden & ~problem.hideable).any()
    assert pattern.hidden[table.primaries].all()
    assert pattern.cost == pytest.approx(float(problem.cost[pattern.hidden].sum()))
    verdict, _ = judge(table.with_pattern(pattern.hidden), strict=strict)
    assert verdict.safe, [e.label for e in verdict.exposed]


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", METHODS)
def test_protects(name: str, kind: str) -> None:
    strict = kind == "strict"
    table = TABLES[kind]
    search = Search(seed=3)
    pattern = run(name, Problem.of(table, strict=strict), search)
    assert_protects(table, pattern, strict)
    assert search.best is not None
    assert search.best.cost == pattern.cost


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", ["two dimensions", "hierarchical, three", "linked"])
def test_out_of_time_at_once_is_still_safe(name: str, kind: str) -> None:
    table = TABLES[kind]
    pattern = run(name, Problem.of(table), Search(stop=TimeLimit(0.0)))
    assert_protects(table, pattern)


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_pattern(name: str) -> None:
    table = TABLES["two dimensions"]
    first, second = (
        run(name, Problem.of(table), Search(seed=5, stop=EvaluationLimit(50)))
        for _ in range(2)
    )
    assert np.array_equal(first.hidden, second.hidden)


@pytest.mark.parametrize("name", METHODS)
def test_no_primaries_cost_nothing(name: str) -> None:
    pattern = run(name, Problem.of(TABLES["no primaries"]))
    assert not pattern.hidden.any()
    assert pattern.cost == 0.0


@pytest.mark.parametrize("name", METHODS)
def test_levels_out_of_reach_are_named(name: str) -> None:
    """The only way to move the sensitive cell leads over fixed cells."""
    table = make("random", seed=30, shape=(4, 3), sensitive=0.0, margins=0.0, zeros=0.0)
    inner = int(np.flatnonzero((table.codes > 0).all(axis=1))[0])
    row = table.codes[:, 0] == table.codes[inner, 0]
    status = np.where(row, "z", "s")
    status[inner] = "u"
    levels = np.zeros(len(table))
    levels[inner] = 1.0
    table = table.replace(status=status, upl=levels, lpl=levels)
    with pytest.raises(EvosdcError) as caught:
        run(name, Problem.of(table))
    assert table.label(inner) in str(caught.value)
    assert str(table.value[inner]) not in str(caught.value)
