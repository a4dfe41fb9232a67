"""The index of cells by their codes or patterns of codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError, TableError, refuse_unknown
from evosdc.table.hierarchy import Dimension, Hierarchy, tidy_code

if TYPE_CHECKING:
    from evosdc.table.table import Table

NUMBER = "cell_id"


def cell_keys(sizes: Sequence[int], codes: NDArray[Any]) -> NDArray[np.int64]:
    """Number each combination of codes; refuse more than 2**62 combinations."""
    if np.prod([float(s) for s in sizes]) > 2.0**62:
        raise TableError(
            "the dimensions span more combinations than can be numbered",
            expected="fewer than 2**62 combinations of codes",
            hint="leave out a dimension or coarsen one",
        )
    key = np.zeros(len(codes), dtype=np.int64)
    for k, size in enumerate(sizes):
        key = key * size + codes[:, k].astype(np.int64)
    return key


@dataclass(frozen=True, eq=False)
class CellIndex:
    """Cells sorted by their combination of codes.

    Attributes
    ----------
    sizes
        How many codes each dimension has.
    keys, order
        The key of each cell, ascending, and the number of that cell.
    """

    sizes: tuple[int, ...]
    keys: NDArray[np.int64]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, dimensions: Sequence[Dimension], codes: NDArray[Any]) -> CellIndex:
        """Sort cells given by node numbers, one row per cell."""
        sizes = tuple(len(d.hierarchy) for d in dimensions)
        keys = cell_keys(sizes, codes)
        order = np.argsort(keys, kind="stable")
        return cls(sizes, keys[order], order)

    def find(self, codes: NDArray[Any]) -> NDArray[np.int64]:
        """Return the cell of each row of node numbers, -1 where there is none.

        A node number below 0 stands for a code that the dimension does not have.
        """
        found = self.at(cell_keys(self.sizes, codes))
        return np.where((codes >= 0).all(axis=1), found, -1)

    def at(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cell of each key, -1 where there is none."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.order[place], -1)

    def repeated(self) -> NDArray[np.int64]:
        """Return the cells with the same codes as a cell of lower number."""
        return self.order[1:][self.keys[1:] == self.keys[:-1]]


def nodes_of(tree: Hierarchy, codes: Sequence[str]) -> NDArray[np.int64]:
    """Return the node of each code, -1 for codes that a hierarchy does not have."""
    return np.array([tree.node_of.get(code, -1) for code in codes], dtype=np.int64)


def first_of(bad: NDArray[np.bool_], label: Callable[[int], str]) -> str:
    """Name the first cell of a mask, and say how many more there are."""
    more = int(bad.sum()) - 1
    return label(int(np.argmax(bad))) + (f" and {more:,} more" if more else "")


def label_of(dimensions: Sequence[Dimension], nodes: Sequence[int]) -> str:
    """Name a cell by its codes."""
    return ", ".join(
        f"{d.name}={d.hierarchy.codes[node]}"
        for d, node in zip(dimensions, nodes, strict=True)
    )


def select(table: Table, label: Mapping[str, str]) -> NDArray[np.bool_]:
    """Return which cells have these codes.

    Parameters
    ----------
    label
        A code for each dimension; ``*``, ``?`` and ``[abc]`` match any characters, any
        one character, one of these. Dimensions that are not named match any code. In
        tables without labels ``cell_id`` is the number of a cell.

    Raises
    ------
    InputError
        For an unknown dimension, and where no cell has the codes.
    """
    chosen = np.ones(len(table), dtype=bool)
    position = {d.name: k for k, d in enumerate(table.dimensions)}
    for name, written in label.items():
        wanted = tidy_code(written)
        if name in position:
            k = position[name]
            codes = table.dimensions[k].hierarchy.codes
            fits = np.array([fnmatchcase(code, wanted) for code in codes])
            chosen &= fits[table.codes[:, k]]
        else:
            refuse_unknown([name], [*position, NUMBER], "the table has no dimension {}")
            chosen &= [fnmatchcase(str(cell), wanted) for cell in range(len(table))]
    if not chosen.any():
        words = ",".join(f"{name}={code}" for name, code in label.items())
        raise InputError(
            f"no cell of the table is {words!r}",
            expected="codes of the table, such as "
            f"{table.label(0) if position else f'{NUMBER}=0'}",
            hint="check the spelling; the total has a code of its own, and * fits all",
        )
    return chosen
