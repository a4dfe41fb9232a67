"""Charts of the page about a synthetic file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from evosdc.metrics.evaluation import Margin, Measurements, PairGap
from evosdc.report.kit.chart import Plane
from evosdc.report.kit.parts import esc, percent

Row = Mapping[str, Any]

REFERENCES = {
    "original": "the original itself",
    "bootstrap": "a bootstrap of the original",
    "independent": "univariate baseline",
    "holdout": "other real people",
}
_MAX_LEVELS = 15
_MAX_VARIABLES = 40
_KEY = (
    '<ul class="key"><li><b class="real">&nbsp;</b>original</li>'
    '<li><b class="made">&nbsp;</b>synthetic</li></ul>'
)
_MAP_KEY = (
    '<ul class="key"><li><b class="made">&nbsp;</b>this file</li>'
    '<li><b class="real">&nbsp;</b>front of the run</li>'
    '<li><b class="mark">&nbsp;</b>references</li></ul>'
)


def risk_utility_map(
    evaluation: Measurements, front: Sequence[Row], *, utility: str, risk: str
) -> str:
    """Draw the file, the front of its run and references by risk and utility."""
    across, up = evaluation[utility], evaluation[risk]
    marks = [
        (words, (across.baselines[name], up.baselines[name]))
        for name, words in REFERENCES.items()
        if name in across.baselines and name in up.baselines
    ]
    shown = [row for row in front if _pick([row], "utility", "risk")]
    candidates = [(x, y) for x, y in _pick(shown, "utility", "risk")]
    near = [bool(row.get("closer_than_fresh")) for row in shown]
    here = (across.value, up.value)
    guess = up.baselines.get("univariate")
    plane = Plane.around(
        [here, *candidates, *(point for _, point in marks)]
        + ([(here[0], guess)] if guess is not None else [])
    )
    body = "".join(
        plane.dot(point, "near", 4, "front, closer than a fresh sample")
        if close
        else plane.dot(point, "real", 4, "front")
        for point, close in zip(candidates, near, strict=True)
    )
    if guess is not None:
        body += plane.level(guess, "guessing from the target alone")
    for words, point in marks:
        body += plane.dot(point, "mark", 5, words) + plane.label(point, words)
    body += plane.dot(here, "made", 7, "this file")
    body += plane.label(here, "this file", rise=11)
    svg = plane.svg(body, across.title, up.title, "risk-utility map")
    note = ""
    if any(near):
        note = (
            "<figcaption>Hollow points are closer to the original than a fresh sample "
            "would be: they repeat people, not structure.</figcaption>"
        )
    return f"{_MAP_KEY}<figure>{svg}{note}</figure>"


def generations(run: Sequence[Row]) -> str:
    """Draw the objectives of the best candidate by generation."""
    charts = []
    for name in ("utility", "risk"):
        points = [(x, y) for x, y in _pick(run, "generation", name)]
        if not points:
            continue
        plane = Plane.around(points)
        label = f"{name} by generation"
        svg = plane.svg(plane.line(points), "generation", f"{name} objective", label)
        charts.append(f"<figure>{svg}</figure>")
    return f'<div class="charts">{"".join(charts)}</div>'


def margins(found: Sequence[Margin], rare: float) -> str:
    """Draw the share of each level in both files; levels that are `rare` are not."""
    charts = "".join(_margin(margin, rare) for margin in found[:_MAX_VARIABLES])
    rest = len(found) - _MAX_VARIABLES
    more = f'<p class="note">and {rest} more variables</p>' if rest > 0 else ""
    return f'{_KEY}<div class="charts">{charts}</div>{more}'


def _margin(margin: Margin, rare: float) -> str:
    order = sorted(range(len(margin.labels)), key=lambda i: -margin.original[i])
    common = [i for i in order if not 0.0 < margin.original[i] < rare - 1e-12]
    shown = common[:_MAX_LEVELS]
    top = max(max(margin.original), max(margin.synthetic))
    rows = []
    for place, i in enumerate(shown):
        y = 22 * place
        rows.append(
            f'<text x="128" y="{y + 14}" text-anchor="end">'
            f"{esc(margin.labels[i][:20])}</text>"
            + _bar(margin.original[i], top, y + 2, "real")
            + _bar(margin.synthetic[i], top, y + 11, "made")
        )
    rest = len(order) - len(shown)
    note = f", {rest} rarer levels not shown" if rest else ""
    return (
        f"<figure><figcaption>{esc(margin.name)}{note}</figcaption>"
        f'<svg class="chart" viewBox="0 0 420 {22 * len(shown)}" role="img" '
        f'aria-label="{esc(margin.name)}">{"".join(rows)}</svg></figure>'
    )


def _bar(share: float, top: float, y: int, kind: str) -> str:
    return (
        f'<rect class="{kind}" x="134" y="{y}" height="8" '
        f'width="{round(280 * share / top, 1)}">'
        f"<title>{percent(share)}</title></rect>"
    )


def pairs(found: Sequence[PairGap]) -> str:
    """Show the distance of each two-way table, darker where it is further."""
    if not found:
        return '<p class="note">There is one variable only, or there was no time.</p>'
    names = list(dict.fromkeys(n for p in found for n in (p.first, p.second)))
    names = names[:_MAX_VARIABLES]
    gaps = {frozenset((pair.first, pair.second)): pair.distance for pair in found}
    top = max(gaps.values()) or 1.0

    def cell(first: str, second: str) -> str:
        gap = gaps.get(frozenset((first, second)))
        if gap is None:
            return "<td></td>"
        shade = round(100 * gap / top * 0.8)
        paint = f"color-mix(in srgb,var(--made) {shade}%,transparent)"
        return f'<td style="background:{paint}">{gap:.3f}</td>'

    return (
        '<p class="note">Jensen-Shannon distance of each two-way table; darker is '
        'further.</p><div class="scroll"><table class="grid">'
        + _matrix(names, cell)
        + "</table></div>"
    )


def _matrix(names: Sequence[str], cell: Callable[[str, str], str]) -> str:
    heads = "".join(f"<th>{esc(name)}</th>" for name in names)
    rows = "".join(
        f"<tr><th>{esc(a)}</th>{''.join(cell(a, b) for b in names)}</tr>" for a in names
    )
    return f"<thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody>"


def _pick(rows: Sequence[Row], *names: str) -> list[tuple[float, ...]]:
    """Return the rows in which all names hold a finite number."""
    found = []
    for row in rows:
        values = [row.get(name) for name in names]
        if all(v is not None and isfinite(float(v)) for v in values):
            found.append(tuple(float(v) for v in values if v is not None))
    return found
