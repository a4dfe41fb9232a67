"""A-priori files of tau-Argus (``.hst``): statuses, costs and levels of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.errors import InputError, TableError
from evosdc.io.delimited import format_number, line_bytes, quoted, split_line
from evosdc.io.encoding import read_text
from evosdc.io.frames import refuse_unlabelled
from evosdc.io.numbers import read_numbers
from evosdc.io.paths import PathLike, open_output
from evosdc.rules.status import StatusChanges
from evosdc.table import Table
from evosdc.table.hierarchy import tidy_code
from evosdc.table.status import FIXED, PRIMARY, SAFE, SECONDARY

# The action of each letter, and how many numbers may follow it.
_ACTIONS = {
    "S": ("S", (0,)),
    "U": ("U", (0, 2)),
    "P": ("P", (0,)),
    "M": ("M", (0,)),
    "ML": ("M", (0,)),
    "C": ("C", (1,)),
    "W": ("C", (1,)),
    "PL": ("PL", (2,)),
}


@dataclass(frozen=True)
class Apriori:
    """One line: the codes of a cell, an action, and the numbers of the action.

    Actions are those of tau-Argus: ``S`` safe, ``U`` unsafe (with lower and upper level
    where two numbers follow), ``P`` protected from suppression, ``M`` secondary, ``C``
    cost, ``PL`` lower and upper level. (tau-Argus also writes ``ML`` for ``M`` and
    ``W`` for ``C``; they are read as such.)
    """

    codes: tuple[str, ...]
    action: str
    numbers: tuple[float, ...] = ()
    line: int = 0


def read_hst(path: PathLike, separator: str | None = None) -> list[Apriori]:
    """Read an a-priori file; a separator of None is found in its first line."""
    lines = read_text(path).split("\n")
    first = next((line for line in lines if line.strip()), "")
    if separator is None:
        separator = next((s for s in (";", "\t", ",") if s in first), ",")
    found: list[tuple[Apriori, list[str]]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            fields = [tidy_code(field) for field in split_line(line, separator)]
            found.append(_entry(fields, f"{path}, line {number}", number))
    return _with_numbers(found, separator, path)


def write_hst(
    path: PathLike,
    table: Table,
    *,
    cost: float | None = None,
    separator: str = ";",
    force: bool = False,
) -> None:
    """Write the secondaries so that they can be reused next year.

    They are written as ``M`` (suppressed again); if `cost` is given, as ``C cost``,
    which only makes a new search prefer them.
    """
    refuse_unlabelled(table, ".hst", "keep pattern.csv instead")
    cells = np.flatnonzero(table.status == SECONDARY)
    columns = [
        quoted(
            pa.array(d.hierarchy.codes, pa.string()).take(
                pa.array(table.codes[cells, k])
            ),
            separator,
        )
        for k, d in enumerate(table.dimensions)
    ]
    action = "M" if cost is None else f"C{separator}{format_number(cost)}"
    with open_output(path, force) as stream:
        if len(cells):
            columns.append(pa.array([action] * len(cells)))
            stream.write(line_bytes(columns, separator))


def apply_apriori(
    table: Table, entries: Sequence[Apriori], *, level_percent: float | None = None
) -> Table:
    """Return the table with statuses, costs and levels set as the entries say.

    Entries for empty cells (known codes without a cell) are ignored, as in tau-Argus. A
    cell that was secondary and is zero now stays fixed.

    Parameters
    ----------
    level_percent
        The levels, as a percentage of the value, of cells made unsafe without any.

    Raises
    ------
    InputError
        For unknown codes.
    TableError
        For a cell that is both sensitive and protected, and for levels of a cell that
        is not sensitive.
    """
    return _Changes(table, level_percent).apply(entries)


def read_apriori_into(
    table: Table,
    path: PathLike,
    *,
    separator: str | None = None,
    level_percent: float | None = None,
) -> Table:
    """Return the table with an a-priori file applied."""
    entries = read_hst(path, separator)
    changed = apply_apriori(table, entries, level_percent=level_percent)
    safe = int(((table.status == PRIMARY) & (changed.status != PRIMARY)).sum())
    unsafe = int(((table.status != PRIMARY) & (changed.status == PRIMARY)).sum())
    levels = (table.lpl != changed.lpl) | (table.upl != changed.upl)
    note = (
        f"a-priori file {Path(path).name} ({safe:,} cells made safe, {unsafe:,} made "
        f"sensitive, levels of {int(levels.sum()):,} set)"
    )
    origin = replace(table.origin, by_hand=(*table.origin.by_hand, note))
    return changed.replace(origin=origin)


class _Changes(StatusChanges):
    def __init__(self, table: Table, level_percent: float | None) -> None:
        super().__init__(table)
        self.percent = level_percent

    def apply(self, entries: Sequence[Apriori]) -> Table:
        protected: set[int] = set()
        levels: list[tuple[int, Apriori]] = []
        cells = self._cells(entries).tolist()
        for cell, entry in zip(cells, entries, strict=True):
            if cell < 0:
                continue
            if entry.action == "P":
                protected.add(cell)
            elif entry.action == "PL":
                levels.append((cell, entry))
            else:
                self._change(cell, entry)
        for cell, entry in levels:
            self._require_primary(cell, entry)
            self.lpl[cell], self.upl[cell] = entry.numbers
        for cell in sorted(protected):
            if self.status[cell] in (PRIMARY, SECONDARY):
                kind = "sensitive" if self.status[cell] == PRIMARY else "secondary"
                raise TableError(
                    f"{self.table.label(cell)} is {kind} and protected from "
                    "suppression",
                    expected="one or the other",
                    hint="remove the P line, or make the cell safe with S",
                )
            self.give(cell, FIXED)
        self._complete_levels()
        return self.done()

    def _cells(self, entries: Sequence[Apriori]) -> NDArray[np.int64]:
        """Return the cell of each line, -1 for empty ones."""
        dims = self.table.dimensions
        nodes = np.empty((len(entries), len(dims)), dtype=np.int64)
        for row, entry in enumerate(entries):
            if len(entry.codes) != len(dims):
                raise InputError(
                    f"line {entry.line}: {len(entry.codes)} codes",
                    expected=f"{len(dims)}: {', '.join(d.name for d in dims)}",
                    hint="check the separator and the number of codes",
                )
            for k, (d, code) in enumerate(zip(dims, entry.codes, strict=True)):
                # A blank code means the total in tau-Argus.
                nodes[row, k] = d.hierarchy.node_of.get(code or d.hierarchy.total, -1)
                if nodes[row, k] < 0:
                    raise InputError(
                        f"line {entry.line}: unknown code {code!r} of {d.name!r}",
                        expected="a code of the table, for instance "
                        f"{d.hierarchy.codes[-1]!r}",
                        hint="correct the code, or remove the line",
                    )
        return self.table.index.find(nodes)

    def _change(self, cell: int, entry: Apriori) -> None:
        zero = self.table.value[cell] == 0
        if entry.action == "C":
            self.weight[cell] = entry.numbers[0]
        elif entry.action == "S":
            self.give(cell, SAFE)
        elif self.status[cell] == FIXED and not zero:
            raise TableError(
                f"line {entry.line}: {self.table.label(cell)} is protected from "
                "suppression",
                expected="a cell that may be hidden",
                hint="make it safe (S) first, or remove the line",
            )
        elif entry.action == "U":
            self.give(cell, PRIMARY)
            if entry.numbers:
                self.lpl[cell], self.upl[cell] = entry.numbers
        elif self.status[cell] == SAFE:  # M: a primary stays one, a zero stays fixed
            self.status[cell] = SECONDARY

    def _require_primary(self, cell: int, entry: Apriori) -> None:
        if self.status[cell] != PRIMARY:
            raise TableError(
                f"line {entry.line}: levels for {self.table.label(cell)}, which is "
                "not sensitive",
                expected="levels of sensitive cells only",
                hint="make it unsafe (U) in the line before",
            )

    def _complete_levels(self) -> None:
        """Set the levels of new primaries without any, or refuse them."""
        bare: NDArray[np.bool_] = (self.status == PRIMARY) & (
            self.table.status != PRIMARY
        )
        bare &= (self.lpl == 0) & (self.upl == 0) & (self.spl == 0)
        if not bare.any():
            return
        if self.percent is None:
            cell = int(np.argmax(bare))
            raise TableError(
                f"{self.table.label(cell)} is made sensitive without levels",
                expected="U with lower and upper level, or a PL line",
                hint="add them, or give a percentage of the value (level_percent)",
            )
        size = np.abs(self.table.value) * self.percent / 100
        self.lpl = np.where(bare, size, self.lpl)
        self.upl = np.where(bare, size, self.upl)


def _entry(fields: list[str], where: str, line: int) -> tuple[Apriori, list[str]]:
    """Find the letter, which is the last entry before the numbers at the end."""
    for count in (0, 1, 2):
        if len(fields) <= count + 1:
            break
        action, counts = _ACTIONS.get(fields[-1 - count].upper(), ("", ()))
        if count in counts:
            numbers = fields[len(fields) - count :]
            if not all(any(c in "0123456789" for c in field) for field in numbers):
                break
            return Apriori(tuple(fields[: -1 - count]), action, (), line), numbers
    raise _not_a_line(where)


def _with_numbers(
    found: list[tuple[Apriori, list[str]]], separator: str, path: PathLike
) -> list[Apriori]:
    """Read the numbers of all lines together, as one alone may be ambiguous."""
    texts = [number for _, written in found for number in written]
    lines = [entry.line for entry, numbers in found for _ in numbers]
    read = read_numbers(
        {"levels and costs": pa.array(texts, pa.string())},
        separator,
        lambda row: f"{path}, line {lines[row]}",
    )
    (column,) = read.values()
    values = iter(column.to_pylist())
    entries: list[Apriori] = []
    for entry, written in found:
        numbers = tuple(next(values) for _ in written)
        if not all(0 <= number < np.inf for number in numbers):
            raise _not_a_line(f"{path}, line {entry.line}")
        entries.append(replace(entry, numbers=numbers))
    return entries


def _not_a_line(where: str) -> InputError:
    return InputError(
        f"{where} is not an a-priori line",
        expected="codes, then S, U, P, M, C cost, PL lpl upl or U lpl upl, with "
        "numbers of 0 or more",
        hint="check the separator and the letter",
    )
