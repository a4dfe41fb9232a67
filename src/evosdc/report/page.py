"""Put the report together: verdict first, then how it was reached and what is hidden.

The page is for the owner of the table. It never writes a hidden value; what it does
write that is confidential (intervals of exposed cells, which hidden cells are the
sensitive ones) it says to be so.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable

import numpy as np

from evosdc.report.chart import progress_chart
from evosdc.report.grid import table_section
from evosdc.report.style import STYLE
from evosdc.report.text import brief, count, duration, esc, number, percent
from evosdc.results import Protection
from evosdc.table import Table
from evosdc.table.status import PRIMARY, SECONDARY

_MOST_EXPOSED = 500

_KEY = (
    '<ul class="key"><li><b class="primary">●</b>sensitive</li>'
    '<li><b class="secondary">○</b>hidden to protect the sensitive ones</li>'
)


def report_html(
    protection: Protection,
    *,
    title: str | None = None,
    created: datetime.datetime | None = None,
) -> str:
    """Write a protected table up as one HTML page that needs nothing beside it.

    Parameters
    ----------
    protection
        What `protect` gave back.
    title
        The heading; by default it names the response variable.
    created
        When the report was made, if it shall say so.
    """
    heading = title or f"Protected table of {protection.table.name}"
    body = "".join(
        (
            _header(protection, heading, created),
            _verdict(protection),
            _tiles(protection),
            _exposed(protection),
            _where(protection.table),
            _search(protection),
            _table(protection),
            _certificate(protection),
            _repeat(protection),
        )
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # Nothing is fetched, whatever a label contains.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{esc(heading)}</title><style>{STYLE}</style></head>"
        f"<body><main>{body}{_footer(protection)}</main></body></html>\n"
    )


def _footer(protection: Protection) -> str:
    kept = (
        "Apart from the intervals of exposed cells, no hidden value is in this page."
        if protection.verdict.exposed
        else "No hidden value is in this page."
    )
    return (
        "<footer>For the owner of the table only: the cost and the marks of sensitive "
        f"cells are confidential. {kept}</footer>"
    )


def _section(title: str, content: str, kind: str = "") -> str:
    name = f' class="{kind}"' if kind else ""
    return f"<section{name}><h2>{title}</h2>{content}</section>"


def _header(
    protection: Protection, heading: str, created: datetime.datetime | None
) -> str:
    table = protection.table
    spans = " × ".join(
        f"{esc(d.name)} ({count(len(d.hierarchy), 'code')})" for d in table.dimensions
    )
    facts = [
        spans or "no labels",
        count(len(table), "cell"),
        count(table.matrix.shape[0], "equation"),
    ]
    if created is not None:
        facts.append(esc(created.strftime("%d %B %Y, %H:%M").lstrip("0")))
    return f"<header><h1>{esc(heading)}</h1><p>{' · '.join(facts)}</p></header>"


def _verdict(protection: Protection) -> str:
    verdict = protection.verdict
    exposed = len(verdict.exposed)
    if not verdict.safe:
        return _banner(
            "bad",
            f"Not safe: {count(exposed, 'cell is', 'cells are')} exposed",
            f"Of {count(verdict.judged, 'cell')} judged, {exposed:,} can be worked out "
            "more closely than the protection levels allow, from what would be "
            "published. Do not publish this table as it is.",
        )
    if not len(protection.table.primaries):
        return _banner(
            "safe",
            "Safe: nothing to protect",
            "No cell of this table is sensitive, so every cell can be published.",
        )
    reach = "beyond" if verdict.strict else "at least to"
    return _banner(
        "safe",
        "Safe to publish",
        f"All {count(verdict.judged, 'cell')} judged are protected. Whoever knows the "
        "published cells, the equations and the bounds still finds an interval for "
        f"each of them that reaches {reach} its protection levels.",
    )


def _banner(kind: str, title: str, text: str) -> str:
    return f'<section class="verdict {kind}"><h2>{title}</h2><p>{text}</p></section>'


def _tiles(protection: Protection) -> str:
    cells = len(protection.table)
    primaries, secondaries = len(protection.table.primaries), protection.secondaries
    unknown = "none known"
    bound, gap = protection.lower_bound, protection.gap
    tiles = (
        ("Cost", brief(protection.cost), "sum of weights of the secondary cells"),
        ("Secondary cells", f"{secondaries:,}", percent(secondaries / cells)),
        ("Sensitive cells", f"{primaries:,}", percent(primaries / cells)),
        (
            "Lower bound",
            "–" if bound is None else brief(bound),
            unknown if bound is None else "no safe pattern costs less",
        ),
        (
            "Gap",
            "–" if gap is None else percent(gap),
            unknown if gap is None else "at most this far from the best",
        ),
        ("Time", duration(protection.seconds), _evaluations(protection)),
    )
    return (
        '<dl class="tiles">'
        + "".join(
            f'<div class="tile"><dt>{name}</dt><dd>{value}<small>{small}</small></dd>'
            "</div>"
            for name, value, small in tiles
        )
        + "</dl>"
    )


def _evaluations(protection: Protection) -> str:
    return count(protection.evaluations, "evaluation")


def _exposed(protection: Protection) -> str:
    exposed = protection.verdict.exposed
    if not exposed:
        return ""
    rows = "".join(
        f"<tr><td>{esc(e.label)}</td>"
        f'<td class="n">{number(e.low)} to {number(e.high)}</td>'
        f'<td class="n">{number(e.needed_low)} to {number(e.needed_high)}</td>'
        f'<td class="n">{number(e.needed_width) if e.needed_width else "–"}</td></tr>'
        for e in exposed[:_MOST_EXPOSED]
    )
    more = ""
    if len(exposed) > _MOST_EXPOSED:
        more = f" The first {_MOST_EXPOSED} of {len(exposed):,} are listed."
    return _section(
        "Exposed cells",
        '<p class="secret">Confidential: these intervals lie close to the true values.'
        f"</p><p>What an attacker finds for each cell, and what is asked for.{more}</p>"
        '<div class="scroll"><table class="plain"><thead><tr><th>cell</th>'
        '<th class="n">attacker finds</th><th class="n">must reach</th>'
        '<th class="n">must be this wide</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>",
        "long",
    )


def _where(table: Table) -> str:
    groups = []
    for k, d in enumerate(table.dimensions):
        depth = d.hierarchy.depth
        at = depth[table.codes[:, k]]
        bars = []
        for level in range(int(depth.max()) + 1):
            codes = int((depth == level).sum())
            name = "total" if level == 0 else f"level {level}"
            label = f"{name} <span class='note'>({count(codes, 'code')})</span>"
            bars.append(_bar(label, table.status[at == level]))
        groups.append(f"<h3>{esc(d.name)}</h3>{''.join(bars)}")
    if not groups:
        groups.append(_bar("all cells", table.status))
    key = _KEY + '<li><b class="rest">&nbsp;</b>published</li></ul>'
    return _section(
        "What is hidden, and where", f'{key}<div class="bars">{"".join(groups)}</div>'
    )


def _bar(label: str, status: np.ndarray) -> str:
    cells = max(len(status), 1)
    primary = int((status == PRIMARY).sum())
    secondary = int((status == SECONDARY).sum())
    return (
        f'<div>{label}</div><div class="bar">'
        f'<i class="primary" style="width:{100 * primary / cells:.3f}%"></i>'
        f'<i class="secondary" style="width:{100 * secondary / cells:.3f}%"></i></div>'
        f"<div>{primary:,} sensitive, {secondary:,} secondary of {len(status):,}</div>"
    )


def _search(protection: Protection) -> str:
    cost = _changes((e.seconds, e.cost) for e in protection.record)
    bound = _changes((e.seconds, e.bound) for e in protection.record)
    if not cost and not bound:
        text = "<p class='note'>The method kept no record of its steps.</p>"
        return _section("The search", text)
    key = (
        '<ul class="key"><li><b class="cost"></b>cost of the best pattern</li>'
        + ('<li><b class="bound"></b>lower bound</li>' if bound else "")
        + "</ul>"
    )
    chart = progress_chart(cost, bound, protection.seconds)
    return _section("The search", key + chart)


def _changes(
    steps: Iterable[tuple[float, float | None]],
) -> list[tuple[float, float]]:
    """Keep the steps at which a number came or changed."""
    kept: list[tuple[float, float]] = []
    for seconds, value in steps:
        if value is not None and (not kept or kept[-1][1] != value):
            kept.append((seconds, value))
    return kept


def _table(protection: Protection) -> str:
    exposed = frozenset(e.cell for e in protection.verdict.exposed)
    key = _KEY
    if exposed:
        key += '<li><b class="exposed">●</b>hidden but exposed</li>'
    grids = table_section(protection.table, exposed)
    return _section("The table", f"{key}</ul>{grids}", "long")


def _certificate(protection: Protection) -> str:
    verdict, witnesses = protection.verdict, len(protection.certificate.cells)
    if not verdict.judged:
        return _section("The certificate", "<p>No cell had to be judged.</p>")
    how = (
        "Each was checked in exact rational arithmetic: equations, bounds, published "
        "cells and levels hold without any rounding."
        if verdict.exact
        else "Each was checked in floating point: equations and levels hold to "
        f"{verdict.tolerance:.2g} of the cell or better."
    )
    reading = (
        "Levels must be exceeded (the strict reading)."
        if verdict.strict
        else "Levels must be reached (the ordinary reading)."
    )
    ways = "".join(
        f'<tr><td>{esc(way)}</td><td class="n">{found:,}</td></tr>'
        for way, found in verdict.ways.items()
    )
    proof = (
        '<table class="plain"><thead><tr><th>means of proof</th>'
        f'<th class="n">witnesses</th></tr></thead><tbody>{ways}</tbody></table>'
        if ways
        else ""
    )
    return _section(
        "The certificate",
        f"<p>The judge shares no code with the search. It found "
        f"{count(witnesses, 'witness table')}: other tables that agree with everything "
        "published and move a hidden cell as far as its level asks. "
        f"{how} Anyone with the certificate file can repeat the check by adding "
        f"numbers up.</p><p>{reading}</p>{proof}",
    )


def _repeat(protection: Protection) -> str:
    facts: list[tuple[str, object]] = [
        ("method", protection.method),
        ("seed", protection.seed),
        ("evaluations", f"{protection.evaluations:,}"),
        ("stopped because", protection.reason),
        ("evosdc", protection.version),
        *protection.settings.items(),
    ]
    rows = "".join(
        f'<tr><th scope="row">{esc(name)}</th><td>{esc(value)}</td></tr>'
        for name, value in facts
    )
    notes = "".join(f"<li>{esc(note)}</li>" for note in protection.notes)
    return _section(
        "How to repeat this run",
        "<p>The same version, table, method, seed, settings and number of evaluations "
        "give the same pattern, for any number of workers.</p>"
        f'<table class="plain facts"><tbody>{rows}</tbody></table>'
        + (f"<h3>Notes</h3><ul>{notes}</ul>" if notes else ""),
    )
