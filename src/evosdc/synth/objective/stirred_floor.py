"""The noise floor of a search that aims at stirred records.

A fresh sample of the same population is further from stirred records than from the
original. A search that may come as near to them as a fresh sample is to the original
would be nearer to the original than that; so its floor is raised by as much as stirring
drives a fresh sample away, measured on halves of the original.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.synth.data.encoding import Codes, Ints
from evosdc.synth.objective.noise import deep, distances
from evosdc.synth.objective.pairs import stir
from evosdc.synth.objective.tables import Component

Floats = NDArray[np.float64]

_SPLITS = 2


def raised(
    fresh: Floats,
    codes: Codes,
    sizes: Ints,
    components: tuple[Component, ...],
    free: Ints,
    ordered: NDArray[np.bool_],
    least: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the floors of some objectives against stirred records.

    Only tables of three and more variables are counted from those.
    """
    if least < 2 or not deep(components).any():
        return fresh
    half = len(codes) // 2
    plain, moved = np.zeros(len(components)), np.zeros(len(components))
    for _ in range(_SPLITS):
        order = rng.permutation(len(codes))
        one, two = codes[order[:half]], codes[order[half : 2 * half]]
        stirred = stir(one, sizes, free, ordered, least, rng).records
        plain += distances(two, one, sizes, components)
        moved += distances(two, stirred, sizes, components)
    factor = np.maximum(1.0, moved / np.maximum(plain, 1e-12))
    return np.where(deep(components), np.minimum(fresh * factor, 1.0), fresh)
