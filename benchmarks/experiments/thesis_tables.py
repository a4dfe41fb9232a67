"""Tables of the thesis's page that put several families side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.experiments.plots import heat_maps
from benchmarks.experiments.published import Figure
from benchmarks.experiments.statistics import column, group, summarise
from benchmarks.experiments.store import Row
from benchmarks.experiments.thesis_adaptive import CROSSING, MUTATING, pair
from benchmarks.experiments.thesis_published import THESIS_FIGURES
from benchmarks.experiments.thesis_spread import met, spread_tables
from benchmarks.experiments.write import markdown_table, number


def selection_tables(rows: Sequence[Row], folder: Path) -> str:
    """Lay out a table a data set: selections by the size of the population."""
    del folder
    parts = []
    sets = dict.fromkeys(row["family"].rpartition("-")[0] for row in rows)
    for name in sets:
        mine = [row for row in rows if row["family"].rpartition("-")[0] == name]
        sizes = sorted({int(row["family"].rpartition("-")[2]) for row in mine})
        lines = []
        for (method,), runs in group(mine, "method").items():
            cells = [
                _beside([r for r in runs if r["family"] == f"{name}-{size}"], quantity)
                for quantity in ("converged", "after")
                for size in sizes
            ]
            lines.append([method, *cells])
        head = [
            "method",
            *(f"generations, {size}" for size in sizes),
            *(f"fitness, {size}" for size in sizes),
        ]
        parts.append(f"### {name}\n\n{markdown_table(head, lines)}")
    return "\n\n".join(part for part in (*parts, spread_tables(rows)) if part)


def _beside(runs: Sequence[Row], quantity: str) -> str:
    """Write published / measured mean ± deviation; * where they are no farther apart.

    A published mean counts as met where it is within the range of the runs or two
    deviations of their mean.
    """
    values = column(runs, quantity)
    found = summarise(values)
    if found is None:
        return "–"
    text = f"**{number(found.mean)}** ± {number(found.sd)}"
    published = _published(runs[0], quantity)
    if published is None:
        return text
    star = " \\*" if met(published.value, found) else ""
    return f"{published.about}{number(published.value)} / {text}{star}"


def _published(row: Row, quantity: str) -> Figure | None:
    for figure in THESIS_FIGURES:
        named = (*figure.families, figure.method, figure.quantity, figure.statistic)
        if named == (row["family"], row["method"], quantity, "mean"):
            return figure
    return None


def grid_tables(rows: Sequence[Row], folder: Path) -> str:
    """Lay out a table a data set: rows by k_c, columns by k_m, the best in bold."""
    parts, maps = [], {}
    for (family,), mine in group(rows, "family").items():
        means = {
            method: float(np.mean(column(runs, "after")))
            for (method,), runs in group(mine, "method").items()
        }
        best = min(means, key=means.__getitem__)
        lines = [
            [f"{c:g}", *(_cell(means, pair(c, m), best) for m in MUTATING)]
            for c in CROSSING
        ]
        start = float(np.mean(column(mine, "before")))
        spread = [
            summarise(column(runs, "after")) for runs in group(mine, "method").values()
        ]
        typical = float(np.median([s.sd for s in spread if s is not None]))
        runs = len({row["seed"] for row in mine})
        near = sum(value <= means[best] + typical for value in means.values())
        # The last two words of a method's name are its k_c and k_m.
        crossing, mutating = best.split()[-2:]
        parts.append(
            f"### {family}\n\n"
            + markdown_table(["k_c, k_m", *(f"{m:g}" for m in MUTATING)], lines)
            + f"\n\nMeans over {runs} {'seeds' if runs > 1 else 'seed'}, from "
            f"{number(start)}. Best: k_c = {crossing}, k_m = {mutating}"
            + (
                f"; median deviation {number(typical)}, {near} of {len(means)} pairs "
                "are within one of the best."
                if runs > 1
                else "."
            )
        )
        maps[family] = np.array(
            [[means.get(pair(c, m), np.nan) for m in MUTATING] for c in CROSSING]
        )
    heat_maps(
        maps,
        [f"{c:g}" for c in CROSSING],
        [f"{m:g}" for m in MUTATING],
        ("k_c", "k_m"),
        folder / "thesis.adaptive.svg",
    )
    parts.append("![fitness of the best by k_c and k_m](thesis.adaptive.svg)")
    return "\n\n".join(parts)


def _cell(means: dict[str, float], method: str, best: str) -> str:
    text = number(means.get(method))
    return f"**{text}**" if method == best else text
