"""What a single answer aims at: pairs, some deeper tables, and nobody's whole record.

Every table has its noise floor. Deeper tables are those a candidate has most to gain
in, so they change while a search goes on. Cells of few people are never worth hitting:
pairs are stirred, and in deeper tables such cells share a counter. People who are alone
in the original are not to be found whole more often than half as often as in a fresh
sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evosdc.synth.data.encoding import Codes, Ints, cell_numbers, strides
from evosdc.synth.objective.anew import cells_anew
from evosdc.synth.objective.choice import Choice, Table, choose
from evosdc.synth.objective.covariances import NONE, Covariances
from evosdc.synth.objective.lone import ORDER as LONE
from evosdc.synth.objective.lone import Lone
from evosdc.synth.objective.noise import floors_that_bind
from evosdc.synth.objective.pairs import Stirred
from evosdc.synth.objective.redrawn import (
    NEAR,
    UNSEEN,
    deep_floor,
    few_noise,
    redrawn_noise,
)
from evosdc.synth.objective.tables import (
    MATCH,
    Component,
    Target,
    build_target,
    log_table,
)

Chosen = Mapping[int, tuple[Table, ...]]
Floats = NDArray[np.float64]

# What a whole record too many costs, beside distances: more than any table gains by it.
_PENALTY = 5.0
# A tenth is added to what a sample drawn anew shows of pairs, see `FRESH`.
_PAIRS = 1.1
# However much stirring moved: large cells are not to be exact.
_HALFWAY = 0.9
# Margins weigh more than other tables: means and quantiles hang on them, and they are
# few beside all pairs of a wide file.
_MARGINS = 4.0
# Margins may come twice as close: means are to be right within a standard error.
_MARGIN = 0.25


@dataclass(frozen=True, eq=False)
class Aim:
    """What does not change while tables are chosen.

    Attributes
    ----------
    components
        The objective, as it is asked for.
    floor
        The floors of the components as a whole; that of the full table binds.
    least
        The smallest cell that is worth hitting.
    noise
        Whether each table has its noise floor.
    matches
        The largest share of people, alone in the original, who may be there whole; None
        for any.
    lone
        What finds people who are alone in some columns; None where any may be there.
    covariances
        What is wanted of means, variances and covariances of numbers.
    drawn
        Which record stands in the place of each where tables are those of a sample
        drawn anew; None where they are the original's.
    """

    codes: Codes
    sizes: Ints
    stirred: Stirred
    components: tuple[Component, ...]
    floor: np.ndarray
    least: int
    noise: bool
    matches: float | None
    covariances: Covariances = NONE
    drawn: Ints | None = None
    lone: Lone | None = None

    @property
    def chosen_orders(self) -> list[int]:
        """The numbers of variables of the tables that are chosen."""
        return [c.order for c in self.components if c.chosen]

    @property
    def followed_orders(self) -> list[int]:
        """These and the number of variables of the tables of lone people."""
        return [*self.chosen_orders, *([LONE] if self.lone is not None else [])]

    @property
    def groups(self) -> int:
        """How many parts the objective has, with people and covariances."""
        people = (self.lone is not None) + (self.matches is not None)
        more = people + (len(self.covariances.wanted) > 0)
        return len(self.components) + more

    def target(self, chosen: Chosen) -> Target:
        """Return what a search prices, with these tables chosen."""
        components = tuple(
            c._replace(sets=chosen.get(c.order, ())) if c.chosen else c
            for c in self.components
        )
        if self.lone is not None:
            tables = tuple(chosen.get(LONE, ()))
            components += (Component(MATCH, LONE, sets=tables),)
        if self.matches is not None:
            components += (Component(MATCH, 0),)
        target = build_target(
            self.codes, self.sizes, components, self._numbers, self.least
        )
        whole = np.array([c.order == 0 for c in components])
        floor = np.zeros(len(components))
        if self.noise:
            binding = floors_that_bind(self.floor, self.components)
            floor[: len(self.components)] = np.where(
                whole[: len(self.components)], binding, 0.0
            )
            noise = np.where(whole[target.group], 0.0, redrawn_noise(target))
            allowed = np.asarray(UNSEEN * target.few[:, 1], float)
            target = target._replace(
                noise=self._floors(target, noise, allowed), allowed=allowed
            )
        target = target._replace(floor=floor)
        if self.matches is not None:
            target.reference[target.group == len(components) - 1] = self.matches
            target.group_weight[-1] *= _PENALTY
        if self.lone is not None:
            group = len(self.components)
            shares = [self.lone.share(t) for t in tables]
            target.reference[target.group == group] = shares
        margins = np.array([c.order == 1 for c in components])
        target.group_weight[margins] *= _MARGINS
        if len(self.covariances.wanted):
            target = target._replace(
                covariances=self.covariances,
                group_weight=np.append(target.group_weight, 1.0),
                floor=np.append(target.floor, 0.0),
            )
        return target

    def _floors(self, target: Target, noise: Floats, allowed: Floats) -> Floats:
        """Return the floors of tables from what a sample drawn anew would show.

        What stirring has moved a pair away already is part of its distance.
        """
        order = target.cells.order
        unseen, anew = allowed / target.records, self.drawn is not None
        deep = deep_floor(noise, few_noise(target), unseen, anew=anew)
        out = np.where(order == 1, _MARGIN * noise, np.where(noise > 0.0, deep, 0.0))
        if anew:
            return np.where(order <= 2, NEAR * noise, out)
        for t in np.flatnonzero((order == 2) & (noise > 0.0)):
            pair = tuple(map(int, target.cells.members[t, :2]))
            left = _PAIRS * noise[t] - self._stirred_away.get(pair, 0.0)
            out[t] = max(_HALFWAY * noise[t], left)
        return out

    @cached_property
    def _stirred_away(self) -> dict[tuple[int, ...], float]:
        """How far stirring moves each pair from the original, by its divergence."""
        out: dict[tuple[int, ...], float] = {}
        logs = log_table(2 * len(self.codes) + 2)
        for first, second in self.stirred.exchanges:
            stride, _ = strides(self.sizes, (first, second))
            plain = cell_numbers(self.codes, stride)
            moved = self.stirred.numbers(self.codes, (first, second), stride)
            _, place = np.unique(np.concatenate([plain, moved]), return_inverse=True)
            many = int(place.max()) + 1
            a = np.bincount(place[: len(plain)], minlength=many)
            b = np.bincount(place[len(plain) :], minlength=many)
            total = float((logs[a] + logs[b] - logs[a + b]).sum())
            divergence = max(0.0, 0.5 * total / len(plain) + 1.0)
            out[first, second] = out[second, first] = divergence
        return out

    def _numbers(self, codes: Codes, table: Table, stride: Ints) -> Ints:
        """Return the cells of records: deeper tables show no small cell anyway."""
        if self.least > 1 and 2 < len(table) < len(self.sizes):
            out = cell_numbers(codes, stride)
        else:
            out = self.stirred.numbers(codes, table, stride)
        if self.drawn is not None and len(table) < len(self.sizes):
            return cells_anew(out, self.drawn, self.least)
        return out

    def choose(
        self, order: int, candidate: Codes, earlier: Chosen, rng: np.random.Generator
    ) -> Choice:
        """Choose tables of an order for a candidate to follow from now on."""
        if order == LONE and self.lone is not None:
            found = self.lone.choose(candidate, earlier.get(LONE, ()))
            return Choice(found, True)
        anew = self.drawn is not None
        return choose(
            self.codes[self.drawn] if anew else self.codes,
            candidate,
            self.sizes,
            order,
            earlier.get(order, ()),
            self.least,
            self.noise,
            rng,
            anew=anew,
        )
