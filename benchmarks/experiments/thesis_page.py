"""The page of the thesis's experiments: tables, tests and plots by experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.experiments.plots import dots
from benchmarks.experiments.sittings import Sitting
from benchmarks.experiments.statistics import (
    block_up,
    column,
    friedman,
    group,
    summarise,
)
from benchmarks.experiments.store import Row
from benchmarks.experiments.thesis_data import SHAPES
from benchmarks.experiments.thesis_published import THESIS_FIGURES
from benchmarks.experiments.write import (
    REMARKS,
    beside,
    friedman_text,
    kept_remarks,
    markdown_table,
    number,
    percent,
)
from evosdc.io.paths import write_text

_HEADS = {
    "generations": "generations",
    "before": "start",
    "after": "end",
    "sd": "sd",
    "best": "best",
    "fall": "fall",
    "converged": "converged at",
    "utility": "distance",
    "risk": "DCAP-U",
    "baseline": "guessing",
    "front": "front",
    "jsd_2": "2-way JS",
    "jsd_full": "full JS",
    "pmse": "pMSE",
    "pmse_ratio": "pMSE ratio",
    "roe": "ROE",
    "logit_correlation": "logit corr.",
    "rep_uniques_pct": "rep. uniques %",
    "disco_pct": "DiSCO %",
    "cpu_seconds": "CPU s",
}
_METRICS = (
    "jsd_full",
    "jsd_2",
    "pmse",
    "pmse_ratio",
    "roe",
    "logit_correlation",
    "risk",
    "rep_uniques_pct",
    "disco_pct",
    "cpu_seconds",
)
_FITNESS = ("before", "after", "sd", "best", "fall", "cpu_seconds")


@dataclass(frozen=True)
class Section:
    """One experiment on the page; `quantity` is what tests and plots look at."""

    name: str
    title: str
    about: str
    columns: tuple[str, ...]
    quantity: str = "after"
    label: str = "fitness of the best at the end"


SECTIONS = (
    Section(
        "crossover",
        "Crossovers",
        "Sections 5.2 and 5.3: 100 candidates of independent margins, tournaments of "
        "two, a random part of one candidate in a hundred redrawn from the margins, "
        "100 generations; fitness is the Euclidean mean of the Jensen-Shannon "
        "distances of all 2-, 3- and 4-way tables. The two rates of a crossover move "
        "as many elements as the others'. No candidate survives by itself, as "
        "published, except where a row says so.",
        _FITNESS,
    ),
    Section(
        "mature",
        "Crossovers on a mature population",
        "Section 5.3, additional experiment: the same, from CART copies.",
        _FITNESS,
    ),
    Section(
        "selection",
        "Selections",
        "Table 4.4: a tiny data set, no mutation, until all candidates are alike (at "
        "most 400 generations), by size of the population. The source names neither "
        "its variables nor its fitness; ours is the 2-way distance.",
        ("converged", "before", "after", "sd", "best"),
    ),
    Section(
        "initial",
        "Initial models",
        "Section 5.5: full-table distance and DCAP-U weigh alike; whole-case crossover "
        "at 0.5, uniform mutation at 0.01, 200 generations.",
        ("before", "after", "utility", "risk", "fall", "cpu_seconds"),
    ),
    Section(
        "adaptive",
        "Adaptive and tuned rates",
        "Section 5.6: rates proportional to the fitness of a candidate, `adaptive kc "
        "km`; the source found 0.75 and 0.005 best and prints a heat map only. `tuned` "
        "is its algorithm 4.3.",
        _FITNESS,
    ),
    Section(
        "full",
        "The full table as the only objective",
        "Section 5.4: four variables; the GA (adaptive rates, one elite) runs until "
        "its distance is 0.08, at most 5,000 generations, beside sequential trees and "
        "the default of this package.",
        ("generations", *_METRICS),
        "jsd_full",
        "full JS distance",
    ),
    Section(
        "trade-off",
        "Utility against risk: SOGA, NPGA, NSGA-II, CART",
        "Sections 5.7 and 7.2.4: a census extract of five variables; candidates start "
        "as the original with 5 % of its elements redrawn, rates are 0.1 and 0.001, "
        "ten of a hundred candidates are kept. Of a front the candidate nearest to no "
        "distance and no risk is shown.",
        ("generations", "front", "baseline", *_METRICS),
        "risk",
        "DCAP-U",
    ),
)


def write_thesis(
    rows: Sequence[Row], sittings: Sequence[Sitting], words: str, folder: Path
) -> None:
    """Write ``thesis.md`` and its plots."""
    path = folder / "thesis.md"
    remarks = kept_remarks(path)
    parts = [
        "# Genetic synthesis: the experiments of the thesis",
        "The experiments of Chen (2020), *Genetic algorithms and their application to "
        "synthetic data generation*, run again. Its surveys cannot be handed on; ours "
        "are other data of the same records, variables and levels, chosen among many "
        "draws so that a copy by independent margins is as far away as in the source. "
        "What can be compared is relative fall, order and who wins.",
        _made_by(rows, sittings, words),
        *(_section(section, rows, folder) for section in SECTIONS),
    ]
    if remarks:
        parts.append(f"{REMARKS}\n\n{remarks}")
    write_text(path, "\n\n".join(part for part in parts if part) + "\n", force=True)


def _made_by(rows: Sequence[Row], sittings: Sequence[Sitting], words: str) -> str:
    commands = "\n".join(f"{s.command}   # {s.date}, {s.runs} runs" for s in sittings)
    machines = dict.fromkeys(sitting.machine for sitting in sittings)
    seeds = sorted({int(row["seed"]) for row in rows})
    lines = [
        [name, f"{s.rows:,}", ", ".join(map(str, s.levels)), s.source, f"{s.start:g}"]
        for name, s in SHAPES.items()
    ]
    return "\n\n".join(
        [
            "## How it was made",
            f"```\n{commands}\n```",
            f"{len(rows)} runs on: {' / '.join(machines)}. Data: {words}; made1 to "
            "made3 are always drawn from a made-up population of latent classes. Seeds "
            f"of the runs: {', '.join(map(str, seeds))}; the data have a seed of "
            "their own.",
            "What the sets have to look like; the distance is that of a copy by "
            "independent margins.",
            markdown_table(
                ["set", "records", "levels", "section of the source", "distance"], lines
            ),
        ]
    )


def _section(section: Section, rows: Sequence[Row], folder: Path) -> str:
    mine = [r for r in rows if r["family"].startswith(section.name + "-")]
    if not mine:
        return ""
    parts = [f"## {section.title}", section.about]
    for (family,), part in group(mine, "family").items():
        head = ["method", "runs", *(_HEADS[name] for name in section.columns)]
        lines = [
            [method, str(len(runs)), *(_cell(runs, name) for name in section.columns)]
            for (method,), runs in group(part, "method").items()
        ]
        parts.append(f"### {family}\n\n{markdown_table(head, lines)}")
    parts.append(_published(section, mine))
    blocks = block_up(mine, blocks=("family", "seed"), value=section.quantity)
    found = friedman(blocks.complete())
    if found is not None:
        parts.append(f"On {section.label}. {friedman_text(found)}")
    plot = f"thesis.{section.name}.svg"
    dots(mine, section.quantity, section.label, folder / plot)
    parts.append(f"![{section.label} by method]({plot})")
    return "\n\n".join(part for part in parts if part)


def _published(section: Section, rows: Sequence[Row]) -> str:
    figures = [f for f in THESIS_FIGURES if f.where.startswith(section.name + "-")]
    return beside(rows, figures).replace("## Published", "### Published", 1)


def _cell(runs: Sequence[Row], name: str) -> str:
    if name in ("sd", "best"):
        found = summarise(column(runs, "after"))
        return number(None if found is None else getattr(found, name))
    found = summarise(column(runs, name))
    value = None if found is None else found.mean
    return percent(value) if name == "fall" else number(value)
