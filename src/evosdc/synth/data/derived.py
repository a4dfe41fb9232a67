"""Columns that others determine: found, said, and computed again from a copy.

An age group follows from the age, an industry from its code, a body mass index from
weight and height. Synthesised on their own such columns contradict the others; so they
are left out of the search and computed from what it made.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evosdc.arrays import Long, Real
from evosdc.errors import InputError
from evosdc.metrics.binning import as_numbers, is_number
from evosdc.metrics.coded_numbers import coded_numbers
from evosdc.synth.data.expressions import columns_of, evaluate, parse_formula
from evosdc.synth.data.variable import check_column, plain_array

# The largest share of records in which a column need not follow from others.
MAX_EXCEPTIONS = 0.002
# Records that are looked at before all are.
_FIRST_RECORDS = 2000
# A function of one column is one by chance with a probability of ``exp(-14)``, one in a
# million.
_MIN_EVIDENCE_NATS = 14.0
_MIN_RECORDS = 40
# A formula is tried on so many records, and on all where it holds in this share.
_TRIAL_RECORDS, _TRIAL_SHARE = 300, 0.95
_RELATIVE_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Derived:
    """A column and what it follows from.

    `how` is a formula or "a function of", in words; in so many `exceptions`, records of
    the original, it does not hold; `given` says whether the user said so.
    """

    name: str
    sources: tuple[str, ...]
    how: str
    type: pa.DataType
    exceptions: int = 0
    given: bool = False
    formula: ast.expr | None = None
    digits: int = 15
    keys: pa.Array | None = None
    values: pa.Array | None = None
    usual: int = 0

    def text(self) -> str:
        """Say what follows from what."""
        but = f", but for {self.exceptions} records" if self.exceptions else ""
        return f"{self.name!r} is computed: {self.how}{but}"

    def compute(self, table: pa.Table) -> pa.Array:
        """Return the column for other records."""
        if self.formula is None:
            return self._looked_up(table.column(self.sources[0]))
        made = evaluate(self.formula, _sources(table, self.sources))
        out = np.round(made, self.digits)
        gone = np.isnan(out)
        if pa.types.is_integer(self.type):
            out = np.rint(np.where(gone, 0.0, out))
        return pa.array(np.where(gone, 0.0, out), mask=gone).cast(self.type)

    def _looked_up(self, column: pa.ChunkedArray) -> pa.Array:
        """Return what each value stands for; of a new number the next lower one's."""
        assert self.keys is not None
        assert self.values is not None
        plain = plain_array(column)
        gone = np.asarray(plain.is_null())
        place = np.asarray(pc.fill_null(pc.index_in(plain, self.keys), -1), np.int64)
        new = np.flatnonzero((place < 0) & ~gone)
        if len(new):
            place[new] = self.usual
            known, mine = _as_numbers(self.keys), _as_numbers(plain)
            if known is not None and mine is not None:
                order = np.flatnonzero(~np.isnan(known))
                order = order[np.argsort(known[order])]
                new = new[~np.isnan(mine[new])]
                at = np.searchsorted(known[order], mine[new], "right") - 1
                place[new] = order[np.maximum(at, 0)]
        # The answer to a missing value, where there is one, comes last.
        answered = len(self.values) > len(self.keys)
        place[gone] = len(self.keys) if answered else 0
        mask = np.zeros(len(place), bool) if answered else gone
        return self.values.take(pa.array(place, mask=mask)).cast(self.type)


def _as_numbers(column: pa.Array) -> Real | None:
    """Return numbers, or numbers with codes; None for anything else."""
    if is_number(column.type):
        return as_numbers(column)
    coded = coded_numbers(column, 0)
    return None if coded is None else coded.numbers


def _sources(table: pa.Table, names: Iterable[str]) -> dict[str, Real]:
    """Return the columns of a formula as floats."""
    out = {name: _as_numbers(table.column(name)) for name in names}
    if any(numbers is None for numbers in out.values()):
        raise InputError(
            "a formula names a column that is not of numbers",
            expected="columns of numbers",
        )
    return cast(dict[str, Real], out)


def given_columns(table: pa.Table, texts: Iterable[str]) -> list[Derived]:
    """Read the derived columns that the user gives."""
    out = []
    for text in texts:
        name, tree = parse_formula(text)
        sources = columns_of(tree)
        for column in (name, *sources):
            what = "a derived column names the unknown column"
            check_column(column, table.column_names, what)
        column = table.column(name)
        if not is_number(column.type):
            raise InputError(
                f"the derived column {name!r} is not of numbers",
                expected="a column of numbers",
            )
        made = evaluate(tree, _sources(table, sources))
        known = as_numbers(column)
        both = ~np.isnan(made) & ~np.isnan(known)
        slack = _RELATIVE_TOLERANCE * (1 + np.abs(known[both]))
        bad = int((np.abs(made - known)[both] > slack).sum())
        found = Derived(
            name, tuple(sources), text.partition("=")[2].strip(), column.type
        )
        out.append(replace(found, exceptions=bad, given=True, formula=tree))
    return out


