"""Experiments end to end on tiny tables: rows, page, resuming, interrupts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import command
from benchmarks.experiments import gensup, write
from benchmarks.experiments.experiment import Settings, conduct
from benchmarks.experiments.run import COLUMNS, KEY, Run
from benchmarks.experiments.store import Row, Store
from builders import Command
from evosdc.errors import InputError

TINY = Settings(
    tables=2,
    methods=("sp", "hypercube-2d"),
    families=("class1-6x30", "class2-6x6"),
    time_limit=1.0,
)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the plots out: they take longer than the runs."""
    for name in ("dots", "trade_off"):
        monkeypatch.setattr(write, name, lambda *_: None)


def run_tiny(folder: Path, settings: Settings = TINY, **more) -> list[Row]:
    received: list[Row] = []
    conduct(
        gensup.EXPERIMENT,
        settings,
        folder,
        command="python -m benchmarks gensup",
        on_row=lambda row, done, total: received.append(row),
        **more,
    )
    return received


def stored(folder: Path) -> list[Row]:
    return Store(folder / "gensup.csv", KEY, COLUMNS).rows


def test_the_command_writes_rows_page_and_plots(bench: Command, tmp_path: Path) -> None:
    words = ("--tables", 2, "--time-limit", 1, "--families", "class2-6x6")
    code, out, err = bench(
        "gensup", *words, "--methods", "sp,hypercube-2d,kelly", "-o", tmp_path
    )
    assert code == 0
    names = [Path(line).name for line in out.splitlines()]
    assert names == [
        "gensup.csv",
        "gensup.md",
        "gensup.provenance.json",
        "gensup.quality.svg",
        "gensup.tables.csv",
        "gensup.time.svg",
    ]
    assert "6/6 class2-6x6" in err
    page = (tmp_path / "gensup.md").read_text()
    for part in (
        "python -m benchmarks gensup --tables 2",
        "Friedman",
        "Holm",
        "Python 3",
    ):
        assert part in page
    assert "13.16 %" in page  # a published figure
    (entry,) = json.loads((tmp_path / "gensup.provenance.json").read_text())
    assert entry["runs"] == 6
    assert (tmp_path / "gensup.quality.svg").read_text().startswith("<?xml")


@pytest.mark.usefixtures("undrawn")
def test_rows_are_judged_bounded_and_complete(tmp_path: Path) -> None:
    run_tiny(tmp_path)
    rows = stored(tmp_path)
    assert len(rows) == 8
    assert list(rows[0]) == list(COLUMNS)
    for row in rows:
        if row["failed"]:
            assert row["cost"] is None
            assert row["why"] == "ProtectionFailed"
            continue
        assert row["safe"] is True
        assert row["node_bound"] <= row["bound"] <= row["cost"] + 1e-6
        if row["bound"]:
            share = (row["cost"] - row["bound"]) / row["bound"]
            assert row["gap"] == pytest.approx(share)


@pytest.mark.usefixtures("undrawn")
def test_a_method_that_fails_is_counted(tmp_path: Path) -> None:
    settings = Settings(
        tables=1,
        methods=("sp", "hypercube-2d"),
        families=("class2-40x40",),
        time_limit=5.0,
        bound_limit=0.0,
    )
    run_tiny(tmp_path, settings)
    sp, hypercube = stored(tmp_path)
    assert (sp["failed"], hypercube["failed"]) == (False, True)
    assert sp["bound"] is None
    page = (tmp_path / "gensup.md").read_text()
    assert "| hypercube-2d | 1 | 1 | – |" in page
    assert "95.33 % / **100.00 %**" in page


@pytest.mark.usefixtures("undrawn")
def test_rows_that_are_there_are_not_run_again(tmp_path: Path) -> None:
    small = Settings(
        tables=1, methods=("sp",), families=("class2-6x6",), time_limit=1.0
    )
    assert len(run_tiny(tmp_path, small)) == 1
    before = stored(tmp_path)
    page = tmp_path / "gensup.md"
    page.write_text(page.read_text() + "\n## Remarks\n\nSmall tables.\n")
    new = run_tiny(tmp_path)
    assert len(new) == 7
    assert before[0] in stored(tmp_path)
    assert page.read_text().endswith("## Remarks\n\nSmall tables.\n")
    assert run_tiny(tmp_path) == []
    provenance = json.loads((tmp_path / "gensup.provenance.json").read_text())
    assert [s["runs"] for s in provenance] == [1, 7]


