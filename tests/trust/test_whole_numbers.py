"""Magnitudes that are whole numbers: attackers know it, and the claim says so.

The attacker here uses no code of the package: it solves integer and linear programs
over what is published.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

import evosdc
from builders import Command
from evosdc.attack import general
from evosdc.errors import InputError
from evosdc.table import Dimension, Hierarchy, Origin, Table, build_table

# The only way in which these cells of three by three by three can move together: what
# is 2 moves twice as far as the others.
CIRCUIT = np.array(
    [
        [[-1, 0, 1], [1, 0, -1], [0, 0, 0]],
        [[0, 1, -1], [-1, -1, 2], [1, 0, -1]],
        [[1, -1, 0], [0, 1, -1], [-1, 0, 1]],
    ]
)
JUDGED = "combinations of whole numbers were judged"
NOT_JUDGED = "combinations of whole numbers were not judged"


def test_a_unit_that_was_not_judged_is_named() -> None:
    """Thousands are a grid of their own: tables of single units prove too much."""
    inner = {"r": list("NNSS"), "c": list("abab"), "v": [1000.0, 3000, 2000, 4000]}
    by_unit = {}
    for unit in (1, 1000, 0.5):
        records = {**inner, "v": [unit * v / 1000 for v in inner["v"]]}
        made = evosdc.tabulate(records, ["r", "c"], "v", rules="freq:2")
        by_unit[unit] = evosdc.protect(
            made, stop=evosdc.Stop(evaluations=5)
        ).claim.knowledge
    assert "multiples of" not in by_unit[1]
    assert "that all values are multiples of 1000 was not judged" in by_unit[1000]
    assert "that all values are multiples of 0.5 was not judged" in by_unit[0.5]


def cells_of(sizes: tuple[int, ...]) -> tuple[list[Dimension], np.ndarray]:
    dims = [
        Dimension(f"d{k}", Hierarchy.flat([f"{k}{i}" for i in range(size)]))
        for k, size in enumerate(sizes)
    ]
    axes = [np.arange(1, size + 1) for size in sizes]
    codes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return dims, codes.reshape(-1, len(sizes))


def by_halves(level: float) -> Table:
    """A pattern that fractions protect and whole numbers do not.

    The cell that moves twice as far holds 1, so the others go down by a half at most,
    and up by nothing: one of those that would go down is 0.
    """
    dims, codes = cells_of((3, 3, 3))
    moves = CIRCUIT.ravel()
    value = np.full(27, 5.0)
    value[moves == 2] = 1.0
    value[np.flatnonzero(moves == -1)[0]] = 0.0
    status = np.where(moves != 0, "m", "s")
    cell = int(np.flatnonzero(moves == 1)[0])
    status[cell] = "u"
    lpl = np.zeros(27)
    lpl[cell] = level
    return build_table(dims, codes, value, status=status, lpl=lpl)


def reach(table: Table, cell: int, whole: bool) -> tuple[float, float]:
    """The interval of a cell: all tables that fit what is published, none negative."""
    hidden = np.flatnonzero(np.isin(table.status, ("u", "m")))
    matrix = table.matrix.toarray()
    seen = np.where(np.isin(table.status, ("u", "m")), 0.0, table.value)
    right = table.rhs - matrix @ seen
    rows, aim = matrix[:, hidden], (hidden == cell).astype(float)
    ends = []
    for sign in (1.0, -1.0):
        if whole:
            found = milp(
                sign * aim,
                constraints=LinearConstraint(rows, right, right),
                integrality=np.ones(len(hidden)),
                bounds=Bounds(0, np.inf),
            )
        else:
            found = linprog(sign * aim, A_eq=rows, b_eq=right, bounds=(0, None))
        # A cell without a bound above is as far away as anyone asks.
        ends.append(found.fun * sign if found.status == 0 else np.inf)
    low, high = ends
    return np.ceil(low - 1e-6), np.floor(high + 1e-6) if np.isfinite(high) else high


def every_table(table: Table) -> np.ndarray:
    """All tables of whole numbers that fit, one cell after another."""
    hidden = np.flatnonzero(np.isin(table.status, ("u", "m"))).tolist()
    matrix, most = table.matrix.toarray(), int(table.value.max())
    closing: list[list[int]] = [[] for _ in hidden]
    for row in matrix:
        mine = [k for k, cell in enumerate(hidden) if row[cell]]
        if mine:
            closing[mine[-1]].append(row)
    found = []

    def extend(k: int, full: np.ndarray) -> None:
        if k == len(hidden):
            found.append(full.copy())
            return
        for step in range(most + 1):
            full[hidden[k]] = step
            if all(row @ full == 0 for row in closing[k]):
                extend(k + 1, full)

    extend(0, table.value.copy())
    return np.array(found)


def random_table(rng: np.random.Generator, sizes: tuple[int, ...]) -> Table:
    """Small whole values; a few sensitive cells with levels that are no units."""
    dims, codes = cells_of(sizes)
    value = rng.integers(0, 6, len(codes)).astype(float)
    status = np.where(rng.random(len(codes)) < 0.15, "u", "s")
    status[value == 0] = "s"
    if not (status == "u").any():
        value[0], status[0] = 3.0, "u"
    level = rng.choice([0.25, 0.5, 0.7, 1.3, 2.0], len(codes))
    return build_table(
        dims,
        codes,
        value,
        status=status,
        upl=np.where(status == "u", level, 0.0),
        lpl=np.where(status == "u", np.minimum(level, value), 0.0),
    )


def test_a_cell_that_follows_from_whole_numbers_is_exposed() -> None:
    table = by_halves(0.5)
    cell = int(table.primaries[0])
    assert reach(table, cell, whole=True) == (5.0, 5.0)
    assert evosdc.audit(table, prior=evosdc.Prior(whole_numbers=False)).safe is True
    word = evosdc.audit(table)
    assert word.safe is False
    assert "in whole numbers: 1 cells had levels that were rounded up" in (
        word.claim.levels
    )


def test_a_cell_that_only_fractions_protect_is_exposed() -> None:
    """Levels of a unit, which fractions give: still the cell is known."""
    table = by_halves(1.0)
    twice = int(np.flatnonzero(CIRCUIT.ravel() == 2)[0])
    status = np.where(table.status == "u", "m", table.status)
    status[twice] = "u"
    lpl = np.where(status == "u", 1.0, 0.0)
    table = table.replace(status=status, lpl=lpl)
    assert reach(table, twice, whole=False) == (0.0, 1.0)
    assert reach(table, twice, whole=True) == (1.0, 1.0)
    word = evosdc.audit(table)
    assert word.safe is False
    assert word.verdict.exposed[0].reason.startswith("only tables with fractions")
    assert evosdc.audit(table, prior=evosdc.Prior(whole_numbers=False)).safe is True


def test_fractions_are_taken_where_whole_tables_take_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Then the claim says that combinations of whole numbers were not judged."""
    monkeypatch.setattr(general, "_MAX_INTEGER_CELLS", 0)
    dims, codes = cells_of((3, 3, 3))
    moves = CIRCUIT.ravel()
    lpl = np.where(moves == 2, 5.0, 0.0)
    status = np.where(moves == 2, "u", np.where(moves != 0, "m", "s"))
    # By two and a half steps what moves twice as far is 0, and nothing else is whole.
    table = build_table(dims, codes, np.full(27, 5.0), status=status, lpl=lpl)
    word = evosdc.audit(table)
    assert word.safe is True
    assert word.verdict.whole is False
    assert NOT_JUDGED in word.claim.knowledge
    four = evosdc.audit(table.replace(lpl=np.minimum(table.lpl, 4.0)))
    assert four.verdict.whole is True
    assert JUDGED in four.claim.knowledge
    monkeypatch.undo()
    assert evosdc.audit(table).safe is False


