"""What `import evosdc` offers, and what results show of themselves."""

from __future__ import annotations

import doctest
import importlib.metadata
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

import evosdc
import evosdc.options.tables
from evosdc import errors
from evosdc.instances import business, make


@pytest.fixture(scope="module")
def tabulated() -> evosdc.Tabulation:
    firms = business(seed=2, firms=400)
    return evosdc.tabulate(
        firms.records,
        ["region", "activity"],
        "turnover",
        rules=["p:10", "freq:3"],
        read=evosdc.Read(hierarchies=firms.hierarchies),
    )


@pytest.fixture(scope="module")
def result(tabulated: evosdc.Tabulation) -> evosdc.Protection:
    return evosdc.protect(tabulated, method="attacker", stop=evosdc.Stop(evaluations=1))


def test_every_name_is_there() -> None:
    for name in evosdc.__all__:
        assert getattr(evosdc, name) is not None
    assert dir(evosdc) == sorted(evosdc.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = evosdc.nonsense


def test_importing_loads_nothing_else() -> None:
    code = (
        "import sys, evosdc; "
        "print([m for m in sys.modules if m.startswith('evosdc.') or m == 'numpy'])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_errors_are_of_one_family() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type)]
    assert len(kinds) > 5
    assert all(issubclass(kind, evosdc.EvosdcError) for kind in kinds)
    assert evosdc.errors is errors


def test_the_package_is_typed_and_says_its_version() -> None:
    assert (Path(evosdc.__file__).parent / "py.typed").is_file()
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", evosdc.__version__)
    command = [sys.executable, "-m", "evosdc", "--version"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == f"evosdc {evosdc.__version__}"


def test_numba_is_held_to_what_was_tried() -> None:
    """Its internals that we use are no promise of a later version."""
    needed = importlib.metadata.requires("evosdc") or []
    (numba,) = [line for line in needed if line.startswith("numba")]
    assert "<" in numba


def shown_numbers(text: str) -> set[float]:
    plain = re.sub(r"(?<=\d),(?=\d)", "", text)
    return {float(w) for w in re.findall(r"\d+(?:\.\d+)?", plain)}


def test_results_say_what_they_are_in_a_line(
    tabulated: evosdc.Tabulation, result: evosdc.Protection
) -> None:
    audit = evosdc.audit(tabulated, result.pattern)
    table = result.table
    texts = [repr(x) for x in (tabulated, result, result.verdict, audit)]
    for text, kind in zip(
        texts, ("Tabulation", "Protection", "Verdict", "Audit"), strict=True
    ):
        assert text.startswith(f"{kind}(")
        assert "\n" not in text
        assert len(text) < 180
    for text in texts[1:]:
        assert f"SAFE: {result.verdict.judged:,} judged" in text
    assert f"{result.secondaries:,} secondaries" in texts[1]
    assert f"{int(table.hidden.sum()):,} hidden" in texts[3]
    assert "p:10, freq:3" in texts[0]


def test_nothing_hidden_is_shown(
    tabulated: evosdc.Tabulation, result: evosdc.Protection
) -> None:
    """Neither a hidden value nor the cost, which is a sum of them."""
    audit = evosdc.audit(tabulated, result.pattern)
    bad = evosdc.audit(tabulated, ~np.ones(len(tabulated.table), dtype=bool))
    assert bad.safe is False
    hidden = set(result.table.value[result.table.hidden].tolist())
    # Small whole numbers are counts of cells as well.
    secret = {x for x in hidden | {result.cost} if x > 1000}
    assert len(secret) > 10
    for one in (result, audit, bad):
        for text in (repr(one), one._repr_html_()):
            assert not secret & shown_numbers(text)
    for label in (e.label for e in bad.verdict.exposed):
        assert label not in repr(bad)
        assert label not in bad._repr_html_()


def test_notebooks_show_verdict_and_claim(
    tabulated: evosdc.Tabulation, result: evosdc.Protection
) -> None:
    bad = evosdc.audit(tabulated, ~np.ones(len(tabulated.table), dtype=bool))
    for one, word, asked in ((result, "SAFE", "proved"), (bad, "EXPOSED", "asked")):
        page = one._repr_html_()
        assert f"<h2>{word}: " in page
        assert f"What was {asked}, against whom" in page
        for question in one.claim.questions.values():
            assert question in page
        # The style of the card must not reach the notebook around it.
        style = page.partition("<style>")[2].partition("</style>")[0]
        rules = [rule for rule in style.split("}") if rule]
        assert rules
        assert all(rule.startswith(".evosdc-card ") for rule in rules)


def test_bounds_hold_and_are_checked(result: evosdc.Protection) -> None:
    table = make("class2", 3, rows=8, columns=6)
    cheap = evosdc.lower_bound(table, method="node")
    strong = evosdc.lower_bound(table)
    best = evosdc.protect(table, method="optimal", stop=evosdc.Stop(evaluations=200))
    assert 0 < cheap.value <= strong.value * (1 + 1e-9)
    assert strong.value <= best.cost * (1 + 1e-9)
    assert strong.complete
    assert (cheap.method, strong.method) == ("node", "cut")
    assert list(strong.summary()) == [
        "lower_bound",
        "method",
        "seconds",
        "complete",
        "knowledge",
    ]
    with pytest.raises(errors.InputError, match="node, cut"):
        evosdc.lower_bound(table, method="magic")
    with pytest.raises(errors.InputError, match="time limit is nan"):
        evosdc.lower_bound(table, time_limit=float("nan"))


def test_methods_are_those_that_protect_takes() -> None:
    found = {m.name: m for m in evosdc.methods()}
    assert {"attacker", "optimal", "hybrid", "gensup"} <= set(found)
    with pytest.raises(errors.MethodError) as refused:
        evosdc.protect(make("class2", 3, rows=4, columns=4), method="magic")
    for name, method in found.items():
        assert name in str(refused.value)
        assert method.summary
        assert method.as_json()["options"] == dict(method.options)


def test_a_result_writes_the_folder_of_the_command_line(
    tmp_path: Path, result: evosdc.Protection
) -> None:
    out = result.write(tmp_path / "out")
    assert out == tmp_path / "out" / "publish"
    assert {p.name for p in out.iterdir()} == {"published.csv", "report.html"}
    assert {p.name for p in (tmp_path / "out" / "confidential").iterdir()} == {
        "pattern.csv",
        "certificate.npz",
        "run.csv",
        "report.html",
        "claim.json",
    }
    with pytest.raises(errors.InputError, match="not empty"):
        result.write(tmp_path / "out")
    assert result.write(tmp_path / "out", force=True) == out


def test_writing_beside_another_pattern_warns(
    tmp_path: Path, tabulated: evosdc.Tabulation, result: evosdc.Protection
) -> None:
    other = evosdc.protect(
        tabulated, method="hypercube", stop=evosdc.Stop(evaluations=1)
    )
    assert not np.array_equal(other.table.hidden, result.table.hidden)
    result.write(tmp_path / "one")
    with pytest.warns(UserWarning, match="another pattern of the same table"):
        other.write(tmp_path / "two")


def labelled() -> evosdc.Table:
    cells = {
        "r0": ["r1"] * 3 + ["r2"] * 3 + ["r3"] * 3,
        "c0": ["c1", "c2", "c3"] * 3,
        "value": [5.0, 20, 30, 40, 12, 9, 14, 25, 31],
        "status": ["u", *"ssssssss"],
        "upl": [2.0, *[0.0] * 8],
    }
    return evosdc.audit(cells).table


@pytest.mark.parametrize("verb", evosdc.options.tables.VERBS)
def test_a_verb_has_few_parameters(verb: str) -> None:
    """What is protected, and at most ten options: the rest is in objects."""
    what, *options = signature(getattr(evosdc, verb)).parameters
    assert what in ("table", "source")
    assert len(options) <= 10
    takes = evosdc.options.tables.VERBS[verb]
    assert set(takes) - {"keywords"} <= set(options)


def test_nothing_can_be_said_twice() -> None:
    """No option is in two objects of a verb, nor a keyword of it as well."""
    for takes in evosdc.options.tables.VERBS.values():
        names = [one.name for group in takes.values() for one in group.options()]
        flags = [one.flag.name for group in takes.values() for one in group.options()]
        assert len(names) == len(set(names))
        assert len([f for f in flags if f]) == len({f for f in flags if f})


def test_every_option_that_changes_an_answer_is_in_the_settings() -> None:
    takes = evosdc.options.tables.PROTECT
    how = {"workers", "cluster", "checkpoint", "resume", "on_progress", "on_pattern"}
    wanted = {
        {"who": "attackers"}.get(one.name, one.name)
        for keyword, group in takes.items()
        for one in group.options()
        if keyword != "read"
    }
    found = evosdc.protect(labelled(), stop=evosdc.Stop(evaluations=1)).settings
    assert set(found) == wanted - how


def test_audit_and_lower_bound_take_the_attackers() -> None:
    table = labelled()
    strict = evosdc.Attackers(strict=True)
    assert "exceeded" in evosdc.audit(table, attackers=strict).claim.strictness
    least = evosdc.lower_bound(table).value
    assert evosdc.lower_bound(table, attackers=strict).value >= least


def test_a_bound_is_of_the_question_that_was_protected() -> None:
    table, cells = labelled(), evosdc.CellRequests(hide="r0=r3,c0=c3", cost="unit")
    made = evosdc.protect(table, method="optimal", cells=cells, time_limit=None)
    bound = evosdc.lower_bound(table, cells=cells).value
    assert evosdc.lower_bound(table).value != bound
    assert 0 < bound <= made.cost * (1 + 1e-9)


@pytest.mark.parametrize("name", ["stop", "attackers", "cells", "prior", "read", "run"])
def test_an_object_of_another_type_is_refused(name: str) -> None:
    with pytest.raises(errors.InputError, match=rf"{name} is of type dict.*evosdc\."):
        evosdc.protect(labelled(), **{name: {}})


def test_a_stop_that_makes_no_sense_is_refused() -> None:
    for wrong in ({"evaluations": -1}, {"gap": 1.0}, {"gap": float("nan")}):
        with pytest.raises(errors.InputError, match=r" is (-1|1\.0|nan)\. Expected"):
            evosdc.Stop(**wrong)
    for limit in (0, -1, float("nan"), "x"):
        with pytest.raises(errors.InputError, match="time limit is"):
            evosdc.protect(labelled(), time_limit=limit)


def test_no_time_limit_is_none() -> None:
    one = evosdc.Stop(evaluations=1)
    for given, stop, found in (
        ("auto", evosdc.Stop(), 60.0),
        ("auto", one, None),
        (None, evosdc.Stop(gap=0.9), None),
        (3, one, 3),
    ):
        keywords = evosdc.options.tables.ProtectKeywords(time_limit=given)
        assert keywords.seconds(stop) == found


EXAMPLES = [
    *("protect", "audit", "lower_bound", "tabulate", "methods", "link", "verify"),
    *("read_table", "write_table", "read_hierarchy", "read_result", "Claim"),
    *("Dominance", "Frequency", "Group", "Manual", "PPercent", "PriorPosterior"),
    *("Request", "Rule", "ZeroUnsafe"),
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_public_name_runs(name: str) -> None:
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(getattr(evosdc, name), name, globs={})
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
