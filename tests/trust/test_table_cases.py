"""Answers that were called SAFE and were not what the office meant: one test for each.

Every case was run on version 0.1, which said SAFE and exited with 0.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import evosdc
from builders import Command
from evosdc.errors import InputError, TableError
from evosdc.io import write_table
from evosdc.table import Dimension, Hierarchy, Origin, Table, build_table
from evosdc.table.attackers import lone_respondents


def firms(rows: list[tuple[str, str, float]]) -> pa.Table:
    r, c, v = zip(*rows, strict=True)
    return pa.table({"r": r, "c": c, "v": v})


def block(status: str = "uuuusssss", level: float = 3.0, **more: object) -> Table:
    """Three by three; four sensitive cells in a square."""
    dims = [
        Dimension(n, Hierarchy.flat(codes))
        for n, codes in zip("rc", ("abd", "xyz"), strict=True)
    ]
    codes = [(i, j) for i in (1, 2) for j in (1, 2)]
    codes += [(1, 3), (2, 3), (3, 1), (3, 2), (3, 3)]
    value = [10.0, 20, 30, 40, 50, 60, 70, 80, 90]
    levels = [level if s == "u" else 0.0 for s in status]
    return build_table(
        dims, codes, value, status=list(status), lpl=levels, upl=levels, **more
    )  # type: ignore[arg-type]


# 1. A pattern is judged as it would be published.


def test_a_pattern_that_publishes_primaries_is_exposed(
    run: Command, tmp_path: Path
) -> None:
    table = tmp_path / "t.csv"
    write_table(table, block())
    out = tmp_path / "out"
    assert run("protect", table, "-o", out, "--evaluations", 5)[0] == 0
    pattern = out / "confidential" / "pattern.csv"
    assert run("audit", table, "--pattern", pattern)[0] == 0
    shown = tmp_path / "shown.csv"
    shown.write_text(pattern.read_text().replace(",u\n", ",s\n"))
    code, text, _ = run("audit", table, "--pattern", shown, "--json")
    found = json.loads(text)
    assert code == 3
    assert found["safe"] is False
    assert found["exposed_cells"] == 4
    assert {e["label"] for e in found["exposed"]} >= {"r=a, c=x", "r=b, c=y"}
    assert all(e["low"] == e["high"] for e in found["exposed"])


def test_python_says_the_same_and_with_pattern_does_not_hide_it() -> None:
    t = block()
    nothing = np.zeros(len(t), dtype=bool)
    assert evosdc.audit(t, nothing).safe is False
    with pytest.raises(TableError, match="publishes 4 sensitive cells"):
        t.with_pattern(nothing)


def test_other_values_in_a_pattern_are_an_error(run: Command, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    write_table(table, block())
    out = tmp_path / "out"
    run("protect", table, "-o", out, "--evaluations", 5)
    wrong = tmp_path / "wrong.csv"
    text = (out / "confidential" / "pattern.csv").read_text()
    wrong.write_text(text.replace("a,x,10,", "a,x,11,"))
    assert wrong.read_text() != text
    code, _, error = run("audit", table, "--pattern", wrong)
    assert code == 2
    assert "r=a, c=x" in error
    assert "11" not in error.replace(str(tmp_path), "")


def test_the_publication_itself_is_audited(run: Command, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    write_table(table, block())
    out = tmp_path / "out"
    run("protect", table, "-o", out, "--evaluations", 5)
    published = out / "publish" / "published.csv"
    code, text, _ = run("audit", table, "--published", published, "--json")
    assert code == 0
    assert json.loads(text)["certificate"]["proves"] is True
    # One hidden cell slips back in.
    rows = list(csv.reader(published.open(newline="")))
    slipped = tmp_path / "slipped.csv"
    for row in rows:
        if row[:2] == ["a", "x"]:
            row[2:] = ["10", "s"]
    with slipped.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    certificate = out / "confidential" / "certificate.npz"
    code, text, _ = run(
        *("audit", table, "--published", slipped, "--certificate", certificate),
        "--json",
    )
    found = json.loads(text)
    assert code == 3
    assert found["safe"] is False
    assert found["certificate"]["proves"] is False


# 2. A sensitive cell is never protected when its interval is a point.


@pytest.mark.parametrize("values", [[0.0], [500.0, -500.0]])
def test_a_lone_zero_is_protected(values: list[float]) -> None:
    rows = [("a", "x", v) for v in values]
    rows += [
        (r, c, 10.0 + k)
        for r, c in (("a", "y"), ("b", "x"), ("b", "y"), ("a", "z"), ("b", "z"))
        for k in range(4)
    ]
    t = evosdc.tabulate(
        firms(rows),
        ["r", "c"],
        "v",
        rules="freq:3",
        contributors=evosdc.Contributors(count_zeros=True),
    ).table
    cell = next(i for i in range(len(t)) if t.label(i) == "r=a, c=x")
    assert t.status[cell] == "u"
    assert t.upl[cell] > 0
    result = evosdc.protect(t, stop=evosdc.Stop(evaluations=10))
    assert result.safe
    low, high = evosdc.attack.intervals(result.table, [cell])
    assert high[0] - low[0] >= t.upl[cell]


def test_primaries_without_levels_must_not_be_a_point() -> None:
    t = block("usssszsss", level=0.0)
    alone = t.status == "u"
    word = evosdc.audit(t, alone, attackers=evosdc.Attackers(who="public"))
    assert word.safe is False
    assert word.verdict.exposed[0].label == "r=a, c=x"
    result = evosdc.protect(t, stop=evosdc.Stop(evaluations=5))
    assert result.safe
    assert result.secondaries >= 3


def test_statuses_without_levels_ask_for_a_default(
    run: Command, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "r,c,value,status\na,x,1,u\na,y,2,s\nb,x,3,s\nb,y,4,s\n", encoding="utf-8"
    )
    code, _, error = run("protect", path, "-o", tmp_path / "o")
    assert code == 2
    assert "--level-percent" in error
    code, _, error = run("protect", path, "-o", tmp_path / "o", "--level-percent", 20)
    assert code == 0, error


def test_the_floor_of_levels_is_an_option() -> None:
    rows = [("a", "x", 0.0)] + [("b", "y", 1000.0)] * 4
    zeros = evosdc.Contributors(count_zeros=True)
    high = evosdc.Contributors(count_zeros=True, floor=250.0)
    by = ["r", "c"]
    least, more = (
        evosdc.tabulate(firms(rows), by, "v", rules="freq:3", contributors=one).table
        for one in (zeros, high)
    )
    assert least.origin.floor == pytest.approx(8.0)  # a hundredth of the mean of 800
    assert more.upl[more.status == "u"].min() == 250.0
    assert least.upl[least.status == "u"].min() == pytest.approx(8.0)
    counts = evosdc.tabulate(firms(rows), by, rules="freq:3", contributors=zeros).table
    assert counts.origin.floor == 1.0


# 3. Bounds are per cell; what the attacker knows is an option and is said.


def negatives(sign: float) -> pa.Table:
    rng = np.random.default_rng(5)
    rows = [
        (r, c, float(rng.integers(50, 900)))
        for r in "abcde"
        for c in "wxyz"
        for _ in range(int(rng.integers(2, 6)))
    ]
    rows.append(("e", "z", sign * 5.0))
    return firms(rows)


def test_one_negative_record_opens_its_own_cells_only() -> None:
    t = evosdc.tabulate(negatives(-1.0), ["r", "c"], "v", rules=["p:10"]).table
    opened = {t.label(i) for i in np.flatnonzero(np.isneginf(t.lower))}
    assert opened == {
        "r=e, c=z",
        "r=Total, c=z",
        "r=e, c=Total",
        "r=Total, c=Total",
    }
    plain = evosdc.tabulate(negatives(1.0), ["r", "c"], "v", rules=["p:10"]).table
    assert (plain.lower == 0).all()
    one = evosdc.protect(
        t, stop=evosdc.Stop(evaluations=30), attackers=evosdc.Attackers(who="public")
    )
    two = evosdc.protect(
        plain,
        stop=evosdc.Stop(evaluations=30),
        attackers=evosdc.Attackers(who="public"),
    )
    assert one.safe
    assert two.safe
    # Hiding next to nothing was enough when no cell had a lower bound.
    assert one.cost > 0.5 * two.cost


def test_labelled_and_tabulated_tables_agree() -> None:
    t = evosdc.tabulate(negatives(-1.0), ["r", "c"], "v", rules=["p:10"]).table
    frame = evosdc.io.frame_of(t).drop_columns(["lower", "upper"])
    again = evosdc.io.table_from_frame(frame, missing="empty")
    # A labelled cell shows that it can be negative only where it is.
    assert (again.lower >= t.lower).all()
    assert (again.lower[t.value >= 0] >= t.lower[t.value >= 0]).all()
    down = evosdc.io.table_from_frame(
        {"r": ["a", "a", "b", "b"], "c": list("xyxy"), "value": [5.0, -9.0, 3.0, 2.0]}
    )
    opened = {down.label(i) for i in np.flatnonzero(np.isneginf(down.lower))}
    assert opened == {
        "r=a, c=y",
        "r=a, c=Total",
        "r=Total, c=y",
        "r=Total, c=Total",
    }


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ("0:inf", "between 0 and inf"),
        ("percent:50", "within 50 %"),
        ("columns", "as the table gives them"),
        ("auto", "not negative"),
    ],
)
def test_every_verb_takes_bounds_and_says_them(
    run: Command, tmp_path: Path, bounds: str, words: str
) -> None:
    table = tmp_path / "t.csv"
    write_table(table, block())
    out = tmp_path / "out"
    given = ("--prior", bounds)
    code, text, error = run(
        "protect", table, "-o", out, "--evaluations", 5, "--json", *given
    )
    assert code == 0, error
    assert words in json.loads(text)["claim"]["knowledge"]
    assert words in (out / "confidential" / "report.html").read_text()
    pattern = out / "confidential" / "pattern.csv"
    code, text, error = run("audit", table, "--pattern", pattern, "--json", *given)
    assert code == 0, error
    assert words in json.loads(text)["claim"]["knowledge"]
    code, text, error = run("lower-bound", table, "--json", *given)
    assert code == 0, error
    assert words in json.loads(text)["knowledge"]


def test_bounds_that_exclude_a_value_are_refused(run: Command, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    write_table(table, block())
    code, _, error = run("audit", table, "--prior", "0:50")
    assert code == 2
    assert "outside the bounds" in error
    assert run("audit", table, "--prior", "most")[0] == 2


# Counts: floor 1, wholeness, the threshold, groups.


def ones() -> pa.Table:
    """Four lone people in a block whose row totals are 2."""
    rows = [("a", "x", 1.0), ("a", "y", 1.0), ("b", "x", 1.0), ("b", "y", 1.0)]
    rows += [("c", c, 1.0) for c in "xy" for _ in range(6)]
    rows += [("d", c, 1.0) for c in "xy" for _ in range(5)]
    return firms(rows)


def test_ones_that_add_up_to_two_are_known() -> None:
    t = evosdc.tabulate(ones(), ["r", "c"], rules="freq:3").table
    assert t.origin.counts
    assert (t.lower[t.value > 0] == 1).all()
    small = np.array(["Total" not in t.label(i) for i in range(len(t))])
    block_only = (t.status == "u") & small
    word = evosdc.audit(
        t,
        block_only | (t.status == "u") & ~small,
        attackers=evosdc.Attackers(who="public"),
    )
    # With the row totals of 2 published, every one of the ones is known.
    totals = np.array(
        [t.label(i) in ("r=a, c=Total", "r=b, c=Total") for i in range(len(t))]
    )
    published = evosdc.audit(
        t, (t.status == "u") & ~totals, attackers=evosdc.Attackers(who="public")
    )
    assert published.safe is False
    ones_known = {e.label for e in published.verdict.exposed}
    assert {"r=a, c=x", "r=a, c=y", "r=b, c=x", "r=b, c=y"} <= ones_known
    assert "whole" in word.claim.knowledge
    result = evosdc.protect(t, stop=evosdc.Stop(evaluations=20))
    low, high = evosdc.attack.intervals(result.table, np.flatnonzero(block_only))
    if result.safe:
        assert np.all(high - low >= 1)


def test_fractions_of_people_prove_nothing() -> None:
    """A level of half a person is a level of one, and witnesses are whole."""
    t = evosdc.io.table_from_frame(
        {"r": ["a", "a", "b", "b"], "c": list("xyxy"), "count": [1, 4, 3, 2]},
        value="count",
    )
    assert t.origin.counts
    levels = np.where(np.isin(np.arange(len(t)), [0]), 0.5, 0.0)
    half = t.replace(
        status=np.where(levels > 0, "u", t.status), upl=levels, lpl=np.zeros(len(t))
    )
    result = evosdc.protect(
        half, stop=evosdc.Stop(evaluations=10), attackers=evosdc.Attackers(who="public")
    )
    assert result.safe
    assert (
        result.certificate.numerators
        % np.repeat(result.certificate.denominators, np.diff(result.certificate.indptr))
        == 0
    ).all()


def test_a_published_threshold_is_known_to_the_attacker() -> None:
    t = evosdc.tabulate(ones(), ["r", "c"], rules="freq:3").table
    result = evosdc.protect(
        t,
        stop=evosdc.Stop(evaluations=10),
        prior=evosdc.Prior(published_threshold=3),
        attackers=evosdc.Attackers(who="public"),
    )
    assert "below 3" in result.claim.knowledge
    small = (t.status == "u") & (t.value < 3)
    assert (result.table.upper[small] == 2).all()
    with pytest.raises(InputError, match="not of counts"):
        evosdc.protect(block(), prior=evosdc.Prior(published_threshold=3))


def test_groups_in_one_category_are_disclosure() -> None:
    people = (
        [("v", "ill", 1.0)] * 6 + [("w", "ill", 1.0)] * 5 + [("w", "well", 1.0)] * 9
    )
    people += [("u", "ill", 1.0)] * 7 + [("u", "well", 1.0)] * 8
    plain = evosdc.tabulate(firms(people), ["r", "c"], rules="freq:3").table
    assert not len(plain.primaries)
    t = evosdc.tabulate(firms(people), ["r", "c"], rules=["freq:3", "group:c"]).table
    assert dict(t.origin.rules or ())["group:c"] == 1
    label = {t.label(i): i for i in range(len(t))}
    empty, full = label["r=v, c=well"], label["r=v, c=ill"]
    assert t.value[empty] == 0
    assert t.status[empty] == t.status[full] == "u"
    result = evosdc.protect(t, stop=evosdc.Stop(evaluations=10))
    assert result.safe
    assert "empty cells may be hidden" in result.claim.knowledge
    low, high = evosdc.attack.intervals(result.table, [empty, full])
    assert high[0] >= 1
    assert low[1] <= t.value[full] - 1
    with pytest.raises(InputError, match="group rule"):
        evosdc.tabulate(firms(people), ["r", "c"], "v", rules="group")


# 4. No rule is not SAFE; rules travel with the table.


def test_no_rule_is_refused_or_not_judged(run: Command, tmp_path: Path) -> None:
    records = tmp_path / "firms.csv"
    records.write_text("r,c,v\na,x,5\na,y,6\nb,x,7\nb,y,8\n")
    table, out = tmp_path / "t.csv", tmp_path / "out"
    words = ("tabulate", records, "--by", "r,c", "--value", "v", "-o", table)
    code, _, error = run(*words)
    assert code == 2
    assert "--rule none" in error
    assert run(*words, "--rule", "none")[0] == 0
    code, text, _ = run("protect", table, "-o", out, "--json", "--rule", "none")
    found = json.loads(text)
    assert code == 3
    assert found["safe"] is None
    assert found["verdict"] == "NOT JUDGED"
    assert not (out / "publish").exists()
    for page in out.rglob("*.html"):
        assert "safe to publish" not in page.read_text().lower()
        assert "nothing to protect" not in page.read_text().lower()


def test_a_ready_made_table_without_sensitive_cells_is_refused(
    run: Command, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("r,c,value\na,x,1\na,y,2\nb,x,3\nb,y,4\n", encoding="utf-8")
    code, _, error = run("protect", path, "-o", tmp_path / "out")
    assert code == 2
    assert "no rule" in error
    assert run("audit", path)[0] == 2
    assert run("audit", path, "--rule", "none")[0] == 3


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jj", ".tab"])
def test_a_rule_that_marks_nothing_is_safe_and_travels(
    run: Command, tmp_path: Path, suffix: str
) -> None:
    records = tmp_path / "firms.csv"
    rows = [f"{r},{c},{10 + k}" for r in "ab" for c in "xy" for k in range(5)]
    records.write_text("\n".join(["r,c,v", *rows]) + "\n")
    table, out = tmp_path / f"t{suffix}", tmp_path / "out"
    code, text, error = run(
        *("tabulate", records, "--by", "r,c", "--value", "v", "-o", table),
        *("--rule", "p:10", "--rule", "freq:3"),
    )
    assert code == 0, error
    assert "p:10: 0 cells" in text
    code, text, error = run("protect", table, "-o", out, "--json")
    assert code == 0, error
    claim = json.loads(text)["claim"]
    assert "p:10" in claim["rules"]
    assert "freq:3" in claim["rules"]
    assert json.loads(text)["safe"] is True


# 5. Lone respondents, holdings, consent.


def lone_block() -> pa.Table:
    rows = [("a", "x", 90.0), ("a", "y", 80.0), ("b", "x", 85.0), ("b", "y", 95.0)]
    rows += [
        (r, c, 5.0 + k)
        for r, c in (("a", "z"), ("b", "z"), ("d", "x"), ("d", "y"), ("d", "z"))
        for k in range(4)
    ]
    return firms(rows)


def test_lone_respondents_are_guarded_against_by_default() -> None:
    t = evosdc.tabulate(lone_block(), ["r", "c"], "v", rules="freq:3").table
    square = t.status == "u"
    assert int(square.sum()) == 4
    plain = evosdc.audit(t, square, attackers=evosdc.Attackers(who="public"))
    assert plain.safe
    assert "not judged against lone respondents: 4 cells" in plain.claim.insiders
    word = evosdc.audit(t, square)
    assert word.safe is False
    assert len(word.verdict.exposed) == 12
    assert len(word.verdict.exposed_cells) == 4
    result = evosdc.protect(t, stop=evosdc.Stop(evaluations=10))
    assert result.safe
    assert result.secondaries > 0
    assert "each of 4 lone respondents" in result.claim.insiders


def test_where_contributors_are_unknown_the_claim_says_so() -> None:
    result = evosdc.protect(block(), stop=evosdc.Stop(evaluations=5))
    assert result.safe
    assert result.claim.insiders.startswith("not judged against lone respondents")
    assert result.verdict.insiders is None


def test_the_guard_never_leaves_an_office_without_an_answer(
    run: Command, tmp_path: Path
) -> None:
    """Cells that no pattern protects against somebody are listed, the rest written."""
    path, out = tmp_path / "t.csv", tmp_path / "out"
    # Only the square may be hidden, and the owner of one corner has the others.
    table = block("uuuuzzzzz", frequency=[1, 5, 5, 5, 5, 5, 5, 5, 5])
    write_table(
        path, table.replace(status=np.where(table.status == "s", "z", table.status))
    )
    code, text, error = run("protect", path, "-o", out, "--evaluations", 5, "--json")
    assert code == 3, error
    found = json.loads(text)
    assert found["verdict"] == "EXPOSED"
    assert found["exposed"] == 3
    assert any("the lone respondent of r=a, c=x" in note for note in found["notes"])
    assert (out / "confidential" / "pattern.csv").exists()
    assert (out / "draft" / "published.csv").exists()
    assert not (out / "publish").exists()


def test_one_holding_alone_in_several_cells_is_one_attacker() -> None:
    """Four cells that no total joins: its owner subtracts them all."""
    rows = [
        (r, c, 100.0 + k)
        for k, (r, c) in enumerate((r, c) for r in "abc" for c in "xyz")
    ]
    frame = firms(rows)
    owner = ["H", "H", "m1", "H", "H", "m2", "m3", "m4", "m5"]
    more = firms([(r, c, 7.0 + k) for r in "abc" for c in "xyz" for k in range(3)])
    third = [f"n{k}" for k in range(27)]
    keep = [i for i in range(27) if (i // 3) not in (0, 1, 3, 4)]
    big = pa.concat_tables([frame, more.take(keep)]).append_column(
        "h", pa.array(owner + [third[i] for i in keep])
    )
    t = evosdc.tabulate(
        big,
        ["r", "c"],
        "v",
        rules="freq:3",
        contributors=evosdc.Contributors(holding="h"),
    ).table
    who = lone_respondents(t)
    mine = {t.label(i) for i in np.flatnonzero(who >= 0)}
    assert mine == {"r=a, c=x", "r=a, c=y", "r=b, c=x", "r=b, c=y"}
    assert len(set(who[who >= 0].tolist())) == 1
    assert t.respondent is not None
    assert not any("H" in word for word in t.respondent)


def test_the_same_firm_is_recognised_in_linked_tables() -> None:
    rows = {
        "r": ["a"] + ["b"] * 5,
        "c": ["x"] + ["y"] * 5,
        "s": ["k"] + ["l"] * 5,
        "v": [1.0, 2, 3, 4, 5, 6],
    }
    t = evosdc.tabulate(rows, [["r", "c"], ["s"]], "v", rules="freq:3").table
    who = lone_respondents(t)
    labels = {t.label(i): int(who[i]) for i in range(len(t)) if who[i] >= 0}
    assert len(set(labels.values())) == 1
    assert any("s=k" in label for label in labels)
    assert any("c=x" in label for label in labels)


def test_respondents_travel_with_the_table(tmp_path: Path) -> None:
    t = evosdc.tabulate(lone_block(), ["r", "c"], "v", rules="freq:3").table
    for suffix in (".csv", ".parquet", ".jj", ".tab"):
        path = tmp_path / f"t{suffix}"
        write_table(path, t)
        again = evosdc.io.read_table(path)
        assert again.origin.rules == t.origin.rules
        assert sorted(again.respondent.tolist()) == sorted(t.respondent.tolist())
        one = {t.label(i) for i in np.flatnonzero(t.respondent != "")}
        if again.dimensions:
            two = {again.label(i) for i in np.flatnonzero(again.respondent != "")}
            assert one == two


def test_consent_takes_a_contributor_out_of_the_rules(
    run: Command, tmp_path: Path
) -> None:
    records = tmp_path / "firms.csv"
    rows = ["a,x,900,big", "a,x,5,m1", "a,x,6,m2", "a,x,7,m3"]
    rows += [
        f"{r},{c},{10 + k},{r}{c}{k}" for r in "ab" for c in "xy" for k in range(4)
    ]
    records.write_text("\n".join(["r,c,v,h", *rows]) + "\n")
    consent = tmp_path / "consent.txt"
    consent.write_text("big\n")
    table = tmp_path / "t.csv"
    words = ("tabulate", records, "--by", "r,c", "--value", "v", "-o", table, "--force")
    rules = ("--rule", "nk:1,80", "--rule", "p:10", "--holding", "h")
    _, text, _ = run(*words, *rules)
    assert "nk:1,80: 0 cells" not in text
    code, text, error = run(*words, *rules, "--consent", consent)
    assert code == 0, error
    assert "nk:1,80: 0 cells, p:10: 0 cells" in text
    assert "1 contributors consented" in text
    code, text, _ = run("protect", table, "-o", tmp_path / "o", "--json")
    assert "1 contributors consented" in json.loads(text)["claim"]["rules"]
    code, _, error = run(*words, "--rule", "p:10", "--consent", consent)
    assert code == 2
    assert "--holding" in error


def test_somebody_who_did_not_consent_is_still_protected() -> None:
    rows = firms([("a", "x", 900.0), ("a", "x", 5.0), ("b", "y", 3.0)])
    big = rows.append_column("h", pa.array(["big", "small", "other"]))
    t = evosdc.tabulate(
        big,
        ["r", "c"],
        "v",
        rules="p:10",
        contributors=evosdc.Contributors(holding="h", consent=["big"]),
    ).table
    marked = {t.label(i) for i in t.primaries}
    assert "r=a, c=x" in marked  # the small one would be known to the big one
    everyone = evosdc.tabulate(
        big,
        ["r", "c"],
        "v",
        rules=["p:10", "freq:3"],
        contributors=evosdc.Contributors(
            holding="h", consent=["big", "small", "other"]
        ),
    ).table
    assert not len(everyone.primaries)


# 7. Publishing twice.


@pytest.mark.parametrize(
    ("name", "words", "step"),
    [
        ("out", "whose files this run replaces", "write to another folder"),
        ("./out", "whose files this run replaces", "write to another folder"),
        ("link", "is a symbolic link", "remove the link"),
    ],
)
def test_what_is_read_is_not_written_over(
    run: Command,
    tmp_path: Path,
    name: str,
    words: str,
    step: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An earlier publication is what everyone has: nobody can make it again."""
    monkeypatch.chdir(tmp_path)
    path, out = tmp_path / "t.csv", tmp_path / "out"
    write_table(path, block("ussssssss"))
    assert run("protect", path, "-o", out, "--evaluations", 5)[0] == 0
    (tmp_path / "link").symlink_to(out)
    published = out / "publish" / "published.csv"
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    code, _, error = run(
        *("protect", path, "-o", name, "--force", "--evaluations", 5),
        *("--already-published", published),
    )
    assert code == 2
    assert words in error
    assert step in error
    result = evosdc.protect(
        path,
        prior=evosdc.Prior(already_published=str(published)),
        stop=evosdc.Stop(evaluations=5),
    )
    with pytest.raises(InputError, match="whose files this run replaces"):
        result.write(name, force=True)
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before
    assert result.write(tmp_path / "new").name == "publish"


