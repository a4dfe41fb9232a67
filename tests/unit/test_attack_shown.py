"""What witnesses show to lone respondents, against a count by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from evosdc.attack.certificate import Witness, assemble
from evosdc.attack.demands import JudgedLevels
from evosdc.attack.shown import Shown

CELLS = 9


def drawn(rng: np.random.Generator, many: int) -> list[Witness]:
    out = []
    for _ in range(many):
        at = np.sort(rng.permutation(CELLS)[: rng.integers(2, 6)])
        steps = rng.choice([-6, -4, -3, -1, 1, 2, 3, 5], len(at)).tolist()
        out.append(Witness(int(at[0]), 1, at, steps, int(rng.integers(1, 5)), "cube"))
    return out


def doubtful_by_hand(
    demands: JudgedLevels,
    respondent: np.ndarray,
    witnesses: list[Witness],
    cell: int,
    who: int,
) -> bool:
    moves = [Fraction(0)]
    for w in witnesses:
        if who in respondent[w.indices]:
            continue
        for c, step in zip(w.indices.tolist(), w.numerators, strict=True):
            if c == cell:
                moves.append(Fraction(step, w.denominator))
    i = demands.cells.tolist().index(cell)
    over, under = max(moves), -min(moves)
    return (
        over < demands.up[i]
        or under < demands.down[i]
        or over + under < demands.width[i]
        or bool(demands.apart[i] and over + under == 0)
    )


@pytest.mark.parametrize("seed", range(20))
def test_doubts_are_those_counted_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = np.array([0, 3, 4, 7])
    demands = JudgedLevels(
        cells=cells,
        up=rng.integers(0, 3, 4).astype(float),
        down=rng.integers(0, 3, 4).astype(float),
        width=rng.choice([0.0, 4.0], 4),
        apart=rng.random(4) < 0.5,
    )
    respondent = np.array([5, -1, 1, -1, 2, 2, -1, -1, 3])
    first, later = drawn(rng, 8), drawn(rng, 6)
    shown = Shown(demands, respondent, assemble(first))
    for witnesses in (first, first + later):
        found = shown.doubts(None)
        asked = {(c, who) for who, some in found.items() for c in some}
        moved = {
            (c, who)
            for w in witnesses
            for c in w.indices.tolist()
            for who in respondent[w.indices].tolist()
            if c in cells and who >= 0 and who != respondent[c]
        }
        assert asked == {
            (c, who)
            for c, who in moved
            if doubtful_by_hand(demands, respondent, witnesses, c, who)
        }
        for c, who in moved:
            assert shown.doubtful(c, who) == ((c, who) in asked)
        shown.take(assemble(later))
