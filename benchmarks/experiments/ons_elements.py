"""What an order holds: single cells or groups, all sensitive cells or exposed ones.

Section V of Smith, Clark, Staggemeier and Serpell (2011) compares three algorithms that
adapt themselves; groups of K_u are those of section VII, and groups by row and column
the wish of section VIII.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.experiments.ons_published import SOURCE
from benchmarks.experiments.ons_rows import SIZES, mean, of_families, ratios
from benchmarks.experiments.statistics import block_up, friedman, signed_rank
from benchmarks.experiments.store import Row
from benchmarks.experiments.write import friedman_text, markdown_table, number
from evosdc.instances.published import OFFICE

# As published: no clean-up, no ruin and recreate.
_BARE = "+clean=never+ruin=0"
ELEMENTS = {
    "GA-one-P": f"order-ga+cells=all+groups=0{_BARE}",
    "GA-one-K": f"order-ga+cells=exposed+groups=0{_BARE}",
    "GA-group-K": f"order-ga+cells=exposed+groups=40{_BARE}",
    "GA-group-K_u": f"order-ga+cells=unpicked+groups=20{_BARE}",
    "groups by row": f"order-ga+cells=exposed+groups=40+grouping=row{_BARE}",
    "groups by column": f"order-ga+cells=exposed+groups=40+grouping=column{_BARE}",
}
# Section V-B: tables best or equally best protected, of 38 and of the ten of 40,000
# cells; mean ranks on those ten.
_BEST = {"GA-one-P": 7, "GA-one-K": 12, "GA-group-K": 22}
_BEST_LARGE = {"GA-one-P": 1, "GA-one-K": 1, "GA-group-K": 8}
_RANKS = {"GA-one-P": 2.56, "GA-one-K": 2.22, "GA-group-K": 1.22}
_TESTS = (
    ("GA-one-K", "GA-one-P", "98.2 %", "–"),
    ("GA-group-K", "GA-one-P", "96.8 %", "99.3 %"),
    ("GA-group-K", "GA-one-K", "none", "98.7 %"),
)
# Costs this close are equally good.
_EQUAL = 1e-9


def elements(rows: Sequence[Row]) -> str:
    """Write the section, or nothing where none of its contenders was run."""
    mine = of_families(
        [row for row in rows if row["method"] in ELEMENTS.values()], tuple(OFFICE)
    )
    if not mine:
        return ""
    large = of_families(mine, SIZES["4000x10"])
    best, best_large = _best(mine), _best(large)
    data = block_up(large, blocks=("family", "table"))
    found = friedman(data.complete())
    ranks = {} if found is None else found.ranks
    lines = []
    for theirs, label in ELEMENTS.items():
        runs = [row for row in mine if row["method"] == label]
        lines.append(
            [
                theirs,
                f"{_BEST.get(theirs, '–')} / **{best.get(label, '–')}**",
                f"{_BEST_LARGE.get(theirs, '–')} / **{best_large.get(label, '–')}**",
                f"{_RANKS.get(theirs, '–')} / **{number(ranks.get(label))}**",
                *(_saved(of_families(runs, SIZES[size])) for size in _sizes(mine)),
                number(mean(of_families(runs, SIZES["4000x10"]), "evaluations")),
            ]
        )
    return "\n\n".join(
        part
        for part in (
            "## What an order holds",
            f"{SOURCE}, section V (12 hours a run), beside ours: published / "
            "**measured**. P are all sensitive cells, K those that the sensitive cells "
            "alone leave exposed, K_u those that unpicking finds; 40 groups of K, 20 "
            "of K_u, by weight unless said otherwise. All without clean-up, as "
            "published. `best` counts the tables on which a contender is best or "
            "equally best by its mean over the seeds; the source compares three "
            "contenders on 38 tables, we six.",
            markdown_table(
                [
                    "contender",
                    "best",
                    "best of 4000x10",
                    "mean rank on 4000x10",
                    *(f"saved on {size}, %" for size in _sizes(mine)),
                    "evaluations on 4000x10",
                ],
                lines,
            ),
            friedman_text(found),
            markdown_table(
                [
                    "Wilcoxon's signed rank test",
                    "published confidence, all tables",
                    "measured p",
                    "published confidence, 4000x10",
                    "measured p, 4000x10",
                ],
                [
                    [
                        f"{first} against {second}",
                        everywhere,
                        _p(mine, first, second),
                        there,
                        _p(large, first, second),
                    ]
                    for first, second, everywhere, there in _TESTS
                ],
            ),
        )
        if part
    )


def _sizes(rows: Sequence[Row]) -> list[str]:
    return [size for size, families in SIZES.items() if of_families(rows, families)]


def _saved(runs: Sequence[Row]) -> str:
    relative = mean(runs, "relative")
    return "–" if relative is None else f"{100 * (1 - relative):.2f}"


def _best(rows: Sequence[Row]) -> dict[str, int]:
    """On how many tables each contender is best or equally best."""
    data = block_up(rows, blocks=("family", "table")).complete()
    if not len(data.values):
        return {}
    least = data.values.min(axis=1, keepdims=True)
    wins = (data.values <= least * (1 + _EQUAL)).sum(axis=0)
    return dict(zip(data.treatments, wins.tolist(), strict=True))


def _p(rows: Sequence[Row], first: str, second: str) -> str:
    gaps = np.array(ratios(rows, ELEMENTS[first], ELEMENTS[second])) - 1.0
    return f"{signed_rank(gaps):.2g}" if len(gaps) else "–"
