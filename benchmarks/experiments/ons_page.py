"""The page of the ONS studies: their tables III to VIII beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.experiments.ons_elements import ELEMENTS, elements
from benchmarks.experiments.ons_published import (
    ARGUS,
    AS_PUBLISHED,
    CONFIDENCE,
    LARGE_LINES,
    SIX,
    SOURCE,
    TABLE_III,
    TABLE_IV,
    TABLE_V,
    TABLE_VI,
)
from benchmarks.experiments.ons_rows import (
    LARGE_FAMILIES,
    SIZES,
    contender_of,
    counted,
    mean,
    of_families,
    ratios,
    with_relative,
)
from benchmarks.experiments.plots import dots, trade_off
from benchmarks.experiments.statistics import (
    block_up,
    column,
    friedman,
    group,
    signed_rank,
)
from benchmarks.experiments.store import Row
from benchmarks.experiments.write import (
    REMARKS,
    Page,
    friedman_text,
    kept_remarks,
    made_by,
    markdown_table,
    number,
    tests_of_difference,
)
from evosdc.instances.published import OFFICE
from evosdc.io.paths import write_text

# Contenders as published have sections of their own.
_APART = {name + AS_PUBLISHED for _, name in SIX} | set(ELEMENTS.values())


def write_ons(page: Page, folder: Path) -> None:
    """Write ``ons.md`` and its plots."""
    path = folder / f"{page.name}.md"
    remarks = kept_remarks(path)
    rows = with_relative([counted(row) for row in page.rows], page.reference)
    usual = [row for row in rows if row["method"] not in _APART]
    parts = [
        f"# {page.title}",
        page.about,
        made_by(page),
        f"The reference, order-by-weight, is `{page.reference}`. A run counts where "
        "the judge finds its pattern safe and it kept its time limit (to a tenth and a "
        "second); costs of other runs are left out everywhere.",
        _tables(page.facts),
        _savings(rows, usual),
        _protected(rows),
        _costs(usual),
        _evaluations(rows),
        _large(rows, page.facts, page.reference),
        _six(rows),
        elements(rows),
        tests_of_difference(of_families(usual, tuple(OFFICE))),
        _plots(usual, page.name, folder),
    ]
    if remarks:
        parts.append(f"{REMARKS}\n\n{remarks}")
    write_text(path, "\n\n".join(part for part in parts if part) + "\n", force=True)


def _labels(rows: Sequence[Row]) -> list[str]:
    return [str(name) for (name,) in group(rows, "method")]


def _saving(relative: float | None) -> str:
    return "–" if relative is None else f"{100 * (1 - relative):.2f}"


def _saved(runs: Sequence[Row]) -> str:
    return _averaged(runs, "relative", _saving)


def _cost_and_saving(runs: Sequence[Row]) -> str:
    cost = mean(runs, "cost")
    return "–" if cost is None else f"{number(cost)} ({_saved(runs)})"


def _averaged(
    runs: Sequence[Row], name: str, show: Callable[[float | None], str]
) -> str:
    """Show a mean, and over how many runs where some do not count."""
    count = len(column(runs, name))
    text = show(mean(runs, name))
    return text if count in (0, len(runs)) else f"{text} ({count} of {len(runs)})"


def _grid(
    rows: Sequence[Row],
    entry: Callable[[Sequence[Row]], str],
    columns: Mapping[str, Sequence[str]],
) -> str:
    """Lay out a line a contender and a column a group of families that have rows."""
    shown = {name: fs for name, fs in columns.items() if of_families(rows, fs)}
    lines = [
        [
            label,
            *(
                entry([r for r in of_families(rows, fs) if r["method"] == label])
                for fs in shown.values()
            ),
        ]
        for label in _labels(rows)
    ]
    return markdown_table(["method", *shown], lines)


def _tables(facts: Sequence[Row]) -> str:
    mine = [row for row in facts if row["family"] in OFFICE]
    if not mine:
        return ""
    names = ("cells", "zeros", "primaries", "unpicked", "narrow", "exposed")
    lines = [
        [
            str(family),
            str(len(part)),
            *(number(mean(part, name)) for name in names),
        ]
        for (family,), part in group(mine, "family").items()
    ]
    return "\n\n".join(
        [
            "## Tables",
            "Means over the tables of a family. K_u are sensitive cells that unpicking "
            "gives, `by bounds` those that the bounds of their neighbours rule out "
            "besides, K those that the judge finds exposed while only the sensitive "
            "cells are hidden (where the table is a network).",
            markdown_table(
                [
                    "family",
                    "tables",
                    "cells",
                    "zeros",
                    "sensitive",
                    "K_u",
                    "by bounds",
                    "K",
                ],
                lines,
            ),
        ]
    )


def _savings(rows: Sequence[Row], usual: Sequence[Row]) -> str:
    out = [
        "## Cost saved against order-by-weight",
        "Mean percentage; negative where a method costs more. A to F: 200x5, 200x50 "
        "and 4000x10 with 10 % (A, C, E) and 2 % (B, D, F) sensitive. Where some runs "
        "do not count, the mean is over those that do, and says so: it does not "
        "compare with the others.",
        _grid(of_families(usual, tuple(OFFICE)), _saved, {f: (f,) for f in OFFICE}),
    ]
    lines = []
    for family, published in TABLE_III.items():
        if not of_families(rows, (family,)):
            continue
        means = np.mean(published, axis=0)
        cells = [
            f"{theirs:.2f} / **{_saving(mean(_bare(rows, family, name), 'relative'))}**"
            f" / {_saving(mean(_of(rows, family, name), 'relative'))}"
            for theirs, (_, name) in zip(means, SIX, strict=True)
        ]
        lines.append([family, *cells])
    if lines:
        out += [
            f"{SOURCE}, table III, means over the tables of a class (3 hours, 10,000 "
            "evaluations or 1,000 without success), beside ours: published / "
            "**measured as published**, without clean-up / as the methods are here, "
            "which clean the best patterns up.",
            markdown_table(
                ["family", *(f"{theirs}: {ours}" for theirs, ours in SIX)], lines
            ),
        ]
    return "\n\n".join(out)


def _of(rows: Sequence[Row], family: str, method: str) -> list[Row]:
    label = contender_of(rows, method)
    return [r for r in rows if r["family"] == family and r["method"] == label]


def _bare(rows: Sequence[Row], family: str, method: str) -> list[Row]:
    label = method + AS_PUBLISHED
    return [r for r in rows if r["family"] == family and r["method"] == label]


def _protected(rows: Sequence[Row]) -> str:
    def entry(runs: Sequence[Row]) -> str:
        tables = group(runs, "family", "table")
        done = sum(all(row["protected"] for row in mine) for mine in tables.values())
        return f"{done} of {len(tables)}" if tables else "–"

    lines = []
    for theirs, ours in ARGUS:
        label = contender_of(rows, ours)
        cells = [
            f"{TABLE_VI[size][theirs]} of 10 / **"
            + entry([r for r in of_families(rows, SIZES[size]) if r["method"] == label])
            + "**"
            for size in TABLE_VI
        ]
        lines.append([f"{theirs}: {ours}", *cells])
    why = [
        [str(method), str(size), str(reason), str(len(mine))]
        for (method, size, reason), mine in group(
            [
                {**row, "size": _size(row), "reason": _reason(row)}
                for row in rows
                if not row["protected"]
            ],
            "method",
            "size",
            "reason",
        ).items()
    ]
    out = [
        "## Tables protected",
        "Tables that a method protects with every seed, of those it was run on.",
        _grid(rows, entry, SIZES),
        f"{SOURCE}, table VI (tau-Argus 3.2 of 2004; up to 24 hours, GA-group-K 12 "
        "hours), beside ours: published / **measured**.",
        markdown_table(["method", *TABLE_VI], lines),
    ]
    if why:
        out += [
            "Why runs do not count:",
            markdown_table(["method", "tables", "why", "runs"], why),
        ]
    return "\n\n".join(out)


def _size(row: Row) -> str:
    return next(name for name, families in SIZES.items() if row["family"] in families)


def _reason(row: Row) -> str:
    reasons = {
        "ProtectionFailed": "could not protect all cells",
        "LevelError": "levels out of reach",
        "RefusedError": "does not take such tables",
        "OutOfTime": "ended after three times its limit",
    }
    if row["failed"]:
        return reasons[str(row["why"])]
    return "too late" if row["safe"] else "not safe"


def _costs(rows: Sequence[Row]) -> str:
    small = {name: SIZES[name] for name in TABLE_VI}
    lines = []
    ga = contender_of(rows, "order-ga")
    for k, (theirs, ours) in enumerate(ARGUS[1:]):
        label = contender_of(rows, ours)
        cells = []
        for families in small.values():
            published = [
                cost / start
                for family in families
                for start, *costs in TABLE_V[family]
                if (cost := costs[k]) is not None and start is not None
            ]
            measured = ratios(of_families(rows, families), label, ga)
            cells.append(f"{_times(published)} / **{_times(measured)}**")
        lines.append([f"{theirs}: {ours}", *cells])
    return "\n\n".join(
        [
            "## Cost",
            "Mean cost of the secondaries.",
            _grid(
                of_families(rows, tuple(OFFICE)),
                lambda runs: _averaged(runs, "cost", number),
                {family: (family,) for family in OFFICE},
            ),
            f"{SOURCE}, table V, as multiples of the cost of GA-group-K on the same "
            "table (here: of `order-ga`), means over the tables that both protect, "
            "beside ours: published / **measured**.",
            markdown_table(["method", *small], lines),
        ]
    )


def _times(ratios: Sequence[float]) -> str:
    if not ratios:
        return "–"
    return f"{np.mean(ratios):.2f} (n={len(ratios)})"


def _evaluations(rows: Sequence[Row]) -> str:
    def entry(runs: Sequence[Row]) -> str:
        count, seconds = mean(runs, "evaluations"), mean(runs, "cpu_seconds")
        return "–" if count is None else f"{number(count)} in {number(seconds)} s"

    return "\n\n".join(
        [
            "## Evaluations",
            "Mean number of patterns built, and mean CPU seconds. The source made "
            "fewer than 150 evaluations of single cells and some 2,000 of groups on a "
            "4000x10 table in 12 hours (figure 3).",
            _grid(rows, entry, SIZES),
        ]
    )


def _large(rows: Sequence[Row], facts: Sequence[Row], reference: str) -> str:
    known = {row["family"]: row for row in facts if row["family"] in LARGE_FAMILIES}
    if not known:
        return ""
    ga = contender_of(rows, "order-ga")
    lines = []
    for family, line in zip(LARGE_FAMILIES, LARGE_LINES, strict=True):
        if family not in known:
            continue
        fact = known[family]
        mine = [row for row in of_families(rows, (family,)) if row["cost"] is not None]
        best = min(mine, key=lambda row: float(row["cost"]), default=None)
        runs = [row for row in mine if row["method"] == ga]
        saved = _saving(mean(runs, "relative"))
        lines.append(
            [
                f"{family}: {line.shape}",
                f"{line.cells:,} / **{fact['cells']:,}**",
                f"{line.primaries:,} / **{fact['primaries']:,}**",
                f"{line.exposed:,} / **{fact['unpicked']:,}**",
                f"{fact['narrow']:,}",
                number(fact["unpick_seconds"]),
                f"{line.calls} / **{number(mean(runs, 'evaluations'))}**",
                f"{line.improvement:g} / **{saved}**",
                number(mean(runs, "cpu_seconds")),
                number(mean(runs, "judge_seconds")),
                "–"
                if best is None
                else f"{best['method']} ({_saving(best['relative'])})",
            ]
        )
    return "\n\n".join(
        [
            "## Large tables",
            f"{SOURCE}, tables VII and VIII (24 hours a table), beside ours: published "
            "/ **measured**. K_u is what unpicking finds, `by bounds` what bounds "
            "rule out besides. Evaluations, percentage saved against "
            f"`{reference}`, CPU seconds of the search and of the judge are those of "
            "`order-ga`; then the cheapest method, with its saving.",
            markdown_table(
                [
                    "table",
                    "cells",
                    "sensitive",
                    "K_u",
                    "by bounds",
                    "unpicking, s",
                    "evaluations",
                    "saved, %",
                    "search, s",
                    "judge, s",
                    "cheapest",
                ],
                lines,
            ),
            "Cost of the secondaries, and percentage saved.",
            _grid(
                of_families(rows, LARGE_FAMILIES),
                _cost_and_saving,
                {family: (family,) for family in LARGE_FAMILIES},
            ),
        ]
    )


def _six(rows: Sequence[Row]) -> str:
    """Ranks and tests of the three local searches and the three genetic algorithms."""
    labels = {ours: contender_of(rows, ours) for _, ours in SIX}
    mine = [row for row in rows if row["method"] in labels.values()]
    small = of_families(mine, tuple(OFFICE))
    if not small:
        return ""
    data = block_up(small, blocks=("family", "table"))
    found = friedman(data.complete())
    ranks = {} if found is None else found.ranks
    lines = [
        [
            f"{theirs}: {ours}",
            f"{7 - TABLE_IV[ours]:.2f}",
            number(ranks.get(labels[ours] or "")),
        ]
        for theirs, ours in SIX
    ]
    pairs = []
    for first, second, confidence in CONFIDENCE:
        gaps = [
            x - 1.0
            for x in ratios(small, labels[first], labels[second])  # first / second
        ]
        p = f"{signed_rank(np.array(gaps)):.2g}" if gaps else "–"
        middle = f"{100 * float(np.median(gaps)):+.2f} %" if gaps else "–"
        pairs.append([f"{first} against {second}", confidence, p, middle])
    return "\n\n".join(
        part
        for part in (
            "## The six orders: ranks and tests",
            f"{SOURCE}, table IV, and section IV-B, on the tables A to H6. Ranks count "
            "from 1, the cheapest (the source counts from the dearest: its figures "
            "here are 7 less its own).",
            markdown_table(["method", "published rank", "measured rank"], lines),
            friedman_text(found),
            markdown_table(
                [
                    "Wilcoxon's signed rank test",
                    "published confidence that they differ",
                    "measured p",
                    "median difference of cost",
                ],
                pairs,
            ),
        )
        if part
    )


def _plots(rows: Sequence[Row], name: str, folder: Path) -> str:
    shown = [
        {
            **row,
            "percent": None if row["relative"] is None else 100 * row["relative"],
        }
        for row in rows
    ]
    if not column(shown, "percent"):
        return ""
    label = "cost in % of order-by-weight"
    quality, time = f"{name}.quality.svg", f"{name}.time.svg"
    dots(shown, "percent", label, folder / quality)
    trade_off(shown, "percent", label, folder / time)
    return (
        f"## Plots\n\n![Cost of every run by family and method]({quality})\n\n"
        f"![Mean cost against CPU seconds]({time})"
    )
