"""Disclosure risk by key: counters that a move changes in constant time.

A key is a combination of the key variables that the original has; a pair is a key with
a target value that the original has. Synthetic records elsewhere carry no risk in
these measures. Keys and targets are taken by their exact values, as an evaluation of
the written file takes them (see `LevelValues`). With `s` synthetic and `o` original
counts:

- dcap: mean over original records of s(key, target) / s(key), no match scoring 0;
- dcap-u: the same over the records whose key is unique in the original
  (Taub et al. 2018);
- uniques: keys unique in both, as a share of the synthetic records;
- disco: original records whose key has one target value in the synthetic data, and it
  is theirs (Raab et al. 2024).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes, TableIndex, build_index, cell_at
from evosdc.synth.data.exact_values import LevelValues, exact_number, levels_are_values

RISKS = ("dcap", "dcap-u", "uniques", "disco")
DCAP, DCAP_U, UNIQUES, DISCO = 0, 1, 2, 3


class RiskIndex(NamedTuple):
    """Keys and pairs of the original; plain arrays for kernels.

    `cells` has two tables: the keys and the pairs. The pairs of key `k` are
    ``pair_cell[pair_start[k]:pair_start[k + 1]]``. `role` says of each variable whether
    it moves keys (1), pairs only (2) or none (0).
    """

    cells: TableIndex
    original: Int
    pair_start: Long
    pair_cell: Int
    role: NDArray[np.int8]
    scale: Real
    keys: int
    by_value: bool
    values: LevelValues


def build_risk(
    codes: Any,
    sizes: Long,
    key: tuple[int, ...],
    target: int,
    values: LevelValues | None = None,
) -> RiskIndex:
    """Index the keys and pairs of the original, given by exact values.

    `values` lead there from a candidate's levels; without them levels are values.
    """
    index, original, inverses = build_index(codes, sizes, [key, (*key, target)])
    values = levels_are_values(codes.shape[1]) if values is None else values
    keys = int(index.first[1])
    seen, where = np.unique(inverses[1], return_index=True)
    pair_key = inverses[0][where]
    order = np.argsort(pair_key, kind="stable")
    start = np.searchsorted(pair_key[order], np.arange(keys + 1))
    cells = (seen[order] + keys).astype(np.int32)
    role = np.zeros(codes.shape[1], np.int8)
    role[list(key)] = 1
    role[target] = 2
    unique = int((original[:keys] == 1).sum())
    n = float(len(codes))
    scale = np.array([1 / n, 1 / max(1, unique), 1 / n, 1 / n])
    by_value = bool((values.first >= 0).any())
    return RiskIndex(index, original, start, cells, role, scale, keys, by_value, values)


def no_risk(codes: Codes, sizes: Long) -> RiskIndex:
    """Return an index without keys: nothing is measured."""
    variables = codes.shape[1]
    index, original, _ = build_index(codes[:1], sizes, [(0,), (0,)])
    start, cells = np.zeros(1, np.int64), np.zeros(1, np.int32)
    role, values = np.zeros(variables, np.int8), levels_are_values(variables)
    return RiskIndex(index, original, start, cells, role, np.ones(4), 0, False, values)


@kernel(nogil=True)
def count_exact(risk, codes, counts):  # type: ignore[no-untyped-def]
    """Count the keys and pairs of a candidate by the exact values of its records."""
    members, steps, order = risk.cells.members, risk.cells.steps, risk.cells.order
    heads, dense, hashes = risk.cells.heads, risk.cells.dense, risk.cells.hashes
    first, head, drawn = risk.values
    counts[:] = 0
    for i in range(len(codes)):
        for t in range(2):
            number = exact_number(
                members, steps, order, first, head, drawn, t, i, codes[i]
            )
            if number == -1:
                break
            cell = cell_at(heads, dense, hashes, t, number)
            if cell < 0:
                break
            counts[cell] += 1


@kernel(inner=True)
def key_risk(original, start, pairs, counts, k, out, sign):  # type: ignore[no-untyped-def]
    """Add `sign` times the contributions of key `k` to the risk totals."""
    s = counts[k]
    if s == 0:
        return
    unique = original[k] == 1
    if unique and s == 1:
        out[UNIQUES] += sign
    inverse = sign / s
    for p in range(start[k], start[k + 1]):
        cell = pairs[p]
        c = counts[cell]
        if c > 0:
            share = original[cell] * c * inverse
            out[DCAP] += share
            if unique:
                out[DCAP_U] += share
            if c == s:
                out[DISCO] += sign * original[cell]


@kernel(nogil=True)
def risk_totals(risk, counts):  # type: ignore[no-untyped-def]
    """Return the unscaled totals of the four risks."""
    original, start, pairs = risk.original, risk.pair_start, risk.pair_cell
    out = np.zeros(4)
    for k in range(risk.keys):
        key_risk(original, start, pairs, counts, k, out, 1.0)
    return out
