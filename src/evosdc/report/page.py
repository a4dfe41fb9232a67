"""The confidential report on a table: verdict, claim, then how it was reached.

The page is for whoever signs the table and is confidential: it holds the cost, which
in a small table equals a hidden value, intervals of exposed cells, and which hidden
cells are the sensitive ones. The report to share is in `evosdc.report.share`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from evosdc.report.kit.chart import progress_chart
from evosdc.report.kit.parts import (
    banner,
    brief,
    bullets,
    count,
    duration,
    esc,
    header,
    named_rows,
    number,
    percent,
    plain_table,
    section,
    whole_page,
)
from evosdc.report.share import table_section
from evosdc.report.verdict import (
    bound_says_little,
    claim_section,
    cut_before_use,
    describe,
    headline,
    next_section,
    wide_gap,
)
from evosdc.results import Exposure, TableVerdict
from evosdc.table import Table
from evosdc.table.status import PRIMARY, SECONDARY

if TYPE_CHECKING:
    from evosdc.results.tables import Audit, Protection, Tabulation

_MAX_LISTED = 500
_EXPOSED_HEADS = (
    "cell",
    "found by",
    ">attacker finds",
    ">must reach",
    ">must be this wide",
    ">has of its level",
)

_KEY = (
    '<ul class="key"><li><b class="primary">●</b>sensitive</li>'
    '<li><b class="secondary">○</b>hidden to protect the sensitive ones</li>'
)

_FOOTER = (
    "<footer><b>Confidential: this page must not leave the office.</b> It holds the "
    "cost, which may equal a hidden value, and says which hidden cells are sensitive. "
    "The page to share is report.html in publish/.</footer>"
)


def report_html(
    result: Protection | Audit | Tabulation,
    *,
    title: str | None = None,
    created: datetime.datetime | None = None,
    warnings: Sequence[str] = (),
) -> str:
    """Write the confidential report on a table, as one page that needs no other file.

    Parameters
    ----------
    result
        What `protect`, `audit` or `tabulate` gave back.
    title
        The heading; by default it names the response variable.
    created
        When the report was made; not said where None.
    warnings
        Files of the folder that must not be published with the result.
    """
    result = result.visible()
    protection = cast("Protection", result) if result.kind == "protection" else None
    kind = "Table" if protection is None else "Protected table"
    heading = title or f"{kind} of {result.table.name}"
    facts = describe(result.table)
    if created is not None:
        facts.append(esc(created.strftime("%d %B %Y, %H:%M").lstrip("0")))
    verdict = result.verdict
    parts = [
        header(heading, facts),
        _verdict(result, protection),
        next_section(verdict),
    ]
    if warnings:
        parts.append(section("Before you publish", bullets(warnings)))
    parts.append(claim_section(result.claim, "proved" if verdict.ok else "asked"))
    if protection is not None:
        parts.append(_tiles(protection))
    parts += [_exposed(verdict), _open(verdict), _where(result.table)]
    if protection is not None:
        parts.append(_search(protection))
    parts.append(_table(result))
    if result.kind != "tabulation":
        parts.append(_certificate(cast("Protection | Audit", result)))
    if protection is not None:
        parts.append(_repeat(protection))
    return whole_page(heading, "".join(parts) + _FOOTER)


def _verdict(
    result: Protection | Audit | Tabulation, protection: Protection | None
) -> str:
    found = headline(result.verdict, result.table)
    cut = None if protection is None else cut_before_use(protection)
    text = esc(found.text) if cut is None else f"<b>{esc(cut)}</b> {esc(found.text)}"
    return banner(found.kind, esc(found.line), text)


def _tiles(protection: Protection) -> str:
    cells = len(protection.table)
    primaries, secondaries = len(protection.table.primaries), protection.secondaries
    unknown = "none known"
    bound, gap = protection.lower_bound, protection.gap
    vague, meaning = bound_says_little(protection), wide_gap(protection)
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
            "the bound says little" if vague else "at most this far from the best",
        ),
        (
            "Time",
            duration(protection.seconds),
            count(protection.evaluations, "evaluation"),
        ),
    )
    return (
        '<dl class="tiles">'
        + "".join(
            f'<div class="tile"><dt>{name}</dt><dd>{value}<small>{small}</small></dd>'
            "</div>"
            for name, value, small in tiles
        )
        + "</dl>"
        + ("" if meaning is None else f"<p>{esc(meaning)}</p>")
    )


def _exposed(verdict: TableVerdict) -> str:
    exposed = verdict.exposed
    if not exposed:
        return ""
    more = ""
    if len(exposed) > _MAX_LISTED:
        more = f" The first {_MAX_LISTED} of {len(exposed):,} are listed."
    return section(
        "Exposed cells",
        '<p class="secret">Confidential: these intervals lie close to the true values.'
        f"</p><p>What an attacker finds for each cell, and what is asked for.{more}</p>"
        + plain_table(_EXPOSED_HEADS, map(_exposure, exposed[:_MAX_LISTED])),
        "long",
    )


def _exposure(e: Exposure) -> str:
    who = f"the lone respondent of {e.insider}" if e.insider else "everyone"
    wide = number(e.needed_width) if e.needed_width else "–"
    found = (
        "not decided"
        if math.isnan(e.low) or math.isnan(e.high)
        else f"{number(e.low)} to {number(e.high)}"
    )
    reason = f"<br><span class='note'>{esc(e.reason)}</span>" if e.reason else ""
    return (
        f"<tr><td>{esc(e.label)}{reason}</td><td>{esc(who)}</td>"
        f'<td class="n">{found}</td>'
        f'<td class="n">{number(e.needed_low)} to {number(e.needed_high)}</td>'
        f'<td class="n">{wide}</td><td class="n">{percent(e.share)}</td></tr>'
    )


def _open(verdict: TableVerdict) -> str:
    cells = verdict.open
    if not cells:
        return ""
    more = ""
    if len(cells) > _MAX_LISTED:
        more = f"<p>The first {_MAX_LISTED} of {len(cells):,} are listed.</p>"
    return section("Undecided cells", more + bullets(cells[:_MAX_LISTED]), "long")


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
    return section(
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
        return section("The search", text)
    key = (
        '<ul class="key"><li><b class="cost"></b>cost of the best pattern</li>'
        + ('<li><b class="bound"></b>lower bound</li>' if bound else "")
        + "</ul>"
    )
    chart = progress_chart(cost, bound, protection.seconds)
    return section("The search", key + chart)


def _changes(
    steps: Iterable[tuple[float, float | None]],
) -> list[tuple[float, float]]:
    """Keep the steps at which a number came or changed."""
    kept: list[tuple[float, float]] = []
    for seconds, value in steps:
        if value is not None and (not kept or kept[-1][1] != value):
            kept.append((seconds, value))
    return kept


def _table(result: Protection | Audit | Tabulation) -> str:
    exposed = frozenset(result.verdict.exposed_cells)
    key = _KEY
    if exposed:
        key += '<li><b class="exposed">●</b>hidden but exposed</li>'
    grids = table_section(result.table, exposed)
    return section("The table", f"{key}</ul>{grids}", "long")


def _certificate(result: Protection | Audit) -> str:
    verdict, witnesses = result.verdict, len(result.certificate.cells)
    if not verdict.judged:
        return section("The certificate", "<p>No cell was judged.</p>")
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
        for way, found in verdict.proofs.items()
    )
    proof = (
        '<table class="plain"><thead><tr><th>means of proof</th>'
        f'<th class="n">witnesses</th></tr></thead><tbody>{ways}</tbody></table>'
        if ways
        else ""
    )
    return section(
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
    return section(
        "How to repeat this run",
        "<p>The same version, table, method, seed, settings and number of evaluations "
        "give the same pattern, for any number of workers.</p>"
        + named_rows(facts)
        + (f"<h3>Notes</h3>{bullets(protection.notes)}" if protection.notes else ""),
    )
