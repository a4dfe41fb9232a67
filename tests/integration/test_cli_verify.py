"""`evosdc verify` from the outside: words, exit codes, linked tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from builders import flat_table
from evosdc.attack import certificate_arrays, judge, judge_attackers
from evosdc.attack.certificate import witness_arrays
from evosdc.cli.app import app
from evosdc.errors import EvosdcError
from evosdc.io import published_frame, read_tables, write_labelled
from evosdc.io.delimited import write_csv
from evosdc.results import Claim
from evosdc.table import Table

CLAIM = Claim(
    rules="p:10 (1 cells)",
    levels="by the rules' formulas",
    knowledge="magnitudes: not negative",
    insiders="each of 0 lone respondents",
    publication="this table on its own",
    strictness="levels must be reached",
    proof="witness tables",
)


def verify(*arguments: Path | str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["verify", *map(str, arguments)])
    if isinstance(result.exception, EvosdcError):
        return result.exception.exit_code, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def made(name: str, second: str, column: list[str]) -> Table:
    cells = 3 * len(column)
    values = np.full(cells, 12.0 / len(column))
    return flat_table({name: "abc", second: column}, values, frequency=[5] * cells)


def sealed(folder: Path, paths: list[Path], hide: list[str]) -> Path:
    """A certificate for tables read from files, with some cells hidden."""
    table = read_tables(paths)
    hidden = np.array([table.label(c) in hide for c in range(len(table))])
    table = table.with_pattern(hidden | (table.status == "u"))
    verdict, certificate = judge_attackers(table, *judge(table))
    assert verdict.safe
    certificate_path = folder / "certificate.npz"
    np.savez_compressed(
        certificate_path,
        **certificate_arrays(
            certificate,
            table=table,
            claim=CLAIM,
            strict=False,
            secondaries=False,
            insiders=True,
        ),
    )
    write_csv(folder / "published.csv", published_frame(table), force=True)
    return certificate_path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    table = made("r", "s", ["x", "y", "z"])
    status = np.where(np.arange(len(table)) == 0, "u", "s")
    level = np.where(status == "u", 1.0, 0.0)
    path = tmp_path / "table.csv"
    write_labelled(path, table.replace(status=status, lpl=level, upl=level))
    corners = [f"r={r}, s={s}" for r in "ab" for s in "xy"]
    return path, sealed(tmp_path, [path], corners)


def test_what_is_proved_is_said(files: tuple[Path, Path]) -> None:
    table, certificate = files
    published = table.with_name("published.csv")
    code, words = verify(table, certificate, "--published", published)
    assert code == 0
    assert words.startswith("SAFE: 1 cells judged, 2 witnesses added up, 4 of 16 cells")
    assert "What does everybody know of a cell beforehand? magnitudes: not neg" in words
    assert "published.csv hides exactly these cells" in words
    code, words = verify(table, certificate, "--json")
    answer = json.loads(words)
    assert code == 0
    assert answer["proved"] is True
    assert answer["verdict"] == "SAFE"
    assert answer["stated"] == CLAIM
    assert answer["checked"]["strictness"] == "reached"
    assert answer["settings"]["insiders"] is True
    assert answer["insiders"] == 0
    assert answer["faults"] == []


def test_who_must_have_been_judged_is_demanded(files: tuple[Path, Path]) -> None:
    assert verify(*files, "--attackers", "lone")[0] == 0
    for demand in ("--attackers=pairs", "--strict", "--protect-secondaries"):
        code, words = verify(*files, demand)
        assert code == 3
        assert "fault: the certificate was not judged for" in words
    coalitions = files[0].with_name("coalitions.csv")
    coalitions.write_text('coalition,member\nA,"r=a,s=x"\nA,"r=b,s=y"\n')
    code, words = verify(*files, "--coalition", coalitions)
    assert code == 3
    assert "coalition 'A'" in words
    code, words = verify(*files, "--attackers", "everyone")
    assert code == 2
    assert "'public' or 'lone' or 'pairs'" in words


def test_another_table_and_another_publication(files: tuple[Path, Path]) -> None:
    table, certificate = files
    given = read_tables([table])
    # One level is lower now: easier to prove, and not what was proved.
    write_labelled(table, given.replace(upl=given.upl / 2), force=True)
    code, words = verify(table, certificate)
    assert code == 3
    assert words.startswith("NOT PROVED")
    assert "not the one the certificate was made for" in words
    assert "protection levels" in words
    write_labelled(table, given, force=True)
    published = table.with_name("published.csv")
    lines = published.read_text().splitlines()
    published.write_text("\n".join(line.replace("a,y,,x", "a,y,4,s") for line in lines))
    code, words = verify(table, certificate, "--published", published)
    assert code == 3
    assert "published and should be hidden, the first: r=a, s=y" in words


def test_files_that_cannot_be_read(files: tuple[Path, Path], tmp_path: Path) -> None:
    table, certificate = files
    assert verify(table)[0] == 2
    assert verify(table, tmp_path / "nowhere.npz")[0] == 2
    assert verify(tmp_path / "nowhere.csv", certificate)[0] == 2
    old = tmp_path / "old.npz"
    cells = read_tables([table])
    np.savez(old, **witness_arrays(judge(cells)[1]))
    code, words = verify(table, old)
    assert code == 2
    assert "format 1" in words
    broken = tmp_path / "broken.npz"
    broken.write_bytes(certificate.read_bytes()[:-40])
    assert verify(table, broken)[0] == 2


def test_linked_tables_are_verified_together(tmp_path: Path) -> None:
    one, two = made("r", "s", ["x", "y", "z"]), made("r", "t", ["k", "l"])
    status = np.where(np.arange(len(one)) == 0, "u", "s")
    level = np.where(status == "u", 1.0, 0.0)
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    write_labelled(paths[0], one.replace(status=status, lpl=level, upl=level))
    write_labelled(paths[1], two)
    hide = [f"r={r}, s={s}, t=Total" for r in "ab" for s in "xy"]
    certificate = sealed(tmp_path, paths, hide)
    published = tmp_path / "published.csv"
    code, words = verify(*paths, certificate, "--published", published)
    assert code == 0
    assert "of 24 cells hidden" in words
    code, words = verify(*paths[::-1], certificate)
    assert code == 3
    assert "the cells and their order" in words
    assert verify(paths[0], certificate)[0] == 3
