"""The page of the thesis's experiments: tables, tests and plots by experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.experiments.plots import dots
from benchmarks.experiments.provenance import Provenance
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
from benchmarks.experiments.thesis_tables import grid_tables, selection_tables
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
    "utility_before": "distance, start",
    "risk_before": "DCAP-U, start",
    "mean_after": "mean at the end",
    "late_mean": "best, 1,500 to 2,500",
    "late_sd": "its deviation",
    "loss": "never chosen",
    "loss_theory": "theory",
    "loss_expected": "loss of diversity",
    "pressure": "pressure",
    "pressure_theory": "theory",
    "variance": "variance",
    "variance_theory": "theory",
    "takeover": "takeover",
    "takeover_theory": "theory",
    "diversity": "deviation of pairs",
    "diversity_mean": "mean of pairs",
    "correlation": "distance with DCAP",
    "r_squared": "R2",
    "correlation_unique": "distance with DCAP-U",
    "pmse_standardised": "standardised pMSE",
    "chi_square": "chi-square by df",
    "found": "people found",
    "found_original": "by the sample",
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
    """One experiment on the page; `quantity` is what tests and plots look at.

    `tables` lays out families side by side instead of a table each, with what is
    published beside them.
    """

    name: str
    title: str
    about: str
    columns: tuple[str, ...]
    quantity: str = "after"
    label: str = "fitness of the best at the end"
    tables: Callable[[Sequence[Row], Path], str] | None = None


_START = (
    "diversity",
    "diversity_mean",
    "utility_before",
    "risk_before",
    "before",
    "utility",
    "risk",
    "after",
    "fall",
)
SECTIONS = (
    Section(
        "pressure",
        "Selections: theory",
        "Tables 4.2 and 4.3: fitness drawn from U(0, 1), or from a normal "
        "distribution, 1,000 populations of 100 a run. Table 4.3 counts candidates "
        "that are never chosen, table 4.2 the loss of diversity of Blickle and "
        "Thiele. Takeover is the generations until one candidate is all there is, by "
        "selection alone (1,000 at most); its theory is Goldberg and Deb's. Theory "
        "for U(0, 1) is exact for order statistics of 100; the published figures of "
        "the normal distribution are theory themselves. `roulette:1` is merit left "
        "up to 1, `roulette` up to the worst.",
        (
            "loss",
            "loss_theory",
            "loss_expected",
            "pressure",
            "pressure_theory",
            "variance",
            "variance_theory",
            "takeover",
            "takeover_theory",
        ),
        "pressure",
        "selection pressure",
    ),
    Section(
        "selection",
        "Selections: table 4.4",
        "Section 4.2.2 (`tiny`, 100 records): Cramer's V, matrix crossover at rate "
        "1.0, no mutation, no elite, until the mean fitness has not changed for 20 "
        "generations (1,000 at most); table 1.2 of section 5.1 (`toy`, 32 records): "
        "blocks cross variable by variable, and a candidate nearer than 0.02 ends "
        "the run too. Published / **measured** mean ± deviation over the seeds; \\* "
        "where the published figure is within their range or two deviations of their "
        "mean. Base 0.7 and merit left up to 1 are the source's; `roulette` and "
        "`universal` are this package's own (up to the worst). `no crossover` is "
        "selection by itself.",
        (),
        tables=selection_tables,
    ),
    Section(
        "toy",
        "Crossover, mutation, and both",
        "Section 5.1, figures 2.2 to 2.7, which have no numbers: linear ranking, "
        "Cramer's V, 100 candidates, 200 generations, on 32 records (`toy`) and on "
        "1,000 of the same four variables (`four`). Blocks cross variable by "
        "variable; of one variable in ten a random share of elements is redrawn. The "
        "source finds that crossover alone converges quickly and stops, that both "
        "together find more, and that the larger set ends farther away.",
        ("before", "after", "mean_after", "converged", "cpu_seconds"),
    ),
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
        "initial",
        "Initial models",
        "Section 5.5, tables 1 and 2: full-table distance and DCAP-U weigh alike; "
        "whole-case crossover at 0.5, uniform mutation at 0.01, 200 generations. "
        "Diversity is the deviation of the full-table distances of all pairs of "
        "first candidates. `values` draws mutated elements from the variable's "
        "values, the others from its levels alike.",
        _START,
    ),
    Section(
        "reference",
        "Initial models of reference data",
        "Section 5.5, tables 3 and 4: the same, but the models are of independent "
        "draws of each variable, not of the original.",
        _START,
    ),
    Section(
        "adaptive",
        "Adaptive rates",
        "Section 5.6, figures 4.1 and 4.2: the full table is the only objective, "
        "rates are k_c and k_m times the fitness of a candidate, mutated elements "
        "come from the variable's values; fitness of the best after 200 generations. "
        "The source prints heat maps only, finds k_c = 0.75 and k_m = 0.005 best on "
        "its first set, the pairs around it acceptable, and says of four other sets "
        "that better first populations want higher rates.",
        (),
        tables=grid_tables,
    ),
    Section(
        "late",
        "Dynamic rates late in a run",
        "Section 5.6, figure 4.4: the best pair of the source and its algorithm 4.3, "
        "best candidates of generations 1,500 to 2,500. As printed, the second "
        "condition of the algorithm (f <= 0.20 after f <= 0.25) is never met. The "
        "source shows that the adaptive run fluctuates and the dynamic one does not.",
        ("before", "late_mean", "late_sd", "after", "best", "cpu_seconds"),
        "late_mean",
        "mean fitness of the best, generations 1,500 to 2,500",
    ),
    Section(
        "rates",
        "Formulas for rates",
        "Section 4.6, not tried in the source: crossover by Srinivas and Patnaik's "
        "formula for costs (`relative:0.75`), mutation of those worse than the mean "
        "(`worse-than-mean:0.05`) and falling from a half to one element "
        "(`hyperbolic:4000`), both after Thierens (2002); otherwise 0.3505 and "
        "0.001. The full table is the only objective, 200 generations.",
        _FITNESS,
    ),
    Section(
        "full",
        "The full table as the only objective",
        "Section 5.4: four variables; the GA (adaptive rates, one elite) runs until "
        "its distance is 0.08, at most 5,000 generations, beside sequential trees "
        "and the default of this package.",
        ("generations", *_METRICS),
        "jsd_full",
        "full JS distance",
    ),
    Section(
        "trade-off",
        "Utility against risk: SOGA, NPGA, NSGA-II, CART",
        "Sections 5.7 and 7.2.4: a census extract of five variables; candidates "
        "start as the original with 5 % of its elements redrawn, rates are 0.1 and "
        "0.001, ten of a hundred candidates are kept. Of a front the candidate "
        "nearest to no distance and no risk is shown.",
        ("generations", "front", "baseline", *_METRICS),
        "risk",
        "DCAP-U",
    ),
    Section(
        "elitism",
        "Levels of elitism, and a parametric rival",
        "Section 5.7: so many of 100 candidates are kept, 57 generations, otherwise "
        "as above; 5 % of the first candidates' elements (`start 0.02`: 2 %) and "
        "those that mutate are redrawn from the variable's values (`levels`: from "
        "its levels alike). The source varies elitism and does not print its level. "
        "`parametric` draws each variable from a multinomial logit on those before.",
        ("baseline", "chi_square", "pmse_standardised", *_METRICS),
        "risk",
        "DCAP-U",
    ),
    Section(
        "mutants",
        "Mutants: distance and risk",
        "Section 5.7: 9,000 mutants of the original a run, a thousand for each tenth "
        "of elements redrawn from one to nine; correlation of the full-table "
        "distance with DCAP on all records and on unique ones.",
        ("correlation", "r_squared", "correlation_unique", "cpu_seconds"),
        "correlation",
        "correlation of distance and DCAP",
    ),
    Section(
        "people",
        "People found by unique keys",
        "Equation 4.10: samples of 1,000 of a population; how many people an "
        "intruder who knows the keys of the whole population expects to find by keys "
        "that occur once in the copy. All variables but the last are the key. The "
        "source has no figure.",
        ("found", "found_original", "cpu_seconds"),
        "found",
        "people found",
    ),
)


def write_thesis(
    rows: Sequence[Row], provenance: Sequence[Provenance], words: str, folder: Path
) -> None:
    """Write ``thesis.md`` and its plots."""
    path = folder / "thesis.md"
    remarks = kept_remarks(path)
    parts = [
        "# Genetic synthesis: the experiments of the thesis",
        "The experiments of Chen (2020), *Genetic algorithms and their application "
        "to synthetic data generation*, run again. Its surveys cannot be handed on; "
        "ours are other data of the same records, variables and levels, chosen among "
        "many draws so that a copy by independent margins is as far away as in the "
        "source. What can be compared is relative fall, order and who wins.",
        _made_by(rows, provenance, words),
        *(_section(section, rows, folder) for section in SECTIONS),
    ]
    if remarks:
        parts.append(f"{REMARKS}\n\n{remarks}")
    write_text(path, "\n\n".join(part for part in parts if part) + "\n", force=True)


def _made_by(rows: Sequence[Row], provenance: Sequence[Provenance], words: str) -> str:
    commands = "\n".join(f"{s.command}   # {s.date}, {s.runs} runs" for s in provenance)
    machines = dict.fromkeys(entry.machine for entry in provenance)
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
    if section.tables is not None:
        return "\n\n".join([*parts, section.tables(mine, folder)])
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
