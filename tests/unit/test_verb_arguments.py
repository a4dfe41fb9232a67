"""Arguments of the wrong type or out of range: an error of ours, whatever the verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import evosdc
from evosdc.errors import EvosdcError, InputError

CELLS = {
    "region": ["N", "N", "S", "S"],
    "size": ["a", "b", "a", "b"],
    "value": [5, 20, 30, 40],
    "status": ["u", "s", "s", "s"],
    "upl": [2, 0, 0, 0],
}
RECORDS = {"k": ["a", "a", "b", "b"], "g": ["x", "y", "x", "y"], "v": [1, 2, 3, 4]}
WRONG = [-1, "x", float("nan"), True, [], {}, 1.5, object(), b"x", ("a",), {"k": 5}]
READING = "dimensions hierarchies totals value missing level_percent flat"


def protect(**options: Any) -> Any:
    return evosdc.protect(CELLS, **({"evaluations": 1} | options))


def tabulate(**options: Any) -> Any:
    return evosdc.tabulate(
        RECORDS, **({"by": ["k"], "value": "v", "rules": "freq:2"} | options)
    )


def evaluate(**options: Any) -> Any:
    return evosdc.evaluate(
        RECORDS, RECORDS, **({"key": ["k"], "target": "g", "time_limit": 1} | options)
    )


VERBS: dict[Callable[..., Any], str] = {
    protect: "method cost attacker cells seed workers options bounds counts threshold "
    "rules time_limit evaluations gap strict singletons secondaries hide publish "
    f"prefer keep_secondaries checkpoint on_progress on_pattern {READING}",
    lambda **o: evosdc.audit(CELLS, **o): "attacker bounds counts threshold rules "
    f"time_limit workers strict singletons secondaries {READING}",
    lambda **o: evosdc.lower_bound(
        CELLS, **o
    ): "method cost time_limit attacker bounds counts threshold rules strict workers",
    tabulate: "by value weight holding request hierarchies rules waiver shadow cost "
    "bounds floor contributions total digits flat memory_limit threads",
    evaluate: "key target holdout seed time_limit",
}


@pytest.mark.parametrize(
    ("verb", "option"),
    [(verb, option) for verb, options in VERBS.items() for option in options.split()],
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
        (lambda: evosdc.audit(CELLS, time_limit=-1), "time_limit is -1"),
        (lambda: evosdc.evaluate(RECORDS, RECORDS, key="k", target="g"), "key is 'k'"),
        (lambda: tabulate(hierarchies={"k": 5}), "hierarchy of 'k' is of type int"),
        (lambda: tabulate(hierarchies=["k"]), "hierarchies is a list"),
        (
            lambda: protect(hierarchies={"region": 5}),
            "hierarchy of 'region' is of type int",
        ),
        (lambda: tabulate(rules=[5]), "a rule is a int"),
        (lambda: tabulate(tresholds=3), "no option 'tresholds'"),
        (lambda: protect(frame=CELLS), "no option 'frame'"),
        (lambda: protect(link={"region": "size"}), "link (--link) for one table"),
        (lambda: protect(link="region=size"), "link is 'region=size'"),
        (lambda: protect(prefer={"region=N": "much"}), "factor of a preference is"),
        (lambda: protect(prefer=["region=N"]), "a preference is a str"),
        (lambda: evosdc.CellRequests(hide=5), "hide is 5"),
        (lambda: evosdc.CellRequests(keep_secondaries="no"), "keep is 'no'"),
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
