"""The entropy measure of attribute disclosure in frequency tables."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, prod, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from evosdc.metrics.counts import cell_counts
from evosdc.metrics.data import Categorical
from evosdc.metrics.divergence import TableMetric

Floats = NDArray[np.float64]


def conditional_entropy(p: Floats, q: Floats) -> float:
    """Return H(X|Y) in nats under the coupling that keeps most records in place.

    Nobody knows which synthetic record stands for which original one. The coupling
    with the most unchanged records favours the intruder: cell `j` keeps min(p, q), and
    its surplus comes from the cells in deficit in proportion to what they lack.
    """
    surplus, deficit = np.maximum(q - p, 0.0), np.maximum(p - q, 0.0)
    moved = float(surplus.sum())
    if moved <= 0:
        return 0.0
    source = float(entr(deficit / moved).sum())
    gained = surplus > 0
    kept, lost = p[gained] / q[gained], surplus[gained] / q[gained]
    within = entr(kept) + entr(lost) + lost * source
    return float((q[gained] * within).sum())


def table_risk(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    cells: int,
    weights: tuple[float, float, float],
) -> float:
    """Return the risk of a table from the counts of its occupied cells.

    `first` is the original, `second` the synthetic table; of the `cells` in all, those
    not listed are empty in both.
    """
    rows = int(first.sum())
    unlisted = cells - len(first)
    zeros = unlisted + int((first == 0).sum())
    either = unlisted + int(((first == 0) | (second == 0)).sum())
    both = unlisted + int(((first == 0) & (second == 0)).sum())
    # Without a common zero the exponent is infinite: zeros tell nothing.
    empty = (zeros / cells) ** (either / both) if both else 0.0
    p, q = first / rows, second / int(second.sum())
    entropy = float(entr(p).sum())
    shape = 0.0
    if cells > 1:
        known = 1 - conditional_entropy(p, q) / entropy if entropy > 0 else 1.0
        shape = max(0.0, 1 - entropy / log(cells)) * min(1.0, max(0.0, known))
    size = log(np.e * sqrt(rows)) / sqrt(rows)
    return weights[0] * empty + weights[1] * shape + weights[2] * size


@dataclass(frozen=True)
class EntropyRisk(TableMetric):
    """Attribute risk of tables after protection: zeros, uniformity and size.

    The weighted mean of (|D|/K)^(|D or E| / |D and E|), of
    (1 - H(X)/ln K)(1 - H(X|Y)/H(X)) and of ln(e sqrt N)/sqrt N, where D and E are the
    zeros of the original and the synthetic table, K its cells and N its records.
    """

    weights: tuple[float, float, float] = (0.1, 0.8, 0.1)

    kind = "risk"
    stem = "entropy_risk"
    ways_measured = (2,)
    label = "Entropy measure of attribute risk"
    source = (
        "Antal, Shlomo and Elliot (2014), Privacy in Statistical Databases, LNCS 8744; "
        "Chen (2020), equation 2.5"
    )

    def of_table(
        self, original: Categorical, synthetic: Categorical, columns: tuple[int, ...]
    ) -> float:
        """Return the risk of one table, over all levels the variables can take."""
        a, b = cell_counts(original, synthetic, columns)
        cells = prod(original.levels[column] for column in columns)
        return table_risk(a, b, cells, self.weights)
