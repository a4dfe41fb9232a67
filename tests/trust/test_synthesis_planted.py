"""Nothing personal is copied by default: people planted in files are not in copies."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from benchmarks.experiments.planted import (
    HUGE,
    IDENTIFIERS,
    KEY,
    LONE,
    TARGET,
    Planted,
    look,
    plant,
)
from builders import Command
from evosdc.errors import InputError
from evosdc.synth import Synthesiser

QUICK: dict[str, Any] = {"moves": 150_000, "generations": 10, "time_limit": None}


@cache
def _default(seed: int) -> Any:
    """What is found in the default copy of a file, and how it was made."""
    return _copied(plant(seed), seed)


def _copied(planted: Planted, seed: int, **options: Any) -> Any:
    model = Synthesiser(seed=seed, **{**QUICK, **options}).fit(planted.table)
    return look(planted, model.sample()), model


@pytest.mark.parametrize("seed", range(4))
def test_nothing_planted_is_in_a_default_copy(seed: int) -> None:
    found, model = _default(seed)
    assert found.problems == []
    groups = model.small_groups_.to_dict()
    assert groups["identifiers"] == dict.fromkeys(IDENTIFIERS, "drop")
    assert groups["pooled"]["job"] == 14
    assert groups["tails"]["income"] >= 2
    assert all(c["shown"] == 0 for c in groups["columns"])


def test_the_attacker_finds_everybody_without_the_guard() -> None:
    """The check itself can fail."""
    planted = plant(1)
    plain = planted.table.drop_columns(list(IDENTIFIERS))
    unguarded = {"least": 0, "noise_floor": False}
    found, model = _copied(Planted(plain, planted.people), 1, **unguarded)
    said = " ".join(found.problems)
    assert "job of fewer than 5" in said
    assert "income goes beyond" in said
    assert "age goes beyond" in said
    assert "a person with a rare job is in the copy, whole" in said
    assert any("small groups: not guarded" in note for note in model.notes_)


def test_people_with_a_job_of_their_own_are_there_as_often_as_by_chance() -> None:
    counts = {0: np.zeros(2), 5: np.zeros(2)}
    # Without any guard, as far as that goes: the check itself can fail.
    guards = {0: {"least": 0, "noise_floor": False}, 5: {"least": 5}}
    chance = np.zeros(2)
    for seed in range(4):
        planted = plant(seed)
        plain = planted.table.drop_columns([*IDENTIFIERS, "income"])
        # What is looked for is in the other columns; the fewer, the nearer a search is.
        fixed = pa.array(np.full(planted.table.num_rows, 100))
        for least, total in counts.items():
            options = {**QUICK, "moves": 400_000, **guards[least]}
            model = Synthesiser(seed=seed, **options)
            copy = model.fit(plain).sample().append_column("income", fixed)
            found = look(planted, copy)
            total += found.whole, found.nearly
        chance += found.chance_whole, found.chance_nearly
    # A Poisson count is hardly above its mean by three standard deviations.
    most = chance + 3 * np.sqrt(chance) + 1
    assert (counts[5] <= most).all()
    assert counts[0][1] > counts[5][1]
    assert (counts[0] > most).any()


def test_few_peoples_pairs_are_shown_no_more_than_by_chance() -> None:
    pairs = _default(2)[1].small_groups_.to_dict()["pairs"]
    assert pairs["few"] > 100
    assert pairs["shown"] < pairs["chance"]
    assert {"first", "second", "few", "shown", "chance"} == set(pairs["by_pair"][0])


def test_numbers_are_compared_as_they_are_and_hold() -> None:
    planted = plant(3)
    _, model = _default(3)
    (income,) = [n for n in model.small_groups_.numbers if n.name == "income"]
    real = np.array(planted.table["income"].to_pylist(), float)
    assert income.original["mean"] == pytest.approx(real.mean(), rel=1e-4)
    middle = real[(real > 0) & (real < HUGE)]
    assert income.synthetic["mean"] == pytest.approx(middle.mean(), rel=0.03)
    assert income.synthetic["sd"] == pytest.approx(middle.std(), rel=0.1)
    for name in ("q5", "q25", "q50", "q75", "q95"):
        ours = income.synthetic[name]
        assert ours == pytest.approx(income.original[name], rel=0.05)


def test_identifiers_are_replaced_or_kept_as_asked() -> None:
    planted = plant(4)
    table = planted.table
    wishes = dict.fromkeys(IDENTIFIERS, "new")
    # Names are given after the search: it may be short.
    short = {**QUICK, "moves": 10_000, "generations": 2}
    model = Synthesiser(identifiers=wishes, seed=4, **short).fit(table)
    copy = model.sample()
    assert copy.column_names == table.column_names
    for name in IDENTIFIERS:
        fresh, real = copy[name].to_pylist(), set(table[name].to_pylist())
        assert not real & set(fresh)
        assert type(fresh[0]) is type(next(iter(real)))
    assert len(set(copy["pid"].to_pylist())) == table.num_rows
    assert all(len(c) == 7 and c[0].isupper() for c in copy["code"].to_pylist())
    # Kept means ordinary: still pooled.
    model = Synthesiser(identifiers={"note": "keep"}, seed=4, **short).fit(table)
    kept = model.sample()["note"].to_pylist()
    assert not set(kept) & set(table["note"].to_pylist())


def test_an_identifier_cannot_be_part_of_the_attack_and_dropped() -> None:
    table = plant(0).table
    with pytest.raises(InputError, match="has a part in the attack"):
        Synthesiser(["pid"], "disease", identifiers={"pid": "drop"}).fit(table)
    with pytest.raises(InputError, match="unknown column 'shoe'"):
        Synthesiser(identifiers={"shoe": "drop"}).fit(table)
    with pytest.raises(InputError, match="drop, new, keep"):
        Synthesiser(identifiers={"pid": "burn"}).fit(table)
    with pytest.raises(InputError, match="least is -1"):
        Synthesiser(least=-1).fit(table)
    with pytest.raises(InputError, match="have 3 records"):
        Synthesiser().fit(table.slice(0, 3))


def test_a_category_of_one_person_is_not_in_the_list_of_categories_either() -> None:
    frame = plant(5).table.to_pandas()[["job", "sex", "region"]]
    frame["job"] = frame["job"].astype("category")
    copy = Synthesiser(**QUICK).fit_sample(frame)
    assert isinstance(copy["job"].dtype, pd.CategoricalDtype)
    assert not any(c.startswith(LONE) for c in copy["job"].cat.categories)
    assert "other" in copy["job"].cat.categories


def test_the_command_says_what_it_did_and_names_no_rare_level(
    run: Command, tmp_path: Path
) -> None:
    planted = plant(6)
    planted.table.to_pandas().to_csv(tmp_path / "in.csv", index=False)
    arguments = ["synthesise", str(tmp_path / "in.csv"), "--key", ",".join(KEY)]
    arguments += ["--target", TARGET, "--generations", "5", "--moves", "50000"]
    code, text, _ = run(
        *arguments, "-o", str(tmp_path / "a"), "--identifier", "pid=new"
    )
    assert code in (0, 3)
    said = " ".join(text.split())
    assert "'note' (nearly unique texts) is NOT in the copy" in said
    assert "'pid' (as asked) has fresh values" in said
    assert "levels of 'job' that fewer than 5 people have were pooled" in said
    _, text, _ = run(
        *arguments, "-o", str(tmp_path / "b"), "--min-group", "0", "--json"
    )
    groups = json.loads(text)["small_groups"]
    assert groups["least"] == 0
    assert not groups["guarded"]
    inside = tmp_path / "a" / "confidential"
    page = (inside / "report.html").read_text()
    assert "Small groups" in page
    assert "job × " in page or " × job" in page
    for secret in (LONE, str(HUGE), "Mill Lane"):
        assert secret not in said
        assert secret not in page
    folder = tmp_path / "a" / "publish" if code == 0 else inside
    copy = pd.read_csv(folder / "synthetic.csv")
    assert "note" not in copy
    assert not copy["job"].str.startswith(LONE).any()
