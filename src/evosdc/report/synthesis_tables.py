"""Tables of the page about a synthetic file: numbers compared, and small groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evosdc.metrics.numeric_comparison import AssociationGap, NumberComparison
from evosdc.report.kit.parts import bullets, esc, figure, numbers, plain_table

_MAX_LINKS = 20
_MAX_ROWS = 60


def numbers_html(found: NumberComparison) -> str:
    """Return distances of each column, and the worst correlations and coefficients."""
    rows = [
        f"<tr><td>{esc(c.name)}</td>"
        + numbers(map(figure, (c.errors, c.spread, c.ks, c.wasserstein)))
        + "</tr>"
        for c in found.columns
    ]
    heads = (
        "column",
        ">means apart, in standard errors",
        ">standard deviation, as a multiple",
        ">Kolmogorov-Smirnov",
        ">Wasserstein, in standard deviations",
    )
    return (
        plain_table(heads, rows)
        + _associations("Correlations furthest apart", found.correlations)
        + _associations("Standardised coefficients furthest apart", found.coefficients)
    )


def _associations(title: str, gaps: tuple[AssociationGap, ...]) -> str:
    if not gaps:
        return ""
    worst = sorted(gaps, key=lambda one: -one.gap)[:_MAX_LINKS]
    rows = [
        f"<tr><td>{esc(one.first)}</td><td>{esc(one.second)}</td>"
        + numbers(map(figure, (one.original, one.synthetic, one.gap)))
        + "</tr>"
        for one in worst
    ]
    heads = ("of", "and", ">original", ">copy", ">apart")
    return f"<h3>{esc(title)}</h3>{plain_table(heads, rows)}"


def groups_html(groups: Any) -> str:
    """Return what was done and what is left, as sentences and three tables.

    Parameters
    ----------
    groups
        An `evosdc.synth.small_groups.SmallGroups`. It holds counts and names of
        columns; no level of the original is on the page.
    """
    lines = groups.sentences()
    return "".join(
        [
            bullets(lines) if lines else "<p>There are none.</p>",
            _table(
                f"Levels that fewer than {groups.least} people have",
                ("column", "in the original", "of these in the copy"),
                [(c.name, c.few, c.shown) for c in groups.columns if c.few],
            ),
            _table(
                f"Pairs of values that fewer than {groups.least} people have",
                ("columns", "in the original", "of these in the copy", "by chance"),
                [
                    (f"{p.first} × {p.second}", p.few, p.shown, f"{p.chance:.1f}")
                    for p in sorted(groups.pairs, key=lambda p: -p.few)
                ],
            ),
            _table(
                "Numbers as they are in both files",
                ("column", "file", *_heads(groups)),
                [
                    (n.name, file, *(f"{found[h]:,g}" for h in _heads(groups)))
                    for n in groups.numbers
                    for file, found in (
                        ("original", n.original),
                        ("copy", n.synthetic),
                    )
                    if found
                ],
            ),
        ]
    )


def _heads(groups: Any) -> list[str]:
    """Return what is known of numbers: mean, standard deviation, quantiles."""
    return next((list(n.original) for n in groups.numbers if n.original), [])


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    body = [
        "<tr>" + "".join(f"<td>{esc(cell)}</td>" for cell in row) + "</tr>"
        for row in rows[:_MAX_ROWS]
    ]
    rest = len(rows) - _MAX_ROWS
    more = f'<p class="note">and {rest} more</p>' if rest > 0 else ""
    return f"<h3>{esc(title)}</h3>{plain_table(heads, body)}{more}"
