"""The judge on edge cases, and its kernels against naive twins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from evosdc.attack import (
    flow_kernels,
    general,
    intervals,
    judge,
    judge_attackers,
    move_kernels,
    verify,
)
from evosdc.attack.exact import exact_vertex
from evosdc.attack.ledger import Unfinished
from evosdc.attack.model import as_integers, fix_determined
from evosdc.compile.clock import moment
from evosdc.errors import TableError
from evosdc.table import Dimension, Hierarchy, Origin, Table, build_table
from evosdc.table import table as table_module


def cube(shape: tuple[int, ...], values: np.ndarray, **columns: np.ndarray) -> Table:
    dims = tuple(
        Dimension(f"d{k}", Hierarchy.flat([str(i) for i in range(size)]))
        for k, size in enumerate(shape)
    )
    axes = [np.arange(1, size + 1) for size in shape]
    codes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return build_table(dims, codes.reshape(-1, len(shape)), values.ravel(), **columns)


def hide_all(table: Table, primaries: list[int], share: float) -> Table:
    status = np.full(len(table), "m")
    status[primaries] = "u"
    level = np.zeros(len(table))
    level[primaries] = share * np.abs(table.value[primaries])
    return table.replace(status=status, lpl=level, upl=level)


@pytest.mark.parametrize("shape", [(3, 3), (3, 3, 3)])
@pytest.mark.parametrize("size", [1e-9, 1.0, 0.1, 1e15, 12345.678901234567])
def test_sizes_do_not_matter(shape: tuple[int, ...], size: float) -> None:
    values = size * np.arange(1.0, 1 + np.prod(shape))
    table = hide_all(cube(shape, values), [0, 4, 5], 0.3)
    verdict, certificate = judge(table)
    assert verdict.safe
    assert verdict.exact
    assert verify(table, certificate).safe
    published = table.status.copy()
    published[1 : len(values)] = "s"
    published[0] = "u"
    lone = table.replace(status=published)
    verdict, _ = judge(lone)
    low, high = intervals(lone, [0, 1])
    assert low[1] == high[1] == table.value[1]
    assert verdict.safe == (
        low[0] <= 0.7 * values[0] and high[0] >= values[0] + 0.3 * values[0]
    )


@pytest.mark.parametrize("shape", [(3, 4), (3, 3, 2)])
def test_tiny_cells_among_huge_ones(shape: tuple[int, ...]) -> None:
    values = np.where(np.arange(np.prod(shape)) % 2, 1e15, 1e-9)
    table = cube(shape, values)
    table = hide_all(table, [0, 2, 4], 0.5)
    verdict, certificate = judge(table)
    assert verdict.safe
    assert verify(table, certificate).safe


def test_no_primaries_and_nothing_hidden() -> None:
    table = cube((2, 2), np.ones(4))
    verdict, certificate = judge(table)
    assert verdict.safe
    assert verdict.judged == 0
    assert len(certificate.cells) == 0


def test_a_lone_primary_is_given_away() -> None:
    for shape in ((3, 3), (2, 2, 2)):
        table = cube(shape, np.full(np.prod(shape), 7.0))
        status = table.status.copy()
        status[0] = "u"
        level = np.ones(len(table))
        verdict, _ = judge(table.replace(status=status, upl=level, lpl=level))
        (exposure,) = verdict.exposed
        assert (exposure.low, exposure.high) == (7.0, 7.0)
        assert (exposure.needed_low, exposure.needed_high) == (6.0, 8.0)
        assert exposure.label == table.label(0)


@pytest.mark.parametrize("third", [False, True])
def test_a_cell_outside_all_equations_moves_alone(third: bool) -> None:
    # With the third row, cell 1 stands in three equations: no network.
    rows = [[0, 1, 1, -1], [0, 1, 0, 0], [0, 1, 0, 0]] if third else [[0, 1, 1, -1]]
    rhs = [0, 2, 2] if third else [0]
    table = Table.of(
        [5.0, 2.0, 3.0, 5.0], sparse.csr_array(np.array(rows, float)), rhs=rhs,
        status=["u", "s", "s", "s"], lpl=[5, 0, 0, 0], upl=[4, 0, 0, 0],
        upper=[9.0, 99, 99, 99],
    )  # fmt: skip
    verdict, _ = judge(table)
    assert verdict.safe
    low, high = intervals(table, [0])
    assert (low[0], high[0]) == (0.0, 9.0)
    short = np.array([6.0, 0, 0, 0])
    assert not judge(table.replace(lpl=short, lower=[0.0, 0, 0, 0]))[0].safe


@pytest.mark.parametrize("shape", [(6, 6), (3, 3, 3)])
def test_what_time_does_not_decide_is_open_and_not_exposed(
    shape: tuple[int, ...],
) -> None:
    rng = np.random.default_rng(0)
    table = cube(shape, rng.integers(1, 9, int(np.prod(shape))).astype(float))
    table = hide_all(table, list(range(10)), 1.0)
    full, _ = judge(table)
    verdict, certificate = judge(table, deadline=moment() - 1)
    assert verdict.safe is None
    assert verdict.word == "NOT JUDGED"
    assert not verdict.exposed
    assert set(verdict.open) == {table.label(c) for c in range(10)}
    assert len(certificate.cells) == 0
    assert full.safe is not None
    later, _ = judge(table, deadline=moment() + 600)
    assert later.exposed_cells == full.exposed_cells
    assert not later.open
    # A cell that is alone in its row is exposed, time or not.
    status = np.where(np.arange(len(table)) < 1, "u", "s")
    alone, _ = judge(table.replace(status=status), deadline=moment() - 1)
    assert alone.safe is False
    assert not alone.open


def test_insiders_that_time_does_not_reach_stay_open() -> None:
    table = hide_all(cube((3, 3), np.full(9, 9.0)), [0], 0.1)
    frequency = np.where(np.isin(np.arange(len(table)), (1, 3, 4, 5)), 1, 5)
    table = table.replace(frequency=frequency)
    word = judge(table)
    assert word[0].safe
    late, _ = judge_attackers(table, *word, deadline=moment() - 1)
    full, _ = judge_attackers(table, *word)
    assert full.safe
    assert full.insiders == late.insiders == 4
    assert late.safe is None
    assert late.open == (table.label(0),)


@pytest.mark.parametrize("shape", [(3, 3), (3, 3, 2)])
def test_what_kind_of_table_it_is_is_asked_once(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all patterns and lone respondents of one table."""
    asked: list[int] = []
    plain = table_module.detect_network
    monkeypatch.setattr(
        table_module, "detect_network", lambda m: (asked.append(1), plain(m))[1]
    )
    cells = int(np.prod(shape))
    table = hide_all(cube(shape, np.full(cells, 9.0)), [0], 0.1)
    frequency = np.where(np.isin(np.arange(len(table)), (1, 3, 4, 5)), 1, 5)
    table = table.replace(frequency=frequency)
    assert (table.network is not None) == (len(shape) == 2)
    for _ in range(2):
        again = table.with_pattern(table.hidden)
        full, _ = judge_attackers(again, *judge(again))
        assert full.insiders
    assert len(asked) == 1
    # Other equations are asked for themselves.
    assert Table.of([1.0, 1, 2], [[1, 1, -1]]).network is not None
    assert len(asked) == 2
    fewer = table.replace(matrix=table.matrix[1:], rhs=table.rhs[1:])
    assert fewer.columns.shape[0] == table.matrix.shape[0] - 1
    assert fewer.network is not table.network or len(shape) > 2
    assert len(asked) == 3


