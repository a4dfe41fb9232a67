"""A synthesis that was cut short goes on as if nothing had happened."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import evosdc
from evosdc.errors import InputError
from evosdc.io import checkpoint as checkpoints
from evosdc.io.checkpoint import (
    pack_arrays,
    read_checkpoint,
    unpack_arrays,
    write_checkpoint,
)

RUNS: dict[str, dict[str, Any]] = {
    "one answer": {"moves": 3000},
    "a front": {"mode": "pareto", "moves": 2000, "population": 3},
    "genetic": {
        "memetic": False,
        "mode": "weighted",
        "population": 6,
        "mutation_rate": "self:0.01:0.2",
    },
}


class KilledError(Exception):
    """Stands for kill -9: nothing after it is done."""


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rng = np.random.default_rng(1)
    age = rng.integers(0, 5, 150)
    return pa.table(
        {
            "age": age,
            "sex": rng.choice(["m", "f"], 150),
            "job": np.array(["a", "b", "c"])[(age + rng.integers(0, 2, 150)) % 3],
        }
    )


def synthesised(people: pa.Table, **options: Any) -> evosdc.Synthesis:
    usual = {"generations": 8, "time_limit": None, "workers": 1, "seed": 3}
    usual["noise_floor"] = False  # it would be reached at once
    return evosdc.synthesise(people, **{**usual, **options})


def cut_short(people: pa.Table, path: Path, after: int, **options: Any) -> None:
    """Leave the checkpoint of a run that got so far, with every generation in it."""

    def crash(generation: Any) -> None:
        if generation.generation == after:
            raise KilledError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "INTERVAL", 0.0)
        patch.setattr(checkpoints, "INTERVAL_IF_BETTER", 0.0)
        with pytest.raises(KilledError):
            synthesised(people, checkpoint=path, listener=crash, **options)


@pytest.mark.parametrize("kind", RUNS)
def test_the_same_copies_as_without_a_cut(
    people: pa.Table, tmp_path: Path, kind: str
) -> None:
    options = RUNS[kind]
    path = tmp_path / "checkpoint.json"
    whole = synthesised(people, **options)
    for after in (1, 5):
        cut_short(people, path, after, **options)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert read_checkpoint(path)["run"]["generation"] == after - 1
        again = synthesised(people, checkpoint=path, resume=True, **options)
        assert again.model.record_[0].generation == after - 1
        for one, other in zip(again.copies, whole.copies, strict=True):
            assert one.equals(other)
        assert any("from a checkpoint" in note for note in again.model.notes_)
        assert not path.exists()


def test_what_was_spent_counts(people: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.json"
    cut_short(people, path, 3)
    content = read_checkpoint(path)
    write_checkpoint(
        path, {**content, "seconds": 1000.0, "run": {**content["run"], "spent": 1000.0}}
    )
    ended = synthesised(people, checkpoint=path, resume=True, time_limit=900.0)
    assert ended.model.reason_ == "time limit"
    assert ended.model.generations_ == 2
    assert ended.model.seconds_ >= 1000


def test_other_records_and_options_are_refused(
    people: pa.Table, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint.json"
    cut_short(people, path, 3)
    before = path.read_bytes()
    other = people.set_column(1, "sex", pa.array(["m"] * 75 + ["f"] * 75))
    with pytest.raises(InputError, match="they differ in column 'sex'"):
        synthesised(other, checkpoint=path, resume=True)
    with pytest.raises(InputError, match="'seed': 3 there, 4 here"):
        synthesised(people, checkpoint=path, resume=True, seed=4)
    with pytest.raises(InputError, match="another setting of 'rules'") as refused:
        synthesised(people, checkpoint=path, resume=True, rules=["age > 4"])
    assert "age > 4" not in str(refused.value)
    with pytest.raises(InputError, match="--resume"):
        synthesised(people, checkpoint=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda e: {"codes": e["codes"] + 7},
        lambda e: {"codes": e["codes"][:, :-1]},
        lambda e: {"slots": e["slots"] + 50},
        lambda e: {"chosen": {"9": [[0, 1]]}},
        lambda e: {"random": {"bit_generator": "MT19937"}},
    ],
)
def test_what_cannot_be_is_damaged(
    people: pa.Table, tmp_path: Path, damage: Any
) -> None:
    path = tmp_path / "checkpoint.json"
    cut_short(people, path, 3)
    content = read_checkpoint(path)
    run = unpack_arrays(content["run"])
    run["engine"] |= damage(run["engine"])
    write_checkpoint(path, {**content, "run": pack_arrays(run)})
    with pytest.raises(InputError, match="damaged"):
        synthesised(people, checkpoint=path, resume=True)
    assert path.exists()


def test_an_error_before_the_search_leaves_nothing(
    people: pa.Table, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint.json"
    with pytest.raises(InputError):
        synthesised(people, checkpoint=path, key=["nobody"], target="sex")
    assert list(tmp_path.iterdir()) == []


def test_arrays_are_packed_and_unpacked() -> None:
    value = {"a": [np.arange(6, dtype=np.int16).reshape(2, 3), None, 1.5], "b": "x"}
    back = unpack_arrays(pack_arrays(value))
    assert np.array_equal(back["a"][0], value["a"][0])
    assert back["a"][1:] == [None, 1.5]
    packed = pack_arrays(np.arange(3))
    with pytest.raises(ValueError, match="numbers"):
        unpack_arrays({**packed, "type": "|O"})
    with pytest.raises(ValueError, match="reshape"):
        unpack_arrays({**packed, "shape": [4]})
