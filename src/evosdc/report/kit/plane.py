"""The plane of a chart: axes with round ticks, points and lines in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evosdc.report.kit.chart import ticks
from evosdc.report.kit.text import esc, figure, number

Point = tuple[float, float]

_WIDTH, _HEIGHT = 520, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 16, 12, 40
# Labels of points further right than this stand on their left.
_TURN = 0.6


@dataclass(frozen=True)
class Plane:
    """Ranges of data on a box, from the first tick of each axis to the last."""

    x: Sequence[float]
    y: Sequence[float]

    @classmethod
    def around(cls, points: Sequence[Point]) -> Plane:
        """Return the plane that holds all points."""
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        return cls(ticks(min(xs), max(xs)), ticks(min(ys), max(ys)))

    def place(self, point: Point) -> Point:
        """Return where a point is drawn."""
        wide = _WIDTH - _LEFT - _RIGHT
        high = _HEIGHT - _TOP - _BOTTOM
        x = _LEFT + wide * (point[0] - self.x[0]) / (self.x[-1] - self.x[0])
        y = _TOP + high * (self.y[-1] - point[1]) / (self.y[-1] - self.y[0])
        return round(x, 1), round(y, 1)

    def svg(self, body: str, across: str, up: str, label: str) -> str:
        """Draw the axes around what is in the plane."""
        base, side = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
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
            f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'aria-label="{esc(label)}">'
            + "".join(marks)
            + f'<text class="axis" x="{(_LEFT + side) / 2}" y="{_HEIGHT - 6}" '
            f'text-anchor="middle">{esc(across)}</text>'
            f'<text class="axis" x="12" y="{_HEIGHT / 2}" text-anchor="middle" '
            f'transform="rotate(-90 12 {_HEIGHT / 2})">{esc(up)}</text>{body}</svg>'
        )

    def dot(self, point: Point, kind: str, radius: int, words: str) -> str:
        """Draw a point that says what it is."""
        x, y = self.place(point)
        tip = f"{words}: {figure(point[0])}, {figure(point[1])}"
        return (
            f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}">'
            f"<title>{esc(tip)}</title></circle>"
        )

    def label(self, point: Point, words: str, rise: int = 0) -> str:
        """Write words beside a point."""
        x, y = self.place(point)
        right = x > _WIDTH * _TURN
        place = f'x="{x - 8}" text-anchor="end"' if right else f'x="{x + 8}"'
        return f'<text {place} y="{y + 4 - rise:.1f}">{esc(words)}</text>'

    def level(self, value: float, words: str) -> str:
        """Draw a dashed line across, at a value of the upright axis."""
        y = self.place((self.x[0], value))[1]
        return (
            f'<path class="level" d="M{_LEFT} {y}H{_WIDTH - _RIGHT}"/>'
            f'<text x="{_LEFT + 4}" y="{y - 4:.1f}">{esc(words)}</text>'
        )

    def line(self, points: Sequence[Point]) -> str:
        """Draw a line through points."""
        path = " ".join(f"{x},{y}" for x, y in map(self.place, points))
        return f'<polyline class="line cost" points="{path}"/>'
