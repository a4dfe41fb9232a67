"""The synthesiser in scikit-learn's manner: parameters in, results with underscores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from evosdc.arrays import Long
from evosdc.errors import InputError
from evosdc.frames import kind_of, like, to_arrow
from evosdc.options import check_at_least
from evosdc.parallel import open_workers
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.options import Coding, Logic
from evosdc.synth.data.rules import Rule
from evosdc.synth.fit import Fitted, fit
from evosdc.synth.objective.options import Scenario, TradeOff
from evosdc.synth.options import FLAT, GROUPS, Options, flat_option, gather
from evosdc.synth.search.options import Operators, Schedule
from evosdc.synth.search.run import Generation, Keeper

# Options that are no part of an object.
_SINGLE = [
    "columns",
    "rules",
    "copies",
    "workers",
    "cluster",
    "seed",
    "listener",
    "on_phase",
    "keeper",
]


class Synthesiser:
    """Evolve synthetic microdata that keep tables and lose people.

    Options are small objects. Every field of theirs may be given as a keyword instead:
    ``Synthesiser(bins=10, pool=5)`` is ``Synthesiser(coding=Coding(bins=10, pool=5))``.

    Parameters
    ----------
    key, target
        What an attacker knows and what he wants to learn. Without them the search
        limits no risk.
    scenario
        Key, target, risks and their limits: `Scenario`.
    trade_off
        What is minimised, and how utility is traded against risk: `TradeOff`.
    coding
        How columns become levels, and the guard of small groups: `Coding`.
    logic
        Derived columns and impossible combinations: `Logic`.
    operators
        Of the genetic algorithm: `Operators`.
    schedule
        The size of the run, its record moves, and when it ends: `Schedule`.
    columns
        Columns to synthesise; the others are kept as they are (partial synthesis).
    rules
        What is forbidden; see `evosdc.synth.data.rules`.
    copies
        How many synthetic copies to keep.
    workers
        Threads, or workers of a cluster at most; the result does not depend on them.
    cluster
        Improves the candidates of memetic runs, where there are several: as many as
        `copies` at least, or a front. The address of a Dask scheduler or a
        `distributed.Client`. The records are sent there.
    seed
        The same seed gives the same copies.
    listener
        Called with a `Generation` after each generation.
    on_phase
        Called with a few words whenever something else is done: columns, rules, trees,
        the search, values, risks.
    keeper
        Keeps what the search has, to go on where it was cut short; `evosdc.synthesise`
        makes one of a checkpoint.
    flat
        Fields of the option objects by keyword.
    """

    def __init__(
        self,
        key: Sequence[str] | None = None,
        target: str | None = None,
        *,
        scenario: Scenario | None = None,
        trade_off: TradeOff | None = None,
        coding: Coding | None = None,
        logic: Logic | None = None,
        operators: Operators | None = None,
        schedule: Schedule | None = None,
        columns: Sequence[str] | None = None,
        rules: Sequence[Rule] = (),
        copies: int = 1,
        workers: int | None = None,
        cluster: Any = None,
        seed: int = 0,
        listener: Callable[[Generation], None] | None = None,
        on_phase: Callable[[str], None] | None = None,
        keeper: Keeper | None = None,
        **flat: Any,
    ) -> None:
        named = {"key": key, "target": target}
        flat |= {name: value for name, value in named.items() if value is not None}
        given = {
            "scenario": scenario,
            "trade_off": trade_off,
            "coding": coding,
            "logic": logic,
            "operators": operators,
            "schedule": schedule,
        }
        found = gather(given, flat, {name: kind() for name, kind in GROUPS.items()})
        for name, value in found.items():
            setattr(self, name, value)
        self.columns = columns
        self.rules = rules
        self.copies = copies
        self.workers = workers
        self.cluster = cluster
        self.seed = seed
        self.listener = listener
        self.on_phase = on_phase
        self.keeper = keeper

    if TYPE_CHECKING:
        # Option objects, their fields, and results are set by name.
        scenario: Scenario
        trade_off: TradeOff
        coding: Coding
        logic: Logic
        operators: Operators
        schedule: Schedule
        notes_: tuple[str, ...]

        def __getattr__(self, name: str) -> Any: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, those within objects by their keywords."""
        del deep
        return {name: getattr(self, name) for name in (*FLAT, *_SINGLE)}

    def set_params(self, **params: Any) -> Self:
        """Set some parameters by name: option objects, or their fields."""
        now = {name: getattr(self, name) for name in GROUPS}
        single = {n: params.pop(n) for n in _SINGLE if n in params}
        given = {n: params.pop(n) for n in GROUPS if n in params}
        for name, value in (gather(given, params, now) | single).items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        plain = type(self)().get_params()
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if type(value) is not type(plain[name]) or value != plain[name]
        ]
        return f"Synthesiser({', '.join(changed)})"

    @property
    def options(self) -> Options:
        """All that a run is told beside the data."""
        return Options(**{f.name: getattr(self, f.name) for f in fields(Options)})

    def fit(self, frame: Any) -> Self:
        """Evolve synthetic copies of a frame.

        Taken are pandas, polars (lazy too) and Arrow frames, dicts of columns and
        paths; copies are of the same kind, of a file as an Arrow table.

        Results
        -------
        ``objective_``
            The objective, named.
        ``utility_``, ``risk_``
            Distances by objective and the four risks of the best candidate.
        ``risk_limits_``, ``risk_met_``
            The limits set by the user, else those suggested by a fresh sample, and
            whether every one is met, by every copy.
        ``floor_``, ``fresh_risk_``
            What a fresh sample of the same population would score.
        ``front_``
            Points of the Pareto front; of other modes the one answer.
        ``record_``, ``reason_``, ``generations_``, ``seconds_``, ``hurried_``
            The run by generation, and why and when it ended.
        ``small_groups_``
            What was done about small groups, and what the first copy shows of them.
        ``derived_``, ``impossible_``
            Columns that were computed from others, and combinations that no record has.
        ``notes_``
            What the user should know, in plain words.
        """
        check_at_least(self, workers=1)
        if self.cluster is not None and not self.schedule.memetic:
            raise InputError(
                "a cluster is given for a genetic algorithm (memetic is False)",
                expected="a memetic run: children are bred by threads of one machine",
                hint="leave the cluster out, or improve candidates by record moves",
            )
        threads = min(4, os.cpu_count() or 1)
        if self.workers and self.cluster is None:
            threads = self.workers
        if isinstance(frame, (str, os.PathLike)):
            # Only io opens files; nothing else here knows of it.
            from evosdc.io.records import as_records

            frame = as_records(frame)
        with open_workers(self.cluster, self.workers) as workers:
            elsewhere = None if self.cluster is None else workers
            fitted = fit(to_arrow(frame), self.options, threads, elsewhere)
        self._fitted: Fitted = fitted
        self._kind = kind_of(frame)
        for name, value in vars(fitted.results).items():
            setattr(self, f"{name}_", value)
        return self

    def sample(self, n: int | None = None, number: int = 0) -> Any:
        """Return synthetic records as the kind of frame that was fitted.

        Without `n` this is the evolved data set itself. Another `n` draws its records
        without replacement, whole sets first, so tables keep their shape but not
        their exact counts. `number` chooses a copy, or a point of the front.
        """
        codes, fitted = self._candidate(number), self._fitted
        if n is None and number == 0:
            return like(fitted.first, self._kind)
        rng = np.random.default_rng([self.seed, 1, number])
        if n is not None:
            if n < 0:
                raise InputError(f"{n} records are asked for", expected="0 or more")
            codes = codes[_rows(len(codes), n, rng)]
        return like(fitted.values.records(codes, rng, n is None), self._kind)

    def samples(self) -> list[Any]:
        """Return all copies (or all points of the front)."""
        return [self.sample(number=k) for k in range(len(self._fitted.candidates))]

    def fit_sample(self, frame: Any) -> Any:
        """Fit a frame and return its synthetic copy."""
        return self.fit(frame).sample()

    def _candidate(self, number: int) -> Codes:
        if not hasattr(self, "_fitted"):
            raise InputError("nothing is fitted yet", hint="call fit(frame) first")
        candidates = self._fitted.candidates
        if not 0 <= number < len(candidates):
            raise InputError(
                f"there is no candidate {number}",
                expected=f"0 to {len(candidates) - 1}",
                hint="raise copies, or the population of the Pareto mode",
            )
        return candidates[number]


def _rows(size: int, n: int, rng: np.random.Generator) -> Long:
    whole = np.tile(np.arange(size), n // size)
    return np.concatenate([whole, rng.permutation(size)[: n % size]])


for _name, _group in FLAT.items():
    setattr(Synthesiser, _name, flat_option(_group, _name))
