"""The page about a synthetic file: one HTML document that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isfinite, log10
from typing import Any

from evosdc.metrics.evaluation import (
    Comparisons,
    Evaluation,
    Margin,
    MetricValue,
    PairGap,
)
from evosdc.metrics.fresh import FreshTest
from evosdc.report.small_groups import groups_html
from evosdc.synthetic_claim import SyntheticClaim

Row = Mapping[str, Any]
Point = tuple[float, float]

_MARKS = {
    "original": "the original itself",
    "bootstrap": "a bootstrap of the original",
    "independent": "univariate baseline",
    "holdout": "other real people",
}
_MAX_LEVELS = 15
_MAX_VARIABLES = 40
_MAX_PARTS = 60

_STYLE = """
:root{--ink:#1d2330;--dim:#5b6474;--line:#d5dae3;--paper:#fff;--card:#f6f7fa;
--a:#2456b3;--b:#d9792b;--good:#1e7a46;--bad:#b3261e;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9f0;--dim:#9aa4b5;--line:#3a4254;
--paper:#141821;--card:#1d2330;--a:#7fa7f5;--b:#f0a765;--good:#6fce97;--bad:#ff8a80}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);
max-width:1080px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.2rem}
table{border-collapse:collapse;width:100%;font-size:13px}
th,td{text-align:left;padding:.3rem .5rem;border-bottom:1px solid var(--line);
vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.dim{color:var(--dim)}.wide{overflow-x:auto}
.verdict{padding:.8rem 1rem;border-left:5px solid var(--dim);background:var(--card)}
.verdict.exposed{border-color:var(--bad)}.verdict.clear{border-color:var(--good)}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));gap:1rem}
figure{margin:0;background:var(--card);padding:.6rem}figcaption{font-size:13px}
svg{width:100%;height:auto;max-width:760px}
svg text{fill:var(--ink);font:11px system-ui,sans-serif}
svg .axis{stroke:var(--line)}svg .a{fill:var(--a)}svg .b{fill:var(--b)}
svg .near{fill:none;stroke:var(--a)}
svg .line{fill:none;stroke:var(--a);stroke-width:2}svg .mark{fill:var(--dim)}
"""


def synthesis_html(
    evaluation: Evaluation,
    run: Sequence[Row] | None = None,
    front: Sequence[Row] | None = None,
    comparisons: Comparisons | None = None,
    *,
    title: str = "Synthetic data",
    utility: str = "jsd_2",
    risk: str = "dcap_u",
    claim: SyntheticClaim | None = None,
    small_groups: Any = None,
) -> str:
    """Return the page as text.

    Parameters
    ----------
    evaluation
        What `evosdc.metrics.evaluate` gave.
    run
        The run record, a row a generation: `generation`, `utility`, `risk`.
    front
        The Pareto front, a row a candidate: `utility`, `risk`, measured as the metrics
        that the two arguments below name, and `closer_than_fresh` where it is known.
    comparisons
        Margins and pairs to show; those of the evaluation where not given.
    title
        The heading.
    utility, risk
        The metrics on the axes of the risk-utility map, which is left out where there
        was no time for one of them.
    claim
        What the verdict is about.
    small_groups
        What a synthesis did about small groups, `evosdc.synth.small_groups`.
    """
    shown = comparisons or evaluation.comparisons
    # What the copy must not show, its report must not either.
    rare = small_groups.least / max(1, evaluation.rows) if small_groups else 0.0
    parts = [
        f"<h1>{escape(title)}</h1>",
        _facts(evaluation),
        verdict_block(evaluation),
        claim_block(claim) if claim is not None else "",
        _section("The tests behind the verdict", _tests(evaluation.tests)),
        _section("What was not protected", _list(evaluation.plain_words)),
        _section("Small groups", groups_html(small_groups)) if small_groups else "",
        ""
        if {utility, risk} & set(evaluation.not_measured)
        else _section(
            "Risk and utility",
            _map(evaluation, front or (), utility=utility, risk=risk),
        ),
        _section("By generation", _generations(run)) if run else "",
        _section("Utility", _metrics(evaluation, "utility")),
        _section("Risk", _metrics(evaluation, "risk")),
        _section("Not measured", _skipped(evaluation)) if evaluation.skipped else "",
        _section("One variable at a time", _margins(shown.margins, rare)),
        _section("Two variables at a time", _pairs(shown.pairs)),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        + "\n".join(part for part in parts if part)
        + "</body></html>\n"
    )


def _section(heading: str, body: str) -> str:
    return f"<section><h2>{escape(heading)}</h2>{body}</section>"


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _facts(evaluation: Evaluation) -> str:
    held = evaluation.holdout_rows
    text = (
        f"{evaluation.rows:,} original and {evaluation.synthetic_rows:,} synthetic "
        f"records of {len(evaluation.names)} variables; "
        f"key {', '.join(evaluation.key)}; target {evaluation.target}; "
        + (f"hold-out of {held:,} records" if held is not None else "no hold-out")
        + f"; seed {evaluation.seed}."
    )
    return (
        f"<p>{escape(text)}</p><p class=dim>This page holds figures of the original "
        "data: it is for their owner, not for release.</p>"
    )


def claim_block(claim: SyntheticClaim) -> str:
    """Return what was tested, against whom."""
    rows = "".join(
        f"<tr><th>{escape(title)}</th><td>{escape(text)}</td></tr>"
        for title, text in claim.rows()
    )
    return _section("What was tested, against whom", f"<table>{rows}</table>")


def _tests(tests: Sequence[FreshTest]) -> str:
    rows = "".join(
        f"<tr><td>{escape(test.title)}</td><td>{escape(test.against)}</td>"
        + "".join(
            f"<td class=n>{_number(v)}</td>"
            for v in (test.value, test.usual, test.bound, test.of)
        )
        + f"<td>{'passed' if test.passed else '<strong>failed</strong>'}</td></tr>"
        for test in tests
    )
    heads = "".join(
        f"<th class=n>{word}</th>"
        for word in ("synthetic", "fresh", "most by chance", "attacked")
    )
    return (
        "<p class=dim>Part of the original is attacked with synthetic records and with "
        "as many fresh ones; means over several random splits.</p><div class=wide>"
        f"<table><thead><tr><th>counted</th><th>fresh records are</th>{heads}<th></th>"
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def verdict_block(evaluation: Evaluation) -> str:
    """Return the verdict and the reasons against a release."""
    return (
        f'<div class="verdict {"clear" if evaluation.fit else "exposed"}">'
        f"<strong>Verdict: {escape(evaluation.verdict)}.</strong>"
        + (_list(evaluation.reasons) if evaluation.reasons else "")
        + "</div>"
    )


def _number(value: float) -> str:
    if not isfinite(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.4g}".replace("-", "−")


def _metrics(evaluation: Evaluation, kind: str) -> str:
    values = [value for value in evaluation.values if value.kind == kind]
    columns = [
        name
        for name in (*_MARKS, "univariate", "chance")
        if any(name in value.baselines for value in values)
    ]
    heads = "".join(f"<th class=n>{escape(name)}</th>" for name in columns)
    rows = "".join(_metric_row(value, columns) for value in values)
    return (
        "<div class=wide><table><thead><tr><th>metric</th><th>goal</th><th>range</th>"
        f"<th class=n>value</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _metric_row(value: MetricValue, columns: Sequence[str]) -> str:
    cells = "".join(
        f"<td class=n>{_number(value.baselines[name])}</td>"
        if name in value.baselines
        else "<td></td>"
        for name in columns
    )
    parts = "".join(
        f"<tr><td>{escape(label)}</td><td class=n>{_number(part)}</td></tr>"
        for label, part in value.breakdown[:_MAX_PARTS]
    )
    rest = len(value.breakdown) - _MAX_PARTS
    if rest > 0:
        parts += f"<tr><td class=dim>and {rest} more</td><td></td></tr>"
    arrow = "↓ lower is better" if value.goal == "minimise" else "↑ higher is better"
    low, high = value.range
    return (
        f"<tr><td>{escape(value.title)} <span class=dim>{escape(value.name)}</span>"
        f"<details><summary class=dim>parts and source</summary><p>"
        f"{escape(value.source)}</p><table>{parts}</table></details></td>"
        f"<td>{arrow}</td><td>{_number(low)} to {_number(high)}</td>"
        f"<td class=n><strong>{_number(value.value)}</strong></td>{cells}</tr>"
    )


def _skipped(evaluation: Evaluation) -> str:
    return _list([f"{name}: {reason}" for name, reason in evaluation.skipped])


@dataclass(frozen=True)
class _Frame:
    """The plane of a chart: data ranges on a box of 520 by 300."""

    x: tuple[float, float]
    y: tuple[float, float]

    width, height, left, right, top, bottom = 520, 300, 66, 16, 12, 40

    @classmethod
    def around(cls, points: Sequence[Point]) -> _Frame:
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        return cls(_span(xs), _span(ys))

    def place(self, point: Point) -> Point:
        wide = self.width - self.left - self.right
        high = self.height - self.top - self.bottom
        x = self.left + wide * (point[0] - self.x[0]) / (self.x[1] - self.x[0])
        y = self.top + high * (self.y[1] - point[1]) / (self.y[1] - self.y[0])
        return round(x, 1), round(y, 1)

    def svg(self, body: str, across: str, up: str, label: str) -> str:
        base, side = self.height - self.bottom, self.width - self.right
        ticks = [
            f'<text x="{self.place((value, self.y[0]))[0]}" y="{base + 14}" '
            f'text-anchor="middle">{_number(value)}</text>'
            for value in _ticks(*self.x)
        ] + [
            f'<text x="{self.left - 5}" y="{self.place((self.x[0], value))[1] + 4}" '
            f'text-anchor="end">{_number(value)}</text>'
            for value in _ticks(*self.y)
        ]
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(label)}">'
            f'<path class="axis" fill="none" '
            f'd="M{self.left} {self.top}V{base}H{side}"/>'
            + "".join(ticks)
            + f'<text x="{(self.left + side) / 2}" y="{self.height - 6}" '
            f'text-anchor="middle">{escape(across)}</text>'
            f'<text x="12" y="{base / 2}" text-anchor="middle" '
            f'transform="rotate(-90 12 {base / 2})">{escape(up)}</text>{body}</svg>'
        )


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = (high - low) * 0.06 or max(abs(high), 1.0) * 0.06
    return low - margin, high + margin


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers inside a range, about five."""
    rough = (high - low) / 5
    unit = 10.0 ** floor(log10(rough))
    step = next(m * unit for m in (1, 2, 5, 10) if m * unit >= rough)
    first = ceil(low / step)
    return [round(step * i, 12) for i in range(first, floor(high / step) + 1)]


