"""The objective of a single answer: pairs, some deeper tables, and nobody's record.

Every table has its noise floor. Deeper tables are those a candidate has most to gain
in, so they change while a search goes on. Cells of few people are never worth hitting:
in pairs their values are swapped, and in deeper tables such cells share a counter.
People who are alone in the original are not to be found whole more often than half as
often as in a fresh sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.synth.data.encoding import Codes, cell_numbers, strides
from evosdc.synth.objective.covariances import NONE, Covariances
from evosdc.synth.objective.resampled_target import resampled_cells
from evosdc.synth.objective.sample_uniques import ORDER as UNIQUES
from evosdc.synth.objective.sample_uniques import SampleUniques
from evosdc.synth.objective.sampling_noise import (
    NEAR_SHARE,
    UNSEEN_SHARE,
    deep_floor,
    few_noise,
    sampling_noise,
)
from evosdc.synth.objective.split_halves import floors_that_bind
from evosdc.synth.objective.swapped_pairs import SwappedPairs
from evosdc.synth.objective.table_selection import Table, TableSelection, select_tables
from evosdc.synth.objective.tables import (
    MATCH,
    Component,
    Target,
    build_target,
    log_table,
)

Chosen = Mapping[int, tuple[Table, ...]]

# Weight of whole records too many, beside distances: more than any table gains by them.
_MATCH_WEIGHT = 5.0
# Margins weigh more than other tables: means and quantiles depend on them, and they are
# few beside all pairs of a wide file.
_MARGIN_WEIGHT = 4.0
# Floors as multiples of the noise of a resample. A tenth is added to what it shows of
# pairs, less what swapping moved; but large cells are not to be exact. Margins may come
# twice as close: means are to be right within a standard error.
_PAIR_FLOOR, _MIN_PAIR_FLOOR, _MARGIN_FLOOR = 1.1, 0.9, 0.25


@dataclass(frozen=True, eq=False)
class Objective:
    """What does not change while tables are chosen.

    Attributes
    ----------
    components
        The objective, as it is asked for.
    floor
        The floors of the components as a whole; that of the full table binds.
    min_group
        The smallest cell that is worth hitting.
    noise
        Whether each table has its noise floor.
    matches
        The largest share of people, alone in the original, who may be there whole; None
        for any.
    covariances
        What is wanted of means, variances and covariances of numbers.
    resampled
        Which record stands in the place of each where tables are those of a resample;
        None where they are the original's.
    uniques
        What finds people who are alone in some columns; None where any may be there.
    """

    codes: Codes
    sizes: Long
    swapped: SwappedPairs
    components: tuple[Component, ...]
    floor: Real
    min_group: int
    noise: bool
    matches: float | None
    covariances: Covariances = NONE
    resampled: Long | None = None
    uniques: SampleUniques | None = None

    @property
    def chosen_orders(self) -> list[int]:
        """The numbers of variables of the tables that are chosen."""
        return [c.order for c in self.components if c.chosen]

    @property
    def followed_orders(self) -> list[int]:
        """These and the number of variables of the tables of sample uniques."""
        return [*self.chosen_orders, *([UNIQUES] if self.uniques is not None else [])]

    @property
    def groups(self) -> int:
        """How many parts the objective has, with people and covariances."""
        people = (self.uniques is not None) + (self.matches is not None)
        return len(self.components) + people + (len(self.covariances.wanted) > 0)

    def target(self, chosen: Chosen) -> Target:
        """Return what a search prices, with these tables chosen."""
        asked = len(self.components)
        components = tuple(
            c._replace(sets=chosen.get(c.order, ())) if c.chosen else c
            for c in self.components
        )
        tables = tuple(chosen.get(UNIQUES, ()))
        if self.uniques is not None:
            components += (Component(MATCH, UNIQUES, sets=tables),)
        if self.matches is not None:
            components += (Component(MATCH, 0),)
        target = build_target(
            self.codes, self.sizes, components, self._numbers, self.min_group
        )
        whole = np.array([c.order == 0 for c in components])
        if self.noise:
            binding = floors_that_bind(self.floor, self.components)
            target.floor[:asked] = np.where(whole[:asked], binding, 0.0)
            noise = np.where(whole[target.group], 0.0, sampling_noise(target))
            allowed = np.asarray(UNSEEN_SHARE * target.few[:, 1], float)
            target = target._replace(
                noise=self._floors(target, noise, allowed), allowed=allowed
            )
        if self.matches is not None:
            target.reference[target.group == len(components) - 1] = self.matches
            target.group_weight[-1] *= _MATCH_WEIGHT
        if self.uniques is not None:
            shares = [self.uniques.share(t) for t in tables]
            target.reference[target.group == asked] = shares
        margins = np.array([c.order == 1 for c in components])
        target.group_weight[margins] *= _MARGIN_WEIGHT
        if len(self.covariances.wanted):
            target = target._replace(
                covariances=self.covariances,
                group_weight=np.append(target.group_weight, 1.0),
                floor=np.append(target.floor, 0.0),
            )
        return target

    def _floors(self, target: Target, noise: Real, allowed: Real) -> Real:
        """Return the floors of tables from what a resample would show.

        What swapping has moved a pair away already is part of its distance.
        """
        order, resampled = target.cells.order, self.resampled is not None
        unseen = allowed / target.records
        deep = deep_floor(noise, few_noise(target), unseen, resampled=resampled)
        deep = np.where(noise > 0.0, deep, 0.0)
        if resampled:
            return np.where(order <= 2, NEAR_SHARE * noise, deep)
        out = np.where(order == 1, _MARGIN_FLOOR * noise, deep)
        for t in np.flatnonzero((order == 2) & (noise > 0.0)):
            pair = tuple(map(int, target.cells.members[t, :2]))
            left = _PAIR_FLOOR * noise[t] - self._swapped_divergence.get(pair, 0.0)
            out[t] = max(_MIN_PAIR_FLOOR * noise[t], left)
        return out

    @cached_property
    def _swapped_divergence(self) -> dict[tuple[int, ...], float]:
        """How far swapping moves each pair from the original, by its divergence."""
        out: dict[tuple[int, ...], float] = {}
        logs = log_table(2 * len(self.codes) + 2)
        for first, second in self.swapped.exchanges:
            stride, _ = strides(self.sizes, (first, second))
            plain = cell_numbers(self.codes, stride)
            moved = self.swapped.numbers(self.codes, (first, second), stride)
            _, place = np.unique(np.concatenate([plain, moved]), return_inverse=True)
            many = int(place.max()) + 1
            a = np.bincount(place[: len(plain)], minlength=many)
            b = np.bincount(place[len(plain) :], minlength=many)
            total = float((logs[a] + logs[b] - logs[a + b]).sum())
            divergence = max(0.0, 0.5 * total / len(plain) + 1.0)
            out[first, second] = out[second, first] = divergence
        return out

    def _numbers(self, codes: Codes, table: Table, stride: Long) -> Long:
        """Return the cells of records: deeper tables show no small cell anyway."""
        if self.min_group > 1 and 2 < len(table) < len(self.sizes):
            out = cell_numbers(codes, stride)
        else:
            out = self.swapped.numbers(codes, table, stride)
        if self.resampled is not None and len(table) < len(self.sizes):
            return resampled_cells(out, self.resampled, self.min_group)
        return out

    def select(
        self, order: int, candidate: Codes, earlier: Chosen, rng: np.random.Generator
    ) -> TableSelection:
        """Choose tables of an order for a candidate to follow from now on."""
        if order == UNIQUES and self.uniques is not None:
            found = self.uniques.select(candidate, earlier.get(UNIQUES, ()))
            return TableSelection(found, True)
        return select_tables(
            self.codes if self.resampled is None else self.codes[self.resampled],
            candidate,
            self.sizes,
            order,
            earlier.get(order, ()),
            self.min_group,
            self.noise,
            rng,
            resampled=self.resampled is not None,
        )
