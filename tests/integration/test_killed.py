"""A run that is killed at any moment goes on, and little is lost."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.kill import INTERVAL, killed_often
from builders import Command, stopwatch
from evosdc.instances import make
from evosdc.io import write_table
from evosdc.io.checkpoint import read_checkpoint, write_checkpoint

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.mark.slow
def test_killed_at_random_moments_little_is_lost(tmp_path: Path) -> None:
    losses, word, cost = killed_often(tmp_path, moments=2, longest=5, cells=400, seed=2)
    for loss in losses:
        assert loss.lost <= INTERVAL
        assert loss.age <= INTERVAL + 1
        assert loss.cost is None or cost <= loss.cost * (1 + 1e-9)
    assert word == "SAFE"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.jj"
    write_table(path, make("random", 3, shape=(5, 5, 5), sensitive=0.15))
    return path


@pytest.mark.slow
def test_the_command_goes_on_in_its_folder(
    run: Command, table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    checkpoint = out / "confidential" / "checkpoint.json"
    words = ["protect", table, "-o", out, "--time-limit", 90, "--gap", 0]
    words += ["--workers", 1]
    begun = subprocess.Popen([sys.executable, "-m", "evosdc", *map(str, words)])
    end = time.monotonic() + 300
    # Before its first pattern there is a file, too.
    while not checkpoint.exists() or read_checkpoint(checkpoint)["cost"] is None:
        assert time.monotonic() < end
        assert begun.poll() is None
        time.sleep(0.05)
    os.kill(begun.pid, signal.SIGKILL)
    begun.wait()
    assert stat.S_IMODE(checkpoint.stat().st_mode) == 0o600
    assert stat.S_IMODE(checkpoint.parent.stat().st_mode) == 0o700
    had = read_checkpoint(checkpoint)

    code, _, err = run(*words)
    assert code == 2
    assert "--resume" in err
    code, _, err = run(*words, "--resume", "--seed", 5)
    assert code == 2
    assert "'seed'" in err
    code, _, err = run(*words, "--resume", "--no-checkpoint")
    assert code == 2
    assert "--no-checkpoint" in err
    assert read_checkpoint(checkpoint) == had

    write_checkpoint(checkpoint, {**had, "seconds": 86.0})
    took = stopwatch()
    code, text, _ = run(*words, "--resume", "--json")
    assert code == 0
    found = json.loads(text)
    # Four seconds are left. The run's own clock stands still while kernels compile.
    assert min(found["seconds"], 86 + took()) < 86 + 45
    assert found["cost"] <= had["cost"]
    assert not checkpoint.exists()
    assert (out / "publish" / "published.csv").exists()


def test_short_runs_write_none_and_force_starts_afresh(
    run: Command, table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    named = tmp_path / "mine.json"
    few = ("--method", "attacker", "--evaluations", 1)
    code, _, _ = run("protect", table, "-o", out, "--checkpoint", named, *few)
    assert code == 0
    assert not named.exists()
    checkpoint = out / "confidential" / "checkpoint.json"
    write_checkpoint(checkpoint, {"what": "an earlier run left"})
    code, _, err = run("protect", table, "-o", out, *few)
    assert code == 2
    assert "--force" in err
    code, _, _ = run("protect", table, "-o", out, "--force", "--no-checkpoint", *few)
    assert code == 0
    assert not checkpoint.exists()


def test_an_error_before_any_pattern_leaves_no_folder(
    run: Command, table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, _, _ = run(
        "protect", table, "-o", out, "--evaluations", 1, "--method", "nonsense"
    )
    assert code == 2
    assert not out.exists()


@pytest.mark.slow
def test_a_synthesis_goes_on_in_its_folder(run: Command, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    rows = [f"{a % 5},{'mf'[a % 2]},{'abc'[a * a % 3]}" for a in range(120)]
    people.write_text("\n".join(["age,sex,job", *rows]), encoding="utf-8")
    out = tmp_path / "out"
    checkpoint = out / "confidential" / "checkpoint.json"
    words = ["synthesise", people, "-o", out, "--generations", 20, "--moves", 2000]
    words += ["--no-noise-floor", "--time-limit", 90, "--workers", 1]
    begun = subprocess.Popen([sys.executable, "-m", "evosdc", *map(str, words)])
    end = time.monotonic() + 300
    # Written when the search begins, before there is anything to go on from.
    while not checkpoint.exists():
        assert time.monotonic() < end
        assert begun.poll() is None
        time.sleep(0.005)
    os.kill(begun.pid, signal.SIGKILL)
    begun.wait()
    assert stat.S_IMODE(checkpoint.stat().st_mode) == 0o600
    code, _, err = run(*words)
    assert code == 2
    assert "--resume" in err
    code, _, err = run(*words, "--resume", "--seed", 5)
    assert code == 2
    assert "'seed'" in err
    code, text, _ = run(*words, "--resume", "--json")
    assert code in (0, 3)
    assert json.loads(text)["generations"] == 20
    assert not checkpoint.exists()
    assert (out / "confidential" / "evaluation.json").exists()
