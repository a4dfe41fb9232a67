"""Tests of closeness that do not depend on how levels are named.

A file of the same people with the names of levels exchanged, a number in other units or
one column replaced is as close to them as a plain copy, but equal in no record. So
levels of the synthetic file are matched with those of the original by what they occur
with, numbers are taken by rank, and people are looked for on all columns but one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from evosdc.metrics.binning import BINS, MOST_DISTINCT, quantile_cuts
from evosdc.metrics.counts import cell_counts, classes
from evosdc.metrics.data import Categorical, from_codes
from evosdc.metrics.deadline import check_time
from evosdc.metrics.memorisation_tests import Coded, FreshTest, fresh_tests

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Columns of more levels keep their names; `_all_but_one` leaves each out in turn.
_MAX_LEVELS = 50
# Levels are matched by at most so many records of each file, in `_ROUNDS` rounds.
_MAX_RECORDS = 20_000
# Of larger files a sample is attacked.
_MAX_ATTACKED = 50_000
_ROUNDS = 4
# A gain by other names is one beyond three standard errors, of enough records.
_MAX_ERRORS = 3.0
_MIN_GAIN = 0.25


def disguised_tests(
    original: Coded, synthetic: Coded, *, seed: int = 0
) -> tuple[tuple[FreshTest, ...], bool]:
    """Look for the original behind other names and on all columns but one.

    The second value says whether the synthetic file is the original but for the names
    of levels.
    """
    rng = np.random.default_rng([seed, 16])
    first, second = (
        data.take(np.sort(rng.permutation(data.rows)[:_MAX_ATTACKED]))
        for data in (original, synthetic)
    )
    part = second.rows / max(original.rows, synthetic.rows)
    tests = _all_but_one(first, second, part, rng)
    # Where only some people are real the bins of the original find more of them than
    # ranks do, which others shift.
    for by_rank in (False, True):
        found = _renamed_tests(*_in_bins(first, second, by_rank), rng, seed)
        if found:
            tests += found
            break
    return tests, _same_but_for_names(original, synthetic)


def _renamed_tests(
    original: Categorical,
    synthetic: Categorical,
    rng: np.random.Generator,
    seed: int,
) -> tuple[FreshTest, ...]:
    """Attack with one half of the synthetic records, names being learnt from the other.

    Names that fit some records by chance say nothing about others. There are no tests
    where other names match no more of these than chance explains, and a quarter: this
    is about the original in disguise. A search that keeps away from whole records may
    leave records that differ from a person's in one column only, for several people in
    a hundred; see the note on them in docs/explanation/fit-for-release.md.
    """
    order = rng.permutation(synthetic.rows)
    half = synthetic.rows // 2
    learnt, made = (synthetic.take(np.sort(r)) for r in (order[:half], order[half:]))
    if not half:
        return ()
    names = _best_names(
        *(
            data.take(np.sort(rng.permutation(data.rows)[:_MAX_RECORDS]))
            for data in (original, learnt)
        )
    )
    renamed = _renamed(names, made)
    plain = _matched_records(original, made)
    gain = _matched_records(original, renamed) - plain
    if gain <= max(_MAX_ERRORS * sqrt(plain + 1.0), _MIN_GAIN * made.rows):
        return ()
    changed = [
        repr(name)
        for j, name in enumerate(original.names)
        if (renamed.codes[:, j] != made.codes[:, j]).any()
    ]
    return tuple(
        replace(test, title=f"{test.title}, levels of {', '.join(changed)} renamed")
        for test in fresh_tests(
            Coded(original, original),
            Coded(renamed, renamed),
            seed=seed,
            attacks=("copied_people", "matched_records"),
        )
    )


def _same_but_for_names(original: Coded, synthetic: Coded) -> bool:
    """Whether levels can be named so that both files hold the same records."""
    if original.rows != synthetic.rows:
        return False
    for j in range(original.bins.columns):
        size = original.exact.levels[j]
        one, two = (
            np.sort(np.bincount(data.exact.codes[:, j], minlength=size))
            for data in (original, synthetic)
        )
        if not np.array_equal(one, two):
            return False
    first, second = _in_bins(original, synthetic, by_rank=True)
    return same_records(first, _renamed(_best_names(first, second), second))


def _matched_records(original: Categorical, synthetic: Categorical) -> float:
    """Count the records of one file that can be paired with equal ones of the other."""
    check_time()
    a, b = cell_counts(original, synthetic, range(original.columns))
    return float(np.minimum(a, b).sum())


def _renamed(names: Sequence[Ints], data: Categorical) -> Categorical:
    """Return a file with its levels under other names."""
    return data.with_codes(
        np.column_stack([to[data.codes[:, j]] for j, to in enumerate(names)])
    )


def same_records(original: Categorical, synthetic: Categorical) -> bool:
    """Whether two files hold the same records, in any order.

    Attacks show nothing where all combinations are common.
    """
    if original.rows != synthetic.rows:
        return False
    a, b = cell_counts(original, synthetic, range(original.columns))
    return bool((a == b).all())


def _best_names(original: Categorical, synthetic: Categorical) -> list[Ints]:
    """Return the names of levels by which most synthetic records have a partner."""
    matcher = _Matcher(original, synthetic)
    same = [np.arange(size) for size in original.levels]
    return max(
        same,
        matcher.improved(same, matcher.by_records),
        matcher.improved(same, matcher.by_pairs),
        matcher.improved(matcher.by_frequency(), matcher.by_pairs),
        key=lambda names: _matched_records(original, _renamed(names, synthetic)),
    )


def _in_bins(
    original: Coded, synthetic: Coded, by_rank: bool
) -> tuple[Categorical, Categorical]:
    """Return the files in bins, numbers of many values `by_rank` in their own file.

    A number in other units, or on another scale, has the same ranks. Columns of such
    numbers alone are called ordered.
    """
    columns: list[list[NDArray[np.integer]]] = [[], []]
    levels, ranked = [], []
    for j, size in enumerate(original.bins.levels):
        pair: list[NDArray[np.integer]]
        pair = [data.bins.codes[:, j] for data in (original, synthetic)]
        exact = [data.exact.codes[:, j] for data in (original, synthetic)]
        missing = original.exact.missing[j]
        last = original.exact.levels[j] - 1 if missing else -1
        many = len(np.unique(exact[0])) > MOST_DISTINCT + missing
        ranked.append(original.exact.ordered[j] and many)
        if ranked[-1] and by_rank:
            pair = [_rank_bins(codes, last) for codes in exact]
            size = 2 * BINS + 1
        elif ranked[-1]:
            # A last level for missing values, there or not.
            size += not original.bins.missing[j]
        columns[0].append(pair[0])
        columns[1].append(pair[1])
        levels.append(size)
    bins = original.bins
    made = [
        from_codes(
            np.column_stack(part),
            key=bins.key,
            target=bins.target,
            levels=levels,
            names=bins.names,
            ordered=ranked,
        )
        for part in columns
    ]
    return made[0], made[1]


def _rank_bins(codes: NDArray[np.int32], missing: int) -> Ints:
    """Return the bin of each number by quantiles of its own file; missing ones last."""
    known = codes != missing
    out = np.full(len(codes), 2 * BINS)
    if known.any():
        numbers, counts = np.unique(codes[known], return_counts=True)
        edges = quantile_cuts(numbers.astype(float), counts.astype(float), BINS).edges
        out[known] = np.searchsorted(edges, codes[known], side="right")
    return out


class _Matcher:
    """Matches the levels of two files by what they occur with."""

    def __init__(self, original: Categorical, synthetic: Categorical) -> None:
        self.original, self.synthetic = original, synthetic
        self.free = [
            j for j, size in enumerate(original.levels) if 1 < size <= _MAX_LEVELS
        ]
        self.margins = {
            j: tuple(
                np.bincount(data.codes[:, j], minlength=original.levels[j]) / data.rows
                for data in (original, synthetic)
            )
            for j in self.free
        }
        self._known: dict[tuple[int, int], tuple[Floats, Floats]] = {}

    def by_frequency(self) -> list[Ints]:
        """Name the levels of the synthetic file by their rank in frequency."""
        names = [np.arange(size) for size in self.original.levels]
        for j in self.free:
            if self.original.ordered[j]:
                continue
            first, second = self.margins[j]
            names[j][np.argsort(-second, kind="stable")] = np.argsort(
                -first, kind="stable"
            )
        return names

    def improved(
        self,
        names: Sequence[Ints],
        common: Callable[[int, Sequence[Ints]], Floats],
    ) -> list[Ints]:
        """Name the levels of one column after the other by all the other columns.

        `common` says how much two levels have in common under the names of the others.
        """
        names = list(names)
        for _ in range(_ROUNDS):
            changed = False
            for j in self.free:
                check_time()
                shared = common(j, names)
                # Among equally good names the present ones are kept.
                shared[names[j], np.arange(len(shared))] += 1e-9
                better = self._assigned(j, shared)
                used = self.margins[j][1] > 0
                changed |= bool((better != names[j])[used].any())
                names[j] = better
            if not changed:
                break
        return names

    def _assigned(self, j: int, shared: Floats) -> Ints:
        """Give each level of a column the name by which most is shared.

        Ranks rise or fall; to exchange them as well would find partners by chance.
        """
        from scipy.optimize import linear_sum_assignment

        if not self.original.ordered[j]:
            return np.asarray(linear_sum_assignment(-shared.T)[1], np.int64)
        rising = np.arange(len(shared))
        # The last level is that of missing values; a sample may have no other.
        top = int(np.max(np.flatnonzero(self.margins[j][0][:-1]), initial=0))
        falling = np.where(rising <= top, top - rising, rising)
        return max(rising, falling, key=lambda to: float(shared[to, rising].sum()))

    def by_pairs(self, j: int, names: Sequence[Ints]) -> Floats:
        """Return what the levels of a column share in margins and two-way tables.

        This distinguishes levels where all the people are in the file.
        """
        first, second = self.margins[j]
        common = np.minimum(first[:, None], second)
        for k in self.free:
            if k != j:
                one, raw = self._tables(j, k)
                two = np.empty_like(raw)
                two[:, names[k]] = raw
                for c in np.flatnonzero(one.any(axis=0) & two.any(axis=0)):
                    common += np.minimum(one[:, c][:, None], two[:, c])
        return np.asarray(common)

    def by_records(self, j: int, names: Sequence[Ints]) -> Floats:
        """Return the records that levels of a column share on all other columns.

        This distinguishes levels where some of the people are in the file, and the
        other columns have the names of the original.
        """
        others = [k for k in range(len(names)) if k != j]
        other = _renamed(names, self.synthetic)
        one, two, number = classes(self.original, other, others)
        shared = np.flatnonzero(
            np.bincount(one, minlength=number) * np.bincount(two, minlength=number)
        )
        place = np.full(number, -1)
        place[shared] = np.arange(len(shared))
        size = self.original.levels[j]
        tables = []
        for cells, data in ((one, self.original), (two, self.synthetic)):
            there = place[cells] >= 0
            at = place[cells[there]] * size + data.codes[there, j]
            counts = np.bincount(at, minlength=len(shared) * size)
            tables.append(counts.reshape(len(shared), size) / data.rows)
        return np.array(
            [np.minimum(tables[0][:, [a]], tables[1]).sum(axis=0) for a in range(size)]
        )

    def _tables(self, j: int, k: int) -> tuple[Floats, Floats]:
        """Return the two-way tables of both files, in shares."""
        if j > k:
            one, two = self._tables(k, j)
            return one.T, two.T
        if (j, k) not in self._known:
            one, two = (
                _two_way(data, j, k) for data in (self.original, self.synthetic)
            )
            self._known[j, k] = one, two
        return self._known[j, k]


def _two_way(data: Categorical, j: int, k: int) -> Floats:
    width = data.levels[k]
    cells = data.codes[:, j].astype(np.int64) * width + data.codes[:, k]
    counts = np.bincount(cells, minlength=data.levels[j] * width)
    return counts.reshape(data.levels[j], width) / data.rows


def _all_but_one(
    original: Coded, synthetic: Coded, part: float, rng: np.random.Generator
) -> tuple[FreshTest, ...]:
    """Look for people who are alone on all columns but one.

    Whoever replaces one column has everybody in the file by the others. Of many columns
    one is the worst by chance, and tables that a copy may follow give away some: so the
    test fails only beyond half of the way from what a fresh sample shows to everybody,
    or to the `part` of everybody for whom there is a synthetic record.
    """
    half, columns = original.rows // 2, original.bins.columns
    if not half or columns < 3:
        return ()
    order = rng.permutation(original.rows)
    halves = (original.take(np.sort(rows)) for rows in (order[:half], order[half:]))
    files = (original, synthetic, *halves)
    times = max(1.0, synthetic.rows / (original.rows - half))
    tests = []
    for how, coded in (
        ("", [data.exact for data in files]),
        (", numbers in bins", [data.bins for data in files]),
    ):
        for j, name in enumerate(original.bins.names):
            check_time()
            others = [k for k in range(columns) if k != j]
            value, of = _found_uniques(coded[0], coded[1], others)
            usual, of_half = _found_uniques(coded[2], coded[3], others)
            # A file of twice the size finds a person at most twice as often.
            share = min(1.0, times * usual / of_half) if of_half else 1.0
            halfway = (max(part, share) + share) / 2.0
            tests.append(
                FreshTest(
                    name="all_but_one",
                    title=f"people alone on all columns but {name!r} who are there by "
                    f"them{how}",
                    against="the other half of the original "
                    f"(times {times:.3g}, as a larger one at most)",
                    value=value,
                    usual=share * of,
                    bound=of * halfway + _MAX_ERRORS * sqrt(of) / 2.0,
                    of=of,
                )
            )
    return (max(tests, key=lambda test: test.value - test.bound),)


def _found_uniques(
    attacked: Categorical, other: Categorical, columns: Sequence[int]
) -> tuple[float, float]:
    """Count the records of one file that are alone, and of them those in the other."""
    a, b = cell_counts(attacked, other, columns)
    return float(((a == 1) & (b > 0)).sum()), float((a == 1).sum())
