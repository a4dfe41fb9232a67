"""A population of candidate data sets with their counters, in slots.

Children are made in free slots, so that a generation copies nothing twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.synth.anneal import Goal
from evosdc.synth.breeding import breed
from evosdc.synth.encoding import Codes, Ints
from evosdc.synth.risk import RiskIndex, risk_totals
from evosdc.synth.rules import RuleIndex
from evosdc.synth.tables import (
    CRAMER,
    Target,
    fill_weights,
    group_values,
    table_sums,
)
from evosdc.synth.tally import count_all

_MOST_BYTES = 6 << 30


@dataclass(frozen=True, eq=False)
class Problem:
    """What does not change in a run: the original and what is measured on it."""

    original: Codes
    sizes: Ints
    target: Target
    risk: RiskIndex
    rules: RuleIndex
    free: Ints


class Team:
    """Threads that run kernels; the kernels release the interpreter's lock.

    Work is cut by what is to be done and each piece has its own random stream, so the
    number of threads changes nothing but the time.
    """

    def __init__(self, workers: int) -> None:
        self.workers = max(1, workers)
        self._pool = ThreadPoolExecutor(self.workers) if self.workers > 1 else None

    def each(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Apply `work` to each item and wait for all, even when interrupted."""
        if self._pool is None:
            return [work(item) for item in items]
        futures = [self._pool.submit(work, item) for item in items]
        try:
            return [f.result() for f in futures]
        except KeyboardInterrupt:
            for f in futures:
                f.cancel()
            for f in futures:
                if not f.cancelled():
                    f.exception()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True)


class Population:
    """Slots of candidates: codes, counters, objectives and risks."""

    def __init__(self, problem: Problem, slots: int) -> None:
        n, m = problem.original.shape
        cells, tables = len(problem.target.original), len(problem.target.kind)
        keys = len(problem.risk.original)
        need = slots * (2 * n * m + 12 * cells + 8 * tables + 4 * keys)
        if need > _MOST_BYTES:
            raise InputError(
                f"a population of {slots} candidates needs {need / 2**30:.1f} GB",
                expected=f"at most {_MOST_BYTES / 2**30:.0f} GB",
                hint="choose a smaller population or fewer tables",
            )
        self.problem = problem
        self.codes: Codes = np.zeros((slots, n, m), np.int16)
        self.counts = np.zeros((slots, cells), np.int32)
        self.outside = np.zeros((slots, tables), np.int64)
        self.weights = np.zeros((slots, cells if _has_weights(problem) else 1))
        self.keys = np.zeros((slots, keys), np.int32)
        self.groups = np.zeros((slots, len(problem.target.group_weight)))
        self.risks = np.zeros((slots, 4))

    def put(self, slot: int, codes: Codes) -> None:
        """Place a data set in a slot and count it."""
        self.codes[slot] = codes
        self.recount(slot)

    def recount(self, slot: int) -> None:
        """Count and price a slot afresh."""
        problem = self.problem
        count_all(
            problem.target.cells,
            self.codes[slot],
            self.counts[slot],
            self.outside[slot],
        )
        self.recount_keys(slot)
        self.price(slot)

    def recount_keys(self, slot: int) -> None:
        """Count the keys of a slot afresh."""
        count_all(
            self.problem.risk.cells,
            self.codes[slot],
            self.keys[slot],
            np.zeros(2, np.int64),
        )

    def price(self, slot: int) -> None:
        """Price a slot from its counters."""
        target = self.problem.target
        weights = self.weights[slot]
        fill_weights(target, self.counts[slot], weights)
        sums = table_sums(target, self.counts[slot], self.outside[slot], weights)
        self.groups[slot] = group_values(target, sums)
        risk = self.problem.risk
        self.risks[slot] = risk_totals(risk, self.keys[slot]) * risk.scale

    def utility(self, slots: Ints) -> NDArray[np.float64]:
        """Return the distance from the original of some slots, floors ignored."""
        return np.sqrt((self.groups[slots] ** 2).mean(axis=1))

    def copy(self, source: int, to: int) -> None:
        """Copy one slot into another."""
        for array in (
            self.codes,
            self.counts,
            self.outside,
            self.weights,
            self.keys,
            self.groups,
            self.risks,
        ):
            array[to] = array[source]

    def compile_breeding(self) -> None:
        """Breed no pairs."""
        none = np.zeros((0, 2), np.int64)
        self.breed(
            Team(1),
            0,
            none,
            none,
            np.zeros(0),
            np.zeros((0, 2)),
            np.zeros((0, 1), np.uint64),
            uniform=True,
        )

    def breed(
        self,
        team: Team,
        kind: int,
        pairs: Ints,
        slots: Ints,
        rates: NDArray[np.float64],
        mutations: NDArray[np.float64],
        states: NDArray[np.uint64],
        uniform: bool,
    ) -> None:
        """Make the children of `pairs` in `slots`, pair by pair."""
        problem = self.problem

        def work(part: tuple[int, int]) -> None:
            breed(
                problem.target,
                problem.risk,
                problem.rules,
                problem.free,
                problem.sizes,
                problem.original,
                uniform,
                kind,
                self.codes,
                self.counts,
                self.outside,
                self.keys,
                self.weights,
                pairs,
                slots,
                rates,
                mutations,
                states,
                self.groups,
                self.risks,
                *part,
            )

        team.each(work, _parts(len(pairs), team.workers))


def costs(goal: Goal, population: Population, slots: Ints) -> NDArray[np.float64]:
    """Return the cost of some slots; `cost_of` is the same for one candidate."""
    groups = np.maximum(population.groups[slots], population.problem.target.floor)
    risks = population.risks[slots]
    u = goal.utility * np.sqrt((groups**2).mean(axis=1))
    v = goal.risk * (risks @ goal.share)
    excess = np.maximum(0.0, risks - goal.limit) @ goal.penalty
    return (np.hypot(u, v) if goal.euclid else u + v) + excess


def _has_weights(problem: Problem) -> bool:
    return bool((problem.target.kind == CRAMER).any())


def _parts(count: int, workers: int) -> list[tuple[int, int]]:
    """Cut 0..count into several pieces a worker."""
    pieces = max(1, min(count, 1 if workers == 1 else 2 * workers))
    ends = np.linspace(0, count, pieces + 1).astype(int)
    return [(int(a), int(b)) for a, b in itertools.pairwise(ends)]