def find_derived(
    table: pa.Table, kept: set[str], known: Sequence[Derived], min_group: int
) -> list[Derived]:
    """Find columns that others determine; those `kept` are not to be left out."""
    names = [n for n in table.column_names if n not in {d.name for d in known}]
    out: list[Derived] = []
    gone: set[str] = set()

    def free(name: str, sources: Sequence[str]) -> bool:
        basis = {s for d in out for s in d.sources}
        return name not in gone | kept | basis and not gone & set(sources)

    numbers = {n: as_numbers(table.column(n)) for n in names if _is_amount(table, n)}
    for name in names:
        if name in numbers and name not in kept:
            found = _formula(name, numbers, table.column(name).type, free)
            if found is not None:
                out.append(found)
                gone.add(name)
    codes = {n: _codes(table.column(n)) for n in names}
    for name in names:
        for source in names:
            if source == name or not free(name, [source]):
                continue
            found = _function(table, name, source, codes, min_group)
            if found is not None:
                out.append(found)
                gone.add(name)
                break
    return out


def _is_amount(table: pa.Table, name: str) -> bool:
    kind = table.column(name).type
    return is_number(kind) and not pa.types.is_temporal(kind)


def _codes(column: pa.ChunkedArray) -> tuple[Long, int]:
    """Number the values of a column, missing last; return how many there are."""
    encoded = plain_array(column).dictionary_encode()
    many = len(encoded.dictionary)
    return np.asarray(pc.fill_null(encoded.indices, many), np.int64), many


def _function(
    table: pa.Table,
    name: str,
    source: str,
    codes: Mapping[str, tuple[Long, int]],
    min_group: int,
) -> Derived | None:
    """Return a column as a function of another one, if it is."""
    (x, many), (y, levels) = codes[source], codes[name]
    if not 2 <= levels <= many or len(x) < _MIN_RECORDS:
        return None
    place = table.column_names.index
    if levels == many and place(source) > place(name):
        return None
    for rows in (slice(0, _FIRST_RECORDS), slice(None)):
        answer, bad = _usual_answer(x[rows], y[rows], many + 1, levels + 1)
        if bad > MAX_EXCEPTIONS * len(x[rows]):
            return None
    each = np.bincount(x, minlength=many + 1)
    share = np.bincount(y, minlength=levels + 1) / len(y)
    alike = (share[None, :] ** np.maximum(each[each > 1], 1)[:, None]).sum(axis=1)
    if -np.log(np.maximum(alike, 1e-300)).sum() < _MIN_EVIDENCE_NATS:
        return None
    # Levels that few people have are never shown.
    shown = np.flatnonzero((each > 0) & (share[answer] * len(y) >= max(1, min_group)))
    gone = shown[shown == many]
    shown = shown[shown < many]
    if not len(shown):
        return None
    first = np.zeros(many + 1, np.int64)
    first[x] = np.arange(len(x))
    example = np.zeros(levels + 1, np.int64)
    example[y] = np.arange(len(y))
    plain_x, plain_y = (plain_array(table.column(n)) for n in (source, name))
    kept = np.concatenate([shown, gone])
    return Derived(
        name,
        (source,),
        f"a function of {source!r}",
        table.column(name).type,
        bad,
        keys=plain_x.take(pa.array(first[shown])),
        values=plain_y.take(pa.array(example[answer[kept]])),
        usual=int(each[shown].argmax()),
    )