def _pick(rows: Sequence[Row], *names: str) -> list[tuple[float, ...]]:
    """Return the rows in which all names hold a finite number."""
    found = []
    for row in rows:
        values = [row.get(name) for name in names]
        if all(v is not None and isfinite(float(v)) for v in values):
            found.append(tuple(float(v) for v in values if v is not None))
    return found


def _map(
    evaluation: Evaluation, front: Sequence[Row], *, utility: str, risk: str
) -> str:
    across, up = evaluation[utility], evaluation[risk]
    marks = [
        (words, (across.baselines[name], up.baselines[name]))
        for name, words in _MARKS.items()
        if name in across.baselines and name in up.baselines
    ]
    shown = [row for row in front if _pick([row], "utility", "risk")]
    candidates = [(x, y) for x, y in _pick(shown, "utility", "risk")]
    near = [bool(row.get("closer_than_fresh")) for row in shown]
    here = (across.value, up.value)
    guess = up.baselines.get("univariate")
    frame = _Frame.around(
        [here, *candidates, *(point for _, point in marks)]
        + ([(here[0], guess)] if guess is not None else [])
    )
    body = "".join(
        _dot(frame, point, "near", 4, "front, closer than a fresh sample")
        if close
        else _dot(frame, point, "a", 4, "front")
        for point, close in zip(candidates, near, strict=True)
    )
    if guess is not None:
        y = frame.place((here[0], guess))[1]
        body += (
            f'<path class="axis" stroke-dasharray="4 3" d="M{frame.left} {y}H'
            f'{frame.width - frame.right}"/><text x="{frame.left + 4}" y="{y - 4}">'
            "guessing from the target alone</text>"
        )
    for words, point in marks:
        body += _dot(frame, point, "mark", 5, words) + _label(frame, point, words)
    body += _dot(frame, here, "b", 7, "this file") + _label(
        frame, here, "this file", rise=11
    )
    svg = frame.svg(body, across.title, up.title, "risk-utility map")
    note = "Front of the run in blue; this file in orange; references in grey."
    if any(near):
        note += (
            " Hollow points are closer to the original than a fresh sample would be: "
            "they repeat people, not structure."
        )
    return f"<figure>{svg}<figcaption>{note}</figcaption></figure>"


