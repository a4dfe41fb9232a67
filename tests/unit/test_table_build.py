"""Tables from labelled cells: totals, equations, links, networks, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from builders import examples
from evosdc.errors import NotAdditiveError, TableError
from evosdc.table import (
    Dimension,
    Hierarchy,
    Table,
    build_table,
    detect_network,
    link_tables,
)

REGION = Dimension(
    "region",
    Hierarchy.from_levels([("N", "n1"), ("N", "n2"), ("S", "s1"), ("S", "s2")]),
)
KIND = Dimension("kind", Hierarchy.flat(["a", "b", "c"]))
SIZE = Dimension("size", Hierarchy.flat(["small", "large"]))


def leaves(*dimensions: Dimension) -> list[tuple[int, ...]]:
    return list(
        itertools.product(
            *(np.flatnonzero(d.hierarchy.is_leaf).tolist() for d in dimensions)
        )
    )


def value_at(table: Table, **codes: str) -> float:
    row = [d.hierarchy.node_of[codes[d.name]] for d in table.dimensions]
    (cell,) = np.flatnonzero((table.codes == row).all(axis=1))
    return float(table.value[cell])


def test_totals_are_computed_at_every_level() -> None:
    inner = leaves(REGION, KIND)
    table = build_table([REGION, KIND], inner, np.arange(1, 13))
    assert len(table) == 7 * 4
    # n1 holds 1 2 3, n2 holds 4 5 6, s1 7 8 9, s2 10 11 12.
    assert value_at(table, region="N", kind="b") == 2 + 5
    assert value_at(table, region="S", kind="Total") == 57
    assert value_at(table, region="Total", kind="Total") == 78


def test_equations_by_hand() -> None:
    table = build_table([KIND], [[1], [2], [3]], [1.0, 2.0, 3.0])
    assert table.matrix.toarray().tolist() == [[1, 1, 1, -1]]


def test_frequencies_are_added_up() -> None:
    table = build_table([KIND], [[1], [2], [3]], [1.0, 2.0, 3.0], frequency=[4, 5, 6])
    assert table.frequency is not None
    assert table.frequency.tolist() == [4, 5, 6, 15]


def test_wrong_totals_name_the_equation() -> None:
    with pytest.raises(NotAdditiveError, match="kind=Total"):
        build_table([KIND], [[1], [2], [3], [0]], [1.0, 2.0, 3.0, 7.0])


def test_duplicates_are_refused() -> None:
    with pytest.raises(TableError, match=r"stand twice.*kind=b"):
        build_table([KIND], [[1], [2], [2], [3]], [1.0, 2.0, 2.0, 3.0])


def test_missing_inner_cells_are_refused_or_empty() -> None:
    inner = leaves(REGION, KIND)[:-1]
    values = np.arange(1, 12)
    with pytest.raises(TableError, match="region=s2, kind=c"):
        build_table([REGION, KIND], inner, values)
    table = build_table([REGION, KIND], inner, values, missing="empty")
    assert len(table) == 7 * 4 - 1
    assert value_at(table, region="s2", kind="Total") == 21


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_must_be_finite(bad: float) -> None:
    with pytest.raises(TableError, match="not a finite number"):
        build_table([KIND], [[1], [2], [3]], [1.0, bad, 3.0])


def test_messages_never_print_values() -> None:
    with pytest.raises(NotAdditiveError) as caught:
        build_table([KIND], [[1], [2], [3], [0]], [111.0, 222.0, 333.0, 777.0])
    assert not any(v in str(caught.value) for v in ("111", "222", "333", "777", "666"))


def test_no_cells_is_refused() -> None:
    with pytest.raises(TableError, match="no cells"):
        build_table([KIND], np.empty((0, 1)), [])


def test_two_dimensions_are_a_network_and_three_are_not() -> None:
    flat = build_table([KIND, SIZE], leaves(KIND, SIZE), np.arange(6) + 1)
    network = detect_network(flat.matrix)
    assert network is not None
    solid = build_table(
        [REGION, KIND, SIZE], leaves(REGION, KIND, SIZE), np.arange(24) + 1
    )
    assert detect_network(solid.matrix) is None


def test_a_network_conserves_flow_where_the_equations_hold() -> None:
    table = build_table([KIND, SIZE], leaves(KIND, SIZE), np.arange(6) + 1)
    network = detect_network(table.matrix)
    assert network is not None
    rng = np.random.default_rng(0)
    shuffled = table.matrix[rng.permutation(table.matrix.shape[0])]
    signs = sparse.diags_array(rng.choice([-1.0, 1.0], table.matrix.shape[0]))
    again = detect_network(signs @ shuffled)
    assert again is not None
    for net in (network, again):
        flow = np.zeros(net.nodes)
        np.add.at(flow, net.head, table.value)
        np.add.at(flow, net.tail, -table.value)
        assert np.abs(flow).max() == 0


def test_an_odd_cycle_of_equal_signs_is_no_network() -> None:
    # x+y=.., y+z=.., z+x=..: no choice of signs makes each variable enter and leave.
    assert detect_network(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1.0]])) is None


def test_linked_tables_share_their_cells() -> None:
    one = build_table([REGION, KIND], leaves(REGION, KIND), np.arange(1, 13))
    per_region = one.value[: 4 * 3].reshape(4, 3).sum(axis=1)
    two = build_table(
        [REGION, SIZE],
        leaves(REGION, SIZE),
        np.column_stack([per_region - 1, np.ones(4)]).ravel(),
    )
    joint = link_tables([one, two])
    assert len(joint.table) == len(one) + len(two) - 7
    for part, place in zip((one, two), joint.cell_numbers, strict=True):
        assert np.array_equal(joint.table.value[place], part.value)
    # The three sums over regions are in both tables.
    both = one.matrix.shape[0] + two.matrix.shape[0]
    assert joint.table.matrix.shape[0] == both - 3


def test_linked_tables_must_agree() -> None:
    one = build_table([REGION, KIND], leaves(REGION, KIND), np.arange(1, 13))
    two = build_table([REGION, SIZE], leaves(REGION, SIZE), np.arange(1, 9))
    with pytest.raises(TableError, match="differ between linked tables"):
        link_tables([one, two])


@examples(60)
@given(data=st.data())
def test_roll_up_agrees_with_a_naive_sum(data: st.DataObject) -> None:
    dims = []
    for k in range(data.draw(st.integers(1, 3))):
        parents: dict[str, str] = {}
        for i in range(data.draw(st.integers(1, 5))):
            above = data.draw(st.sampled_from(["Total", *parents]))
            parents[f"c{i}"] = above
        dims.append(Dimension(f"d{k}", Hierarchy.from_parents(parents)))
    inner = leaves(*dims)
    keep = [c for c in inner if data.draw(st.booleans())] or inner[:1]
    values = [data.draw(st.integers(-50, 50)) for _ in keep]
    table = build_table(dims, keep, values, missing="empty", lower=[-100.0] * len(keep))

    def under(dimension: Dimension, leaf: int, node: int) -> bool:
        while leaf >= 0:
            if leaf == node:
                return True
            leaf = dimension.hierarchy.parents[leaf]
        return False

    seen = set()
    for i, row in enumerate(table.codes.tolist()):
        seen.add(tuple(row))
        expected = sum(
            v
            for c, v in zip(keep, values, strict=True)
            if all(under(d, x, y) for d, x, y in zip(dims, c, row, strict=True))
        )
        assert table.value[i] == expected
    assert len(seen) == len(table)
    assert np.abs(table.residuals()).max(initial=0) == 0
