"""Two files side by side as integer codes: what every metric sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.metrics.binning import (
    BINS,
    MOST_DISTINCT,
    as_numbers,
    is_number,
    quantile_cuts,
)
from evosdc.metrics.coded_numbers import CodedNumbers, as_coded, coded_numbers

MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Categorical:
    """A file of categories.

    Files encoded together share names, levels and labels, so that equal codes mean
    equal values.

    Attributes
    ----------
    codes
        One row per record and one column per variable, column by column in memory.
    names
        The variables.
    levels
        How many levels each variable has over all files encoded together.
    target
        Column of the sensitive variable.
    key
        Columns an intruder is taken to know.
    labels
        The names of the levels, that of missing values last.
    ordered
        Whether the codes of a variable follow an order (bins of a number do).
    missing
        Whether the last level of a variable stands for missing values.
    """

    codes: NDArray[np.int32]
    names: tuple[str, ...]
    levels: tuple[int, ...]
    target: int
    key: tuple[int, ...]
    labels: tuple[tuple[str, ...], ...]
    ordered: tuple[bool, ...]
    missing: tuple[bool, ...]

    @property
    def rows(self) -> int:
        """How many records there are."""
        return int(self.codes.shape[0])

    @property
    def columns(self) -> int:
        """How many variables there are."""
        return int(self.codes.shape[1])

    def with_codes(self, codes: NDArray[np.integer]) -> Categorical:
        """Return other records of the same variables."""
        return replace(self, codes=np.asfortranarray(codes, dtype=np.int32))

    def take(self, rows: NDArray[np.intp]) -> Categorical:
        """Return the records `rows`, in that order."""
        return self.with_codes(self.codes[rows])


def from_codes(
    codes: NDArray[np.integer] | Sequence[Sequence[int]],
    *,
    key: Sequence[int],
    target: int,
    levels: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    ordered: Sequence[bool] | None = None,
) -> Categorical:
    """Wrap an array of codes that is already encoded (a synthesiser has one).

    `levels` is needed where another file has a level that this one has not.
    """
    array = np.asfortranarray(codes, dtype=np.int32)
    columns = array.shape[1]
    sizes = (
        tuple(int(v) for v in levels)
        if levels is not None
        else tuple(int(array[:, j].max()) + 1 for j in range(columns))
    )
    return Categorical(
        codes=array,
        names=tuple(names or (f"v{j + 1}" for j in range(columns))),
        levels=sizes,
        target=target,
        key=tuple(key),
        labels=tuple(tuple(str(v) for v in range(size)) for size in sizes),
        ordered=tuple(ordered) if ordered is not None else (False,) * columns,
        missing=(False,) * columns,
    )


def encode_frames(
    frames: Sequence[Any],
    key: Sequence[str] | None,
    target: str,
    *,
    bins: int = BINS,
    max_distinct: int = MOST_DISTINCT,
) -> tuple[Categorical, ...]:
    """Encode frames of the same variables with the same codes.

    Parameters
    ----------
    frames
        Frames of any kind (see `evosdc.frames`); the first is the original.
    key
        The variables an intruder knows; all but the target where `None`.
    target
        The sensitive variable.
    bins
        Numbers are cut into this many bins by quantiles of the original (see
        `evosdc.metrics.binning`) ...
    max_distinct
        ... where the original has more distinct values than this. Missing values are
        a level of their own.
    """
    tables, names = _tables(frames)
    target_index, key_indices = _roles(names, key, target)
    encoded = [
        _encode_column(name, [t.column(name) for t in tables], bins, max_distinct)
        for name in names
    ]
    return _files(tables, names, encoded, key_indices, target_index)


def encode_exact(
    frames: Sequence[Any], key: Sequence[str] | None, target: str
) -> tuple[Categorical, ...]:
    """Encode frames with every value as it is in its file: nothing is binned.

    Risks use this coding, here and in the search: an intruder knows the key as it is.
    Only a target that is a number of many values is taken in bins (see `bin_codes`),
    which are a column of their own, the last.
    """
    tables, names = _tables(frames)
    at, key_indices = _roles(names, key, target)
    encoded = [_exact_column(name, [t.column(name) for t in tables]) for name in names]
    wanted = _binned_column(target, [t.column(target) for t in tables])
    if len(wanted.labels) != encoded[at].size:
        return _files(
            tables, (*names, target), [*encoded, wanted], key_indices, len(names)
        )
    encoded[at] = wanted
    return _files(tables, names, encoded, key_indices, at)


def exact_codes(name: str, parts: Sequence[Any]) -> NDArray[np.int32]:
    """Return the codes of a column of several files, joined: equal values, equal codes.

    Missing values have the last code.
    """
    return _exact_column(name, parts).codes


def bin_codes(name: str, parts: Sequence[Any]) -> NDArray[np.int32]:
    """Return the codes of a column of several files, joined, numbers in bins.

    The first file decides on the bins, as in `encode_frames`. Targets are taken like
    this: who learns an income nearly has learnt it.
    """
    return _binned_column(name, parts).codes


def _files(
    tables: Sequence[pa.Table],
    names: tuple[str, ...],
    encoded: Sequence[_Column],
    key: tuple[int, ...],
    target: int,
) -> tuple[Categorical, ...]:
    starts = np.cumsum([0] + [table.num_rows for table in tables])
    stacked = np.asfortranarray(np.column_stack([e.codes for e in encoded]))
    return tuple(
        Categorical(
            codes=np.asfortranarray(stacked[a:b]),
            names=names,
            levels=tuple(e.size for e in encoded),
            target=target,
            key=key,
            labels=tuple(e.labels for e in encoded),
            ordered=tuple(e.ordered for e in encoded),
            missing=tuple(e.missing for e in encoded),
        )
        for a, b in pairwise(starts)
    )


@dataclass(frozen=True)
class _Column:
    codes: NDArray[np.int32]
    labels: tuple[str, ...]
    ordered: bool
    size: int
    missing: bool


def _exact_column(name: str, parts: Sequence[Any]) -> _Column:
    column = _encode_column(name, parts, 1, None)
    # Labels of many values would only take memory: a risk names no value of a key.
    return replace(column, labels=())


def _binned_column(name: str, parts: Sequence[Any]) -> _Column:
    return _encode_column(name, parts, BINS, MOST_DISTINCT)


def _tables(frames: Sequence[Any]) -> tuple[list[pa.Table], tuple[str, ...]]:
    """Return the frames as Arrow tables of the same variables, and their names."""
    tables = [to_arrow(frame) for frame in frames]
    names = tuple(tables[0].column_names)
    for table in tables:
        if table.num_rows == 0:
            raise InputError(
                "a frame without records", expected="at least one record in each file"
            )
        _refuse_other_columns(names, table)
    return tables, names


def _refuse_other_columns(names: tuple[str, ...], table: pa.Table) -> None:
    found = set(table.column_names)
    missing = [name for name in names if name not in found]
    extra = sorted(found.difference(names))
    if missing or extra:
        raise InputError(
            f"the files differ in their variables: missing {missing}, extra {extra}",
            expected="the same variables in every file",
            hint="drop or rename columns until the files agree",
        )


def _roles(
    names: tuple[str, ...], key: Sequence[str] | None, target: str
) -> tuple[int, tuple[int, ...]]:
    known = ", ".join(names)
    chosen = [n for n in names if n != target] if key is None else list(key)
    for name in [target, *chosen]:
        if name not in names:
            raise InputError(f"unknown variable {name!r}", expected=f"one of {known}")
    if target in chosen:
        raise InputError(
            f"the key includes the target {target!r}",
            expected="a key of other variables",
            hint="take the target out of the key",
        )
    if not chosen:
        raise InputError("the key is empty", expected="at least one key variable")
    return names.index(target), tuple(names.index(name) for name in chosen)


def _encode_column(
    name: str,
    parts: Sequence[Any],
    bins: int,
    max_distinct: int | None,
) -> _Column:
    kinds = {_kind(part.type) for part in parts}
    if len(kinds) > 1:
        raise InputError(
            f"variable {name!r} is {' and '.join(sorted(kinds))} in different files",
            expected="the same type in every file",
            hint="read all files with the same types",
        )
    if kinds == {"number"}:
        numbers = [as_numbers(part) for part in parts]
        return _encode_numbers(numbers, bins, max_distinct)
    if max_distinct is not None:
        first = coded_numbers(parts[0], max_distinct)
        if first is not None:
            return _encode_coded(first, parts, bins, max_distinct)
    return _encode_text(parts)


def _kind(kind: pa.DataType) -> str:
    return "number" if is_number(kind) else "text"


def _encode_numbers(
    parts: Sequence[NDArray[np.float64]],
    bins: int,
    max_distinct: int | None,
) -> _Column:
    """Number the values of all files, or bins of them where the original has many.

    The original decides on bins and their edges: a synthetic file must not choose how
    it is compared.
    """
    values = np.concatenate(parts)
    absent = np.isnan(values)
    source, counts = np.unique(parts[0][~np.isnan(parts[0])], return_counts=True)
    if max_distinct is None or len(source) <= max_distinct:
        known = values[~absent]
        if max_distinct is not None:
            known = _in_steps(known, source)
        distinct, codes = np.unique(known, return_inverse=True)
        labels = tuple(f"{v:g}" for v in distinct)
    else:
        edges = quantile_cuts(source, counts.astype(float), bins).edges
        codes = np.searchsorted(edges, values[~absent], side="right")
        ends = ["-inf", *(f"{v:g}" for v in edges), "inf"]
        # A bin before the least number, where that one is special, may hold nothing.
        found, codes = np.unique(codes, return_inverse=True)
        labels = tuple(f"[{ends[k]}, {ends[k + 1]})" for k in found)
    return _with_missing(codes, absent, labels, ordered=True)


def _in_steps(
    values: NDArray[np.float64], source: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return each value, or one of the original that is less than half a step away.

    A step is the least difference of two values of the original: a little noise must
    not turn every value into a new level.
    """
    if len(source) < 2:
        return values
    middles = (source[:-1] + source[1:]) / 2
    nearest = source[np.searchsorted(middles, values)]
    near = np.abs(values - nearest) < np.diff(source).min() / 2
    return np.where(near, nearest, values)


