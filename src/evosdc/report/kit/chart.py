"""Drawings as inline SVG; colours come from the style sheet, so dark mode works."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evosdc.report.kit.text import esc, number

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 900.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 84.0, 20.0, 16.0, 40.0
_MOST_DOTS = 80
# Numbers this close, as a share, are one number to a drawing.
_NO_SPAN = 1e-9


def progress_chart(cost: Points, bound: Points, seconds: float) -> str:
    """Draw cost and lower bound by time, as steps up to the end of the run."""
    end = max([seconds, *(t for t, _ in (*cost, *bound))]) or 1.0
    levels = [v for _, v in (*cost, *bound)]
    y_ticks = ticks(min(levels), max(levels))
    x_ticks = [t for t in ticks(0.0, end) if t <= end]
    low, high = y_ticks[0], y_ticks[-1]

    def x(time: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * time / end

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - value) / (high - low)

    parts = [
        f'<svg class="chart" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" '
        'aria-label="Cost and lower bound by time">'
    ]
    for tick in y_ticks:
        parts.append(
            f'<line class="rule" x1="{_LEFT:g}" x2="{_WIDTH - _RIGHT:g}" '
            f'y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
            f'<text class="tick" x="{_LEFT - 8:g}" y="{y(tick) + 4:.1f}" '
            f'text-anchor="end">{number(tick)}</text>'
        )
    for tick in x_ticks:
        parts.append(
            f'<text class="tick" x="{x(tick):.1f}" y="{_HEIGHT - 18:g}" '
            f'text-anchor="middle">{number(tick)}</text>'
        )
    parts.append(
        f'<text class="tick" x="{_WIDTH - _RIGHT:g}" y="{_HEIGHT - 3:g}" '
        'text-anchor="end">seconds</text>'
    )
    for name, points in (("bound", bound), ("cost", cost)):
        if points:
            path = _steps([(x(t), y(v)) for t, v in points], x(end))
            parts.append(f'<path class="line {name}" d="{path}"/>')
            if len(points) <= _MOST_DOTS:
                parts += [
                    f'<circle class="dot {name}" cx="{x(t):.1f}" cy="{y(v):.1f}" '
                    f'r="3"><title>{esc(f"{number(v)} after {t:.3g} s")}</title>'
                    "</circle>"
                    for t, v in points
                ]
    return "".join(parts) + "</svg>"


def hidden_map(shape: tuple[int, int], places: Mapping[str, NDArray[np.int64]]) -> str:
    """Draw a table seen from afar: a dot for each hidden cell, by row and column.

    `places` are the cells of each class of the style sheet.
    """
    rows, columns = shape
    paths = "".join(
        f'<path class="{name}" d="'
        + "".join(f"M{c} {r}h1v1h-1z" for r, c in cells.tolist())
        + '"/>'
        for name, cells in places.items()
    )
    return (
        f'<svg class="map" viewBox="0 0 {columns} {rows}" role="img" '
        f'aria-label="Map of the hidden cells" shape-rendering="crispEdges">'
        f'<rect class="paper" width="{columns}" height="{rows}"/>{paths}</svg>'
    )


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers that span a range, three or more."""
    if high - low <= _NO_SPAN * max(abs(low), abs(high), 1.0):
        low, high = min(0.0, low), max(0.0, high)
        if high - low <= _NO_SPAN:
            high = low + 1.0
    rough = (high - low) / about
    unit = 10.0 ** math.floor(math.log10(rough))
    step = unit * min((1, 2, 5, 10), key=lambda k: abs(k * unit - rough))
    first, last = math.floor(low / step), math.ceil(high / step)
    return [k * step for k in range(first, last + 1)]


def _steps(points: Points, end: float) -> str:
    (x0, y0), *rest = points
    drawn = [f"M{x0:.1f} {y0:.1f}"]
    for x, y in rest:
        drawn.append(f"H{x:.1f}V{y:.1f}")
    return "".join(drawn) + f"H{end:.1f}"