@pytest.mark.usefixtures("undrawn")
def test_force_begins_again(tmp_path: Path) -> None:
    run_tiny(tmp_path)
    assert len(run_tiny(tmp_path, force=True)) == 8
    provenance = json.loads((tmp_path / "gensup.provenance.json").read_text())
    assert len(provenance) == 1


@pytest.mark.usefixtures("undrawn")
def test_an_interrupt_keeps_what_is_finished(
    bench: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    real = Run.__call__

    def third_is_interrupted(run: Command) -> Row:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return real(run)

    words = ("gensup", "--tables", 2, "--families", "class2-6x6")
    words = (*words, "--methods", "sp,kelly", "-o", tmp_path)
    monkeypatch.setattr(Run, "__call__", third_is_interrupted)
    code, _, err = bench(*words)
    assert code == 130
    assert "goes on from there" in err
    assert len(stored(tmp_path)) == 2
    assert (tmp_path / "gensup.md").exists()
    monkeypatch.setattr(Run, "__call__", real)
    code, _, err = bench(*words)
    assert code == 0
    assert err.startswith("3/4 ")
    assert len(stored(tmp_path)) == 4


@pytest.mark.usefixtures("undrawn")
def test_costs_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    costs = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        settings = Settings(
            tables=2,
            methods=("sp", "pbp"),
            families=("class2-6x6",),
            workers=workers,
            bound_limit=0.0,
        )
        run_tiny(folder, settings)
        costs.append([(r["table"], r["method"], r["cost"]) for r in stored(folder)])
    assert costs[0] == costs[1]


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_one_time_limit_a_method(tmp_path: Path) -> None:
    run_tiny(tmp_path)
    longer = Settings(**{**vars(TINY), "time_limit": 2.0})
    # All ended by themselves: they would be the same runs.
    assert not run_tiny(tmp_path, longer)
    path = tmp_path / "gensup.csv"
    rows = Store(path, KEY, COLUMNS)
    path.unlink()
    held = Store(path, KEY, COLUMNS)
    for row in rows.rows:
        held.add({**row, "cpu_seconds": 1.1})
    with pytest.raises(InputError, match="time limit"):
        run_tiny(tmp_path, longer)


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "gensup.md").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        run_tiny(tmp_path)
    assert (tmp_path / "gensup.md").read_text() == "mine"
    (tmp_path / "gensup.md").unlink()
    (tmp_path / "gensup.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="does not hold rows"):
        run_tiny(tmp_path)
    with pytest.raises(InputError, match="is a file"):
        run_tiny(tmp_path / "gensup.csv")


def test_unknown_experiments_are_refused(bench: Command, tmp_path: Path) -> None:
    code, _, err = bench("nothing", "-o", tmp_path)
    assert code == 2
    assert "gensup, heurgene" in err


def test_rows_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    columns = ("name", "x", "y", "flag", "none")
    store = Store(path, ("name",), columns)
    row = {"name": "a,b", "x": 0.1, "y": 3, "flag": False, "none": None}
    store.add(row)
    store.add({**row, "name": "first"})
    store.sort([("first",)])
    again = Store(path, ("name",), columns)
    assert again.rows == [{**row, "name": "first"}, row]
    assert ("a,b",) in again


def test_half_a_row_is_dropped_and_done_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    columns = ("name", "x")
    for name in ("a", "b"):
        Store(path, ("name",), columns).add({"name": name, "x": 12345})
    whole = path.read_text()
    for cut in range(len(whole)):
        path.write_text(whole[:cut])
        kept = Store(path, ("name",), columns)
        for name in ("a", "b"):
            if (name,) not in kept:
                kept.add({"name": name, "x": 12345})
        assert path.read_text() == whole


def test_the_module_runs_from_the_root_of_the_project(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    words = ("gensup", "--methods", "magic", "-o", str(tmp_path))
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks", *words],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("benchmarks: there is no method 'magic'")


def test_without_matplotlib_nothing_is_run(
    bench: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    code, _, err = bench("gensup", "--tables", 1, "-o", tmp_path / "new")
    assert code == 2
    assert "evosdc[bench]" in err
    assert not (tmp_path / "new").exists()
