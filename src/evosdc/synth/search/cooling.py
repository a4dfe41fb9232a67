"""How candidates are annealed, scaled to a file."""

from __future__ import annotations

from dataclasses import dataclass

# Distances are rounded off no higher than this, and in the last tenth not at all.
_SOFTEST, _HARD = 0.1, 0.9


@dataclass(frozen=True)
class Cooling:
    """How candidates are annealed, scaled to a file.

    Temperatures are costs. `moves` are made by each candidate in a generation; a share
    `swaps` of them swap a value between two records, the others change one value. Where
    the full table is an objective, a share `whole` of all change a whole record. With
    `by_clock` nothing but a time limit says how many generations there are.

    A Jensen-Shannon distance is infinitely steep at 0: once most tables are exact, no
    move may touch them any more for the sake of the others. So distances of one or two
    variables are rounded off at `soft` times their present mean, but for the end.
    """

    moves: int
    hot: float
    cold: float
    swaps: float = 0.5
    whole: float = 0.1
    late: int = 0
    crossover: int = 4
    crossover_rate: float = 0.1
    soft: float = 1.0
    by_clock: bool = False

    def temperature(self, share: float) -> float:
        """Return the temperature when `share` of the budget is spent."""
        return float(self.hot * (self.cold / self.hot) ** min(1.0, share))

    def softness(self, share: float, distance: float) -> float:
        """Return where to round off distances that are `distance` on average."""
        return self.soft * min(_SOFTEST, distance) if share < _HARD else 0.0
