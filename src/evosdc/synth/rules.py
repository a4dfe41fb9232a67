"""Combinations that cannot be: structural zeros and user rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from evosdc.synth.encoding import Ints


class RuleIndex(NamedTuple):
    """Forbidden cells of some small tables; plain arrays for kernels."""

    stride: Ints
    start: Ints
    forbidden: NDArray[np.bool_]
    touch_start: Ints
    touch: NDArray[np.int32]


def no_rules(variables: int) -> RuleIndex:
    """Return an index that forbids nothing."""
    return RuleIndex(
        np.zeros((0, variables), np.int64),
        np.zeros(0, np.int64),
        np.zeros(0, np.bool_),
        np.zeros(variables + 1, np.int64),
        np.zeros(0, np.int32),
    )


@njit(cache=True)
def breaks(rules, record, j):  # type: ignore[no-untyped-def]
    """Say whether a record breaks a rule that variable `j` has a part in."""
    for w in range(rules.touch_start[j], rules.touch_start[j + 1]):
        r = rules.touch[w]
        number = np.int64(0)
        for v in range(len(record)):
            number += rules.stride[r, v] * np.int64(record[v])
        if rules.forbidden[rules.start[r] + number]:
            return True
    return False
