"""The experiments of Chen (2020) on genetic synthesis, chapters 4, 5 and 7."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments.provenance import (
    provenance_now,
    read_provenance,
    write_provenance,
)
from benchmarks.experiments.store import Row, Store
from benchmarks.experiments.thesis_adaptive import formulas, grid, late
from benchmarks.experiments.thesis_data import find_material
from benchmarks.experiments.thesis_mutants import MutantTrial
from benchmarks.experiments.thesis_page import write_thesis
from benchmarks.experiments.thesis_people import PeopleTrial
from benchmarks.experiments.thesis_pressure import PressureTrial
from benchmarks.experiments.thesis_rivals import RIVALS
from benchmarks.experiments.thesis_selections import pressures, selections, toys
from benchmarks.experiments.thesis_start import Start
from benchmarks.experiments.thesis_trials import COLUMNS, KEY, Trial
from evosdc.errors import InputError

NAME = "thesis"
OnRow = Callable[[Row, int, int], None]
AnyTrial = Trial | PressureTrial | MutantTrial | PeopleTrial

# The thesis's GA: no elite, no noise floor, no record moves, no clock.
_PLAIN: dict[str, Any] = {
    "memetic": False,
    "population": 100,
    "noise_floor": False,
    "time_limit": None,
    "elitism": 0,
    "mutation": "uniform",
}
# Section 5.2: "Candidates chosen for mutation" (rate 0.01) "had a randomly selected
# sub-matrix swapped with data independently sampled from the original univariate
# distributions."
_SMALL = {"mutation": "block", "mutation_rate": 0.01}
_TABLES = {"objective": "jsd:2,3,4", "generations": 100}
_BOTH = {"mode": "weighted", "risk": "dcap-u", "objective": "jsd:full"}
# Two rates each, so that crossovers move as many elements (5.2 table 2, 5.3), and how
# many of the best stay: none as published, one to see what the published way loses.
_CROSSOVERS = (
    ("matrix", 1.0, 0),
    ("matrix", 0.7, 0),
    ("variable", 0.5455, 0),
    ("variable", 0.273, 0),
    ("puc", 0.3818, 0),
    ("puc", 0.1911, 0),
    ("puc", 0.3818, 1),
    ("cpc", 0.5005, 0),
    ("cpc", 0.3505, 0),
    ("round-cpc", 0.5005, 0),
    ("round-cpc", 0.3505, 0),
    ("whole-cpc", 0.5005, 0),
    ("whole-cpc", 0.3505, 0),
)


# Operators as the package has them unless told otherwise: one elite, few elements of
# each child redrawn from the margins.
_OURS = {"memetic": False, "noise_floor": False, "time_limit": None}


def _crossovers(seed: int) -> list[Trial]:
    methods = {
        f"{name} {rate:g}" + (" one elite" if elite else ""): {
            **_PLAIN,
            **_SMALL,
            "crossover": name,
            "crossover_rate": rate,
            "elitism": elite,
        }
        for name, rate, elite in _CROSSOVERS
    }
    methods["puc evosdc"] = {**_OURS, "crossover": "puc"}
    return [
        Trial(
            f"crossover-{source}{k}",
            f"{source}{k}",
            method,
            seed,
            {**options, **_TABLES},
        )
        for source in ("data", "made", "other")
        for k in (1, 2, 3)
        for method, options in methods.items()
    ]


def _mature(seed: int) -> list[Trial]:
    return [
        Trial(
            f"mature-{data}",
            data,
            name,
            seed,
            {
                **_PLAIN,
                **_SMALL,
                **_TABLES,
                "crossover": name,
                "initial": "cart",
            },
        )
        for data in ("data1", "data2", "data3")
        for name in ("puc", "round-cpc", "whole-cpc")
    ]


def _initial(seed: int) -> list[Trial]:
    """Tables 1 and 2 of section 5.5, and 3 and 4 with reference data.

    `values` redraws an element from its variable's values, not from its levels alike.
    """
    return [
        Trial(
            f"{'reference' if reference else 'initial'}-{data}",
            data,
            model + end,
            seed,
            {
                **_PLAIN,
                **_BOTH,
                "crossover": "whole-cpc",
                "crossover_rate": 0.5,
                "mutation": mutation,
                "mutation_rate": 0.01,
                "generations": 200,
            },
            attacked=True,
            start=Start(model, reference),
        )
        for reference in (False, True)
        for data in ("binary4", "mixed4", "pairs4")
        for end, mutation in (("", "uniform"), (" values", "univariate"))
        for model in ("uniform", "univariate", "cart")
    ]


def _full(seed: int) -> list[Trial]:
    """Section 5.4 has one set; two others of its shape are run beside it."""
    return [
        trial
        for data in ("four", "four-made", "four-other")
        for trial in _full_on(data, seed)
    ]


def _full_on(data: str, seed: int) -> list[Trial]:
    family = f"full-{data}"

    def trial(method: str, **options: Any) -> Trial:
        return Trial(family, data, method, seed, options, True, True)

    return [
        trial(
            "ga jsd:full",
            **{**_PLAIN, "elitism": 1},
            objective="jsd:full",
            crossover_rate="adaptive:0.75",
            mutation_rate="adaptive:0.005",
            generations=5000,
            stop_utility=0.08,
            mode="weighted",
            risk_weight=0.0,
        ),
        Trial(family, data, "cart", seed, {}, True, True, "cart"),
        trial("evosdc default", time_limit=None),
    ]


# The source has a census only; two sets of a thousand records are run beside it.
_THREE = ("census", "mixed4", "pairs4")


def _trade_off(seed: int) -> list[Trial]:
    return [trial for data in _THREE for trial in _trade_off_on(data, seed)]


def _trade_off_on(data: str, seed: int) -> list[Trial]:
    """Start near the original, as the thesis does; a tenth of a population is kept."""
    common = {
        **_PLAIN,
        "elitism": 10,
        "objective": "jsd:full",
        "risk": "dcap-u",
        "initial": "mutation:0.05",
        "crossover": "whole-cpc",
        "crossover_rate": 0.1,
        "mutation_rate": 0.001,
    }

    def trial(method: str, rival: str = "", **options: Any) -> Trial:
        family = f"trade-off-{data}"
        return Trial(family, data, method, seed, options, True, True, rival)

    return [
        trial("soga", **common, mode="weighted", generations=57),
        trial("soga 500", **common, mode="weighted", generations=500),
        trial("npga 500", **common, mode="pareto", algorithm="npga", generations=500),
        trial("nsga2 500", **common, mode="pareto", algorithm="nsga2", generations=500),
        trial("cart", rival="cart"),
        trial("evosdc default", time_limit=None),
    ]


def _elitism(seed: int) -> list[Trial]:
    return [trial for data in _THREE for trial in _elitism_on(data, seed)]


def _elitism_on(data: str, seed: int) -> list[Trial]:
    """Section 5.7: levels of elitism, 57 generations, beside the two rivals.

    The chi-squares of its table 1 are so small (0.06 to 1.6 on 82,851 records) that
    mutated elements must have come from the variables' own values: `levels` shows what
    all levels alike would do.
    """
    common = {
        **_PLAIN,
        "mode": "weighted",
        "objective": "jsd:full",
        "risk": "dcap-u",
        "crossover": "whole-cpc",
        "crossover_rate": 0.1,
        "mutation_rate": 0.001,
        "generations": 57,
    }
    values = {"initial": "mutation:0.05:univariate", "mutation": "univariate"}
    ways: dict[str, dict[str, Any]] = {
        f"{kept} of 100 kept": {**values, "elitism": kept} for kept in (0, 1, 10, 50)
    }
    ways["10 kept start 0.02"] = {
        **values,
        "initial": "mutation:0.02:univariate",
        "elitism": 10,
    }
    ways["10 kept levels"] = {"initial": "mutation:0.05", "elitism": 10}

    def trial(method: str, options: dict[str, Any], rival: str = "") -> Trial:
        family = f"elitism-{data}"
        return Trial(family, data, method, seed, options, True, True, rival)

    return [
        *(trial(name, {**common, **way}) for name, way in ways.items()),
        trial("cart", {}, "cart"),
        trial("parametric", {}, "parametric"),
    ]


def _mutants(seed: int) -> list[MutantTrial]:
    return [
        MutantTrial(data, method, seed)
        for data in _THREE
        for method in ("values", "levels")
        # Half a minute each on the census: one way is enough.
        if (data, method) != ("census", "levels")
    ]


def _people(seed: int) -> list[PeopleTrial]:
    ga = {
        **_PLAIN,
        "least": 0,
        "objective": "jsd:full",
        "mode": "weighted",
        "risk_weight": 0.0,
        "elitism": 1,
        "mutation": "univariate",
        "crossover_rate": "adaptive:0.75",
        "mutation_rate": "adaptive:0.005",
        "generations": 200,
    }
    return [
        trial
        for data in ("census", "people", "people-other")
        for trial in (
            PeopleTrial(data, "the sample itself", seed),
            PeopleTrial(data, "ga jsd:full", seed, options=ga),
            *(PeopleTrial(data, name, seed, name) for name in RIVALS),
            PeopleTrial(data, "evosdc default", seed, options={"time_limit": None}),
        )
    ]


EXPERIMENTS: dict[str, Callable[[int], Sequence[AnyTrial]]] = {
    "pressure": pressures,
    "selection": selections,
    "toy": toys,
    "crossover": _crossovers,
    "mature": _mature,
    "initial": _initial,
    "adaptive": grid,
    "late": late,
    "rates": formulas,
    "full": _full,
    "trade-off": _trade_off,
    "elitism": _elitism,
    "mutants": _mutants,
    "people": _people,
}


def plan(
    seeds: int, experiments: Sequence[str] = (), methods: Sequence[str] = ()
) -> list[AnyTrial]:
    """List the trials, experiment by experiment."""
    for name in experiments:
        if name not in EXPERIMENTS:
            raise InputError(
                f"there is no family {name!r} in this experiment",
                expected=f"one of {', '.join(EXPERIMENTS)}",
            )
    trials = [
        trial
        for name in experiments or EXPERIMENTS
        for seed in range(1, seeds + 1)
        for trial in EXPERIMENTS[name](seed)
    ]
    known = dict.fromkeys(trial.method for trial in trials)
    for method in methods:
        if method not in known:
            raise InputError(
                f"no trial here has the method {method!r}",
                expected=f"some of {', '.join(known)}",
            )
    return [trial for trial in trials if not methods or trial.method in methods]


def conduct(
    output: Path,
    *,
    data: Path | None = None,
    seeds: int = 1,
    experiments: Sequence[str] = (),
    methods: Sequence[str] = (),
    workers: int = 1,
    command: str,
    force: bool = False,
    on_row: OnRow = lambda *_: None,
) -> list[Path]:
    """Run what is not there yet and write CSV, page and plots; return the files.

    Rows in the output folder are kept and not run again, unless `force` begins anew.
    """
    if seeds < 1 or workers < 1:
        raise InputError(
            f"seeds is {seeds} and workers is {workers}", expected="1 or more of each"
        )
    trials = plan(seeds, experiments, methods)
    material = find_material(data)
    rows = _prepare(output, force)
    store = Store(rows, KEY, COLUMNS)
    before = len(store)
    try:
        for done, trial in enumerate(trials, 1):
            if trial.key not in store:
                store.add(trial.run(material, workers))
                on_row(store.get(trial.key) or {}, done, len(trials))
    finally:
        if len(store):
            store.sort(_order(store.rows))
            _write(store, output, command, len(store) - before, material.words)
    return sorted(output.glob(f"{NAME}.*"))


def _order(rows: Sequence[Row]) -> list[Any]:
    """Order rows as the experiments list them, seeds of a method together."""
    trials = plan(max(int(row["seed"]) for row in rows))
    families = list(dict.fromkeys(trial.family for trial in trials))
    methods = list(dict.fromkeys((trial.family, trial.method) for trial in trials))
    return sorted(
        (trial.key for trial in trials),
        key=lambda key: (families.index(key[0]), methods.index(key[:2]), key[2]),
    )


def _prepare(output: Path, force: bool) -> Path:
    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is a file", expected="a folder to write")
    output.mkdir(parents=True, exist_ok=True)
    if force:
        for path in output.glob(f"{NAME}.*"):
            path.unlink()
    return output / f"{NAME}.csv"


def _write(store: Store, output: Path, command: str, added: int, words: str) -> None:
    path = output / f"{NAME}.provenance.json"
    provenance = read_provenance(path)
    if added or not provenance:
        provenance.append(provenance_now(command, added))
        write_provenance(path, provenance)
    write_thesis(store.rows, provenance, words, output)
