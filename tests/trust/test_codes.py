"""What is one code, what is a total, and what is a sub-total in disguise."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evosdc
from evosdc import api
from evosdc.errors import (
    InputError,
    NotAdditiveError,
    TableError,
)
from evosdc.io import read_hierarchy, read_table, table_from_frame, write_table
from evosdc.table import Hierarchy
from evosdc.tabulation import tabulate

LEAVES = {"North": [37, 52, 11], "Downs": [10, 30, 20], "Weald": [20, 21, 7]}
SOUTH = [30, 51, 27]
TOTAL = [67, 103, 38]
TREE = Hierarchy.from_parents(
    {"North": "Total", "South": "Total", "Downs": "South", "Weald": "South"}
)


def cells(rows: Mapping[str, Sequence[float]], **more: Any) -> dict[str, Any]:
    """A frame of a region by industry, in the order of `rows`."""
    codes = [(r, i) for r, row in rows.items() for i in "ABCDEFGH"[: len(row)]]
    return {
        "region": [r for r, _ in codes],
        "industry": [i for _, i in codes],
        "value": [v for row in rows.values() for v in row],
        **more,
    }


# --- sub-totals -----------------------------------------------------------------


@pytest.mark.parametrize(
    "order", list(itertools.permutations(["North", "South", "Downs", "Weald"]))
)
def test_a_sub_total_among_the_codes_is_named(order: tuple[str, ...]) -> None:
    rows = {**LEAVES, "South": SOUTH}
    with pytest.raises(TableError) as caught:
        table_from_frame(cells({code: rows[code] for code in order}))
    text = str(caught.value)
    assert "the rows of region='South' are the sums of" in text
    assert "'Downs'" in text
    assert "'Weald'" in text
    assert "--hierarchy region=FILE" in text
    assert "@Downs" in text
    assert "--flat region" in text
    # No value of the table is shown.
    assert not any(str(v) in text for v in (*SOUTH, *TOTAL))


def test_the_tree_that_the_message_shows_is_the_way_out(tmp_path: Path) -> None:
    frame = cells({**LEAVES, "South": SOUTH})
    with pytest.raises(TableError) as caught:
        table_from_frame(frame)
    lines = caught.value.hint.partition("per line: ")[2].partition(";")[0].split(", ")
    (tmp_path / "region.hrc").write_text("\n".join(lines) + "\n")
    tree = read_hierarchy(tmp_path / "region.hrc")
    assert set(tree.codes) == set(TREE.codes)
    table = table_from_frame(frame, hierarchies={"region": tree})
    # South = Downs + Weald in every industry and in all.
    assert table.matrix.shape[0] == 2 * 4 + 5


def test_the_false_safe_of_a_lost_side_file_is_gone(tmp_path: Path) -> None:
    """Totals left out as the old message said: the hidden cell followed."""
    frame = cells({**LEAVES, "South": SOUTH})
    frame["status"] = ["s"] * 3 + ["u"] + ["s"] * 8
    frame["lpl"] = frame["upl"] = [""] * 3 + ["2"] + [""] * 8
    whole = table_from_frame(
        {k: [w or None for w in v] if k == "lpl" else v for k, v in frame.items()}
        | {"upl": [w or None for w in frame["upl"]]},
        hierarchies={"region": TREE},
    )
    write_table(tmp_path / "t.csv", whole)
    (tmp_path / "t.csv.json").unlink()
    with pytest.raises(NotAdditiveError) as caught:
        read_table(tmp_path / "t.csv")
    assert "region='South' are the sums of 'Downs', 'Weald'" in str(caught.value)
    assert "leave" not in caught.value.hint
    lines = (tmp_path / "t.csv").read_text().splitlines()
    csv_without = [line for line in lines if "Total" not in line]
    (tmp_path / "u.csv").write_text("\n".join(csv_without) + "\n")
    with pytest.raises(TableError, match="region='South' are the sums of"):
        api.protect(tmp_path / "u.csv", stop=evosdc.Stop(evaluations=5))
    done = api.protect(
        tmp_path / "u.csv",
        workers=1,
        read=evosdc.Read(hierarchies={"region": TREE}),
        stop=evosdc.Stop(evaluations=5),
    )
    hidden = {done.table.label(int(c)) for c in np.flatnonzero(done.table.hidden)}
    # Beside Downs something else of the south is hidden too, in A and in a row.
    assert "region=Downs, industry=A" in hidden
    assert hidden & {"region=Weald, industry=A", "region=South, industry=A"}


def test_sums_of_sums_are_found_bottom_up() -> None:
    rows = {
        "UK": [100, 203, 307, 11],
        "England": [70, 153, 200, 9],
        "London": [30, 51, 149, 4],
        "South East": [40, 102, 51, 5],
        "Wales": [30, 50, 107, 2],
    }
    with pytest.raises(TableError) as caught:
        table_from_frame(cells(rows))
    text = str(caught.value)
    assert "'England' are the sums of 'London', 'South East'" in text
    assert "'UK' are the sums of 'England', 'Wales'" in text
    # All of it is the UK: that is the total, not a branch.
    assert "--total 'UK'" in text
    assert "England, @London, @South East, Wales" in text


def test_prefixes_lead_to_parts_wherever_they_stand() -> None:
    rng = np.random.default_rng(3)
    leaves = {f"{a}{b}": rng.integers(5, 90, 4) for a in "PQR" for b in range(12)}
    rows: dict[str, Any] = {"Q": sum(leaves[f"Q{b}"] for b in range(12))}
    shuffled = rng.permutation(sorted(leaves))
    rows |= {str(code): leaves[str(code)] for code in shuffled}
    with pytest.raises(TableError, match=r"region='Q' are the sums of 'Q\d"):
        table_from_frame(cells(rows))


def test_many_codes_and_many_columns_are_solved() -> None:
    """Forty codes in any order: more than can be tried, fewer than equations."""
    rng = np.random.default_rng(5)
    leaves = {f"c{k:02d}": rng.integers(1, 500, 60) for k in range(40)}
    chosen = sorted(leaves)[1::7]
    rows = {**leaves, "mix": sum(leaves[code] for code in chosen)}
    order = [str(code) for code in rng.permutation(sorted(rows))]
    industries = [f"i{k}" for k in range(60)]
    frame = {
        "region": [r for r in order for _ in industries],
        "industry": industries * len(order),
        "value": np.concatenate([rows[r] for r in order]),
    }
    with pytest.raises(TableError) as caught:
        table_from_frame(frame)
    assert "region='mix' are the sums of" in str(caught.value)
    assert all(repr(code) in str(caught.value) for code in chosen)


def test_frequencies_must_agree_as_well() -> None:
    frame = cells({**LEAVES, "South": SOUTH})
    people = {"North": 9, "South": 8, "Downs": 3, "Weald": 5}
    frame["frequency"] = [people[r] for r in frame["region"]]
    with pytest.raises(TableError, match="'South' are the sums"):
        table_from_frame(frame)
    people["South"] = 5
    frame["frequency"] = [people[r] for r in frame["region"]]
    assert len(table_from_frame(frame)) == 20


def test_a_sub_total_that_is_given_at_the_margin_only() -> None:
    frame = cells(LEAVES)
    frame["region"] += ["South"]
    frame["industry"] += ["Total"]
    frame["value"] += [sum(SOUTH)]
    frame["value"] = [v * 1001 for v in frame["value"]]
    with pytest.raises(TableError, match="'South' are the sums of 'Downs', 'Weald'"):
        table_from_frame(frame, missing="empty")


def test_sub_totals_that_were_rounded_by_themselves() -> None:
    rng = np.random.default_rng(8)
    exact = {code: rng.uniform(50, 900, 5) for code in ("North", "Downs", "Weald")}
    exact["South"] = exact["Downs"] + exact["Weald"]
    order = ("North", "South", "Downs", "Weald")
    rows = {code: np.rint(exact[code]).tolist() for code in order}
    assert rows["South"] != np.add(rows["Downs"], rows["Weald"]).tolist()
    with pytest.raises(TableError, match="'Downs', 'Weald', to within rounding"):
        table_from_frame(cells(rows))
    rows["South"][2] += 5
    assert len(table_from_frame(cells(rows))) == 30


def test_two_codes_for_one_thing() -> None:
    rows = {"GB": [3713, 5207, 1109], "UK": [3713, 5207, 1109], "FR": [9, 7, 2]}
    with pytest.raises(TableError, match="'GB' equal those of 'UK'"):
        table_from_frame(cells(rows))


def test_a_tree_that_forgets_the_depth_of_its_codes_is_refused() -> None:
    frame = cells({**LEAVES, "South": SOUTH})
    tree = Hierarchy.flat(["North", "South", "Downs", "Weald"])
    with pytest.raises(TableError, match="'South' are the sums of"):
        table_from_frame(frame, hierarchies={"region": tree})
    deep = Hierarchy.from_levels(
        [["North"], ["Rest", "South"], ["Rest", "Downs"], ["Rest", "Weald"]]
    )
    with pytest.raises(TableError, match="correct the tree"):
        table_from_frame(frame, hierarchies={"region": deep})


def test_chance_may_be_said_to_be_chance() -> None:
    frame = cells({**LEAVES, "South": SOUTH})
    table = table_from_frame(frame, flat=["region"])
    assert len(table) == 20
    assert any("'South' are the sums of" in note for note in table.notes)
    with pytest.raises(InputError, match="'regio', which is not a dimension"):
        table_from_frame(frame, flat=["regio"])


def test_totals_that_add_up_speak_against_sub_totals() -> None:
    """A row may be the sum of two others where the total says that it is a third."""
    rows = {**LEAVES, "South": SOUTH}
    total = np.sum(list(rows.values()), axis=0).tolist()
    table = table_from_frame(cells({**rows, "Total": total}))
    assert len(table) == 20
    # Large numbers do not agree by chance: the total counts the south twice.
    large = {code: [1009 * v + k for k, v in enumerate(r)] for code, r in rows.items()}
    large["South"] = np.add(large["Downs"], large["Weald"]).tolist()
    large["Total"] = np.sum(list(large.values()), axis=0).tolist()
    with pytest.raises(TableError, match="'South' are the sums of"):
        table_from_frame(cells(large))
    assert len(table_from_frame(cells(large), flat=["region"])) == 20


def test_small_numbers_are_chance() -> None:
    table = table_from_frame({"r": ["a", "b", "c"], "value": [1, 2, 3]})
    assert table.value.tolist() == [1, 2, 3, 6]
    assert not any("sums of" in note for note in table.notes)


@pytest.mark.parametrize("seed", range(20))
def test_ordinary_tables_are_not_suspected(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 40), rng.integers(2, 8)
    rows = {f"r{k}": np.rint(rng.lognormal(4, 2, m)).tolist() for k in range(n)}
    assert len(table_from_frame(cells(rows))) == (n + 1) * (m + 1)


def test_weak_evidence_is_a_note() -> None:
    frame = {
        "region": ["North", "South", "Downs", "Weald"],
        "value": [101.0, 50.0, 20.0, 30.0],
    }
    table = table_from_frame(frame)
    assert any("'South' are the sums" in n and "chance" in n for n in table.notes)


def test_a_total_of_some_codes_says_of_which() -> None:
    rows = {**LEAVES, "South": SOUTH, "Coast": [8, 3, 91]}
    rows["South"] = [61, 51, 27]  # no longer the sum of its parts
    rows["Total"] = np.add(rows["North"], rows["South"]).tolist()
    with pytest.raises(NotAdditiveError) as caught:
        table_from_frame(cells(rows))
    text = str(caught.value)
    assert "the sums of 'North', 'South' alone" in text
    assert "'Downs', 'Weald', 'Coast'" in text


# --- totals -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "word", ["ALL", "all", "TOTAL", "Tot", "_T", "Insgesamt", "Ensemble", "Totaal"]
)
def test_a_total_under_another_name_is_not_doubled(word: str) -> None:
    table = table_from_frame(cells({"N": [3, 5], "S": [4, 9], word: [7, 14]}))
    assert table.dimensions[0].hierarchy.codes == (word, "N", "S")
    assert len(table) == 9
    assert any(repr(word) in n and "taken for the total" in n for n in table.notes)


def test_a_total_is_known_by_its_numbers() -> None:
    rows = {"N": [37, 52, 11], "S": [30, 51, 27], "W": [67, 103, 38]}
    table = table_from_frame(cells(rows))
    assert table.dimensions[0].hierarchy.total == "W"
    assert any("sums of all others" in note for note in table.notes)
    rows["W"] = [67, 103, 49]
    assert table_from_frame(cells(rows)).dimensions[0].hierarchy.total == "Total"


def test_a_letter_is_a_total_where_the_numbers_say_so() -> None:
    small = table_from_frame({"r": ["a", "b", "T"], "value": [1, 2, 3]})
    assert small.dimensions[0].hierarchy.total == "T"
    other = table_from_frame({"r": ["a", "b", "T"], "value": [1, 2, 4]})
    assert other.dimensions[0].hierarchy.total == "Total"


def test_the_total_that_is_asked_for_wins() -> None:
    frame = {"r": ["a", "All", "X"], "value": [1, 2, 3]}
    assert table_from_frame(frame, totals="X").dimensions[0].hierarchy.total == "X"
    with pytest.raises(NotAdditiveError):
        table_from_frame(frame)


def test_two_words_for_totals_are_refused() -> None:
    with pytest.raises(TableError, match="'ALL', 'Gesamt'"):
        table_from_frame({"r": ["a", "ALL", "Gesamt"], "value": [1, 1, 1]})


def test_a_tree_takes_the_name_of_the_total_in_the_table(tmp_path: Path) -> None:
    rows = {**LEAVES, "South": SOUTH, "ALL": TOTAL}
    table = table_from_frame(cells(rows), hierarchies={"region": TREE})
    assert table.dimensions[0].hierarchy.total == "ALL"
    assert len(table) == 20
    # A file that lists the total with everything below it.
    (tmp_path / "r.hrc").write_text("ALL\n@North\n@South\n@@Downs\n@@Weald\n")
    tree = read_hierarchy(tmp_path / "r.hrc")
    again = table_from_frame(cells(rows), hierarchies={"region": tree})
    assert again.dimensions[0].hierarchy.codes[0] == "ALL"
    assert len(again) == 20
    np.testing.assert_array_equal(again.matrix.toarray(), table.matrix.toarray())


def test_computed_totals_are_listed() -> None:
    table = table_from_frame(cells(LEAVES))
    assert "7 totals are computed, not given: region=Total, industry=Total" in (
        table.notes
    )
    full = table_from_frame(
        {
            "region": [table.label(c).split(", ")[0][7:] for c in range(len(table))],
            "industry": [table.label(c).split("=")[2] for c in range(len(table))],
            "value": table.value,
        }
    )
    assert full.notes == ()
    done = api.protect(
        table,
        workers=1,
        stop=evosdc.Stop(evaluations=3),
        read=evosdc.Read(rules="none"),
    )
    assert set(table.notes) <= set(done.notes)
    assert done.summary()["notes"] == list(done.notes)
    linked = api.protect(
        [table, table],
        workers=1,
        stop=evosdc.Stop(evaluations=3),
        read=evosdc.Read(rules="none"),
    )
    assert linked.notes.count(table.notes[0]) == 1


def test_records_that_are_totals_are_refused() -> None:
    for word in ("ALL", "insgesamt", "Total "):
        with pytest.raises(InputError, match="total"):
            tabulate({"k": ["a", "b", word], "v": [1, 2, 3]}, ["k"], "v")
    table = tabulate({"k": ["a", "b", "ALL"], "v": [1, 2, 3]}, ["k"], "v", flat=["k"])
    assert sorted(table.value.tolist()) == [1, 2, 3, 6]
    with pytest.raises(InputError, match="'kk'"):
        api.tabulate(
            {"k": ["a"], "v": [1]},
            ["k"],
            "v",
            rules="none",
            read=evosdc.Read(flat=["kk"]),
        )


def test_records_that_add_up_to_others_are_refused() -> None:
    rng = np.random.default_rng(1)
    records: dict[str, list[Any]] = {"k": [], "i": [], "v": []}
    sums = dict.fromkeys("ABC", 0)
    for k, i in itertools.product(["Coast", "Downs", "Weald"], "ABC"):
        for v in rng.integers(100, 9000, 4).tolist():
            records["k"].append(k)
            records["i"].append(i)
            records["v"].append(v)
            sums[i] += v * (k != "Coast")
    before = tabulate(records, ["k", "i"], "v")
    assert len(before) == 16
    for i, v in sums.items():
        for column, entry in zip(records.values(), ("South", i, v), strict=True):
            column.append(entry)
    with pytest.raises(InputError, match=r"k='South' add up to .* 'Downs', 'Weald'"):
        tabulate(records, ["k", "i"], "v")
    assert len(tabulate(records, ["k", "i"], "v", flat=["k"])) == 20
