"""The part of a page that compares numbers as numbers."""

from __future__ import annotations

from evosdc.metrics.numeric_comparison import LinkGap, NumberComparison
from evosdc.report.kit.parts import numbers, plain_table
from evosdc.report.kit.text import esc, figure

_MOST_LINKS = 20


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
        + _links("Correlations furthest apart", found.correlations)
        + _links("Standardised coefficients furthest apart", found.coefficients)
    )


def _links(title: str, links: tuple[LinkGap, ...]) -> str:
    if not links:
        return ""
    worst = sorted(links, key=lambda link: -link.gap)[:_MOST_LINKS]
    rows = [
        f"<tr><td>{esc(link.first)}</td><td>{esc(link.second)}</td>"
        + numbers(map(figure, (link.original, link.synthetic, link.gap)))
        + "</tr>"
        for link in worst
    ]
    heads = ("of", "and", ">original", ">copy", ">apart")
    return f"<h3>{esc(title)}</h3>{plain_table(heads, rows)}"
