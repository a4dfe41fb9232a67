"""NIST's board on a made-up excerpt: the two figures, and the files."""

from __future__ import annotations

import csv
import gzip
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks.experiments import nist
from benchmarks.experiments.nist_rules import impossible, impossible_records
from evosdc.errors import InputError
from evosdc.synth import Synthesiser


def columns(size: int = 400, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 90, size)
    return {
        "PUMA": rng.choice(["48-01", "48-02"], size),
        "AGEP": age.astype(str),
        "SEX": rng.integers(1, 3, size).astype(str),
        "MSP": np.where(age < 15, "N", rng.integers(1, 4, size).astype(str)),
    }


def test_a_file_scores_1000_against_itself_and_less_against_another():
    one = columns()
    assert nist.k_marginal(one, one) == 1000.0
    other = {**one, "SEX": np.roll(one["SEX"], 1)}
    assert nist.k_marginal(one, other) < 990.0
    # However a number is written.
    same = {**one, "SEX": np.array([f"{s}.0" for s in one["SEX"]])}
    assert nist.k_marginal(one, same) == 1000.0


def test_lone_people_are_counted_whole():
    one = {"a": np.array(["1", "1", "2", "3"]), "b": np.array(["x", "x", "y", "z"])}
    two = {"a": np.array(["1", "2", "2", "9"]), "b": np.array(["x", "y", "y", "z"])}
    assert nist.matches(one, one) == 50.0
    assert nist.matches(one, two) == 25.0


def test_records_that_cannot_be_are_counted_once():
    one = {
        "AGEP": np.array(["3", "40", "2", "50", "12"]),
        "MSP": np.array(["1", "1", "N", "N", "N"]),
        "PINCP_DECILE": np.array(["4", "5", "N", "N", "N"]),
        "NPF": np.array(["3", "2", "4", "N", "4"]),
        "NOC": np.array(["1", "2", "0", "N", "0"]),
    }
    # A married child with an income, a couple of children only, an adult with neither.
    assert impossible_records(one) == 3
    assert impossible(one) == {
        "marital status from 15 on": 2,
        "decile of income from 15 on": 2,
        "more people than children": 1,
    }
    assert impossible_records({"SEX": np.array(["1", "2"])}) == 0


@pytest.mark.slow
def test_the_board_is_written_with_our_line_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("matplotlib")
    # Ended by generations: how far a few seconds go depends on the machine.
    monkeypatch.setattr(nist, "Synthesiser", partial(Synthesiser, generations=50))
    one = columns()
    with gzip.open(tmp_path / "tx2019.csv.gz", "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(one)
        writer.writerows(zip(*one.values(), strict=True))
    (tmp_path / "crc_scores.csv").write_text(
        "target,library,algorithm,feature_set,epsilon,k_marginal,"
        "unique_matched_pct_of_all\n"
        "tx2019,trees,cart,family-focused,,930,9.8\n"
        "ma2019,trees,cart,family-focused,,939,9.8\n"
    )
    asked = {
        "data": tmp_path,
        "seeds": 1,
        "time_limit": 600.0,
        "target": "tx2019",
        "command": "test",
        "on_row": lambda entry: None,
    }
    paths = nist.conduct(tmp_path / "out", families=["family-focused"], **asked)
    page = paths[1].read_text()
    assert "**evosdc**, seed 1" in page
    assert "| trees, cart |  | 930.0 | 9.80 |  |  |" in page
    assert "939" not in page
    rows = list(csv.DictReader(paths[0].open()))
    (mine,) = [r for r in rows if r["library"] == "evosdc"]
    rng = np.random.default_rng(1)
    apart = {name: rng.permutation(values) for name, values in one.items()}
    assert nist.k_marginal(one, apart) < float(mine["score"]) <= 1000
    # What is there is not made again, and stays on the page of other features.
    monkeypatch.setattr(nist, "Synthesiser", None)
    asked["on_row"] = pytest.fail
    again = nist.conduct(tmp_path / "out", families=["family-focused"], **asked)
    assert again[1].read_text().splitlines()[:9] == page.splitlines()[:9]
    with pytest.raises(InputError, match="unknown features 'all'"):
        nist.conduct(tmp_path / "out", families=["all"], **asked)
