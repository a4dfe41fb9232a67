"""The options of a synthesis, declared once and without anything heavy to import.

`evosdc.synth` derives its objects from these: what they check beyond types and ranges,
and what they compute, is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from evosdc.options.declare import (
    DEFAULT_TIME_LIMIT,
    OptionObject,
    Seconds,
    option,
    time_limit_option,
)
from evosdc.options.verbs import KEYWORDS, Takes


class CopyOptions(OptionObject):
    """Base of the options of a synthesis, which are names of `evosdc.synth`."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.listed = f"see help(evosdc.synth.{cls.__name__})"


@dataclass(frozen=True)
class Scenario(CopyOptions):
    """A disclosure scenario: what an attacker knows and wants, and the risk allowed."""

    key: str | Sequence[str] | None = option(
        None,
        "What an attacker knows: age,sex,region. Without one he knows all but the "
        "target.",
        form="list",
    )
    target: str | None = option(
        None,
        "What an attacker wants to learn. Without key and target no risk is limited, "
        "and the last column is attacked from all others.",
    )
    risk: str | Sequence[str] = option(
        ("dcap-u", "uniques", "disco"),
        "Risks that count: dcap-u, dcap, uniques, disco.",
        form="list",
    )
    risk_limit: float | Mapping[str, float] | None = option(
        None,
        "Best utility with the first risk at most this, or limits by name. Others are "
        "held to half of what a fresh sample of the same population would show, as far "
        "as that costs little utility.",
        form="number",
    )


@dataclass(frozen=True)
class TradeOff(CopyOptions):
    """Utility against risk."""

    objective: str = option(
        "auto",
        "jsd:full, jsd:2, jsd:2,3*, cramer, tables, or several joined by +. A star is "
        "for the tables with most to gain. auto is jsd:1,2,3*,4*, of a memetic front "
        "jsd:2,full, of the genetic algorithm jsd:2.",
    )
    mode: str = option(
        "constraint",
        "constraint: best utility within the limits; weighted: the Euclidean "
        "combination of utility and mean risk; pareto: a front of each distance and "
        "the mean risk, and behind it one of points closer than a fresh sample.",
        known=("constraint", "weighted", "pareto"),
    )
    risk_weight: float = option(
        1.0,
        "Weight of the mean risk against utility in the weighted mode.",
        least=0,
    )
    noise_floor: bool = option(
        True,
        "Come no closer than a sample drawn again would, in each table of up to four "
        "variables and in the full one (off: go beyond). Fronts and the genetic "
        "algorithm have it for tables of three and more variables only.",
    )


@dataclass(frozen=True)
class Coding(CopyOptions):
    """How columns become levels."""

    bins: int | Mapping[str | None, int | Sequence[float]] = option(
        20,
        "Bins of a column of numbers; in Python also by column, a number or the edges, "
        "those of all other columns under None.",
        least=1,
        form="whole",
    )
    binning: str = option(
        "quantile",
        "quantile, the bins of the metrics refined, or width (equal width).",
        known=("quantile", "width"),
    )
    restore: str = option(
        "uniform",
        "How a binned value is drawn again: uniform, by its rank in the bin, which "
        "depends on the other columns, or empirical, one of the original's values.",
        known=("uniform", "empirical"),
    )
    moments: bool = option(
        True,
        "Hold means and standard deviations of binned numbers, as far as values inside "
        "their bins can.",
    )
    most_levels: int | None = option(
        None, "Numbers with more different values are binned (default: 40).", least=1
    )
    pool: int = option(
        0,
        "Levels with fewer records are counted as one, and drawn again by frequency.",
        least=0,
    )
    least: int = option(
        5,
        "The smallest group a copy may show: rare levels are pooled, bins merged, "
        "tails coded, pairs of values that fewer people have not aimed at, and columns "
        "that identify people left out (0 or 1: off).",
        least=0,
        flag="--min-group",
        former="--least",
    )
    identifiers: Mapping[str, str] | None = option(
        None,
        "NAME=drop, new (fresh values) or keep, for columns that identify people "
        "(recognised ones are dropped).",
        flag="--identifier",
        metavar="NAME=WHAT",
    )
    exclude: Sequence[str] = option((), "Leave these columns out: a,b.")
    categories: Sequence[str] = option(
        (), "Columns of numbers whose values are levels, however many there are."
    )


@dataclass(frozen=True)
class Logic(CopyOptions):
    """What a copy keeps to."""

    derive: Sequence[str] = option(
        (),
        "A column computed from others: 'bmi = weight / (height / 100) ** 2'.",
        form="texts",
    )
    find_derived: bool = option(
        True,
        "Look for columns that others determine, and compute them from the copy.",
        former={
            "--find-logic": ("--find-derived", "--learn-rules"),
            "--no-find-logic": ("--no-find-derived", "--no-learn-rules"),
        },
    )
    learn_rules: bool = option(
        True,
        "Learn pairs of values that never occur although many were to be expected, and "
        "have none in the copy.",
    )
    refuse: Sequence[str] = option(
        (),
        "What was found and is not so: a column that is not derived, or two columns "
        "a,b without impossible combinations.",
        form="texts",
        flag="--not-derived",
        former="--refuse",
    )