def test_verdicts_are_those_of_all_whole_tables() -> None:
    """Patterns at random, in which fractions protect some cells that are known."""
    rng = np.random.default_rng(0)
    dims, codes = cells_of((3, 3, 3))
    by_fractions = 0
    for _ in range(15):
        moves = rng.permutation(CIRCUIT)[:, rng.permutation(3)].ravel()
        value = rng.integers(0, 4, 27).astype(float)
        status = np.where((moves != 0) | (rng.random(27) < 0.1), "m", "s")
        status[(status == "m") & (rng.random(27) < 0.3)] = "u"
        level = np.where(status == "u", rng.choice([0.5, 1.0, 2.0], 27), 0.0)
        table = build_table(
            dims, codes, value, status=status, lpl=np.minimum(level, value)
        )
        word = evosdc.audit(table)
        known = {
            cell
            for cell in table.primaries.tolist()
            if (ends := reach(table, cell, whole=True))[0] == ends[1]
            or ends[0] > value[cell] - np.ceil(table.lpl[cell])
        }
        assert word.verdict.whole is True
        assert set(word.verdict.exposed_cells) == known
        rough = evosdc.audit(table, prior=evosdc.Prior(whole_numbers=False)).verdict
        by_fractions += len(known - set(rough.exposed_cells))
    assert by_fractions, "tables in which fractions protect nothing show nothing"


