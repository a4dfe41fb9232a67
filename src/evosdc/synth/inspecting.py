"""What each column of a file is, and what a synthesis would do with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evosdc.metrics.binning import is_number
from evosdc.metrics.coded_numbers import coded_numbers, is_text
from evosdc.synth.data.derived import Derived, find_derived
from evosdc.synth.data.identifiers import find_identifiers
from evosdc.synth.data.options import Coding
from evosdc.synth.data.variable import plain_array

# Texts of so many words on average are notes, not categories.
_MIN_WORDS_OF_NOTES = 5.0


@dataclass(frozen=True)
class ColumnPlan:
    """A column: what it is and what is done with it.

    Attributes
    ----------
    kind
        category, ordered, number, date, derived, identifier, text or constant.
    action
        synthesise, compute, drop or copy.
    distinct, missing, rare
        How many values there are, how many records have none, and how many values are
        held by fewer people than the smallest group.
    codes
        How many codes stand among the numbers of a column of text.
    what
        What is done, in words.
    """

    name: str
    kind: str
    action: str
    distinct: int
    missing: int
    rare: int
    codes: int
    what: str


def inspect_columns(table: pa.Table, coding: Coding) -> tuple[ColumnPlan, ...]:
    """Say of each column what it is and what would be done with it."""
    identifiers = {
        i.name: i
        for i in find_identifiers(table, coding.least, dict(coding.identifiers or {}))
    }
    rest = table.drop_columns([n for n, i in identifiers.items() if i.action != "keep"])
    derived = {d.name: d for d in find_derived(rest, set(), [], coding.least)}
    out = []
    for name in table.column_names:
        column = table.column(name)
        counts = np.asarray(
            plain_array(column.drop_null()).value_counts().field("counts"), np.int64
        )
        rare = int((counts < coding.least).sum()) if coding.least > 1 else 0
        numbers = coded_numbers(column)
        codes = 0 if numbers is None else len(numbers.labels)
        why = identifiers[name].why if name in identifiers else ""
        kind, action, what = _judged(name, column, len(counts), coding, why, derived)
        out.append(
            ColumnPlan(
                name, kind, action, len(counts), column.null_count, rare, codes, what
            )
        )
    return tuple(out)


def _judged(
    name: str,
    column: pa.ChunkedArray,
    distinct: int,
    coding: Coding,
    identifying: str,
    derived: dict[str, Derived],
) -> tuple[str, str, str]:
    """Return the kind of a column, what is done with it, and that in words."""
    kind = column.type
    if distinct <= 1 and not 0 < column.null_count < len(column):
        return "constant", "copy", "the same in every record: copied"
    if identifying:
        notes = is_text(kind) and _long(column)
        word = "text" if notes else "identifier"
        return word, "drop", f"{identifying}: left out"
    if name in derived:
        return "derived", "compute", f"computed: {derived[name].how}"
    if pa.types.is_temporal(kind):
        if coding.is_continuous(name, column):
            return "date", "synthesise", "binned, and drawn in its bin as a number is"
        return "date", "synthesise", "each date is a level"
    if coding.coded(name, column) is not None:
        return "number", "synthesise", "numbers are binned, each code is a level"
    if coding.is_continuous(name, column):
        return "number", "synthesise", "binned, and drawn by rank in its bin"
    if is_number(kind) or (pa.types.is_dictionary(kind) and kind.ordered):
        return "ordered", "synthesise", "each value is a level, in order"
    return "category", "synthesise", "each value is a level"


def _long(column: pa.ChunkedArray) -> bool:
    texts = column.drop_null().slice(0, 1000).to_pylist()
    return (
        bool(texts)
        and float(np.mean([len(t.split()) for t in texts])) >= _MIN_WORDS_OF_NOTES
    )


def as_toml(plans: tuple[ColumnPlan, ...]) -> str:
    """Write plans as a file to edit and give back."""
    lines = [
        "# What each column is. Edit and give back: evosdc synthesise --columns-file.",
        "# kind: category, ordered, number, date, derived, identifier, text, constant",
        "# action: synthesise, compute (from others), drop, new (fresh values), copy",
        "",
    ]
    for plan in plans:
        quoted = plan.name.replace("\\", "\\\\").replace('"', '\\"')
        lines += [
            f'[columns."{quoted}"]',
            f'kind = "{plan.kind}"',
            f'action = "{plan.action}"',
            f"# {plan.distinct} values, {plan.missing} missing, {plan.rare} rare; "
            + plan.what.replace("\n", " "),
            "",
        ]
    return "\n".join(lines)
