"""Table 4.4 of Chen (2020) against the spread of the seeds, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.experiments.statistics import Summary, column, summarise
from benchmarks.experiments.store import Row
from benchmarks.experiments.thesis_published import TABLE_44
from benchmarks.experiments.thesis_selections import SIZES
from benchmarks.experiments.write import markdown_table, number

SETS = ("tiny", "tiny-made", "tiny-other")
_QUANTITIES = (("converged", "generations"), ("after", "fitness"))
# How each selection is run as published, and rows in which one step is switched.
_SWITCHED = {
    "linear-rank": ("linear-rank no crossover",),
    "exponential-rank:0.7": ("exponential-rank:0.7 no crossover",),
    "tournament": ("tournament no crossover",),
    "roulette:1": ("roulette:1 no crossover", "roulette:0.1", "roulette"),
}
# Deviations from the mean that count as the spread of the seeds.
_DEVIATIONS = 2.0


def met(value: float, found: Summary) -> bool:
    """Whether a figure is in the range of the runs or two deviations of their mean."""
    within = found.best <= value <= found.worst
    return within or abs(value - found.mean) <= _DEVIATIONS * found.sd


def spread_tables(rows: Sequence[Row]) -> str:
    """Say of each published figure whether it is within the spread, and by how much."""
    lines, switched = [], []
    tally = {name: [0, 0] for name, _ in _QUANTITIES}
    for method, others in _SWITCHED.items():
        for quantity, word in _QUANTITIES:
            for size in SIZES:
                value = TABLE_44[method, size][quantity == "after"]
                if value is None:
                    continue
                found = [_runs(rows, name, size, method, quantity) for name in SETS]
                if not any(found):
                    continue
                head = [f"{method}, {word}, {size}", number(value)]
                lines.append([*head, *(_verdict(value, part) for part in found)])
                known = [x for part in found if (x := summarise(part)) is not None]
                tally[quantity][0] += sum(met(value, x) for x in known)
                tally[quantity][1] += len(known)
                if all(met(value, x) for x in known):
                    continue
                for other in others:
                    there = [_runs(rows, name, size, other, quantity) for name in SETS]
                    if any(there):
                        cells = (_verdict(value, part) for part in there)
                        switched.append(
                            [f"{other}, {word}, {size}", number(value), *cells]
                        )
    if not lines:
        return ""
    counts = "; ".join(
        f"{word}: {tally[name][0]} of {tally[name][1]} within"
        for name, word in _QUANTITIES
    )
    head = ["selection, quantity, population", "published", *SETS]
    parts = [
        "### Table 4.4 within the spread of the seeds",
        "Lowest to highest of the seeds (mean - 2 deviations to mean + 2 deviations); "
        "within where the published figure, a mean of ten trials, is in either span, "
        "else how it lies to them. Selections as published. In all, " + counts + ". "
        "The best of the first candidates, a mean over the seeds and selections: "
        + "; ".join(_start(rows, name) for name in SETS)
        + ".",
        markdown_table(head, lines),
    ]
    if switched:
        parts += [
            "Where a figure is outside on some set, the same with one step switched: "
            "`no crossover` leaves selection by itself, `roulette` has merit up to the "
            "worst of a generation, `roulette:0.1` up to 0.1.",
            markdown_table(head, switched),
        ]
    return "\n\n".join(parts)


def _start(rows: Sequence[Row], name: str) -> str:
    means = [
        summarise(column([r for r in rows if r["family"] == family], "before"))
        for family in (f"selection-{name}-{size}" for size in SIZES)
    ]
    known = " / ".join(number(None if x is None else x.mean) for x in means)
    return f"{name} {known} (of {' / '.join(map(str, SIZES))})"


def _runs(
    rows: Sequence[Row], name: str, size: int, method: str, quantity: str
) -> list[float]:
    family = f"selection-{name}-{size}"
    mine = [r for r in rows if (r["family"], r["method"]) == (family, method)]
    return column(mine, quantity)


def _verdict(value: float, runs: Sequence[float]) -> str:
    found = summarise(runs)
    if found is None:
        return "–"
    low = max(found.mean - _DEVIATIONS * found.sd, 0.0)
    high = found.mean + _DEVIATIONS * found.sd
    span = (
        f"{number(found.best)} to {number(found.worst)} "
        f"({number(low)} to {number(high)})"
    )
    if met(value, found):
        return f"{span}: within"
    return f"{span}: **outside**, {'below' if value < found.mean else 'above'} them"
