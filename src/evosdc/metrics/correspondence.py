"""Multiple correspondence analysis: do the categories have the same coordinates?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, svd

from evosdc.metrics.base import Breakdown, Metric
from evosdc.metrics.data import Categorical
from evosdc.metrics.deadline import check_time
from evosdc.metrics.logistic import pair_sums

Floats = NDArray[np.float64]


def category_coordinates(
    codes: NDArray[np.integer], sizes: tuple[int, ...], dimensions: int
) -> tuple[Floats, Floats, Floats]:
    """Return masses, principal coordinates and inertias of the categories.

    The singular vectors of the standardised indicator matrix are the eigenvectors of
    its cross product, which is counted from pairs of variables and small.
    """
    rows, columns = codes.shape
    starts = np.cumsum([0, *sizes[:-1]])
    places = (codes + starts).ravel()
    burt = pair_sums(
        np.arange(rows + 1) * columns, places, np.ones(rows), int(sum(sizes))
    )
    masses = np.diag(burt) / (rows * columns)
    scale = np.sqrt(np.where(masses > 0, masses, 1.0))
    cross = burt / (rows * columns**2) - np.outer(masses, masses)
    width = min(dimensions, len(masses))
    matrix = cross / np.outer(scale, scale)
    inertias, vectors = eigh(
        matrix, subset_by_index=(len(masses) - width, len(masses) - 1)
    )
    if len(inertias) < width:
        # Many equal inertias, of a column of names say: LAPACK may find none of them.
        inertias, vectors = eigh(matrix, driver="evd")
        inertias, vectors = inertias[-width:], vectors[:, -width:]
    inertias = np.maximum(inertias[::-1], 0.0)
    coordinates = vectors[:, ::-1] * np.sqrt(inertias) / scale[:, None]
    return masses, coordinates, inertias


@dataclass(frozen=True)
class McaDistance(Metric):
    """Distance of the category clouds of two multiple correspondence analyses.

    The synthetic cloud is turned onto the original one (orthogonal Procrustes, since
    axes are found up to sign and rotation). The value is the root of the squared
    distances, weighted by the original's masses, by that of the original cloud: 0 for
    equal clouds. Categories that one file lacks have no place there and are left out.

    Parameters
    ----------
    dimensions
        How many axes are compared.
    max_categories
        More categories over all variables are not analysed.
    """

    dimensions: int = 2
    max_categories: int = 1500

    name = "mca"
    kind = "utility"
    goal = "minimise"
    range = (0.0, float("inf"))
    source = (
        "Abdi and Valentin (2007), Encyclopedia of Measurement and Statistics; "
        "Schonemann (1966), Psychometrika 31(1)"
    )

    @property
    def title(self) -> str:
        """What is measured."""
        return f"Distance of correspondence maps, {self.dimensions} axes"

    def why_not(self, original: Categorical, synthetic: Categorical) -> str:
        """The categories must not be too many."""
        del synthetic
        count = sum(original.levels)
        if count > self.max_categories:
            return f"there are {count} categories, more than {self.max_categories}"
        return ""

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the relative distance of the clouds and what each category moved."""
        masses, first, second, both = self._clouds(original, synthetic)
        labels = [
            f"{name}={label}"
            for name, levels in zip(original.names, original.labels, strict=True)
            for label in levels
        ]
        moved = np.sqrt(((first - second) ** 2).sum(axis=1))
        parts = [(labels[i], float(d)) for i, d in zip(both, moved, strict=True)]
        size = float((masses[:, None] * first**2).sum())
        if size == 0:
            return 0.0, parts
        gap = float((masses[:, None] * (first - second) ** 2).sum())
        return float(np.sqrt(gap / size)), parts

    def _clouds(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[Floats, Floats, Floats, NDArray[np.intp]]:
        sizes, width = original.levels, self.dimensions
        masses, first, _ = category_coordinates(original.codes, sizes, width)
        check_time()
        other, second, _ = category_coordinates(synthetic.codes, sizes, width)
        both = np.flatnonzero((masses > 0) & (other > 0))
        masses, first, second = masses[both], first[both], second[both]
        left, _, right = svd(second.T @ (masses[:, None] * first))
        return masses, first, second @ (left @ right), both
