"""Each part of a claim changes when its option does, and travels with the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import evosdc
from builders import Command, options_of
from evosdc.results import TABLE_QUESTIONS, Claim


@pytest.fixture(scope="module")
def records() -> pa.Table:
    rng = np.random.default_rng(3)
    n = 160
    return pa.table(
        {
            "r": [f"r{k}" for k in rng.integers(0, 5, n)],
            "c": [f"c{k}" for k in rng.integers(0, 4, n)],
            "v": np.round(rng.lognormal(4, 1.2, n), 1),
            "h": [f"firm {k}" for k in rng.integers(0, 60, n)],
            "o": ["owner"] * n,
        }
    )


def claim(records: pa.Table, tabulate: dict[str, Any], **protect: Any) -> Claim:
    options: dict[str, Any] = {"value": "v", "rules": ["p:15", "freq:3"]} | tabulate
    table = evosdc.tabulate(
        records, ["r", "c"], options.pop("value"), **options_of("tabulate", **options)
    )
    return evosdc.protect(
        table, **options_of("protect", evaluations=5, **protect)
    ).claim


@pytest.mark.parametrize(
    ("part", "tabulate", "protect", "words"),
    [
        ("rules", {"rules": ["nk:1,60"]}, {}, "nk:1,60"),
        ("rules", {"holding": "h", "consent": ["firm 1", "firm 2"]}, {}, "2 contrib"),
        ("levels", {"floor": 77.0}, {}, "at least 77"),
        ("levels", {}, {"protect_secondaries": True}, "nor any secondary"),
        ("knowledge", {"bounds": "percent:80"}, {}, "within 80 %"),
        ("knowledge", {}, {"bounds": "0:inf"}, "between 0 and inf"),
        ("knowledge", {"value": None, "rules": "freq:2"}, {}, "whole numbers"),
        (
            "knowledge",
            {"value": None, "rules": "freq:2"},
            {"published_threshold": 2},
            "below 2",
        ),
        ("rules", {"count_zeros": True}, {}, "contributors of zero count for"),
        ("knowledge", {"whole_numbers": True}, {}, "whole numbers (declared"),
        ("knowledge", {}, {"whole_numbers": True}, "numbers were judged"),
        ("levels", {}, {"whole_numbers": True}, "at least one unit"),
        ("insiders", {"rules": ["p:40"]}, {}, "less than 40 % of what they have"),
        ("insiders", {}, {"who": "public"}, "switched off"),
        ("insiders", {"holding": "o"}, {}, "each of 1 lone respondents"),
        ("strictness", {}, {"strict": True}, "exceeded"),
    ],
)
def test_an_option_changes_its_part(
    records: pa.Table,
    part: str,
    tabulate: dict[str, Any],
    protect: dict[str, Any],
    words: str,
) -> None:
    plain = dict(claim(records, {}))
    other = dict(claim(records, tabulate, **protect))
    assert words in other[part]
    assert plain[part] != other[part]


def test_earlier_publications_and_links_change_the_publication(
    records: pa.Table,
) -> None:
    table = evosdc.tabulate(records, ["r", "c"], "v", rules=["p:15", "freq:3"])
    first = evosdc.protect(table, stop=evosdc.Stop(evaluations=5))
    second = evosdc.protect(
        table,
        stop=evosdc.Stop(evaluations=5),
        prior=evosdc.Prior(already_published=first.published),
    )
    assert "no earlier publication" in first.claim.publication
    assert "known from before" in second.claim.publication
    linked = evosdc.tabulate(records, [["r", "c"], ["h"]], "v", rules=["p:15"])
    both = evosdc.protect(linked, stop=evosdc.Stop(evaluations=5))
    assert "2 linked tables" in both.claim.publication


def test_a_judge_without_time_says_what_is_open(records: pa.Table) -> None:
    table = evosdc.tabulate(records, ["r", "c"], "v", rules=["p:15", "freq:3"]).table
    word = evosdc.audit(table, np.ones(len(table), dtype=bool), time_limit=1e-6)
    assert word.safe is None
    assert word.verdict.word == "NOT JUDGED"
    assert len(word.verdict.open) > 0
    assert "open" in word.claim.proof
    done = evosdc.audit(table, np.ones(len(table), dtype=bool))
    assert done.verdict.open == ()
    assert "exact arithmetic" in done.claim.proof


def test_the_claim_travels(run: Command, tmp_path: Path, records: pa.Table) -> None:
    from evosdc.io import write_table

    path, out = tmp_path / "t.csv", tmp_path / "out"
    table = evosdc.tabulate(records, ["r", "c"], "v", rules=["p:15", "freq:3"]).table
    write_table(path, table)
    code, text, error = run("protect", path, "-o", out, "--evaluations", 5, "--json")
    assert code in (0, 3), error
    said = json.loads(text)["claim"]
    assert list(said) == list(TABLE_QUESTIONS)
    assert json.loads((out / "confidential/claim.json").read_text())["claim"] == said
    page = (out / "confidential" / "report.html").read_text()
    assert "What was proved, against whom" in page or code == 3
    for question in TABLE_QUESTIONS.values():
        assert question in page
    with np.load(out / "confidential" / "certificate.npz") as arrays:
        assert json.loads(str(arrays["claim"])) == said


def test_the_page_on_safety_has_every_part() -> None:
    page = (Path(__file__).parents[2] / "docs/explanation/safety.md").read_text()
    for question in TABLE_QUESTIONS.values():
        assert question in page


def test_that_no_rule_applies_is_said_once(run: Command, tmp_path: Path) -> None:
    """A table of `tabulate --rule none` is protected as one without rules."""
    records, table = tmp_path / "records.csv", tmp_path / "table.csv"
    records.write_text("region,size,v\nN,a,1\nN,b,2\nS,a,3\nS,b,4\n")
    words = ("--by", "region,size", "--value", "v", "--rule", "none", "-o", table)
    assert run("tabulate", records, *words)[0] == 0
    code, text, err = run("protect", table, "-o", tmp_path / "out")
    assert (code, err) == (3, "")
    assert "NOT JUDGED" in text
    assert not (tmp_path / "out" / "publish").exists()
    code, text, err = run("audit", table)
    assert (code, err) == (3, "")
    assert "NOT JUDGED" in text
    # Without the word of its maker a table is refused as before.
    table.with_name("table.csv.json").unlink()
    code, _, err = run("protect", table, "-o", tmp_path / "other")
    assert code == 2
    assert "no rule says that it has none" in err
