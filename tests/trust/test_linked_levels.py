"""Linked tables by levels of one variable: the same cell is one cell, or it is said.

What is published is attacked by `linked_check`, from the records alone.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from linked_check import disclosed, mismatches, printed_cells, read_tables, wrong_values

import evosdc
from builders import Command, options_of
from evosdc.errors import InputError, TableError
from evosdc.io import read_table, write_table
from evosdc.table import Hierarchy, Origin, linked_parts

COLUMNS = ("A10", "A21", "A88", "N1", "N2", "N3", "SIZE", "V")
LEVELS = {"A88": ["A21", "A10"], "A21": ["A10"], "N3": ["N2", "N1"], "N2": ["N1"]}
CHAINS = {"A88": ["A10", "A21", "A88"], "N3": ["N1", "N2", "N3"]}
SPANS = [["A88", "N2"], ["A21", "N3"]]
RULES = ["p:10", "freq:3"]
Rows = list[dict[str, str]]


def draw(seed: int, count: int = 110) -> Rows:
    """Firms with every level of two classifications; some parents have one child.

    R is its own only child at A21, z at N2 and N3, and y1 is the only child of y.
    """
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        a10 = rng.choice("PPQR")
        a21 = a10 if a10 == "R" else a10 + rng.choice("12")
        a88 = a21 + rng.choice("123")
        n1 = rng.choice("xxyz")
        n2 = n1 if n1 == "z" else n1 + rng.choice("12" if n1 == "x" else "1")
        n3 = n2 if n1 == "z" else n2 + rng.choice("ab")
        value = int(2000 * rng.random() ** 3) + 1
        codes = (a10, a21, a88, n1, n2, n3, rng.choice("sml"), str(value))
        rows.append(dict(zip(COLUMNS, codes, strict=True)))
    return rows


def columns(rows: Rows) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [r[name] for r in rows] for name in rows[0]}
    found["V"] = [int(v) for v in found["V"]]
    return found


def sensitive(tables: Sequence[Sequence[Any]], values: Sequence[float]) -> list[Any]:
    """Cells under p:10 or freq:3, from the records."""
    found = []
    for cell in (c for table in tables for c in table):
        size = sorted((values[i] for i in cell.records), reverse=True)
        if len(size) < 3 or sum(size[2:]) < 0.1 * size[0]:
            found.append(cell.records)
    return found


def refuse_attack(rows: Rows, folder: Path, count: int) -> None:
    """Attack a publication of linked tables."""
    values = [float(r["V"]) for r in rows]
    published = read_tables(folder)
    assert len(published) == count
    tables = printed_cells(rows, LEVELS, published)
    assert all(cell.records for table in tables for cell in table)
    assert not wrong_values(tables, values)
    assert not mismatches(tables)
    assert not disclosed(tables, values, sensitive(tables, values))


def write_records(path: Path, rows: Rows) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def tree(rows: Rows, chain: Sequence[str]) -> Hierarchy:
    return Hierarchy.from_levels(sorted({tuple(r[c] for c in chain) for r in rows}))


def tabulate(rows: Rows, spans: Any = SPANS, **options: Any) -> Any:
    return evosdc.tabulate(
        columns(rows), spans, "V", rules=RULES, **options_of("tabulate", **options)
    )


def publication(table: Any, **options: Any) -> str:
    result = evosdc.protect(
        table, workers=1, stop=evosdc.Stop(evaluations=5), **options
    )
    assert result.safe is not None
    return str(result.claim.publication)


CASES = {
    "two tables": SPANS,
    "three": [["A88", "N1"], ["A21", "N2"], ["A10", "N3"]],
    "a ring": [["A21", "SIZE"], ["SIZE", "N1"], ["A10", "N2"]],
    "one inside the other": [["A88", "N3"], ["A21", "N2"]],
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [2, 3])
def test_no_cell_is_printed_in_one_table_and_suppressed_in_another(
    case: str, seed: int, run: Command, tmp_path: Path
) -> None:
    spans = CASES[case]
    rows = draw(seed, 50 if case == "a ring" else 80)
    path, table = write_records(tmp_path / "r.csv", rows), tmp_path / "t.csv"
    words: list[Any] = ["tabulate", path, "--value", "V", "-o", table]
    for span in spans:
        words += ["--by", ",".join(span)]
    used = {name for span in spans for name in span}
    for chain in CHAINS.values():
        # The finest level that some table shows has the hierarchy.
        kept = chain[: 1 + max(k for k, c in enumerate(chain) if c in used)]
        words += ["--hierarchy", f"{kept[-1]}={','.join(kept)}"]
    code, _, error = run(*words, "--rule", "p:10", "--rule", "freq:3")
    assert code == 0, error
    out = tmp_path / "out"
    code, text, error = run(
        *("protect", table, "-o", out, "--evaluations", 5, "--workers", 1, "--json")
    )
    assert code == 0, text + error
    many = f"{len(spans)} linked tables together"
    assert many in json.loads(text)["claim"]["publication"]
    refuse_attack(rows, out / "publish", len(spans))
    names = [list(t[0])[:-2] for t in read_tables(out / "publish")]
    assert names == spans
    file = out / "publish" / "published.csv"
    assert run("audit", table, "--published", file)[0] == 0
    certificate = out / "confidential" / "certificate.npz"
    assert run("verify", table, certificate, "--published", file)[0] == 0


def test_the_attack_finds_what_names_alone_leave_open(tmp_path: Path) -> None:
    """The check above has a reason to fail: judged as unrelated, cells differ."""
    found = 0
    for seed in range(4):
        rows = draw(seed)
        made = tabulate(
            rows,
            hierarchies={"A88": tree(rows, CHAINS["A88"]), "N3": tree(rows, ["N3"])},
            link={"A21": "none", "N2": "none"},
        )
        result = evosdc.protect(
            made,
            workers=1,
            stop=evosdc.Stop(evaluations=5),
            attackers=evosdc.Attackers(who="public"),
        )
        assert "linked tables together" not in result.claim.publication
        assert "declared" in result.claim.publication
        result.write(tmp_path / str(seed))
        folder = tmp_path / str(seed) / ("publish" if result.safe else "draft")
        found += len(mismatches(printed_cells(rows, LEVELS, read_tables(folder))))
    assert found > 0


@pytest.mark.parametrize("end", [".csv", ".parquet", ".jj"])
def test_a_file_keeps_the_tables(end: str, tmp_path: Path) -> None:
    table = tabulate(draw(1), hierarchies=CHAINS).table
    path = tmp_path / f"t{end}"
    write_table(path, table)
    again = read_table(path)
    if end == ".jj":
        assert again.origin == table.origin
        return
    for one, two in zip(linked_parts(again), linked_parts(table), strict=True):
        assert one.names == two.names
        assert one.cells.tolist() == two.cells.tolist()
    assert [part.names for part in linked_parts(again)] == [tuple(s) for s in SPANS]


def test_hierarchies_of_files_make_levels_of_columns_with_their_codes() -> None:
    rows = draw(4)
    trees = {name: tree(rows, chain) for name, chain in CHAINS.items()}
    by_file = tabulate(rows, hierarchies=trees).table
    by_columns = tabulate(rows, hierarchies=CHAINS).table
    assert by_file.value.tolist() == by_columns.value.tolist()
    assert linked_parts(by_file)[1].names == ("A21", "N3")


def test_a_table_by_a_level_has_the_totals_above_it() -> None:
    rows = draw(5)
    made = tabulate(rows, hierarchies=CHAINS).table
    first = linked_parts(made)[0]
    codes = first.labels(made)[0][1].hierarchy.codes
    assert set(codes) == {"Total", *(r["N1"] for r in rows), *(r["N2"] for r in rows)}


def test_status_and_respondents_are_the_same_from_any_table() -> None:
    """A cell is marked and has its lone respondent as in a table of all levels."""
    rows = draw(6)
    for row, k in zip(rows, range(len(rows)), strict=True):
        row["H"] = f"h{k % 40}"
    for holding in (None, "H"):
        linked = tabulate(rows, hierarchies=CHAINS, holding=holding).table
        whole = tabulate(rows, ["A88", "N3"], hierarchies=CHAINS, holding=holding).table
        at = {whole.label(i): i for i in range(len(whole))}
        here = [at[linked.label(i)] for i in range(len(linked))]
        assert linked.status.tolist() == whole.status[here].tolist()
        assert linked.respondent.tolist() == whole.respondent[here].tolist()
        assert linked.lpl.tolist() == whole.lpl[here].tolist()


def test_a_code_at_two_levels_is_no_cell_by_its_name() -> None:
    """A21 has P for some firms of the A10 code P, and P9 for the others."""
    rows = draw(7)
    for row in rows:
        if row["A10"] == "P":
            row["A21"] = "P" if row["A88"].startswith("P1") else "P9"
    with pytest.raises(InputError, match="stands for other records in the hierarchy"):
        tabulate(rows, hierarchies=CHAINS)
    levels = {"A88": tree(rows, ["A10", "A88"]), "N3": CHAINS["N3"]}
    with pytest.raises(InputError, match="each code of 'A88' has one code of 'A21'"):
        tabulate(rows, hierarchies=levels)


def test_hierarchies_that_contradict_each_other_are_refused() -> None:
    rows = draw(8)
    trees: dict[str, Any] = {"A88": tree(rows, CHAINS["A88"]), "N3": CHAINS["N3"]}
    trees["A21"] = Hierarchy.from_parents({r["A21"]: "other" for r in rows})
    with pytest.raises(InputError, match="in one hierarchy only"):
        tabulate(rows, hierarchies=trees, link={"A21": "A88"})
    for k, row in enumerate(rows):
        row["A64"] = row["A21"] + "abc"[k % 3]
    chains = {"A88": ["A21", "A88"], "A64": ["A21", "A64"]}
    with pytest.raises(InputError, match=r"several codes of 'A(64|88)'"):
        tabulate(rows, [["A88", "SIZE"], ["A64", "N2"]], hierarchies=chains)
    with pytest.raises(InputError, match="unrelated, and a level of"):
        tabulate(rows, hierarchies=CHAINS, link={"A21": "none"})


def test_levels_that_nobody_declared_are_asked_for() -> None:
    rows = draw(9)
    with pytest.raises(InputError, match="'A88' has one code of 'A21'") as asked:
        tabulate(rows)
    assert "--link A21=A88" in str(asked.value)
    declared = tabulate(rows, link={"A21": "A88", "N2": "N3"})
    assert "2 linked tables together" in publication(declared)
    apart = publication(tabulate(rows, link={"A21": "none", "N2": "none"}))
    assert "linked tables together" not in apart
    assert "'A21' and 'A88' are judged as unrelated because somebody declared" in apart


def test_a_link_that_the_records_contradict_is_refused() -> None:
    rows = draw(10)
    with pytest.raises(InputError, match="several codes of"):
        tabulate(rows, [["A88"], ["SIZE"]], link={"SIZE": "A88"})
    with pytest.raises(InputError, match="'A99', which no table has"):
        tabulate(rows, [["A88"], ["SIZE"]], link={"A99": "A88"})
    with pytest.raises(InputError, match="leads from 'A21' back"):
        tabulate(rows, [["A88"], ["A21"]], link={"A21": "A88", "A88": "A21"})
    with pytest.raises(InputError, match="by both"):
        tabulate(rows, [["A88", "A21"], ["N2"]], hierarchies={"A88": CHAINS["A88"]})


def test_the_same_column_under_another_name_is_one_variable(tmp_path: Path) -> None:
    rows = draw(11)
    for row in rows:
        row["SECTION"] = row["A21"]
    spans = [["A21", "N1"], ["SECTION", "SIZE"]]
    made = tabulate(rows, spans)
    result = evosdc.protect(made, workers=1, stop=evosdc.Stop(evaluations=5))
    assert result.safe
    assert "2 linked tables together" in result.claim.publication
    result.write(tmp_path / "out")
    refuse_attack(rows, tmp_path / "out" / "publish", 2)
    for row in rows:
        row["SECTION"] = f"section {row['A21']}"
    with pytest.raises(InputError, match="tabulate both tables by one of the two"):
        tabulate(rows, spans)
    with pytest.raises(InputError, match="the same records under other codes"):
        tabulate(rows, spans, link={"SECTION": "A21"})


def test_groups_of_codes_with_the_same_records_are_asked_for() -> None:
    """Two ways to split A10, whose codes are in neither table."""
    rows = draw(12, 300)
    for k, row in enumerate(rows):
        row["OTHER"] = row["A10"].lower() + str(k % 4)
    spans = [["A88", "SIZE"], ["OTHER", "N1"]]
    with pytest.raises(InputError, match="3 groups of records with no code"):
        tabulate(rows, spans)
    words = publication(tabulate(rows, spans, link={"OTHER": "none"}))
    assert "3 groups of records with no code in common" in words


def test_columns_with_the_same_codes_that_differ_are_two_variables() -> None:
    """Where people live and where they work: the same codes, no question."""
    rows = draw(13)
    rng = random.Random(13)
    for row in rows:
        row["WORK"] = row["N2"] if rng.random() < 0.8 else rng.choice(rows)["N2"]
    words = publication(tabulate(rows, [["N2", "SIZE"], ["WORK", "A10"]]))
    assert "2 linked tables together" in words


def test_what_may_be_chance_is_said_and_does_not_stop() -> None:
    rows = draw(14)[:8]
    for k, row in enumerate(rows):
        row["CODE"], row["PLACE"] = f"c{k // 2}", "ns"[k // 4]
    words = publication(tabulate(rows, [["CODE"], ["PLACE"]]))
    assert "'PLACE' and 'CODE' are judged as unrelated" in words
    assert "may be chance" in words
    assert "linked tables together" not in words


def test_places_of_one_firm_each_are_asked_for() -> None:
    """Each place is in one province: one record for each says nothing of chance."""
    rows = draw(15, 60)
    for k, row in enumerate(rows):
        row["PLACE"], row["PROVINCE"] = f"place {k}", f"p{k % 6}"
    spans = [["PLACE"], ["PROVINCE"]]
    with pytest.raises(InputError, match="each code of 'PLACE' has one code"):
        tabulate(rows, spans)
    joint = tabulate(rows, spans, hierarchies={"PLACE": ["PROVINCE", "PLACE"]})
    assert "linked tables together" in publication(joint)


def alone(rows: Rows, span: list[str], **trees: Any) -> Any:
    return tabulate(rows, span, hierarchies=trees)


def test_separate_tables_ask_for_the_link(run: Command, tmp_path: Path) -> None:
    rows = draw(2)
    one, two = tmp_path / "one.csv", tmp_path / "two.parquet"
    write_table(one, alone(rows, ["A88", "N2"], A88=CHAINS["A88"]).table)
    write_table(two, alone(rows, ["A21", "N3"], N3=CHAINS["N3"]).table)
    out = tmp_path / "out"
    words = ["protect", one, two, "-o", out, "--evaluations", 5, "--workers", 1]
    code, _, error = run(*words, "--link", "A21=A88")
    assert code == 2
    assert "--link N2=N3" in error
    both = ["--link", "A21=A88", "--link", "N2=N3"]
    code, text, error = run(*words, *both)
    assert code == 0, text + error
    # A21 came without its A10 totals: nothing was asked to add them.
    refuse_attack(rows, out / "publish", 2)
    file = out / "publish" / "published.csv"
    assert run("audit", one, two, "--published", file)[0] == 2
    code, text, _ = run("audit", one, two, *both, "--published", file, "--json")
    assert code == 0
    assert "2 linked tables together" in json.loads(text)["claim"]["publication"]
    certificate = out / "confidential" / "certificate.npz"
    assert run("verify", one, two, certificate, *both)[0] == 0
    assert run("protect", one, "-o", tmp_path / "no", *both)[0] == 2
    apart = ["--link", "A21=none", "--link", "N3=none", "--attackers", "public"]
    code, text, _ = run(*words, *apart, "--force", "--json")
    said = json.loads(text)["claim"]["publication"]
    assert "linked tables together" not in said
    assert "'A21', 'N3' because somebody declared it" in said


def test_separate_tables_by_variables_of_their_own_say_so() -> None:
    rows = draw(3)
    tables = [alone(rows, ["A21", "SIZE"]), alone(rows, ["A21", "N1"])]
    words = publication(tables)
    assert "'SIZE', 'N1' are taken for unrelated variables" in words
    assert "linked tables together" not in words


def test_levels_that_no_sub_total_joins_are_not_linked() -> None:
    """A hidden cell of A21 is the sum of cells of A88 that the other table prints."""
    rows = [row for row in draw(3) if row["A10"] != "R"]
    tables = [alone(rows, ["A21", "SIZE"]), alone(rows, ["A88", "SIZE"])]
    with pytest.raises(InputError, match="split 'Total' of 'A88' in two ways"):
        evosdc.audit(tables, read=evosdc.Read(link={"A21": "A88"}))
    same = [{**row, "A88": row["A21"]} for row in rows]
    tables[0] = alone(same, ["A88", "SIZE"])
    with pytest.raises(InputError, match="--hierarchy A88=FILE"):
        evosdc.audit(tables)
    joined = alone(rows, ["A88", "SIZE"], A88=["A21", "A88"])
    assert "2 linked tables together" in publication([tables[0], joined])


def test_a_table_that_does_not_say_how_it_was_linked_is_not_trusted() -> None:
    """Files of version 0.1, and several tables in a file of another program."""
    table = tabulate(draw(3), [["A21", "SIZE"], ["A21", "N1"]]).table
    assert "2 linked tables together" in publication(table)
    old = {k: v for k, v in table.origin.as_json().items() if k != "unlinked"}
    words = publication(table.replace(origin=Origin.from_json(old)))
    assert "'SIZE', 'N1' are taken for unrelated variables" in words
    assert "linked tables together" not in words


def test_a_table_that_is_linked_already_can_close_a_ring() -> None:
    """Two joint tables and a third: the ring is in the parts, not in their union."""
    rows = draw(3)
    joint = tabulate(rows, [["A21", "SIZE"], ["SIZE", "N2"]])
    third = alone(rows, ["A21", "N2"])
    result = evosdc.protect([joint, third], workers=1, stop=evosdc.Stop(evaluations=5))
    assert "ring" in result.claim.publication
    assert result.safe is not True
    ring = tabulate(rows, [["A21", "SIZE"], ["SIZE", "N2"], ["A21", "N2"]])
    with pytest.raises(TableError, match="in a ring already"):
        evosdc.protect(
            [ring, alone(rows, ["A21", "N1"])], stop=evosdc.Stop(evaluations=5)
        )


def test_one_of_the_tables_is_known_from_before() -> None:
    """An earlier publication of a table by levels gives away the cells of these."""
    rows = draw(1)
    made = tabulate(rows, hierarchies=CHAINS)
    part = linked_parts(made.table)[0]
    earlier = [i for i in part.cells.tolist() if made.table.status[i] == "s"]
    frame = {
        "A88": [made.table.label(i).split(", ")[0][4:] for i in earlier],
        "N2": [made.table.label(i).split(", ")[1][3:] for i in earlier],
        "value": made.table.value[earlier].tolist(),
    }
    words = evosdc.audit(
        made, prior=evosdc.Prior(already_published=frame)
    ).claim.publication
    assert f"{len(earlier):,} cells are known from before" in words


def test_wrong_types_of_hierarchies_are_refused() -> None:
    with pytest.raises(InputError, match="of type int"):
        tabulate(draw(1), ["A21"], hierarchies={"A21": 5})
    with pytest.raises(InputError, match="of type list"):
        evosdc.protect(
            {"a": ["x"], "value": [1.0]},
            read=evosdc.Read(hierarchies={"a": ["b", "a"]}),
        )


@pytest.mark.parametrize("seed", range(2))
def test_further_formats_have_the_levels_of_each_table(
    seed: int, tmp_path: Path
) -> None:
    made = tabulate(draw(seed), hierarchies=CHAINS)
    result = evosdc.protect(
        made,
        workers=1,
        stop=evosdc.Stop(evaluations=5),
        attackers=evosdc.Attackers(who="public"),
    )
    result.write(tmp_path / "out", formats="pivot,grid,tab")
    folder = tmp_path / "out" / ("publish" if result.safe else "draft")
    first = (folder / "published-1-A88-N2-pivot.csv").read_text()
    assert "x1a" not in first
    assert "x1" in first
    assert (folder / "published-2-A21-N3.tab").exists()
