"""Against whom cells are protected, as an object and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evosdc
from builders import Command
from evosdc.api.requests import attackers_asked
from evosdc.errors import InputError
from evosdc.table import Table
from evosdc.table.attackers import AttackerKnowledge, find_attackers

RECORDS = {
    "r": ["a", "a", "a", "b", "b", "b", "c"],
    "s": ["x", "x", "y", "x", "x", "y", "x"],
    "v": [50.0, 20, 5, 40, 30, 8, 9],
}


@pytest.fixture
def table() -> Table:
    return evosdc.tabulate(
        RECORDS,
        ["r", "s"],
        "v",
        rules=["p:10"],
        contributors=evosdc.Contributors(contributions=True),
    ).table


def attackers_of(table: Table, asked: evosdc.Attackers) -> AttackerKnowledge:
    who = attackers_asked(asked, table)
    return find_attackers(table, who.attackers, who.coalitions)


def test_attackers_of_a_table_are_those_that_are_asked_for(table: Table) -> None:
    together = evosdc.Coalition("A", ["r=a,s=x", "r=b,s=x"])
    for kind in ("public", "lone", "pairs", None):
        asked = evosdc.Attackers(who=kind, coalitions=[together])
        mine = attackers_of(table, asked)
        found = find_attackers(table, kind, [together])
        assert mine.kind == found.kind
        assert mine.cell.tolist() == found.cell.tolist()
        assert mine.down.tolist() == found.down.tolist()
    pairs, lone = (
        attackers_of(table, evosdc.Attackers(who=kind)) for kind in ("pairs", "lone")
    )
    assert len(pairs) > len(lone)


def test_attackers_are_options_and_coalitions_name_several(table: Table) -> None:
    assert repr(evosdc.Attackers()) == (
        "Attackers(who=None, coalitions=(), strict=False, protect_secondaries=False)"
    )
    with pytest.raises(InputError, match="who is 'everybody'"):
        evosdc.Attackers(who="everybody")
    with pytest.raises(InputError, match="list of evosdc"):
        evosdc.audit(table, attackers=evosdc.Attackers(coalitions=["A"]))
    with pytest.raises(InputError, match="one text"):
        evosdc.Coalition("A", "r=a,s=x")


def test_verify_refuses_what_was_judged_against_fewer(
    table: Table, tmp_path: Path
) -> None:
    lone = evosdc.Attackers(who="lone")
    result = evosdc.protect(table, attackers=lone, stop=evosdc.Stop(evaluations=20))
    assert result.safe
    result.write(tmp_path / "out")
    certificate = tmp_path / "out/confidential/certificate.npz"
    assert evosdc.verify(table, certificate).holds
    assert evosdc.verify(table, certificate, attackers=evosdc.Attackers()).holds
    assert evosdc.verify(table, certificate, attackers=lone).holds
    together = evosdc.Coalition("A", ["r=a,s=x", "r=b,s=x"])
    for more, words in (
        (evosdc.Attackers(who="pairs"), "attackers pairs, but lone"),
        (evosdc.Attackers(coalitions=[together]), "coalition 'A'"),
        (evosdc.Attackers(strict=True), "levels that are exceeded"),
        (evosdc.Attackers(protect_secondaries=True), "secondaries"),
    ):
        report = evosdc.verify(table, certificate, attackers=more)
        assert not report.holds
        assert any(words in fault for fault in report.faults)


def test_the_command_line_takes_attackers_and_coalitions(
    run: Command, tmp_path: Path
) -> None:
    path, out = tmp_path / "r.csv", tmp_path / "t.csv"
    rows = zip(*RECORDS.values(), strict=True)
    path.write_text("r,s,v\n" + "".join(f"{r},{s},{v}\n" for r, s, v in rows))
    code, _, error = run(
        *("tabulate", path, "--by", "r,s", "--value", "v", "--rule", "p:10"),
        *("-o", out),
    )
    assert code == 0, error
    for kind in ("public", "lone"):
        _, text, error = run("audit", out, "--attackers", kind, "--json")
        insiders = json.loads(text)["insiders"]
        assert (insiders is None) == (kind == "public"), error
    for option in (["--attackers", "everybody"], ["--coalition", path]):
        code, _, error = run("audit", out, *option)
        assert code == 2
        assert "'public' or 'lone' or 'pairs'" in error or "'coalition'" in error
    code, text, _ = run("protect", "--help")
    assert code == 0
    assert "--attackers" in text
    assert "--attackers", "public" not in text
