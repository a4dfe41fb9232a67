"""Synthesise and evaluate as a user meets them: files, exit codes, messages."""

from __future__ import annotations

import csv
import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders import Command, records_in
from evosdc.io import read_records

KEY = ("--key", "age,area,sex", "--target", "health")
QUICK = ("--generations", 4, "--population", 6, "--no-memetic")
MOVES = ("--generations", 3, "--moves", 30_000)


def people(rows: int = 300, seed: int = 1) -> dict[str, list[str]]:
    """Return columns of text, with codes such as 01 and blanks."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 6, rows)
    return {
        "age": [str(a) for a in age],
        "area": [f"{a:02d}" for a in rng.integers(1, 8, rows)],
        "sex": [("f", "m", "")[k] for k in rng.choice(3, rows, p=[0.5, 0.4, 0.1])],
        "health": [str(h) for h in np.clip(age // 2 + rng.integers(-1, 2, rows), 0, 3)],
    }


def earners() -> dict[str, list[str]]:
    """Return people with an income, NA where it is not known.

    So many areas that a model of all products of levels is skipped, not fitted.
    """
    rng = np.random.default_rng(5)
    income = [f"{x:.2f}".rstrip("0").rstrip(".") for x in rng.lognormal(3, 1, 300)]
    known = rng.random(300) > 0.1
    return people() | {
        "area": [f"{a:02d}" for a in rng.integers(1, 21, 300)],
        "income": [x if k else "NA" for x, k in zip(income, known, strict=True)],
    }


def write(path: Path, columns: dict[str, list[str]]) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def copy_in(out: Path, name: str = "synthetic.csv") -> Path:
    """Return a copy: in publish/ where it is fit for release, else in confidential/."""
    (found,) = out.glob(f"*/{name}")
    return found


@pytest.fixture
def census(tmp_path: Path) -> Path:
    return write(tmp_path / "census.csv", people())


def test_the_default_run_writes_everything(
    run: Command, census: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, text, _ = run("synthesise", census, *KEY, "-o", out, "--json", *MOVES)
    summary = json.loads(text)
    assert code == (0 if summary["fit"] else 3)
    held = {"run.csv", "report.html", "evaluation.json", "claim.json"}
    shown = {"synthetic.csv", "README.txt", "report.html"}
    assert summary["fit"]
    assert {path.name for path in (out / "confidential").iterdir()} == held
    assert {path.name for path in (out / "publish").iterdir()} == shown
    assert {path.name for path in out.iterdir()} == {"publish", "confidential"}
    assert list(summary) == [
        "key",
        "target",
        "utility",
        "floor",
        "risk",
        "risk_limits",
        "risk_met",
        "verdict",
        "fit",
        "reasons",
        "next_steps",
        "claim",
        "not_measured",
        "not_protected",
        "small_groups",
        "derived",
        "impossible",
        "rows",
        "copies",
        "generations",
        "seconds",
        "reason",
        "seed",
        "version",
        "notes",
        "settings",
    ]
    assert summary["rows"] == 300
    assert summary["generations"] == 3
    record = records_in(out / "confidential" / "run.csv")
    assert [int(row["generation"]) for row in record] == [0, 1, 2, 3]
    assert float(record[-1]["cost"]) < float(record[0]["cost"])
    # What is drawn as "risk" is the risk that a limit would be about.
    assert all(row["risk"] == row["dcap-u"] for row in record)


def test_codes_and_missing_values_come_back_as_they_were(
    run: Command, tmp_path: Path
) -> None:
    census = write(tmp_path / "earners.csv", earners())
    run("synthesise", census, *KEY, "-o", tmp_path / "out", *QUICK)
    real, made = records_in(census), records_in(copy_in(tmp_path / "out"))
    for name in ("age", "area", "sex", "health"):
        assert {row[name] for row in made} <= {row[name] for row in real}
    assert "" in {row["sex"] for row in made}
    assert any(row["area"].startswith("0") for row in made)
    income = {row["income"] for row in made}
    assert "NA" in income
    assert "" not in income
    known = [float(row["income"]) for row in real if row["income"] != "NA"]
    numbers = [float(x) for x in income - {"NA"}]
    assert min(known) <= min(numbers) <= max(numbers) <= max(known)
    assert all(round(x, 2) == x for x in numbers)


def test_many_codes_with_leading_zeros_stay_codes(tmp_path: Path) -> None:
    path = write(
        tmp_path / "codes.csv",
        {"code": [f"{k:04d}" for k in range(100)], "b": ["1", "2"] * 50},
    )
    frame = read_records(path).frame
    assert frame["code"].to_pylist()[7] == "0007"
    assert pa.types.is_integer(frame.schema.field("b").type)


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_workers(
    run: Command, census: Path, tmp_path: Path
) -> None:
    made = {}
    for engine in (QUICK, MOVES):
        for workers in (1, 2):
            out = tmp_path / f"{workers}-{len(engine)}"
            run(
                "synthesise",
                census,
                *KEY,
                "--seed",
                7,
                "--workers",
                workers,
                "-o",
                out,
                *engine,
            )
            made[workers] = copy_in(out).read_bytes()
        assert made[1] == made[2]
    run("synthesise", census, *KEY, "--seed", 8, "-o", tmp_path / "8", *QUICK)
    other = copy_in(tmp_path / "8").read_bytes()
    assert other != copy_in(tmp_path / f"1-{len(QUICK)}").read_bytes()


def test_parquet_in_is_parquet_out_with_its_types(run: Command, tmp_path: Path) -> None:
    columns = people()
    table = pa.table(
        {
            "age": pa.array([int(a) for a in columns["age"]], pa.int8()),
            "area": pa.array(columns["area"]).dictionary_encode(),
            "sex": pa.array([s or None for s in columns["sex"]]),
            "health": pa.array([h > "1" for h in columns["health"]]),
        }
    )
    pq.write_table(table, tmp_path / "people.parquet")
    code, _, error = run(
        "synthesise", tmp_path / "people.parquet", *KEY, "-o", tmp_path / "o", *QUICK
    )
    assert code in (0, 3), error
    made = pq.read_table(copy_in(tmp_path / "o", "synthetic.parquet"))
    assert made.schema.types == table.schema.types
    assert made["sex"].null_count > 0


def test_pareto_writes_a_front_and_several_copies(
    run: Command, census: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    # Unguarded, so that some points are closer than a fresh sample.
    options = ("--mode", "pareto", "--copies", 2, "--min-group", 0, *MOVES)
    code, text, _ = run("synthesise", census, *KEY, "-o", out, "--json", *options)
    front = records_in(out / "confidential" / "front.csv")
    assert code in (0, 3)
    # No limit was set, so none is reported as met.
    assert json.loads(text)["risk_met"] is None
    assert len(front) >= 2
    # By two-way distance, those that are closer than a fresh sample behind the others.
    points = [(row["closer_than_fresh"], float(row["jsd:2"])) for row in front]
    assert points == sorted(points)
    assert {flag for flag, _ in points} == {"false", "true"}
    assert (
        "Hollow points are closer" in (out / "confidential" / "report.html").read_text()
    )
    copies = sorted(path.name for path in out.glob("*/synthetic*"))
    assert copies == ["synthetic-1.csv", "synthetic-2.csv"]
    assert (
        copy_in(out, "synthetic-1.csv").read_text()
        != copy_in(out, "synthetic-2.csv").read_text()
    )


def test_fronts_of_the_genetic_algorithm_have_niches_by_points_or_copies(
    run: Command, census: Path, tmp_path: Path
) -> None:
    fronts = []
    for niche in ("points", "copies"):
        out = tmp_path / niche
        options = ("--mode", "pareto", *QUICK, "--niche", niche)
        code, _, _ = run("synthesise", census, *KEY, "-o", out, *options)
        assert code in (0, 3)
        fronts.append((out / "confidential" / "front.csv").read_text())
    assert fronts[0] != fronts[1]


def test_a_risk_limit_that_is_not_met_gives_exit_code_3(
    run: Command, census: Path, tmp_path: Path
) -> None:
    # Columns that are kept carry their risk with them.
    options = ("--columns", "age", "--risk-limit", 0.01, *QUICK)
    code, text, _ = run("synthesise", census, *KEY, "-o", tmp_path / "a", *options)
    assert code == 3
    assert "NOT met" in text
    code, text, _ = run(
        "synthesise", census, *KEY, "-o", tmp_path / "b", *options, "--json"
    )
    assert code == 3
    assert json.loads(text)["risk_met"] is False


def test_a_risk_limit_that_is_met_gives_exit_code_0(
    run: Command, census: Path, tmp_path: Path
) -> None:
    options = ("--risk-limit", 0.9, *MOVES)
    code, text, _ = run("synthesise", census, *KEY, "-o", tmp_path / "a", *options)
    assert code == 0
    assert "NOT met" not in text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--key", "age,health", "--target", "health"), "includes the target"),
        (("--key", "age", "--target", "wealth"), "wealth"),
        (("--key", "", "--target", "health"), "key is empty"),
        ((*KEY, "--risk-limit", "1.5"), "from 0 to 1"),
        ((*KEY, "--mode", "best"), "mode is 'best'"),
        ((*KEY, "--objective", "jsd:9"), "unknown objective"),
        ((*KEY, "--risk", "fame"), "unknown risk"),
        ((*KEY, "--copies", "0"), "at least 1"),
        ((*KEY, "--crossover", "kiss"), "unknown crossover"),
        ((*KEY, "--niche", "people"), "niche is 'people'"),
        ((*KEY, "--niche", "copies", "--no-memetic"), "there are no niches"),
        ((*KEY, "--niche", "copies", "--mode", "pareto"), "there are no niches"),
        ((*KEY, "--columns", "shoe"), "shoe"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(
    run: Command, census: Path, tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    code, _, error = run("synthesise", census, *options, "-o", tmp_path / "out")
    assert code == 2
    assert says in error
    assert not (tmp_path / "out").exists()


def test_bad_data_are_refused_in_words_that_give_nothing_away(
    run: Command, tmp_path: Path
) -> None:
    columns = people(40)
    one = {name: values[:1] for name, values in columns.items()}
    for name, changed in {
        "one": one,
        "levels": columns | {"area": [f"secret{k}" for k in range(40)]},
        "missing": columns | {"health": [""] * 40},
        "constant": columns | {"area": ["1"] * 40},
    }.items():
        path = write(tmp_path / f"{name}.csv", changed)
        code, _, error = run("synthesise", path, *KEY, "-o", tmp_path / name, *QUICK)
        assert code in (0, 2, 3), name
        assert "secret" not in error
        assert "Traceback" not in error
        said = [line for line in error.splitlines() if "compiling" not in line]
        assert (code == 2) == bool(said), name


def test_existing_output_is_refused_unless_forced(
    run: Command, census: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("keep")
    code, _, error = run("synthesise", census, *KEY, "-o", out, *QUICK)
    assert code == 2
    assert "exists already" in error
    code, _, _ = run("synthesise", census, *KEY, "-o", out, *QUICK, "--force")
    assert code in (0, 3)
    assert (out / "mine.txt").read_text() == "keep"


def test_evaluate_measures_a_copy_and_says_so(
    run: Command, census: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, text, _ = run("evaluate", census, census, *KEY, "-o", out, "--json")
    found = json.loads(text)
    assert code == 3
    assert found["verdict"] == "not fit for release"
    assert found["reasons"]
    assert found["metrics"]["identical_records_pct"]["value"] == 100.0
    assert found["metrics"]["jsd_full"]["value"] == pytest.approx(0.0, abs=1e-9)
    written = records_in(out / "confidential" / "metrics.csv")
    assert {row["metric"] for row in written} == set(found["metrics"])
    assert "<h1>" in (out / "confidential" / "report.html").read_text()


def test_evaluate_reads_both_files_alike(run: Command, tmp_path: Path) -> None:
    real = write(tmp_path / "real.csv", earners())
    # As pandas writes whole numbers beside missing ones, and few decimals.
    other = people(seed=2)
    other["age"] = [f"{a}.0" for a in other["age"]]
    other["income"] = [f"{k % 7}.5" for k in range(300)]
    synthetic = write(tmp_path / "synthetic.csv", other)
    holdout = write(tmp_path / "holdout.csv", earners())
    code, text, error = run(
        "evaluate",
        real,
        synthetic,
        *KEY,
        "--holdout",
        holdout,
        "-o",
        tmp_path / "out",
        "--json",
    )
    assert code == 0, error
    found = json.loads(text)
    assert found["holdout_rows"] == 300
    assert found["metrics"]["jsd_1"]["value"] < 0.5
    assert "membership_auc" in found["metrics"]


def test_evaluate_for_people_shows_what_is_not_protected(
    run: Command, census: Path, tmp_path: Path
) -> None:
    code, text, _ = run("evaluate", census, census, *KEY, "-o", tmp_path / "out")
    assert code == 3
    assert "not fit for release" in text
    assert "No hold-out was given" in text


def test_ctrl_c_leaves_the_best_candidate_so_far(
    run: Command, census: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def impatient(*_: object) -> Iterator[Callable[[Any], None]]:
        def hear(generation: Any) -> None:
            # Phases are known by their names.
            if not isinstance(generation, str) and generation.generation == 3:
                signal.raise_signal(signal.SIGINT)

        yield hear

    monkeypatch.setattr("evosdc.cli.progress.synthesis_progress", impatient)
    out = tmp_path / "out"
    # Unguarded, so that the search aims at the original's own tables.
    options = ("--no-memetic", "--generations", 1_000_000, "--min-group", 0, "--json")
    # Programs that a shell starts in the background ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _, text, _ = run("synthesise", census, *KEY, "-o", out, *options)
    finally:
        signal.signal(signal.SIGINT, before)
    summary = json.loads(text)
    assert summary["reason"] == "interrupted"
    assert summary["generations"] == 3
    assert len(records_in(copy_in(out))) == 300
    last = records_in(out / "confidential" / "run.csv")[-1]
    assert summary["utility"]["jsd:2"] == pytest.approx(float(last["utility"]))


@pytest.mark.parametrize("word", ["", "NA"])
def test_numbers_are_written_as_they_were(
    run: Command, tmp_path: Path, word: str
) -> None:
    """Pandas writes whole numbers beside missing ones as 26.0; prices have cents."""
    rng = np.random.default_rng(1)
    columns = people(seed=3)
    columns["years"] = [f"{a}.0" for a in rng.integers(0, 500, 300)]
    columns["years"][::7] = [word] * len(columns["years"][::7])
    columns["price"] = [f"{a / 100:.2f}" for a in rng.integers(0, 9000, 300)]
    columns["mixed"] = [str(a) if a % 3 else f"{a}.5" for a in range(300)]
    source = write(tmp_path / "numbers.csv", columns)
    run("synthesise", source, *KEY, "-o", tmp_path / "out", *QUICK)
    made = records_in(copy_in(tmp_path / "out"))
    assert {row["years"] for row in made if not row["years"].endswith(".0")} == {word}
    assert all(len(row["price"].split(".")[1]) == 2 for row in made)
    assert not any(row["mixed"].endswith(".0") for row in made)
