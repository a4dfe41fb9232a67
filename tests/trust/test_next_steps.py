"""A verdict that is not SAFE says what to do, and doing it helps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evosdc
from builders import Command, flat_table, options_of
from evosdc.io import read_apriori_into, write_table
from evosdc.metrics.memorisation_tests import ATTACKS, FreshTest
from evosdc.results import TableVerdict
from evosdc.results.next_steps import release_steps
from evosdc.table import Origin, Table


def counts(rules: str | list[str] = "freq:4") -> Table:
    """People in small groups: totals of listed cells are known to be two or more."""
    rng = np.random.default_rng(7)
    n = int(rng.integers(40, 160))
    records = {
        "a": [f"a{min(7, int(rng.geometric(0.3)))}" for _ in range(n)],
        "b": [f"b{int(rng.integers(0, 4))}" for _ in range(n)],
        "c": [f"c{int(rng.integers(0, 2))}" for _ in range(n)],
    }
    return evosdc.tabulate(records, ["a", "b", "c"], None, rules=rules).table


def row(status: str = "usss", **more: Any) -> Table:
    """Four cells and their total, which is fixed; `u` must move by two both ways."""
    level = [2.0 if s == "u" else 0.0 for s in status]
    table = flat_table(
        {"r": "abcd"}, [10.0, 20, 30, 40], status=list(status), lpl=level, upl=level,
        **more,
    )  # fmt: skip
    return table.replace(status=np.where(np.arange(5) == 4, "z", table.status))


def narrow() -> Table:
    """Only one cell can be hidden with the sensitive one, and moves by two."""
    inf = np.inf
    return row("uszz", lower=[0.0, 18, 0, 0], upper=[inf, 22, inf, inf])


def protected(table: Table, **options: Any) -> TableVerdict:
    return evosdc.protect(
        table, workers=1, **options_of("protect", evaluations=5, **options)
    ).verdict


EARLIER = {"r": ["a"], "value": [10.0]}


def ring() -> Table:
    return row("umss", origin=Origin(rules=(("p:10", 1),), ring=True))


# One for each reason: the verdict, its word, and what its next step must name.
REASONS: dict[str, tuple[Any, str, str]] = {
    "levels beyond any pattern, counts": (
        lambda: protected(counts()),
        "EXPOSED",
        "--prior 0:inf",
    ),
    "levels beyond any pattern, bounds": (
        lambda: protected(row(upper=[11.0, 21, 31, 41]), who="public"),
        "EXPOSED",
        "widen what everyone is said to know",
    ),
    "levels beyond any pattern, strict": (
        lambda: protected(narrow(), strict=True),
        "EXPOSED",
        "without --strict",
    ),
    "fixed cells": (
        lambda: protected(row("uzzz")),
        "EXPOSED",
        "let fixed cells be hidden",
    ),
    "all that may be hidden was published before": (
        lambda: protected(
            row(), already_published={"r": list("bcd"), "value": [20.0, 30, 40]}
        ),
        "EXPOSED",
        "where they follow from earlier publications",
    ),
    "lone respondents": (
        lambda: protected(row("uuzz", frequency=[1, 5, 5, 5]), who="lone"),
        "EXPOSED",
        "--attackers public",
    ),
    "published before": (
        lambda: protected(row(), already_published=EARLIER),
        "EXPOSED",
        "--apriori",
    ),
    "no rule": (
        lambda: protected(row("ssss"), rules="none"),
        "NOT JUDGED",
        "--rule p:10",
    ),
    "ring": (lambda: protected(ring()), "NOT JUDGED", "several --by"),
    "audit, nothing hidden": (
        lambda: evosdc.audit(row("usss")).verdict,
        "EXPOSED",
        "evosdc protect",
    ),
    "audit, published as it is": (
        lambda: evosdc.audit(row(), np.zeros(5, dtype=bool)).verdict,
        "EXPOSED",
        "hide them",
    ),
    "audit, published before": (
        lambda: (
            evosdc.audit(
                row("umss"), prior=evosdc.Prior(already_published=EARLIER)
            ).verdict
        ),
        "EXPOSED",
        "--apriori",
    ),
    "audit, lone respondents": (
        lambda: (
            evosdc.audit(
                row("uuss", frequency=[1, 5, 5, 5]),
                attackers=evosdc.Attackers(who="lone"),
            ).verdict
        ),
        "EXPOSED",
        "--attackers public",
    ),
    "audit, secondaries": (
        lambda: (
            evosdc.audit(
                two_rows(), attackers=evosdc.Attackers(protect_secondaries=True)
            ).verdict
        ),
        "EXPOSED",
        "--protect-secondaries",
    ),
    "audit, no time": (
        lambda: (
            evosdc.audit(
                counts(), np.ones(len(counts()), bool), time_limit=1e-6
            ).verdict
        ),
        "NOT JUDGED",
        "--time-limit",
    ),
    "audit, no rule": (
        lambda: evosdc.audit(row("ssss"), read=evosdc.Read(rules="none")).verdict,
        "NOT JUDGED",
        "--rule p:10",
    ),
    "audit, ring": (lambda: evosdc.audit(ring()).verdict, "NOT JUDGED", "several --by"),
}


def two_rows() -> Table:
    """A square that protects its corner, and one cell that is hidden alone."""
    status = ["u", "m", "s", "m", "m", "s", "s", "s", "m"]
    level = [2.0] + [0.0] * 8
    return flat_table(
        {"r": "abc", "s": "xyz"}, 10.0 + np.arange(9), status=status, lpl=level,
        upl=level,
    )  # fmt: skip


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_a_next_step(reason: str) -> None:
    judged, word, step = REASONS[reason]
    verdict = judged()
    assert verdict.word == word
    assert verdict.next_steps
    assert any(step in said for said in verdict.next_steps), verdict.next_steps
    # Steps stand on cards and in logs: no label, no value.
    for cell in verdict.exposed:
        assert not any(cell.label in said for said in verdict.next_steps)


def test_a_safe_verdict_has_none() -> None:
    assert protected(row()).next_steps == ()


def test_the_steps_for_counts_help() -> None:
    exposed = evosdc.protect(counts(), workers=1, stop=evosdc.Stop(evaluations=5))
    assert exposed.verdict.word == "EXPOSED"
    # Said once, by whoever finds it.
    assert sum("beyond any pattern" in note for note in exposed.notes) == 1
    weaker = evosdc.protect(
        counts(),
        workers=1,
        stop=evosdc.Stop(evaluations=5),
        prior=evosdc.Prior(bounds="0:inf"),
    )
    assert weaker.safe
    words = "weaker attackers than by default, who do not know that somebody is in"
    assert words in weaker.claim.knowledge
    assert "weaker" not in exposed.claim.knowledge
    assert protected(counts(["freq:4", "group"])).safe


def test_bounds_that_say_no_less_are_not_weaker() -> None:
    magnitudes = evosdc.protect(
        row(), stop=evosdc.Stop(evaluations=5), prior=evosdc.Prior(bounds="0:inf")
    ).claim.knowledge
    assert "weaker" not in magnitudes
    open_below = evosdc.protect(
        row(), stop=evosdc.Stop(evaluations=5), prior=evosdc.Prior(bounds="-inf:inf")
    )
    assert "do not know that cells are not negative" in open_below.claim.knowledge


def test_the_step_for_earlier_publications_helps(tmp_path: Path) -> None:
    accepted = tmp_path / "accepted.hst"
    accepted.write_text("a;S\n")
    table = read_apriori_into(row("uuss"), accepted)
    verdict = protected(table, already_published=EARLIER)
    assert verdict.safe


def test_the_step_for_strict_levels_helps() -> None:
    assert not protected(narrow(), strict=True).safe
    assert protected(narrow()).safe


def test_a_run_cut_short_says_to_go_on() -> None:
    from evosdc.results.next_steps import Searched, with_next_steps

    undecided = TableVerdict(None, (), 3, True, 0.0, False, open=("r=a",))
    for ended, limited, word in (
        ("interrupted", True, "--resume"),
        ("time limit", True, "--time-limit"),
        ("finished", False, "the solver could not decide"),
    ):
        found = with_next_steps(
            undecided, row(), earlier=np.zeros(5, dtype=bool), limited=limited,
            searched=Searched(ended, late=limited, beyond=False),
        )  # fmt: skip
        assert word in found.next_steps[0]


def test_the_steps_stand_wherever_the_verdict_does(
    run: Command, tmp_path: Path
) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "out"
    write_table(path, row(upper=[11.0, 21, 31, 41]))
    code, text, _ = run("protect", path, "-o", out, "--evaluations", 5)
    assert code == 3
    assert "next step: for 1 cell no pattern gives the levels" in text
    code, text, _ = run("protect", path, "-o", out, "--force", "--json")
    steps = json.loads(text)["next_steps"]
    assert code == 3
    assert steps
    stored = json.loads((out / "confidential" / "claim.json").read_text())
    assert stored["next_steps"] == steps
    assert "What to do next" in (out / "confidential" / "report.html").read_text()
    code, text, _ = run("audit", path)
    assert code == 3
    assert "next step: " in text
    code, text, _ = run("audit", path, "--json")
    assert json.loads(text)["next_steps"]
    card = evosdc.audit(path)._repr_html_()
    assert "What to do next" in card


def test_a_certificate_of_another_table_says_what_to_do(
    run: Command, tmp_path: Path
) -> None:
    path, other = tmp_path / "t.csv", tmp_path / "u.csv"
    write_table(path, row())
    write_table(other, row("suss"))
    assert run("protect", path, "-o", tmp_path / "out", "--evaluations", 5)[0] == 0
    proof = tmp_path / "out" / "confidential" / "certificate.npz"
    code, text, _ = run("verify", other, proof)
    assert code == 3
    assert "Next step: give the table, the options and the certificate" in text
    code, text, _ = run("verify", other, proof, "--json")
    assert json.loads(text)["next_steps"]


@pytest.mark.parametrize("name", [*ATTACKS, "limit", "none", "small"])
def test_what_is_not_fit_says_what_to_do(name: str) -> None:
    test = FreshTest(name, "people", "the other half", 9.0, 1.0, 2.0, 100.0)
    reasons = {"limit": ["uniques is above the limit"]}.get(name, ["one"])
    tests: list[FreshTest] = [] if name in ("none", "small") else [test]
    if name == "limit":
        tests = [replace(test, value=0.0)]
    (step,) = release_steps(tests, reasons, small=name == "small")
    assert {
        "limit": "other reasons (limits",
        "none": "--time-limit",
        "small": "two records",
    }.get(name, "synthesise") in step
