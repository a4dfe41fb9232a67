"""Attacks on copies: what boosted trees learn, who is replaced, and the page."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.experiments.attacks import Row, _guesses, _write, boosted_auc, conduct
from benchmarks.experiments.planted import SOME, plant, replaced
from benchmarks.experiments.provenance import provenance_now
from evosdc.errors import InputError


def people(seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 8, 600)
    other = rng.random(600) < 0.1
    state = np.where(other, rng.integers(0, 2, 600), age > 3)
    return pa.table({"age": age, "sex": rng.choice(["f", "m"], 600), "state": state})


@pytest.mark.slow
def test_boosted_trees_learn_what_a_copy_keeps():
    assert boosted_auc(people(1), people(2)) > 0.9
    # Everybody twice, once in either state: nothing is left to learn.
    one = people(1)
    states = [pa.array(np.full(600, state)) for state in (0, 1)]
    both = pa.concat_tables([one.set_column(2, "state", s) for s in states])
    assert boosted_auc(both, people(2)) == pytest.approx(0.5)


def test_a_column_of_many_levels_is_no_target():
    table = people(1).append_column("pay", pa.array(np.arange(600)))
    assert boosted_auc(table, table) is None


def test_a_python_without_the_package_is_named(tmp_path: Path):
    with pytest.raises(InputError, match="anonymeter"):
        _guesses(Path(sys.executable), tmp_path, 1)
    with pytest.raises(InputError, match="there is no --python"):
        conduct(
            tmp_path,
            data=tmp_path,
            python=None,
            seeds=1,
            time_limit=1.0,
            files=(),
            command="",
            on_row=lambda row: None,
        )


def test_the_page_has_a_line_for_each_copy(tmp_path: Path):
    attacks = ("singling out 3", "singling out 4", "singling out 5", "inference")
    rows = [
        Row("census", copy, 1, name, 0.25, 0.125)
        for copy in ("evosdc", "sequential trees")
        for name in attacks
    ]
    rows.append(Row("census", "evosdc", 1, "jsd_3", 0.0321))
    _, page = _write(tmp_path, rows, provenance_now("attacks", 1))
    lines = [x for x in page.read_text().splitlines() if x.startswith("| ")]
    assert sum("0.250 (0.125)" in line for line in lines) == 2
    (ours,) = [line for line in lines if line.startswith("| evosdc |")]
    assert "0.0321" in ours


def test_people_are_replaced_and_nobody_else_changes():
    planted = plant(3)
    gone = planted.people["some"][:4]
    made = replaced(planted, gone, 3).table.to_pandas()
    real = planted.table.to_pandas()
    kept = np.delete(np.arange(len(real)), gone)
    assert made.iloc[kept].equals(real.iloc[kept])
    assert (made.job.iloc[gone] == SOME).all()
    values = ["age", "sex", "region", "disease"]
    assert (made[values].iloc[gone] != real[values].iloc[gone]).any(axis=1).all()
