"""The page of NIST's board: a table by feature set, and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments.provenance import Provenance
from benchmarks.experiments.write import write_under_remarks

# So many of the best published lines are shown beside ours.
_BEST = 5
_OURS = ("evosdc", "bootstrap")
_HEAD = (
    "| synthesiser | epsilon | k-marginal | lone people there whole, % | "
    "impossible records | seconds |"
)


def write_nist(
    output: Path, target: str, entries: Sequence[Any], made: Provenance
) -> list[Path]:
    """Write the page and the picture; our lines are in their file already."""
    table, page = output / "nist.csv", output / "nist.md"
    picture = output / "nist.svg"
    _draw(picture, entries)
    write_under_remarks(page, _page(target, entries, made))
    return [table, page, picture]


def _page(target: str, entries: Sequence[Any], made: Provenance) -> str:
    parts = [
        f"# NIST's board: {target}",
        "",
        "Synthetic versions of an excerpt of the American Community Survey, published "
        "in NIST's Collaborative Research Cycle, beside ours with default settings. "
        "The k-marginal score is 1000 where all tables of an area and two features are "
        "alike; a bootstrap of the original says what sampling alone leaves of it. The "
        "next figure is the share of all records that are lone people's and stand "
        "whole in the copy. Impossible records break what the dictionary says of its "
        "features: a marital status under 15, say. Of the board the best lines are "
        "shown.",
        "",
        "![k-marginal score against lone people](nist.svg)",
        "",
    ]
    for features in dict.fromkeys(e.features for e in entries):
        mine = [e for e in entries if e.features == features]
        made_here = [e for e in mine if e.library in _OURS]
        board = sorted((e for e in mine if e not in made_here), key=lambda e: -e.score)
        if not made_here:
            continue
        parts += [
            f"## {features}",
            "",
            _HEAD,
            "| --- | --- | ---: | ---: | ---: | ---: |",
        ]
        parts += [_line(e) for e in (*made_here, *board[:_BEST])]
        parts.append("")
    parts += [
        f"Made by `{made.command}` on {made.date}; {made.machine}.",
        "",
        "",
    ]
    return "\n".join(parts)


def _line(entry: Any) -> str:
    name = entry.library
    if entry.algorithm not in (entry.library, "default"):
        name += f", {entry.algorithm}"
    if entry.seed:
        name = f"**{name}**, seed {entry.seed}"
    seconds = f"{entry.seconds:.0f}" if entry.seconds else ""
    known = "" if entry.impossible is None else str(entry.impossible)
    return (
        f"| {name} | {entry.epsilon} | {entry.score:.1f} | {entry.matched:.2f} | "
        f"{known} | {seconds} |"
    )


def _draw(path: Path, entries: Sequence[Any]) -> None:
    """Draw the score against matches, a panel for each set of features."""
    from matplotlib.figure import Figure

    sets = list(
        dict.fromkeys(e.features for e in entries if e.library == "evosdc")
    ) or [entries[0].features]
    figure = Figure(figsize=(4.0 * len(sets), 3.6))
    for place, features in enumerate(sets, 1):
        axis = figure.add_subplot(1, len(sets), place)
        mine = [e for e in entries if e.features == features]
        for library, mark, colour in (
            ("", "o", "0.6"),
            ("bootstrap", "s", "C0"),
            ("evosdc", "*", "C3"),
        ):
            known = ("bootstrap", "evosdc")
            shown = [
                e
                for e in mine
                if (e.library == library or not library)
                and (bool(library) or e.library not in known)
            ]
            axis.plot(
                [e.matched for e in shown],
                [e.score for e in shown],
                mark,
                color=colour,
                ms=10 if library == "evosdc" else 5,
                label=library or "the board",
            )
        axis.set_title(features, fontsize=9)
        axis.set_xlabel("lone people there whole, %", fontsize=8)
        axis.set_ylabel("k-marginal score", fontsize=8)
        axis.set_ylim(600, 1005)
        axis.grid(alpha=0.3)
    figure.axes[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None})
