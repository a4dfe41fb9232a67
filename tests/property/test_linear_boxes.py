"""Boxes and cycles against naive twins, and patterns built with them."""

from __future__ import annotations

import numpy as np
import pytest
from linear_twins import (
    Question,
    all_boxes,
    ask_box,
    ask_cycle,
    cost_of,
    naive_box,
    naive_cycle,
    program_cost,
    sparse_table,
    without_labels,
    witnesses_of,
)
from numpy.typing import NDArray

from builders import flat_table, run_method
from evosdc.attack import judge
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.engine.general.boxes import Boxes, boxes_of
from evosdc.suppress.engine.general.witness import Witnesses
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search
from evosdc.table import Table

# Questions asked of each table.
QUESTIONS = 12

KINDS = {
    "plain": {},
    "zeros": {"zeros": 0.5},
    "empty codes": {"empty": 1},
    "ties": {"values": "ties"},
    "tiny": {"values": "tiny"},
    "huge": {"values": "huge"},
    "negative": {"values": "negative"},
    "bounded": {"bounds": "tau"},
}
SHAPES = [
    ((5,), 0),
    ((6,), 1),
    ((12,), 1),
    ((14,), 1),
    ((4, 3), 0),
    ((6, 4), 1),
    ((6, 6), 2),
    ((3, 3, 3), 0),
    ((5, 3, 3), 1),
    ((5, 5, 2), 2),
    ((2, 2, 2, 2), 0),
    ((4, 2, 2, 2), 1),
    ((3, 3, 2, 2), 0),
]


def tables(only: set[int] | None = None) -> list[Table]:
    """Tables of all kinds in all shapes, or in shapes of so many dimensions."""
    found = []
    for seed, (shape, trees) in enumerate(SHAPES):
        if only is not None and len(shape) not in only:
            continue
        for options in KINDS.values():
            found.append(make("random", seed, shape=shape, trees=trees, **options))
        found += [
            sparse_table(100 * seed + i, shape, trees, absent)
            for i, absent in enumerate((0.2, 0.5, 0.8))
        ]
    return found


def questions(table: Table) -> list[Question]:
    return [q for seed in range(QUESTIONS) if (q := Question(table, seed)).amount > 0.0]


def assert_valid(q: Question, by: NDArray[np.float64]) -> None:
    """A deviation keeps every equation and bound and moves only what it may."""
    table = q.table
    assert not (table.matrix @ by).any()
    assert by[q.target] == q.sign
    assert set(by.tolist()) <= {-1.0, 0.0, 1.0}
    assert np.all(q.amount * by <= q.up)
    assert np.all(-q.amount * by <= q.down)
    others = by != 0.0
    others[q.target] = False
    assert np.all(q.hidden[others] | np.isfinite(q.price[others]))
    if q.only_hidden:
        assert np.all(q.hidden[others])


@pytest.mark.slow
def test_the_cheapest_box_is_the_cheapest_product_of_vectors() -> None:
    found = missed = 0
    for table in tables():
        boxes = all_boxes(table)
        assert boxes is not None
        for q in questions(table):
            by, cost = ask_box(boxes, q)
            assert cost == naive_box(q)
            if by is None:
                missed += 1
                assert cost == np.inf
            else:
                found += 1
                assert_valid(q, by)
                assert cost_of(q, by) == cost
                assert ask_box(boxes, q, cost) == (None, cost)
                assert ask_box(boxes, q, np.nextafter(cost, np.inf))[1] == cost
    assert found > 200
    assert missed > 200


def test_the_cheapest_cycle_of_a_flat_plane_is_a_shortest_path() -> None:
    """Bellman and Ford on every plane, times every vector of the other dimensions."""
    shorter = 0
    flat = [
        t for t in tables({2, 3, 4}) if all(d.hierarchy.is_flat for d in t.dimensions)
    ]
    for table in flat:
        whole = len(table) == np.prod([len(d.hierarchy) for d in table.dimensions])
        if not whole and len(table.dimensions) > 2:
            continue
        boxes = all_boxes(table)
        assert boxes is not None
        for q in questions(table):
            by, cost = ask_cycle(boxes, q)
            assert cost == naive_cycle(q)
            assert (by is None) == (cost == np.inf)
            if by is not None:
                assert_valid(q, by)
                assert cost_of(q, by) == cost
            shorter += cost < ask_box(boxes, q)[1]
    assert shorter > 20


