"""Lone respondents: who knows what, and patterns that hold against them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import evosdc
from builders import flat_table
from evosdc.attack import intervals, judge, judge_attackers
from evosdc.errors import InputError
from evosdc.instances import make
from evosdc.table import Dimension, Hierarchy, Table, build_table, link_tables
from evosdc.table.attackers import OwnShares, lone_respondents, respondent_sums


def grid(frequency: list[int]) -> Table:
    """Two by three; both cells of the first column are sensitive."""
    status = ["u", "u", "s", "u", "u", "s"]
    level = [2.0, 2, 0, 2, 2, 0]
    value = [10.0, 20, 30, 40, 50, 60]
    dims = {"r": "ab", "s": "xyz"}
    return flat_table(
        dims, value, status=status, lpl=level, upl=level, frequency=frequency
    )


def test_a_total_of_one_is_known_to_the_same_respondent() -> None:
    tree = Hierarchy.from_parents({"N": "Total", "S": "Total", "n1": "N", "n2": "N"})
    dims = [Dimension("r", tree)]
    nodes = [[tree.node_of[c]] for c in ("n1", "n2", "S")]
    t = build_table(dims, nodes, [5.0, 0, 7], frequency=[1, 0, 1])
    who = lone_respondents(t)
    names = {t.label(i).split("=")[1]: int(w) for i, w in enumerate(who)}
    assert names["n1"] == names["N"] >= 0
    assert names["S"] not in (-1, names["N"])
    assert names["n2"] == names["Total"] == -1


def test_holdings_count_before_records() -> None:
    records = pa.table(
        {
            "r": ["a", "a", "b", "b"],
            "v": [5.0, 6.0, 7.0, 8.0],
            "h": ["one", "one", "two", "three"],
        }
    )
    plain = evosdc.tabulate(records, "r", "v", rules="none").table
    held = evosdc.tabulate(
        records, "r", "v", rules="none", contributors=evosdc.Contributors(holding="h")
    ).table
    assert (lone_respondents(plain) == -1).all()
    at = [held.label(i) for i in np.flatnonzero(lone_respondents(held) >= 0)]
    assert at == ["r=a"]
    again = evosdc.io.table_from_frame(evosdc.io.frame_of(held))
    assert np.array_equal(again.holdings, held.holdings)
    assert link_tables([held, held]).table.holdings.tolist() == held.holdings.tolist()


def test_sums_of_a_respondent_are_listed_over_equations_and_over_all() -> None:
    """Cells of one column have a sum in its equation; others one over all of them."""
    alone = ["f", "", "g", "", "f", "", "", "", "g"]
    level = [float(i) for i in range(1, 10)]
    table = flat_table(
        {"r": "abc", "s": "xyz"}, [9.0] * 9, respondent=np.array(alone),
        status=list("umussmssu"), lpl=level, upl=[2 * x for x in level],
    )  # fmt: skip
    status = table.status.copy()
    status[4] = "u"
    sums = respondent_sums(table.replace(status=status))
    found = {
        tuple(sums.cells(k).tolist()): (sums.upl[k], sums.lpl[k])
        for k in range(len(sums))
    }
    assert found == {(2, 8): (24, 12), (0, 4): (12, 6)}
    # Cells that are not sensitive are in no sum.
    assert {tuple(respondent_sums(table).cells(0).tolist())} == {(2, 8)}
    assert len(respondent_sums(table)) == 1


def test_unknown_counts_are_refused() -> None:
    t = make("random", 1, shape=(4, 4))
    with pytest.raises(InputError, match="how many contributors"):
        evosdc.protect(
            t, attackers=evosdc.Attackers(who="lone"), stop=evosdc.Stop(evaluations=5)
        )
    with pytest.raises(InputError, match="how many contributors"):
        evosdc.audit(t, attackers=evosdc.Attackers(who="lone"))


def test_the_judge_finds_what_a_lone_respondent_finds() -> None:
    # a-x, a-y, b-x, b-y hidden: a square. Whoever knows one corner knows all.
    t = grid([1, 5, 5, 5, 5, 5])
    assert evosdc.audit(t, attackers=evosdc.Attackers(who="public")).safe
    word = evosdc.audit(t)
    assert not word.safe
    assert {e.cell for e in word.verdict.exposed} == {1, 3, 4}
    assert all("lone respondent of r=a, s=x" in e.insider for e in word.verdict.exposed)
    assert all(e.low == e.high for e in word.verdict.exposed)
    assert word.verdict.insiders == 1
    assert evosdc.audit(grid([3] * 6), attackers=evosdc.Attackers(who="lone")).safe


@pytest.mark.parametrize("method", ["sp", "attacker", "optimal", "hitas"])
def test_any_method_is_completed(method: str) -> None:
    result = evosdc.protect(
        grid([1, 5, 5, 1, 5, 5]),
        method=method,
        attackers=evosdc.Attackers(who="lone"),
        stop=evosdc.Stop(evaluations=20),
    )
    assert result.safe
    assert result.verdict.insiders == 2
    assert result.secondaries > 0
    assert result.settings["attackers"] == "lone"


@pytest.mark.parametrize("seed", range(4))
def test_by_definition(seed: int) -> None:
    """Publish each respondent's cells and ask for the intervals: no shortcut."""
    t = make("frequency", seed, shape=(5, 4, 3))
    result = evosdc.protect(
        t, method="attacker", attackers=evosdc.Attackers(who="lone")
    )
    assert result.safe
    final = result.table
    who = lone_respondents(final)
    for number in range(int(who.max()) + 1):
        status = final.status.copy()
        status[who == number] = "s"
        view = final.replace(status=status)
        cells = np.flatnonzero(status == "u")
        low, high = intervals(view, cells)
        # A total of one cannot be below what its only part is known to be.
        known = np.flatnonzero(who == number).tolist()
        own = OwnShares(final).room(dict.fromkeys(known, 0.0), set(known))
        room = np.array([own.get(c, np.inf) for c in cells.tolist()])
        lpl = np.minimum(final.lpl[cells], room)
        assert np.all(low <= final.value[cells] - lpl + 1e-6)
        assert np.all(high >= final.value[cells] + final.upl[cells] - 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_shortcut_agrees_with_the_definition(seed: int) -> None:
    t = make("frequency", seed, shape=(5, 4, 3))
    plain = evosdc.protect(
        t, method="attacker", attackers=evosdc.Attackers(who="public")
    ).table
    word, certificate = judge_attackers(plain, *judge(plain))
    found = {(e.cell, e.insider.partition("respondent of ")[2]) for e in word.exposed}
    who = lone_respondents(plain)
    expected = set()
    for number in range(int(who.max()) + 1):
        known = np.flatnonzero(who == number)
        status = plain.status.copy()
        status[known] = "s"
        view, _ = judge(plain.replace(status=status))
        name = plain.label(int(known[0]))
        expected |= {(e.cell, name) for e in view.exposed}
    assert found == expected
    assert found, "a table in which nobody finds anything shows nothing"
    report = evosdc.attack.verify(plain, certificate, insiders=True)
    assert report.refused.size == 0
    assert {(c, plain.label(of)) for c, of in report.against.tolist()} == expected


def test_what_cannot_be_had_is_listed_and_the_rest_protected() -> None:
    t = grid([1, 5, 5, 5, 5, 5])
    status = np.where(t.status == "s", "z", t.status)
    result = evosdc.protect(t.replace(status=status), stop=evosdc.Stop(evaluations=5))
    assert result.safe is False
    assert {e.cell for e in result.verdict.exposed} == {1, 3, 4}
    assert {e.insider for e in result.verdict.exposed} == {
        "the lone respondent of r=a, s=x"
    }
    assert len(result.verdict.exposed_cells) == 3
    # Nobody else finds anything.
    assert evosdc.audit(result.table, attackers=evosdc.Attackers(who="public")).safe
