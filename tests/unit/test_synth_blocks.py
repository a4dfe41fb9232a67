"""One candidate in blocks of records: counters add up, and any number of cores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from builders import shuffled_columns, synthesis_problem
from evosdc.synth import Synthesiser
from evosdc.synth.data.exact_values import LevelValues
from evosdc.synth.objective.risk import no_risk
from evosdc.synth.search import blocks
from evosdc.synth.search.population import Tally


def problem(records: int = 203):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, (records, 3)).astype(np.int16)
    return synthesis_problem(codes, np.full(3, 4), "jsd:1,2")


@pytest.mark.parametrize("turn", [0, 1])
def test_blocks_hold_every_record_once(turn):
    found = blocks.cut(Tally(problem()), 203, turn)
    held = np.concatenate([np.arange(b.begin, b.end) for b in found])
    assert (held == np.arange(203)).all()
    assert len(found) == 4 + turn


def test_blocks_end_elsewhere_the_next_time():
    ends = [{b.end for b in blocks.cut(Tally(problem()), 203, t)} for t in (0, 1)]
    assert ends[0] & ends[1] == {203}


def test_what_blocks_change_adds_up():
    whole = problem()
    before = shuffled_columns(whole, 1)
    tally = Tally(whole)
    tally.count(before)
    found = blocks.cut(tally, len(before), 1)
    after = before.copy()
    for block in found:
        # Every block changes its own records, and counts the others as they were.
        seen = before.copy()
        seen[block.begin : block.end, 1] = block.begin % 4
        after[block.begin : block.end] = seen[block.begin : block.end]
        block.tally.count(seen)
    blocks.add_up(tally, found)
    fresh = Tally(whole)
    fresh.count(after)
    for mine, theirs in zip(tally.counters, fresh.counters, strict=True):
        assert mine == pytest.approx(theirs)
    assert (fresh.counts != found[0].tally.counts).any()


def test_records_of_a_block_find_the_values_they_drew():
    codes = np.zeros((6, 2), np.int16)
    index = no_risk(codes, np.array([1, 1]))
    values = LevelValues(
        np.array([0, -1]), np.array([-2]), np.arange(6, dtype=np.int32)
    )
    risk = index._replace(values=values, by_value=True)
    here = blocks.risk_of(risk, 4)
    # Record 1 of the block is record 5 of the file.
    assert here.values.drawn[1 - here.values.head[0] - 2] == 5
    assert blocks.risk_of(index, 4) is index


def test_small_files_stay_whole():
    assert not blocks.worth_cutting(3_999)
    assert blocks.worth_cutting(4_000)
    assert blocks.moves_at_once(5_000) == 10_000
    assert blocks.moves_at_once(1_000_000) == 40_000


def test_few_cells_are_added_up_often():
    assert blocks.moves_between(5_000, 1_000_000) == 10_000
    assert blocks.moves_between(50_000, 11_000) == 1_100
    assert blocks.moves_between(50_000, 500) == 200


def test_the_copy_is_the_same_on_any_number_of_cores(monkeypatch):
    monkeypatch.setattr(blocks, "_MIN_RECORDS", 200)
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 4, 400)
    people = pd.DataFrame(
        {
            "kind": kind,
            "size": kind + rng.integers(0, 3, 400),
            "sex": rng.choice(["f", "m"], 400),
        }
    )
    options = {"seed": 1, "moves": 4_000, "generations": 4}
    made = [
        Synthesiser(["kind", "sex"], "size", workers=w, **options).fit(people)
        for w in (1, 3)
    ]
    pd.testing.assert_frame_equal(made[0].sample(), made[1].sample())
    assert made[0].utility_ == made[1].utility_
    assert made[0].risk_met_
