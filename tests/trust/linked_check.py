"""Linked tables attacked from the records: which cells are one, and what follows.

No code of the package: a cell is the set of its records, whatever tables call it. Two
cells with the same records have the same value, so that one must not be printed where
the other is suppressed; and no sensitive cell may follow from what is printed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

TOTAL = "Total"
Row = Mapping[str, str]


@dataclass(frozen=True)
class Printed:
    """A row of a publication: its records, and its value or None where suppressed."""

    label: str
    records: frozenset[int]
    value: float | None


def read_tables(folder: Path) -> list[list[dict[str, str]]]:
    """Read each of the linked tables in a folder of publications."""
    found = []
    for path in sorted(folder.glob("published-[0-9]*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            found.append(list(csv.DictReader(file)))
    return found


def printed_cells(
    records: Sequence[Row],
    levels: Mapping[str, Sequence[str]],
    tables: Iterable[Iterable[Row]],
) -> list[list[Printed]]:
    """Find the records behind each row of each table.

    A code of a column of a table is looked up in that column of the records and in the
    coarser columns of `levels`, the finest first: a code may stand at several levels.
    """
    holders: dict[tuple[str, str], frozenset[int]] = {}
    everyone = frozenset(range(len(records)))

    def holders_of(column: str, code: str) -> frozenset[int]:
        if code == TOTAL:
            return everyone
        if (column, code) not in holders:
            chain = [column, *levels.get(column, ())]
            sets = (
                frozenset(i for i, r in enumerate(records) if r[name] == code)
                for name in chain
            )
            holders[column, code] = next((s for s in sets if s), frozenset())
        return holders[column, code]

    found = []
    for table in tables:
        cells = []
        for row in table:
            names = [name for name in row if name not in ("value", "status", "cell_id")]
            inside = everyone
            for name in names:
                inside &= holders_of(name, row[name])
            label = ", ".join(f"{name}={row[name]}" for name in names)
            hidden = row["status"] == "x"
            assert hidden == (row["value"] in ("", None)), label
            cells.append(
                Printed(label, inside, None if hidden else float(row["value"]))
            )
        found.append(cells)
    return found


def mismatches(tables: Iterable[Iterable[Printed]]) -> list[str]:
    """Name cells that are suppressed in one table and printed in another."""
    hidden: dict[frozenset[int], str] = {}
    shown: dict[frozenset[int], str] = {}
    for table in tables:
        for cell in table:
            (hidden if cell.value is None else shown).setdefault(
                cell.records, cell.label
            )
    return [f"{hidden[r]} is printed as {shown[r]}" for r in hidden if r in shown]


def wrong_values(
    tables: Iterable[Iterable[Printed]], values: Sequence[float]
) -> list[str]:
    """Name printed cells whose value is not the sum of their records."""
    found = []
    for table in tables:
        for cell in table:
            true = sum(values[i] for i in cell.records)
            if cell.value is not None and abs(cell.value - true) > 1e-6 * max(1, true):
                found.append(cell.label)
    return found


def disclosed(
    tables: Sequence[Sequence[Printed]],
    values: Sequence[float],
    sensitive: Iterable[frozenset[int]],
    least: float = 1e-4,
) -> list[str]:
    """Name sensitive cells that follow from what is printed, up to `least` of them.

    The attacker knows which records share all cells, and nothing of their values but
    that none is negative: the unknowns are the sums over such groups of records.
    """
    cells: dict[frozenset[int], Printed] = {}
    for cell in (c for table in tables for c in table if c.records):
        if cell.records not in cells or cell.value is not None:
            cells[cell.records] = cell
    signature: dict[int, list[int]] = {i: [] for i in range(len(values))}
    for k, inside in enumerate(cells):
        for i in inside:
            signature[i].append(k)
    atoms: dict[tuple[int, ...], int] = {}
    atom_of = [
        atoms.setdefault(tuple(signature[i]), len(atoms)) for i in range(len(values))
    ]

    def row_of(inside: frozenset[int]) -> np.ndarray:
        row = np.zeros(len(atoms))
        row[sorted({atom_of[i] for i in inside})] = 1.0
        return row

    # In deviations from the true sums, so that rounding makes nothing infeasible.
    known = [row_of(cell.records) for cell in cells.values() if cell.value is not None]
    left, right = csr_array(np.array(known)), np.zeros(len(known))
    true = np.zeros(len(atoms))
    np.add.at(true, atom_of, values)
    scale = max(1.0, float(true.max()))
    found = []
    for inside in dict.fromkeys(sensitive):
        objective = row_of(inside)
        reach = []
        for sign in (1.0, -1.0):
            answer = linprog(
                sign * objective,
                A_eq=left,
                b_eq=right,
                bounds=np.column_stack([-true / scale, np.full(len(true), np.inf)]),
            )
            assert answer.status in (0, 3), answer.message
            reach.append(np.inf if answer.status == 3 else abs(answer.fun) * scale)
        if sum(reach) <= least * max(1.0, float(objective @ true)):
            found.append(cells[inside].label if inside in cells else "not published")
    return found
