"""The distances of a candidate straight from its tables, with no counters kept.

A child's tables are counted one after the other in the same small room. Its
Jensen-Shannon terms are added up while a table is still there; only kinds of distance
that need more than one cell at a time go by way of counters.
"""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel
from evosdc.synth.objective.tables import fill_weights, group_values, table_sum
from evosdc.synth.objective.tally import tally_columns


@kernel(inner=True)
def price_columns(target, room, columns, counts, outside, weights):  # type: ignore[no-untyped-def]
    """Return the objectives of a candidate given by column."""
    index, direct, words, logs = target.cells, target.direct, target.words, target.logs
    sums = np.zeros(len(direct))
    tally_columns(index, room, columns, direct, words, logs, counts, outside, sums)
    fill_weights(target, counts, weights)
    for t in range(len(sums)):
        if direct[t]:
            sums[t] += target.constant[t]
        else:
            sums[t] = table_sum(target, t, counts, outside, weights)
    return group_values(target, sums)