@pytest.mark.parametrize("sizes", [(3, 3), (2, 4), (2, 2, 2), (2, 2, 3)])
@pytest.mark.parametrize("fractions", [False, True])
def test_sensitive_cells_take_the_range_claimed(
    sizes: tuple[int, ...], fractions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fractions:
        monkeypatch.setattr(general, "_MAX_INTEGER_CELLS", 0)
    rng = np.random.default_rng([*sizes, fractions])
    safe = 0
    for _ in range(8):
        result = evosdc.protect(
            random_table(rng, sizes), seed=1, stop=evosdc.Stop(evaluations=3)
        )
        table = result.table
        if result.safe is not True:
            continue
        safe += 1
        judged = JUDGED in result.claim.knowledge
        assert judged or NOT_JUDGED in result.claim.knowledge
        few = int(table.hidden.sum()) <= 9
        every = every_table(table) if few else None
        for cell in table.primaries.tolist():
            assert table.upl[cell] >= 1
            assert table.lpl[cell] >= min(1.0, table.value[cell])
            low, high = reach(table, cell, whole=judged)
            assert low <= table.value[cell] - table.lpl[cell]
            assert high >= table.value[cell] + table.upl[cell]
            if every is not None and judged and np.isfinite(high):
                assert every[:, cell].min() == low
                assert every[:, cell].max() == high
    assert safe >= 4


def test_networks_are_judged_in_whole_numbers() -> None:
    table = random_table(np.random.default_rng(5), (4, 4))
    result = evosdc.protect(table, stop=evosdc.Stop(evaluations=3))
    assert result.verdict.whole is True
    assert JUDGED in result.claim.knowledge


def test_levels_are_raised_to_a_unit_and_kept_below_the_bounds() -> None:
    cells = {
        "r": ["a", "b", "c", "d"],
        "value": [5, 20, 30, 7],
        "status": ["u", "s", "s", "s"],
        "upl": [0.4, 0, 0, 0],
        "lpl": [2.4, 0, 0, 0],
    }
    result = evosdc.protect(
        cells, stop=evosdc.Stop(evaluations=3), prior=evosdc.Prior(bounds="percent:50")
    )
    at = int(result.table.primaries[0])
    assert (result.table.upl[at], result.table.lpl[at]) == (1.0, 2.0)
    assert (result.table.lower[at], result.table.upper[at]) == (3.0, 7.0)
    plain = evosdc.protect(
        cells,
        stop=evosdc.Stop(evaluations=3),
        prior=evosdc.Prior(bounds="percent:50", whole_numbers=False),
    )
    assert plain.table.upl[at] == 0.4
    assert "though all of them are" in plain.claim.knowledge


def test_a_table_in_which_no_whole_number_is_left_is_exposed() -> None:
    """Known to within 5 %, values below 20 are known: nothing can be hidden."""
    table = random_table(np.random.default_rng(7), (3, 3))
    result = evosdc.protect(
        table, stop=evosdc.Stop(evaluations=3), prior=evosdc.Prior(bounds="percent:5")
    )
    assert result.safe is False
    assert len(result.verdict.exposed_cells) == len(table.primaries)


def test_a_few_values_with_fractions_may_be_declared_whole() -> None:
    dims, codes = cells_of((3, 3))
    value = np.array([4.0, 3, 6, 2.5, 7, 3, 8, 4, 2])
    status = np.array(list("usssussss"))
    level = np.where(status == "u", 0.5, 0.0)
    table = build_table(dims, codes, value, status=status, upl=level, lpl=level)
    plain = evosdc.protect(table, stop=evosdc.Stop(evaluations=3))
    assert "whole" not in plain.claim.knowledge
    declared = evosdc.protect(
        table, stop=evosdc.Stop(evaluations=3), prior=evosdc.Prior(whole_numbers=True)
    )
    assert declared.safe is True
    assert "whole numbers (declared: 4 cells are not)" in declared.claim.knowledge
    assert declared.table.upl[declared.table.primaries].min() == 1.0
    steps = declared.certificate.numerators % np.repeat(
        declared.certificate.denominators, np.diff(declared.certificate.indptr)
    )
    assert not steps.any()


def test_counts_are_whole_whatever_is_said() -> None:
    table = random_table(np.random.default_rng(2), (3, 3))
    table = table.replace(origin=Origin(counts=True))
    with pytest.raises(InputError, match="whole numbers"):
        evosdc.audit(table, prior=evosdc.Prior(whole_numbers=False))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jj", ".tab"])
def test_whole_numbers_travel_with_the_table(
    run: Command, tmp_path: Path, suffix: str
) -> None:
    """Denied when the records are tabulated, and found by itself where not."""
    rng = np.random.default_rng(4)
    records = tmp_path / "records.csv"
    lines = [f"r{a},c{b},{v}" for a, b, v in rng.integers(1, 5, (60, 3)).tolist()]
    records.write_text("\n".join(["r,c,v", *lines]) + "\n")
    said: dict[str, Any] = {}
    for name, option in (("found", ()), ("denied", ("--no-whole-numbers",))):
        path, out = tmp_path / (name + suffix), tmp_path / name
        make = ("--by", "r,c", "--value", "v", "--rule", "p:20", "-o", path)
        code, _, error = run("tabulate", records, *make, *option)
        assert code == 0, error
        code, text, error = run(
            "protect", path, "-o", out, "--evaluations", 3, "--json"
        )
        assert code in (0, 3), error
        said[name] = json.loads(text)["claim"]["knowledge"]
        assert json.loads(text)["settings"]["whole_numbers"] is (name == "found")
        code, text, error = run(
            "verify", path, out / "confidential" / "certificate.npz"
        )
        assert code == 0, text + error
    assert "magnitudes: whole numbers" in said["found"]
    assert "though all of them are" in said["denied"]


def test_every_reader_finds_whole_numbers() -> None:
    whole = {
        "r": ["a", "b", "c"],
        "value": [5, 20, 30],
        "status": ["u", "s", "s"],
        "upl": [1, 0, 0],
    }
    frames: list[Any] = [whole, whole | {"value": [5.0, 20.0, 30.0]}]
    for cells, bounds in itertools.product(frames, ("auto", "0:inf")):
        result = evosdc.protect(
            cells, stop=evosdc.Stop(evaluations=3), prior=evosdc.Prior(bounds=bounds)
        )
        assert result.table.origin.whole is True
    cells = whole | {"value": [5.5, 20, 30]}
    assert (
        evosdc.protect(cells, stop=evosdc.Stop(evaluations=3)).table.origin.whole
        is False
    )
    # Doubles this large have no fractions, which says nothing of the values.
    large = whole | {"value": [5e15, 2e16, 3e16]}
    assert (
        evosdc.protect(large, stop=evosdc.Stop(evaluations=3)).table.origin.whole
        is False
    )
