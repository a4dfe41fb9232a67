"""The size of a run: candidates, generations, record moves, and when it ends."""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.options import copies

_GENERATIONS = {True: 60, False: 1000}


@dataclass(frozen=True)
class Schedule(copies.Schedule):
    __doc__ = copies.Schedule.__doc__

    @property
    def by_clock(self) -> bool:
        """Whether the time limit alone says how long a memetic run is."""
        sized = self.generations is not None or self.moves is not None
        return self.memetic and self.seconds is not None and not sized

    @property
    def most_generations(self) -> int:
        """The number of generations of a run that nothing ends earlier."""
        if self.generations is None:
            return _GENERATIONS[bool(self.memetic)]
        return self.generations
