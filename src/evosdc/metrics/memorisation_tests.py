"""The tests behind a verdict: is the file riskier than a fresh sample would be?

Other people of the same population also match keys, share targets and equal whole
records, by chance and because of what the variables have to do with each other. A file
that does so more often than they do remembers people. Who they would be is known from
the original itself: its halves are fresh samples of each other. So a random half A of
the original is attacked with the other half, and with as many synthetic records. Both
attacks have the same size, and the second should not succeed more often. With a
hold-out, A is attacked with that too. Where few are attacked, half of them show little:
so the whole original is attacked with all synthetic records as well, which may succeed
twice as often as with half of them, but no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from evosdc.metrics.attribution import disclosed_targets, match_keys
from evosdc.metrics.counts import cell_counts
from evosdc.metrics.data import Categorical
from evosdc.metrics.deadline import check_time

_SPLITS = 8
# Records attacked per half; of larger files a sample of so many.
_MAX_RECORDS = 100_000
# A test fails beyond so many standard errors.
_MAX_ERRORS = 3.0
# Attacks on whole records, which are independent; hits on keys come in groups.
_RECORDS = ("copied_people", "matched_records")
# Two tables of equal closeness differ by such a factor.
_SLACK = 1.01


@dataclass(frozen=True, eq=False)
class Coded:
    """A file in two codings: numbers in bins, and every value as it is."""

    bins: Categorical
    exact: Categorical

    @property
    def rows(self) -> int:
        """How many records there are."""
        return self.exact.rows

    def take(self, rows: np.ndarray) -> Coded:
        """Return the records `rows`, in that order."""
        if self.bins is self.exact:
            part = self.exact.take(rows)
            return Coded(part, part)
        return Coded(self.bins.take(rows), self.exact.take(rows))


@dataclass(frozen=True)
class FreshTest:
    """One attack on half of the original, and what a fresh sample gives.

    Attributes
    ----------
    name, title
        What is counted.
    against
        Who the fresh people are: "the other half of the original" or "the hold-out".
    value, usual
        How often the attack succeeds with synthetic and with fresh records: means over
        the splits.
    bound
        The most that chance explains.
    of
        How many people were attacked, on average.
    """

    name: str
    title: str
    against: str
    value: float
    usual: float
    bound: float
    of: float

    @property
    def passed(self) -> bool:
        """Whether the synthetic records are no better at it than chance explains."""
        return self.value <= self.bound

    def sentence(self) -> str:
        """Return what was found as a sentence."""
        return (
            f"{self.title}: {self.value:.4g} of {self.of:,.0f} with the synthetic "
            f"records, {self.usual:.4g} with {self.against}; at most {self.bound:.4g} "
            "is chance"
        )


Found = tuple[float, float]


def copied_people(attacked: Coded, other: Coded) -> Found:
    """Count records that are unique in one file and occur in the other."""
    columns = range(attacked.exact.columns)
    a, b = cell_counts(attacked.exact, other.exact, columns)
    return float(((a == 1) & (b > 0)).sum()), float((a == 1).sum())


def found_keys(attacked: Coded, other: Coded) -> Found:
    """Count people with a unique key that is also unique in the other file."""
    a, b = cell_counts(attacked.exact, other.exact, attacked.exact.key)
    return float(((a == 1) & (b == 1)).sum()), float((a == 1).sum())


def guessed_targets(attacked: Coded, other: Coded) -> Found:
    """Count right guesses at the target of people with a unique key."""
    match = match_keys(attacked.exact, other.exact)
    alone = match.original_size == 1
    hits = match.original_hits[alone] / np.maximum(match.original_matches[alone], 1)
    return float(hits.sum()), float(alone.sum())


def certain_targets(attacked: Coded, other: Coded) -> Found:
    """Count people whose target all other records with their key have."""
    disclosed = disclosed_targets(match_keys(attacked.exact, other.exact))
    return float(disclosed.sum()), float(attacked.rows)


def matched_records(attacked: Coded, other: Coded) -> Found:
    """Count records of one file that find a partner in the other, numbers in bins."""
    a, b = cell_counts(attacked.bins, other.bins, range(attacked.bins.columns))
    return float(np.minimum(a, b).sum()), float(attacked.rows)


Attack = Callable[[Coded, Coded], Found]
ATTACKS: dict[str, tuple[str, Attack]] = {
    "copied_people": (
        "people alone in the data whose whole record is there",
        copied_people,
    ),
    "found_keys": ("people with a key of their own who look found by it", found_keys),
    "guessed_targets": (
        "right guesses at the target of people with a key of their own",
        guessed_targets,
    ),
    "certain_targets": (
        "people whose target everybody with their key gives away",
        certain_targets,
    ),
    "matched_records": (
        "records that have a partner, numbers in bins",
        matched_records,
    ),
}


def fresh_tests(
    original: Coded,
    synthetic: Coded,
    holdout: Coded | None = None,
    *,
    seed: int | Sequence[int] = 0,
    attacks: Sequence[str] = tuple(ATTACKS),
) -> tuple[FreshTest, ...]:
    """Attack halves of the original with synthetic and with fresh records.

    A search that looks at these tests gives a `seed` of several numbers: the splits of
    the verdict are those of a single one, and no search must have seen them.
    """
    tests = _against(original, synthetic, None, seed, attacks)
    if holdout is not None:
        tests += _against(original, synthetic, holdout, seed, attacks)
    return tests


def _against(
    original: Coded,
    synthetic: Coded,
    holdout: Coded | None,
    seed: int | Sequence[int],
    attacks: Sequence[str],
) -> tuple[FreshTest, ...]:
    rng = np.random.default_rng([*np.atleast_1d(seed).tolist(), 5])
    half = original.rows // 2 if holdout is None else original.rows
    others = original.rows if holdout is None else holdout.rows
    size = min(half, synthetic.rows, others, _MAX_RECORDS)
    if size < 1:
        return ()
    found: dict[str, list[tuple[Found, Found]]] = {name: [] for name in attacks}
    for _ in range(_SPLITS):
        order = rng.permutation(original.rows)
        attacked = original.take(np.sort(order[:size]))
        if holdout is None:
            fresh = original.take(np.sort(order[size : 2 * size]))
        else:
            fresh = holdout.take(np.sort(rng.permutation(holdout.rows)[:size]))
        made = synthetic.take(np.sort(rng.permutation(synthetic.rows)[:size]))
        for name in attacks:
            check_time()
            attack = ATTACKS[name][1]
            found[name].append((attack(attacked, made), attack(attacked, fresh)))
    against = "the other half of the original" if holdout is None else "the hold-out"
    halves = [
        _compared(name, ATTACKS[name][0], against, pairs)
        for name, pairs in found.items()
    ]
    wholes = [
        _whole(half, ATTACKS[half.name][1](original, synthetic), synthetic.rows / size)
        for half in halves
        if holdout is None and half.name != "matched_records"
    ]
    return (*halves, *wholes)


def _whole(half: FreshTest, found: Found, times: float) -> FreshTest:
    """Attack everybody with all synthetic records.

    This shows more of a memory than halves do, but no fresh sample is as large. One of
    `times` the size finds a person at most so many times as often.
    """
    value, of = found
    grown = max(1.0, times) * of / half.of if half.of else 0.0
    usual = grown * half.usual
    # What is usual is itself known from the hits of a few, in groups where keys match.
    unsure = 0.5 * half.usual + (0.5 if half.name in _RECORDS else 2.0)
    error = sqrt(usual + grown**2 * unsure)
    return FreshTest(
        name=half.name,
        title=f"{half.title}, of all",
        against=f"{half.against} (times {grown:.3g}, as a larger one at most)",
        value=value,
        usual=usual,
        bound=usual + _MAX_ERRORS * error,
        of=of,
    )


def _compared(
    name: str, title: str, against: str, pairs: Sequence[tuple[Found, Found]]
) -> FreshTest:
    made = np.array([mine[0] for mine, _ in pairs])
    fresh = np.array([theirs[0] for _, theirs in pairs])
    usual, value = float(fresh.mean()), float(made.mean())
    # Hits are counts. Splits share their people, so that a difference of means over
    # them has half the variance of a count (by trials with samples of a census). Hits
    # on a key come in groups: more variance, and few of them say little, so that those
    # of both attacks together are the best guess at how many to expect. Where splits
    # differ by more than that, they say by how much.
    variance = 0.5 * usual
    if name not in _RECORDS:
        variance = 0.75 * (2.0 * value + usual) / 3.0
    spread = float(fresh.std(ddof=1)) if len(fresh) > 1 else 0.0
    error = max(sqrt(variance + 0.5), spread)
    slack = _SLACK if name == "matched_records" else 1.0
    return FreshTest(
        name=name,
        title=title,
        against=against,
        value=value,
        usual=usual,
        bound=slack * usual + _MAX_ERRORS * error,
        of=float(np.mean([mine[1] for mine, _ in pairs])),
    )
