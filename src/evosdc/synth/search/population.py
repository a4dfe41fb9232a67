"""A population of candidate data sets, in slots, and the counters of one candidate.

Children are made in free slots, so that a generation copies nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Long, Real
from evosdc.errors import InputError
from evosdc.parallel import Closing, WorkerPool, Workers, open_pool
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.rules import RuleIndex
from evosdc.synth.objective.cost import CandidateGoal, costs_of
from evosdc.synth.objective.covariances import covariance_value, products_of
from evosdc.synth.objective.objective import Objective
from evosdc.synth.objective.risk import RiskIndex, count_exact, risk_totals
from evosdc.synth.objective.tables import (
    CRAMER,
    MATCH,
    Target,
    fill_weights,
    group_values,
    table_sums,
)
from evosdc.synth.objective.tally import count_all, workspace
from evosdc.synth.search.atomic_counter import new_counter
from evosdc.synth.search.breeding import breed

S = TypeVar("S")
_MAX_BYTES = 6 << 30


@dataclass(frozen=True, eq=False)
class SynthesisProblem:
    """What does not change in a run: the original and what is measured on it.

    With an `objective` the tables of the target are chosen on the way.
    """

    original: Codes
    sizes: Long
    target: Target
    risk: RiskIndex
    rules: RuleIndex
    free: Long
    objective: Objective | None = None


class Team(Closing):
    """Threads that run kernels; the kernels release the interpreter's lock.

    Each piece of work has its own random stream, so the number of threads changes
    nothing but the time. There may be `workers` as well, for work that is worth
    sending.
    """

    def __init__(self, threads: int, workers: Workers | None = None) -> None:
        self.threads = max(1, threads)
        self._workers = workers
        self._executor = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._pools: list[WorkerPool[Any]] = []

    def pool(self, shared: S) -> WorkerPool[S] | None:
        """Return a pool of the workers with `shared`, None where there are none."""
        if self._workers is None:
            return None
        pool = open_pool(self._workers, shared)
        self._pools.append(pool)
        return pool

    def each(
        self,
        work: Callable[[Any], Any],
        items: Sequence[Any],
        call_off: Callable[[], object] = lambda: None,
    ) -> list[Any]:
        """Apply `work` to each item and wait for all, even when interrupted.

        `call_off` is told of an interruption first, to let running work end early.
        """
        if self._executor is None:
            return [work(item) for item in items]
        # Threads know of the run that they work for by its context.
        submit = self._executor.submit
        futures = [submit(copy_context().run, work, item) for item in items]
        try:
            return [f.result() for f in futures]
        except KeyboardInterrupt:
            call_off()
            for f in futures:
                f.cancel()
            for f in futures:
                if not f.cancelled():
                    f.exception()
            raise

    def close(self) -> None:
        for pool in self._pools:
            pool.close()
        if self._executor is not None:
            self._executor.shutdown(wait=True)


class Tally:
    """The counters of one candidate: cells of its tables, and keys."""

    def __init__(self, problem: SynthesisProblem) -> None:
        cells, tables = len(problem.target.original), len(problem.target.kind)
        self.problem = problem
        self.counts = np.zeros(cells, np.int32)
        self.outside = np.zeros(tables, np.int64)
        weighted = (problem.target.kind == CRAMER).any()
        self.weights = np.zeros(cells if weighted else 1)
        self.keys = np.zeros(len(problem.risk.original), np.int32)
        self.products = np.zeros_like(problem.target.covariances.wanted)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What `anneal` and `breed` need of the counters."""
        return self.counts, self.outside, self.weights, self.keys, self.products

    @property
    def counters(self) -> tuple[NDArray[Any], ...]:
        """All that is counted of the records."""
        return self.counts, self.outside, self.keys, self.products

    def copy(self) -> Tally:
        """Return counters that begin as these do."""
        out = Tally(self.problem)
        for mine, theirs in zip(out.counters, self.counters, strict=True):
            mine[...] = theirs
        return out

    @cached_property
    def workspaces(self) -> tuple[Any, ...]:
        """Return arrays for a child by column, and to count it and its keys."""
        n, m = self.problem.original.shape
        return (
            np.empty((m, n), np.int16),
            workspace(self.problem.target.cells, n),
            workspace(self.problem.risk.cells, n),
        )

    def count(self, codes: Codes) -> None:
        """Count a candidate afresh."""
        target = self.problem.target
        count_all(target.cells, codes, self.counts, self.outside)
        self.products[:] = products_of(target.covariances, codes)
        self.count_keys(codes)

    def count_keys(self, codes: Codes) -> None:
        """Count the keys of a candidate afresh."""
        if self.problem.risk.by_value:
            count_exact(self.problem.risk, codes, self.keys)
            return
        count_all(self.problem.risk.cells, codes, self.keys, np.zeros(2, np.int64))

    def distances(self) -> Real:
        """Return the objectives of what is counted."""
        target = self.problem.target
        fill_weights(target, self.counts, self.weights)
        sums = table_sums(target, self.counts, self.outside, self.weights)
        out = np.asarray(group_values(target, sums))
        if len(self.products):
            out[-1] = covariance_value(
                target.covariances, self.products, target.records
            )
        return out

    def risks(self) -> Real:
        """Return the four risks of what is counted."""
        risk = self.problem.risk
        return np.asarray(risk_totals(risk, self.keys) * risk.scale)


