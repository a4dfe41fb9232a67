"""Columns that identify people: recognised, left out or given fresh values.

A column is taken to identify people where nearly everybody has a value of his own:
names, free text, codes, dates of birth, and whole numbers that never occur twice where
chance alone would have some occur twice. Amounts may be nearly unique, too: they are
binned and drawn again as all numbers are, and stay.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evosdc.arrays import Real
from evosdc.errors import InputError
from evosdc.metrics.binning import as_numbers, is_number
from evosdc.metrics.coded_numbers import coded_numbers
from evosdc.synth.data.variable import check_column, plain_array, time_step

ACTIONS = ("drop", "new", "keep")
# The share of a column's values that are different where it identifies people.
_MIN_DISTINCT_SHARE = 0.5
# Columns of fewer values are not judged.
_MIN_VALUES = 20
_MANY_DAYS = 1000
# Whole numbers that never repeat although so many repetitions were to be expected.
_MIN_REPETITIONS = 10.0
_BINS = 20
_MIN_DIGITS = 6
_ID_NAME = re.compile(
    r"(^|[_\W])(id|pid|hid|uid|uuid|guid|key|nr|no|num|number|ssn|nin|nhs|phone|tel|"
    r"mobile|email|mail|name|surname|address|street|iban|account)($|[_\W])",
    re.IGNORECASE,
)
_MAX_TRIES = 100


@dataclass(frozen=True)
class Identifier:
    """A column that identifies people, what to do with it, and why."""

    name: str
    action: str
    why: str


def find_identifiers(
    table: pa.Table,
    min_group: int,
    wishes: Mapping[str, str],
    named: Iterable[str] = (),
) -> list[Identifier]:
    """Return the columns that identify people, with what happens to each.

    Parameters
    ----------
    wishes
        What the user says of a column: drop, new or keep (as an ordinary column, which
        is said only where it seems to identify people).
    named
        Columns that the user names as key, target or otherwise: they are ordinary.
    """
    for name, action in wishes.items():
        what = "an identifier names the unknown column"
        check_column(name, table.column_names, what)
        if action not in ACTIONS:
            raise InputError(
                f"the identifier {name!r} is to be {action!r}",
                expected=", ".join(ACTIONS),
                hint="drop leaves the column out, new makes fresh values, keep treats "
                "it as an ordinary column",
            )
    ordinary = set(named)
    out = []
    for name in table.column_names:
        wish = wishes.get(name)
        if wish not in (None, "keep"):
            if name in ordinary:
                raise InputError(
                    f"the column {name!r} is an identifier to {wish} and has a part in "
                    "the attack",
                    hint="name it once: as key, target or column to synthesise, or as "
                    "an identifier",
                )
            out.append(Identifier(name, str(wish), "as asked"))
        elif min_group > 1:
            why = why_identifying(name, table.column(name), min_group)
            kept = wish == "keep" or name in ordinary
            if why:
                why = "as asked" if wish == "keep" else why
                out.append(Identifier(name, "keep" if kept else "drop", why))
    return out


def why_identifying(name: str, column: pa.ChunkedArray, min_group: int) -> str:
    """Say why a column seems to identify people; nothing where it does not."""
    plain = plain_array(column.drop_null())
    if pa.types.is_boolean(plain.type) or len(plain) < _MIN_VALUES:
        return ""
    counts = np.asarray(plain.value_counts().field("counts"), float)
    respondents = counts.sum()
    rare = counts < min_group
    # The most frequent value may stand for "nothing noted".
    noted = respondents - (counts.max() if counts.max() >= min_group else 0.0)
    nearly = len(counts) > _MIN_DISTINCT_SHARE * respondents
    rare_share = counts[rare].sum() / respondents
    hinted = bool(_ID_NAME.search(name)) and rare_share > _MIN_DISTINCT_SHARE
    if pa.types.is_temporal(plain.type):
        many = len(counts) > _MANY_DAYS and rare_share > _MIN_DISTINCT_SHARE
        return "nearly unique dates" if nearly or many else ""
    if is_number(plain.type):
        return _numbered(as_numbers(plain), counts, hinted)
    coded = coded_numbers(plain)
    if coded is not None:
        numbers = coded.numbers[~np.isnan(coded.numbers)]
        each = np.unique(numbers, return_counts=True)[1].astype(float)
        return _numbered(numbers, each, hinted)
    if nearly or hinted:
        return "nearly unique texts"
    if noted >= _MIN_VALUES and rare.sum() > _MIN_DISTINCT_SHARE * noted:
        return "nearly unique texts where there are any"
    return ""


def _numbered(numbers: Real, counts: Real, hinted: bool) -> str:
    """Say why whole numbers seem to count or name people."""
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers) or (numbers != np.rint(numbers)).any():
        return ""
    if hinted:
        return "numbers of an identifier by name"
    if counts.max() > 1:
        return ""
    if (np.diff(numbers) > 0).all() or (np.diff(numbers) < 0).all():
        return "numbers in the order of the file"
    if _expected_repetitions(numbers) > _MIN_REPETITIONS:
        return "numbers that never repeat"
    digits = np.floor(np.log10(np.maximum(np.abs(numbers), 1.0)))
    if digits.min() == digits.max() >= _MIN_DIGITS - 1:
        return "unique numbers of equally many digits"
    return ""


def _expected_repetitions(numbers: Real) -> float:
    """Return how many pairs would be equal if numbers fell freely in their bins."""
    edges = np.quantile(numbers, np.linspace(0, 1, _BINS + 1))
    people = len(numbers) / _BINS
    width = np.maximum(np.diff(edges), 1.0)
    return float((people * (people - 1) / 2.0 / width).sum())


def fresh_column(
    column: pa.ChunkedArray, records: int, rng: np.random.Generator
) -> pa.Array:
    """Return values of the same shape, none of which the column has.

    Every character of a text becomes one of its kind, so that lengths, letters, digits
    and signs stay where they are; numbers have as many digits, dates the same range.
    """
    plain = plain_array(column.drop_null())
    kind = plain.type
    if not len(plain):
        return pa.nulls(records, kind)
    if is_number(kind):
        return _fresh_numbers(plain, records, rng)
    days = _days(plain)
    if days is not None:
        return _fresh_numbers(days, records, rng).cast(pa.string()).cast(kind)
    models = plain.unique().cast(pa.string()).to_pylist()
    used = set(models)
    out = []
    for at in rng.integers(0, len(models), records):
        out.append(_fresh_text(models[int(at)], used, rng))
        used.add(out[-1])
    return pa.array(out, kind)


def _fresh_text(model: str, used: set[str], rng: np.random.Generator) -> str:
    kinds = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
    for attempt in range(_MAX_TRIES):
        text = "".join(
            next((k[int(rng.integers(len(k)))] for k in kinds if c in k), c)
            if c.isascii()
            else string.ascii_lowercase[int(rng.integers(26))]
            for c in model
        )
        # Short shapes run out; then values grow.
        text += str(int(rng.integers(10**6))) if attempt > _MAX_TRIES // 2 else ""
        if text not in used:
            return text
    raise InputError(
        "no fresh value could be made for an identifier",
        expected="texts with letters or digits",
        hint="drop the column",
    )


def _fresh_numbers(plain: pa.Array, records: int, rng: np.random.Generator) -> pa.Array:
    kind = plain.type
    numbers = as_numbers(plain)
    start, step = 0, 1
    if pa.types.is_temporal(kind):
        # Days stay days, whatever the unit they are stored in.
        start, step = int(numbers.min()), int(time_step(kind, numbers) or 1)
        numbers = (numbers - start) / step
        # Ends that no single person's value gives away.
        low, high = np.floor(np.quantile(numbers, [0.01, 0.99]))
    else:
        low, high = _round_ends(numbers)
    size = int(high - low) + 1
    taken = np.unique(numbers[(numbers >= low) & (numbers <= high)].astype(np.int64))
    free = size - len(taken)
    unique = len(np.unique(numbers)) == len(numbers)
    if free < (records if unique else 1):
        low, size = int(max(high, numbers.max())) + 1, max(size, 2 * records)
        taken, free = taken[:0], size
    if unique and free < 4 * records:
        rank = rng.permutation(free)[:records]
    elif unique:
        some = np.unique(rng.integers(0, free, 2 * records))
        rank = rng.permutation(some)[:records]
    else:
        rank = rng.integers(0, free, records)
    # The k-th number that is not taken.
    gaps = taken - int(low) - np.arange(len(taken))
    whole = int(low) + rank + np.searchsorted(gaps, rank, "right")
    out = pa.array(start + step * whole.astype(np.int64))
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        out = out.cast(pa.int32())
    return out.cast(kind)


def _round_ends(numbers: Real) -> tuple[int, int]:
    """Return the powers of ten that numbers lie between."""
    top = max(float(np.abs(numbers).max()), 1.0)
    high = 10 ** int(np.ceil(np.log10(top + 1.0))) - 1
    low = float(numbers.min())
    if low < 0:
        return -high, high
    return (10 ** int(np.floor(np.log10(low))) if low >= 1 else 0), high


def _days(texts: pa.Array) -> pa.Array | None:
    """Return texts as dates where all are, as ISO 8601 writes them."""
    pattern = r"^\d{4}-\d{2}-\d{2}$"
    if not pc.all(pc.match_substring_regex(texts, pattern)).as_py():
        return None
    try:
        return texts.cast(pa.date32())
    except pa.ArrowInvalid:
        return None
