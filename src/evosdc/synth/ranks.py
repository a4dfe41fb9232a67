"""Where numbers lie in their bins, given everything else: a conditional quantile draw.

Somebody at the upper end of a bin of heights is rather at the upper end of a bin of
weights. So the rank of each number in its bin, by tenths, is drawn from a tree on the
levels of all variables and on the ranks that are drawn already. A leaf holds so many
people that it is nobody's rank.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes, Ints
from evosdc.synth.data.inside import ranks_inside
from evosdc.synth.search.trees import Tree, draw, grow

Floats = NDArray[np.float64]

_TENTHS = 10
_LEAF = 10


class RankModel:
    """Trees of ranks, one for each variable of numbers that is not left out.

    Parameters
    ----------
    domain, table, codes
        The original.
    without
        Positions of variables whose numbers are drawn otherwise.
    """

    def __init__(
        self,
        domain: Domain,
        table: pa.Table,
        codes: Codes,
        without: list[int],
        rng: np.random.Generator,
    ) -> None:
        self.columns = [
            j
            for j, v in enumerate(domain.variables)
            if v.inside is not None and v.uniform and j not in without
        ]
        tenths = [_tenths(domain, table, codes, j, rng) for j in self.columns]
        self._known = np.ascontiguousarray(np.vstack([codes.T, *tenths]), np.int16)
        many = [_TENTHS] * len(self.columns)
        sizes: Ints = np.concatenate([domain.sizes, many]).astype(np.int64)
        self._ordered = np.concatenate([domain.ordered, np.ones(len(many), bool)])
        self._trees: list[Tree] = []
        for k in range(len(self.columns)):
            at = len(domain.variables) + k
            before = np.arange(at, dtype=np.int64)
            found = grow(self._known, at, before, self._ordered, sizes, _LEAF)
            self._trees.append(Tree(*found))

    def draw(self, codes: Codes, rng: np.random.Generator) -> dict[int, Floats]:
        """Draw the ranks of records by column."""
        variables = codes.shape[1]
        blank = np.zeros((len(self.columns), len(codes)), np.int16)
        known = np.ascontiguousarray(np.vstack([codes.T, blank]), np.int16)
        out: dict[int, Floats] = {}
        for k, (j, tree) in enumerate(zip(self.columns, self._trees, strict=True)):
            at = variables + k
            chance = rng.random(len(codes))
            known[at] = draw(tree, self._known[at], known, self._ordered, chance)
            out[j] = (known[at] + rng.random(len(codes))) / _TENTHS
        return out


def _tenths(
    domain: Domain, table: pa.Table, codes: Codes, j: int, rng: np.random.Generator
) -> NDArray[np.int16]:
    variable = domain.variables[j]
    numbers = variable.read(table.column(variable.name))
    rank = ranks_inside(np.nan_to_num(numbers), codes[:, j], rng)
    return np.asarray(_TENTHS * rank, np.int16)