class CandidatePopulation:
    """Slots of candidates: codes, objectives and risks.

    With `watched`, children's risks are measured as they are bred; else `watch` finds
    them when asked.
    """

    def __init__(
        self, problem: SynthesisProblem, slots: int, watched: bool = True
    ) -> None:
        n, m = problem.original.shape
        need = 2 * slots * n * m
        if need > _MAX_BYTES:
            raise InputError(
                f"a population of {slots} candidates needs {need / 2**30:.1f} GB",
                expected=f"at most {_MAX_BYTES / 2**30:.0f} GB",
                hint="choose a smaller population",
            )
        self.problem = problem
        self.watched = watched
        self.codes: Codes = np.zeros((slots, n, m), np.int16)
        self.groups = np.zeros((slots, len(problem.target.group_weight)))
        self.risks = np.zeros((slots, 4))
        self._tallies = [Tally(problem)]

    def aim_at(self, problem: SynthesisProblem, slots: Iterable[int]) -> None:
        """Price some slots by another problem of the same records from now on."""
        self.problem = problem
        self.groups = np.zeros((len(self.codes), len(problem.target.group_weight)))
        self._tallies = [Tally(problem)]
        for slot in slots:
            self.recount(int(slot))

    def put(self, slot: int, codes: Codes) -> None:
        """Place a data set in a slot and price it."""
        self.codes[slot] = codes
        self.recount(slot)

    def recount(self, slot: int) -> None:
        """Count and price a slot afresh."""
        tally = self._tallies[0]
        tally.count(self.codes[slot])
        self.price(slot, tally)

    def price(self, slot: int, tally: Tally) -> None:
        """Price a slot from its counters."""
        self.groups[slot] = tally.distances()
        self.risks[slot] = tally.risks()

    def state(self, slots: Long) -> dict[str, Any]:
        """Return some slots as they are, to be restored in another process."""
        return {
            "slots": np.asarray(slots, np.int64),
            "codes": self.codes[slots],
            "groups": self.groups[slots],
            "risks": self.risks[slots],
        }

    def unused(self, slots: Long, count: int) -> Long:
        """Return so many slots besides some."""
        used = np.zeros(len(self.codes), bool)
        used[slots] = True
        return np.flatnonzero(~used)[:count]

    def restore(self, state: Mapping[str, Any], size: int) -> Long:
        """Put so many slots back; raises `ValueError` if they are of another file."""
        slots = np.asarray(state["slots"], np.int64)
        codes, sizes = np.asarray(state["codes"], np.int16), self.problem.sizes
        if slots.ndim != 1 or not len(slots) or len(np.unique(slots)) < len(slots):
            raise ValueError("no slots, or one of them twice")
        if slots.min() < 0 or slots.max() >= len(self.codes):
            raise ValueError("a slot that is not there")
        # Kernels index by codes and ask no more.
        if codes.shape != (len(slots), *self.codes.shape[1:]):
            raise ValueError("records of another file")
        if (codes < 0).any() or (codes >= sizes).any():
            raise ValueError("a level that no column has")
        if len(slots) != size:
            raise ValueError("another number of candidates")
        self.codes[slots] = codes
        self.groups[slots] = state["groups"]
        self.risks[slots] = state["risks"]
        return slots

    def watch(self, slots: Iterable[int]) -> None:
        """Measure the risks of some slots where children's are not measured."""
        if self.watched:
            return
        tally = self._tallies[0]
        for slot in slots:
            tally.count_keys(self.codes[slot])
            self.risks[slot] = tally.risks()

    def utility(self, slots: Long) -> Real:
        """Return the distance from the original of some slots, floors ignored."""
        target = self.problem.target
        groups = np.ones(self.groups.shape[1], bool)
        groups[target.group[target.kind == MATCH]] = False
        if len(target.covariances.wanted):
            groups[-1] = False
        return np.sqrt((self.groups[slots][:, groups] ** 2).mean(axis=1))

    def compile_breeding(self) -> None:
        """Breed no pairs."""
        none, states = np.zeros((0, 2), np.int64), np.zeros((0, 1), np.uint64)
        rates, mutations = np.zeros(0), np.zeros((0, 2))
        self.breed(Team(1), 0, none, none, rates, mutations, states, way=0)

    def breed(
        self,
        team: Team,
        kind: int,
        pairs: Long,
        slots: Long,
        rates: Real,
        mutations: Real,
        states: NDArray[np.uint64],
        way: int,
    ) -> None:
        """Make the children of `pairs` in `slots`, pair by pair."""
        problem = self.problem
        while len(self._tallies) < team.threads:
            self._tallies.append(Tally(problem))
        counter = new_counter()
        how = (problem.rules, problem.free, problem.sizes, problem.original, way)

        def work(tally: Tally) -> None:
            breed(
                problem.target,
                problem.risk,
                how,
                kind,
                self.codes,
                tally.arrays,
                tally.workspaces,
                pairs,
                slots,
                rates,
                mutations,
                states,
                self.groups,
                self.risks,
                self.watched,
                counter,
            )

        team.each(work, self._tallies[: team.threads], lambda: counter.fill(len(pairs)))


def costs(goal: CandidateGoal, population: CandidatePopulation, slots: Long) -> Real:
    """Return the cost of some slots."""
    floor = population.problem.target.floor
    return np.asarray(costs_of(goal, population.groups, population.risks, floor, slots))
