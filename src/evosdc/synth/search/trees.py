"""An initial model for files of usual size: variables drawn from trees, one by one.

Each variable has a classification tree on those drawn before (Reiter 2005, after
Breiman et al. 1984): a record falls to a leaf and draws the value of one of the people
there, of whom there are always enough. Numbers are split at a threshold, other levels
one against the rest; the tree of a number explains its variance, others their classes
by the Gini index. Trees know combinations of many variables that
no table of a few shows; the search mends the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evosdc.arrays import Flags, Long
from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.rules import RuleIndex

# The smallest group that a value is drawn from.
MIN_LEAF = 5
_NO_SPLIT = -1
# So often a value is drawn that breaks no rule.
_MAX_DRAWS = 24


class Tree(NamedTuple):
    """A tree by node: what it asks, where it leads, and whom its leaves hold.

    A node asks whether the variable `asks` is at most `cut` where that is a number, and
    is `cut` where it is not; -1 for a leaf, which holds ``rows[begin:end]``.
    """

    asks: Long
    cut: Long
    left: Long
    right: Long
    begin: Long
    end: Long
    rows: Long


class Trees:
    """Draw variables in the order of their numbers of levels, the fewest first.

    `ordered` says whose levels are numbers. Values that would break one of the `rules`
    with those drawn before are drawn again: of the first for good, of others as far as
    the people in a leaf have another one. The trees are grown once, at the first draw.
    """

    def __init__(
        self, ordered: Flags, rules: Sequence[RuleIndex], leaf: int = MIN_LEAF
    ) -> None:
        self._ordered = np.asarray(ordered, bool)
        self._rules = rules
        self._leaf = leaf
        self._grown: list[tuple[int, Tree]] = []

    def __call__(
        self, original: Codes, sizes: Long, rng: np.random.Generator, count: int
    ) -> Codes:
        columns = np.ascontiguousarray(original.T)
        if not self._grown:
            self._grow(columns, sizes)
        out = np.zeros((len(sizes), count), np.int16)
        drawn = np.zeros(len(sizes), bool)
        for j, tree in self._grown:
            chance = rng.random(count)
            out[j] = draw(tree, columns[j], out, self._ordered, chance)
            drawn[j] = True
            self._redraw(tree, columns[j], out, drawn, j, rng)
        return np.ascontiguousarray(out.T)

    def _redraw(
        self,
        tree: Tree,
        values: Codes,
        out: Codes,
        drawn: Flags,
        j: int,
        rng: np.random.Generator,
    ) -> None:
        """Draw values again that break a rule, from the leaf, then from everybody."""
        looked_at = np.arange(out.shape[1])
        for turn in range(_MAX_DRAWS):
            part = np.ascontiguousarray(out[:, looked_at])
            # From everybody only what cannot be is drawn again.
            late = turn >= _MAX_DRAWS // 2
            bad = np.zeros(len(looked_at), bool)
            for rules in self._rules[: 1 if late else None]:
                bad |= _broken(rules, part, drawn, j)
            looked_at = looked_at[bad]
            if not len(looked_at):
                return
            if late:
                out[j, looked_at] = rng.choice(values, len(looked_at))
                continue
            part = np.ascontiguousarray(part[:, bad])
            chance = rng.random(len(looked_at))
            out[j, looked_at] = draw(tree, values, part, self._ordered, chance)

    def _grow(self, columns: Codes, sizes: Long) -> None:
        order = np.argsort(sizes, kind="stable")
        for k, j in enumerate(order):
            known = order[:k]
            tree = grow(columns, int(j), known, self._ordered, sizes, self._leaf)
            self._grown.append((int(j), Tree(*tree)))


def _broken(rules: RuleIndex, columns: Codes, drawn: Flags, j: int) -> Flags:
    """Say which records break a rule of variable `j` and others that are drawn."""
    out = np.zeros(columns.shape[1], bool)
    for r in rules.touch[rules.touch_start[j] : rules.touch_start[j + 1]]:
        members = np.flatnonzero(rules.stride[r])
        if drawn[members].all():
            number = np.zeros(columns.shape[1], np.int64)
            for v in members:
                number += rules.stride[r, v] * columns[v]
            out |= rules.forbidden[rules.start[r] + number]
    return out


@kernel(nogil=True)
def grow(columns, j, known, ordered, sizes, leaf):  # type: ignore[no-untyped-def]
    """Grow the tree of variable `j` on the `known` ones."""
    records = columns.shape[1]
    most = 2 * (records // leaf + 1) + 1
    asks = np.full(most, _NO_SPLIT, np.int64)
    cut = np.zeros(most, np.int64)
    left, right = np.zeros(most, np.int64), np.zeros(most, np.int64)
    begin, end = np.zeros(most, np.int64), np.zeros(most, np.int64)
    rows = np.arange(records)
    widest = 1
    for p in known:
        widest = max(widest, sizes[p])
    classes = sizes[j]
    table = np.zeros((widest, classes), np.int64)
    margin, total = np.zeros(widest, np.int64), np.zeros(classes, np.int64)
    side = np.zeros(classes, np.int64)
    end[0] = records
    nodes, node = 1, 0
    # Nodes are numbered as they are made, and looked at in that order.
    while node < nodes:
        low, high = begin[node], end[node]
        best, variable, value = 0.0, _NO_SPLIT, 0
        if high - low >= 2 * leaf:
            total[:] = 0
            for r in range(low, high):
                total[columns[j, rows[r]]] += 1
            plain = 0.0
            for c in range(classes):
                plain += float(total[c]) * total[c]
            plain /= high - low
            pure = plain >= high - low - 1e-9
            if ordered[j]:
                plain = 0.0
                for c in range(classes):
                    plain += float(c) * total[c]
                plain *= plain / (high - low)
            if not pure:
                best = plain + 1e-9
                for p in known:
                    gain, at = _best_cut(
                        columns,
                        j,
                        p,
                        rows,
                        low,
                        high,
                        sizes[p],
                        ordered,
                        leaf,
                        table,
                        margin,
                        total,
                        side,
                    )
                    if gain > best:
                        best, variable, value = gain, p, at
        if variable >= 0:
            middle = _parted(
                columns[variable], rows, low, high, value, ordered[variable]
            )
            asks[node], cut[node] = variable, value
            left[node], right[node] = nodes, nodes + 1
            begin[nodes], end[nodes] = low, middle
            begin[nodes + 1], end[nodes + 1] = middle, high
            nodes += 2
        node += 1
    asks, cut, left, right = asks[:nodes], cut[:nodes], left[:nodes], right[:nodes]
    return asks, cut, left, right, begin[:nodes], end[:nodes], rows


@kernel(inner=True)
def _best_cut(  # type: ignore[no-untyped-def]
    columns, j, p, rows, low, high, levels, ordered, leaf, table, margin, total, side
):
    """Return how pure the best split by variable `p` is, and where it cuts."""
    classes = len(total)
    for v in range(levels):
        margin[v] = 0
    for r in range(low, high):
        v = columns[p, rows[r]]
        if margin[v] == 0:
            table[v, :classes] = 0
        margin[v] += 1
        table[v, columns[j, rows[r]]] += 1
    if ordered[j]:
        return _best_number(levels, ordered[p], leaf, table, margin, total, high - low)
    best, at, before = 0.0, 0, 0
    side[:] = 0
    for v in range(levels):
        if margin[v] == 0:
            continue
        if ordered[p]:
            before += margin[v]
        else:
            before = margin[v]
            side[:] = 0
        after = high - low - before
        one, two = 0.0, 0.0
        for c in range(classes):
            side[c] += table[v, c]
            rest = total[c] - side[c]
            one += float(side[c]) * side[c]
            two += float(rest) * rest
        if before < leaf or after < leaf:
            continue
        gain = one / before + two / after
        if gain > best:
            best, at = gain, v
    return best, at


@kernel(inner=True)
def _best_number(levels, is_number, leaf, table, margin, total, records):  # type: ignore[no-untyped-def]
    """Return how much of a number's variance the best split explains, and where.

    Levels stand for their numbers: what counts is their sum on either side.
    """
    classes = len(total)
    everything = 0.0
    for c in range(classes):
        everything += float(c) * total[c]
    best, at, before, side = 0.0, 0, 0, 0.0
    for v in range(levels):
        if margin[v] == 0:
            continue
        if not is_number:
            before, side = 0, 0.0
        before += margin[v]
        for c in range(classes):
            side += float(c) * table[v, c]
        after = records - before
        if before < leaf or after < leaf:
            continue
        gain = side * side / before + (everything - side) ** 2 / after
        if gain > best:
            best, at = gain, v
    return best, at


@kernel(inner=True)
def _parted(column, rows, low, high, value, is_number):  # type: ignore[no-untyped-def]
    """Put the records that answer yes before the others; return where those begin."""
    a, b = low, high - 1
    while a <= b:
        level = column[rows[a]]
        if (level <= value) if is_number else (level == value):
            a += 1
        else:
            rows[a], rows[b] = rows[b], rows[a]
            b -= 1
    return a


@kernel(nogil=True)
def draw(tree, values, known, ordered, chance):  # type: ignore[no-untyped-def]
    """Draw a value for each record from the people in its leaf."""
    out = np.empty(len(chance), np.int16)
    for i in range(len(chance)):
        node = 0
        while tree.asks[node] >= 0:
            p = tree.asks[node]
            level = np.int64(known[p, i])
            yes = level <= tree.cut[node] if ordered[p] else level == tree.cut[node]
            node = tree.left[node] if yes else tree.right[node]
        many = tree.end[node] - tree.begin[node]
        out[i] = values[tree.rows[tree.begin[node] + np.int64(chance[i] * many)]]
    return out
