"""Arguments of the wrong type or out of range: an error of ours, whatever the verb."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import evosdc
from builders import options_of
from evosdc.errors import EvosdcError, InputError
from evosdc.options.tables import AUDIT, KEYWORDS, LOWER_BOUND, PROTECT, TABULATE
from evosdc.options.tables import VERBS as TABLES

CELLS = {
    "region": ["N", "N", "S", "S"],
    "size": ["a", "b", "a", "b"],
    "value": [5, 20, 30, 40],
    "status": ["u", "s", "s", "s"],
    "upl": [2, 0, 0, 0],
}
RECORDS = {"k": ["a", "a", "b", "b"], "g": ["x", "y", "x", "y"], "v": [1, 2, 3, 4]}
WRONG = [-1, "x", float("nan"), True, [], {}, 1.5, object(), b"x", ("a",), {"k": 5}]


def protect(**options: Any) -> Any:
    return evosdc.protect(
        CELLS, **options_of("protect", **{"evaluations": 1} | options)
    )


def audit(**options: Any) -> Any:
    return evosdc.audit(CELLS, **options_of("audit", **options))


def lower_bound(**options: Any) -> Any:
    return evosdc.lower_bound(CELLS, **options_of("lower_bound", **options))


def tabulate(**options: Any) -> Any:
    usual = {"by": ["k"], "value": "v", "rules": "freq:2"}
    return evosdc.tabulate(RECORDS, **options_of("tabulate", **usual | options))


def evaluate(**options: Any) -> Any:
    return evosdc.evaluate(
        RECORDS, RECORDS, **({"key": ["k"], "target": "g", "time_limit": 1} | options)
    )


VERBS: dict[Callable[..., Any], list[str]] = {
    protect: [*PROTECT],
    audit: [*AUDIT],
    lower_bound: [*LOWER_BOUND],
    tabulate: ["by", "value", *TABULATE],
    evaluate: ["key", "target", "holdout", "seed", "time_limit"],
}
# What is of any type, or whose words are read by who uses it.
LOOSE = ("cluster", "dimensions", "memory_limit", "apriori")


def options_that(verb: Callable[..., Any]) -> list[str]:
    """Name all that a verb takes: its keywords, objects and their fields."""
    takes = TABLES.get(verb.__name__, {})
    fields = [one.name for group in takes.values() for one in group.options()]
    named = [name for name in VERBS[verb] if name != KEYWORDS]
    return [name for name in dict.fromkeys([*named, *fields]) if name not in LOOSE]


@pytest.mark.parametrize(
    ("verb", "option"),
    [(verb, option) for verb in VERBS for option in options_that(verb)],
    ids=lambda x: x if isinstance(x, str) else x.__name__,
)
def test_no_traceback_but_ours(verb: Callable[..., Any], option: str) -> None:
    refused = 0
    for wrong in WRONG:
        try:
            verb(**{option: wrong})
        except EvosdcError:
            refused += 1
    assert refused >= 5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: evosdc.audit(CELLS, time_limit=-1), "time limit is -1"),
        (lambda: evosdc.evaluate(RECORDS, RECORDS, key="k", target="g"), "key is 'k'"),
        (lambda: tabulate(hierarchies={"k": 5}), "hierarchy of 'k' is of type int"),
        (lambda: tabulate(hierarchies=["k"]), "hierarchies is ['k']"),
        (
            lambda: protect(hierarchies={"region": 5}),
            "hierarchy of 'region' is of type int",
        ),
        (lambda: tabulate(rules=[5]), "a rule is a int"),
        (lambda: tabulate(tresholds=3), "no option 'tresholds'"),
        (lambda: protect(frame=CELLS), "no option 'frame'"),
        (
            lambda: evosdc.protect(CELLS, strict=True),
            "attackers=evosdc.Attackers(strict=...)",
        ),
        (
            lambda: evosdc.protect(CELLS, earlier="x.csv"),
            "prior=evosdc.Prior(already_published=...)",
        ),
        (
            lambda: evosdc.audit(CELLS, run=evosdc.Run(resume=True)),
            "run has resume, which this verb does not take",
        ),
        (lambda: protect(link={"region": "size"}), "link (--link) for one table"),
        (lambda: protect(link="region=size"), "link is 'region=size'"),
        (
            lambda: protect(cost_factor={"region=N": "much"}),
            "factor of a preference is",
        ),
        (lambda: protect(cost_factor=["region=N"]), "a preference is 'region=N'"),
        (lambda: evosdc.CellRequests(hide=5), "hide is 5"),
        (
            lambda: evosdc.CellRequests(keep_secondaries="no"),
            "keep secondaries is 'no'",
        ),
    ],
)
def test_the_message_names_the_argument(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)


def test_hierarchies_come_from_columns_in_python_too() -> None:
    records = RECORDS | {"fine": ["a1", "a2", "b1", "b1"]}
    made = evosdc.tabulate(
        records,
        ["fine"],
        "v",
        rules="none",
        read=evosdc.Read(hierarchies={"fine": ["k", "fine"]}),
    )
    tree = made.table.dimensions[0].hierarchy
    assert tree.codes[tree.parents[tree.node_of["a2"]]] == "a"


def test_an_unknown_field_of_an_object_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"Attackers has no option 'hwo'.*: who;") as e:
        evosdc.Attackers(hwo="lone")  # type: ignore[call-arg]
    assert isinstance(e.value, TypeError)
    assert "help(evosdc.Attackers)" in e.value.hint
    with pytest.raises(InputError, match="is given a str without a name"):
        evosdc.Attackers("lone")  # type: ignore[misc]
    given = evosdc.Attackers(who="lone")
    assert pickle.loads(pickle.dumps(given)) == copy.copy(given) == replace(given)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("time_limt", "time_limit"),
        ("coalition", "attackers=evosdc.Attackers(coalitions=...)"),
        ("zzz", "one of table, method"),
    ],
)
def test_an_unknown_keyword_is_named_with_the_nearest(name: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"no option {name!r}") as caught:
        evosdc.protect(CELLS, **{name: 2})
    assert caught.value.expected.startswith(meant)


def test_a_result_is_no_table_and_its_parts_are_named() -> None:
    result = protect()
    for verb in (evosdc.protect, evosdc.audit):
        with pytest.raises(InputError, match="a Protection is given") as caught:
            verb(result)
        assert "result.table" in caught.value.hint
        assert "pattern=result.pattern" in caught.value.hint
    assert evosdc.audit(result.table, pattern=result.pattern).safe
    with pytest.raises(InputError, match="an Audit is given"):
        evosdc.protect(evosdc.audit(result.table))


def test_a_frame_without_columns_is_told_plainly() -> None:
    with pytest.raises(InputError, match="no column 'value' and no other"):
        evosdc.protect({})


HUGE = [1e308, 1e308, -1e308, 4.0]


@pytest.mark.parametrize(
    "work",
    [
        lambda: evosdc.tabulate(
            {"k": list("abcd"), "v": HUGE}, ["k"], "v", rules="p:10"
        ),
        lambda: evosdc.protect({"k": list("abcd"), "value": HUGE}),
        lambda: evosdc.tabulate(
            RECORDS | {"w": [1e300] * 4},
            ["k"],
            "v",
            rules="p:10",
            contributors=evosdc.Contributors(weight="w"),
        ),
    ],
)
@pytest.mark.filterwarnings("error")
def test_sums_beyond_all_numbers_are_refused(work: Callable[[], Any]) -> None:
    with pytest.raises(InputError, match=r"add up to 1e\+20 or more") as caught:
        work()
    assert "larger unit" in caught.value.hint
