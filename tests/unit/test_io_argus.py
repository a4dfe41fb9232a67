"""tau-Argus text files, against files written by hand in its format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evosdc.errors import HierarchyError, InputError, TableError
from evosdc.io import (
    apply_apriori,
    hierarchy_from_levels,
    open_microdata,
    read_apriori_into,
    read_hierarchy,
    read_hst,
    read_tab,
    table_from_frame,
    write_hst,
    write_tab,
)
from evosdc.io.argus.asc import read_asc
from evosdc.io.argus.hrc import read_hrc, write_hrc
from evosdc.io.argus.hst import Apriori
from evosdc.io.argus.rda import read_rda
from evosdc.io.argus.tab import read_tab_frame
from evosdc.table import Hierarchy, Table


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# Hierarchies


def test_hrc(tmp_path: Path) -> None:
    path = put(tmp_path, "r.hrc", "Nr\n@ 1\n@ 2\n@@2a\nOs \r\n@ 3\n\n")
    tree = read_hrc(path)
    assert tree.codes == ("Total", "Nr", "1", "2", "2a", "Os", "3")
    assert tree.parents == (-1, 0, 1, 1, 3, 0, 5)
    write_hrc(tmp_path / "again.hrc", tree)
    assert read_hrc(tmp_path / "again.hrc") == tree


def test_hrc_with_another_lead(tmp_path: Path) -> None:
    tree = read_hrc(put(tmp_path, "r.hrc", "A\n--b\n----c\n"), lead="--", total="T")
    assert tree.codes == ("T", "A", "b", "c")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A\n@@b\n", "line 2: code 'b' is 2 deep"),
        ("@A\n", "line 1"),
        ("A\n@\n", "line 2: a depth without a code"),
        ("A\n@A\n", "line 2: code 'A' stands twice"),
        ("A\nTotal\n", "line 2: code 'Total' stands twice"),
        ("\n\n", "holds no codes"),
    ],
)
def test_broken_hrc(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(HierarchyError, match=words):
        read_hrc(put(tmp_path, "r.hrc", text))


def test_hierarchy_from_csv(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", "A10,A21,A88\nAZ,A,01\nAZ,A,02\nBE,B,\nBE,C,10\n")
    tree = read_hierarchy(path, total="All")
    assert tree.codes == ("All", "AZ", "A", "01", "02", "BE", "B", "C", "10")
    with pytest.raises(InputError, match="no suffix of a hierarchy"):
        read_hierarchy(put(tmp_path, "a.xyz", "x"))


def test_digits() -> None:
    tree = hierarchy_from_levels(
        ["34100", "34200", "29240", "341", "Total"], [3, 1, 1, 0]
    )
    assert tree.codes == (
        *("Total", "292", "2924", "29240"),
        *("341", "3410", "34100", "342", "3420", "34200"),
    )
    with pytest.raises(HierarchyError, match="6 digits"):
        hierarchy_from_levels(["123456"], [3, 1, 1])
    with pytest.raises(HierarchyError, match="leave nothing"):
        hierarchy_from_levels(["1"], [0, 0])


# Microdata

FIXED = """Year 1 2 99
  <RECODEABLE>
Industry 4 5 99999 "99998"
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 3 1 1 0 0
  <DISTANCE> 1 3 5 7 9
Region 10 2
  <RECODEABLE>
  <TOTCODE> "All"
  <CODELIST> "region.cdl"
  <HIERARCHICAL>
  <HIERCODELIST> "C:\\data\\REGION.hrc"
  <HIERLEADSTRING> "@"
Wgt 12 4 9999
  <DECIMALS> 1
  <WEIGHT>
Turnover 16 8 99999999
  <NUMERIC>
  <DECIMALS> 2
Firm 24 2
  <HOLDING>
Ask 26 1
  <REQUEST> "1" "2"