def test_the_cheapest_cycle_of_two_dimensions_is_the_cheapest_deviation() -> None:
    """With one tree or none the table is a network, and programs find paths."""
    for table in tables({2}):
        if sum(not d.hierarchy.is_flat for d in table.dimensions) > 1:
            continue
        boxes = all_boxes(table)
        assert boxes is not None
        for q in questions(table)[:6]:
            _, cost = ask_cycle(boxes, q)
            assert cost == pytest.approx(program_cost(q), abs=1e-6)


def test_cycles_are_valid_and_never_above_boxes() -> None:
    found = 0
    for table in tables({2, 3, 4}):
        if sum(not d.hierarchy.is_flat for d in table.dimensions) > 1:
            continue
        boxes = all_boxes(table)
        assert boxes is not None
        for q in questions(table):
            by, cost = ask_cycle(boxes, q)
            _, price = ask_box(boxes, q)
            assert cost <= price
            if by is not None:
                found += 1
                assert_valid(q, by)
                assert cost_of(q, by) == cost
            # Nothing at a bound or above it is taken.
            none, bound = ask_cycle(boxes, q, cost)
            assert none is None
            assert bound == cost
    assert found > 200


def test_trees_in_every_dimension_leave_no_plane_for_cycles() -> None:
    table = make("random", 3, shape=(6, 6), trees=2)
    assert all(not d.hierarchy.is_flat for d in table.dimensions)
    boxes = all_boxes(table)
    assert boxes is not None
    for q in questions(table):
        assert ask_cycle(boxes, q) == (None, np.inf)


def small_tables() -> list[Table]:
    """Tables of three dimensions and more to protect, labelled or not."""
    found = []
    for seed in range(4):
        for options in ({}, {"values": "huge"}, {"zeros": 0.5}, {"bounds": "tau"}):
            table = make(
                "random",
                seed,
                shape=(4, 3, 3),
                trees=seed % 3,
                sensitive=0.2,
                **options,
            )
            found += [table, without_labels(table, seed)[0]]
    return found


def assert_covered(
    problem: Problem, witnesses: Witnesses, hidden: NDArray[np.bool_]
) -> None:
    """The witness of every covered demand is hidden and shows it."""
    pool, rows = witnesses.pool, witnesses.rows
    for row in np.flatnonzero(pool.covered).tolist():
        number = pool.witness[row]
        assert 0 <= number < pool.tally[0]
        begin = pool.begin[number]
        part = slice(begin, begin + pool.length[number])
        cells, by = pool.entry_cell[part], pool.entry_by[part]
        assert hidden[cells].all()
        move = np.zeros(len(problem.table))
        move[cells] = by
        step = move[rows.cell[row]]
        move *= rows.sign[row] * rows.amount[row] / step
        slack = 1e-9 * rows.amount[row]
        assert np.all(np.abs(problem.table.matrix @ move) <= slack)
        assert np.all(move <= problem.up + slack)
        assert np.all(-move <= problem.down + slack)


def start(table: Table) -> tuple[Problem, Witnesses, Boxes]:
    problem = Problem.of(table)
    witnesses = witnesses_of(problem)
    boxes = boxes_of(problem, witnesses.rows)
    assert boxes is not None
    return problem, witnesses, boxes


