"""Files that look like a table and are another one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builders import Command
from evosdc.errors import InputError, NotAdditiveError, TableError
from evosdc.io import read_table, table_from_frame
from evosdc.tabulation import tabulate

SPLIT = """region,industry,value,status,lpl,upl
North,A,37,s,,
North,B,52,s,,
North,C,11,s,,
South,A,30,s,,
South,B,51,s,,
South,C,27,s,,
Downs,A,10,u,2,2
Downs,B,30,s,,
Downs,C,20,s,,
Weald,A,20,s,,
Weald,B,21,s,,
Weald,C,7,s,,
"""


def written(path: Path, text: str) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def test_the_command_line_refuses_a_sub_total_and_says_what_to_do(
    run: Command, tmp_path: Path
) -> None:
    path = written(tmp_path / "t.csv", SPLIT)
    for verb in (["protect", path, "-o", tmp_path / "o"], ["audit", path]):
        code, _, err = run(*verb)
        assert code == 2
        assert "region='South' are the sums of 'Downs', 'Weald'" in err
        assert "--hierarchy region=FILE" in err
    assert not (tmp_path / "o").exists()
    tree = written(tmp_path / "r.hrc", "North\nSouth\n@Downs\n@Weald\n")
    code, out, _ = run(
        "protect",
        path,
        *("--hierarchy", f"region={tree}", "-o", tmp_path / "o"),
        *("--evaluations", 5),
    )
    assert code == 0
    assert "note: 8 totals are computed, not given" in " ".join(out.split())
    code, out, _ = run("audit", path, "--hierarchy", f"region={tree}", "--json")
    assert code == 3
    assert any("computed" in note for note in json.loads(out)["notes"])


def test_the_command_line_takes_a_word_for_chance(run: Command, tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", SPLIT)
    code, out, _ = run(
        *("protect", path, "--flat", "region", "-o", tmp_path / "o", "--json"),
        *("--evaluations", 5),
    )
    assert code == 0
    assert any("'South' are the sums" in n for n in json.loads(out)["notes"])
    code, _, err = run("audit", path, "--flat", "regio")
    assert code == 2
    assert "'regio'" in err
    code, _, err = run("audit", path, path, "--flat", "region,regio")
    assert code == 2
    assert "'regio'" in err


def test_tabulate_says_what_it_merged(run: Command, tmp_path: Path) -> None:
    micro = written(tmp_path / "m.csv", "k,v\nN,1\nN ,2\n N,4\nS,8\n")
    out = tmp_path / "t.csv"
    code, text, _ = run(
        *("tabulate", micro, "--by", "k", "--value", "v", "--rule", "freq:2"),
        *("-o", out),
    )
    assert code == 0
    assert "note: column 'k': 3 codes" in text
    assert "taken for 1: 'N'" in text
    assert "N,7," in out.read_text()
    mixed = written(tmp_path / "mixed.csv", "k,v\nN,1\nS,8\nALL,9\n")
    wanted = ("tabulate", mixed, "--by", "k", "--value", "v", "--rule", "freq:2")
    code, _, err = run(*wanted, "-o", tmp_path / "u.csv")
    assert code == 2
    assert "'ALL'" in err
    assert "--flat k" in err
    code, _, _ = run(*wanted, "--flat", "k", "-o", tmp_path / "u.csv")
    assert code == 0


def test_a_status_in_capitals_is_not_a_dimension(tmp_path: Path) -> None:
    """Read as codes, the statuses would mark nothing: nothing sensitive, all safe."""
    for name in ("Status", "STATUS", "Frequency", "LPL"):
        path = written(tmp_path / "t.csv", SPLIT.replace("status", name))
        with pytest.raises(InputError, match=f"{name!r} is not"):
            read_table(path, missing="empty")
    with pytest.raises(InputError, match="' status' is not 'status'"):
        table_from_frame({"r": ["a", "b"], " status": ["u", "s"], "value": [1, 2]})


def test_a_column_of_values_is_not_a_dimension(tmp_path: Path) -> None:
    rows = [f"{r},{i},{k * 7 + 3},{k / 8}" for k, (r, i) in enumerate(_pairs(3, 3))]
    text = "region,industry,value,share\n" + "\n".join(rows) + "\n"
    path = written(tmp_path / "t.csv", text)
    for missing in ("error", "empty"):
        with pytest.raises(InputError, match="'share' holds numbers that the columns"):
            read_table(path, missing=missing)
    table = read_table(path, dimensions=["region", "industry"])
    assert [d.name for d in table.dimensions] == ["region", "industry"]
    # Codes that are numbers remain codes.
    rows = [f"{r},{i}.{i},{3**k}" for k, (r, i) in enumerate(_pairs(4, 4))]
    path = written(tmp_path / "u.csv", "r,nace,value\n" + "\n".join(rows) + "\n")
    assert len(read_table(path)) == 25


def _pairs(n: int, m: int) -> list[tuple[int, int]]:
    return [(r, i) for r in range(n) for i in range(m)]


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (["1.234", "567", "2.100"], True),
        (["1,234", "567", "2,100"], True),
        (["1.234", "567.000", "2.100"], True),
        (["1,234", "567,000", "2,100"], False),
        (["1.234", "567.0000", "2.100"], False),
        (["1.234", "0.567", "2.100"], False),
        (["1.234", "567", "2.1"], False),
        (["1,234", "567", "2,1"], False),
        (["1.234", "5678", "2.100"], False),
        (["12", "567", "2100"], False),
    ],
)
def test_thousands_are_not_decimals(
    words: list[str], refused: bool, tmp_path: Path
) -> None:
    lines = "".join(f"{code};{word}\n" for code, word in zip("abc", words, strict=True))
    path = written(tmp_path / "t.csv", "r;value\n" + lines)
    if refused:
        with pytest.raises(InputError, match="separate thousands") as caught:
            read_table(path)
        assert not any(word in str(caught.value) for word in words)
    else:
        expected = [float(word.replace(",", ".")) for word in words]
        assert read_table(path).value[:3].tolist() == expected
    if refused:
        with pytest.raises(InputError, match="separate thousands"):
            tabulate(path, ["r"], "value")
    else:
        made = tabulate(path, ["r"], "value")
        assert sorted(made.value)[:3] == sorted(expected)


def test_numbers_that_are_numbers_are_left_alone() -> None:
    frame = {"r": ["a", "b", "c"], "value": [1.234, 567.0, 2.1]}
    assert len(table_from_frame(frame)) == 4
    assert len(tabulate(frame, ["r"], "value")) == 4


def test_absent_cells_are_said_to_be_zeros(tmp_path: Path) -> None:
    text = "r,s,value\na,x,10\na,y,21\nb,x,7\n"
    path = written(tmp_path / "t.csv", text)
    with pytest.raises(TableError, match="r=b, s=y"):
        read_table(path)
    table = read_table(path, missing="empty")
    assert any("1 inner cells" in n and "everybody knows" in n for n in table.notes)


def test_rows_that_stand_twice_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "r,value\na,10\na,21\nb,7\n")
    with pytest.raises(TableError, match="stand twice"):
        read_table(path)


def test_a_hierarchy_that_leaves_out_a_code_is_refused(
    run: Command, tmp_path: Path
) -> None:
    path = written(tmp_path / "t.csv", SPLIT)
    tree = written(tmp_path / "r.hrc", "North\nSouth\n@Downs\n")
    code, _, err = run("audit", path, "--hierarchy", f"region={tree}")
    assert code == 2
    assert "'Weald'" in err
    assert "not in its hierarchy" in err


def test_a_blank_before_the_depth_is_no_code(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", SPLIT)
    from evosdc.io import read_hierarchy

    odd = written(tmp_path / "odd.hrc", "North\nSouth\n @Downs\n\u00a0@ Weald\n")
    tree = read_hierarchy(odd)
    assert tree.parents[tree.node_of["Weald"]] == tree.node_of["South"]
    table = read_table(path, hierarchies={"region": tree})
    assert table.matrix.shape[0] == 2 * 4 + 5


def test_cells_that_no_equation_ties_are_noted(tmp_path: Path) -> None:
    lines = [
        "0",
        "4",
        *(f"{k} {v} {v} s 0 999 0 0 0" for k, v in enumerate((1, 2, 3, 9))),
    ]
    path = written(
        tmp_path / "t.jj", "\n".join([*lines, "1", "0 3 : 2 (-1) 0 (1) 1 (1)"]) + "\n"
    )
    table = read_table(path)
    assert any("1 cell is in no equation, the first cell 3" in n for n in table.notes)
    tied = path.read_text().replace("1\n0 3 :", "2\n0 3 : 2 (-1) 0 (1) 1 (1)\n-6 2 :")
    tied = tied.replace("-6 2 : 2 (-1) 0 (1) 1 (1)", "-6 2 : 3 (-1) 2 (1)")
    assert read_table(written(tmp_path / "u.jj", tied)).notes == ()


def test_a_flat_tab_with_sub_totals_is_refused(tmp_path: Path) -> None:
    rows = [line.split(",")[:3] for line in SPLIT.splitlines()[1:]]
    written(tmp_path / "t.tab", "".join(";".join(row) + "\n" for row in rows))
    rda = (
        '<SEPARATOR> ";"\nregion\n<RECODEABLE>\nindustry\n<RECODEABLE>\nv\n<NUMERIC>\n'
    )
    written(tmp_path / "t.rda", rda)
    with pytest.raises(TableError, match="'South' are the sums of 'Downs', 'Weald'"):
        read_table(tmp_path / "t.tab")
    assert len(read_table(tmp_path / "t.tab", flat=["region"])) == 20


def test_wrong_totals_are_not_to_be_left_out(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "r,value\na,10\nb,21\nTotal,30\n")
    with pytest.raises(NotAdditiveError) as caught:
        read_table(path)
    assert "leave" not in caught.value.hint
    assert "--hierarchy" in caught.value.hint


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_codes_are_tidied_in_every_format(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{suffix}"
    codes = ["N\u00a0", " S", "I\u0302le"]
    if suffix == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"r": codes, "value": [1, 2, 9]}), path)
    else:
        rows = zip(codes, (1, 2, 9), strict=True)
        written(path, "r,value\n" + "".join(f"{c},{v}\n" for c, v in rows))
    table = read_table(path)
    assert table.dimensions[0].hierarchy.codes == ("Total", "N", "S", "\u00cele")


def test_what_was_written_with_its_tree_is_believed(tmp_path: Path) -> None:
    """Records whose sums agree by chance: the side file says that they are flat."""
    from evosdc.io import write_table

    values: dict[str, Any] = {
        "region": [w.split(",")[0] for w in SPLIT.splitlines()[1:]],
        "industry": [w.split(",")[1] for w in SPLIT.splitlines()[1:]],
        "value": [int(w.split(",")[2]) for w in SPLIT.splitlines()[1:]],
    }
    table = table_from_frame(values, flat=["region"])
    write_table(tmp_path / "t.csv", table)
    again = read_table(tmp_path / "t.csv")
    np.testing.assert_array_equal(again.matrix.toarray(), table.matrix.toarray())
    assert again.notes == ()
