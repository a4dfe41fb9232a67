"""Charts as inline SVG; colours come from the style sheet, so dark mode works."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.report.kit.parts import esc, figure, number

Point = tuple[float, float]

_HEIGHT = 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 16, 12, 40
_MAX_DOTS = 80
# Labels of points further right than this share of the width stand on their left.
_LABEL_LEFT = 0.6
# Numbers whose difference is a smaller share of them are drawn as one number.
_NO_SPAN = 1e-9


@dataclass(frozen=True)
class Plane:
    """Axes with ticks, from the first tick of each to the last, and what is in them."""

    x: Sequence[float]
    y: Sequence[float]
    width: int = 520

    @classmethod
    def around(cls, points: Sequence[Point], width: int = 520) -> Plane:
        """Return the plane that holds all points."""
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        return cls(ticks(min(xs), max(xs)), ticks(min(ys), max(ys)), width)

    def place(self, point: Point) -> Point:
        """Return where a point is drawn."""
        wide = self.width - _LEFT - _RIGHT
        high = _HEIGHT - _TOP - _BOTTOM
        x = _LEFT + wide * (point[0] - self.x[0]) / (self.x[-1] - self.x[0])
        y = _TOP + high * (self.y[-1] - point[1]) / (self.y[-1] - self.y[0])
        return round(x, 1), round(y, 1)

    def svg(self, body: str, across: str, up: str, label: str) -> str:
        """Draw the axes around what is in the plane."""
        base, side = _HEIGHT - _BOTTOM, self.width - _RIGHT
        marks = [
            f'<text class="tick" x="{self.place((value, self.y[0]))[0]}" '
            f'y="{base + 16:.1f}" text-anchor="middle">{number(value)}</text>'
            for value in self.x
        ]
        for value in self.y:
            y = self.place((self.x[0], value))[1]
            marks.append(
                f'<line class="rule" x1="{_LEFT}" x2="{side}" y1="{y}" y2="{y}"/>'
                f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" '
                f'text-anchor="end">{number(value)}</text>'
            )
        return (
            f'<svg class="chart" viewBox="0 0 {self.width} {_HEIGHT}" role="img" '
            f'aria-label="{esc(label)}">'
            + "".join(marks)
            + f'<text class="axis" x="{(_LEFT + side) / 2}" y="{_HEIGHT - 6}" '
            f'text-anchor="middle">{esc(across)}</text>'
            f'<text class="axis" x="12" y="{_HEIGHT / 2}" text-anchor="middle" '
            f'transform="rotate(-90 12 {_HEIGHT / 2})">{esc(up)}</text>{body}</svg>'
        )

    def dot(self, point: Point, kind: str, radius: int, text: str) -> str:
        """Draw a point that says what it is."""
        x, y = self.place(point)
        tip = f"{text}: {figure(point[0])}, {figure(point[1])}"
        return (
            f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}">'
            f"<title>{esc(tip)}</title></circle>"
        )

    def label(self, point: Point, text: str, rise: int = 0) -> str:
        """Write text next to a point."""
        x, y = self.place(point)
        right = x > self.width * _LABEL_LEFT
        place = f'x="{x - 8}" text-anchor="end"' if right else f'x="{x + 8}"'
        return f'<text {place} y="{y + 4 - rise:.1f}">{esc(text)}</text>'

    def level(self, value: float, text: str) -> str:
        """Draw a dashed line across, at a value of the upright axis."""
        y = self.place((self.x[0], value))[1]
        return (
            f'<path class="level" d="M{_LEFT} {y}H{self.width - _RIGHT}"/>'
            f'<text x="{_LEFT + 4}" y="{y - 4:.1f}">{esc(text)}</text>'
        )

    def steps(self, points: Sequence[Point], end: float, kind: str) -> str:
        """Draw a value that changes at points and stays until `end`; dots if few."""
        (x, y), *rest = map(self.place, points)
        path = f"M{x} {y}" + "".join(f"H{x}V{y}" for x, y in rest)
        path += f"H{self.place((end, points[0][1]))[0]}"
        drawn = f'<path class="line {kind}" d="{path}"/>'
        if len(points) <= _MAX_DOTS:
            drawn += "".join(self.dot(p, f"dot {kind}", 3, kind) for p in points)
        return drawn

    def line(self, points: Sequence[Point]) -> str:
        """Draw a line through points."""
        path = " ".join(f"{x},{y}" for x, y in map(self.place, points))
        return f'<polyline class="line cost" points="{path}"/>'


def progress_chart(
    cost: Sequence[Point], bound: Sequence[Point], seconds: float
) -> str:
    """Draw cost and lower bound by time, as steps up to the end of the run."""
    end = max([seconds, *(t for t, _ in (*cost, *bound))]) or 1.0
    plane = Plane.around(
        [(0.0, cost_or_bound) for _, cost_or_bound in (*cost, *bound)]
        + [(end, (cost or bound)[0][1])],
        width=900,
    )
    body = "".join(
        plane.steps(points, end, kind)
        for kind, points in (("bound", bound), ("cost", cost))
        if points
    )
    return plane.svg(body, "seconds", "", "Cost and lower bound by time")


def hidden_map(shape: tuple[int, int], places: Mapping[str, NDArray[np.int64]]) -> str:
    """Draw an overview of a table: a dot for each hidden cell, by row and column.

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
