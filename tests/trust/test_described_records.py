"""What a description says of records is honoured or said; so are repeated records."""

from __future__ import annotations

from pathlib import Path

import pytest

import evosdc
from builders import Command
from evosdc import formats
from evosdc.errors import InputError
from evosdc.io import read_table, write_table
from evosdc.io.argus.asc import read_asc
from evosdc.io.argus.rda import read_rda
from evosdc.table import Hierarchy, Table

RDA = """R 1 1 9
<RECODEABLE>
<TOTCODE> "T"
X 3 3
<NUMERIC>
W 7 1
<NUMERIC>
<WEIGHT>
H 9 1
<HOLDING>
"""
ASC = "a  10 2 u\nb  20 1 u\n9   5 3 v\na   7 1 w\n"


def records(folder: Path, rda: str = RDA) -> Path:
    (folder / "m.rda").write_text(rda)
    (folder / "m.asc").write_text(ASC)
    return folder / "m.asc"


@pytest.mark.parametrize(
    ("weight", "total", "words"),
    [
        (None, 62, "records weighted by 'W', as their description says"),
        ("W", 62, "records weighted by 'W'"),
        ("none", 42, "not weighted by 'W', though described"),
    ],
)
def test_weights_of_a_description_are_applied_or_left_out_and_the_claim_says_so(
    weight: str | None, total: float, words: str, tmp_path: Path
) -> None:
    made = evosdc.tabulate(
        records(tmp_path),
        ["R"],
        "X",
        rules="freq:1",
        contributors=evosdc.Contributors(weight=weight),
    )
    assert made.table.value.max() == total
    assert words in evosdc.audit(made).claim.rules
    write_table(tmp_path / "t.csv", made.table)
    assert words in evosdc.audit(tmp_path / "t.csv").claim.rules


def test_the_command_line_says_what_it_did_with_weights(
    run: Command, tmp_path: Path
) -> None:
    wanted = ("tabulate", records(tmp_path), "--by", "R", "--value", "X")
    code, out, _ = run(*wanted, "--rule", "freq:1", "-o", tmp_path / "t.csv")
    assert code == 0
    assert "weighted by 'W'" in out
    code, out, _ = run(
        *wanted, "--rule", "freq:1", "--weight", "none", "-o", tmp_path / "u.csv"
    )
    assert code == 0
    assert "not weighted by 'W'" in out


def test_two_columns_of_weights_are_a_question(tmp_path: Path) -> None:
    path = records(tmp_path, RDA.replace("<HOLDING>", "<WEIGHT>").replace("H 9", "H 7"))
    with pytest.raises(InputError, match="2 variables of weights"):
        evosdc.tabulate(path, ["R"], "X", rules="none")


def test_what_a_description_says_and_nobody_uses_is_noted(tmp_path: Path) -> None:
    notes = evosdc.tabulate(records(tmp_path), ["R"], "X", rules="none").table.notes
    for words in ("'H' as holding", "total of 'R' 'T'", "calls missing", "'9'"):
        assert any(words in note for note in notes), words
    made = evosdc.tabulate(
        records(tmp_path),
        ["R"],
        "X",
        rules="none",
        contributors=evosdc.Contributors(holding="H"),
        read=evosdc.Read(totals="T"),
    )
    assert not any("holding" in n or "total of" in n for n in made.table.notes)
    rda = "<SEPARATOR> ;\nR\n<RECODEABLE>\n<HIERARCHICAL>\nX\n<NUMERIC>\n"
    (tmp_path / "t.rda").write_text(rda + "M\n<MAXSCORE>\n")
    (tmp_path / "t.tab").write_text("a;10;7\nb;21;9\n")
    noted = read_table(tmp_path / "t.tab").notes
    assert any("'M' as maxscore" in note for note in noted)
    assert any("hierarchical" in note for note in noted)


def test_records_that_agree_in_every_column_are_said(
    run: Command, tmp_path: Path
) -> None:
    path = tmp_path / "m.csv"
    path.write_text("k,v,id\na,1,1\na,1,1\na,1,2\nb,5,3\n")
    code, out, _ = run(
        *("tabulate", path, "--by", "k", "--value", "v", "--rule", "freq:1"),
        *("-o", tmp_path / "t.csv"),
    )
    assert code == 0
    assert "note: 2 of 4 records agree with another one in every column" in out
    path.write_text("k,v,id\na,1,1\na,1,2\nb,5,3\n")
    made = evosdc.tabulate(path, ["k"], "v", rules="freq:1")
    assert not any("every column" in note for note in made.table.notes)


@pytest.mark.slow
def test_a_synthesis_says_how_many_records_agree() -> None:
    people = {
        "sex": ["m", "f"] * 20,
        "age": [str(k // 4) for k in range(40)],
        "job": ["a", "b", "c", "d"] * 10,
    }
    made = evosdc.synthesise(people, key=["sex"], target="job", generations=1, seed=1)
    assert not any("every column" in note for note in made.model.notes_)
    twice = {name: [*column, column[0]] for name, column in people.items()}
    made = evosdc.synthesise(twice, key=["sex"], target="job", generations=1, seed=1)
    assert any("2 of 41 records" in note for note in made.model.notes_)


def test_a_file_of_blanks_is_no_file_of_records(tmp_path: Path) -> None:
    description = read_rda(records(tmp_path).with_suffix(".rda"))
    for text in (" \n\n  \n", "\x1a", "\n"):
        (tmp_path / "b.asc").write_text(text)
        with pytest.raises(InputError, match="no records"):
            read_asc(tmp_path / "b.asc", description)


def test_a_slash_in_a_name_does_no_harm(tmp_path: Path) -> None:
    tree = Hierarchy.from_parents({"N": "T", "n1": "N", "n2": "N", "S": "T"}, "T")
    cells = {"a/b": ["n1", "n2", "S"], "value": [1.234, 567, 2]}
    table = evosdc.protect(
        cells,
        read=evosdc.Read(hierarchies={"a/b": tree}, rules="none"),
        stop=evosdc.Stop(evaluations=1),
    ).table
    write_table(tmp_path / "t.tab", table)
    again = read_table(tmp_path / "t.tab")
    assert again.dimensions == table.dimensions
    # Alone, 1.234 beside 567 may be 1234: the .rda says that these are decimals.
    assert again.value.tolist() == table.value.tolist()


def write_new(path: Path, table: Table) -> None:
    del table
    path.write_text("new")


def test_a_layout_cannot_be_without_a_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = formats.Layout("new", "-new.txt", f"{__name__}:write_new")
    monkeypatch.setattr(formats, "LAYOUTS", (*formats.LAYOUTS, layout))
    monkeypatch.setattr("evosdc.io.layouts.LAYOUTS", formats.LAYOUTS)
    cells = {"r": ["a", "b", "c"], "value": [5, 20, 30], "status": ["s"] * 3}
    result = evosdc.protect(
        cells, read=evosdc.Read(rules="none"), stop=evosdc.Stop(evaluations=1)
    )
    folder = Path(result.write(tmp_path / "out", formats="new"))
    assert (folder / "published-new.txt").read_text() == "new"
    with pytest.raises(TypeError):
        formats.Layout("new", "-new.txt")  # type: ignore[call-arg]
