"""Every result keeps one protocol, and a folder is read back as it was written."""

from __future__ import annotations

import inspect
import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evosdc
from evosdc.attack import read_proof
from evosdc.errors import InputError
from evosdc.io.archive import read_arrays

FIXTURES = Path(__file__).parents[1] / "fixtures"
WORDS = {"SAFE", "EXPOSED", "NOT JUDGED", "fit for release", "not fit for release"}
FIRMS = {
    "region": ["N"] * 5 + ["S"] * 6 + ["E"] * 5,
    "kind": ["a", "b"] * 8,
    "sales": [900, 80, 70, 400, 350, 33, 41, 57, 62, 12, 18, 29, 75, 66, 51, 24],
}
CELLS = {
    "region": ["N", "S", "E"],
    "value": [5, 20, 30],
    "status": ["u", "m", "s"],
    "upl": [2, 0, 0],
}
ROLES: dict[str, Any] = {"key": ["age", "town"], "target": "ill"}


def people(seed: int) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    return {
        "age": draw.integers(2, 6, 120).tolist(),
        "town": draw.choice(["a", "b", "c"], 120).tolist(),
        "ill": draw.choice(["yes", "no"], 120).tolist(),
    }


def synthesised() -> evosdc.Synthesis:
    return evosdc.synthesise(
        people(1), **ROLES, generations=1, moves=500, time_limit=5.0, seed=3
    )


MAKERS: dict[str, Callable[[], Any]] = {
    "tabulation": lambda: evosdc.tabulate(
        FIRMS, ["region", "kind"], "sales", rules=["p:15", "freq:3"]
    ),
    "protection": lambda: evosdc.protect(
        CELLS, stop=evosdc.Stop(evaluations=5), seed=4
    ),
    "exposed": lambda: evosdc.protect(
        CELLS,
        stop=evosdc.Stop(evaluations=1),
        prior=evosdc.Prior(already_published={"region": ["N"], "value": [5]}),
    ),
    "audit": lambda: evosdc.audit(CELLS),
    "evaluation": lambda: evosdc.evaluate(
        people(1), people(2), **ROLES, time_limit=3.0
    ),
    "synthesis": synthesised,
}


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return {name: make() for name, make in MAKERS.items()}


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


@pytest.mark.parametrize("name", MAKERS)
def test_every_result_keeps_the_protocol(
    results: dict[str, Any], name: str, tmp_path: Path
) -> None:
    """The same checks for all, and for what is read back of them."""
    result = results[name]
    check_result(result)
    out = tmp_path / "out"
    main = result.write(out)
    assert main.parent == out
    assert any(main.iterdir())
    stored = evosdc.read_result(out)
    check_result(stored)
    for part in ("claim", "kind", "notes", "seed", "version"):
        assert getattr(stored, part) == getattr(result, part), part
    for part in ("word", "ok", "reasons", "next_steps"):
        assert getattr(stored.verdict, part) == getattr(result.verdict, part), part
    assert stored.summary() == json.loads(json.dumps(result.summary(), default=str))
    assert set(stored.files) == set(files_below(out))
    # What was read back is written elsewhere as it was.
    assert stored.write(tmp_path / "again").name == main.name
    again = files_below(tmp_path / "again")
    claim = "confidential/claim.json"
    assert {k: v for k, v in again.items() if k != claim} == {
        k: v for k, v in files_below(out).items() if k != claim
    }
    assert evosdc.read_result(tmp_path / "again").summary() == stored.summary()