"""
RECORDS = """84 34100  9 2.2   28.26 70
84 29240 11   1     887 81
99 99998  9 3.3      -5 7
"""


def test_fixed_format(tmp_path: Path) -> None:
    put(tmp_path, "Firms.RDA", FIXED)
    put(tmp_path, "region.HRC", "N\n@ 9\n@11\n")
    data = open_microdata(put(tmp_path, "firms.asc", RECORDS), total="T")
    frame = data.source
    assert frame["Year"].to_pylist() == ["84", "84", "99"]
    assert frame["Industry"].to_pylist() == ["34100", "29240", "99998"]
    assert frame["Region"].to_pylist() == ["9", "11", "9"]
    assert frame["Wgt"].to_pylist() == [2.2, 1, 3.3]
    assert frame["Turnover"].to_pylist() == [28.26, 887, -5]
    assert frame["Firm"].to_pylist() == ["7", "8", "7"]
    assert frame["Ask"].to_pylist() == ["0", "1", None]
    assert data.hierarchies["Region"].codes == ("T", "N", "9", "11")
    industry = data.hierarchies["Industry"]
    assert industry.codes[1:4] == ("292", "2924", "29240")
    # A missing code is a part of the total, not a branch made of its digits.
    assert (industry.codes[-1], industry.parents[-1]) == ("99998", 0)
    assert data.description is not None
    ask = data.description.with_role("request")[0]
    assert ask.requests == ("1", "2")
    region = data.description.variables[2]
    assert (region.total, region.codelist) == ("All", "region.cdl")
    assert data.description.variables[3].decimals == 1


def test_chosen_variables(tmp_path: Path) -> None:
    description = read_rda(put(tmp_path, "m.rda", FIXED))
    path = put(tmp_path, "m.asc", RECORDS.replace("\n", "\r\n"))
    assert read_asc(path, description, names=["Wgt"]).column_names == ["Wgt"]
    with pytest.raises(InputError, match="'Wages'"):
        read_asc(path, description, names=["Wages"])


def test_free_format(tmp_path: Path) -> None:
    rda = '<SEPARATOR> ";"\nRegion 2 99\n<RECODEABLE>\nTurnover 8\n<NUMERIC>\n'
    description = read_rda(put(tmp_path, "m.rda", rda))
    frame = read_asc(put(tmp_path, "m.asc", '01;1,5\n99;2\n"02";\n'), description)
    assert frame["Region"].to_pylist() == ["01", "99", "02"]
    assert frame["Turnover"].to_pylist() == [1.5, 2, None]
    with pytest.raises(InputError, match="line 2: 3 fields"):
        read_asc(put(tmp_path, "m.asc", "1;2\n1;2;3\n"), description)


def test_a_description_of_longer_lines_is_of_another_file(tmp_path: Path) -> None:
    """All that lies beyond the lines would be read as blank."""
    rda = "Town 1 3\n<RECODEABLE>\nX 4 3\n<NUMERIC>\nY 7 2\n<NUMERIC>\n"
    description = read_rda(put(tmp_path, "m.rda", rda))
    frame = read_asc(put(tmp_path, "m.asc", "Ulm 12 3\nKil  4\n"), description)
    assert frame["Y"].to_pylist() == [3, None]
    path = put(tmp_path, "m.asc", "Ulm 12\nKil  4\n")
    with pytest.raises(InputError, match="'Y' begins at position 7, and no line"):
        read_asc(path, description)
    assert read_asc(path, description, names=["X"])["X"].to_pylist() == [12, 4]


def test_latin_1_records(tmp_path: Path) -> None:
    description = read_rda(put(tmp_path, "m.rda", "Town 1 3\n<RECODEABLE>\n"))
    path = tmp_path / "m.asc"
    path.write_bytes("Köl\nUlm\n".encode("latin-1"))
    assert read_asc(path, description)["Town"].to_pylist() == ["Köl", "Ulm"]


def test_records_that_are_not_numbers(tmp_path: Path) -> None:
    description = read_rda(put(tmp_path, "m.rda", "X 1 3\n<NUMERIC>\n"))
    with pytest.raises(InputError, match="line 2: column 'X' is not a number"):
        read_asc(put(tmp_path, "m.asc", "1\n2a3\n"), description)
    signs = read_asc(put(tmp_path, "m.asc", "+1\n-.5\n 2.\n"), description)
    assert signs["X"].to_pylist() == [1, -0.5, 2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<RECODEABLE>\n", "line 1: <RECODEABLE> before any variable"),
        ("A 1\n", "line 1: variable 'A' has no start and length"),
        ("A 0 2\n", "line 1: variable 'A' starts at 0"),
        ("A 1 2\nA 3 2\n", "line 2: variable 'A' stands twice"),
        ("A 1 2\n<RECODABEL>\n", "line 2: unknown property <RECODABEL>"),
        ("A 1 2\n<HIERLEVELS> x\n", "line 2: <HIERLEVELS> without"),
        ("A 1 2\n<TOTCODE>\n", "line 2: <TOTCODE> with 0 values"),
        ("<SEPARATOR> ;\nA\n", "line 2: variable 'A' has no length"),
        ("<SEPARATOR> ;;\nA 1\n", "line 1: separator ';;'"),
        ("\n \n", "names no variables"),
    ],
)
def test_broken_rda(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_rda(put(tmp_path, "m.rda", text))
    assert words in str(caught.value)


def test_microdata_without_description(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no m\.rda in the folder of m\.asc"):
        open_microdata(put(tmp_path, "m.asc", "1\n"))
    with pytest.raises(InputError, match="no suffix of records"):
        open_microdata(put(tmp_path, "m.xls", "1\n"))
    path = put(tmp_path, "m.csv", "a\n1\n")
    assert open_microdata(path).source == path


def test_missing_hierarchy_files(tmp_path: Path) -> None:
    put(tmp_path, "m.rda", FIXED)
    with pytest.raises(InputError, match=r"no file .*REGION\.hrc"):
        open_microdata(put(tmp_path, "m.asc", RECORDS))


# Tables

TABLE = """<SEPARATOR> ";"
<SAFE> S
<UNSAFE> U
<PROTECT> P
Region
  <RECODEABLE>
  <TOTCODE> "T"
  <HIERARCHICAL>
  <HIERCODELIST> "region.hrc"
  <HIERLEADSTRING> "@"