def test_two_patterns_of_one_table_give_a_cell_away(
    run: Command, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    write_table(path, block("ussssssss"))
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    assert run("protect", path, "-o", one, "--evaluations", 5)[0] == 0
    hidden = [
        (row["r"], row["c"])
        for row in csv.DictReader((one / "publish" / "published.csv").open())
        if row["status"] == "x"
    ]
    wish = next(h for h in hidden if h != ("a", "x"))
    code, _, error = run(
        *("protect", path, "-o", two, "--evaluations", 5),
        *("--publish", f"r={wish[0]},c={wish[1]}"),
    )
    assert code == 0
    assert "another pattern of the same table" in error
    earlier = one / "publish" / "published.csv"
    pattern = two / "confidential" / "pattern.csv"
    code, text, _ = run(
        "audit", path, "--pattern", pattern, "--already-published", earlier, "--json"
    )
    found = json.loads(text)
    assert code == 3
    assert [e["label"] for e in found["exposed"]] == ["r=a, c=x"]
    assert "known from before" in found["claim"]["publication"]
    code, text, error = run(
        *("protect", path, "-o", three, "--evaluations", 5, "--json"),
        *("--already-published", earlier),
    )
    assert code == 0, error
    again = three / "publish" / "published.csv"
    code, _, _ = run(
        "audit", path, "--published", again, "--already-published", earlier
    )
    assert code == 0


def test_a_sensitive_cell_that_was_published_is_lost() -> None:
    t = block("ussssssss")
    before = {"r": ["a", "b"], "c": ["x", "y"], "value": [10.0, 40.0]}
    result = evosdc.protect(
        t,
        stop=evosdc.Stop(evaluations=5),
        prior=evosdc.Prior(already_published=[before]),
    )
    assert result.safe is False
    assert [e.label for e in result.verdict.exposed] == ["r=a, c=x"]
    assert result.verdict.exposed[0].reason == "published"
    with pytest.raises(InputError, match="another value"):
        evosdc.protect(
            t,
            prior=evosdc.Prior(
                already_published={"r": ["a"], "c": ["x"], "value": [99.0]}
            ),
        )


# 10. Words.


def test_a_table_of_counts_can_be_said_to_be_one(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "r,c,value,status,lpl,upl\na,x,1,u,1,1\na,y,1,u,1,1\nb,x,1,u,1,1\n"
        "b,y,1,u,1,1\nd,x,9,s,,\nd,y,9,s,,\n",
        encoding="utf-8",
    )
    pattern = tmp_path / "p.csv"
    rows = [
        f"{r},{c},{'u' if r in 'ab' and c in 'xy' else 's'}"
        for r in ("a", "b", "d", "Total")
        for c in ("x", "y", "Total")
    ]
    pattern.write_text("\n".join(["r,c,status", *rows]) + "\n")
    assert run("audit", path, "--pattern", pattern, "--magnitudes")[0] == 0
    code, text, _ = run("audit", path, "--pattern", pattern, "--counts", "--json")
    assert code == 3
    assert json.loads(text)["exposed_cells"] == 4


def test_origins_of_linked_tables_are_joined() -> None:
    one = Origin(rules=(("p:10", 3),), counts=False, source="s", floor=2.0)
    two = Origin(rules=(("p:10", 4),), counts=False, source="s", bounds="percent:50")
    both = Origin.joint([one, two])
    assert both.rules == (("p:10", 7),)
    assert both.bounds == "columns"
    assert both.floor == 2.0
    assert Origin.joint([one, Origin()]).rules is None
    assert Origin.from_json(json.loads(json.dumps(one.as_json()))) == one


def test_our_own_files_are_read_without_guessing(run: Command, tmp_path: Path) -> None:
    """Three decimals in all fractions look like thousands, but not in our files."""
    rows = [("a", "x", 1.234), ("a", "y", 7.0), ("b", "x", 8.0), ("b", "y", 9.0)]
    rows += [("d", c, 10.0 + k) for c in "xy" for k in range(4)]
    made = evosdc.tabulate(firms(rows), ["r", "c"], "v", rules="freq:2,20").table
    table, out = tmp_path / "t.csv", tmp_path / "out"
    write_table(table, made)
    code, _, error = run("protect", table, "-o", out, "--evaluations", 5)
    assert code in (0, 3), error
    pattern = out / "confidential" / "pattern.csv"
    assert "1.234" in pattern.read_text()
    code, _, error = run("audit", table, "--pattern", pattern)
    assert code in (0, 3), error


# Linked tables in a ring: more follows from the cells that none of them shows.


def ring() -> pa.Table:
    rows = [("N", "B", "x", 15.0), ("N", "B", "y", 15.0)]
    rows += [("S", "B", "x", 1.0)] * 3 + [("N", "A", "y", 1.0)] * 3
    rows += [("S", "A", "x", 100.0)] * 3 + [("S", "A", "y", 100.0)] * 3
    rows += [("N", "A", "x", 100.0)] * 5 + [("S", "B", "y", 100.0)] * 5
    r, a, s, v = zip(*rows, strict=True)
    return pa.table({"r": r, "a": a, "s": s, "v": v})


def test_tables_in_a_ring_are_judged_by_what_none_of_them_shows(
    run: Command, tmp_path: Path
) -> None:
    spans = [["r", "a"], ["r", "s"], ["a", "s"]]
    t = evosdc.tabulate(ring(), spans, "v", rules="freq:3").table
    assert t.unshown is not None
    assert int(t.unshown.sum()) == 8
    label = {t.label(i): i for i in range(len(t))}
    cell = label["r=N, a=B, s=Total"]
    assert t.status[cell] == "u"
    # The pattern of 0.2's first try: 39 was thought possible, and 36 is the most.
    names = ["r=N, a=A, s=Total", "r=S, a=A, s=Total", "r=S, a=B, s=Total"]
    hidden = np.zeros(len(t), dtype=bool)
    hidden[[cell, *(label[name] for name in names)]] = True
    word = evosdc.audit(t, hidden, attackers=evosdc.Attackers(who="public"))
    assert word.safe is False
    assert word.verdict.exposed[0].high == pytest.approx(36)
    path, out = tmp_path / "t.csv", tmp_path / "out"
    write_table(path, t)
    code, text, error = run("protect", path, "-o", out, "--evaluations", 5, "--json")
    assert code == 0, error
    assert "3 linked tables" in json.loads(text)["claim"]["publication"]
    published = list(csv.DictReader((out / "publish" / "published.csv").open()))
    assert len(published) == len(t) - 8
    assert len(list((out / "publish").glob("published-*.csv"))) == 3
    file = out / "publish" / "published.csv"
    assert run("audit", path, "--published", file)[0] == 0
    certificate = out / "confidential" / "certificate.npz"
    assert run("verify", path, certificate, "--published", file)[0] == 0
    # Made one by one, nobody can know what the others are sums of.
    alone = [evosdc.tabulate(ring(), span, "v", rules="freq:3").table for span in spans]
    apart = evosdc.protect(alone, stop=evosdc.Stop(evaluations=5))
    assert apart.safe is None
    assert "ring" in apart.claim.publication
    assert evosdc.protect(alone[:2], stop=evosdc.Stop(evaluations=5)).safe is not None


def test_a_publication_with_more_columns_is_refused(
    run: Command, tmp_path: Path
) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "out"
    write_table(path, block())
    assert run("protect", path, "-o", out, "--evaluations", 5)[0] == 0
    published = (out / "publish" / "published.csv").read_text().splitlines()
    wide = tmp_path / "wide.csv"
    lines = [published[0] + ",weight"] + [line + ",1" for line in published[1:]]
    wide.write_text("\n".join(lines) + "\n")
    code, _, error = run("audit", path, "--published", wide)
    assert code == 2
    assert "'weight'" in error


def test_a_branch_with_one_part_is_a_sub_total(run: Command, tmp_path: Path) -> None:
    """A and A1 have the same rows: A, p follows from the total by halves."""
    path = tmp_path / "t.csv"
    rows = ["A,p,5,u", "A,q,180,s", "A,k,77,s", "A1,p,5,s", "A1,q,180,s", "A1,k,77,s"]
    rows += ["B,p,49,s", "B,q,24,s", "B,k,11,s", "C,p,90,s", "C,q,81,s", "C,k,12,s"]
    path.write_text("\n".join(["g,c,value,status", *rows]) + "\n")
    code, _, error = run("protect", path, "-o", tmp_path / "o", "--level-percent", 20)
    assert code == 2
    assert "'A1'" in error
    assert "--hierarchy" in error


def test_what_was_changed_by_hand_is_in_the_claim(run: Command, tmp_path: Path) -> None:
    path, safe = tmp_path / "t.csv", tmp_path / "a.hst"
    write_table(path, block())
    safe.write_text("a,x,S\n")
    words = ("protect", path, "-o", tmp_path / "o", "--evaluations", 5, "--json")
    code, text, error = run(*words, "--apriori", safe)
    assert code == 0, error
    claim = json.loads(text)["claim"]["rules"]
    assert "a-priori file a.hst (1 cells made safe" in claim


def test_consent_of_others_is_refused() -> None:
    rows = lone_block().append_column("h", pa.array([str(k) for k in range(24)]))
    with pytest.raises(InputError, match="1 of 2 contributors"):
        evosdc.tabulate(
            rows,
            ["r", "c"],
            "v",
            rules="p:10",
            contributors=evosdc.Contributors(holding="h", consent=["3", "nobody"]),
        )
