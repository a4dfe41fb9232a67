"""One candidate on several cores: blocks of its records annealed side by side.

Each block has counters of its own that begin as those of the whole candidate, and sees
the other blocks as they were. Afterwards what each has changed is added up, in the
order of the blocks, so that the answer is the same on any number of cores. A block is
wrong only about what the others do meanwhile, which is little where few moves are made
between two sums. Blocks end elsewhere every time, so that any two records are in one
block now and then.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from evosdc.synth.objective.risk import RiskIndex
from evosdc.synth.search.population import Tally

_MIN_RECORDS = 4_000
_BLOCKS = 4
# Moves between two sums: so many for each record, at most so many in all, and at most
# so many for each cell of all tables: where cells are few, every block would make up
# for the same deficits.
_MOVES_PER_RECORD, _MAX_MOVES, _MOVES_PER_CELL, _MIN_MOVES = 2, 40_000, 0.1, 200


class Block(NamedTuple):
    """Records `begin` to `end`, and the counters they are moved by."""

    begin: int
    end: int
    tally: Tally


def worth_cutting(records: int) -> bool:
    """Say whether a candidate of so many records is annealed in blocks."""
    return records >= _MIN_RECORDS


def moves_at_once(records: int) -> int:
    """Return how many moves are made before the clock is asked again."""
    return min(_MOVES_PER_RECORD * records, _MAX_MOVES)


def moves_between(records: int, cells: int) -> int:
    """Return how many moves all blocks make before they are added up."""
    most = min(moves_at_once(records), int(_MOVES_PER_CELL * cells))
    return max(_MIN_MOVES, most)


def _ends(records: int, turn: int) -> list[int]:
    """Return where blocks begin and end.

    They move on by half a block with every turn. The block that would go round the end
    of the file is two.
    """
    size = records // _BLOCKS
    shift = (turn % 2) * (size // 2)
    return sorted({0, *(shift + k * size for k in range(_BLOCKS)), records})


def blocks_at(records: int, turn: int) -> int:
    """Return how many blocks there are in a turn."""
    return len(_ends(records, turn)) - 1


def cut(tally: Tally, records: int, turn: int) -> list[Block]:
    """Cut the records of a candidate into blocks, each with a copy of its counters."""
    ends = pairwise(_ends(records, turn))
    return [Block(begin, end, tally.copy()) for begin, end in ends]


def risk_of(risk: RiskIndex, begin: int) -> RiskIndex:
    """Return the index of risks for records from `begin` on, counted from 0."""
    if not risk.by_value or begin == 0:
        return risk
    values = risk.values._replace(drawn=risk.values.drawn[begin:])
    return risk._replace(values=values)


def add_up(tally: Tally, blocks: list[Block]) -> None:
    """Add what every block has changed to the counters of the whole candidate."""
    for mine, *theirs in zip(
        tally.counters, *(b.tally.counters for b in blocks), strict=True
    ):
        before = mine.copy()
        for counter in theirs:
            mine += counter - before
