"""Every method on shared small tables: the judge has the last word.

Each method runs once on each table, and that run says all there is to say: the pattern
is safe, it costs what it used to, and another process that interprets the kernels finds
the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import every_method
from builders import run_method
from every_method import INTERPRETED, PAIRS, TABLES, answer, taken
from evosdc.attack import judge
from evosdc.errors import EvosdcError
from evosdc.evolution.stopping import TimeLimit
from evosdc.instances import make
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search
from golden.method_costs import GOLDEN, assert_stored

# Where a method finds nothing and says so, as its source says that it may.
FAILURES = {("hypercube-2d", kind) for kind in ("linked", "tiny", "two, class II")}


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    """What another process finds, which interprets kernels and compiles none."""
    folder = tmp_path_factory.mktemp("kernels")
    done = subprocess.run(
        [sys.executable, every_method.__file__],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.rglob("*.nbc")) == []
    found: dict[str, list[object]] = json.loads(done.stdout)
    return found


def assert_protects(kind: str, pattern: Pattern) -> None:
    problem, table, strict = (
        every_method.problem_of(kind),
        TABLES[kind],
        kind == "strict",
    )
    assert not (pattern.hidden & ~problem.hideable).any()
    assert pattern.hidden[table.primaries].all()
    assert pattern.cost == pytest.approx(float(problem.cost[pattern.hidden].sum()))
    verdict, _ = judge(table.with_pattern(pattern.hidden), strict=strict)
    assert verdict.safe, [e.label for e in verdict.exposed]


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_protects(name: str, kind: str, request: pytest.FixtureRequest) -> None:
    found = answer(name, kind)
    pattern = found.pattern
    assert (pattern is None) == ((name, kind) in FAILURES)
    if pattern is not None:
        assert_protects(kind, pattern)
        assert found.search.best is not None
        assert found.search.best.cost == pattern.cost
        if kind == "no primaries":
            assert not pattern.hidden.any()
            assert pattern.cost == 0.0
    if kind in GOLDEN:
        assert_stored(name, kind, None if pattern is None else pattern.cost)
    if kind in INTERPRETED:
        elsewhere = request.getfixturevalue("elsewhere")
        assert found.summary() == elsewhere[f"{name} on {kind}"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for kind in ("two dimensions", "hierarchical, three", "linked")
        for name in taken(kind)
    ],
)
def test_out_of_time_at_once_is_still_safe(name: str, kind: str) -> None:
    pattern = answer(name, kind, Search(stop=TimeLimit(0.0))).pattern
    assert (pattern is None) == ((name, kind) in FAILURES)
    if pattern is not None:
        assert_protects(kind, pattern)


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
        run_method(name, Problem.of(table), Search(seed=3))
    assert table.label(inner) in str(caught.value)
    assert str(table.value[inner]) not in str(caught.value)
