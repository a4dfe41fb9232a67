"""The page of an experiment: what was run, figures, tests, plots."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.experiments.plots import dots, trade_off
from benchmarks.experiments.provenance import Provenance
from benchmarks.experiments.published import Figure
from benchmarks.experiments.statistics import (
    Friedman,
    Pair,
    block_up,
    column,
    friedman,
    group,
    summarise,
    wilcoxon_pairs,
    with_ratio,
)
from benchmarks.experiments.store import Row
from evosdc.io.encoding import read_text
from evosdc.io.paths import write_text

# People write below this heading; what they wrote is kept when a page is made again.
REMARKS = "## Remarks"
_SHARES = ("gap", "failed", "fall")
_QUANTITIES = {
    "cost": "cost",
    "gap": "gap",
    "failed": "failed",
    "cpu_seconds": "CPU seconds",
    "ratio": "improvement ratio",
    "before": "fitness at the start",
    "after": "fitness at the end",
    "fall": "fall of the fitness",
    "converged": "generations to converge",
    "utility": "full JS distance",
    "risk": "DCAP-U",
    "baseline": "DCAP-U by guessing",
    "pmse": "pMSE",
    "pmse_ratio": "pMSE ratio",
    "roe": "ratio of estimates, 2-way",
    "logit_correlation": "correlation of logits",
    "loss": "never chosen",
    "loss_expected": "loss of diversity",
    "pressure": "selection pressure",
    "variance": "selection variance",
    "diversity": "deviation of pairs",
    "utility_before": "distance at the start",
    "risk_before": "DCAP-U at the start",
    "chi_square": "chi-square of margins by df",
    "pmse_standardised": "standardised pMSE",
    "correlation": "correlation with DCAP",
    "r_squared": "R2",
    "correlation_unique": "correlation with DCAP-U",
}
# Published statistics that the page leaves out, to stay readable.
_LEFT_OUT = {
    ("cost", "median"),
    ("cost", "lowest median"),
    # These have a table of their own.
    *(
        ("cost", f"run mean {name}")
        for name in ("mean", "median", "best", "worst", "sd")
    ),
    *(("cpu_seconds", name) for name in ("median", "best", "worst", "sd")),
}


@dataclass(frozen=True)
class Page:
    """What a page is made from."""

    name: str
    title: str
    about: str
    rows: Sequence[Row]
    reference: str
    published: Sequence[Figure]
    provenance: Sequence[Provenance]
    facts: Sequence[Row] = ()


def write_page(
    page: Page,
    folder: Path,
    *,
    sections: Callable[[Page], list[str]] = lambda _: [],
    beside_others: Callable[[str], bool] = lambda _: True,
) -> None:
    """Write ``NAME.md`` and its plots.

    Parameters
    ----------
    sections
        What else the page says, before the results.
    beside_others
        Whether a contender is tested against the others and drawn; variants of one
        method have sections of their own.
    """
    path = folder / f"{page.name}.md"
    remarks = kept_remarks(path)
    rows = with_ratio(page.rows, page.reference)
    main = [row for row in rows if beside_others(row["method"])]
    plots = _draw(main, page.name, folder)
    parts = [
        f"# {page.title}",
        page.about,
        made_by(page),
        *sections(page),
        _results(rows, page.reference),
        beside(rows, page.published),
        tests_of_difference(main),
        "## Plots\n\n" + "\n\n".join(f"![{title}]({p})" for title, p in plots),
    ]
    if remarks:
        parts.append(f"{REMARKS}\n\n{remarks}")
    write_text(path, "\n\n".join(part for part in parts if part) + "\n", force=True)


def kept_remarks(path: Path) -> str:
    """Return what people wrote on the page, if it is there."""
    if not path.exists():
        return ""
    return read_text(path).partition(f"\n{REMARKS}\n")[2].strip()


def write_rows(path: Path, rows: Sequence[Any]) -> None:
    """Write objects as lines of a CSV file, a column for each attribute."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(vars(rows[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows(vars(row) for row in rows)


def write_under_remarks(path: Path, body: str) -> None:
    """Write a page, and below it what people wrote on the one before."""
    remarks = kept_remarks(path) or "None."
    write_text(path, f"{body}{REMARKS}\n\n{remarks}\n", force=True)


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Lay out a Markdown table, the first column to the left, numbers to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *lines))


