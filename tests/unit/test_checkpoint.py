"""Checkpoints: what is written, what is refused, what is taken up and what is not."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evosdc
from builders import options_of, stopwatch
from evosdc.api.checkpoints import StoredPattern
from evosdc.compile import small_jobs
from evosdc.errors import InputError
from evosdc.evolution.stopping import Entry, EvaluationLimit
from evosdc.instances import make
from evosdc.io.checkpoint import (
    INTERVAL,
    Checkpoint,
    pack_arrays,
    read_checkpoint,
    unpack_arrays,
    write_checkpoint,
)
from evosdc.suppress.methods.contracted import run_contracted
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search
from evosdc.table import Table


class KilledError(Exception):
    """Stands for kill -9: nothing after it is done."""


@pytest.fixture(scope="module")
def table() -> Table:
    return make("random", 3, shape=(5, 4, 4), sensitive=0.15)


def written(path: Path) -> dict[str, Any]:
    return read_checkpoint(path)


def change(path: Path, **fields: Any) -> None:
    """Change a checkpoint as somebody would who knows how it is made."""
    write_checkpoint(path, {**read_checkpoint(path), **fields})


@pytest.fixture
def left(table: Table, tmp_path: Path) -> Path:
    path = tmp_path / "checkpoint.json"
    write_with_pattern(table, path)
    return path


def write_with_pattern(table: Table, path: Path) -> None:
    """Leave the checkpoint of a run that had a first pattern."""
    answer = evosdc.protect(
        table,
        method="attacker",
        workers=1,
        stop=evosdc.Stop(evaluations=1),
        run=evosdc.Run(checkpoint=path),
    )
    assert not path.exists()  # it ended well
    kept = Checkpoint(path, keep=True)
    evosdc.protect(
        table,
        method="attacker",
        workers=1,
        stop=evosdc.Stop(evaluations=1),
        run=evosdc.Run(checkpoint=kept),
    )
    content = read_checkpoint(path)
    assert content["cost"] == answer.cost
    settings = {**content["settings"], "method": '"hybrid"'}
    write_checkpoint(path, {**content, "settings": settings, "seconds": 5.0})


def test_cells_are_packed_and_unpacked() -> None:
    rng = np.random.default_rng(1)
    for count in (0, 1, 8, 1001):
        cells = rng.random(count) < 0.5
        assert np.array_equal(unpack_arrays(pack_arrays(cells)), cells)


def test_a_pattern_of_another_size_is_damaged(table: Table, left: Path) -> None:
    change(left, hidden=pack_arrays(np.ones(len(table) + 1, dtype=bool)))
    with pytest.raises(InputError, match="is damaged"):
        evosdc.protect(
            table, time_limit=5, run=evosdc.Run(checkpoint=left, resume=True)
        )


def test_only_the_owner_reads_it_and_it_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.json"
    for turn in range(3):
        write_checkpoint(path, {"turn": turn})
        assert read_checkpoint(path) == {"turn": turn}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_run_goes_on_from_its_checkpoint(table: Table, left: Path) -> None:
    had = written(left)
    received: list[Entry] = []
    took = stopwatch()
    answer = evosdc.protect(
        table,
        time_limit=6,
        workers=1,
        run=evosdc.Run(checkpoint=left, resume=True, on_progress=received.append),
    )
    assert answer.safe is True
    assert answer.cost <= had["cost"]
    first = next(e for e in received if e.cost is not None)
    assert first.event.startswith("restored from the checkpoint")
    assert first.cost == had["cost"]
    assert not any(e.event == "first pattern" for e in received)
    # Five of the six seconds are spent already.
    assert answer.seconds >= 5
    assert min(received[-1].seconds, 5 + took()) < 5 + 6
    assert answer.evaluations >= had["evaluations"]
    assert not left.exists()


@pytest.mark.parametrize("shape", [(3, 3, 3), (4, 4)])
@small_jobs.job(100)  # nothing is compiled for it
def test_no_method_ends_above_what_it_goes_on_from(
    shape: tuple[int, ...],
) -> None:
    whole = Problem.of(make("random", 3, shape=shape, sensitive=0.2))
    good = find_method("hybrid")
    search = Search(seed=1, stop=EvaluationLimit(20))
    known = run_contracted(whole, good, good.configure({}), search)
    for name in ("attacker", "marginal", "gensup", "order-ga", "optimal", "hypercube"):
        method = find_method(name)
        if method.takes(whole) is not None:
            continue
        search = Search(seed=2, stop=EvaluationLimit(5))
        search.resume(known, 3.0, 2)
        answer = run_contracted(whole, method, method.configure({}), search)
        assert search.best is not None
        assert min(answer.cost, search.best.cost) <= known.cost * (1 + 1e-9)


def test_a_pattern_that_is_not_safe_is_mended(table: Table, left: Path) -> None:
    nothing = np.zeros(len(table), dtype=bool)
    change(left, hidden=pack_arrays(nothing), cost=0.0)
    answer = evosdc.protect(
        table, time_limit=5.5, workers=1, run=evosdc.Run(checkpoint=left, resume=True)
    )
    assert answer.safe is True
    assert answer.cost > 0


def test_a_stored_pattern_that_is_not_safe_is_completed_without_a_budget(
    table: Table, left: Path
) -> None:
    nothing = np.zeros(len(table), dtype=bool)
    change(left, hidden=pack_arrays(nothing), cost=0.0, evaluations=10)
    answer = evosdc.protect(
        table,
        workers=1,
        stop=evosdc.Stop(evaluations=5),
        run=evosdc.Run(checkpoint=left, resume=True),
    )
    assert answer.safe is True
    assert answer.cost > 0
    assert any("more is suppressed" in entry.event for entry in answer.record)


def test_neither_cost_nor_bound_are_believed(table: Table, left: Path) -> None:
    had = written(left)["cost"]
    change(left, cost=1.0, bound=1e12)
    answer = evosdc.protect(
        table, time_limit=5.5, workers=1, run=evosdc.Run(checkpoint=left, resume=True)
    )
    assert 1.0 < answer.cost <= had
    assert answer.lower_bound is not None
    assert answer.lower_bound <= answer.cost


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"seed": 4}, "'seed': 0 there, 4 here"),
        ({"strict": True}, "'strict'"),
        ({"cost": "unit"}, "'cost'"),
        ({"method": "greedy"}, "'method'"),
        ({"protect_secondaries": True}, "'protect_secondaries'"),
        ({"method_options": {"population": 3}}, "'method_options'"),
        ({"cost_factor": {"dim1=1": 2.0}}, "'cost_factor'"),
    ],
)
def test_another_option_is_refused_by_name(
    table: Table, left: Path, options: dict[str, Any], named: str
) -> None:
    if "cost_factor" in options:
        first = table.dimensions[0]
        label = f"{first.name}={first.hierarchy.codes[-1]}"
        options = {"cost_factor": {label: 2.0}}
    before = left.read_bytes()
    given = {"time_limit": 5, "checkpoint": left, "resume": True, **options}
    with pytest.raises(InputError, match="another setting") as refused:
        evosdc.protect(table, **options_of("protect", **given))
    assert named in str(refused.value)
    assert "Next step" in str(refused.value)
    assert left.read_bytes() == before


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (lambda t: t.replace(value=t.value * 2, rhs=t.rhs * 2), "values"),
        (lambda t: t.replace(weight=t.weight + 1), "weights"),
        (lambda t: t.replace(upl=t.upl * 2), "protection levels"),
        (lambda t: t.replace(upper=9 * abs(t.value) + 9), "bounds"),
        (lambda t: make("random", 3, shape=(4, 4, 4)), "equations"),
    ],
)
def test_another_table_is_refused_without_a_value(
    table: Table, left: Path, other: Callable[[Table], Table], named: str
) -> None:
    before = left.read_bytes()
    with pytest.raises(InputError, match="of other data") as refused:
        evosdc.protect(
            other(table), time_limit=5, run=evosdc.Run(checkpoint=left, resume=True)
        )
    assert named in str(refused.value)
    assert left.read_bytes() == before


def test_another_version_is_refused(table: Table, left: Path) -> None:
    change(left, version="0.1.0")
    with pytest.raises(InputError, match=r"written by evosdc 0\.1\.0"):
        evosdc.protect(table, run=evosdc.Run(checkpoint=left, resume=True))
    assert left.exists()


def test_damaged_files_are_refused_and_kept(table: Table, left: Path) -> None:
    whole = left.read_bytes()
    changed = json.loads(whole)
    changed["content"] = changed["content"].replace('"seconds": 5.0', '"seconds": 4.0')
    halves = [whole[: len(whole) // 2], b"", b"\x00\xff", b"[]", b"null", b'"x"']
    halves += [json.dumps(changed).encode(), whole[:-3]]
    for half in halves:
        left.write_bytes(half)
        with pytest.raises(InputError, match="Next step"):
            evosdc.protect(table, run=evosdc.Run(checkpoint=left, resume=True))
        assert left.read_bytes() == half
    for fields in (
        {"hidden": "x"},
        {"seconds": -1.0},
        {"data": 3},
        {"at": None},
        {"evaluations": []},
    ):
        left.write_bytes(whole)
        change(left, **fields)
        with pytest.raises(InputError, match="Next step"):
            evosdc.protect(table, run=evosdc.Run(checkpoint=left, resume=True))
        assert left.exists()


def test_what_a_run_left_is_not_written_over(table: Table, left: Path) -> None:
    before = left.read_bytes()
    with pytest.raises(InputError, match="--resume"):
        evosdc.protect(
            table, run=evosdc.Run(checkpoint=left), stop=evosdc.Stop(evaluations=1)
        )
    assert left.read_bytes() == before
    with pytest.raises(InputError, match="there is no checkpoint"):
        evosdc.protect(
            table, run=evosdc.Run(checkpoint=left.with_name("other"), resume=True)
        )
    with pytest.raises(InputError, match="without a checkpoint"):
        evosdc.protect(table, run=evosdc.Run(resume=True))


def test_a_crash_keeps_the_pattern_and_an_early_one_leaves_nothing(
    table: Table, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint.json"

    def crash(entry: Entry) -> None:
        if entry.event.startswith("ended"):
            raise KilledError

    with pytest.raises(KilledError):
        evosdc.protect(
            table,
            workers=1,
            run=evosdc.Run(checkpoint=path, on_progress=crash),
            stop=evosdc.Stop(evaluations=3),
        )
    assert written(path)["cost"] is not None
    path.unlink()

    def early(entry: Entry) -> None:
        if entry.cost is not None or entry.bound is not None:
            raise KilledError

    with pytest.raises(KilledError):
        evosdc.protect(
            table,
            workers=1,
            run=evosdc.Run(checkpoint=path, on_progress=early),
            stop=evosdc.Stop(evaluations=3),
        )
    assert list(tmp_path.iterdir()) == []
    assert not any(t.name == "checkpoint" for t in threading.enumerate())


def test_time_between_writes_counts(table: Table, left: Path) -> None:
    content = written(left)
    for gone, counted in ((4.0, 4.0), (1e6, INTERVAL), (-50.0, 0.0)):
        os.utime(left, (content["at"] + gone, content["at"] + gone))
        stored = Checkpoint(left, resume=True).begin(
            "protect", evosdc.__version__, content["data"], content["settings"]
        )
        assert stored is not None
        assert stored["seconds"] == pytest.approx(5.0 + counted, abs=0.01)


def test_a_checkpoint_of_another_verb_is_refused(left: Path) -> None:
    people = {"age": [1, 2] * 20, "sex": ["m", "f", "f", "m"] * 10}
    with pytest.raises(InputError, match="of a run of evosdc protect"):
        evosdc.synthesise(people, generations=2, checkpoint=left, resume=True)


def test_words_of_what_is_taken_up() -> None:
    stored = StoredPattern(None, None, None, 12.3, 4)
    assert stored.words() == "resumed after 12 s with no pattern yet"
    more = replace(stored, cost=10.0, bound=8.0)
    assert "cost 10 and a bound of 8" in more.words()
