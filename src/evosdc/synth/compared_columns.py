"""Which columns of an original and a copy are compared, and how.

A copy may lack columns. And a column that says who somebody is must not take part in
the comparison of whole records: with fresh values in it no record would ever equal
another, and a copy of everybody would pass. What such a column must not hold is the
original's values; that is tested by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.metrics import Measurements, from_codes
from evosdc.metrics.data import exact_codes
from evosdc.metrics.memorisation_tests import Coded, FreshTest, fresh_tests
from evosdc.metrics.spelling import check_overlap, respelt

_ABSENT = "not in the copy"


@dataclass(frozen=True, eq=False)
class ComparedFiles:
    """Files with the columns that are compared, and why others are left out.

    Columns `respelt` were compared under the original's spelling.
    """

    original: pa.Table
    synthetic: pa.Table
    holdout: pa.Table | None
    left_out: dict[str, str]
    tests: tuple[FreshTest, ...]
    respelt: tuple[str, ...]


def measured(
    original: Any,
    synthetic: Any,
    holdout: Any,
    *,
    key: Sequence[str],
    target: str,
    seed: int,
    left: Callable[[], float] | None,
    fresh: Sequence[str] = (),
    metrics: Sequence[str] | None = None,
    ours: bool = False,
) -> Measurements:
    """Measure and attack a copy by the columns that can be compared.

    Columns that are `fresh` are known to have fresh values in the copy. A copy of
    `ours` has the codes of the original; any other must show that it does.
    """
    from evosdc.metrics import evaluate

    files = comparable_files(
        original, synthetic, holdout, [*key, target], fresh=fresh, seed=seed, ours=ours
    )
    found = evaluate(
        files.original,
        files.synthetic,
        key=list(key),
        target=target,
        holdout=files.holdout,
        seed=seed,
        left=left,
        metrics=metrics,
    )
    words = [f"column {n!r} was not compared: {w}" for n, w in files.left_out.items()]
    if files.respelt:
        words.append(
            "codes that differ in case, blanks, quotes or zeros were compared as the "
            f"original spells them: {', '.join(map(repr, files.respelt))}"
        )
    failed = [test.sentence() for test in files.tests if not test.passed]
    return replace(
        found,
        left_out=files.left_out,
        plain_words=(*found.plain_words, *words),
        tests=(*found.tests, *files.tests),
        reasons=(*found.reasons, *failed),
    )


def comparable_files(
    original: Any,
    synthetic: Any,
    holdout: Any,
    named: Sequence[str],
    *,
    fresh: Sequence[str] = (),
    seed: int = 0,
    ours: bool = False,
) -> ComparedFiles:
    """Leave out what the copy lacks and what identifies people; compare like codes.

    Columns that are `named` as key or target take part whatever they are.
    """
    from evosdc.synth.data.identifiers import find_identifiers
    from evosdc.synth.data.rare_levels import DEFAULT_MIN_GROUP

    first, second = to_arrow(original), to_arrow(synthetic)
    for name in named:
        if name in first.column_names and name not in second.column_names:
            raise InputError(
                f"the synthetic file lacks the column {name!r}",
                expected="every column of key and target in both files",
                hint="name the original that the copy was made from",
            )
    second, changed = respelt(first, second)
    third = None if holdout is None else respelt(first, to_arrow(holdout))[0]
    left_out = {
        name: _ABSENT for name in first.column_names if name not in second.column_names
    }
    left_out |= {name: "made anew" for name in fresh if name not in left_out}
    tests: list[FreshTest] = []
    for identifier in find_identifiers(first, DEFAULT_MIN_GROUP, {}, named):
        name = identifier.name
        if identifier.action == "keep" or left_out.get(name) == _ABSENT:
            continue
        left_out[name] = f"it identifies people ({identifier.why})"
        tests += _real_values(name, first.column(name), second.column(name), seed)
    names = [name for name in first.column_names if name not in left_out]
    for table, which in ((second, "synthetic file"), (third, "hold-out")):
        if table is not None and not (ours and table is second):
            there = [name for name in names if name in table.column_names]
            check_overlap(first, table, there, which)
    return ComparedFiles(
        _without(first, left_out),
        _without(second, left_out),
        None if third is None else _without(third, left_out),
        left_out,
        tuple(tests),
        changed,
    )


def _without(table: pa.Table, names: dict[str, str]) -> pa.Table:
    return table.drop_columns([n for n in names if n in table.column_names])


def _real_values(
    name: str, original: pa.ChunkedArray, synthetic: pa.ChunkedArray, seed: int
) -> list[FreshTest]:
    """Test whether a copy holds more of an identifier than other people would."""
    codes = exact_codes(name, [original, synthetic])[:, None]
    levels = [int(codes.max()) + 1]
    first, second = (
        from_codes(part, key=[0], target=0, levels=levels)
        for part in (codes[: len(original)], codes[len(original) :])
    )
    return [
        replace(test, name=f"identifier {name}", title=f"people whose {name} is there")
        for test in fresh_tests(
            Coded(first, first),
            Coded(second, second),
            seed=seed,
            attacks=("copied_people",),
        )
    ]