def check_result(result: Any) -> None:
    assert isinstance(result, evosdc.Result)
    verdict = result.verdict
    assert isinstance(verdict, evosdc.Verdict)
    assert verdict.word in WORDS
    assert verdict.ok in (True, False, None)
    # Who may not publish is told why and what to do; who may is not.
    assert bool(verdict.reasons) == bool(verdict.next_steps) == (verdict.ok is not True)
    if hasattr(result, "safe"):
        assert result.safe is verdict.ok
    if hasattr(result, "fit"):
        assert result.fit is (verdict.ok is True)
    assert list(result.claim) == list(result.claim.questions)
    assert all(result.claim.values())
    assert result.claim.rows() == [
        (question, result.claim[name])
        for name, question in result.claim.questions.items()
    ]
    assert all(isinstance(note, str) for note in result.notes)
    summary = json.loads(json.dumps(result.summary(), default=str))
    assert summary["verdict"] == verdict.word
    assert summary["claim"] == dict(result.claim)
    assert {"reasons", "next_steps", "notes", "settings", "seed"} <= set(summary)
    assert result.report().startswith("<!DOCTYPE html>")
    card = result._repr_html_()
    assert verdict.word in card
    parameters = list(inspect.signature(result.write).parameters)
    assert parameters == ["folder", "force", "formats"]


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_written_is_for_its_owner_unless_it_is_published(
    results: dict[str, Any], name: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    results[name].write(out)
    assert (out / "publish").exists() == (
        results[name].verdict.ok is True and name in ("protection", "synthesis")
    )
    for path in [p for p in out.rglob("*") if "publish" not in p.parts]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
    # Nothing of the folder in which the files were made is left.
    assert {p.name for p in out.iterdir()} <= {"publish", "draft", "confidential"}
    with pytest.raises(InputError, match="not empty"):
        results[name].write(out)
    (out / "notes.txt").write_text("mine")
    results[name].write(out, force=True)
    assert (out / "notes.txt").read_text() == "mine"


def test_one_result_replaces_another_kind(
    results: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for name in (*MAKERS, *MAKERS):
        results[name].write(out, force=True)
        assert set(evosdc.read_result(out).files) == set(files_below(out))


@pytest.mark.parametrize("name", MAKERS)
def test_a_failure_leaves_the_earlier_result(
    results: dict[str, Any],
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    results["protection"].write(out)
    before = files_below(out)
    move = Path.replace

    def full(self: Path, target: Path) -> Path:
        if Path(target).name == "report.html":
            raise OSError(28, "No space left on device")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        results[name].write(out, force=True)
    monkeypatch.undo()
    assert files_below(out) == before


def test_unknown_formats_are_refused(results: dict[str, Any], tmp_path: Path) -> None:
    for result in results.values():
        with pytest.raises(InputError, match="Expected"):
            result.write(tmp_path / "out", formats=["magic"])
        assert not (tmp_path / "out").exists()


def test_a_table_is_read_back_from_the_folder_of_a_tabulation(
    results: dict[str, Any], tmp_path: Path
) -> None:
    made = results["tabulation"]
    folder = made.write(tmp_path / "out", formats="csv,parquet,jj")
    for name in ("table.csv", "table.parquet", "table.jj"):
        table = evosdc.read_table(folder / name)
        assert table.origin.rules == made.table.origin.rules
        assert table.value.tolist() == made.table.value.tolist()


@pytest.mark.parametrize("name", ["protection", "audit"])
def test_the_certificate_of_a_folder_is_verified(
    results: dict[str, Any], name: str, tmp_path: Path
) -> None:
    results[name].write(tmp_path / "out")
    assert evosdc.verify(CELLS, tmp_path / "out").holds
    file = tmp_path / "out" / "confidential" / "certificate.npz"
    assert evosdc.verify(CELLS, read_proof(read_arrays(file))).holds
    other = {**CELLS, "value": [6, 20, 30]}
    assert not evosdc.verify(other, tmp_path / "out").holds


@pytest.mark.parametrize(
    "asked",
    [
        {"who": "pairs"},
        {"coalitions": [evosdc.Coalition("A", ("region=N", "region=S"))]},
        {"strict": True},
        {"protect_secondaries": True},
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_a_certificate_that_was_judged_for_less_does_not_hold(
    results: dict[str, Any], asked: dict[str, Any], tmp_path: Path
) -> None:
    results["protection"].write(tmp_path / "out")
    attackers = evosdc.Attackers(**asked)
    report = evosdc.verify(CELLS, tmp_path / "out", attackers=attackers)
    assert not report.holds
    (fault,) = report.faults
    assert "was not judged for" in fault


@pytest.mark.parametrize("verb", ["protect", "audit"])
def test_a_certificate_of_a_folder_says_that_secondaries_were_judged(
    verb: str, tmp_path: Path
) -> None:
    attackers = evosdc.Attackers(protect_secondaries=True)
    result = getattr(evosdc, verb)(CELLS, attackers=attackers)
    result.write(tmp_path / "out")
    report = evosdc.verify(CELLS, tmp_path / "out", attackers=attackers)
    assert report.holds, report.faults


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"total": "T"}, r"read=evosdc\.Read\(totals="),
        ({"read": evosdc.Read(link={"a": "b"})}, "read has link"),
        ({"read": evosdc.Read(apriori="table.hst")}, "read has apriori"),
    ],
    ids=lambda given: next(iter(given)) if isinstance(given, dict) else None,
)
def test_options_that_link_does_not_take_are_refused(
    options: dict[str, Any], told: str
) -> None:
    with pytest.raises(evosdc.errors.InputError, match=told):
        evosdc.link([CELLS, CELLS], **options)


def test_a_folder_that_was_changed_is_refused(
    results: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    results["protection"].write(out)
    page = out / "publish" / "published.csv"
    text = page.read_text()
    page.write_text(text + "\n")
    with pytest.raises(InputError, match=r"published\.csv was changed"):
        evosdc.read_result(out)
    page.unlink()
    with pytest.raises(InputError, match=r"lacks publish/published\.csv"):
        evosdc.read_result(out)
    page.symlink_to(out / "confidential" / "pattern.csv")
    with pytest.raises(InputError, match=r"lacks publish/published\.csv"):
        evosdc.read_result(out)
    claim = out / "confidential" / "claim.json"
    stored = json.loads(claim.read_text())
    for change, words in (
        ({"format": "evosdc-result 99"}, "has format 'evosdc-result 99'"),
        ({"verdict": "FINE"}, "has no verdict"),
        ({"claim": {"rules": "p:15"}}, "cannot be read"),
        ({"files": ["../../elsewhere"]}, "lacks ../../elsewhere"),
    ):
        claim.write_text(json.dumps({**stored, "digests": {}, "files": [], **change}))
        with pytest.raises(InputError, match=words):
            evosdc.read_result(out)
    with pytest.raises(InputError, match=r"has no confidential/claim\.json"):
        evosdc.read_result(tmp_path)


def test_a_pattern_without_a_verdict_is_no_result(
    results: dict[str, Any], tmp_path: Path
) -> None:
    from evosdc.results.synthetic import write_copies

    write_copies(tmp_path / "out", results["synthesis"].copies)
    with pytest.raises(InputError, match="its run was cut short"):
        evosdc.read_result(tmp_path / "out")


# --- what version 0.2 wrote ----------------------------------------------------------


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "version_0_2", tmp_path / "version_0_2"))