def test_covering_dropping_and_rebuilding_keep_witnesses_in_order() -> None:
    gains = 0
    for seed, table in enumerate(small_tables()):
        rng = np.random.default_rng(seed)
        problem, witnesses, boxes = start(table)
        hidden = problem.primary.copy()
        order = rng.permutation(len(witnesses.rows.cell))

        failed = boxes.cover(witnesses, hidden, order, only_hidden=True)
        assert np.array_equal(hidden, problem.primary)
        assert set(failed.tolist()) == set(np.flatnonzero(~witnesses.covered).tolist())
        assert_covered(problem, witnesses, hidden)

        failed = boxes.cover(witnesses, hidden, order)
        assert set(failed.tolist()) == set(np.flatnonzero(~witnesses.covered).tolist())
        assert not (hidden & ~problem.hideable).any()
        assert_covered(problem, witnesses, hidden)

        # More cells than needed, for something to drop.
        more = hidden | (problem.hideable & (rng.random(len(table)) < 0.2))
        covered = witnesses.covered.copy()
        before = more.copy()
        boxes.drop(witnesses, more, rng.permutation(len(table)))
        assert not (more & ~before).any()
        assert more[problem.primary].all()
        assert np.all(witnesses.covered >= covered)
        assert_covered(problem, witnesses, more)

        cost = problem.pattern(more).cost
        blurred = boxes.with_price(problem.cost * np.exp(rng.normal(0, 0.5, len(more))))
        for _ in range(30):
            change = blurred.rebuild(
                witnesses,
                more,
                rng.integers(len(table), size=3),
                rng.random(len(witnesses.rows.cell)),
                problem.cost,
            )
            assert change <= 1e-9
            assert problem.pattern(more).cost == pytest.approx(cost + change)
            gains += change < 0.0
            cost = problem.pattern(more).cost
            assert np.all(witnesses.covered >= covered)
            assert_covered(problem, witnesses, more)
    assert gains > 20


def test_a_full_pool_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest pools that calls may ask for give the pattern of large ones."""
    table = make("random", 5, shape=(4, 3, 3), sensitive=0.3)

    def build() -> NDArray[np.bool_]:
        problem, witnesses, boxes = start(table)
        hidden = problem.primary.copy()
        boxes.cover(witnesses, hidden, np.arange(len(witnesses.rows.cell)))
        boxes.drop(witnesses, hidden, np.flatnonzero(hidden))
        assert_covered(problem, witnesses, hidden)
        return hidden

    large = build()
    for name in ("_WITNESSES", "_ENTRIES"):
        monkeypatch.setattr(f"evosdc.suppress.engine.general.witness.{name}", 4)
    monkeypatch.setattr("evosdc.suppress.engine.general.boxes._WITNESSES_A_CALL", 4)
    monkeypatch.setattr("evosdc.suppress.engine.general.boxes._ENTRIES_PER_CALL", 4)
    small = build()
    assert np.array_equal(small, large)


def rebuilt(table: Table, seed: int) -> Pattern:
    search = Search(seed=seed, stop=EvaluationLimit(130))
    return run_method("ls-rebuild", table, search)


@pytest.mark.parametrize("seed", range(4))
def test_rebuilt_patterns_are_safe_repeatable_and_not_above(seed: int) -> None:
    table = make("random", seed, shape=(4, 3, 3), trees=seed % 2, sensitive=0.2)
    pattern = rebuilt(table, seed)
    verdict, _ = judge(table.with_pattern(pattern.hidden), hints=pattern.hints)
    assert verdict.safe
    alone, _ = judge(table.with_pattern(pattern.hidden))
    assert alone.safe
    again = rebuilt(table, seed)
    assert np.array_equal(again.hidden, pattern.hidden)
    assert pattern.cost <= run_method("attacker", table).cost + 1e-9


def test_rebuilding_a_table_with_nothing_to_rebuild() -> None:
    plain = make("random", 2, shape=(3, 3), sensitive=0.0, margins=0.0)
    assert not rebuilt(plain, 0).hidden.any()
    doubled = Table.of([4.0, 2.0], [[1.0, -2.0]], status=["u", "s"], upl=1.0, lpl=1.0)
    assert rebuilt(doubled, 0).hidden.all()


def test_fixed_cells_and_dear_ones_are_gone_round() -> None:
    """Two corners of the cheap box are fixed: the box goes through the totals."""
    level = [3.0, 0, 0, 0]
    table = flat_table(
        {"r": "ab", "c": "xy"}, [9] * 4, status=list("ussz"), upl=level, lpl=level
    )
    problem, witnesses, boxes = start(table)
    hidden = problem.primary.copy()
    assert not len(boxes.cover(witnesses, hidden, np.arange(2)))
    labels = {tuple(table.codes[c].tolist()) for c in np.flatnonzero(hidden)}
    assert (2, 2) not in labels
    assert (1, 1) in labels
    assert_covered(problem, witnesses, hidden)
