"""Numbers and labels as people read them, safe to stand in HTML."""

from __future__ import annotations

import html
import math
from decimal import Decimal


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
