"""Hints to the judge: taken where they hold, dropped where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from builders import flat_table, run_method
from evosdc.attack import judge, verify
from evosdc.attack.certificate import assemble
from evosdc.attack.hints import Hint, take_hints
from evosdc.attack.ledger import Ledger
from evosdc.attack.model import AttackModel, judged_levels
from evosdc.compile.clock import moment
from evosdc.instances import make
from evosdc.suppress.run.search import Search
from evosdc.table import Table

CORNERS = [(1, 1), (1, 2), (2, 1), (2, 2)]


def square(hidden: list[tuple[int, int]], level: float = 4.0, low: int = 9) -> Table:
    """Three by three cells; (1, 1) is sensitive and `hidden` are not published."""
    codes = [(i, j) for i in (1, 2, 3) for j in (1, 2, 3)]
    value = [low if code == (1, 2) else 10 for code in codes]
    asked = [level if code == (1, 1) else 0.0 for code in codes]
    status = ["u" if code == (1, 1) else "s" for code in codes]
    dims = {"x": "abc", "y": "abc"}
    table = flat_table(dims, value, status=status, lpl=asked, upl=asked)
    at = [tuple(code) in hidden for code in table.codes.tolist()]
    return table.with_pattern(np.array(at))


def hint(table: Table, steps: dict[tuple[int, int], float]) -> Hint:
    cells = {tuple(code): c for c, code in enumerate(table.codes.tolist())}
    return np.array([cells[code] for code in steps]), np.array(list(steps.values()))


def box(table: Table, step: float = 4.0) -> Hint:
    return hint(table, {(1, 1): step, (1, 2): -step, (2, 1): -step, (2, 2): step})


def ledger_after(table: Table, *hints: Hint) -> Ledger:
    ledger = Ledger(AttackModel.of(table, judged_levels(table, False, False)))
    take_hints(ledger, hints)
    return ledger


@pytest.mark.parametrize("step", [4.0, -4.0, 1e-3, 1e9])
def test_a_true_hint_closes_both_levels_at_any_size(step: float) -> None:
    table = square(CORNERS)
    ledger = ledger_after(table, box(table, step))
    assert not ledger.levels()
    assert ledger.proofs["hint"] == 2
    verdict, _ = judge(table, hints=[box(table, step)])
    assert verdict.safe
    assert verdict.exact
    assert set(verdict.proofs) == {"hint"}


def test_a_hint_is_stretched_only_as_far_as_cells_have_room() -> None:
    """(1, 2) can fall by 3, so (1, 1) rises by no more; falling by 4 is fine."""
    table = square(CORNERS, low=3)
    ledger = ledger_after(table, box(table))
    assert ledger.levels() == [(int(table.primaries[0]), 1, 4)]
    verdict, _ = judge(table, hints=[box(table)])
    assert not verdict.safe
    assert verdict.exposed[0].high == 13.0


def test_a_level_out_of_a_hints_reach_does_not_keep_a_smaller_one_open() -> None:
    """Rising by 4 is within the room of 5, rising by 8 is not; falling is."""
    table = square(CORNERS, low=5)
    level = np.where(table.status == "u", 4.0, 0.0)
    level[4] = 8.0
    status = table.status.copy()
    status[4] = "u"
    table = table.replace(status=status, upl=level, lpl=level)
    assert table.codes[4].tolist() == [2, 2]
    assert ledger_after(table, box(table)).levels() == [(4, 1, 8)]


def test_a_hint_that_breaks_an_equation_is_dropped() -> None:
    table = square(CORNERS)
    wrong = hint(table, {(1, 1): 4.0, (1, 2): -4.0})
    assert len(ledger_after(table, wrong).levels()) == 2
    assert judge(table, hints=[wrong])[0].safe


def test_a_hint_through_a_published_cell_is_dropped() -> None:
    table = square(CORNERS[:3])
    assert len(ledger_after(table, box(table)).levels()) == 2
    verdict, _ = judge(table, hints=[box(table)])
    assert not verdict.safe
    assert [e.cell for e in verdict.exposed] == table.primaries.tolist()


# By number: the cells of `CORNERS` are 0, 1, 3 and 4.
NONSENSE: dict[str, tuple[list[int], list[float]]] = {
    "nothing": ([], []),
    "zeros": ([0, 1, 3, 4], [0.0, 0.0, 0.0, 0.0]),
    "a zero among others": ([0, 1, 3, 4], [4.0, -4.0, 0.0, 4.0]),
    "not a number": ([0, 1, 3, 4], [4.0, -4.0, np.nan, 4.0]),
    "infinite": ([0, 1], [np.inf, -np.inf]),
    "other cells": ([4, 5, 7, 8], [4.0, -4.0, -4.0, 4.0]),
    "a cell alone": ([0], [4.0]),
}


@pytest.mark.parametrize("name", NONSENSE)
@pytest.mark.parametrize("safe", [True, False])
def test_nonsense_does_no_harm(name: str, safe: bool) -> None:
    table = square(CORNERS if safe else CORNERS[:3])
    cells, by = NONSENSE[name]
    strange = np.array(cells, np.int64), np.array(by)
    ledger = ledger_after(table, strange)
    assert len(ledger.levels()) == 2
    assert not ledger.witnesses
    assert judge(table, hints=[strange])[0].safe == safe
    assert judge(table, hints=[strange, box(table)])[0].safe == safe


@pytest.mark.parametrize("safe", [True, False])
def test_a_cell_named_twice_is_no_witness(safe: bool) -> None:
    """Up and down again adds up to nothing, whatever it seems to show."""
    table = square(CORNERS if safe else CORNERS[:3])
    target = int(table.primaries[0])
    twice = np.array([target, target]), np.array([4.0, -4.0])
    assert len(ledger_after(table, twice).levels()) == 2
    assert judge(table, hints=[twice])[0].safe == safe


def test_steps_of_different_sizes_are_taken_where_they_add_up() -> None:
    corners = [*CORNERS, (1, 3), (2, 3)]
    table = square(corners)
    steps = {(1, 1): 4.0, (1, 2): -2.0, (1, 3): -2.0}
    steps |= {(2, c): -s for (_, c), s in list(steps.items())}
    ledger = ledger_after(table)
    assert len(ledger.levels()) == 2
    assert not take_hints(ledger, [hint(table, steps)])
    assert len(ledger.levels()) < 2
    assert judge(table, hints=[hint(table, steps)])[0].safe


def test_steps_are_read_as_decimals_where_a_level_has_many_digits() -> None:
    """Rooms have few digits even where a level, and so the unit, has sixteen."""
    table = square([*CORNERS, (1, 3), (2, 3)], level=4.0 + 1 / 3)
    steps = {(1, 1): 4.334 + 1e-12, (1, 2): -2.0, (1, 3): -2.334}
    steps |= {(2, c): -s for (_, c), s in list(steps.items())}
    ledger = ledger_after(table)
    assert not take_hints(ledger, [hint(table, steps)])
    assert not ledger.levels()


def test_steps_that_do_not_add_up_are_solved_from_those_at_levels() -> None:
    table = square([*CORNERS, (1, 3), (2, 3)])
    steps = {(1, 1): 4.0, (1, 2): -2.0, (1, 3): -1.4}
    steps |= {(2, c): -s for (_, c), s in list(steps.items())}
    ledger = ledger_after(table)
    assert not take_hints(ledger, [hint(table, steps)])
    assert not ledger.levels()


def test_steps_that_cannot_add_up_only_say_where_to_look() -> None:
    """All six are at a bound or at the level, and off by far more than rounding."""
    table = square([*CORNERS, (1, 3), (2, 3)])
    steps = {(1, 1): 4.0, (1, 2): -9.0, (1, 3): -10.0}
    steps |= {(2, 1): -4.5, (2, 2): 5.5, (2, 3): -10.0}
    ledger = ledger_after(table)
    places = take_hints(ledger, [hint(table, steps)])
    assert len(ledger.levels()) == 2
    ((level, cells),) = places.items()
    assert level == (int(table.primaries[0]), 1)
    assert [c.tolist() for c in cells] == [hint(table, steps)[0].tolist()]
    assert judge(table, hints=[hint(table, steps)])[0].safe


def linear_deviation(table: Table, cell: int, sign: int, level: float) -> Hint | None:
    """A vertex of a random linear program that moves a cell by its level."""
    up, down = table.upper - table.value, table.value - table.lower
    bounds = [
        (-d, u) if hidden else (0.0, 0.0)
        for d, u, hidden in zip(down, up, table.hidden, strict=True)
    ]
    bounds[cell] = (sign * level, sign * level)
    cost = np.random.default_rng(cell).uniform(-1, 1, len(table))
    found = linprog(
        cost, A_eq=table.matrix.toarray(), b_eq=table.rhs * 0, bounds=bounds
    )
    if found.status != 0:
        return None
    at = np.flatnonzero(np.abs(found.x) > 1e-9 * np.abs(found.x).max())
    return at, found.x[at]


@pytest.mark.parametrize("seed", range(6))
def test_uneven_deviations_are_made_exact(seed: int) -> None:
    """Values of 13 digits in a cube; programs move as many cells as they like."""
    rng = np.random.default_rng(seed)
    dims = {"x": "abcd", "y": "abc", "z": "abc"}
    value = np.round(rng.lognormal(3, 1.5, 36), 11)
    sensitive = rng.random(36) < 0.3
    level = np.where(sensitive, 0.1 * value, 0.0)
    status = np.where(sensitive, "u", "s")
    table = flat_table(dims, value, status=status, lpl=level, upl=level)
    top = (
        np.where(table.hidden | (rng.random(len(table)) < 0.5), 2.0, 1.2) * table.value
    )
    table = table.replace(upper=top)
    table = table.with_pattern((table.status == "u") | (rng.random(len(table)) < 0.7))
    asked = 0
    for cell in table.primaries.tolist():
        for sign, amount in ((1, table.upl[cell]), (-1, table.lpl[cell])):
            told = linear_deviation(table, cell, sign, float(amount))
            if told is None:
                continue
            asked += 1
            ledger = ledger_after(table, told)
            assert not ledger.is_open(cell, sign)
            assert verify(table, assemble(ledger.witnesses)).refused.size == 0
    assert asked > 5


def test_suggestions_are_left_out_when_time_is_up() -> None:
    table = square(CORNERS)
    verdict, certificate = judge(table, hints=[box(table)], deadline=moment() - 1)
    assert verdict.safe is None
    assert not len(certificate.cells)


def spoilt(hints: tuple[Hint, ...], cells: int, rng: np.random.Generator) -> list[Hint]:
    """Hints with signs or sizes changed, cells exchanged or left out."""
    found: list[Hint] = []
    for at, by in hints:
        turned: NDArray[np.float64] = by * rng.choice([1.0, -1.0], len(by))
        found += [(at, turned), (at[1:], by[1:])]
        found.append((at, by * rng.uniform(0.5, 2.0, len(by))))
        found.append((rng.choice(cells, len(at), replace=False), by))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_are_the_same_with_hints_good_and_bad(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = make("random", seed, shape=(4, 3, 3), sensitive=0.2)
    pattern = run_method("ls-rebuild", table, Search(seed=seed), steps=32)
    broken = pattern.hidden.copy()
    broken[np.flatnonzero(broken & (table.status != "u"))[:2]] = False
    for hidden in (pattern.hidden, broken):
        judged = table.with_pattern(hidden)
        plain, _ = judge(judged)
        for hints in (pattern.hints, spoilt(pattern.hints, len(table), rng)):
            verdict, _ = judge(judged, hints=hints)
            assert verdict.safe == plain.safe
            assert [e.cell for e in verdict.exposed] == [e.cell for e in plain.exposed]


def test_steps_with_fractions_are_made_whole_among_their_cells() -> None:
    """Twice the deviation is whole, but (1, 2) can fall by three only."""
    table = square([*CORNERS, (1, 3), (2, 3)], low=3)
    steps = {(1, 1): 4.0, (1, 2): -2.5, (1, 3): -1.5}
    steps |= {(2, c): -s for (_, c), s in list(steps.items())}
    demands = judged_levels(table, False, False, whole=True)
    ledger = Ledger(AttackModel.of(table, demands, in_whole=True))
    take_hints(ledger, [hint(table, steps)])
    assert not ledger.levels()
    assert set(ledger.proofs) == {"hint"}
    assert not ledger.fractional
    for witness in ledger.witnesses:
        assert all(move % witness.denominator == 0 for move in witness.numerators)