def _dot(frame: _Frame, point: Point, kind: str, radius: int, words: str) -> str:
    x, y = frame.place(point)
    tip = f"{words}: {_number(point[0])}, {_number(point[1])}"
    return (
        f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}">'
        f"<title>{escape(tip)}</title></circle>"
    )


def _label(frame: _Frame, point: Point, words: str, rise: int = 0) -> str:
    x, y = frame.place(point)
    right = x > frame.width * 0.6
    place = f'x="{x - 8}" text-anchor="end"' if right else f'x="{x + 8}"'
    return f'<text {place} y="{y + 4 - rise}">{escape(words)}</text>'


def _generations(run: Sequence[Row]) -> str:
    charts = []
    for name in ("utility", "risk"):
        points = [(x, y) for x, y in _pick(run, "generation", name)]
        if not points:
            continue
        frame = _Frame.around(points)
        path = " ".join(f"{x},{y}" for x, y in map(frame.place, points))
        line = f'<polyline class="line" points="{path}"/>'
        svg = frame.svg(
            line, "generation", f"{name} objective", f"{name} by generation"
        )
        charts.append(f"<figure>{svg}</figure>")
    return f'<div class="grid">{"".join(charts)}</div>'


def _margins(margins: Sequence[Margin], rare: float) -> str:
    charts = "".join(_margin(margin, rare) for margin in margins[:_MAX_VARIABLES])
    rest = len(margins) - _MAX_VARIABLES
    more = f"<p class=dim>and {rest} more variables</p>" if rest > 0 else ""
    return (
        "<p class=dim>Share of each level: original in blue, synthetic in orange.</p>"
        f'<div class="grid">{charts}</div>{more}'
    )


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
            f"{escape(margin.labels[i][:20])}</text>"
            + _bar(margin.original[i], top, y + 2, "a")
            + _bar(margin.synthetic[i], top, y + 11, "b")
        )
    rest = len(order) - len(shown)
    note = f", {rest} rarer levels not shown" if rest else ""
    return (
        f'<figure><svg viewBox="0 0 420 {22 * len(shown)}" role="img" '
        f'aria-label="{escape(margin.name)}">{"".join(rows)}</svg>'
        f"<figcaption>{escape(margin.name)}{note}</figcaption></figure>"
    )


