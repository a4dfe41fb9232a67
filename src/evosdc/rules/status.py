"""Manual status: cells that a user calls safe, unsafe or protected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evosdc.errors import InputError, TableError
from evosdc.rules.counting import Manual
from evosdc.rules.rule import CellContributors
from evosdc.table import Table
from evosdc.table.status import FIXED, PRIMARY, SAFE

Cells = ArrayLike | Iterable[Sequence[str]] | Iterable[Mapping[str, str]]
_LETTER = {"safe": SAFE, "unsafe": PRIMARY, "protected": FIXED}


def set_status(
    table: Table,
    cells: Cells,
    status: Literal["safe", "unsafe", "protected"],
    *,
    lpl: ArrayLike | None = None,
    upl: ArrayLike | None = None,
    manual: Manual | None = None,
) -> Table:
    """Return the table with the status of some cells set by hand or a priori.

    Parameters
    ----------
    cells
        Numbers of cells, a mask, or labels: the codes of a cell in the order of the
        dimensions, or a mapping from dimension to code.
    status
        ``safe`` takes a sensitive cell back, ``unsafe`` makes it sensitive,
        ``protected`` keeps it published.
    lpl, upl
        Own levels of unsafe cells, one for all or one for each. Without them a cell
        that is sensitive already keeps its levels and another gets those of `manual`.

    Raises
    ------
    TableError
        When a sensitive cell is to be protected from suppression or the other way
        round.
    """
    letter = _LETTER.get(status)
    if letter is None:
        raise InputError(
            f"unknown status {status!r}",
            expected="safe, unsafe or protected",
            hint="use one of them",
        )
    if letter != PRIMARY and (lpl is not None or upl is not None):
        raise InputError(
            f"protection levels for {status} cells",
            expected="levels for unsafe cells only",
            hint="leave the levels out, or call the cells unsafe",
        )
    numbers = find_cells(table, cells)
    _refuse_contradiction(table, numbers, letter)
    changes = StatusChanges(table)
    if letter == PRIMARY:
        new = numbers[table.status[numbers] != PRIMARY]
        high, low = _manual_levels(table, new, manual or Manual())
        changes.upl[new], changes.lpl[new] = high, low
        if upl is not None:
            changes.upl[numbers] = upl
        if lpl is not None:
            changes.lpl[numbers] = lpl
    changes.give(numbers, letter)
    return changes.done()


class StatusChanges:
    """Statuses, levels and costs of a table that are being changed."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.status, self.weight = table.status.copy(), table.weight.copy()
        self.lpl, self.upl = table.lpl.copy(), table.upl.copy()
        self.spl = table.spl.copy()

    def give(self, cells: Any, letter: str) -> None:
        """Give cells a status; cells that are not sensitive have no levels."""
        self.status[cells] = letter
        if letter != PRIMARY:
            self.lpl[cells] = self.upl[cells] = self.spl[cells] = 0.0

    def done(self) -> Table:
        """Return the table with all changes."""
        return self.table.replace(
            status=self.status,
            weight=self.weight,
            lpl=self.lpl,
            upl=self.upl,
            spl=self.spl,
        )


def find_cells(table: Table, cells: Cells) -> NDArray[np.int64]:
    """Return the numbers of cells given as numbers, mask or labels."""
    if not isinstance(cells, np.ndarray):
        listed: list[Any] = list(cells)  # type: ignore[arg-type]
        if listed and isinstance(listed[0], Mapping | list | tuple):
            return _labelled(table, listed)
        cells = np.array(listed) if listed else np.empty(0, dtype=np.int64)
    given = np.asarray(cells)
    if given.dtype == bool and given.shape == (len(table),):
        return np.flatnonzero(given)
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise InputError(
            f"cells given as {given.dtype} of shape {given.shape}",
            expected="cell numbers, a mask with one entry per cell, or labels",
            hint="pass for example [('A', 'North')]",
        )
    if len(given) and not (given.min() >= 0 and given.max() < len(table)):
        raise InputError(
            "a cell number outside the table",
            expected=f"numbers from 0 to {len(table) - 1}",
            hint="count cells from 0",
        )
    return given.astype(np.int64)


def _labelled(table: Table, labels: list[Any]) -> NDArray[np.int64]:
    names = [d.name for d in table.dimensions]
    nodes = np.full((len(labels), len(names)), -1, dtype=np.int64)
    for row, label in enumerate(labels):
        codes = list(label)
        if isinstance(label, Mapping):
            known = set(label) <= set(names)
            codes = [label.get(name, "") for name in names] if known else []
        if len(codes) == len(names):
            for k, (d, code) in enumerate(zip(table.dimensions, codes, strict=True)):
                nodes[row, k] = d.hierarchy.node_of.get(str(code), -1)
    found = table.index.find(nodes)
    if not names or np.any(found < 0):
        raise InputError(
            f"no cell {labels[int(np.argmax(found < 0))]!r}",
            expected=f"a code for each of {', '.join(names) or 'no dimension'}, "
            "of a cell that is not empty",
            hint="check the codes",
        )
    return found


def _refuse_contradiction(
    table: Table, numbers: NDArray[np.int64], letter: str
) -> None:
    opposite = {PRIMARY: FIXED, FIXED: PRIMARY}.get(letter)
    clash = numbers[table.status[numbers] == opposite]
    if len(clash):
        more = f" and {len(clash) - 1} more" if len(clash) > 1 else ""
        raise TableError(
            f"a sensitive cell is also protected from suppression: "
            f"{table.label(int(clash[0]))}{more}",
            expected="each cell either unsafe or protected",
            hint="call the cell safe first if the new status is meant",
        )


def _manual_levels(
    table: Table, numbers: NDArray[np.int64], manual: Manual
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    value = table.value[numbers]
    size = np.abs(value)
    given = CellContributors(value, size, size, size, np.zeros((len(value), 0)))
    _, upl, lpl = manual.apply(given)
    distance = np.maximum(value - table.lower[numbers], 0.0)
    return upl, np.minimum(lpl, distance)
