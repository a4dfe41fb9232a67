"""What may leave the office, what must not, what --force removes, what lies beside."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_results import SAFE, exposed, linked_of, numbers, result_of, turnover_of

from evosdc.cli.show import show_protection, show_verdict, show_warnings
from evosdc.errors import InputError
from evosdc.io import (
    pattern_frame,
    published_frame,
    read_pattern,
    write_jj,
)
from evosdc.io.delimited import write_csv
from evosdc.results import TableVerdict
from evosdc.results.folder import check_output_directory
from evosdc.results.result import write_result
from evosdc.results.table_files import related_warnings, write_unjudged
from evosdc.results.tables import Protection
from evosdc.table import Origin, Table, build_table

INSIDE = {"pattern.csv", "certificate.npz", "run.csv", "report.html", "claim.json"}
ARRAYS = {"cells": np.zeros(0), "numerators": np.zeros(0)}
OPEN = replace(SAFE, ok=None, open=("dim_a=a1, dim_b=b1",))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files_in(folder: Path) -> set[str]:
    return {
        p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()
    }


def claim_of(folder: Path) -> dict[str, Any]:
    text = (folder / "confidential" / "claim.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.fixture
def table() -> Table:
    return turnover_of(numbers(np.random.default_rng(1), (4, 4), 0))


@pytest.fixture
def result(table: Table) -> Protection:
    return result_of(table, [0], [1, 4, 5])


def test_two_kinds_of_files(tmp_path: Path, result: Protection) -> None:
    out = tmp_path / "out"
    before = os.umask(0o022)
    try:
        write_result(out, result, force=False, source=Path("made.jj"))
    finally:
        os.umask(before)
    outside = {"publish/published.csv", "publish/report.html"}
    inside = {f"confidential/{name}" for name in INSIDE | {"made.jj", "made.jj.json"}}
    assert files_in(out) == outside | inside
    assert mode(out / "confidential") == 0o700
    assert {mode(out / name) for name in inside} == {0o600}
    assert mode(out / "publish") == 0o755
    assert {mode(out / name) for name in outside} == {0o644}
    for name in outside:
        text = (out / name).read_text(encoding="utf-8").replace(",", "")
        for cell in np.flatnonzero(result.table.hidden):
            assert f"{result.table.value[cell]:.0f}" not in text


@pytest.mark.parametrize("kind", ["exposed", "open", "no rule"])
def test_nothing_is_for_publication_unless_safe(
    tmp_path: Path, result: Protection, kind: str
) -> None:
    if kind == "exposed":
        result = replace(result, verdict=exposed(result.table, [0]))
    elif kind == "open":
        result = replace(result, verdict=OPEN)
    else:
        # Whatever the judge says of a table in which nobody looked for anything.
        bare = result.table.replace(status=np.full(len(result.table), "s"))
        bare = bare.replace(origin=Origin())
        result = replace(result, table=bare, verdict=replace(SAFE, judged=0))
    out = tmp_path / "out"
    write_result(out, result, force=False)
    assert not (out / "publish").exists()
    assert files_in(out / "draft") == {"published.csv", "report.html"}
    assert mode(out / "draft") == 0o700
    assert {mode(p) for p in (out / "draft").iterdir()} == {0o600}


def test_linked_tables_are_published_one_by_one(tmp_path: Path) -> None:
    joint = linked_of(np.random.default_rng(2), 0)
    write_result(tmp_path / "out", result_of(joint, [0], [1, 3]), force=False)
    assert files_in(tmp_path / "out" / "publish") == {
        "published.csv",
        "published-1-dim_a-dim_b.csv",
        "published-2-dim_a-dim_c.csv",
        "report.html",
    }


def test_the_claim_is_kept(tmp_path: Path, result: Protection) -> None:
    write_result(tmp_path / "out", result, force=False, warnings=("beside",))
    found = claim_of(tmp_path / "out")
    assert found["verdict"] == "SAFE"
    assert found["claim"] == result.claim
    assert found["notes"] == list(result.notes)
    assert found["warnings"] == ["beside"]
    assert found["settings"] == dict(result.settings)
    assert found["version"] == "9.9.9"
    assert found["created"].startswith("20")
    assert set(found["files"]) == files_in(tmp_path / "out")
    assert "beside" in (tmp_path / "out/confidential/report.html").read_text()


def test_a_pattern_is_there_before_it_is_judged(
    tmp_path: Path, result: Protection
) -> None:
    out = tmp_path / "out"
    write_unjudged(out, result.table, force=False)
    assert files_in(out) == {"confidential/pattern.csv", "confidential/unjudged.txt"}
    assert mode(out / "confidential") == 0o700
    assert {mode(p) for p in (out / "confidential").iterdir()} == {0o600}
    hidden = read_pattern(out / "confidential" / "pattern.csv", result.table)
    assert np.array_equal(hidden, result.table.hidden)
    assert "Not judged yet" in (out / "confidential" / "unjudged.txt").read_text()
    with pytest.raises(InputError, match="not empty"):
        check_output_directory(out)  # as a second run asks
    write_result(out, result, force=False)
    assert files_in(out / "confidential") == INSIDE


def test_an_unjudged_pattern_does_not_make_room_for_overwriting(
    tmp_path: Path, result: Protection
) -> None:
    write_unjudged(tmp_path / "out", result.table, force=False)
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        write_result(tmp_path / "out", result, force=False)


@pytest.mark.parametrize("fails", ["published.csv", "report.html", "run.csv"])
def test_a_disk_that_fails_leaves_no_half_of_a_publication(
    tmp_path: Path, result: Protection, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    out = tmp_path / "out"
    move = Path.replace

    def full(self: Path, target: Path) -> Path:
        if Path(target).name == fails:
            raise OSError(28, "No space left on device")
        return move(self, target)

    write_unjudged(out, result.table, force=False)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        write_result(out, result, force=False)
    assert not (out / "publish").exists()
    left = files_in(out / "confidential")
    assert {"pattern.csv", "unjudged.txt"} <= left
    assert "claim.json" not in left


def test_force_leaves_nothing_of_an_earlier_run(
    tmp_path: Path, result: Protection
) -> None:
    out = tmp_path / "out"
    joint = linked_of(np.random.default_rng(2), 0)
    write_result(
        out, result_of(joint, [0], [1, 3]), force=False, source=Path("first.jj")
    )
    with pytest.raises(InputError, match="--force"):
        write_result(out, result, force=False)
    write_result(out, result, force=True)
    first = files_in(out)
    assert first == set(claim_of(out)["files"])
    assert not {n for n in first if "published-" in n or n.endswith(".jj")}
    bad = replace(result, verdict=exposed(result.table, [0]))
    write_result(out, bad, force=True)
    assert not (out / "publish").exists()
    write_result(out, result, force=True)
    assert not (out / "draft").exists()
    assert files_in(out) == first
    write_unjudged(out, result.table, force=True)
    assert files_in(out) == {"confidential/pattern.csv", "confidential/unjudged.txt"}


def test_force_leaves_other_files_alone(tmp_path: Path, result: Protection) -> None:
    out = tmp_path / "out"
    bad = replace(result, verdict=exposed(result.table, [0]))
    write_result(out, result, force=False)
    mine = [
        "notes.txt",
        "run.csv",
        "report.html",
        "table.jj",
        "published-2-ways.csv",
        "input/pattern.csv",
        "publish/letter.txt",
        "publish/published-1-old.csv.bak",
        "confidential/own.jj",
        "draft/plan.md",
    ]
    for name in mine:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("mine")
    write_result(out, bad, force=True)
    assert {(out / name).read_text() for name in mine} == {"mine"}
    assert files_in(out) == {*mine, *claim_of(out)["files"]}
    assert files_in(out / "publish") == {
        "letter.txt",
        "published-1-old.csv.bak",
    }


def test_a_claim_cannot_name_files_of_somebody_else(
    tmp_path: Path, result: Protection
) -> None:
    out = tmp_path / "out"
    write_result(out, result, force=False)
    (tmp_path / "precious.jj").write_text("mine")
    (out / "precious.jj").write_text("mine")
    (out / "publish" / "precious.txt").write_text("mine")
    claim = claim_of(out)
    claim["files"] += ["../precious.jj", "precious.jj", "publish/precious.txt"]
    claim["files"] += ["../../precious.jj", "/etc/precious.jj", ""]
    (out / "confidential" / "claim.json").write_text(json.dumps(claim))
    write_result(out, result, force=True)
    assert (tmp_path / "precious.jj").exists()
    assert (out / "precious.jj").exists()
    assert (out / "publish" / "precious.txt").exists()


def flat_run(folder: Path, result: Protection, jj: str | None = None) -> None:
    """What version 0.1 wrote."""
    folder.mkdir()
    table = result.table
    write_csv(folder / "pattern.csv", pattern_frame(table))
    write_csv(folder / "published.csv", published_frame(table))
    write_csv(folder / "published-1-a-b.csv", published_frame(table))
    (folder / "run.csv").write_text("seconds,cost\n")
    (folder / "report.html").write_text("<p>No hidden value is in this page.</p>")
    np.savez(folder / "certificate.npz", **ARRAYS)
    if jj is not None:
        write_jj(folder / jj, table)


def test_the_flat_folder_of_version_0_1_is_refused(
    tmp_path: Path, result: Protection
) -> None:
    """Nothing lists its files, and a publication of it must not lie beside another."""
    out = tmp_path / "out"
    flat_run(out, result, "made.jj")
    before = files_in(out)
    with pytest.raises(InputError, match=r"version 0\.1.*move them away"):
        check_output_directory(out, force=True)
    with pytest.raises(InputError, match=r"version 0\.1"):
        write_result(out, result, force=True)
    assert files_in(out) == before


@pytest.mark.parametrize("name", ["confidential/made.jj", "publish/published.csv"])
def test_the_table_itself_is_never_removed(
    tmp_path: Path, result: Protection, name: str
) -> None:
    """It may be a file that an earlier run wrote, which --force would replace."""
    out = tmp_path / "out"
    write_result(out, result, force=False, source=Path("made.jj"))
    before = files_in(out)
    for check in (
        lambda: check_output_directory(out, force=True, sources=["other", out / name]),
        lambda: write_unjudged(out, result.table, force=True, source=out / name),
        lambda: write_result(out, result, force=True, source=out / name),
    ):
        with pytest.raises(InputError, match="would be replaced"):
            check()
        assert files_in(out) == before


def test_a_publication_left_without_its_claim_is_refused(
    tmp_path: Path, result: Protection
) -> None:
    """Somebody took confidential/ away: it is stale, and nothing says whose it is."""
    out = tmp_path / "out"
    write_result(out, result, force=False)
    (out / "confidential").rename(tmp_path / "safe-place")
    bad = replace(result, verdict=exposed(result.table, [0]))
    with pytest.raises(InputError, match=r"publish/published\.csv is in the way"):
        write_result(out, bad, force=True)
    assert files_in(out) == {"publish/published.csv", "publish/report.html"}


def test_another_pattern_of_the_table_is_noticed(
    tmp_path: Path, table: Table, result: Protection
) -> None:
    write_result(tmp_path / "first", result, force=False)
    other = result_of(table, [0], [2, 4, 6])
    (line,) = related_warnings(tmp_path / "second", other.table, other.table.hidden)
    assert "another pattern of the same table" in line
    published = tmp_path / "first" / "publish" / "published.csv"
    assert line.endswith(f"--already-published {published}")
    assert published.exists()
    # In the folder itself, where nobody can be sent to what is overwritten.
    (line,) = write_unjudged(tmp_path / "first", other.table, force=True)
    assert "held another pattern of the same table" in line
    assert str(published) not in line
    assert "a copy of what was published, into another folder" in line
    # The same pattern again gives nothing away.
    write_result(tmp_path / "first", result, force=True)
    assert not related_warnings(tmp_path / "second", result.table, result.table.hidden)


def test_a_draft_is_nothing_to_warn_of(
    tmp_path: Path, table: Table, result: Protection
) -> None:
    bad = replace(result, verdict=exposed(result.table, [0]))
    write_result(tmp_path / "first", bad, force=False)
    other = result_of(table, [0], [2, 4, 6])
    assert not related_warnings(tmp_path / "second", other.table, other.table.hidden)


def test_another_table_of_the_same_records_is_noticed(tmp_path: Path) -> None:
    cube = numbers(np.random.default_rng(4), (3, 4, 5), 0)
    one = result_of(turnover_of(cube.sum(axis=2), "ab"), [0], [1, 3])
    two = result_of(turnover_of(cube.sum(axis=1), "ac"), [0], [1, 3])
    write_result(tmp_path / "one", one, force=False)
    (line,) = write_result(tmp_path / "two", two, force=False)
    assert "another table of the same records" in line
    assert str(tmp_path / "one") in line
    assert "link the two" in line
    assert "another table of the same records" in (
        tmp_path / "two" / "confidential" / "report.html"
    ).read_text(encoding="utf-8")
    # Next year's survey is another matter.
    later = result_of(turnover_of(cube.sum(axis=1) + 1, "ac"), [0], [1, 3])
    assert not related_warnings(tmp_path / "three", later.table, later.table.hidden)
    # Unless both say that they were made from the same records.
    for name, made in (("one", one), ("later", later)):
        known = made.table.replace(origin=Origin(rules=(), source="abc"))
        made = replace(made, table=known)
        found = write_result(tmp_path / name, made, force=True)
    assert any(str(tmp_path / "one") in line for line in found)


def test_the_order_of_cells_makes_no_other_table(
    tmp_path: Path, table: Table, result: Protection
) -> None:
    write_result(tmp_path / "first", result, force=False)
    inner = np.flatnonzero((table.codes > 0).all(axis=1))[::-1]
    again = build_table(
        table.dimensions, table.codes[inner], table.value[inner], name=table.name
    )
    hidden = {result.table.label(c) for c in np.flatnonzero(result.table.hidden)}
    mask = np.array([again.label(c) in hidden for c in range(len(again))])
    assert not np.array_equal(mask, result.table.hidden)
    assert not related_warnings(tmp_path / "second", again, mask)


def test_a_flat_folder_with_another_pattern_is_noticed(
    tmp_path: Path, table: Table, result: Protection
) -> None:
    flat_run(tmp_path / "out", result)
    other = result_of(table, [0], [2, 4, 6])
    (line,) = related_warnings(tmp_path / "out", other.table, other.table.hidden)
    assert "held another pattern of the same table" in line
    assert "published.csv" not in line
    assert not related_warnings(tmp_path / "out", result.table, result.table.hidden)


def shown(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    result: Protection,
    out: Path,
) -> str:
    monkeypatch.setenv("COLUMNS", "300")
    write_result(out, result, force=True)
    show_protection(result, out)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        (SAFE, "publish/ may leave the office; confidential/ must not (readable by"),
        (OPEN, "nothing may leave the office, since the table was not judged: draft/"),
    ],
)
def test_the_closing_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    result: Protection,
    verdict: TableVerdict,
    line: str,
) -> None:
    text = shown(capsys, monkeypatch, replace(result, verdict=verdict), tmp_path / "o")
    assert text.splitlines()[-1].startswith(line)
    (tmp_path / "o" / "confidential").chmod(0o755)
    show_protection(replace(result, verdict=verdict), tmp_path / "o")
    last = capsys.readouterr().out.splitlines()[-1]
    assert "see to it that only you can read it" in last


def test_the_terminal_says_what_was_proved(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    result: Protection,
) -> None:
    lines = shown(capsys, monkeypatch, result, tmp_path / "o").splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("SAFE: 3"))
    claim = result.claim
    proved = f"proved: {claim.rules}; {claim.levels}; {claim.publication}"
    assert lines[at + 1] == proved.rstrip(".")
    assert lines[at + 2] == f"against: {claim.knowledge}; {claim.insiders}"
    assert any("at most 17.00 % of it could be saved" in line for line in lines)


@pytest.mark.parametrize(
    ("bound", "gap"), [(None, None), (0.0, 1.0), (1e-9, 0.99999), (5.0, None)]
)
def test_a_bound_that_says_little(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    result: Protection,
    bound: float | None,
    gap: float | None,
) -> None:
    vague = replace(result, lower_bound=bound, gap=gap)
    text = shown(capsys, monkeypatch, vague, tmp_path / "o")
    assert "the lower bound says little about it" in text
    assert "could be saved" not in text


def test_the_first_line_says_that_nothing_was_found(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    table: Table,
) -> None:
    every = result_of(table, [0], [*range(1, len(table))], reason="time limit")
    first = shown(capsys, monkeypatch, every, tmp_path / "o").splitlines()[0]
    assert first == (
        "The limit of time cut the search before it found anything useful: every cell "
        "that may be hidden is hidden."
    )
    useful = result_of(table, [0], [*range(1, len(table) - 1)], reason="time limit")
    assert "useful" not in shown(capsys, monkeypatch, useful, tmp_path / "o")


def test_exposed_cells_are_counted_once(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    result: Protection,
) -> None:
    from rich.console import Console

    monkeypatch.setenv("COLUMNS", "300")
    verdict = exposed(result.table, [0, 1, 4, 5])
    found = [
        replace(e, insider=who) for e in verdict.exposed for who in ("", "x=1", "x=2")
    ]
    verdict = replace(verdict, exposed=tuple(found), open=("y=3",))
    show_verdict(Console(), verdict, result.table, result.claim)
    text = capsys.readouterr().out
    assert "EXPOSED: 4 of 4 cells" in text
    assert text.count("everyone") == 4
    assert text.count("x=1") == 4
    assert "undecided: y=3" in text
    assert "asked: " in text
    assert "proved" not in text


def test_warnings_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    show_warnings(("there lies another", "and one more"))
    caught = capsys.readouterr()
    assert caught.err.splitlines() == [
        "warning: there lies another",
        "warning: and one more",
    ]
    assert not caught.out


def test_a_folder_open_to_all_is_closed(tmp_path: Path, result: Protection) -> None:
    (tmp_path / "confidential").mkdir()
    (tmp_path / "confidential").chmod(0o777)
    write_result(tmp_path, result, force=True)
    assert mode(tmp_path / "confidential") == 0o700
