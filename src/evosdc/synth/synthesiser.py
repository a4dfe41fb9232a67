"""The synthesiser in scikit-learn's manner: parameters in, results with underscores."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.evolution.rates import Rate
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.identifiers import fresh_column, with_fresh
from evosdc.synth.data.least import DEFAULT_LEAST
from evosdc.synth.data.rules import Rule
from evosdc.synth.data.shades import decode_by_dice
from evosdc.synth.fit import Fitted, fit
from evosdc.synth.frames import like, to_table
from evosdc.synth.objective.risk import RISKS
from evosdc.synth.search.run import Generation
from evosdc.synth.small_groups import describe


@dataclass(frozen=True)
class FrontPoint:
    """One candidate of a Pareto front; `number` is what `sample` takes.

    `closer_than_fresh` says that its full table is nearer to the original's than that
    of a fresh sample of the same population would be: it repeats people, not
    structure. It is None where no front was asked for.
    """

    number: int
    utility: float
    risks: Mapping[str, float]
    distances: Mapping[str, float]
    closer_than_fresh: bool | None = None


class Synthesiser:
    """Evolve synthetic microdata that keep tables and lose people.

    Parameters
    ----------
    key, target
        What an attacker knows and what he wants to learn. Without them no risk is
        measured or limited.
    objective
        ``jsd:2``, ``jsd:2,3,4``, ``jsd:full``, ``cramer``, ``tables``, or several
        joined by ``+``. "auto" is ``jsd:2``, in a memetic Pareto run ``jsd:2,full``.
    risk
        Risks that count: some of dcap, dcap-u, uniques, disco.
    risk_limit
        A limit for the first of them, or limits by name. Risks without a limit of
        their own are held to half of what a fresh sample of the same population would
        show, as far as that costs little utility.
    mode
        "constraint": best utility within the limits. "weighted": the Euclidean
        combination of utility and mean risk. "pareto": a front of each distance and
        the mean risk, and behind it another one of points that are closer than a fresh
        sample.
    risk_weight
        Weight of the mean risk against utility in the weighted mode.
    population, generations, time_limit
        Size of the run. The result repeats with the seed unless `reason_` is
        "time limit" or "interrupted".
    memetic
        Improve candidates by record moves; without it the run is the thesis's GA.
    moves
        Record moves of each candidate in a whole memetic run.
    acceptance
        Which moves stand: those of simulated "annealing", or by "late" acceptance.
    softness
        Memetic runs round off Jensen-Shannon distances of tables of two variables at
        this many times their present mean, so that exact tables can still move; 0 for
        not at all.
    crossover, crossover_rate, mutation, mutation_rate, selection, replacement, elitism
        Operators of the genetic algorithm; see `CROSSOVERS` and
        `evosdc.evolution.selection.SELECTIONS`; ``exponential-rank:0.7`` sets the
        parameter of one. Rates are numbers, texts such as ``adaptive:0.75`` or rate
        objects. The mutation "univariate" draws an element from the original's
        distribution, "uniform" from all levels alike; its rate is by element, but by
        candidate for "block", which redraws a random part of it, and by variable for
        "variable". Candidates of a memetic front are not crossed.
    initial
        "univariate", "uniform", "network", "cart", "mutation", "mutation:RATE",
        "mutation:RATE:univariate", or frames to start from. "auto" is "network" for
        memetic runs on more than two million elements, else "univariate".
    algorithm
        "nsga2" or "npga", for the Pareto mode without the memetic step.
    columns
        Columns to synthesise; the others are kept as they are (partial synthesis).
    bins, binning, restore, most_levels, pool
        How columns become levels; see `evosdc.synth.data.domain.Coding`.
    least
        The smallest group that a copy may show: levels of fewer people are pooled,
        tails of numbers coded, pairs of values that fewer people have not aimed at, and
        columns that identify people left out. 0 or 1 for no such guard.
    identifiers
        By column that identifies people: "drop" (the default for those recognised),
        "new" for fresh values, or "keep" for an ordinary column.
    rules
        What is forbidden; see `evosdc.synth.data.rules`.
    noise_floor
        Do not reward distances of tables of three and more variables below what a
        fresh sample would show.
    patience
        Stop after so many generations without improvement.
    stop_utility
        Stop at this distance once every risk limit is met.
    copies
        How many synthetic copies to keep.
    """

    def __init__(
        self,
        key: Sequence[str] | None = None,
        target: str | None = None,
        *,
        objective: str = "auto",
        risk: str | Sequence[str] = ("dcap-u", "uniques", "disco"),
        risk_limit: float | Mapping[str, float] | None = None,
        mode: str = "constraint",
        risk_weight: float = 1.0,
        population: int | None = None,
        generations: int | None = None,
        time_limit: float | None = 60.0,
        memetic: bool = True,
        moves: int | None = None,
        acceptance: str = "annealing",
        softness: float = 1.0,
        crossover: str = "whole-cpc",
        crossover_rate: float | str | Rate | None = None,
        mutation: str = "univariate",
        mutation_rate: float | str | Rate = 0.0005,
        selection: str = "tournament",
        replacement: str = "generational",
        elitism: int = 1,
        initial: Any = "auto",
        algorithm: str = "nsga2",
        columns: Sequence[str] | None = None,
        rules: Sequence[Rule] = (),
        bins: int | Mapping[str, int | Sequence[float]] = 20,
        binning: str = "quantile",
        restore: str = "uniform",
        most_levels: int | None = None,
        pool: int = 0,
        least: int = DEFAULT_LEAST,
        identifiers: Mapping[str, str] | None = None,
        noise_floor: bool = True,
        patience: int | None = None,
        stop_utility: float | None = None,
        copies: int = 1,
        workers: int | None = None,
        seed: int = 0,
        listener: Callable[[Generation], None] | None = None,
    ) -> None:
        self.key = key
        self.target = target
        self.objective = objective
        self.risk = risk
        self.risk_limit = risk_limit
        self.mode = mode
        self.risk_weight = risk_weight
        self.population = population
        self.generations = generations
        self.time_limit = time_limit
        self.memetic = memetic
        self.moves = moves
        self.acceptance = acceptance
        self.softness = softness
        self.crossover = crossover
        self.crossover_rate = crossover_rate
        self.mutation = mutation
        self.mutation_rate = mutation_rate
        self.selection = selection
        self.replacement = replacement
        self.elitism = elitism
        self.initial = initial
        self.algorithm = algorithm
        self.columns = columns
        self.rules = rules
        self.bins = bins
        self.binning = binning
        self.restore = restore
        self.most_levels = most_levels
        self.pool = pool
        self.least = least
        self.identifiers = identifiers
        self.noise_floor = noise_floor
        self.patience = patience
        self.stop_utility = stop_utility
        self.copies = copies
        self.workers = workers
        self.seed = seed
        self.listener = listener

    @classmethod
    def _names(cls) -> list[str]:
        return [n for n in inspect.signature(cls.__init__).parameters if n != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        del deep
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Set some parameters by name."""
        for name, value in params.items():
            if name not in self._names():
                raise InputError(
                    f"unknown parameter {name!r}", expected=", ".join(self._names())
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        plain = type(self)()
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not getattr(plain, name) and value != getattr(plain, name)
        ]
        return f"Synthesiser({', '.join(changed)})"

    def fit(self, frame: Any) -> Self:
        """Evolve synthetic copies of a frame.

        Results
        -------
        ``objective_``
            The objective, named.
        ``utility_``, ``risk_``
            Distances by objective and the four risks of the best candidate.
        ``risk_limits_``, ``risk_met_``
            The limits set by the user, else those suggested by a fresh sample, and
            whether every one is met.
        ``floor_``, ``fresh_risk_``
            What a fresh sample of the same population would score.
        ``front_``
            Points of the Pareto front; of other modes the one answer.
        ``record_``, ``reason_``, ``generations_``, ``seconds_``, ``hurried_``
            The run by generation, and why and when it ended.
        ``small_groups_``
            What was done about small groups, and what the first copy shows of them.
        ``notes_``
            What the user should know, in plain words.
        """
        workers = self.workers or min(4, os.cpu_count() or 1)
        table = to_table(frame)
        fitted = fit(table, self, workers)
        self._fitted: Fitted = fitted
        self._frame = frame[:0] if hasattr(frame, "__getitem__") else frame
        self.domain_ = fitted.domain
        self.objective_ = fitted.objective
        self.utility_ = fitted.utility
        self.risk_ = fitted.risk
        self.risk_limits_ = fitted.limits
        self.risk_met_ = fitted.met
        self.floor_ = fitted.floor
        self.fresh_risk_ = fitted.fresh_risk
        self.baseline_ = fitted.baseline
        self.record_ = tuple(fitted.record)
        self.reason_ = fitted.reason
        self.hurried_ = fitted.hurried
        self.generations_ = fitted.record[-1].generation
        self.seconds_ = fitted.seconds
        self._anew = {
            i.name: table[i.name] for i in fitted.identifiers if i.action == "new"
        }
        self._order = table.column_names
        self.front_ = tuple(
            FrontPoint(
                k,
                score.utility,
                dict(zip(RISKS, map(float, score.risks), strict=True)),
                score.distances,
                score.closer,
            )
            for k, score in enumerate(fitted.scores)
        )
        named = self.columns
        self.small_groups_ = describe(
            table,
            to_table(self.sample()),
            fitted.domain,
            self.least,
            fitted.identifiers,
            fitted.pairs,
            [] if named is None else [n for n in self.domain_.names if n not in named],
        )
        self.notes_ = (*self.small_groups_.sentences(), *fitted.notes)
        return self

    def sample(self, n: int | None = None, number: int = 0) -> Any:
        """Return synthetic records as the kind of frame that was fitted.

        Without `n` this is the evolved data set itself. Another `n` draws its records
        without replacement, whole sets first, so tables keep their shape but not
        their exact counts. `number` chooses a copy, or a point of the front.
        """
        codes = self._candidate(number)
        whole = n is None
        rng = np.random.default_rng([self.seed, 1, number])
        if n is not None:
            if n < 0:
                raise InputError(f"{n} records are asked for", expected="0 or more")
            codes = codes[_rows(len(codes), n, rng)]
        table = self.domain_.decode(codes, rng)
        if whole:
            # Key and target as the search saw them: its risks are those of this file.
            table = decode_by_dice(
                table, self.domain_, codes, self.seed, self._fitted.roles
            )
        return like(self._with_fresh(table, rng), self._frame)

    def _with_fresh(self, table: pa.Table, rng: np.random.Generator) -> pa.Table:
        """Add fresh values of the identifiers that are made anew."""
        fresh = {
            name: fresh_column(column, table.num_rows, rng)
            for name, column in self._anew.items()
        }
        return with_fresh(table, fresh, self._order) if fresh else table

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


def _rows(size: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    whole = np.tile(np.arange(size), n // size)
    return np.concatenate([whole, rng.permutation(size)[: n % size]])
