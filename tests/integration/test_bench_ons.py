"""The ONS study on its smallest tables: rows, page, reference, tables protected."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from benchmarks.experiments import ons, ons_page
from benchmarks.experiments.experiment import Settings, conduct, plan
from benchmarks.experiments.limits import OutOfTime, hard_limit
from benchmarks.experiments.ons_published import (
    LARGE_LINES,
    TABLE_III,
    TABLE_V,
    TABLE_VI,
)
from benchmarks.experiments.ons_rows import (
    SIZES,
    contender_of,
    mean,
    protected,
    with_relative,
)
from benchmarks.experiments.run import KEY, Contender, Instance, Run
from benchmarks.experiments.store import Row, Store
from builders import Command
from evosdc.errors import InputError, MethodError
from evosdc.instances import make
from evosdc.instances.published import LARGE

SMALL = Settings(
    tables=1, methods=("hypercube", "marginal"), families=("B",), time_limit=5.0
)


def stored(folder: Path) -> list[Row]:
    return Store(folder / "ons.csv", KEY, ons.EXPERIMENT.columns).rows


def test_the_command_writes_the_page_of_the_study(
    bench: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("dots", "trade_off"):
        monkeypatch.setattr(ons_page, name, lambda *_: None)
    words = ("ons", "--quick", "--methods", "hypercube,marginal,attacker")
    code, out, err = bench(*words, "-o", tmp_path)
    assert code == 0
    names = [Path(line).name for line in out.splitlines()]
    assert names == ["ons.csv", "ons.md", "ons.provenance.json", "ons.tables.csv"]
    assert "8/8" in err
    page = (tmp_path / "ons.md").read_text()
    assert "| order-by-weight | 0.00 | 0.00 |" in page  # the reference against itself
    assert "| Hypercube: hypercube | 10 of 10 / **2 of 2** |" in page
    assert "10.71 / **–**" in page  # table III, of a method that was not run
    assert "2.87 (n=10)" in page  # table V
    rows = stored(tmp_path)
    assert all(row["safe"] for row in rows)
    assert {row["method"] for row in rows} >= {"order-by-weight", "attacker"}
    costs = {r["method"]: r["cost"] for r in rows if r["family"] == "B"}
    assert costs["attacker"] <= costs["order-by-weight"] < costs["marginal"]
    code, _, err = bench(*words, "-o", tmp_path)
    assert (code, err) == (0, "")  # nothing is run again


def test_a_method_that_does_not_exist_is_named(bench: Command, tmp_path: Path) -> None:
    code, _, err = bench("ons", "--methods", "magic", "-o", tmp_path)
    assert code == 2
    assert "'magic'" in err


def test_options_of_other_experiments_are_refused(
    bench: Command, tmp_path: Path
) -> None:
    code, _, err = bench("ons", "--bound-limit", 5, "-o", tmp_path)
    assert (code, "--bound-limit" in err) == (2, True)
    code, _, err = bench("gensup", "--quick", "-o", tmp_path)
    assert (code, "--quick" in err) == (2, True)


def test_a_table_that_a_method_does_not_take_is_a_row() -> None:
    solid = Instance("A", 1, partial(make, "random", 1, shape=(3, 3, 3)))
    row = Run(solid, Contender.parse("hypercube-2d", 1.0), 1, strict=True)()
    assert (row["failed"], row["why"]) == (True, "RefusedError")
    assert row.get("cost") is None


def test_a_run_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutOfTime), hard_limit(0.05):
        _work_on()
    monkeypatch.setattr("benchmarks.experiments.run._protect", _raise_out_of_time)
    row = Run(ons.instance("B", 1), Contender.parse("marginal", 1.0), 1)()
    assert (row["failed"], row["why"]) == (True, "OutOfTime")


def test_a_run_in_a_thread_is_ended_too_and_what_follows_is_not() -> None:
    """Dask workers have their tasks done by threads, which get no signals."""

    def limited() -> str:
        try:
            with hard_limit(0.1):
                _work_on()
        except OutOfTime:
            ended = "ended"
        with hard_limit(30.0):
            return ended

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(limited).result() == "ended"


def test_a_wrong_option_is_an_error_and_no_row() -> None:
    with pytest.raises(MethodError, match="magic"):
        Contender.parse("kelly+order=magic", 1.0)
    read = Contender.parse("kelly+order=random", 1.0)
    contender = replace(read, options={"order": "magic"})
    with pytest.raises(MethodError, match="magic"):
        Run(ons.instance("B", 1), contender, 1)()


def _work_on() -> None:
    while True:
        pass


def _raise_out_of_time(*_: object) -> None:
    raise OutOfTime


def test_evaluations_limit_a_contender() -> None:
    found = Contender.parse("attacker@9#1", 60.0)
    assert (found.time_limit, found.evaluations) == (9.0, 1)
    for text in ("attacker#0", "attacker#x", "attacker#1@2", "#3"):
        with pytest.raises(InputError, match="a method reads"):
            Contender.parse(text, 1.0)


def test_families_have_as_many_tables_as_published() -> None:
    runs = plan(ons.EXPERIMENT, Settings(methods=("marginal",)))
    mine = [run for run in runs if run.contender.label == "marginal"]
    assert len(mine) == 30 + 2 + 6 + 14
    assert len(runs) == 2 * len(mine)  # and the reference
    with pytest.raises(InputError, match="no family"):
        ons.instance("large-15", 1)
    with pytest.raises(MethodError, match="order-magic"):
        plan(ons.EXPERIMENT, Settings(methods=("order-magic",)))


def test_another_reference_can_be_named(tmp_path: Path) -> None:
    runs = plan(ons.EXPERIMENT, Settings(methods=("marginal",), reference="greedy"))
    assert runs[0].contender.label == "greedy"


def test_interrupted_studies_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("dots", "trade_off"):
        monkeypatch.setattr(ons_page, name, lambda *_: None)
    received: list[Row] = []
    conduct(
        ons.EXPERIMENT,
        SMALL,
        tmp_path,
        command="x",
        on_row=lambda row, *_: received.append(row),
    )
    assert len(received) == 3
    page = tmp_path / "ons.md"
    page.write_text(page.read_text() + "\n## Remarks\n\nB only.\n")
    more = Settings(**{**vars(SMALL), "methods": ("greedy", "marginal")})
    conduct(
        ons.EXPERIMENT,
        more,
        tmp_path,
        command="y",
        on_row=lambda row, *_: received.append(row),
    )
    assert [row["method"] for row in received[3:]] == ["greedy"]
    assert page.read_text().endswith("B only.\n")


def row(method: str, cost: float | None, table: int = 1, **more: object) -> Row:
    return {
        "family": "A",
        "table": table,
        "method": method,
        "seed": 1,
        "cost": cost,
        "safe": cost is not None,
        "cpu_seconds": 1.0,
        "time_limit": 2.0,
        **more,
    }


def test_costs_are_relative_to_the_reference_on_the_same_table() -> None:
    rows = [row("r", 100.0), row("r", 50.0, 2), row("m", 80.0), row("m", 60.0, 2)]
    found = with_relative([*rows, row("m", 5.0, 3)], "r")
    assert [r["relative"] for r in found] == [1.0, 1.0, 0.8, 1.2, None]


def test_a_late_or_unsafe_run_does_not_count() -> None:
    assert protected(row("m", 1.0))
    assert not protected(row("m", 1.0, cpu_seconds=3.3))
    assert not protected(row("m", 1.0, safe=False))


def test_the_default_stands_for_a_method() -> None:
    rows = [row(name, 1.0) for name in ("m#1", "m+x=1", "m@5", "mm")]
    assert contender_of(rows, "m") == "m@5"
    assert contender_of(rows, "n") is None


def test_published_tables_are_whole() -> None:
    assert {len(TABLE_III[x]) for x in "ABCDEF"} == {5}
    assert sum(map(len, TABLE_III.values())) == 38
    assert {len(line) for lines in TABLE_III.values() for line in lines} == {6}
    for size, counts in TABLE_VI.items():
        lines = [line for family in SIZES[size] for line in TABLE_V[family]]
        for k, (method, count) in enumerate(counts.items()):
            anomalies = 2 if (size, method) == ("200x50", "Modular") else 0
            assert sum(line[k] is not None for line in lines) == count - anomalies
    for ours, line in zip(LARGE.values(), LARGE_LINES, strict=True):
        assert ours.sensitive == line.primaries


def test_tables_count_alike_however_many_runs_they_have() -> None:
    rows = [
        {"family": "A", "table": table, "cost": cost}
        for table, cost in ((1, 2.0), (1, 4.0), (1, 6.0), (2, 8.0), (2, None))
    ]
    assert mean(rows, "cost") == 6.0
    assert mean(rows[-1:], "cost") is None


def test_a_reference_that_nobody_named_is_run_once_a_table() -> None:
    named = Settings(tables=1, seeds=3, methods=("marginal",), families=("A",))
    runs = [run.contender.label for run in plan(ons.EXPERIMENT, named)]
    assert runs == ["order-by-weight", *["marginal"] * 3]
