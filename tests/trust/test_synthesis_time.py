"""Limits of time: they hold for everything, and nothing is left out silently."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from builders import stopwatch
from evosdc import api
from evosdc.compile.clock import Clock, stopped, tell_of_compiling
from evosdc.io import write_records
from evosdc.metrics import evaluate, measuring
from evosdc.metrics.uniques import ReplicatedUniques
from evosdc.report.synthesis import synthesis_html
from evosdc.results.next_steps import release_verdict

NO_TIME = "not measured: no time left"


def wide(rows: int, columns: int, seed: int = 1) -> pa.Table:
    """Return many variables of many levels: slow models."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 12, rows)
    table = {
        f"v{k}": (base + rng.integers(0, 8, rows) * (k % 3 + 1)) % 12
        for k in range(columns)
    }
    return pa.table(table | {"t": (base + rng.integers(0, 3, rows)) % 4})


ROLES = {"key": ["v0", "v1", "v2"], "target": "t"}


def test_compiling_stops_the_clock_and_is_told_once() -> None:
    told = []
    with Clock(1.0, lambda: told.append("compiling")) as clock:
        for _ in range(2):
            with stopped(), stopped():
                tell_of_compiling()
                time.sleep(0.2)
        assert clock.spent() < 0.2
        assert clock.left() > 0.8
    assert told == ["compiling"]
    assert Clock().left() == float("inf")


def test_compiling_stops_the_clock_of_the_search_too() -> None:
    def compiling(generation: Any) -> None:
        with stopped():
            time.sleep(0.3)

    made = api.synthesise(
        wide(100, 3),
        **ROLES,
        generations=4,
        moves=400,
        time_limit=20,
        listener=compiling,
    )
    assert len(made.model.record_) == 5
    assert made.model.seconds_ < 4 * 0.3


@pytest.mark.slow
def test_a_limit_holds_for_search_evaluation_and_report() -> None:
    frame = wide(4000, 24)
    # What has to be compiled is compiled here.
    api.synthesise(frame[:200], **ROLES, time_limit=0.5)
    took = stopwatch()
    result = api.synthesise(frame, **ROLES, time_limit=3)
    synthesis_html(result.evaluation, result.run_rows(), claim=result.claim)
    assert took() < 3 + 5
    late = result.evaluation.not_measured
    assert late
    assert "no time left" in " ".join(result.evaluation.plain_words)
    assert result.summary()["not_measured"] == list(late)
    # Slow models go first; the attacks behind the verdict are there.
    assert not any(value.name == "pmse_cart" for value in result.evaluation.values)
    assert result.evaluation.tests


def test_everything_is_either_measured_or_listed() -> None:
    frame, made = wide(300, 4), wide(300, 4, seed=2)
    whole = evaluate(frame, made, **ROLES)
    hurried = evaluate(frame, made, **ROLES, left=lambda: 0.0)
    listed = {name for name, reason in hurried.skipped if reason == NO_TIME}
    known = {value.name for value in whole.values}
    assert known - {value.name for value in hurried.values} <= listed
    assert not hurried.values
    assert listed == known | {"comparisons of pairs", "numbers"}
    # The tests behind the verdict have a little more time.
    assert hurried.tests == whole.tests
    assert not whole.not_measured


def test_without_time_for_its_tests_a_file_is_not_fit() -> None:
    found = evaluate(wide(300, 4), wide(300, 4, seed=2), **ROLES, left=lambda: -60.0)
    assert not release_verdict(found).ok
    assert found.reasons == (f"the attacks behind the verdict are {NO_TIME}",)
    assert "no time left" in synthesis_html(found)


def test_values_without_their_baselines_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measuring, "disguised_tests", lambda *_, **__: ((), False))
    # Time for each value, and then no more.
    left = iter([9.0] * 4 + [0.0] * 99)
    # Eight splits with five attacks each, and the pairs of five variables, come first.
    turns = {"tests": 8 * 5 + 10}

    def clock() -> float:
        if turns["tests"]:
            turns["tests"] -= 1
            return 9.0
        return next(left)

    found = evaluate(
        wide(300, 4), wide(300, 4, seed=2), **ROLES, metrics=["dcap_u"], left=clock
    )
    assert len(found.values) == 4
    assert ("the baselines of dcap_u", NO_TIME) in found.skipped
    assert "the baselines of 4 metrics" in " ".join(found.plain_words)


class _Interrupted(ReplicatedUniques):
    def measure(self, *files: object) -> tuple[float, list[tuple[str, float]]]:
        raise KeyboardInterrupt


def test_ctrl_c_in_an_evaluation_ends_it_with_what_it_has() -> None:
    found = evaluate(
        wide(300, 4), wide(300, 4, 2), **ROLES, metrics=[_Interrupted(), "jsd_1"]
    )
    assert dict(found.skipped)["jsd_1"] == "not measured: interrupted"
    assert found.tests


SLEEPER = """
import sys, time
import evosdc.metrics.measuring as measuring

def judge(*_, **__):
    print("judging", flush=True)
    time.sleep(60)

measuring.evaluate = judge
from evosdc.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_killed_leaves_its_copy(
    tmp_path: Path, end: signal.Signals
) -> None:
    write_records(tmp_path / "a.csv", wide(300, 4))
    words = ["synthesise", tmp_path / "a.csv", "--key", "v0,v1", "--target", "t"]
    words += ["--generations", "2", "--moves", "2000", "-o", tmp_path / "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPER, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs tests in the background has children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "judging\n"
    process.send_signal(end)
    _, error = process.communicate(timeout=60)
    assert process.returncode != 0
    copy = tmp_path / "out" / "confidential" / "synthetic.csv"
    assert len(copy.read_text().splitlines()) == 301
    assert not (tmp_path / "out" / "publish").exists()
    if end == signal.SIGINT:
        assert "not judged" in error


@pytest.mark.slow
def test_compiling_is_announced_on_first_use_only(tmp_path: Path) -> None:
    write_records(tmp_path / "a.csv", wide(200, 3))
    words = ["evaluate", tmp_path / "a.csv", tmp_path / "a.csv"]
    words += ["--key", "v0", "--target", "t", "--json", "--time-limit", "2"]
    told = []
    for number in range(2):
        done = subprocess.run(
            [
                *(sys.executable, "-c", "from evosdc.cli import main; main()"),
                *map(str, words),
                *("-o", str(tmp_path / str(number))),
            ],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3, done.stderr
        assert json.loads(done.stdout)["fit"] is False
        told.append("compiling kernels (first use)" in done.stderr)
    assert told == [True, False]