def _usual_answer(x: Long, y: Long, many: int, levels: int) -> tuple[Long, int]:
    """Return the most frequent `y` of each `x`, and how many records have another."""
    cells, count = np.unique(x * levels + y, return_counts=True)
    order = np.argsort(count, kind="stable")
    answer, most = np.zeros(many, np.int64), np.zeros(many, np.int64)
    answer[cells[order] // levels] = cells[order] % levels
    most[cells[order] // levels] = count[order]
    return answer, int(len(x) - most.sum())


# Simple formulas of one or two columns, and how they are written.
_OPERATIONS: tuple[tuple[str, Callable[[Real, Real], Real]], ...] = (
    ("a", lambda a, b: a + 0.0 * b),
    ("a + b", np.add),
    ("a - b", np.subtract),
    ("a * b", np.multiply),
    ("a / b", np.true_divide),
    ("a / b ** 2", lambda a, b: a / b**2),
)


def _formula(
    name: str, numbers: Mapping[str, Real], kind: pa.DataType, free: Any
) -> Derived | None:
    """Return a column as a simple formula of others, if it is."""
    y = numbers[name]
    if np.isnan(y).mean() > 0.5 or len(np.unique(y[~np.isnan(y)])) < 10:
        return None
    digits = _digits(y)
    others = [n for n in numbers if n != name]
    if not others:
        return None
    for text, one, two in _likely(y, np.array([numbers[n] for n in others]), digits):
        sources = [others[one]] if text == "a" else [others[one], others[two]]
        if not free(name, sources):
            continue
        tree = _named(text, sources)
        columns = {s: numbers[s] for s in sources}
        plain = evaluate(tree, columns)
        factor = _factor(plain, y, digits)
        if factor is None:
            continue
        if text == "a" and _rounds(factor, plain, y) and free(sources[0], [name]):
            # The other way round no digit is lost.
            continue
        bad = _differ(factor * plain, y, digits)
        written = ast.unparse(tree)
        how = written if factor == 1.0 else f"{factor:.10g} * {written}"
        scaled = ast.BinOp(ast.Constant(factor), ast.Mult(), tree)
        return Derived(
            name, tuple(sources), how, kind, bad, formula=scaled, digits=digits
        )
    return None


def _likely(y: Real, others: Real, digits: int) -> list[tuple[str, int, int]]:
    """Return the formulas that hold, but for a factor, in some records."""
    rows = np.flatnonzero(~np.isnan(y) & (np.abs(y) > 1e-9))[:_TRIAL_RECORDS]
    if len(rows) < _MIN_RECORDS:
        return []
    seen, known = y[rows], others[:, rows]
    slack = (0.51 * 10.0**-digits if digits < 12 else 0.0) + 1e-9 * np.abs(seen)
    largest = np.argsort(-np.abs(seen))[: max(10, len(rows) // 4)]
    out = []
    with np.errstate(all="ignore"):
        for text, operation in _OPERATIONS:
            for one in range(len(known)):
                made = operation(known[one][None, :], known)
                # Sorting puts what is not a number last.
                ratio = np.sort(seen[largest] / made[:, largest], axis=1)
                many = (~np.isnan(ratio)).sum(axis=1)
                middle = np.minimum(many // 2, ratio.shape[1] - 1)
                factor = ratio[np.arange(len(ratio)), middle]
                holds = np.abs(factor[:, None] * made - seen) <= 4 * slack
                for two in np.flatnonzero(holds.mean(axis=1) > _TRIAL_SHARE):
                    if text == "a" or two != one:
                        out.append((text, one, int(two)))
    return out


def _named(text: str, sources: Sequence[str]) -> ast.expr:
    """Read a simple formula with the names of its columns in it."""
    names = dict(zip("ab", sources, strict=False))

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(names[node.id], ast.Load())

    tree: ast.expr = Rename().visit(ast.parse(text, mode="eval").body)
    return tree


def _factor(made: Real, y: Real, digits: int) -> float | None:
    """Return the constant that a formula is to be multiplied by, if there is one."""
    both = ~np.isnan(made) & ~np.isnan(y)
    if both.sum() < 0.5 * (~np.isnan(y)).sum() or both.sum() < _MIN_RECORDS:
        return None
    most = MAX_EXCEPTIONS * len(y)
    large = both & (np.abs(made) > 1e-9) & (np.abs(y) > 1e-9)
    if large.sum() < _MIN_RECORDS:
        return None
    # Of the largest values, which rounding touches least.
    ratio = y[large] / made[large]
    weight = np.argsort(-np.abs(y[large]))[: max(_MIN_RECORDS, int(large.sum()) // 4)]
    factor = float(np.median(ratio[weight]))
    if np.ptp(made[both]) == 0.0 or not np.isfinite(factor):
        return None
    # The shortest number that does is the one that was meant.
    some = slice(0, _FIRST_RECORDS)
    for length in range(1, 13):
        nice = float(f"{factor:.{length}g}")
        if _differ(nice * made[some], y[some], digits) <= MAX_EXCEPTIONS * len(y[some]):
            return nice if _differ(nice * made, y, digits) <= most else None
    return None


def _rounds(factor: float, x: Real, y: Real) -> bool:
    """Whether a multiple is exact in these records and would not be in others.

    An income that is five times a tax written with one digit is whole in all records;
    five times another such tax is not.
    """
    off = np.abs(factor * x - y)
    if np.nanmax(off / (1 + np.abs(y))) > 1e-9:
        return False
    step = factor * 10.0 ** -_digits(x)
    return bool(abs(step - np.round(step, _digits(y))) > 1e-9 * abs(step))


def _differ(made: Real, y: Real, digits: int) -> int:
    """Count records in which a formula does not give the column, rounding aside."""
    absent = np.isnan(made) != np.isnan(y)
    both = ~np.isnan(made) & ~np.isnan(y)
    slack = 0.51 * 10.0**-digits if digits < 12 else 0.0
    near = slack + 1e-9 * np.abs(y[both])
    return int(absent.sum() + (np.abs(made[both] - y[both]) > near).sum())


def _digits(y: Real) -> int:
    known = y[~np.isnan(y)]
    for digits in range(8):
        if np.allclose(known, np.round(known, digits), rtol=0, atol=1e-9):
            return digits
    return 15


def with_derived(
    table: pa.Table, derived: Sequence[Derived], order: Sequence[str]
) -> pa.Table:
    """Add derived columns to a copy, in the order of the original."""
    for column in derived:
        table = table.append_column(
            pa.field(column.name, column.type), column.compute(table)
        )
    return table.select([n for n in order if n in table.column_names])
