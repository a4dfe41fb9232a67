"""Values of a copy under the spelling of the original.

A code that lost its leading zeros, changed its case or has quotes is still the same
code. Compared letter by letter, a respelt original would have nothing in common with
the original.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evosdc.errors import InputError
from evosdc.metrics.binning import is_number
from evosdc.metrics.coded_numbers import one_array
from evosdc.metrics.data import bin_codes

_QUOTES = "\"'`´‘’‚“”„«»‹›"
_NUMBER = re.compile(r"([+-]?)0*(\d*)(?:[.,](\d*))?")
# Values of fewer people need not be in another file.
_MIN_GROUP = 5
# A smaller share in common is no overlap. A column is compared if at least the second
# share of its records has a value of several people.
_MIN_SHARED = 0.1
_MIN_COMMON = 0.5


def plain_form(text: str) -> str:
    """Return a code without case, blanks, quotes and redundant zeros."""
    out = unicodedata.normalize("NFKC", text)
    out = " ".join(out.split()).strip(_QUOTES + " ").casefold()
    number = _NUMBER.fullmatch(out)
    if number is None or not any(c.isdecimal() for c in out):
        return out
    sign, whole, rest = number.groups(default="")
    rest = rest.rstrip("0")
    return f"{sign.strip('+')}{whole or '0'}{'.' if rest else ''}{rest}"


def respelt(original: pa.Table, other: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
    """Return a file with values as the original spells them, and the columns changed.

    A value that the original lacks becomes the one that has the same plain form there,
    if that is one only: two values of the original are never merged.
    """
    changed = []
    for at, name in enumerate(other.column_names):
        if name not in original.column_names:
            continue
        first, second = original.column(name), other.column(name)
        if is_number(first.type) or is_number(second.type):
            continue
        texts = _texts(second)
        spelling = _spelling(_texts(first), texts)
        if spelling:
            old, new = pa.array(spelling.keys()), pa.array(spelling.values())
            place = pc.index_in(texts, old.cast(texts.type))
            texts = pc.coalesce(new.cast(texts.type).take(place), texts)
            other = other.set_column(at, name, texts)
            changed.append(name)
    return other, tuple(changed)


def _texts(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return one_array(column.cast(pa.large_string()))


def _spelling(original: Any, other: Any) -> Mapping[str, str]:
    """Return the original's spelling of each value that it lacks, where it has one."""
    known = set(original.drop_null().unique().to_pylist())
    strange = set(other.drop_null().unique().to_pylist()) - known
    if not strange:
        return {}
    forms: dict[str, str | None] = {}
    for text in known:
        form = plain_form(text)
        forms[form] = None if form in forms else text
    found = {text: forms.get(plain_form(text)) for text in sorted(strange)}
    return {text: right for text, right in found.items() if right is not None}


def check_overlap(
    original: pa.Table, other: pa.Table, names: Sequence[str], which: str
) -> None:
    """Refuse to compare files that have hardly a value of some column in common.

    Numbers are compared in classes. Columns where most values are of few people are
    passed over: another file need not have these.
    """
    shared = {name: _shared(name, original[name], other[name]) for name in names}
    unlike = [name for name, share in shared.items() if share < _MIN_SHARED]
    if unlike:
        raise InputError(
            f"the values of {', '.join(map(repr, unlike))} in the {which} are hardly "
            "those of the original ("
            + ", ".join(f"{100 * shared[name]:.0f} %" for name in unlike)
            + " in common), so that nothing can be said about its closeness",
            expected="codes, units and formats of the original in every file",
            hint="recode the columns as the original has them, or drop them from the "
            f"{which} to compare the others",
        )


def _shared(name: str, original: Any, other: Any) -> float:
    """Return the share of two columns that they have in common, of known values."""
    parts = [original.drop_null(), other.drop_null()]
    if not len(parts[0]) or not len(parts[1]):
        return 1.0
    codes = bin_codes(name, parts)
    size = int(codes.max()) + 1
    first = np.bincount(codes[: len(parts[0])], minlength=size)
    second = np.bincount(codes[len(parts[0]) :], minlength=size)
    if first[first >= _MIN_GROUP].sum() < _MIN_COMMON * first.sum():
        return 1.0
    return float(np.minimum(first / first.sum(), second / second.sum()).sum())