def number(value: float | None) -> str:
    """Write a number for people: about four figures, a dash where there is none."""
    if value is None:
        return "–"
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(share: float | None) -> str:
    """Write a share in per cent."""
    return "–" if share is None else f"{100 * share:.2f} %"


def made_by(page: Page) -> str:
    """Say by which commands, when, where and from which seeds the rows were made."""
    rows = page.rows
    count = sum(entry.runs for entry in page.provenance)
    commands = "\n".join(
        f"{entry.command}   # {entry.date}, {entry.runs} runs"
        for entry in page.provenance
    )
    machines = dict.fromkeys(entry.machine for entry in page.provenance)
    tables = sorted({row["table"] for row in rows})
    seeds = sorted({row["seed"] for row in rows})
    return "\n\n".join(
        [
            "## How it was made",
            f"```\n{commands}\n```",
            f"{count} runs on: " + "; and on: ".join(machines) + ".",
            f"Seeds of the tables: {_span(tables)}; seeds of the methods: "
            f"{_span(seeds)}. One process a run. `method@S` had S CPU seconds; the "
            f"others had {_limits(rows)} and mostly end by their own rules. All "
            f"{sum(row['safe'] is True for row in rows)} patterns of "
            f"{sum(not row['failed'] for row in rows)} runs that did not fail passed "
            "the judge.",
        ]
    )


def _span(numbers: Sequence[int]) -> str:
    if len(numbers) > 2 and numbers[-1] - numbers[0] + 1 == len(numbers):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))


def _limits(rows: Sequence[Row]) -> str:
    plain = {row["time_limit"] for row in rows if "@" not in row["method"]}
    return " or ".join(f"{limit:g} s" for limit in sorted(plain)) or "none"


def _results(rows: Sequence[Row], reference: str) -> str:
    parts = [
        "## Results",
        "Cost is that of the secondary cells. A gap is (cost - bound) / bound: to the "
        "bound of all capacity cuts, and to that of the cuts around single rows and "
        "columns. Where a bound is 0 there is no gap. `proved` counts answers "
        "that the method itself proved optimal. The improvement ratio is (cost of "
        f"{reference} - cost) / CPU seconds.",
    ]
    head = (
        "method",
        "runs",
        "failed",
        "mean",
        "median",
        "best",
        "worst",
        "sd",
        "gap",
        "gap (rows, columns)",
        "proved",
        "seconds",
        "CPU s",
        "ratio",
    )
    for (family,), mine in group(rows, "family").items():
        lines = [_line(name, runs) for (name,), runs in group(mine, "method").items()]
        parts.append(f"### {family}\n\n" + markdown_table(head, lines))
    return "\n\n".join(parts)


def _line(method: str, runs: Sequence[Row]) -> list[str]:
    cost = summarise(column(runs, "cost"))
    failed = sum(bool(row["failed"]) for row in runs)
    five = (
        ["–"] * 5
        if cost is None
        else [
            number(x) for x in (cost.mean, cost.median, cost.best, cost.worst, cost.sd)
        ]
    )
    return [
        method,
        str(len(runs)),
        str(failed),
        *five,
        percent(_mean(runs, "gap")),
        percent(_mean(runs, "node_gap")),
        str(sum(_proved(row) for row in runs)),
        number(_mean(runs, "seconds")),
        number(_mean(runs, "cpu_seconds")),
        number(_mean(runs, "ratio")),
    ]


def _mean(rows: Sequence[Row], name: str) -> float | None:
    found = summarise(column(rows, name))
    return None if found is None else found.mean


def _proved(row: Row) -> bool:
    if row["cost"] is None or row["proven"] is None:
        return False
    return bool(row["proven"] >= row["cost"] - 1e-5 * max(1.0, row["cost"]))