def test_nobody_alone_is_no_insider() -> None:
    table = hide_all(cube((3, 3), np.full(9, 9.0)), [0], 0.1)
    table = table.replace(frequency=np.full(len(table), 7))
    verdict, _ = judge_attackers(table, *judge(table))
    assert verdict.safe
    assert verdict.insiders == 0


def test_known_cells_are_exposed_and_help_the_attacker() -> None:
    table = hide_all(cube((2, 2), np.full(4, 9.0)), [0], 0.1)
    status = np.where(np.arange(len(table)) < 4, table.status, "s")
    table = table.replace(status=status)
    assert judge(table)[0].safe
    for cell, reason in ((0, "published"), (3, "")):
        known = np.arange(len(table)) == cell
        verdict, _ = judge(table, known=known)
        (exposure,) = verdict.exposed
        assert (exposure.cell, exposure.reason) == (0, reason)
        assert exposure.low == exposure.high == 9.0
        low, high = intervals(table, [0], known=known)
        assert low[0] == high[0] == 9.0


def test_a_sensitive_cell_without_levels_is_judged() -> None:
    """It has nothing to keep but its value, which must not be given away."""
    table = cube((2, 2), np.full(4, 9.0))
    status = table.status.copy()
    status[0] = "u"
    lone = table.replace(status=status)
    verdict, _ = judge(lone)
    assert verdict.safe is False
    assert verdict.exposed_cells == (0,)
    status[:4] = ["u", "m", "m", "m"]
    assert judge(table.replace(status=status))[0].safe
    frequency = np.where(np.arange(len(table)) == 3, 1, 5)
    square = table.replace(status=status, frequency=frequency)
    word, _ = judge_attackers(square, *judge(square))
    assert [(e.cell, e.insider) for e in word.exposed] == [
        (0, f"the lone respondent of {table.label(3)}")
    ]


