"""Nothing is written or removed through a link, nor in place of somebody's file."""

from __future__ import annotations

import json
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from made_results import exposed, numbers, result_of, turnover_of

import evosdc
import evosdc.api
from builders import Command
from evosdc.errors import InputError
from evosdc.instances import make
from evosdc.io import (
    check_output_file,
    write_records,
    write_tab,
    write_table,
)
from evosdc.io.checkpoint import Checkpoint, remove_checkpoint, write_checkpoint
from evosdc.io.paths import open_output, write_text
from evosdc.io.records import RecordFile
from evosdc.results.folder import (
    DEMO,
    RESULT,
    check_output_directory,
    owned_files,
    refuse_foreign,
)
from evosdc.results.result import write_result
from evosdc.results.synthetic import write_copies
from evosdc.results.table_files import check_protection_directory, write_unjudged
from evosdc.results.tables import Protection

KEY = ("--key", "age,town", "--target", "ill")
QUICK = ("--generations", "1", "--moves", "2000", "--time-limit", "1")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def tree(folder: Path) -> dict[str, str]:
    """Every file, folder and link below a folder, with what is in it."""
    return {
        str(p.relative_to(folder)): f"-> {os.readlink(p)}"
        if p.is_symlink()
        else p.read_bytes().hex()
        if p.is_file()
        else "folder"
        for p in sorted(folder.rglob("*"))
    }


@pytest.fixture
def result() -> Protection:
    return result_of(
        turnover_of(numbers(np.random.default_rng(1), (4, 4), 0)), [0], [1, 4, 5]
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(
        "r,c,value,status,lpl,upl\n"
        "a,x,10,u,2,2\na,y,20,s,0,0\nb,x,30,s,0,0\nb,y,40,s,0,0\n"
    )
    return path


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    frame = pa.table(
        {
            "age": rng.integers(20, 60, 300),
            "town": rng.choice(["a", "b", "c"], 300),
            "ill": rng.choice(["yes", "no"], 300),
        }
    )
    write_records(tmp_path / "people.csv", frame)
    return tmp_path / "people.csv"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder of somebody else's, with files that have the names of ours."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("published.csv", "synthetic.csv", "run.csv", "report.html"):
        (folder / name).write_text("precious")
    return folder


# --- files -----------------------------------------------------------------------


def test_a_file_is_never_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    (tmp_path / "dangling").symlink_to(tmp_path / "not-there")
    before = tree(tmp_path)
    for name in ("link", "dangling"):
        for force in (False, True):
            with pytest.raises(InputError, match="is a symbolic link"):
                write_text(tmp_path / name, "new", force)
    assert tree(tmp_path) == before


def test_a_link_that_appears_while_the_content_is_made(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    path = tmp_path / "out.txt"

    def write() -> None:
        with open_output(path, True) as stream:
            stream.write(b"new")
            path.symlink_to(tmp_path / "precious")

    with pytest.raises(InputError, match="is a symbolic link"):
        write()
    assert path.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.txt", "precious"]
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_file_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"

    def write() -> None:
        with open_output(path) as stream:
            stream.write(b"new")
            path.write_text("precious")

    with pytest.raises(InputError, match="exists already"):
        write()
    assert path.read_text() == "precious"


def test_temporary_files_are_created_exclusively_under_a_new_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int, int]] = []
    system = os.open

    def note(path: os.PathLike[str], flags: int, given: int = 0o777) -> int:
        opened.append((Path(path).name, flags, given))
        return system(path, flags, given)

    monkeypatch.setattr(os, "open", note)
    write_text(tmp_path / "a.txt", "1")
    write_text(tmp_path / "a.txt", "2", True, public=True)
    (first, flags, private), (second, _, public) = opened
    assert first != second
    assert str(os.getpid()) not in first.split(".")
    wanted = os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    assert flags & wanted == wanted
    assert (private, public) == (0o600, 0o666)


