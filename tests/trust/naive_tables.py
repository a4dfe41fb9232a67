"""Cells, rules and levels from records in plain Python: a second opinion.

Written from docs/reference/rules.md, in fractions, and without the package: what it
marks and what `evosdc.tabulate` marks must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil, floor, log10

TOTAL = "Total"
Key = tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """One record: codes by variable, the response, and what options look at."""

    codes: dict[str, str]
    value: Fraction = Fraction(1)
    weight: Fraction = Fraction(1)
    holding: str = ""
    request: str = ""


@dataclass(frozen=True)
class Design:
    """What is tabulated, and by which rules.

    `trees` maps the codes of each variable to their parents, `spans` are the variables
    of each of the linked tables. `levels` says how many levels of each variable a table
    shows, by table; all of them where it is empty. `magnitudes` and `weighted` say
    whether records have a response and a weight: without both the table counts people.
    """

    spans: tuple[tuple[str, ...], ...]
    trees: dict[str, dict[str, str]]
    rules: tuple[str, ...]
    magnitudes: bool = True
    weighted: bool = False
    holdings: bool = False
    waiver: frozenset[str] = frozenset()
    least: Fraction | None = None
    levels: tuple[tuple[int, ...], ...] = ()

    def shows(self, table: int, name: str, code: str) -> bool:
        """Whether one of the tables goes down to a code of a variable."""
        if not self.levels:
            return True
        at = self.spans[table].index(name)
        return self.depth(name, code) <= self.levels[table][at]

    def depth(self, name: str, code: str) -> int:
        """How many levels below the total a code is."""
        found = 0
        while code != TOTAL:
            code, found = self.trees[name][code], found + 1
        return found

    def columns(self, table: int) -> list[str]:
        """What the columns of a table are called: levels above the finest by number."""
        span = self.spans[table]
        if not self.levels:
            return list(span)
        return [
            name if depth == self.deepest(name) else f"{name}_{depth}"
            for name, depth in zip(span, self.levels[table], strict=True)
        ]

    def deepest(self, name: str) -> int:
        """How many levels a variable has."""
        return max(self.depth(name, code) for code in self.trees[name])

    @property
    def names(self) -> tuple[str, ...]:
        """All variables, in the order they are first named in."""
        return tuple(dict.fromkeys(name for span in self.spans for name in span))

    @property
    def counts(self) -> bool:
        """Whether cells count people."""
        return not self.magnitudes and not self.weighted

    @property
    def groups(self) -> bool:
        """Whether groups in one category are sensitive."""
        return any(rule.partition(":")[0] == "group" for rule in self.rules)


@dataclass
class Cell:
    """A cell, who stands behind it, and how far it must be protected."""

    value: Fraction
    size: Fraction
    members: dict[str, Fraction]
    sensitive: bool = False
    lpl: Fraction = Fraction(0)
    upl: Fraction = Fraction(0)
    rows: list[tuple[str, Record]] = field(default_factory=list)

    @property
    def negative(self) -> bool:
        """Whether a contribution to this very cell is below 0."""
        return self.size > self.value

    @property
    def alone(self) -> str | None:
        """The only contributor, where there is one; zeros are no company for it."""
        active = [who for who, amount in self.members.items() if amount]
        one = active if len(active) == 1 else list(self.members)
        return one[0] if len(one) == 1 else None


@dataclass
class Group:
    """Everybody of a total in one part: the total, that part, and the empty parts."""

    total: Key
    full: Key
    empty: tuple[Key, ...]


def tabulate(records: Sequence[Record], design: Design) -> dict[Key, Cell]:
    """All cells of all levels of all spans that have a record, marked by the rules."""
    cells: dict[Key, Cell] = {}
    for table in range(len(design.spans)):
        fresh: dict[Key, Cell] = {}
        for number, record in enumerate(records):
            if record.weight == 0:
                continue
            for key in _cells_above(record, table, design):
                if key not in cells:
                    cell = fresh.setdefault(key, Cell(Fraction(0), Fraction(0), {}))
                    _add(cell, number, record, design)
        cells |= fresh
    least = _least(cells, design)
    for cell in cells.values():
        _mark(cell, design, least)
    for group in groups_of(cells, design):
        full = cells[group.full]
        full.sensitive = True
        # That somebody is elsewhere must be possible: one less, not one more.
        full.lpl = max(full.lpl, Fraction(1))
    return cells


def lines(design: Design, listed: Sequence[Key] | set[Key]) -> Iterator[list[Key]]:
    """Totals with their listed parts, the total first: what adds up to what."""
    there = set(listed)
    names = design.names
    seen = set()
    for table, span in enumerate(design.spans):
        for key in listed:
            if not _within(key, table, design):
                continue
            for name in span:
                at = names.index(name)
                parts = [
                    (*key[:at], code, *key[at + 1 :])
                    for code, parent in design.trees[name].items()
                    if parent == key[at] and design.shows(table, name, code)
                ]
                line = [key, *(part for part in parts if part in there)]
                if parts and tuple(line) not in seen:
                    seen.add(tuple(line))
                    yield line


def groups_of(cells: dict[Key, Cell], design: Design) -> list[Group]:
    """Groups of whom everybody is in one category, of the variables of the rules."""
    wanted = {rule.partition(":")[2] for rule in design.rules if rule[:5] == "group"}
    names, found = design.names, []
    for table, span in enumerate(design.spans):
        for name in span:
            if not wanted & {"", name}:
                continue
            at = names.index(name)
            for key, cell in cells.items():
                if not _within(key, table, design) or cell.value < 2:
                    continue
                parts = [
                    (*key[:at], code, *key[at + 1 :])
                    for code, parent in design.trees[name].items()
                    if parent == key[at]
                ]
                there = [part for part in parts if part in cells]
                # A category that nobody has anywhere is no news to anyone.
                empty = tuple(
                    part
                    for part in parts
                    if part not in cells and _alone_at(at, part) in cells
                )
                if len(there) == 1 and empty:
                    found.append(Group(key, there[0], empty))
    return found


def _alone_at(at: int, key: Key) -> Key:
    return tuple(code if k == at else TOTAL for k, code in enumerate(key))


def _within(key: Key, table: int, design: Design) -> bool:
    return all(
        code == TOTAL
        or (name in design.spans[table] and design.shows(table, name, code))
        for code, name in zip(key, design.names, strict=True)
    )


def _cells_above(
    record: Record, table: int, design: Design
) -> Iterator[tuple[str, ...]]:
    steps = []
    for name in design.names:
        line = [TOTAL]
        if name in design.spans[table]:
            code = record.codes[name]
            line = [code]
            while code != TOTAL:
                code = design.trees[name][code]
                line.append(code)
            line = [code for code in line if design.shows(table, name, code)]
        steps.append(line)
    return product(*steps)


def _add(cell: Cell, number: int, record: Record, design: Design) -> None:
    who = record.holding if design.holdings else f"record {number}"
    amount = record.value * record.weight
    cell.value += amount
    cell.size += abs(amount)
    cell.members[who] = cell.members.get(who, Fraction(0)) + amount
    cell.rows.append((who, record))


def _least(cells: dict[Key, Cell], design: Design) -> Fraction:
    """The floor of levels that are a share: given, 1 person, or 1 % of the mean."""
    if design.least is not None:
        return design.least
    if design.counts:
        return Fraction(1)
    # Totals of everything: the largest size and number of units there are.
    size = max(cell.size for cell in cells.values())
    units = max(_units(cell) for cell in cells.values())
    mean = size / units / 100
    if mean == 0:
        return Fraction(1)
    place = floor(log10(mean)) - 1
    return round(mean / Fraction(10) ** place) * Fraction(10) ** place


def _units(cell: Cell) -> Fraction:
    return sum((record.weight for _, record in cell.rows), Fraction(0))


def _active(cell: Cell) -> Fraction:
    """The units whose contribution is not zero."""
    rows = (record for _, record in cell.rows if record.value)
    return sum((record.weight for record in rows), Fraction(0))


def _mark(cell: Cell, design: Design, least: Fraction) -> None:
    for rule in design.rules:
        level = _level(cell, rule, design, least)
        if level is not None:
            cell.sensitive = True
            cell.upl, cell.lpl = max(cell.upl, level[0]), max(cell.lpl, level[1])
    if design.counts and cell.sensitive:
        # Half a person more or less hides nobody.
        cell.upl = Fraction(max(1, ceil(cell.upl)))
        cell.lpl = Fraction(max(1, ceil(cell.lpl)))
    if design.counts and not design.groups:
        cell.lpl = min(cell.lpl, cell.value - 1)
    elif not cell.negative:
        cell.lpl = min(cell.lpl, cell.value)


def _level(
    cell: Cell, rule: str, design: Design, least: Fraction
) -> tuple[Fraction, Fraction] | None:
    """Upper and lower level that a rule asks for; None where it is kept."""
    kind, _, text = rule.partition(":")
    words = text.split(",") if text else []
    who, rows = _contributions(cell, design)
    open_ones = [row for row in rows if row[2] not in design.waiver]
    # Who asks for protection gets it, whatever else it consented to.
    if kind == "group" or (not open_ones and kind != "req"):
        return None
    numbers = [Fraction(word) for word in words if word != "records"]
    total = sum((amount * weight for amount, weight, _ in rows), Fraction(0))
    size = max(cell.size, abs(cell.value))
    if kind == "freq":
        counted = who if "records" not in words else _active(cell)
        share = numbers[1] if len(numbers) > 1 else Fraction(30)
        # Who contributes zero does not count; zeros alone are for another rule.
        if not 0 < counted < numbers[0]:
            return None
        return (max(share / 100 * size, least),) * 2
    if kind == "zero":
        return (numbers[0], Fraction(0)) if cell.value == 0 else None
    if kind == "req":
        return _requested(cell, design, numbers, total, size, least)
    if kind == "nk":
        n, k = int(numbers[0]), numbers[1]
        if len(rows) >= n and open_ones[0][0] < rows[n - 1][0]:
            return None  # all who dominate consented
        missing = 100 / k * _leading(rows, n) - total
    else:
        share = numbers[0] / (numbers[1] if kind == "pq" else 100)
        extra = numbers[2:] if kind == "pq" else numbers[1:]
        coalition = int(extra[0]) if extra else 1
        # The largest who did not consent, looked for by the largest of the others.
        target = open_ones[0]
        if design.waiver:
            others = [row for row in rows if row is not target]
            known = target[0] + _leading(others, coalition)
        else:
            known = _leading(rows, coalition + 1)
        missing = share * target[0] - (total - known)
    return (missing, missing) if missing > 0 else None


def _requested(
    cell: Cell,
    design: Design,
    numbers: list[Fraction],
    total: Fraction,
    size: Fraction,
    least: Fraction,
) -> tuple[Fraction, Fraction] | None:
    limits = {"1": numbers[0], "2": numbers[1] if len(numbers) > 1 else numbers[0]}
    margin = numbers[2] if len(numbers) > 2 else Fraction(20)
    for who, record in cell.rows:
        if record.request not in limits:
            continue
        amount = abs(cell.members[who] if design.holdings else record.value)
        if amount > limits[record.request] / 100 * total:
            return (max(margin / 100 * size, least),) * 2
    return None


def _contributions(
    cell: Cell, design: Design
) -> tuple[Fraction, list[tuple[Fraction, Fraction, str]]]:
    """How many contribute, and each who is there without sign: amount, weight, name."""
    if design.holdings:
        rows = [(abs(x), Fraction(1), who) for who, x in cell.members.items()]
        number = Fraction(sum(amount > 0 for amount, _, _ in rows))
    else:
        rows = [(abs(r.value), r.weight, who) for who, r in cell.rows]
        number = _active(cell)
    return number, sorted(rows, key=lambda row: (-row[0], -row[1]))


def _leading(rows: Sequence[tuple[Fraction, Fraction, str]], n: int) -> Fraction:
    """The `n` largest: a record of weight w fills w of the places."""
    left, found = Fraction(n), Fraction(0)
    for amount, weight, _ in rows[:n]:
        found += amount * min(max(left, Fraction(0)), weight)
        left -= weight
    return found
