"""The thesis's experiments: data of the right shapes, rows, pages, refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.experiments import thesis, thesis_data
from benchmarks.experiments.store import Store
from benchmarks.experiments.thesis_data import (
    SHAPES,
    Material,
    coarsened,
    distance_of_margins,
    find_material,
    sampled,
)
from benchmarks.experiments.thesis_mutants import measured
from benchmarks.experiments.thesis_people import PeopleTrial
from benchmarks.experiments.thesis_pressure import PressureTrial, expected
from benchmarks.experiments.thesis_published import THESIS_FIGURES
from benchmarks.experiments.thesis_rivals import RIVALS
from benchmarks.experiments.thesis_selections import PROPERTIES
from benchmarks.experiments.thesis_start import Start, diversity
from benchmarks.experiments.thesis_trials import COLUMNS, KEY
from evosdc.errors import InputError
from evosdc.synth.search.run import Generation


def codes_of(table: pa.Table) -> np.ndarray:
    return np.column_stack(
        [np.array(table[n].to_pylist(), dtype=np.int16) for n in table.column_names]
    )


@pytest.fixture(scope="module")
def material() -> Material:
    """The made-up data; a set takes seconds and is made at its first use."""
    return Material()


@pytest.mark.parametrize("name", ["data1", "mixed4", "tiny"])
def test_made_up_data_have_the_published_shape_and_distance(
    name: str, material: Material
) -> None:
    shape = SHAPES[name]
    found = codes_of(material.table(name))
    assert found.shape == (shape.rows, len(shape.levels))
    assert tuple(len(np.unique(c)) for c in found.T) == shape.levels
    assert distance_of_margins(found, shape) == pytest.approx(shape.start, rel=0.15)


@pytest.mark.parametrize("name", ["mixed4", "tiny"])
def test_made_up_data_are_always_the_same(name: str, material: Material) -> None:
    assert Material().table(name).equals(material.table(name))


def test_coarsening_joins_the_smallest_neighbours() -> None:
    codes = np.repeat([0, 1, 2, 3, 4], [50, 3, 4, 60, 10])
    found = coarsened(codes, 3)
    assert np.bincount(found).tolist() == [57, 60, 10]
    assert (np.diff(found) >= 0).all()
    assert (coarsened(codes, 9) == codes).all()


def test_a_file_gives_its_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    lines = [",".join("abcdefghijkl")]
    lines += [",".join(map(str, row)) for row in rng.integers(0, 12, (1200, 12))]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    material = find_material(tmp_path)
    assert material.census is None
    assert "wide.csv" in material.words
    table = material.table("mixed4")
    assert table.num_rows == 1000
    levels = tuple(len(table[name].unique()) for name in table.column_names)
    assert levels == SHAPES["mixed4"].levels
    assert material.second is material.first
    short = material.first.slice(0, 900)
    with pytest.raises(InputError, match="900 records"):
        next(sampled(short, SHAPES["four"], rng))


def test_the_second_longest_file_gives_the_sets_of_another_survey(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where a set comes from, not how near the published distance it is.
    monkeypatch.setattr(thesis_data, "_DRAWS", 2)
    rng = np.random.default_rng(3)
    for name, rows, word in (("a-short", 1100, "s"), ("b-long", 1300, "l")):
        lines = [",".join("abcdefghij")]
        lines += [
            ",".join(f"{word}{x}" for x in row)
            for row in rng.integers(0, 12, (rows, 10))
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "narrow.csv").write_text("a,b\n" + "1,2\n2,1\n" * 2000)
    material = find_material(tmp_path)
    assert "columns of b-long.csv; other1 to other3 of a-short.csv" in material.words
    assert material.first.num_rows == 1300
    assert material.second.num_rows == 1100
    assert not material.table("other1").equals(material.table("data1"))


def test_folders_without_data_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no CSV"):
        find_material(tmp_path)
    (tmp_path / "narrow.csv").write_text("a,b\n1,2\n2,1\n")
    with pytest.raises(InputError, match="at most 2 columns"):
        find_material(tmp_path)
    with pytest.raises(InputError, match="no folder"):
        find_material(tmp_path / "none")
    with pytest.raises(InputError, match="no data set"):
        Material().table("moon")


def test_every_published_figure_has_a_trial() -> None:
    known = {(trial.family, trial.method) for trial in thesis.plan(1)}
    for figure in THESIS_FIGURES:
        assert (figure.families[0], figure.method) in known
        assert figure.quantity in COLUMNS
        assert figure.place.startswith("Chen 2020")


def test_rivals_are_what_they_say(material: Material) -> None:
    table = material.table("tiny")
    pairs = set(map(tuple, codes_of(table)))
    for name, rival in RIVALS.items():
        copy = rival(table, 1)
        assert copy.schema == table.schema
        assert copy.num_rows == table.num_rows
        assert copy.equals(rival(table, 1))
        assert not copy.equals(rival(table, 2))
        records = set(map(tuple, codes_of(copy)))
        if name in ("bootstrap", "independent"):
            assert (records <= pairs) == (name == "bootstrap")


def test_rows_are_kept_and_the_page_is_made_again(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    def conduct(seeds: int, **options: object) -> list[Path]:
        return thesis.conduct(
            tmp_path / "out",
            seeds=seeds,
            experiments=["selection", "pressure"],
            methods=["exponential-rank:0.7"],
            command="python -m benchmarks thesis",
            on_row=lambda row, done, total: told.append((done, total)),
            **options,  # type: ignore[arg-type]
        )

    files = conduct(1)
    assert {path.name for path in files} == {
        "thesis.csv",
        "thesis.md",
        "thesis.pressure.svg",
        "thesis.provenance.json",
    }
    assert len(told) == 10
    page = (tmp_path / "out" / "thesis.md").read_text()
    assert "table 4.4" in page
    assert "6 / **" in page
    assert "made-up population" in page
    before = Store(files[0], KEY, COLUMNS).rows
    conduct(2, workers=2)
    assert len(told) == 20
    rows = Store(files[0], KEY, COLUMNS).rows
    assert len(rows) == 20
    assert all(row in rows for row in before)
    for row in (row for row in rows if row["family"] != "pressure-uniform"):
        # Converged: nothing changed for twenty generations, and all were alike.
        assert row["generations"] == row["converged"] + 20
        assert row["mean_after"] == pytest.approx(row["after"])
        assert row["fall"] == pytest.approx(1 - row["after"] / row["before"])


def test_a_run_that_was_cut_short_is_no_row(material: Material) -> None:
    def interrupt(entry: Generation) -> None:
        raise KeyboardInterrupt

    (trial,) = (
        t
        for t in thesis.plan(1, ["rates"], ["fixed"])
        if t.family == "rates-mixed4-made"
    )
    cut = replace(trial, options={**trial.options, "listener": interrupt})
    with pytest.raises(KeyboardInterrupt):
        cut.run(material, 1)


def test_selections_are_as_strong_as_theory_says() -> None:
    for method in PROPERTIES["uniform"]:
        theory = expected(method)
        row = PressureTrial("pressure-uniform", method, 1).run(Material(), 1)
        for quantity in ("loss", "pressure", "variance"):
            if f"{quantity}_theory" in theory:
                found = theory[f"{quantity}_theory"]
                assert row[quantity] == pytest.approx(found, abs=0.02)
        if "takeover_theory" in theory:
            found = theory["takeover_theory"]
            assert row["takeover"] == pytest.approx(found, rel=0.5)
    # Linear ranking of Blickle and Thiele: (1 - eta) / 4, and 1 / sqrt(pi) of it.
    row = PressureTrial("pressure-normal", "linear-rank:0", 1).run(Material(), 1)
    assert row["loss_expected"] == pytest.approx(0.25, abs=0.02)
    assert row["pressure"] == pytest.approx(0.5642, abs=0.02)


def test_diversity_is_the_deviation_of_the_distances_of_all_pairs() -> None:
    same = pa.table({"a": ["0", "1"]})
    other = pa.table({"a": ["2", "3"]})
    half = pa.table({"a": ["0", "2"]})
    # Distances are 1 (no cell shared) and twice sqrt(1/2) (half of them shared).
    found = diversity([same, other, half])
    distances = [1, np.sqrt(0.5), np.sqrt(0.5)]
    assert found["diversity"] == pytest.approx(np.std(distances))
    assert found["diversity_mean"] == pytest.approx(np.mean(distances))


def test_reference_data_keep_margins_and_lose_structure(material: Material) -> None:
    table = material.table("binary4")
    (own,) = Start("cart", size=1).frames(table, 1)
    (lost,) = Start("cart", reference=True, size=1).frames(table, 1)
    (free,) = Start("uniform", size=1).frames(table, 1)
    near, far, farther = (
        diversity([table, frame])["diversity_mean"] for frame in (own, lost, free)
    )
    assert near < far < farther


def test_mutants_are_the_farther_the_less_is_attributed(material: Material) -> None:
    found = measured(material.table("mixed4"), "values", 1, mutants=180)
    assert np.corrcoef(found.T)[0, 1] < -0.95
    assert (measured(material.table("mixed4"), "values", 1, 9) == found[:9]).all()


def test_people_are_found_in_the_sample_itself_as_the_metric_says() -> None:
    trial = PeopleTrial("people-other", "the sample itself", 1)
    row = trial.run(Material(), 1)
    assert row["found"] == row["found_original"] > 0


def test_rates_of_the_grid_are_all_there() -> None:
    trials = thesis.plan(1, ["adaptive"])
    families = {trial.family for trial in trials}
    assert len(families) == 5
    assert len(trials) == 48 * 5
    assert {t.options["objective"] for t in trials} == {"jsd:full"}


def test_unknown_parts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no family"):
        thesis.plan(1, ["kissing"])
    with pytest.raises(InputError, match="no trial"):
        thesis.plan(1, ["initial"], ["magic"])
    with pytest.raises(InputError, match="seeds is 0"):
        thesis.conduct(tmp_path, seeds=0, command="")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        thesis.conduct(tmp_path / "file", experiments=["selection"], command="")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "number", "published"),
    [("puc 0.3818", 1, 0.46), ("puc evosdc", 2, 0.33), ("puc 0.3818", 3, 0.19)],
)
def test_the_genetic_algorithm_falls_as_published(
    material: Material, method: str, number: int, published: float
) -> None:
    """Table 2 of section 5.2: how far the best fitness falls with PUC, by structure."""
    (trial,) = (
        t for t in thesis.plan(1, ["crossover"], [method]) if t.data == f"made{number}"
    )
    row = trial.run(material, 1)
    assert row["generations"] == 100
    assert row["fall"] >= published


def test_help_shows_the_defaults(bench: Callable[..., tuple[int, str, str]]) -> None:
    code, text, _ = bench("--help")
    assert code == 0
    assert "(default: made up)" in " ".join(text.replace("│", " ").split())