Size
  <RECODEABLE>
  <TOTCODE> "T"
Turnover
  <NUMERIC>
  <DECIMALS> 1
Shadow
  <NUMERIC> <SHADOW>
Cost
  <NUMERIC> <COST>
Low
  <NUMERIC> <LOWERPL>
High
  <NUMERIC> <UPPERPL>
Count
  <FREQUENCY>
Top
  <MAXSCORE>
Second
  <MAXSCORE>
Status
  <STATUS>
"""
CELLS = """ 1;a;10,5;1;3;0;0;4;5;4;S
 2;a;20;1;4,5;2,5;1,5;2;15;5;U
 3;b;"30";1;5;0;0;9;9;8;P
T;T;60,5;1;9;0;0;15;15;9;s

"""


def tab(folder: Path, cells: str = CELLS, rda: str = TABLE) -> Path:
    put(folder, "region.hrc", "N\n@ 1\n@ 2\nS\n@ 3\n")
    put(folder, "t.rda", rda)
    return put(folder, "t.tab", cells)


def test_tab(tmp_path: Path) -> None:
    table = read_tab(tab(tmp_path))
    assert table.name == "Turnover"
    assert table.dimensions[0].hierarchy.codes == ("T", "N", "1", "2", "S", "3")
    assert table.value[:4].tolist() == [10.5, 20, 30, 60.5]
    assert table.weight[:4].tolist() == [3, 4.5, 5, 9]
    assert "".join(table.status[:4]) == "suzs"
    assert (table.lpl[1], table.upl[1]) == (2.5, 1.5)
    assert table.frequency is not None
    assert table.frequency[:4].tolist() == [4, 2, 9, 15]
    frame = read_tab_frame(
        tmp_path / "t.tab", read_rda(tmp_path / "t.rda", of_table=True)
    )
    assert frame["Second"].to_pylist() == [4, 5, 8, 9]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (CELLS.replace(";U", ";Q"), "unknown status 'q in the file' at Region=2"),
        (CELLS.replace(";9;8;P", ";9;P"), "line 3: 10 fields"),
        (CELLS.replace(" 3;b", " 4;b"), "'4' of column 'Region' are not"),
        (CELLS.replace("60,5", "61,5"), "do not add up"),
        (CELLS.replace("10,5", "10.5"), "both decimal points and"),
        (CELLS.replace("10,5", "ten"), "line 1: column 'Turnover' is not a number"),
        ("\n", "no rows"),
    ],
)
def test_broken_tab(tmp_path: Path, cells: str, words: str) -> None:
    with pytest.raises((InputError, TableError)) as caught:
        read_tab(tab(tmp_path, cells))
    assert words in str(caught.value)


def test_tab_of_frequencies(tmp_path: Path) -> None:
    rda = "<SEPARATOR> ,\nR\n<RECODEABLE>\nN\n<FREQUENCY>\nS\n<STATUS>\n"
    path = tab(tmp_path, "a,3,s\nb,1,u\n", rda)
    with pytest.raises(TableError, match="without protection levels at R=b"):
        read_tab(path)
    table = read_tab(path, level_percent=100)
    assert table.value.tolist() == [3, 1, 4]
    assert table.upl.tolist() == [0, 1, 0]


def test_separators_at_the_end_of_lines(tmp_path: Path) -> None:
    rda = "<SEPARATOR> ;\nR\n<RECODEABLE>\nX\n<NUMERIC>\n"
    table = read_tab(tab(tmp_path, "01;3;\r\n02;4;\r\n\r\n", rda))
    assert table.dimensions[0].hierarchy.codes == ("Total", "01", "02")
    assert table.value.tolist() == [3, 4, 7]


def test_tab_with_two_responses(tmp_path: Path) -> None:
    rda = "<SEPARATOR> ;\nR\n<RECODEABLE>\nX\n<NUMERIC>\nY\n<NUMERIC>\n"
    path = tab(tmp_path, "a;3;4\n", rda)
    with pytest.raises(InputError, match="2 responses"):
        read_tab(path)
    assert read_tab(path, value="Y").value[0] == 4
    with pytest.raises(InputError, match="no response 'Z'"):
        read_tab(path, value="Z")


def test_tab_without_description(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the description of the table"):
        read_tab(put(tmp_path, "t.tab", "a;1\n"))
    rda = put(tmp_path, "t.rda", "<SEPARATOR> ;\nX\n<NUMERIC>\n")
    with pytest.raises(InputError, match="no spanning variable"):
        read_tab(put(tmp_path, "u.tab", "1\n"), rda)


def test_tab_cannot_say_everything(tmp_path: Path) -> None:
    table = two_by_three()
    for change in (
        {"spl": np.ones(len(table))},
        {"upper": np.full(len(table), 99.0)},
        {"lower": table.value / 2},
    ):
        with pytest.raises(TableError, match="external bounds or sliding levels"):
            write_tab(tmp_path / "t.tab", table.replace(**change))
    blank = table_from_frame({"my region": ["a"], "value": [1]})
    with pytest.raises(InputError, match="'my region'"):
        write_tab(tmp_path / "t.tab", blank)
    assert not list(tmp_path.iterdir())


# A-priori files


def two_by_three() -> Table:
    return table_from_frame(
        {
            "r": ["a", "b", "c", "a", "b"],
            "s": ["x", "x", "x", "y", "y"],
            "value": [5, 6, 0, 8, 9],
            "status": ["u", "s", "z", "z", "m"],
            "lpl": [1, 0, 0, 0, 0],
            "upl": [2, 0, 0, 0, 0],
        },
        hierarchies={"r": Hierarchy.flat(["a", "b", "c"])},
        missing="empty",
    )


def test_hst(tmp_path: Path) -> None:
    text = "a;x;S\nb;x;u;1,5;2\nTotal;;P\nb;y;C;0,5\nb;x;PL;3;4\nb;y;ml\nb;y;W;7\n\n"
    entries = read_hst(put(tmp_path, "t.hst", text))
    assert [e.action for e in entries] == ["S", "U", "P", "C", "PL", "M", "C"]
    assert entries[1].numbers == (1.5, 2)
    table = apply_apriori(two_by_three(), entries)
    status = dict(zip(map(table.label, range(len(table))), table.status, strict=True))
    assert status["r=a, s=x"] == "s"
    assert status["r=b, s=x"] == "u"
    assert status["r=Total, s=Total"] == "z"
    assert status["r=b, s=y"] == "m"
    assert (table.lpl[1], table.upl[1]) == (3, 4)
    assert (table.lpl[0], table.upl[0]) == (0, 0)
    assert table.weight[4] == 7


def test_empty_and_zero_cells_stay(tmp_path: Path) -> None:
    path = put(tmp_path, "t.hst", "c,y,M\nc,x,M\na,x,M\n")
    table = read_apriori_into(two_by_three(), path)
    assert table.status.tolist() == two_by_three().status.tolist()


def test_new_primaries_need_levels() -> None:
    entries = [Apriori(("b", "x"), "U", (), 1)]
    with pytest.raises(TableError, match="r=b, s=x is made sensitive without levels"):
        apply_apriori(two_by_three(), entries)
    table = apply_apriori(two_by_three(), entries, level_percent=50)
    assert (table.lpl[1], table.upl[1]) == (3, 3)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Apriori(("q", "x"), "S", (), 3), "line 3: unknown code 'q' of 'r'"),
        (Apriori(("a",), "S", (), 3), "line 3: 1 codes"),
        (Apriori(("a", "x"), "P"), "r=a, s=x is sensitive and protected"),
        (Apriori(("b", "y"), "P"), "r=b, s=y is secondary and protected"),
        (Apriori(("a", "y"), "U", (1, 1)), "r=a, s=y is protected"),
        (Apriori(("a", "y"), "M"), "r=a, s=y is protected"),
        (Apriori(("b", "x"), "PL", (1, 1)), "r=b, s=x, which is not sensitive"),
    ],
)
def test_contradictions(entry: Apriori, words: str) -> None:
    with pytest.raises((InputError, TableError)) as caught:
        apply_apriori(two_by_three(), [entry])
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "line",
    ["a,x", "a,x,Q", "a,x,C", "a,x,C,-1", "a,x,PL,1", "a,x,U,1,z", "S", "a,x,S,1"],
)
def test_broken_hst(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match="line 2 is not an a-priori line"):
        read_hst(put(tmp_path, "t.hst", f"a,x,S\n{line}\n"))


def test_secondaries_are_reused(tmp_path: Path) -> None:
    table = two_by_three()
    write_hst(tmp_path / "t.hst", table)
    assert (tmp_path / "t.hst").read_text() == "b;y;M\n"
    fresh = table.with_pattern(table.status == "u")
    again = read_apriori_into(fresh, tmp_path / "t.hst")
    assert again.status.tolist() == table.status.tolist()
    write_hst(tmp_path / "c.hst", table, cost=0.5)
    cheap = read_apriori_into(fresh, tmp_path / "c.hst")
    assert cheap.weight[4] == 0.5
    assert cheap.status[4] == "s"
