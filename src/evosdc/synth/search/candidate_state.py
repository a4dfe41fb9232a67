"""What is known of a candidate while it anneals, and how a move changes it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes, Ints
from evosdc.synth.objective.covariances import covariance_value
from evosdc.synth.objective.prices import price, slope_of
from evosdc.synth.objective.risk import risk_totals
from evosdc.synth.objective.tables import group_values, table_sums, table_value

Floats = NDArray[np.float64]


class CandidateState(NamedTuple):
    """What is known of a candidate while it anneals; moves keep it true."""

    codes: Codes
    counts: NDArray[np.int32]
    outside: Ints
    weights: Floats
    keys: NDArray[np.int32]
    products: Floats
    sums: Floats
    values: Floats
    slope: Floats
    groups: Floats
    up: Floats
    down: Floats
    totals: Floats
    risks: Floats


@kernel(inner=True)
def state_of(  # type: ignore[no-untyped-def]
    target, risk, guide, codes, counts, outside, weights, keys, products
):
    """Return what moves need to know of a candidate, from its counters."""
    kinds, records, reference = target.kind, target.records, target.reference
    sums = table_sums(target, counts, outside, weights)
    values = np.empty(len(sums))
    slope = np.empty(len(sums))
    up = np.zeros(len(counts))
    down = np.zeros(len(counts))
    for t in range(len(sums)):
        values[t] = table_value(
            kinds[t],
            sums[t],
            records,
            target.degree[t],
            reference[t],
            target.noise[t],
        )
        weight = guide[target.group[t]]
        slope[t] = slope_of(
            kinds[t], values[t], reference[t], target.noise[t], weight, records
        )
        for cell in range(target.cells.first[t], target.cells.first[t + 1]):
            price(
                kinds[t], cell, target.original, counts, target.logs, weights, up, down
            )
    groups = group_values(target, sums)
    if len(products) > 0:
        groups[len(groups) - 1] = covariance_value(
            target.covariances, products, records
        )
    totals = risk_totals(risk, keys)
    return CandidateState(
        codes,
        counts,
        outside,
        weights,
        keys,
        products,
        sums,
        values,
        slope,
        groups,
        up,
        down,
        totals,
        totals * risk.scale,
    )


@kernel(inline="always")
def renew_table(target, candidate, guide, t, change):  # type: ignore[no-untyped-def]
    """Give table `t` the sum that a move leaves it with, and what follows from it."""
    candidate.sums[t] += change
    candidate.values[t] = table_value(
        target.kind[t],
        candidate.sums[t],
        target.records,
        target.degree[t],
        target.reference[t],
        target.noise[t],
    )
    candidate.slope[t] = slope_of(
        target.kind[t],
        candidate.values[t],
        target.reference[t],
        target.noise[t],
        guide[target.group[t]],
        target.records,
    )


@kernel(inline="always")
def count_record(target, candidate, t, cell, sign):  # type: ignore[no-untyped-def]
    """Let a record enter (1) or leave (-1) a cell of table `t`; renew its prices."""
    if cell < 0:
        candidate.outside[t] += sign
    else:
        candidate.counts[cell] += sign
        price(
            target.kind[t],
            cell,
            target.original,
            candidate.counts,
            target.logs,
            candidate.weights,
            candidate.up,
            candidate.down,
        )
