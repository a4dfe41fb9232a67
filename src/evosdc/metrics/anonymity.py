"""Privacy models of the synthetic file by itself: k, l and t."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.metrics.base import Breakdown, Metric
from evosdc.metrics.counts import classes
from evosdc.metrics.data import Categorical

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KeyClasses:
    """One file by classes of equal keys: sizes, and the target counts that occur.

    `cell_class`, `cell_target` and `cell_count` list the occupied cells of key by
    target.
    """

    sizes: Counts
    cell_class: Counts
    cell_target: Counts
    cell_count: Counts


def key_classes(data: Categorical) -> KeyClasses:
    """Group the records of a file by key."""
    of_record, _, number = classes(data, data, data.key)
    width = data.levels[data.target]
    keys = of_record * width + data.codes[:, data.target]
    cells, counts = np.unique(keys, return_counts=True)
    sizes = np.bincount(of_record, minlength=number)
    return KeyClasses(sizes, cells // width, cells % width, counts)


def diversity(groups: KeyClasses) -> Counts:
    """Return how many target values each class has."""
    return np.bincount(groups.cell_class, minlength=len(groups.sizes))


def class_distances(data: Categorical) -> tuple[Floats, Counts]:
    """Return the distance of each class's target distribution from the file's.

    The earth mover's distance: for an unordered target all levels are one apart and it
    is the total variation; for an ordered one without missing values the ends are one
    apart (Li et al. 2007).
    """
    groups = key_classes(data)
    width = data.levels[data.target]
    overall = np.bincount(data.codes[:, data.target], minlength=width) / data.rows
    within = groups.cell_count / groups.sizes[groups.cell_class]
    expected = overall[groups.cell_target]
    number = len(groups.sizes)
    ordered = data.ordered[data.target] and not data.missing[data.target]
    if not ordered or width < 3:
        # What a class lacks altogether differs by the file's whole share.
        off = np.bincount(
            groups.cell_class, np.abs(within - expected) - expected, minlength=number
        )
        return (off + 1) / 2, groups.sizes
    moved = np.zeros(number)
    cumulative = np.zeros(number)
    for level in range(width - 1):
        here = groups.cell_target == level
        cumulative[groups.cell_class[here]] += within[here]
        cumulative -= overall[level]
        moved += np.abs(cumulative)
    return moved / (width - 1), groups.sizes


@dataclass(frozen=True)
class KAnonymity(Metric):
    """The smallest class of equal keys in the synthetic file."""

    name = "k_anonymity"
    title = "k-anonymity of the synthetic file"
    kind = "risk"
    exact = True
    goal = "maximise"
    range = (1.0, float("inf"))
    source = (
        "Sweeney (2002), Int. J. Uncertainty, Fuzziness and Knowledge-Based Systems "
        "10(5)"
    )

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return k, and the shares of records in small classes."""
        del original
        sizes = key_classes(synthetic).sizes
        parts = [
            (
                f"share of records in classes below {k}",
                float(sizes[sizes < k].sum() / synthetic.rows),
            )
            for k in (2, 3, 5, 10)
        ]
        return float(sizes.min()), parts


@dataclass(frozen=True)
class LDiversity(Metric):
    """The smallest number of target values in a class of the synthetic file."""

    name = "l_diversity"
    title = "l-diversity of the synthetic file"
    kind = "risk"
    exact = True
    goal = "maximise"
    range = (1.0, float("inf"))
    source = (
        "Machanavajjhala et al. (2007), ACM Trans. Knowledge Discovery from Data 1(1)"
    )

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return l, and the shares of records in classes of little diversity."""
        del original
        groups = key_classes(synthetic)
        values = diversity(groups)
        parts = [
            (
                f"share of records in classes with fewer than {number} values",
                float(groups.sizes[values < number].sum() / synthetic.rows),
            )
            for number in (2, 3)
        ]
        return float(values.min()), parts


@dataclass(frozen=True)
class TCloseness(Metric):
    """The largest distance of a class's target distribution from the file's."""

    name = "t_closeness"
    title = "t-closeness of the synthetic file"
    kind = "risk"
    exact = True
    goal = "minimise"
    source = "Li, Li and Venkatasubramanian (2007), ICDE"

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return t, the largest distance, and the mean over the records."""
        del original
        distances, sizes = class_distances(synthetic)
        largest = float(distances.max())
        return largest, [
            ("largest", largest),
            ("mean over records", float((distances * sizes).sum() / sizes.sum())),
        ]