@pytest.mark.parametrize(
    ("folder", "kind", "word"),
    [
        ("protected", "protection", "SAFE"),
        ("synthetic", "synthesis", "fit for release"),
        ("evaluated", "evaluation", "not fit for release"),
    ],
)
def test_results_of_an_earlier_version_are_read(
    earlier: Path, folder: str, kind: str, word: str
) -> None:
    stored = evosdc.read_result(earlier / folder)
    assert (stored.kind, stored.verdict.word) == (kind, word)
    assert stored.version == "0.2.0.dev0"
    assert all(stored.claim.values())
    assert "<h1>" in stored.report()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jj", "tab"])
def test_tables_and_certificates_of_an_earlier_version_are_verified(
    earlier: Path, suffix: str
) -> None:
    table = evosdc.read_table(earlier / f"table.{suffix}")
    assert [rule for rule, _ in table.origin.rules or ()] == ["p:15", "freq:3"]
    if not table.dimensions:
        return  # its cells have numbers, those of the certificate labels
    published = earlier / "protected" / "publish" / "published.csv"
    report = evosdc.verify(table, earlier / "protected", published=published)
    assert report.holds, report.faults


def test_what_is_stored_says_its_format(
    results: dict[str, Any], earlier: Path, tmp_path: Path
) -> None:
    results["protection"].write(tmp_path / "out")
    inside = tmp_path / "out" / "confidential"
    assert json.loads((inside / "claim.json").read_text())["format"] == (
        "evosdc-result 1"
    )
    with np.load(inside / "certificate.npz") as arrays:
        assert str(arrays["format"]) == "evosdc-certificate 3"
    evosdc.write_table(tmp_path / "t.jj", evosdc.read_table(earlier / "table.jj"))
    side = json.loads((tmp_path / "t.jj.json").read_text())
    assert (side["format"], side["version"]) == ("evosdc-table", 3)