def beside(rows: Sequence[Row], figures: Sequence[Figure]) -> str:
    """Put published figures and the same of our rows into one table."""
    known = [
        figure
        for figure in figures
        if (figure.quantity, figure.statistic) not in _LEFT_OUT
        and figure.measured(rows) is not None
    ]
    if not known:
        return ""
    titles = dict.fromkeys((f.quantity, f.statistic) for f in known)
    lines = []
    places: dict[str, None] = {}
    for where, method in dict.fromkeys((f.where, f.method) for f in known):
        mine = {
            (f.quantity, f.statistic): f
            for f in known
            if (f.where, f.method) == (where, method)
        }
        cells = [_both(mine[title], rows) if title in mine else "" for title in titles]
        lines.append([f"{where}: {method}", *cells])
        places.update(dict.fromkeys(f.place for f in mine.values()))
    head = ["tables: method", *(f"{_QUANTITIES[q]}, {s}" for q, s in titles)]
    return "\n\n".join(
        [
            "## Published beside measured",
            "Each entry reads: published / **measured**. Best and worst sets are by "
            "the mean of a family.",
            markdown_table(head, lines),
            "Published figures: " + "; ".join(places) + ".",
        ]
    )


def _both(figure: Figure, rows: Sequence[Row]) -> str:
    show = percent if figure.quantity in _SHARES else number
    published = figure.about + show(figure.value)
    return f"{published} / **{show(figure.measured(rows))}**"


def tests_of_difference(rows: Sequence[Row]) -> str:
    """Say what Friedman and Wilcoxon find in the costs, tables being the blocks."""
    data = block_up(rows, blocks=("family", "table"))
    full = data.complete()
    out = [name for name in data.treatments if name not in full.treatments]
    found = friedman(full)
    pairs = wilcoxon_pairs(data)
    if not pairs:
        return ""
    left_out = (
        f" Left out of Friedman's test, having no cost on some table: {', '.join(out)}."
        if out
        else ""
    )
    return "\n\n".join(
        part
        for part in (
            "## Tests of difference",
            f"Blocks are the {len(data.blocks)} tables, values the mean cost over "
            f"seeds.{left_out}",
            friedman_text(found),
            "Wilcoxon's signed rank test on relative differences, p after Holm over "
            f"all {len(pairs)} pairs, on the tables that both methods protect. Each "
            "entry: median difference of row against column (negative: the row is "
            "cheaper), then p; **bold** below 0.05.",
            pair_matrix(data.treatments, pairs),
        )
        if part
    )


def friedman_text(found: Friedman | None) -> str:
    """Say what Friedman's test found."""
    if found is None:
        return ""
    ranks = sorted(found.ranks.items(), key=lambda item: item[1])
    return (
        f"Friedman: chi-square {found.statistic:.2f}, {len(ranks) - 1} degrees of "
        f"freedom, p = {found.p:.2g} over {found.blocks} tables. Mean ranks: "
        + ", ".join(f"{name} {rank:.2f}" for name, rank in ranks)
        + "."
    )


def pair_matrix(methods: Sequence[str], pairs: Sequence[Pair]) -> str:
    """Lay out the tests of all pairs as a triangle."""
    known = {(pair.first, pair.second): pair for pair in pairs}
    lines = []
    for row, first in enumerate(methods[:-1]):
        cells = [first]
        for place, second in enumerate(methods[1:], start=1):
            pair = known.get((first, second)) if place > row else None
            cells.append("" if pair is None else _pair_text(pair))
        lines.append(cells)
    return markdown_table(["", *methods[1:]], lines)


def _pair_text(pair: Pair) -> str:
    p = f"{pair.holm:.2g}"
    shown = f"**{p}**" if pair.holm < 0.05 else p
    return f"{100 * pair.difference:+.1f} %, {shown} (n={pair.blocks})"


def _draw(rows: Sequence[Row], name: str, folder: Path) -> list[tuple[str, str]]:
    by_gap = any(row["gap"] is not None for row in rows)
    quantity, label = (
        ("percent_gap", "gap to the cut bound, %")
        if by_gap
        else (
            "cost",
            "cost",
        )
    )
    shown = [
        {**row, "percent_gap": None if row["gap"] is None else 100 * row["gap"]}
        for row in rows
    ]
    quality, time = f"{name}.quality.svg", f"{name}.time.svg"
    dots(shown, quantity, label, folder / quality)
    trade_off(shown, quantity, label, folder / time)
    return [
        ("Quality of every run by family and method", quality),
        ("Mean quality against CPU seconds", time),
    ]