def _encode_coded(
    first: CodedNumbers, parts: Sequence[Any], bins: int, max_distinct: int
) -> _Column:
    """Encode numbers with codes among them: bins, then the codes, then missing."""
    others: list[CodedNumbers] = []
    labels = first.labels
    for part in parts:
        others.append(as_coded(part, labels))
        labels = others[-1].labels
    numbers = _encode_numbers([part.numbers for part in others], bins, max_distinct)
    codes = np.concatenate([part.codes for part in others])
    known = len(numbers.labels) - numbers.missing
    absent = np.concatenate([part.absent for part in others])
    found = np.where(codes >= 0, known + codes, numbers.codes)
    every = (*numbers.labels[:known], *labels)
    return _with_missing(found[~absent], absent, every, ordered=False)


def _encode_text(parts: Sequence[Any]) -> _Column:
    plain = [
        part.cast(part.type.value_type) if pa.types.is_dictionary(part.type) else part
        for part in parts
    ]
    texts = [pc.cast(part, pa.large_string()) for part in plain]
    joined = pa.chunked_array([c for text in texts for c in _chunks(text)])
    encoded = joined.combine_chunks().dictionary_encode()
    found = encoded.dictionary.to_pylist()
    order = _stated_order(parts[0], found) or sorted(found)
    place = {label: code for code, label in enumerate(order)}
    lookup = np.array([place[label] for label in found], dtype=np.int64)
    absent = np.asarray(encoded.is_null())
    codes = lookup[np.asarray(encoded.indices.drop_null())]
    return _with_missing(codes, absent, tuple(order), ordered=_is_ordered(parts[0]))


def _chunks(part: Any) -> list[Any]:
    return part.chunks if isinstance(part, pa.ChunkedArray) else [part]


def _is_ordered(part: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_dictionary(part.type) and part.type.ordered)


def _stated_order(part: pa.ChunkedArray, found: list[str]) -> list[str]:
    """Return the order of an ordered factor, then the levels it does not know."""
    if not _is_ordered(part) or part.num_chunks == 0:
        return []
    stated = [str(v) for v in part.chunk(0).dictionary.to_pylist()]
    present = set(found)
    known = set(stated)
    return [v for v in stated if v in present] + sorted(present - known)


def _with_missing(
    codes: NDArray[np.integer],
    absent: NDArray[np.bool_],
    labels: tuple[str, ...],
    *,
    ordered: bool,
) -> _Column:
    out = np.full(len(absent), len(labels), dtype=np.int32)
    out[~absent] = codes
    missing = bool(absent.any())
    if missing:
        labels = (*labels, MISSING)
    return _Column(out, labels, ordered, len(labels), missing)
