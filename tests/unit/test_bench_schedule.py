"""List scheduling of measured tasks: what more cores would bring."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.experiments import cluster_tasks, scale
from benchmarks.experiments.schedule import LATENCY, Work, makespan


def test_tasks_that_wait_for_nobody_share_all_cores() -> None:
    work = Work([1.0] * 64, [[]] * 64)
    assert work.serial == makespan(work, 1) == 64
    assert makespan(work, 8) == pytest.approx(8, abs=20 * LATENCY)
    assert makespan(work, 64) == pytest.approx(1, abs=20 * LATENCY)
    # More cores than tasks bring nothing.
    assert makespan(work, 512) >= makespan(work, 64)


def test_a_chain_takes_as_long_on_any_number_of_cores() -> None:
    work = Work([1.0, 2.0, 3.0], [[], [0], [1]])
    assert work.longest_chain == 6
    assert makespan(work, 64) >= 6
    both = Work([1.0, 2.0, 3.0], [[], [0], [0]])
    assert both.longest_chain == 4
    assert makespan(both, 2) == pytest.approx(4, abs=10 * LATENCY)


def test_what_is_not_spread_counts_and_answers_are_taken_in_one_by_one() -> None:
    work = Work([1.0] * 100, [[]] * 100, alone=5.0, home=0.1, shared=100.0)
    assert work.serial == pytest.approx(115)
    assert makespan(work, 100) >= 5 + 100 * 0.1
    # A hundred megabytes take a second for each level of the tree.
    assert makespan(work, 3) >= 5 + 2 + 34


def test_the_page_says_what_a_cluster_would_bring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"benches": cluster_tasks.ROWS["benches"]}
    monkeypatch.setattr(cluster_tasks, "ROWS", rows)
    found: list[scale.Row] = []
    scale.conduct(
        tmp_path, families=["tasks-benches"], command="x", on_row=found.append
    )
    assert len(found[0]["tasks"]) > 100
    page = (tmp_path / "scale.md").read_text(encoding="utf-8")
    assert "## What a cluster would bring" in page
    assert "512 cores" in page
    assert (tmp_path / "scale.cluster.svg").exists()
