"""First populations and how diverse they are (Chen 2020, section 5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from evosdc.synth import Coding
from evosdc.synth.data.domain import make_domain
from evosdc.synth.search.initial import Cart, Model, uniform, univariate


@dataclass(frozen=True)
class Start:
    """A model that first candidates are drawn from.

    Attributes
    ----------
    model
        uniform, univariate or cart.
    reference
        Whether the model is of reference data, independent draws of each variable of
        the original, and not of the original itself. The source says "sampled from
        uniform distribution from each data"; by its table 4 candidates of the
        univariate model of them are as near as those of the original (0.290 and 0.296
        on data 1, where levels drawn alike are 0.624 away), so their margins are kept.
    """

    model: str
    reference: bool = False
    size: int = 100

    def frames(self, table: Any, seed: int) -> list[Any]:
        """Draw the candidates as Arrow tables."""
        rng = np.random.default_rng([2020, 5, seed])
        domain = make_domain(table, Coding())
        codes, sizes = domain.encode(table), domain.sizes
        if self.reference:
            codes = univariate(codes, sizes, rng, len(codes))
        models: dict[str, Model] = {
            "uniform": uniform,
            "univariate": univariate,
            "cart": Cart(),
        }
        draw = models[self.model]
        return [
            domain.decode(draw(codes, sizes, rng, len(codes)), rng)
            for _ in range(self.size)
        ]


def diversity(frames: list[Any]) -> dict[str, float]:
    """Return deviation and mean of the full-table distances of all pairs.

    The deviation is the diversity of equation 6 of section 5.5.
    """
    shares = full_tables(frames)
    found: list[float] = []
    for i, mine in enumerate(shares[:-1]):
        others = shares[i + 1 :]
        middle = (mine + others) / 2
        nats = rel_entr(mine, middle).sum(axis=1) + rel_entr(others, middle).sum(axis=1)
        found += np.sqrt(np.maximum(nats / (2 * np.log(2)), 0.0)).tolist()
    return {"diversity": float(np.std(found)), "diversity_mean": float(np.mean(found))}


def full_tables(frames: list[Any]) -> NDArray[np.float64]:
    """Return the share of records in each cell that occurs, one line a frame."""
    records = [list(zip(*f.to_pydict().values(), strict=True)) for f in frames]
    place = {cell: k for k, cell in enumerate(sorted(set().union(*records)))}
    out = np.zeros((len(frames), len(place)))
    for k, mine in enumerate(records):
        np.add.at(out[k], [place[cell] for cell in mine], 1 / len(mine))
    return out
