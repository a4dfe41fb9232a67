"""The original in disguise: spelt differently, levels exchanged, in other units."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from builders import Command
from evosdc import api
from evosdc.errors import InputError
from evosdc.io import write_records
from evosdc.metrics.data import from_codes
from evosdc.metrics.disguised import _Matcher
from evosdc.metrics.spelling import plain_form, respelt

KEY, TARGET = ["age", "sex", "town"], "ill"
Disguise = Callable[[pa.Table], pa.Table]


def people(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    town = rng.integers(1, 25, rows)
    income = np.round(np.exp(rng.normal(7, 0.5, rows)) + 5 * age, 1)
    return pa.table(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], rows, p=[0.52, 0.48]),
            "town": np.char.zfill(town.astype(str), 3),
            "job": rng.choice(["cook", "clerk", "nurse", "smith", "none"], rows),
            "rooms": rng.integers(1, 8, rows),
            "since": pa.array((town * 4 + rng.integers(0, 60, rows)).astype("M8[D]")),
            "income": income,
            "ill": np.where(rng.random(rows) < 0.1 + age / 150, "yes", "no"),
        }
    )


def coarse(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    names = {"a": "xy", "b": "pqr", "c": "uv"}
    return pa.table(
        {name: rng.choice(list(levels), rows) for name, levels in names.items()}
    )


def on(name: str, change: Callable[[list], list]) -> Disguise:
    def disguise(frame: pa.Table) -> pa.Table:
        at = frame.column_names.index(name)
        return frame.set_column(at, name, pa.array(change(frame[name].to_pylist())))

    return disguise


def each(name: str, change: Callable[..., object]) -> Disguise:
    return on(name, lambda values: [change(v) for v in values])


def exchanged(name: str) -> Disguise:
    def change(values: list) -> list:
        levels = sorted(set(values))
        other = dict(zip(levels, levels[1:] + levels[:1], strict=True))
        return [other[v] for v in values]

    return on(name, change)


def both(*parts: Disguise) -> Disguise:
    def disguise(frame: pa.Table) -> pa.Table:
        for part in parts:
            frame = part(frame)
        return frame

    return disguise


def shuffled(frame: pa.Table) -> pa.Table:
    return frame.take(np.random.default_rng(3).permutation(frame.num_rows))


def mixed(part: Disguise) -> Disguise:
    """Other people, half of them real and in disguise."""

    def disguise(frame: pa.Table) -> pa.Table:
        half = frame.num_rows // 2
        other = part(people(frame.num_rows, 99))
        return pa.concat_tables([other[half:], part(frame)[:half]])

    return disguise


zeros = each("town", lambda v: v.lstrip("0"))
DISGUISES = {
    "itself": shuffled,
    "zeros lost": zeros,
    "case": each("sex", str.upper),
    "some case": on(
        "job", lambda v: [x.title() if k % 2 else x for k, x in enumerate(v)]
    ),
    "quoted": each("sex", lambda v: f"'{v}'"),
    "blanks": each("job", lambda v: f" {v}\u00a0"),
    "point zero": each("town", lambda v: f"{int(v)}.0"),
    "exchanged": exchanged("sex"),
    "exchanged, many levels": exchanged("town"),
    "exchanged numbers": exchanged("rooms"),
    "zeros and case": both(zeros, each("sex", str.upper)),
    "zeros and exchanged": both(zeros, exchanged("sex")),
    "exchanged twice": both(exchanged("sex"), exchanged("job")),
    "everything exchanged": both(*map(exchanged, ("sex", "town", "job", "rooms"))),
    "number scaled": each("income", lambda v: 1.1 * v + 7),
    "two numbers scaled": both(
        each("income", lambda v: 1.3 * v), each("age", lambda v: v * 2 - 40)
    ),
    "number reversed": each("income", lambda v: 4000 - v),
    "codes in another order": each("age", lambda v: 18 + 31 * v % 73),
    "column shuffled": on("income", lambda v: v[7:] + v[:7]),
    "half of the people, column shuffled": lambda frame: on(
        "income", lambda v: v[7:] + v[:7]
    )(frame[:300]),
    "column dropped": lambda frame: shuffled(frame).drop_columns(["job"]),
    "column dropped, another exchanged": lambda frame: exchanged("sex")(
        frame.drop_columns(["job"])
    ),
    "noise on few values": each("rooms", lambda v: v + 0.001),
    "one in two, exchanged": mixed(exchanged("sex")),
}


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES.keys())
def test_the_original_in_disguise_is_not_fit(disguise: Disguise) -> None:
    frame = people(600, 1)
    found = api.evaluate(
        frame, disguise(frame), key=KEY, target=TARGET, time_limit=1e-3
    )
    assert found.verdict.word == "not fit for release"
    assert any("no time" not in reason for reason in found.reasons)


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_the_original_of_common_combinations_in_disguise_is_not_fit(name: str) -> None:
    """Every attack finds as much with other people, whatever the names."""
    frame = coarse(600, 2)
    made = shuffled(exchanged(name)(frame))
    found = api.evaluate(frame, made, key=["a", "b"], target="c", time_limit=1e-3)
    assert found.verdict.word == "not fit for release"
    assert "levels renamed" in " ".join(found.reasons)


def test_other_people_are_fit() -> None:
    passed = 0
    for seed in range(10):
        frame, other = people(500, 10 + seed), people(500, 50 + seed)
        found = api.evaluate(
            frame, other, key=KEY, target=TARGET, seed=seed, time_limit=1e-3
        )
        passed += found.fit
        first, second = coarse(400, 20 + seed), coarse(400, 60 + seed)
        found = api.evaluate(
            first, second, key=["a", "b"], target="c", seed=seed, time_limit=1e-3
        )
        passed += found.fit
    assert passed >= 19


def test_other_people_in_disguise_are_fit_too() -> None:
    """Names are no reason against a file of other people."""
    for disguise in (zeros, each("sex", str.upper), exchanged("sex")):
        found = api.evaluate(
            people(500, 1),
            disguise(people(500, 2)),
            key=["age", "town"],
            target=TARGET,
            time_limit=1e-3,
        )
        assert found.reasons == ()


@pytest.mark.parametrize(
    "disguise",
    [
        each("sex", lambda v: {"f": "2", "m": "1"}[v]),
        each("income", lambda v: v / 1000),
        each("age", lambda v: 12 * v),
        each("since", lambda v: v.replace(year=v.year + 70)),
    ],
    ids=["recoded", "thousands", "months", "dates"],
)
def test_columns_of_other_values_end_the_evaluation(
    disguise: Disguise, run: Command, tmp_path: Path
) -> None:
    frame = people(400, 4)
    with pytest.raises(InputError, match=r"hardly those of the original"):
        api.evaluate(frame, disguise(frame), key=KEY, target=TARGET)
    write_records(tmp_path / "real.csv", frame)
    write_records(tmp_path / "made.csv", disguise(frame))
    words = ["evaluate", tmp_path / "real.csv", tmp_path / "made.csv"]
    words += ["--key", ",".join(KEY), "--target", TARGET, "-o", tmp_path / "out"]
    code, _, error = run(*words)
    assert code == 2
    assert "hardly those of the original" in " ".join(error.split())
    assert not (tmp_path / "out" / "confidential").exists()


def test_a_holdout_of_other_values_ends_the_evaluation() -> None:
    frame, other = people(300, 5), each("sex", lambda v: f"s-{v}")(people(300, 6))
    with pytest.raises(InputError, match=r"'sex' in the hold-out"):
        api.evaluate(frame, people(300, 7), key=KEY, target=TARGET, holdout=other)


def test_dates_in_another_format_end_the_evaluation(tmp_path: Path) -> None:
    frame = people(300, 8)
    write_records(tmp_path / "real.csv", frame)
    made = each("since", lambda v: f"{v:%d.%m.%Y}")(frame)
    write_records(tmp_path / "made.csv", made)
    with pytest.raises(InputError, match="'since' is number and text"):
        api.evaluate(
            tmp_path / "real.csv", tmp_path / "made.csv", key=KEY, target=TARGET
        )


def test_an_identifier_spelt_differently_is_found() -> None:
    frame = people(300, 9)
    rng = np.random.default_rng(9)
    codes = [f"id{k:05d}x" for k in rng.permutation(90_000)[:300]]
    frame = frame.append_column("code", pa.array(codes))
    other = people(300, 10).append_column("code", pa.array([c.upper() for c in codes]))
    found = api.evaluate(frame, other, key=KEY, target=TARGET, time_limit=1e-3)
    assert "people whose code is there" in " ".join(found.reasons)


def test_no_two_values_of_the_original_are_taken_for_one() -> None:
    original = pa.table({"k": ["1", "01", "a", "2", None]})
    other = pa.table({"k": ["001", "A", "'2.0'", "01", None]})
    made, changed = respelt(original, other)
    # 001 may be 1 or 01: it stays.
    assert made["k"].to_pylist() == ["001", "a", "2", "01", None]
    assert changed == ("k",)
    assert respelt(original, original) == (original, ())


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("007", "7"),
        ("0", "0"),
        ("-0.50", "-0.5"),
        ("1,5", "1.5"),
        ("+3.0", "3"),
        (" «M» ", "m"),
        ("New\u00a0 York", "new york"),
        ("A01", "a01"),
        (".", "."),
        ("", ""),
    ],
)
def test_plain_forms(text: str, form: str) -> None:
    assert plain_form(text) == form


def test_a_sample_may_have_no_number_of_a_column() -> None:
    """Of a column that is nearly empty; the last level is that of missing values."""
    codes = np.array([[4, 0], [4, 1], [4, 0]])
    levels, names = [5, 2], ("income", "ill")
    data = from_codes(
        codes, key=(0,), target=1, levels=levels, names=names, ordered=[True, False]
    )
    matcher = _Matcher(data, data)
    same = [np.arange(size) for size in levels]
    found = matcher.improved(same, matcher.by_pairs)
    assert [names.tolist() for names in found] == [names.tolist() for names in same]