def _bar(share: float, top: float, y: int, kind: str) -> str:
    return (
        f'<rect class="{kind}" x="134" y="{y}" height="8" '
        f'width="{round(280 * share / top, 1)}">'
        f"<title>{100 * share:.2f} %</title></rect>"
    )


def _pairs(pairs: Sequence[PairGap]) -> str:
    if not pairs:
        return "<p class=dim>There is one variable only, or there was no time.</p>"
    names = list(dict.fromkeys(n for p in pairs for n in (p.first, p.second)))
    names = names[:_MAX_VARIABLES]
    gaps = {frozenset((pair.first, pair.second)): pair.distance for pair in pairs}
    top = max(gaps.values()) or 1.0

    def cell(first: str, second: str) -> str:
        gap = gaps.get(frozenset((first, second)))
        if gap is None:
            return "<td></td>"
        shade = round(100 * gap / top * 0.8)
        paint = f"color-mix(in srgb,var(--b) {shade}%,transparent)"
        return f'<td class=n style="background:{paint}">{gap:.3f}</td>'

    return (
        "<p class=dim>Jensen-Shannon distance of each two-way table; darker is "
        "further.</p><div class=wide><table>" + _matrix(names, cell) + "</table></div>"
    )


def _matrix(names: Sequence[str], cell: Callable[[str, str], str]) -> str:
    heads = "".join(f"<th class=n>{escape(name)}</th>" for name in names)
    rows = "".join(
        f"<tr><th>{escape(a)}</th>{''.join(cell(a, b) for b in names)}</tr>"
        for a in names
    )
    return f"<thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody>"
