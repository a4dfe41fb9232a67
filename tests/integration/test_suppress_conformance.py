"""Every method on shared small tables: the judge has the last word."""

from __future__ import annotations

import numpy as np
import pytest

from builders import run_method, unlabelled
from evosdc.attack import judge
from evosdc.errors import EvosdcError, ProtectionFailed
from evosdc.evolution.stopping import AnyOf, EvaluationLimit, TimeLimit
from evosdc.instances import make
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import load_methods
from evosdc.suppress.run.search import Search
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
    "one tree": make("random", seed=6, shape=(11, 5), trees=1),
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


TABLES["unlabelled"] = unlabelled(TABLES["two dimensions"])
TABLES["unlabelled, hierarchical"] = unlabelled(TABLES["hierarchical, three"])
TABLES["unlabelled, linked"] = unlabelled(TABLES["linked trees"])


def taken(kind: str) -> list[str]:
    """Methods that take a table; the others must say why not."""
    problem = Problem.of(TABLES[kind])
    names = []
    for name in METHODS:
        reason = load_methods()[name].takes(problem)
        if reason is None:
            names.append(name)
        else:
            assert len(reason) > 10, f"{name} refuses {kind} without a reason"
    return names


# Enough for every phase of a method, and an end for those that go on to a proof.
SOME = AnyOf((EvaluationLimit(60), TimeLimit(3.0)))
# Where a method finds nothing and says so, as its source says that it may.
FAILURES = {("hypercube-2d", "linked"), ("hypercube-2d", "tiny")}
# The same code as order-ga with other defaults: a few tables will do.
VARIANTS = {
    *(f"order-ga-{operator}" for operator in ("swap", "insert", "invert")),
    *(f"ls-{operator}" for operator in ("swap", "insert", "invert")),
}
FEW = ("two dimensions", "hierarchical, three", "sliding", "no primaries")
PAIRS = [
    (name, kind)
    for kind in TABLES
    for name in taken(kind)
    if name not in VARIANTS or kind in FEW
]


def protected(
    name: str, problem: Problem, search: Search | None = None
) -> Pattern | None:
    """Run a method; None where it fails loudly and may."""
    method = load_methods()[name]
    try:
        return run_method(name, problem, search or Search(seed=3, stop=SOME))
    except ProtectionFailed as failure:
        names = [problem.table.label(int(c)) for c in problem.table.primaries]
        if method.may_fail and any(name in str(failure) for name in names):
            return None
        raise


def assert_protects(table: Table, pattern: Pattern, strict: bool = False) -> None:
    problem = Problem.of(table, strict=strict)
    assert not (pattern.hidden & ~problem.hideable).any()
    assert pattern.hidden[table.primaries].all()
    assert pattern.cost == pytest.approx(float(problem.cost[pattern.hidden].sum()))
    verdict, _ = judge(table.with_pattern(pattern.hidden), strict=strict)
    assert verdict.safe, [e.label for e in verdict.exposed]


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_protects(name: str, kind: str) -> None:
    strict = kind == "strict"
    table = TABLES[kind]
    search = Search(seed=3, stop=SOME)
    pattern = protected(name, Problem.of(table, strict=strict), search)
    assert (pattern is None) == ((name, kind) in FAILURES)
    if pattern is None:
        return
    assert_protects(table, pattern, strict)
    assert search.best is not None
    assert search.best.cost == pattern.cost


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for kind in ("two dimensions", "hierarchical, three", "linked")
        for name in taken(kind)
    ],
)
def test_out_of_time_at_once_is_still_safe(name: str, kind: str) -> None:
    table = TABLES[kind]
    pattern = protected(name, Problem.of(table), Search(stop=TimeLimit(0.0)))
    assert (pattern is None) == ((name, kind) in FAILURES)
    if pattern is not None:
        assert_protects(table, pattern)


@pytest.mark.parametrize("name", taken("two dimensions"))
def test_same_seed_same_pattern(name: str) -> None:
    table = TABLES["two dimensions"]
    first, second = (
        protected(name, Problem.of(table), Search(seed=5, stop=EvaluationLimit(50)))
        for _ in range(2)
    )
    assert first is not None
    assert second is not None
    assert np.array_equal(first.hidden, second.hidden)


@pytest.mark.parametrize("name", taken("no primaries"))
def test_no_primaries_cost_nothing(name: str) -> None:
    pattern = protected(name, Problem.of(TABLES["no primaries"]))
    assert pattern is not None
    assert not pattern.hidden.any()
    assert pattern.cost == 0.0


@pytest.mark.parametrize("name", taken("two dimensions"))
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
        run_method(name, table, Search(seed=3))
    assert table.label(inner) in str(caught.value)
    assert str(table.value[inner]) not in str(caught.value)
