"""Text and parts of pages: numbers, escaped text, tables, tiles and the document."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from decimal import Decimal

from evosdc.report.kit.style import STYLE

# By this a page of evosdc is known, in a folder that is to be overwritten.
_BY = '<meta name="generator" content="evosdc">'


def esc(text: object) -> str:
    """Escape text for HTML, attributes included."""
    return html.escape(str(text), quote=True)


def number(value: float, digits: int = 6) -> str:
    """Write a number with separated thousands and no more decimals than it has."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{Decimal(repr(float(value))):,.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text in ("0", "-0") and value:
        text = f"{value:.3g}"
    return text.replace("-", "−")


def fixed(value: float, decimals: int) -> str:
    """Write a number with separated thousands and so many decimals."""
    return f"{value:,.{decimals}f}".replace("-", "−") if value else "0"


def brief(value: float) -> str:
    """Write a number for a headline: decimals only while they matter."""
    return f"{value:.4g}" if abs(value) >= 1e12 else number(value, _decimals(value))


def figure(value: float) -> str:
    """Write a measured figure with four significant digits."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return text.replace("-", "−")


def _decimals(value: float) -> int:
    return 2 if abs(value) < 10_000 else 0


def count(n: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun: 1 cell, 2 cells."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """Write a share as a percentage of three significant digits."""
    return f"{100 * share:.3g} %"


def duration(seconds: float) -> str:
    """Write seconds so that a day is not 86,400 of them."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def whole_page(heading: str, body: str) -> str:
    """Put a page around its content."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{_BY}'
        # Nothing is fetched, whatever a label contains.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{esc(heading)}</title><style>{STYLE}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def header(heading: str, facts: Sequence[str]) -> str:
    """Write the heading and what the page is about, in a line."""
    return f"<header><h1>{esc(heading)}</h1><p>{' · '.join(facts)}</p></header>"


def section(title: str, content: str, kind: str = "") -> str:
    """Write one part of a page."""
    name = f' class="{kind}"' if kind else ""
    return f"<section{name}><h2>{title}</h2>{content}</section>"


def banner(kind: str, title: str, text: str, more: str = "") -> str:
    """Write the part that comes first: safe, bad or open."""
    return (
        f'<section class="verdict {kind}"><h2>{title}</h2><p>{text}</p>{more}</section>'
    )


def bullets(lines: Iterable[object]) -> str:
    """Write a list, a line for each."""
    return "<ul>" + "".join(f"<li>{esc(line)}</li>" for line in lines) + "</ul>"


def named_rows(rows: Iterable[tuple[object, object]], kind: str = "facts") -> str:
    """Write names with what there is to say of each."""
    body = "".join(
        f'<tr><th scope="row">{esc(name)}</th><td>{esc(text)}</td></tr>'
        for name, text in rows
    )
    return f'<table class="plain {kind}"><tbody>{body}</tbody></table>'


def plain_table(
    heads: Sequence[str], rows: Iterable[str], *, whole: bool = False
) -> str:
    """Write rows of ready-made cells under their heads, scrolled where too many.

    A head that begins with ``>`` stands above numbers. A table that is shown `whole`
    is scrolled only where it is too wide.
    """
    top = "".join(
        f'<th class="n">{esc(head[1:])}</th>'
        if head.startswith(">")
        else f"<th>{esc(head)}</th>"
        for head in heads
    )
    return (
        f'<div class="{"across" if whole else "scroll"}"><table class="plain">'
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def numbers(texts: Iterable[str]) -> str:
    """Write cells of numbers, ready to be read."""
    return "".join(f'<td class="n">{text}</td>' for text in texts)