def test_only_fractions_of_a_person_reach_the_level() -> None:
    """One cell is twice another: it moves by two, and its bound leaves room for one."""
    level = np.array([1.0, 0.0])
    table = Table.of(
        [6.0, 3.0], [[1.0, -2.0]], status=["u", "m"], upl=level, upper=[7.0, 9.0]
    )
    assert judge(table)[0].safe
    counts = table.replace(origin=Origin(counts=True))
    verdict, _ = judge(counts)
    (exposure,) = verdict.exposed
    assert exposure.reason == "only tables with fractions of a person reach its level"
    assert exposure.high == 6.0
    assert judge(counts, whole=False)[0].safe
    wider = counts.replace(upper=np.array([8.0, 9.0]))
    verdict, certificate = judge(wider)
    assert verdict.safe
    assert certificate.numerators.tolist() == [2, 1]
    # Half a person more is asked than reached: a whole one more.
    assert not judge(wider.replace(upl=level * 2.5))[0].safe
    assert judge(wider.replace(upl=level * 1.5))[0].safe


def test_a_table_of_counts_has_no_fractions() -> None:
    table = cube((2, 2), np.array([1.5, 2, 3, 4]))
    with pytest.raises(TableError, match="not whole numbers, the first: d0=0, d1=0"):
        judge(table, whole=True)


def test_an_integer_program_that_is_not_solved_in_time_leaves_a_cell_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slow(*_: object) -> None:
        raise Unfinished("an integer program was not solved in time")

    monkeypatch.setattr(general, "whole_move", slow)
    table = Table.of(
        [6.0, 3.0], [[1.0, -2.0]], status=["u", "m"], upl=[1.0, 0.0],
        upper=[7.0, 9.0], origin=Origin(counts=True),
    )  # fmt: skip
    verdict, _ = judge(table)
    assert verdict.safe is None
    assert verdict.open == ("cell 0",)


def test_odd_coefficients() -> None:
    """An average: cell 2 is half of the other two; the third equation breaks 2-D."""
    rows = np.zeros((3, 5))  # the last cell is fixed and stands nowhere
    rows[:, :4] = [[0.5, 0.5, -1, 0], [1, 1, 0, -1], [0.1, 0.1, 0, -0.1]]
    table = Table.of(
        [4.0, 6.0, 5.0, 10.0, 1.0], sparse.csr_array(rows),
        status=["u", "m", "m", "m", "s"], upl=[3, 0, 0, 0, 0], lpl=[3, 0, 0, 0, 0],
        lower=[0.0, 0, 0, 0, 1], upper=[99.0, 99, 99, 99, 1],
    )  # fmt: skip
    verdict, certificate = judge(table)
    assert verdict.safe
    assert verdict.exact
    assert verify(table, certificate).safe


def test_whole_reads_decimals() -> None:
    scale, (numbers,) = as_integers(np.array([0.1, 2.0, np.inf, -1e-3]))
    assert scale == 1000
    assert numbers.tolist() == [100, 2000, 0, -1]


def test_unpick_follows_the_chain() -> None:
    matrix = sparse.csr_array(
        np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    )
    free = fix_determined(matrix, np.array([True, True, True, False]))
    assert not free.any()
    both = sparse.csr_array(np.array([[1.0, 1, 0, 0]]))
    assert fix_determined(both, np.array([True] * 4)).all()


