"""The report to share: the table as published and what was proved, nothing else.

It is written from a copy of the table in which hidden values, weights, bounds, levels
and the difference between primaries and secondaries are gone, so that no line of the
page can show one. Parameters of rules, numbers of cells by rule, cost, bound, gap and
exposed cells are left out: they narrow hidden values down, or equal them. The grid of
the table as it may be published is the same on the confidential page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evosdc.options.rules import RULES
from evosdc.report.kit.chart import hidden_map
from evosdc.report.kit.parts import (
    banner,
    count,
    esc,
    fixed,
    header,
    section,
    whole_page,
)
from evosdc.report.verdict import claim_section, describe, headline
from evosdc.results import Claim
from evosdc.table import Dimension, Hierarchy, Table
from evosdc.table.attackers import LONE, PAIRS
from evosdc.table.origin import AUTO
from evosdc.table.parts import as_published
from evosdc.table.status import FIXED, PRIMARY, SECONDARY

if TYPE_CHECKING:
    from evosdc.results.tables import Protection


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
_DRAFT = banner(
    "bad",
    "Draft: not to be published",
    "This table was not found safe. The confidential report says why.",
)
_FOOTER = (
    "<footer>Written from the published cells alone: no hidden value, no cost and no "
    "protection level is in this page.</footer>"
)


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


def share_html(protection: Protection, *, title: str | None = None) -> str:
    """Write the page about a protected table that may leave the office with it.

    Parameters
    ----------
    protection
        What `protect` gave back.
    title
        The heading; by default it names the response variable.
    """
    protection = protection.visible()
    table = as_published(protection.table)
    heading = title or f"Table of {table.name}"
    hidden = int(table.hidden.sum())
    facts = [*describe(table), f"{hidden:,} hidden"]
    key = '<ul class="key"><li><b class="hidden">x</b>hidden</li></ul>'
    safe = headline(protection.verdict, protection.table).kind == "safe"
    body = (
        header(heading, facts)
        + (_protected(hidden) if safe else _DRAFT)
        + claim_section(public_claim(protection), "proved" if safe else "asked")
        + section("The table", key + table_section(table, marks=ALIKE), "long")
        + _FOOTER
    )
    return whole_page(heading, body)


def _protected(hidden: int) -> str:
    return banner(
        "safe",
        "SAFE to publish",
        f"{count(hidden, 'cell is', 'cells are')} hidden, so that nobody can work out "
        "a confidential one from those that are published. Hidden cells look alike, "
        "whatever they were hidden for."
        if hidden
        else "No cell had to be hidden.",
    )


def public_claim(protection: Protection) -> Claim:
    """Answer the questions of a claim without a parameter, a count or a level."""
    origin, verdict = protection.table.origin, protection.verdict
    if not origin.rules and verdict.judged:
        rules = "The office marked them."
    else:
        rules = _listed([_kind_of(rule) for rule, _ in origin.rules or ()])
    if protection.settings.get("hide"):
        rules += " The office chose further cells by name."
    if origin.counts:
        minimum = "not below 0" if origin.zeros else "at least 1 where it is listed"
        knowledge = f"That it is a whole number, {minimum}."
    elif origin.bounds == AUTO:
        knowledge = "Whether a cell of this kind can be below zero."
    else:
        knowledge = "A range for each cell that the office assumes to be known."
    if origin.whole and not origin.counts:
        knowledge += " That values are whole numbers."
    if origin.threshold is not None:
        knowledge += " That cells below the minimum frequency are hidden."
    earlier = bool(protection.settings.get("already_published"))
    lowered = protection.accepted is not None and bool(protection.accepted.any())
    return Claim(
        rules=rules,
        levels="As far as its rule asks"
        + (", or less where the office accepted it" if lowered else "")
        + "; how far that is, is confidential.",
        knowledge=knowledge,
        insiders=(
            "Nobody: respondents who know their own figures were not considered."
            if verdict.insiders is None
            else _attackers(protection)
        ),
        publication=(
            "The cells of this table that are not marked x"
            + (", together with what was published of it before." if earlier else ".")
        ),
        strictness="Exceeded." if verdict.strict else "Reached.",
        proof=(
            "By other tables that agree with everything published, found by a program "
            "other than the one that chose the cells, and checked "
            + ("in exact arithmetic." if verdict.exact else "in floating point.")
            if verdict.judged and verdict.ok
            else "No cell was sensitive, so there was nothing to show."
            if verdict.ok
            else "It was not shown."
        ),
    )


def _attackers(protection: Protection) -> str:
    """Return the attackers that were considered besides the public."""
    kind = protection.settings.get("attackers", LONE)
    words = []
    if kind == PAIRS:
        words.append("The two largest contributors of each cell.")
    if kind in (LONE, PAIRS):
        words.append("Respondents who are alone in a cell and know its value.")
    if protection.settings.get("coalitions"):
        words.append("Some respondents who share what they know.")
    return " ".join(words)


def _kind_of(rule: str) -> str:
    """Name a rule without its parameters."""
    name = rule.partition(":")[0].strip().lower()
    if name == "man":
        return "decisions on single cells"
    return RULES[name].public if name in RULES else "another rule of the office"


def _listed(kinds: list[str]) -> str:
    if not kinds:
        return "No rule was applied."
    text = ", ".join(dict.fromkeys(kinds))
    return f"{text[0].upper()}{text[1:]}."
