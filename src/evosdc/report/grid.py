"""The table as it may be published, as HTML grids: hidden values are never written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evosdc.report.kit.chart import hidden_map
from evosdc.report.kit.parts import count, esc, fixed
from evosdc.table import Dimension, Hierarchy, Table
from evosdc.table.status import FIXED, PRIMARY, SECONDARY

MOST_CELLS = 4000
MOST_COLUMNS = 40
_PAGE_COLUMNS = 16
# What a decimal read as a double is off by, as a share.
ROUNDING = 1e-12
_MAX_MAPPED = 40_000
_MAX_NUMBERS = 2000

# The class, the mark and the words of a hidden cell, by its status.
Marks: TypeAlias = Mapping[str, tuple[str, str, str]]

INSIDE: Marks = {
    PRIMARY: ("primary", "●", "sensitive: hidden"),
    SECONDARY: ("secondary", "○", "hidden to protect sensitive cells"),
}
ALIKE: Marks = dict.fromkeys((PRIMARY, SECONDARY), ("hidden", "x", "hidden"))


@dataclass
class _Budget:
    """How many cells may still be shown, how they look, and what was cut."""

    cells: int = MOST_CELLS
    decimals: int = 0
    marks: Marks = field(default_factory=lambda: INSIDE)
    exposed: frozenset[int] = frozenset()
    cut: list[str] = field(default_factory=list)


def table_section(
    table: Table, exposed: frozenset[int] = frozenset(), *, marks: Marks = INSIDE
) -> str:
    """Write the grids of a table, or its hidden cells by number without labels."""
    if not table.dimensions:
        return _numbers(table, marks)
    sizes = [len(d.hierarchy) for d in table.dimensions]
    # The two largest dimensions span a grid; the others give a slice a code.
    by_size = sorted(range(len(sizes)), key=lambda k: -sizes[k])
    across = tuple(sorted(by_size[:2], key=lambda k: (-sizes[k], k)))
    budget = _Budget(decimals=_decimals(table), marks=marks, exposed=exposed)
    grids = [
        _grid(table, cells, across, budget) for cells in _slices(table, across, budget)
    ]
    note = ""
    if budget.cut:
        note = (
            f'<p class="note">{esc("; ".join(budget.cut).capitalize())}. '
            "The whole table is in the files next to this report.</p>"
        )
        if len(sizes) == 2:
            note += _map(table, across, marks)
    return note + "".join(grids)


def _slices(
    table: Table, across: tuple[int, ...], budget: _Budget
) -> Iterator[NDArray[np.int64]]:
    """Cells of each slice, in the order of the codes, while the budget lasts."""
    rest = [k for k in range(len(table.dimensions)) if k not in across]
    if not rest:
        yield np.arange(len(table))
        return
    keys, slice_of = np.unique(table.codes[:, rest], axis=0, return_inverse=True)
    for number_, _ in enumerate(keys):
        if budget.cells <= 0:
            left = len(keys) - number_
            budget.cut.append(f"{count(left, 'slice')} of {len(keys):,} not shown")
            return
        yield np.flatnonzero(slice_of.ravel() == number_)


def _grid(
    table: Table,
    cells: NDArray[np.int64],
    across: tuple[int, ...],
    budget: _Budget,
) -> str:
    down = table.dimensions[across[0]]
    side = table.dimensions[across[1]] if len(across) > 1 else None
    rows = _in_order(down.hierarchy, table.codes[cells, across[0]])
    columns = (
        [0]
        if side is None
        else _in_order(side.hierarchy, table.codes[cells, across[1]])
    )
    if len(columns) > MOST_COLUMNS:
        budget.cut.append(f"{MOST_COLUMNS} of {len(columns):,} columns shown")
        columns = columns[:MOST_COLUMNS]
    fit = max(1, budget.cells // len(columns))
    if len(rows) > fit:
        budget.cut.append(f"{fit:,} of {len(rows):,} rows shown")
        rows = rows[:fit]
    budget.cells -= len(rows) * len(columns)
    place = {
        (
            int(table.codes[c, across[0]]),
            int(table.codes[c, across[1]]) if side else 0,
        ): c
        for c in cells.tolist()
    }
    wide = ' class="wide"' if len(columns) > _PAGE_COLUMNS else ""
    head = _head(down, side, columns)
    body = "".join(
        f"<tr>{_row_name(down.hierarchy, r)}"
        + "".join(_cell(table, place.get((r, c)), budget) for c in columns)
        + "</tr>"
        for r in rows
    )
    return (
        f'<figure{wide}>{_caption(table, int(cells[0]), across)}<div class="scroll">'
        f'<table class="grid">{head}<tbody>{body}</tbody></table></div></figure>'
    )


def _caption(table: Table, cell: int, across: tuple[int, ...]) -> str:
    held = [
        f"{esc(d.name)} = <b>{esc(d.hierarchy.codes[table.codes[cell, k]])}</b>"
        for k, d in enumerate(table.dimensions)
        if k not in across
    ]
    return f"<figcaption>{', '.join(held)}</figcaption>" if held else ""


def _head(down: Dimension, side: Dimension | None, columns: list[int]) -> str:
    corner = esc(down.name)
    if side is None:
        return f'<thead><tr><th scope="col">{corner}</th><th></th></tr></thead>'
    names = "".join(
        f'<th scope="col"{_total_class(c)}>{esc(side.hierarchy.codes[c])}</th>'
        for c in columns
    )
    return (
        f'<thead><tr><th scope="col">{corner} <span>by {esc(side.name)}</span></th>'
        f"{names}</tr></thead>"
    )


def _row_name(tree: Hierarchy, node: int) -> str:
    indent = f' style="padding-left:{0.6 + 0.9 * int(tree.depth[node]):.1f}em"'
    return f'<th scope="row"{_total_class(node)}{indent}>{esc(tree.codes[node])}</th>'


def _total_class(node: int) -> str:
    return ' class="total"' if node == 0 else ""


def _cell(table: Table, cell: int | None, look: _Budget) -> str:
    if cell is None:
        return '<td class="none"></td>'
    status = str(table.status[cell])
    if status in look.marks:
        name, mark, title = look.marks[status]
        if cell in look.exposed:
            name, title = f"{name} exposed", f"{title}, and still exposed"
        return f'<td class="{name}" title="{title}">{mark}</td>'
    kind = ' class="fixed"' if status == FIXED else ""
    return f"<td{kind}>{fixed(float(table.value[cell]), look.decimals)}</td>"


def _decimals(table: Table) -> int:
    """Fewest decimals, six at most, that write every published value in full."""
    value = table.value[~table.hidden]
    scale = ROUNDING * np.maximum(1.0, np.abs(value))
    for decimals in range(6):
        if np.all(np.abs(np.round(value, decimals) - value) <= scale):
            return decimals
    return 6


def _in_order(tree: Hierarchy, present: NDArray[np.int32]) -> list[int]:
    """Nodes that occur, each total before its parts."""
    wanted = set(present.tolist())
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parents):
        below.setdefault(parent, []).append(node)
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        if node in wanted:
            order.append(node)
        stack.extend(reversed(below.get(node, [])))
    return order


def _map(table: Table, across: tuple[int, ...], marks: Marks) -> str:
    rows, columns = (len(table.dimensions[k].hierarchy) for k in across)
    if int(table.hidden.sum()) > _MAX_MAPPED or rows > 6 * columns:
        return ""
    down, side = across
    places: dict[str, list[NDArray[np.int64]]] = {}
    for status, (name, _, _) in marks.items():
        cells = table.codes[table.status == status][:, [down, side]]
        places.setdefault(name, []).append(cells)
    drawn = {name: np.vstack(found) for name, found in places.items()}
    if len(drawn) == 1:
        # In the order of the table: which of two came first says nothing.
        drawn = {name: np.unique(cells, axis=0) for name, cells in drawn.items()}
    drawing = hidden_map((rows, columns), drawn)
    return (
        f"<figure>{drawing}<figcaption>Overview of the whole table: a point for "
        "each hidden cell.</figcaption></figure>"
    )


def _numbers(table: Table, marks: Marks) -> str:
    hidden = np.flatnonzero(table.hidden)
    shown = hidden[:_MAX_NUMBERS]
    chips = "".join(
        f'<span class="{marks[str(table.status[c])][0]}">{c}</span>'
        for c in shown.tolist()
    )
    more = ""
    if len(shown) < len(hidden):
        more = f" The first {len(shown):,} of {len(hidden):,} are shown."
    return (
        '<p class="note">This table came without labels: its hidden cells by number.'
        f'{more}</p><div class="chips">{chips or "none"}</div>'
    )
