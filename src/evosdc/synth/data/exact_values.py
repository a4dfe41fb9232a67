"""Keys as they are in the file: the exact value that a level of a record stands for.

A search works with levels: bins of incomes, pooled rare values. An intruder meets the
values that are written. So each record draws in advance, before the search starts: a
level that stands for several values has one of them for each record, the same in every
candidate. Risks are then measured on what the file will say, to the last digit, and the
copy that is written is decoded by the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.arrays import Int, Long
from evosdc.compile.kernels import kernel
from evosdc.metrics.data import bin_codes, exact_codes
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.variable import Variable

_STREAM = 3


class LevelValues(NamedTuple):
    """What value a level stands for, record by record; plain arrays for kernels.

    Of variable `j` with ``first[j] >= 0``, level `v` has the entry
    ``head[first[j] + v]``: the number of its one value, -1 for a value that the
    original does not have, or ``-2 - s`` where record `i` has the value
    ``drawn[s + i]``. Other variables are taken by their levels.
    """

    first: Long
    head: Long
    drawn: Int


@dataclass(frozen=True, eq=False)
class ExactCodes:
    """The original by exact values: codes, how many values there are, and whose."""

    codes: Int
    sizes: Long
    values: LevelValues


def levels_are_values(variables: int) -> LevelValues:
    """Return the values of variables whose levels are their values."""
    none = np.full(variables, -1, np.int64)
    return LevelValues(none, np.zeros(1, np.int64), np.zeros(1, np.int32))


def as_level_values(exact: NDArray[np.integer]) -> tuple[Codes, LevelValues]:
    """Return records by exact values as records of one level each, with its values.

    So kernels have codes of one width to count, whatever they stand for.
    """
    records, variables = exact.shape
    first = np.arange(variables, dtype=np.int64)
    values = LevelValues(first, -2 - records * first, exact.T.ravel().astype(np.int32))
    return np.zeros(exact.shape, np.int16), values


def by_levels(codes: Codes, sizes: Long) -> ExactCodes:
    """Return an original whose levels are its values."""
    return ExactCodes(codes.astype(np.int32), sizes, levels_are_values(codes.shape[1]))


def exact_values(
    table: pa.Table,
    domain: Domain,
    codes: Codes,
    key: tuple[int, ...] | None,
    target: int | None,
    seed: int,
) -> ExactCodes:
    """Number the values of key and target as an evaluation of the file does."""
    if key is None or target is None:
        return by_levels(codes, domain.sizes)
    # Not in order of their values where levels are values, but equal where these are.
    exact, sizes = codes.astype(np.int32), domain.sizes.copy()
    first = np.full(len(sizes), -1, np.int64)
    heads: list[Long] = []
    draws: list[Int] = []
    begin = width = 0
    for j in (*key, target):
        variable = domain.variables[j]
        made, several = _drawn_values(variable, j, len(codes), seed)
        parts = [table.column(variable.name), pa.chunked_array([made])]
        numbers = (bin_codes if j == target else exact_codes)(variable.name, parts)
        seen, mine = np.unique(numbers[: len(codes)], return_inverse=True)
        place = np.full(int(numbers.max()) + 1, -1, np.int32)
        place[seen] = np.arange(len(seen))
        drawn = place[numbers[len(codes) :]]
        head = drawn[: variable.size].astype(np.int64)
        if not len(several) and _one_to_one(head, len(seen)):
            continue
        head[several] = -2 - width - len(codes) * np.arange(len(several))
        heads.append(head)
        draws.append(drawn[variable.size :])
        exact[:, j], sizes[j], first[j] = mine, len(seen), begin
        begin += variable.size
        width += len(draws[-1])
    if not heads:
        return ExactCodes(exact, sizes, levels_are_values(len(sizes)))
    values = LevelValues(first, np.concatenate(heads), np.concatenate(draws))
    return ExactCodes(exact, sizes, values)


def to_exact(codes: Codes, exact: ExactCodes) -> Int:
    """Return a candidate by exact values; one code stands for all that are new."""
    out = codes.astype(np.int32)
    first, head, drawn = exact.values
    for j in np.flatnonzero(first >= 0):
        found = head[first[j] + codes[:, j].astype(np.int64)]
        several = np.flatnonzero(found < -1)
        found[several] = drawn[several - found[several] - 2]
        out[:, j] = np.where(found < 0, exact.sizes[j], found)
    return out


def _one_to_one(head: Long, values: int) -> bool:
    """Whether every level is one value of the original: then levels say it all."""
    return len(head) == values and len(np.unique(head[head >= 0])) == values


def _drawn_values(
    variable: Variable, j: int, records: int, seed: int
) -> tuple[pa.Array, Long]:
    """Return what every level stands for, then each level of several values by record.

    Also says which levels the latter are.
    """
    several = np.flatnonzero(np.bincount(variable.level, minlength=variable.size) > 1)
    parts = [_decoded(variable, np.arange(variable.size), seed, j)]
    parts += [_decoded(variable, np.full(records, v), seed, j) for v in several]
    return pa.concat_arrays(parts), several


def _decoded(
    variable: Variable, levels: NDArray[np.integer], seed: int, j: int
) -> pa.Array:
    rng = np.random.default_rng([seed, _STREAM, j])
    return variable.decode(levels.astype(np.int16), rng)


def with_drawn_values(
    table: pa.Table, domain: Domain, codes: Codes, seed: int, columns: list[int]
) -> pa.Table:
    """Put the values that the records of a candidate drew into a table."""
    for j in columns:
        # A record's draws are the same whatever its level, as in `_drawn_values`.
        made = _decoded(domain.variables[j], codes[:, j], seed, j)
        table = table.set_column(j, domain.schema.field(j), made)
    return table


@kernel(inner=True)
def exact_number(  # type: ignore[no-untyped-def]
    members, steps, order, first, head, drawn, t, i, record
):
    """Return the cell number of record `i` in table `t` by exact values.

    It is -1 where a value is one that the original does not have.
    """
    out = np.int64(0)
    for position in range(order[t]):
        j = members[t, position]
        value = np.int64(record[j])
        if first[j] >= 0:
            value = head[first[j] + value]
            if value < -1:
                value = np.int64(drawn[i - value - 2])
            if value < 0:
                return np.int64(-1)
        out += steps[t, position] * value
    return out
