"""Each family follows the rules of its source."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.errors import InputError
from evosdc.instances import families, find_family, make
from evosdc.instances.grid import Grid, add_totals, flat, share_of, tree
from evosdc.instances.published import HEURGENE, LARGE, OFFICE
from evosdc.table import Table, detect_network


def inner_cells(table: Table) -> np.ndarray:
    return np.logical_and.reduce(
        [d.hierarchy.is_leaf[table.codes[:, k]] for k, d in enumerate(table.dimensions)]
    )


def test_class_one_rules() -> None:
    table = make("class1", seed=3, rows=60, columns=40)
    inner = inner_cells(table)
    assert len(table) == 61 * 41
    assert table.value[inner].min() == 0
    assert table.value[inner].max() == 499
    small = inner & (table.value >= 1) & (table.value <= 4)
    assert np.array_equal(table.status == "u", small)
    assert np.array_equal(table.upl[small], table.value[small])
    assert np.array_equal(table.lpl[small], table.value[small] - 1)
    assert np.array_equal(table.status == "z", table.value == 0)
    assert np.array_equal(table.weight, table.value)
    assert table.is_integer
    assert detect_network(table.matrix) is not None


def test_class_two_rules() -> None:
    table = make("class2", seed=3, rows=120, columns=100)
    inner = inner_cells(table)
    primary = table.status == "u"
    assert table.value[inner].max() == 1000
    assert abs(primary[inner].mean() - 0.2) < 0.02
    assert abs(primary[~inner].mean() - 0.1) < 0.06
    assert not primary[table.value == 0].any()
    expected = [-(-15 * int(a) // 100) for a in table.value[primary]]
    assert table.lpl[primary].tolist() == expected
    assert table.upl[primary].tolist() == expected


@pytest.mark.parametrize("dataset", [1, 2, 3, 7])
def test_heurgene_rules(dataset: int) -> None:
    table = make("heurgene", seed=1, dataset=dataset)
    rows, columns, count = HEURGENE[dataset]
    inner = inner_cells(table)
    assert (int(inner.sum()), int((~inner).sum())) == (
        rows * columns,
        rows + columns + 1,
    )
    assert len(table.primaries) == count
    assert inner[table.primaries].all()
    assert not table.is_integer
    assert 0 <= table.value[inner].min() < 1 < 999 < table.value[inner].max() <= 1000
    level = table.upl[table.primaries]
    assert np.array_equal(level, table.lpl[table.primaries])
    assert np.allclose(level, table.value[table.primaries] / 10, rtol=1e-12)


def test_heurgene_in_whole_numbers_rounds_levels_up() -> None:
    table = make("heurgene", seed=1, decimals=0, sensitive=0.03)
    assert table.is_integer
    assert len(table.primaries) == 300
    value = table.value[table.primaries]
    assert table.upl[table.primaries].tolist() == [-(-int(a) // 10) for a in value]


@pytest.mark.parametrize("letter", ["A", "B", "C", "F", "G", "H1", "H5"])
def test_office_shapes(letter: str) -> None:
    shape = OFFICE[letter]
    table = make("ons", seed=2, table=letter)
    margins = 0 if shape.hierarchical else 1
    assert len(table) == (shape.rows + margins) * (shape.columns + margins)
    assert len(table.primaries) == shape.sensitive
    seen = table if shape.hierarchical else inner_cells(table)
    zeros = table.status == "z"
    share = zeros.mean() if shape.hierarchical else zeros[seen].mean()
    # Surveys have as many zeros as published, generated tables by chance: 4 deviations.
    chance = (shape.zeros * (1 - shape.zeros) / (shape.rows * shape.columns)) ** 0.5
    assert abs(share - shape.zeros) < (0.01 if shape.survey else 4 * chance)
    assert table.is_integer
    assert detect_network(table.matrix) is not None


def test_sensitive_cells_of_generated_tables_have_levels() -> None:
    table = make("ons", seed=2, table="A")
    cells = table.primaries
    assert table.upl[cells].tolist() == [-(-int(a) // 5) for a in table.value[cells]]
    narrower = make("ons", seed=2, table="A", level=0.1)
    assert np.array_equal(narrower.value, table.value)
    assert (narrower.upl[cells] < table.upl[cells]).all()


def test_office_bounds_are_those_of_tau_argus() -> None:
    table = make("ons", seed=2)
    assert np.all(np.abs(table.lower - table.value / 2) <= 0.5)
    assert np.all(np.abs(table.upper - table.value * 1.5) <= 0.5)
    freed = make("ons", seed=2, bounds="open")
    assert np.isinf(freed.upper).all()
    assert not freed.lower.any()


@pytest.mark.parametrize("line", [1, 4, 14])
def test_large_tables_have_the_published_size(line: int) -> None:
    solid = LARGE[line]
    table = make("large", seed=1, table=line)
    assert len(table) == np.prod(solid.codes)
    assert len(table.primaries) == solid.sensitive
    assert abs((table.status == "z").mean() - solid.zeros) < 0.01
    flat_dims = [d.hierarchy.is_flat for d in table.dimensions]
    assert flat_dims == [k != solid.hierarchical for k in range(3)]
    frequency = table.frequency
    assert frequency is not None
    hidden_most = frequency[table.primaries].max()
    safe = (table.status == "s").nonzero()[0]
    assert frequency[safe].min() >= hidden_most - 1
    assert np.array_equal(frequency == 0, table.value == 0)


def test_the_large_tables_are_those_of_the_source() -> None:
    sizes = [int(np.prod(s.codes)) for s in LARGE.values()]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (48_600, 209_300)
    assert sum(s.hierarchical is not None for s in LARGE.values()) == 6


def test_frequency_tables_hide_small_counts_only() -> None:
    table = make("frequency", seed=5, shape="8x6x5", mean=2.0, threshold=4)
    primary = table.status == "u"
    assert primary.any()
    assert np.array_equal(primary, (table.value >= 1) & (table.value < 4))
    assert np.array_equal(table.frequency, table.value)
    assert np.all(table.value[primary] + table.upl[primary] >= 4)
    assert np.all(table.value[primary] - table.lpl[primary] == 1)


def test_parts_lie_side_by_side() -> None:
    table = make("random", seed=1, shape=(4, 3), parts=3)
    assert len(table) == 3 * 5 * 4
    part = table.codes[:, 0]
    rows = table.matrix.tocoo()
    first = np.full(table.matrix.shape[0], -1)
    first[rows.row] = part[rows.col]
    assert np.array_equal(first[rows.row], part[rows.col])
    assert set(part.tolist()) == {1, 2, 3}


def test_linked_tables_share_the_first_dimension() -> None:
    table = make("random", seed=1, shape=(4, 3, 5), linked=True)
    assert len(table) == 5 * 4 + 5 * 6 - 5
    assert [d.name for d in table.dimensions] == ["d1", "d2", "d3"]


def test_extreme_shares() -> None:
    everything = make("random", seed=1, sensitive=1.0, margins=1.0)
    assert set(everything.status.tolist()) <= {"u", "z"}
    nothing = make("random", seed=1, sensitive=0.0, margins=0.0)
    assert not len(nothing.primaries)
    blank = make("random", seed=1, empty=2, shape=(5, 4))
    rows = np.isin(blank.codes[:, 0], [1, 2])
    assert not blank.value[rows].any()
    assert (blank.status[rows] == "z").all()


def test_a_total_that_cancels_out_is_not_fixed() -> None:
    grid = Grid.of([flat("a", 2, "A")], np.array([3, -3]))
    none = np.zeros(3, dtype=np.int64)
    table = grid.table(none.astype(bool), none, none)
    assert table.status.tolist() == ["s", "s", "s"]
    assert np.isinf(table.lower).all()


def test_totals_of_a_tree() -> None:
    dimension = tree("t", 30, 3, "T", np.random.default_rng(0))
    h = dimension.hierarchy
    inner = np.arange(1, int(h.is_leaf.sum()) + 1)
    full = add_totals([dimension], inner)
    assert full[0] == inner.sum()
    for node in range(len(h)):
        below = h.children(node)
        if below:
            assert len(below) >= 2
            assert full[node] == full[below].sum()


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
@pytest.mark.parametrize("nodes", [2, 3, 4, 7, 8, 15, 90, 212, 1433])
def test_trees_have_the_size_asked_for(nodes: int, levels: int) -> None:
    h = tree("t", nodes, levels, "T", np.random.default_rng(nodes)).hierarchy
    assert len(h) == nodes
    assert h.depth.max() <= levels
    if nodes >= 90:
        assert h.depth.max() == levels


def test_shares_are_rounded_up_exactly() -> None:
    amount = np.array([0, 1, 20, 100, 101])
    assert share_of(amount, 0.15).tolist() == [0, 1, 3, 15, 16]


def test_bad_requests_say_what_is_right() -> None:
    with pytest.raises(InputError, match="no family of instances 'nope'"):
        make("nope")
    with pytest.raises(InputError, match="seed of -1"):
        make("class1", seed=-1)
    with pytest.raises(InputError, match="has no option 'size'"):
        make("class1", size=3)
    with pytest.raises(InputError, match="option rows is 0"):
        make("class1", rows="0")
    with pytest.raises(InputError, match="one of A, B"):
        make("ons", table="Z")
    with pytest.raises(InputError, match="negative value"):
        make("random", values="negative", bounds="tau")
    with pytest.raises(InputError, match="at least three dimensions"):
        make("random", linked=True)


def test_options_come_as_text_too() -> None:
    told = find_family("random").configure({"shape": "4x3", "zeros": "0.5"})
    assert told.shape == (4, 3)
    assert told.zeros == 0.5


def test_every_family_is_described() -> None:
    for name, family in families().items():
        assert family.name == name
        assert family.summary
        assert family.source
        assert family.options.__doc__


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("class1", {}),
        ("ons", {"table": "A"}),
        ("ons", {"table": "H3", "bounds": "open"}),
        ("large", {"bounds": "tau"}),
        ("frequency", {}),
        ("random", {"strict": True, "values": "ties", "level": 1.0}),
        ("random", {"strict": True, "bounds": "tau", "level": 1.0}),
    ],
)
def test_bounds_leave_room_for_the_strict_reading(
    name: str, options: dict[str, object]
) -> None:
    table = make(name, seed=5, **options)
    more = 1.0 if table.is_integer else 0.01
    cells = table.primaries
    assert len(cells)
    up, down = table.upper - table.value, table.value - table.lower
    slack = 1e-9 * table.value[cells]
    assert np.all(up[cells] >= table.upl[cells] + more - slack)
    assert np.all(down[cells] >= table.lpl[cells] + more - slack)