def test_max_flow_agrees_with_a_plain_one() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        nodes, arcs = int(rng.integers(2, 7)), int(rng.integers(1, 15))
        tail, head = rng.integers(0, nodes, (2, arcs))
        up, down = rng.integers(0, 9, (2, arcs))
        ends = np.concatenate([tail, head])
        order = np.argsort(ends, kind="stable")
        start = np.searchsorted(ends[order], np.arange(nodes + 1))
        arc, way = order % arcs, np.where(order < arcs, 1, -1)
        other = np.concatenate([head, tail])[order]
        flow = np.zeros(arcs, np.int64)
        sent = flow_kernels.max_flow(
            0, 1, 10**9, start, arc, way, other, ends[order], up, down, flow
        )
        graph = np.zeros((nodes, nodes), dtype=np.int32)
        np.add.at(graph, (tail, head), up)
        np.add.at(graph, (head, tail), down)
        np.fill_diagonal(graph, 0)
        assert sent == maximum_flow(sparse.csr_array(graph), 0, 1).flow_value
        assert (flow <= up).all()
        assert (-flow <= down).all()
        balance = np.bincount(head, flow, nodes) - np.bincount(tail, flow, nodes)
        assert balance.tolist()[:2] == [-sent, sent]
        assert not balance[2:].any()


def test_rectangles_are_found_exactly_where_there_are_any() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        rows, cols = 4, 4
        i, j = np.divmod(np.flatnonzero(rng.random(16) < 0.6), cols)
        if not len(i):
            continue
        tail, head = i.astype(np.int64), (rows + j).astype(np.int64)
        up, down = rng.integers(0, 4, (2, len(i))).astype(float)
        ends = np.concatenate([tail, head])
        order = np.argsort(ends, kind="stable")
        start = np.searchsorted(ends[order], np.arange(rows + cols + 1))
        found, _, ways = flow_kernels.rectangles(
            np.array([0]), np.array([1]), np.array([2.0]), tail, head, start,
            order % len(i), np.where(order < len(i), 1, -1),
            np.concatenate([head, tail])[order], up, down,
        )  # fmt: skip
        at = {(a, b): k for k, (a, b) in enumerate(zip(i, j, strict=True))}
        plain = any(
            (i[0], b) in at and (a, j[0]) in at and (a, b) in at
            and min(down[at[i[0], b]], down[at[a, j[0]]], up[at[a, b]]) >= 2
            for a in range(rows) for b in range(cols) if a != i[0] and b != j[0]
        )  # fmt: skip
        assert found[0] == plain
        if plain:
            assert sorted(ways[0].tolist()) == [-1, -1, 1]


def test_small_moves_balance_every_equation() -> None:
    rng = np.random.default_rng(1)
    table = cube((4, 4, 3), rng.integers(1, 9, 48).astype(float))
    rows, columns = table.matrix, table.columns
    cells = np.arange(20)
    sizes, moved, ways = move_kernels.small_moves(
        cells, np.ones(20, np.int64), np.ones(20), 40,
        rows.indptr.astype(np.int64), rows.indices.astype(np.int64),
        rows.data.astype(np.int64), columns.indptr.astype(np.int64),
        columns.indices.astype(np.int64), columns.data.astype(np.int64),
        np.full(len(table), 9.0), table.value, 1,
    )  # fmt: skip
    assert sizes.sum() == len(moved) > 0
    for end, size in zip(np.cumsum(sizes), sizes, strict=True):
        d = np.zeros(len(table))
        d[moved[end - size : end]] = ways[end - size : end]
        assert not (rows @ d).any()


def test_neighbourhood_is_a_sub_table() -> None:
    table = cube((6, 6, 6), np.ones(216))
    rows, columns = table.matrix, table.columns
    scratch = np.zeros(rows.shape[0], np.int64), np.zeros(len(table), np.int64)
    found = move_kernels.neighbourhood(
        0, 2, 500,
        rows.indptr.astype(np.int64), rows.indices.astype(np.int64),
        columns.indptr.astype(np.int64), columns.indices.astype(np.int64),
        *(np.ones(len(table)) for _ in range(3)), 1.0, *scratch,
    )  # fmt: skip
    assert len(found) == 27
    assert [len(np.unique(table.codes[found, k])) for k in range(3)] == [3, 3, 3]
    assert not scratch[0].any()
    assert not scratch[1].any()


def test_vertices_become_exact() -> None:
    # Three equations whose vertex has denominator 7: beyond rounding.
    rows = sparse.csr_array(np.array([[3.0, -1, 0, 0], [0, 2, -1, 0], [1, 0, 1, -1]]))
    x = np.array([5 / 7, 15 / 7, 30 / 7, 5.0])
    numerators, den = exact_vertex(rows, x, [None, None, None, 5], 1e-9)
    got = [Fraction(n, den) for n in numerators]
    assert got == [Fraction(5, 7), Fraction(15, 7), Fraction(30, 7), 5]
    assert exact_vertex(rows, x, [None, 2, None, 5], 1e-9) is None
