"""Contributors to cells, as the generator of Smith et al. (2011) draws them."""

from __future__ import annotations

import numpy as np

from evosdc.instances.grid import Amounts

# Contributions are kept to hundredths and below this: -1/log r has no mean, and one
# giant would use up the digits that make totals exact.
UNIT_DECIMALS = 2
_LARGEST = 1e9


def contributors(
    size: tuple[int, ...], mean: float, rng: np.random.Generator
) -> tuple[Amounts, Amounts]:
    """Draw how many contribute to each inner cell, and how much in all.

    Numbers are Poisson with the given mean, each contribution is -1/log r for a random
    r between 0 and 1 (section VII of the source). Amounts count hundredths.
    """
    counts = rng.poisson(mean, size=size).astype(np.int64)
    cell = np.repeat(np.arange(counts.size), counts.ravel())
    # -log r is a standard exponential.
    each = 1 / np.maximum(rng.exponential(size=len(cell)), 1 / _LARGEST)
    hundredths = np.maximum(np.rint(each * 10**UNIT_DECIMALS), 1).astype(np.int64)
    amount = np.zeros(counts.size, dtype=np.int64)
    np.add.at(amount, cell, hundredths)
    return counts, amount.reshape(size)
