"""Summaries by group and tests of difference between methods.

Friedman's test asks whether any method differs, the signed rank test of Wilcoxon which
pairs do; the p values of all pairs are corrected after Holm (1979). Smith et al. (2011)
analyse their tables by the same two tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.store import Row


@dataclass(frozen=True)
class Summary:
    """Five numbers; `best` is the lowest, `sd` divides by n - 1 (0 for one value)."""

    count: int
    mean: float
    median: float
    best: float
    worst: float
    sd: float


def summarise(values: Iterable[float]) -> Summary | None:
    """Summarise values; None where there are none."""
    x = np.array(list(values), dtype=np.float64)
    if not len(x):
        return None
    return Summary(
        count=len(x),
        mean=float(x.mean()),
        median=float(np.median(x)),
        best=float(x.min()),
        worst=float(x.max()),
        sd=float(x.std(ddof=1)) if len(x) > 1 else 0.0,
    )


def group(rows: Iterable[Row], *by: str) -> dict[tuple[Any, ...], list[Row]]:
    """Put rows with the same values of some columns together, in order of coming."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return groups


def column(rows: Iterable[Row], name: str) -> list[float]:
    """Return the values of a column, without rows that have none."""
    return [float(row[name]) for row in rows if row.get(name) is not None]


@dataclass(frozen=True)
class Blocks:
    """Values of treatments (columns) on blocks (rows); NaN where one is missing."""

    treatments: tuple[str, ...]
    blocks: tuple[tuple[Any, ...], ...]
    values: NDArray[np.float64]

    def complete(self) -> Blocks:
        """Keep the treatments that have a value on every block."""
        full = [j for j, line in enumerate(self.values.T) if not np.isnan(line).any()]
        names = tuple(self.treatments[j] for j in full)
        return Blocks(names, self.blocks, self.values[:, full])


def block_up(
    rows: Sequence[Row],
    *,
    blocks: Sequence[str],
    treatment: str = "method",
    value: str = "cost",
) -> Blocks:
    """Average repeated runs: one value for each treatment on each block."""
    cells: Mapping[tuple[Any, ...], list[Row]] = group(rows, *blocks, treatment)
    lines = list(group(rows, *blocks))
    names = [name for (name,) in group(rows, treatment)]
    values = np.full((len(lines), len(names)), np.nan)
    for i, line in enumerate(lines):
        for j, name in enumerate(names):
            found = cells.get((*line, name), [])
            known = column(found, value)
            if known and len(known) == len(found):
                values[i, j] = np.mean(known)
    return Blocks(tuple(names), tuple(lines), values)


@dataclass(frozen=True)
class Friedman:
    """Friedman's test; `ranks` are mean ranks over the blocks, 1 the lowest value."""

    statistic: float
    p: float
    blocks: int
    ranks: Mapping[str, float]


def friedman(data: Blocks) -> Friedman | None:
    """Test whether the treatments differ; None for fewer than 3 or than 2 blocks."""
    from scipy.stats import friedmanchisquare, rankdata

    blocks, treatments = data.values.shape
    if treatments < 3 or blocks < 2:
        return None
    ranks = rankdata(data.values, axis=1).mean(axis=0)
    if np.ptp(data.values, axis=1).max() == 0:
        statistic, p = 0.0, 1.0
    else:
        found = friedmanchisquare(*data.values.T)
        statistic, p = float(found.statistic), float(found.pvalue)
    named = dict(zip(data.treatments, ranks.tolist(), strict=True))
    return Friedman(statistic, p, blocks, named)


@dataclass(frozen=True)
class Pair:
    """Wilcoxon's test of two treatments on the blocks that both have.

    `difference` is the median of ``(first - second) / mean of the two``; `holm` is the
    p value corrected for all pairs tested together.
    """

    first: str
    second: str
    blocks: int
    difference: float
    p: float
    holm: float


def wilcoxon_pairs(data: Blocks) -> list[Pair]:
    """Test every pair of treatments on differences relative to the size of a block."""
    found: list[tuple[str, str, int, float, float]] = []
    for i, j in combinations(range(len(data.treatments)), 2):
        a, b = data.values[:, i], data.values[:, j]
        both = ~np.isnan(a) & ~np.isnan(b)
        if not both.any():
            continue
        gaps = _relative(a[both], b[both])
        names = data.treatments[i], data.treatments[j]
        found.append((*names, len(gaps), float(np.median(gaps)), signed_rank(gaps)))
    corrected = holm([p for *_, p in found])
    return [Pair(*line, h) for line, h in zip(found, corrected, strict=True)]


def signed_rank(differences: NDArray[np.float64]) -> float:
    """Two-sided p value of Wilcoxon's signed rank test; 1 where nothing differs."""
    from scipy.stats import wilcoxon

    moved = differences[differences != 0]
    if not len(moved):
        return 1.0
    tied = len(np.unique(np.abs(moved))) < len(moved)
    # The exact distribution holds without ties; with them take the normal one.
    if tied or len(moved) > 50:
        return float(wilcoxon(moved, method="approx").pvalue)
    return float(wilcoxon(moved, method="exact").pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for testing them all together (Holm 1979)."""
    order = np.argsort(p_values, kind="stable")
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for done, i in enumerate(order.tolist()):
        largest = max(largest, min(1.0, (len(p_values) - done) * p_values[i]))
        corrected[i] = largest
    return corrected


def with_ratio(rows: Sequence[Row], reference: str) -> list[Row]:
    """Add Herrington's improvement ratio: cost saved a CPU second.

    ``(C_reference - C) / seconds``, the reference being another method's mean cost on
    the same table; none where the reference failed there.
    """
    base = {
        where: summarise(column(group_rows, "cost"))
        for where, group_rows in group(
            [row for row in rows if row["method"] == reference], "family", "table"
        ).items()
    }

    def ratio(row: Row) -> float | None:
        start = base.get((row["family"], row["table"]))
        if start is None or row["cost"] is None or not row["cpu_seconds"]:
            return None
        return float((start.mean - row["cost"]) / row["cpu_seconds"])

    return [{**row, "ratio": ratio(row)} for row in rows]


def _relative(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    size = (np.abs(a) + np.abs(b)) / 2
    return np.divide(a - b, size, out=np.zeros_like(a), where=size > 0)