@dataclass(frozen=True)
class Operators(CopyOptions):
    """How candidates are selected, crossed, mutated and replaced.

    Rates are numbers, texts such as ``adaptive:0.75`` or rate objects. A memetic run
    uses the crossover alone, at a rate that is a number, and not for a Pareto front.
    """

    crossover: str = option(
        "whole-cpc",
        "How candidates are mixed: matrix, variable, cpc, round-cpc, whole-cpc or puc.",
    )
    crossover_rate: Any = option(
        None, "Its rate (default: the published one).", form="rate"
    )
    mutation: str = option(
        "univariate",
        "univariate draws an element from the original's distribution, uniform from "
        "all levels (rates by element); block draws a part of a candidate again (rate "
        "by candidate), variable elements of some variables (rate by variable).",
    )
    mutation_rate: Any = option(0.0005, "Its rate.", form="rate")
    selection: str = option(
        "tournament",
        "How parents are selected; exponential-rank:0.7 sets a parameter.",
    )
    replacement: str = option(
        "generational",
        "Who stays: generational, which keeps the best, or another of "
        "evosdc.evolution.replacement.",
    )
    elitism: int = option(1, "How many of the best generational keeps.", least=0)
    algorithm: str = option(
        "nsga2",
        "nsga2 or npga, for the Pareto mode without the memetic step.",
        known=("nsga2", "npga"),
    )
    niche: str = option(
        "points",
        "Which candidates of such a front are neighbours: those with like utility and "
        "risk (points) or like data (copies).",
        known=("points", "copies"),
    )


@dataclass(frozen=True)
class Schedule(CopyOptions):
    """How long a run is and how it moves.

    The result repeats with the seed where generations or moves are given and the run
    ends in time. Without them the time limit is the budget of a memetic run: it cools
    by the clock, and ends early where the noise floor is reached.
    """

    population: int | None = option(None, "Candidates (default: by mode).", least=1)
    generations: int | None = option(None, "Stop after so many.", least=1)
    time_limit: Seconds = time_limit_option(
        "Seconds; None for no limit (auto: 60, None with generations).", above=0
    )
    patience: int | None = option(
        None, "Stop after so many generations without improvement.", least=1
    )
    stop_utility: float | None = option(
        None, "Stop at this distance once every risk limit is met."
    )
    memetic: bool = option(
        True,
        "Improve candidates by record moves (off: the plain genetic algorithm of Chen "
        "2020).",
    )
    moves: int | None = option(
        None,
        "Record moves of each candidate in the whole run (default: by size).",
        least=1,
    )
    acceptance: str = option(
        "annealing",
        "Which moves stand: those of simulated annealing, or by late acceptance.",
        known=("annealing", "late"),
    )
    softness: float = option(
        1.0,
        "Memetic runs round off Jensen-Shannon distances of tables of two variables at "
        "this many times their present mean, so that exact tables can still move (0: "
        "not at all).",
        least=0,
        below=float("inf"),
    )
    initial: Any = option(
        "auto",
        "univariate, uniform, trees, network, cart, mutation, mutation:RATE or "
        "mutation:RATE:univariate; in Python also frames to start from. auto is by "
        "size: network for memetic runs on more than two million elements, else trees "
        "for a single answer and univariate for fronts and the genetic algorithm.",
        form="text",
    )

    @property
    def seconds(self) -> float | None:
        """The limit of time that holds; None for no limit."""
        usual = DEFAULT_TIME_LIMIT if self.generations is None else None
        return usual if self.time_limit == "auto" else self.time_limit


@dataclass(frozen=True)
class SynthesiseKeywords(CopyOptions):
    """Keywords of the command `synthesise`."""

    time_limit: Seconds = time_limit_option(
        "Seconds for all after reading, none for no limit (auto: 60, none with "
        "generations).",
        above=0,
    )
    copies: int = option(1, "How many synthetic copies to write.", least=1)
    seed: int = option(0, "Root of all randomness.", least=0)
    workers: int | None = option(
        None, "Threads (default: up to 4), or workers of a cluster at most.", least=1
    )


@dataclass(frozen=True)
class EvaluateKeywords(CopyOptions):
    """Keywords of the command `evaluate`."""

    time_limit: Seconds = time_limit_option(
        "Seconds after reading, none for no limit (auto: none).", least=0
    )
    seed: int = option(0, "Root of all randomness.", least=0)

    @property
    def seconds(self) -> float | None:
        """The limit that holds; None for no limit."""
        return None if self.time_limit == "auto" else self.time_limit


EVALUATE = {KEYWORDS: Takes(EvaluateKeywords)}
OBJECTS: dict[str, type[CopyOptions]] = {
    "scenario": Scenario,
    "trade_off": TradeOff,
    "coding": Coding,
    "logic": Logic,
    "operators": Operators,
    "schedule": Schedule,
}
for _kind in OBJECTS.values():
    _kind.document()

_SIZE = tuple(one.name for one in fields(Schedule) if one.name != "time_limit")
# On the command line the limit of time is a keyword, as in every verb.
SYNTHESISE = {KEYWORDS: Takes(SynthesiseKeywords)} | {
    name: Takes(kind, _SIZE if kind is Schedule else ())
    for name, kind in OBJECTS.items()
}