def test_only_what_is_for_publication_is_open_to_others(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_text(tmp_path / "private", "1")
        write_text(tmp_path / "public", "1", public=True)
        (tmp_path / "was-open.csv").write_text("1")
        made = make("random", 1, shape=(3, 3), sensitive=0.2)
        names = ("was-open.csv", "t.parquet", "t.jj", "t.tab", "t.csv.gz")
        for name in names:
            write_table(tmp_path / name, made, force=True)
    finally:
        os.umask(before)
    assert mode(tmp_path / "public") == 0o644
    others = {p.name: mode(p) for p in tmp_path.iterdir() if p.name != "public"}
    assert {"was-open.csv.json", "t.jj", "t.rda", *names} <= set(others)
    assert set(others.values()) == {0o600}


def test_the_description_of_other_data_is_not_replaced(tmp_path: Path) -> None:
    """The .rda of microdata has the name that a .tab beside it would give its own."""
    made = make("random", 1, shape=(3, 3), sensitive=0.2)
    rda = tmp_path / "firms.rda"
    rda.write_text("of firms.asc")
    for force in (False, True):
        with pytest.raises(InputError, match=r"firms\.rda"):
            check_output_file(tmp_path / "firms.tab", force=force)
        with pytest.raises(InputError, match=r"firms\.rda"):
            write_tab(tmp_path / "firms.tab", made, force=force)
    assert [p.name for p in tmp_path.iterdir()] == ["firms.rda"]
    assert rda.read_text() == "of firms.asc"
    for _ in range(2):
        write_table(tmp_path / "other.tab", made, force=True)


# --- folders ---------------------------------------------------------------------


@pytest.mark.parametrize("place", ["publish", "draft", "confidential", ""])
def test_no_folder_of_a_result_is_a_link(
    tmp_path: Path, result: Protection, elsewhere: Path, place: str
) -> None:
    out = tmp_path / "out"
    if place:
        out.mkdir()
    (out / place if place else out).symlink_to(elsewhere)
    before = tree(tmp_path)
    for names in (DEMO, RESULT):
        if place in ("", *names):
            with pytest.raises(InputError, match="is a symbolic link"):
                check_output_directory(out, force=True, names=names)
    for write in (write_unjudged, write_result):
        what = result.table if write is write_unjudged else result
        with pytest.raises(InputError, match="is a symbolic link"):
            write(out, what, force=True)
    assert tree(tmp_path) == before


def test_a_folder_that_becomes_a_link_during_the_search(
    tmp_path: Path, result: Protection, elsewhere: Path
) -> None:
    out = tmp_path / "out"
    write_unjudged(out, result.table, force=False)
    (out / "publish").symlink_to(elsewhere)
    before = tree(tmp_path)
    with pytest.raises(InputError, match="is a symbolic link"):
        write_result(out, result, force=True)
    assert tree(tmp_path) == before


OURS = {
    "tables": [
        "publish/published.csv",
        "publish/published-1-a-b.csv",
        "draft/report.html",
        "confidential/pattern.csv",
        "confidential/run.csv",
        "confidential/claim.json",
        "confidential/unjudged.txt",
        "confidential/made.jj",
    ],
    "records": [
        "publish/synthetic.csv",
        "publish/README.txt",
        "publish/report.html",
        "confidential/synthetic-2.parquet",
        "confidential/evaluation.json",
    ],
}


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
@pytest.mark.parametrize("name", OURS["tables"] + OURS["records"])
def test_a_name_does_not_make_a_file_ours(
    tmp_path: Path, result: Protection, name: str, kind: str
) -> None:
    out, precious = tmp_path / "out", tmp_path / "precious"
    (out / name).parent.mkdir(parents=True)
    precious.write_text("precious")
    if kind == "link":
        (out / name).symlink_to(precious)
    elif kind == "folder":
        (out / name).mkdir()
    else:
        (out / name).write_text("precious")
    before = tree(tmp_path)
    says = "is a symbolic link" if kind == "link" else "is in the way"
    if name in OURS["records"]:
        with pytest.raises(InputError, match=says):
            check_output_directory(out, force=True)
        with pytest.raises(InputError, match=says):
            write_copies(out, [None], RecordFile(None))
    if name in OURS["tables"]:
        source = Path("made.jj")
        with pytest.raises(InputError, match=says):
            check_protection_directory(out, force=True, sources=[source])
        with pytest.raises(InputError, match=says):
            write_unjudged(out, result.table, force=True, source=source)
        with pytest.raises(InputError, match=says):
            write_result(out, result, force=True, source=source)
    assert tree(tmp_path) == before


def test_a_file_beside_those_of_a_claim_stays(
    tmp_path: Path, result: Protection
) -> None:
    """A report or a claim of ours does not make its neighbours ours."""
    out = tmp_path / "out"
    write_result(out, result, force=False)
    for name in ("publish/published-pivot.csv", "confidential/unjudged.txt"):
        (out / name).write_text("mine")
        before = tree(out)
        with pytest.raises(InputError, match="is in the way"):
            write_result(out, result, force=True)
        assert tree(out) == before
        (out / name).unlink()
    write_result(out, result, force=True)


def test_a_claim_of_another_program_proves_nothing(tmp_path: Path) -> None:
    inside = tmp_path / "confidential"
    inside.mkdir()
    (inside / "run.csv").write_text("mine")
    for text in ("{}", "[]", '{"files": 3}', '{"files": ["confidential/run.csv"]}'):
        (inside / "claim.json").write_text(text)
        assert owned_files(tmp_path) == set()
        with pytest.raises(InputError, match="is in the way, and 1 more"):
            refuse_foreign(tmp_path)


class KilledError(Exception):
    """Stands for kill -9."""


def test_what_a_killed_run_left_is_known(
    tmp_path: Path, result: Protection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim is there before the files, so that they are not taken for foreign."""
    out = tmp_path / "out"

    def killed(*_: object) -> None:
        raise KilledError

    monkeypatch.setattr("evosdc.results.tables.write_layouts", killed)
    # A process that is killed tidies nothing.
    monkeypatch.setattr("evosdc.results.folder._remove_stage", lambda _: None)
    with pytest.raises(KilledError):
        write_result(out, result, force=False)
    monkeypatch.undo()
    assert not (out / "publish").exists()
    (stage,) = out.iterdir()
    assert mode(stage) == 0o700
    assert (stage / "publish" / "published.csv").exists()
    half = stage / "publish" / ".report.html.0123456789abcdef.part"
    half.write_text("half")
    bad = replace(result, verdict=exposed(result.table, [0]))
    write_result(out, bad, force=True)
    assert not (out / "publish").exists()
    listed = json.loads((out / "confidential" / "claim.json").read_text())["files"]
    files = {n for n, what in tree(out).items() if what != "folder"}
    assert files == set(listed)


def test_what_a_run_left_that_was_killed_while_it_moved_its_files(
    tmp_path: Path, result: Protection
) -> None:
    """The claim is in its place, and the publication not yet."""
    out = tmp_path / "out"
    write_result(out, result, force=False)
    stage = out / ".0123456789abcdef.part"
    stage.mkdir(mode=0o700)
    (out / "publish").rename(stage / "publish")
    (stage / "publish" / "notes.txt").write_text("mine")
    write_result(out, result, force=True)
    listed = json.loads((out / "confidential" / "claim.json").read_text())["files"]
    files = {n for n, what in tree(out).items() if what != "folder"}
    assert files == {*listed, f"{stage.name}/publish/notes.txt"}


def test_a_checkpoint_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.json"
    path.write_text("mine")
    (tmp_path / ".checkpoint.json.1.part").write_text("mine as well")
    with pytest.raises(InputError, match="is no checkpoint of evosdc"):
        Checkpoint(path, force=True).refuse_existing()
    remove_checkpoint(path)
    assert len(list(tmp_path.iterdir())) == 2
    write_checkpoint(path, {"turn": 1})
    half = path.read_bytes()[:40]
    (tmp_path / ".checkpoint.json.2.part").write_bytes(half)
    Checkpoint(path, force=True).refuse_existing()
    remove_checkpoint(path)
    assert [p.name for p in tmp_path.iterdir()] == [".checkpoint.json.1.part"]
    path.symlink_to(tmp_path / ".checkpoint.json.1.part")
    for resume in (False, True):
        with pytest.raises(InputError, match="is a symbolic link"):
            Checkpoint(path, force=True, resume=resume).refuse_existing()


# --- commands --------------------------------------------------------------------


@pytest.mark.parametrize("place", ["publish", "confidential"])
def test_commands_end_before_the_work(
    run: Command,
    table: Path,
    people: Path,
    tmp_path: Path,
    elsewhere: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / place).symlink_to(elsewhere)
    before = tree(tmp_path)
    for verb in ("protect", "synthesise", "evaluate", "tabulate"):
        monkeypatch.setattr(evosdc.api, verb, lambda *_, **__: pytest.fail("began"))
    for words in (
        ("protect", table),
        ("synthesise", people, *KEY, *QUICK),
        ("synthesise", people, *KEY, *QUICK, "--no-checkpoint", "--copies", 2),
        ("evaluate", people, people, *KEY),
        ("demo",),
    ):
        code, text, err = run(*words, "-o", out, "--force")
        assert (code, text) == (2, "")
        assert "is a symbolic link" in err
    assert tree(tmp_path) == before


def test_single_files_are_not_written_through_links(
    run: Command, people: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for name in ("t.csv", "t.parquet", "t.jj", "t.toml", "side.csv.json", "s.jj.json"):
        (tmp_path / name).symlink_to(precious)
    before = tree(tmp_path)
    tabulate = ("tabulate", people, "--by", "town", "--rule", "freq:3")
    for words in (
        *((*tabulate, "-o", tmp_path / name) for name in ("t.csv", "t.parquet")),
        *((*tabulate, "-o", tmp_path / name) for name in ("side.csv", "s.jj")),
        ("instances", "random", "-o", tmp_path / "t.jj"),
        ("inspect", people, "--toml", tmp_path / "t.toml"),
    ):
        code, _, err = run(*words, "--force")
        assert code == 2, words
        assert "is a symbolic link" in err
    assert tree(tmp_path) == before


def test_a_synthesis_has_a_claim_and_replaces_what_it_lists(
    run: Command, people: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = ("synthesise", people, *KEY, *QUICK, "-o", out)
    code, _, _ = run(*words, "--copies", 2)
    assert code in (0, 3)
    claim = json.loads((out / "confidential" / "claim.json").read_text())
    files = {n for n, what in tree(out).items() if what != "folder"}
    assert set(claim["files"]) == files
    assert {mode(out / n) for n in files if n.startswith("conf")} == {0o600}
    assert claim["verdict"] == ("not " if code else "") + "fit for release"
    (out / "publish").mkdir(exist_ok=True)
    mine = [out / "publish" / "notes.txt", out / "confidential" / "synthetic.csv.bak"]
    for path in mine:
        path.write_text("mine")
    code, _, _ = run(*words, "--force")
    assert code in (0, 3)
    assert not list(out.glob("*/synthetic-*"))
    assert [path.read_text() for path in mine] == ["mine"] * 2
    # Its own copy is no file to evaluate into the same folder: it would be gone.
    (copy,) = out.glob("*/synthetic.csv")
    code, _, err = run("evaluate", people, copy, *KEY, "-o", out, "--force")
    assert code == 2
    assert "would be replaced" in err
    assert copy.exists()


def test_the_demo_writes_over_its_own_firms_only(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protect = evosdc.api.protect
    monkeypatch.setattr(
        evosdc.api,
        "protect",
        lambda t, **_: protect(t, method="attacker", stop=evosdc.Stop(evaluations=1)),
    )
    out = tmp_path / "out"
    words = ("demo", "-o", out, "--firms", 60)
    assert run(*words)[0] in (0, 3)
    first = (out / "input" / "firms.csv").read_text()
    assert run(*words, "--seed", 1, "--force")[0] in (0, 3)
    assert (out / "input" / "firms.csv").read_text() != first
    claim = json.loads((out / "confidential" / "claim.json").read_text())
    files = {n for n, what in tree(out).items() if what != "folder"}
    assert set(claim["files"]) == files
    # Without the claim nobody knows whose they are.
    shutil.rmtree(out / "confidential")
    shutil.rmtree(out / "publish", ignore_errors=True)
    shutil.rmtree(out / "draft", ignore_errors=True)
    before = tree(out)
    code, _, err = run(*words, "--force")
    assert code == 2
    assert "is in the way" in err
    assert tree(out) == before
