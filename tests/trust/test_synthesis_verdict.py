"""The verdict on synthetic data: one figure, its exit code, and what it is about."""

from __future__ import annotations

import json
import stat
from collections import Counter, defaultdict
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from builders import Command, records_in
from evosdc import api
from evosdc.api.microdata import _evaluated, _joined
from evosdc.io import read_records, write_records
from evosdc.metrics import evaluate
from evosdc.report.synthesis import synthesis_html
from evosdc.results.claims import synthetic_claim_of
from evosdc.results.folder import write_claim
from evosdc.synth import Synthesiser

KEY = ["age", "income", "sex"]
NAMES = ("--key", ",".join(KEY), "--target", "ill")
MOVES = ("--generations", 4, "--moves", 40_000)


def people(rows: int, seed: int) -> pa.Table:
    """Return people whose key has numbers of many values; some are missing.

    Incomes are in thousands, so that a drawn one may be that of somebody.
    """
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    income = np.round(np.exp(rng.normal(3.2, 0.5, rows)) + age / 4) / 2
    town = rng.integers(0, 12, rows)
    job = (town // 3 + rng.integers(0, 3, rows)) % 6
    ill = rng.random(rows) < 0.1 + age / 150
    return pa.table(
        {
            "age": age,
            "income": pa.array(income, mask=rng.random(rows) < 0.05),
            "sex": rng.choice(["f", "m"], rows),
            "town": np.char.add("t", town.astype(str)),
            "job": np.char.add("j", job.astype(str)),
            "rooms": rng.integers(1, 8, rows),
            "ill": np.where(ill, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("people")


@pytest.fixture(scope="module")
def census(folder: Path) -> Path:
    write_records(folder / "census.csv", people(900, 1))
    return folder / "census.csv"


def attacker(original: Path, synthetic: Path) -> dict[str, float]:
    """Count the risks from two files with nothing but text: the naive twin."""
    real, made = records_in(original), records_in(synthetic)
    key = [tuple(row[name] for name in KEY) for row in real]
    often, again = Counter(key), Counter(tuple(r[n] for n in KEY) for r in made)
    targets = defaultdict(Counter)
    for row in made:
        targets[tuple(row[name] for name in KEY)][row["ill"]] += 1
    chance = [
        targets[k][row["ill"]] / again[k] if again[k] else 0.0
        for k, row in zip(key, real, strict=True)
    ]
    alone = [c for k, c in zip(key, chance, strict=True) if often[k] == 1]
    both = sum(often[k] == 1 == again[k] for k in often)
    return {
        "dcap": sum(chance) / len(chance),
        "dcap-u": sum(alone) / len(alone),
        "uniques": both / len(made),
        "disco": sum(c == 1.0 for c in chance) / len(chance),
    }


@pytest.mark.parametrize("engine", [(), ("--no-memetic", "--population", 8)])
def test_there_is_one_figure_for_one_file(
    run: Command, census: Path, tmp_path: Path, engine: tuple[object, ...]
) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    options = (*NAMES, *MOVES, *engine, "--json")
    _, text, _ = run("synthesise", census, *options, "-o", out)
    made = json.loads(text)
    (copy,) = out.glob("*/synthetic.csv")
    _, text, _ = run("evaluate", census, copy, *NAMES, "-o", again, "--json")
    found = json.loads(text)
    assert made["risk"] == found["risk"]
    assert made["risk"]["dcap-u"] == found["metrics"]["dcap_u"]["value"]
    assert made["risk"] == pytest.approx(attacker(census, copy))
    # Numbers of many values as they are: most people have a key of their own.
    unique = dict(found["metrics"])["dcap_u"]
    assert unique["baselines"]["original"] == 1.0
    assert made["risk"]["dcap"] > 0


def test_the_search_follows_the_keys_that_the_file_will_have() -> None:
    """Its counters, moved record by record, end at what the copy's values give."""
    frame = people(400, 2)
    model = Synthesiser(
        KEY,
        "ill",
        generations=3,
        moves=30_000,
        population=1,
        noise_floor=False,
        mode="weighted",
        risk_weight=0.001,
    ).fit(frame)
    made = evaluate(frame, model.sample(), key=KEY, target="ill", metrics=[])
    assert list(model.risk_.values()) == list(made.risk.values())
    assert model.record_[-1].risks == pytest.approx(tuple(made.risk.values()))
    assert made.risk["dcap"] > 0


def test_a_target_of_many_values_has_the_same_classes_in_search_and_evaluation() -> (
    None
):
    frame = people(400, 3)
    options = {"key": ["age", "town"], "target": "income"}
    model = Synthesiser(**options, generations=3, moves=30_000).fit(frame)
    made = evaluate(frame, model.sample(), metrics=[], **options)
    assert made.target_in_classes
    assert model.risk_ == made.risk
    assert made.risk["dcap"] > 0


def bootstrap(frame: pa.Table) -> pa.Table:
    rng = np.random.default_rng(5)
    return frame.take(rng.integers(0, frame.num_rows, frame.num_rows))


def jittered(frame: pa.Table) -> pa.Table:
    """Every person again, with an income that is off by very little."""
    income = np.asarray(frame["income"].to_numpy()) + 1e-4
    return frame.set_column(1, "income", pa.array(income, from_pandas=True))


def mixed(frame: pa.Table) -> pa.Table:
    """Strangers, and one person in ten is real."""
    tenth = frame.num_rows // 10
    return pa.concat_tables([people(frame.num_rows - tenth, 77), frame[:tenth]])


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda frame: frame, 3),
        (bootstrap, 3),
        (jittered, 3),
        (mixed, 3),
        (lambda frame: people(900, 77), 0),
        (lambda frame: people(500, 78), 0),
    ],
    ids=["itself", "bootstrap", "jittered", "mixed", "others", "fewer others"],
)
def test_the_exit_code_is_the_verdict(
    run: Command, census: Path, tmp_path: Path, make: Callable[..., pa.Table], code: int
) -> None:
    made = tmp_path / "made.csv"
    write_records(made, make(read_records(census).frame))
    # One second leaves no time for every measure of utility, but for the verdict.
    words = ("evaluate", census, made, *NAMES, "-o", tmp_path / "out", "--json")
    ended, text, _ = run(*words, "--time-limit", 1)
    found = json.loads(text)
    assert ended == code
    assert found["verdict"] == ("not " if code else "") + "fit for release"
    assert found["fit"] is (code == 0)
    assert bool(found["reasons"]) is (code == 3)


def test_other_people_pass_whoever_they_are_and_copies_never() -> None:
    passed = 0
    for seed in range(12):
        frame, other = people(400, 100 + seed), people(400, 200 + seed)
        options = {"key": ["age", "town", "sex"], "target": "ill", "metrics": []}
        passed += not evaluate(frame, other, seed=seed, **options).reasons
        assert evaluate(frame, bootstrap(frame), seed=seed, **options).reasons
    assert passed >= 11


@pytest.mark.slow
def test_a_default_copy_is_fit_and_lies_where_it_may_leave(
    run: Command, census: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, text, _ = run("synthesise", census, *NAMES, "--time-limit", 12, "-o", out)
    assert code == 0
    assert "verdict: fit for release" in text
    assert text.rstrip().splitlines()[-1].startswith(f"{out}/publish/ may leave")
    shown = {path.name for path in (out / "publish").iterdir()}
    assert shown == {"synthetic.csv", "README.txt", "report.html"}
    hidden = {path.name for path in (out / "confidential").iterdir()}
    assert hidden == {"run.csv", "report.html", "evaluation.json", "claim.json"}
    assert stat.S_IMODE((out / "confidential").stat().st_mode) == 0o700
    for path in (out / "confidential").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len((out / "publish" / "README.txt").read_text().split("\n\n")) == 1


def test_a_copy_that_is_not_fit_stays_confidential(
    run: Command, census: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    # Only the rooms are replaced: everybody is in the file with key and target.
    options = (*NAMES, *MOVES, "--columns", "rooms", "--no-noise-floor")
    code, text, _ = run("synthesise", census, *options, "-o", out)
    assert code == 3
    assert "nothing may leave the office" in text.rstrip().splitlines()[-1]
    assert not (out / "publish").exists()
    assert (out / "confidential" / "synthetic.csv").exists()
    code, text, _ = run("synthesise", census, *options, "-o", out, "--force", "--json")
    assert code == 3
    assert json.loads(text)["reasons"]


def test_a_limit_of_the_user_that_is_not_met_is_a_reason(
    run: Command, census: Path, tmp_path: Path
) -> None:
    words = (
        *NAMES,
        *MOVES,
        "--risk",
        "dcap",
        "--risk-limit",
        0.0,
        "--columns",
        "rooms",
    )
    code, text, _ = run("synthesise", census, *words, "-o", tmp_path / "o", "--json")
    assert code == 3
    assert any("above the limit of 0" in r for r in json.loads(text)["reasons"])


def test_one_bad_copy_makes_all_of_them_unfit() -> None:
    frame, good = people(400, 7), people(400, 8)
    roles = {"key": KEY, "target": "ill", "seed": 0}
    found = _joined(_evaluated(frame, (good, frame), None, roles, lambda: 1.0), {})
    assert found.reasons
    assert all(reason.startswith("copy 2: ") for reason in found.reasons)


def test_every_copy_has_to_meet_the_limits_of_the_user() -> None:
    """The first copy is the best of a run: the others must not hide behind it."""
    frame = people(400, 7)
    options = {"key": ["age", "town"], "target": "ill", "population": 8, "copies": 4}
    options |= {"generations": 2, "memetic": False, "mode": "weighted", "seed": 1}
    plain = api.synthesise(frame, **options, time_limit=1e-3)
    hidden = 0
    for limit in sorted({risk["dcap-u"] for risk in plain.risks}):
        made = api.synthesise(frame, **options, risk_limit=limit, time_limit=1e-3)
        above = [k for k, r in enumerate(made.risks, 1) if r["dcap-u"] > limit]
        said = [r for r in made.evaluation.reasons if "above the limit" in r]
        assert len(said) == len(above)
        assert made.risk_met is (not above)
        assert not (above and made.fit)
        if above and above[0] > 1:
            hidden += 1
            assert said[0].startswith(f"copy {above[0]}: ")
    assert hidden


def test_without_a_scenario_there_is_one_truth() -> None:
    """What is attacked is assumed; note, claim and figures say so alike."""
    frame = people(300, 9).select(["sex", "town", "job", "ill"])
    made = api.synthesise(frame, moves=5_000, generations=2, time_limit=1e-3)
    assert made.summary()["key"] == ["sex", "town", "job"]
    assert made.summary()["risk"].keys() == {"dcap", "dcap-u", "uniques", "disco"}
    assert made.risk_met is None
    said = " ".join(made.model.notes_)
    assert "the search limited no disclosure risk" in said
    assert "measured" not in said
    scenario = made.claim.scenario
    assert scenario.startswith("an intruder who knows sex, town, job and wants ill")
    assert "assumed, and no risk limited in the search" in scenario
    named = api.synthesise(
        frame, key=["sex"], target="ill", moves=5_000, generations=2, time_limit=1e-3
    )
    assert "assumed" not in named.claim.scenario


def test_no_file_of_an_earlier_run_survives_and_no_other_is_touched(
    run: Command, census: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    stale = [out / "publish" / "synthetic-7.csv"]
    stale += [out / "confidential" / name for name in ("front.csv", "synthetic-7.csv")]
    for name in ("publish", "confidential"):
        (out / name).mkdir(parents=True)
        (out / name / "notes.txt").write_text("mine")
    for path in stale:
        path.write_text("stale")
    (out / "synthetic.csv").write_text("not in a folder of ours")
    words = ("synthesise", census, *NAMES, *MOVES, "-o", out, "--force")
    code, _, err = run(*words)
    assert code == 2
    assert "is in the way, and 2 more: no claim of evosdc lists it" in err
    assert {path.read_text() for path in stale} == {"stale"}
    listed = [*stale, out / "confidential" / "claim.json"]
    write_claim(out, [path.relative_to(out).as_posix() for path in listed])
    run(*words)
    left = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}
    assert {"publish/notes.txt", "confidential/notes.txt", "synthetic.csv"} <= left
    assert not any("synthetic-7" in name or "front" in name for name in left)


def test_what_is_shared_says_nothing_of_few_people() -> None:
    frame = people(400, 9)
    towns = frame["town"].to_pylist()
    towns[5] = "Sark"
    frame = frame.set_column(3, "town", pa.array(towns))
    result = api.synthesise(frame, key=KEY, target="ill", generations=2, moves=20_000)
    from evosdc.report.synthesis_share import shared_html

    page = unescape(shared_html(result.evaluation, result.claim))
    assert "Sark" not in page
    for value in result.evaluation.values:
        assert (f">{value.title}<" in page) is (value.kind == "utility"), value.name
    assert "unique" not in page
    for name, words in result.claim.rows():
        assert name in page
        assert words in page


CHANGES = {
    "scenario": {"key": ["age", "town"]},
    "coding": {"bins": 7},
    "small_groups": {"least": 3},
    "closeness": {"noise_floor": False},
    "holdout": {"holdout": people(300, 11)},
}


def claimed(**options: Any) -> dict[str, str]:
    usual = {"key": KEY, "target": "ill", "generations": 1, "moves": 1000}
    usual |= {"time_limit": 1.0}
    return api.synthesise(people(300, 10), **usual | options).claim


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    return claimed()


@pytest.mark.parametrize("part", CHANGES)
def test_an_option_changes_its_part_of_the_claim(
    part: str, before: dict[str, str]
) -> None:
    after = claimed(**CHANGES[part])
    assert before[part] != after[part]
    others = {name for name in before if before[name] != after[name]} - {part}
    assert not others


def test_the_claim_stands_beside_the_verdict(
    run: Command, census: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = ("evaluate", census, census, *NAMES, "--time-limit", 1, "-o", out)
    _, text, _ = run(*words)
    lines = text.splitlines()
    assert any(line.startswith("tested: an intruder who knows age") for line in lines)
    assert any("guarantee: none" in line for line in lines)
    page = (out / "confidential" / "report.html").read_text()
    assert "What was tested, against whom" in page
    _, text, _ = run(*words, "--force", "--json")
    claim = json.loads(text)["claim"]
    assert "not tested (among them town, job, rooms)" in claim["scenario"]
    assert claim["small_groups"] == "not guarded"
    assert claim["holdout"].startswith("no hold-out kept")
    assert claim["guarantee"] == "none"
    stored = json.loads((out / "confidential" / "evaluation.json").read_text())
    assert stored["claim"] == claim


def test_the_report_lists_the_tests_and_the_reasons() -> None:
    frame = people(300, 12)
    found = evaluate(frame, frame, key=KEY, target="ill", metrics=["jsd_2", "dcap_u"])
    page = synthesis_html(found, claim=synthetic_claim_of(found))
    assert "Verdict: not fit for release." in page
    failed = [test for test in found.tests if not test.passed]
    assert page.count("<strong>failed</strong>") == len(failed) > 0
    assert len(found.reasons) == len(failed) + 1
    assert "the copy holds the very records of the original" in page


def test_the_original_of_common_combinations_is_no_copy_of_itself() -> None:
    """Three coarse variables: every attack finds as much with other people."""
    rng = np.random.default_rng(8)
    frame = pa.table({name: rng.integers(0, 2, 600).astype(str) for name in "abc"})
    shuffled = frame.take(pa.array(rng.permutation(600)))
    found = api.evaluate(frame, shuffled, key=["a", "b"], target="c")
    assert found.verdict.word == "not fit for release"
    assert "very records" in " ".join(found.reasons)
