"""What tests of several folders make: tables, problems, runs. One builder per idea."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import ArrayLike, NDArray

from evosdc.attack.certificate import witness_arrays
from evosdc.evolution.stopping import AnyOf, Progress, TimeLimit
from evosdc.instances import make
from evosdc.options.tables import KEYWORDS, VERBS
from evosdc.results import Certificate, TableVerdict
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search
from evosdc.synth.data.rules import RuleIndex, no_rules
from evosdc.synth.objective.options import parse_objective
from evosdc.synth.objective.risk import build_risk
from evosdc.synth.objective.tables import build_target
from evosdc.synth.search import population
from evosdc.table import Dimension, Hierarchy, Table, build_table

# A command with its words; exit code, stdout and stderr.
Command = Callable[..., tuple[int, str, str]]


def caller(
    name: str,
    program: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    """Return a function that calls a command line in this process."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", [name, *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            program()
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return call


def options_of(verb: str, **options: Any) -> dict[str, Any]:
    """Put options into the objects that a verb takes them in, each by its field."""
    takes, found = VERBS[verb], dict[str, Any]()
    fields: dict[str, dict[str, Any]] = {}
    for name, value in options.items():
        homes = [
            k for k, one in takes.items() if name in {o.name for o in one.options()}
        ]
        if homes and homes != [KEYWORDS]:
            fields.setdefault(homes[0], {})[name] = value
        else:
            found[name] = value
    return {k: takes[k].kind(**values) for k, values in fields.items()} | found


def examples(most: int) -> settings:
    """Settings of a property: so many examples under the profile "full".

    Other profiles run the share that their own number is of 100.
    """
    return settings(max_examples=max(3, most * settings().max_examples // 100))


def stopwatch() -> Callable[[], float]:
    """Return what tells the seconds of work since now.

    The lesser of time gone by and processor time: other work on the machine does not
    make it longer.
    """
    wall, own = time.perf_counter(), time.process_time()
    return lambda: min(time.perf_counter() - wall, time.process_time() - own)


def flat_table(
    dimensions: Mapping[str, Sequence[str]], values: ArrayLike, **columns: Any
) -> Table:
    """A table without sub-totals: the codes of each dimension, inner cells in order.

    `columns` are those of `build_table`, for inner cells as well; the totals follow.
    """
    dims = [Dimension(name, Hierarchy.flat(list(c))) for name, c in dimensions.items()]
    sizes = [len(codes) for codes in dimensions.values()]
    codes = np.indices(sizes).reshape(len(sizes), -1).T + 1
    return build_table(dims, codes, np.ravel(values), **columns)


def grid_of(values: NDArray[np.floating], names: str = "abc", **columns: Any) -> Table:
    """A flat table of as many dimensions as the values have: a0, a1, ... by b0, b1."""
    dims = {
        f"dim_{name}": [f"{name}{i}" for i in range(size)]
        for name, size in zip(names, values.shape, strict=False)
    }
    return flat_table(dims, values, **columns)


def unlabelled(table: Table) -> Table:
    """Forget the labels, as a JJ file does."""
    return table.replace(dimensions=(), codes=np.empty((len(table), 0), np.int32))


def run_method(
    name: str, table: Problem | Table, search: Search | None = None, **options: object
) -> Pattern:
    """Run a method of suppression by its name, to its end unless `search` stops it."""
    method = find_method(name)
    problem = Problem.of(table) if isinstance(table, Table) else table
    return method.run(problem, method.configure(options), search or Search())


class UntilHelped(Search):
    """A run that ends when another worker's pattern, a bound and a gain are there.

    Its limit of time is long: a busy machine is slow to start workers.
    """

    def __init__(self, seed: int, seconds: float = 120.0, **more: Any) -> None:
        self.helped = False
        super().__init__(seed, AnyOf((TimeLimit(seconds), _Helped(self))), **more)

    def offer(
        self, pattern: Pattern, event: str = "", diversity: float | None = None
    ) -> bool:
        self.helped |= event == "from another worker"
        return super().offer(pattern, event, diversity)


class UntilElsewhere(Search):
    """A run that ends when another worker has searched as well."""

    def __init__(self, seed: int, **more: Any) -> None:
        super().__init__(seed, AnyOf((TimeLimit(300.0), _Elsewhere(self))), **more)


@dataclass(frozen=True)
class _Elsewhere:
    run: Search

    def reason(self, _: Progress) -> str | None:
        return "helped" if self.run.elsewhere else None


class _Helped:
    def __init__(self, run: UntilHelped) -> None:
        self._run = run

    def reason(self, progress: Progress) -> str | None:
        there = progress.bound is not None and progress.gained > 0
        return "helped" if self._run.helped and there else None


def synthesis_problem(
    codes: NDArray[np.integer],
    sizes: Sequence[int] | NDArray[np.integer],
    objective: str,
    rules: RuleIndex | None = None,
    free: Sequence[int] | None = None,
) -> population.SynthesisProblem:
    """A problem of synthesis: the last column is the target, the others the key."""
    kept, levels = codes.astype(np.int16), np.asarray(sizes)
    last = len(levels) - 1
    return population.SynthesisProblem(
        kept,
        levels,
        build_target(kept, levels, parse_objective(objective)),
        build_risk(kept, levels, tuple(range(last)), last),
        rules or no_rules(last + 1),
        np.arange(last + 1) if free is None else np.array(free),
    )


def shuffled_columns(
    problem: population.SynthesisProblem, seed: int
) -> NDArray[np.int16]:
    """The original with each free column in an order of its own."""
    rng = np.random.default_rng(seed)
    out = problem.original.copy()
    for j in problem.free:
        out[:, j] = rng.permutation(out[:, j])
    return out


def records_in(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, as text."""
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def half_hidden_cube() -> Table:
    """A table of 343 cells; of what is not sensitive four in ten are hidden.

    Some cells have a lone respondent.
    """
    plain = make("random", 3, shape=(6, 6, 6), sensitive=0.2)
    rng = np.random.default_rng(1)
    hidden = (rng.random(len(plain)) < 0.42) & (plain.status == "s")
    frequency = np.where(rng.random(len(plain)) < 0.12, 1, 5)
    return plain.replace(frequency=frequency).with_pattern(
        hidden | (plain.status == "u")
    )


def assert_same_judgement(
    one: tuple[TableVerdict, Certificate], other: tuple[TableVerdict, Certificate]
) -> None:
    """The same verdict, with the same witnesses."""
    assert one[0] == other[0]
    first, second = witness_arrays(one[1]), witness_arrays(other[1])
    for name, array in first.items():
        assert np.array_equal(array, second[name]), name
