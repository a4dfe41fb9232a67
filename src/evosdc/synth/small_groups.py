"""What a copy shows of small groups, in numbers and names of columns, never levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from evosdc.arrays import Long
from evosdc.metrics.binning import as_numbers
from evosdc.metrics.coded_numbers import as_coded, is_text
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes, cell_numbers, seen_cells, strides
from evosdc.synth.data.identifiers import Identifier
from evosdc.synth.data.variable import plain_array

_DONE = {
    "drop": "identifiers left out",
    "new": "identifiers made anew",
    "keep": "identifiers kept",
}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class PairCount:
    """Cells of a table of two columns that few people have.

    `shown` of the `few` are in the copy; `chance` says how many records drawn column
    by column would show.
    """

    first: str
    second: str
    few: int
    shown: int
    chance: float


@dataclass(frozen=True)
class ColumnCount:
    """Levels of a column that few people have, and how many of them the copy shows."""

    name: str
    few: int
    shown: int


@dataclass(frozen=True)
class Numbers:
    """Mean, standard deviation and quantiles of a column of numbers, in both files."""

    name: str
    original: dict[str, float]
    synthetic: dict[str, float]


@dataclass(frozen=True)
class SmallGroups:
    """What was done so that a copy shows no small group, and what it shows still.

    `least` is the smallest group that may be shown, 0 where nothing was guarded. Levels
    of few people are `pooled`, or `replaced` by one that enough people have; of the
    columns `missing` so few values are missing that none is in the copy; `tails` are
    people by column whose number lies beyond what `least` people reach.
    """

    least: int
    pooled: dict[str, int] = field(default_factory=dict)
    replaced: dict[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    tails: dict[str, int] = field(default_factory=dict)
    identifiers: tuple[Identifier, ...] = ()
    kept: tuple[str, ...] = ()
    columns: tuple[ColumnCount, ...] = ()
    pairs: tuple[PairCount, ...] = ()
    numbers: tuple[Numbers, ...] = ()

    @property
    def guarded(self) -> bool:
        """Whether small groups were guarded at all."""
        return self.least > 1

    @property
    def fresh(self) -> list[str]:
        """Columns with fresh values, none of them real."""
        return [i.name for i in self.identifiers if i.action == "new"]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; no level of the original is among them."""
        return {
            "least": self.least,
            "guarded": self.guarded,
            "identifiers": {i.name: i.action for i in self.identifiers},
            "pooled": dict(self.pooled),
            "replaced": dict(self.replaced),
            "missing": list(self.missing),
            "tails": dict(self.tails),
            "kept": list(self.kept),
            "columns": [vars(c) for c in self.columns],
            "pairs": {
                "few": sum(p.few for p in self.pairs),
                "shown": sum(p.shown for p in self.pairs),
                "chance": round(sum(p.chance for p in self.pairs), 1),
                "by_pair": [vars(p) for p in self.pairs],
            },
            "numbers": [vars(n) for n in self.numbers],
        }

    def claim(self) -> str:
        """Say in one sentence what a verdict may say of small groups."""
        parts = ["not guarded"]
        if self.guarded:
            parts = [
                f"levels that fewer than {self.least} people have are pooled, tails "
                "of numbers coded, pairs of values that fewer have not aimed at"
            ]
        for action, what in _DONE.items():
            names = [i.name for i in self.identifiers if i.action == action]
            if names:
                parts.append(f"{what}: {', '.join(names)}")
        if self.kept:
            parts.append(f"not synthesised: {', '.join(self.kept)}")
        return "; ".join(parts)

    def sentences(self) -> list[str]:
        """Say it in plain words, the most important first."""
        out = [_identified(i) for i in self.identifiers]
        if not self.guarded:
            return [*out, "small groups: not guarded; rare people may be copied whole"]
        few = f"fewer than {self.least} people have"
        for levels, what in (
            (self.pooled, "pooled"),
            (self.replaced, "replaced by one that enough people have"),
        ):
            for name, n in levels.items():
                many = f"{n} level of" if n == 1 else f"{n} levels of"
                was = "was" if n == 1 else "were"
                out.append(f"{many} {name!r} that {few} {was} {what}")
        for name, n in self.tails.items():
            lie = "person lies" if n == 1 else "people lie"
            out.append(
                f"the tails of {name!r} are coded: {n} {lie} beyond what {self.least} "
                "people reach"
            )
        if self.missing:
            names = ", ".join(self.missing)
            out.append(f"too few values are missing to show that any is: {names}")
        if self.kept:
            names = ", ".join(self.kept)
            out.append(f"columns that are not synthesised are real people's: {names}")
        if self.pairs:
            total, shown = (
                sum(p.few for p in self.pairs),
                sum(p.shown for p in self.pairs),
            )
            chance = sum(p.chance for p in self.pairs)
            out.append(
                f"of {total:,} pairs of values that {few} the copy shows {shown:,}; "
                f"chance alone would show {chance:,.0f}"
            )
        return out


def describe(
    original: pa.Table,
    synthetic: pa.Table,
    domain: Domain,
    min_group: int,
    identifiers: Sequence[Identifier],
    codes: tuple[Codes, Codes],
    kept: Sequence[str],
) -> SmallGroups:
    """Compare a copy with its original as far as small groups go.

    `codes` are those of the two, and the columns `kept` are real people's.
    """
    numbers = tuple(
        Numbers(v.name, _moments(original[v.name]), _moments(synthetic[v.name]))
        for v in domain.variables
        if v.edges is not None
    )
    if min_group < 2:
        return SmallGroups(0, identifiers=tuple(identifiers), numbers=numbers)
    done = [(v.name, v.protection) for v in domain.variables]
    return SmallGroups(
        min_group,
        {name: p.pooled for name, p in done if p.pooled},
        {name: p.replaced for name, p in done if p.replaced},
        tuple(name for name, p in done if p.missing),
        {name: p.tails for name, p in done if p.tails},
        tuple(identifiers),
        tuple(kept),
        tuple(
            _rare_levels(v.name, original[v.name], synthetic[v.name], min_group)
            for v in domain.variables
            if v.edges is None
        ),
        tuple(count_pairs(*codes, domain, min_group)),
        numbers,
    )


def count_pairs(
    original: Codes, synthetic: Codes, domain: Domain, min_group: int
) -> list[PairCount]:
    """Count, pair by pair of columns, cells that few people have and a copy shows."""
    if min_group < 2:
        return []
    sizes, names = domain.sizes, domain.names
    out = []
    for a, b in combinations(range(len(sizes)), 2):
        few, shown, chance = _small_cells(original, synthetic, sizes, (a, b), min_group)
        if few:
            out.append(PairCount(names[a], names[b], few, shown, chance))
    return out


def _small_cells(
    original: Codes,
    synthetic: Codes,
    sizes: Long,
    pair: tuple[int, int],
    min_group: int,
) -> tuple[int, int, float]:
    stride, cells = strides(sizes, pair)
    seen, count, _ = seen_cells(cell_numbers(original, stride), cells)
    rare = seen[count < min_group]
    there, _, _ = seen_cells(cell_numbers(synthetic, stride), cells)
    shown = np.isin(rare, there)
    # The first of the pair has stride 1.
    levels = rare % sizes[pair[0]], rare // sizes[pair[0]]
    share = np.ones(len(rare))
    for j, level in zip(pair, levels, strict=True):
        margin = np.bincount(original[:, j], minlength=int(sizes[j])) / len(original)
        share *= margin[level]
    chance = float(-np.expm1(len(synthetic) * np.log1p(-share)).sum())
    return len(rare), int(shown.sum()), round(chance, 2)


def _rare_levels(
    name: str, original: pa.ChunkedArray, synthetic: pa.ChunkedArray, min_group: int
) -> ColumnCount:
    counts = plain_array(original.drop_null()).value_counts()
    rare = np.asarray(counts.field("counts")) < min_group
    mine = counts.field("values").filter(pa.array(rare)).to_pylist()
    there = set(plain_array(synthetic.drop_null()).unique().to_pylist())
    return ColumnCount(name, len(mine), sum(value in there for value in mine))


def _moments(column: pa.ChunkedArray) -> dict[str, float]:
    if pa.types.is_temporal(column.type):
        return {}
    if is_text(column.type):
        numbers = as_coded(column, ()).numbers
        numbers = numbers[~np.isnan(numbers)]
    else:
        numbers = as_numbers(column.drop_null())
    if not len(numbers):
        return {}
    out = {"mean": float(numbers.mean()), "sd": float(numbers.std())}
    for q, value in zip(QUANTILES, np.quantile(numbers, QUANTILES), strict=True):
        out[f"q{round(100 * q)}"] = float(value)
    return {name: float(f"{value:.5g}") for name, value in out.items()}


def _identified(identifier: Identifier) -> str:
    what = {
        "drop": "is NOT in the copy (--identifier {0}=new makes fresh values, "
        "{0}=keep treats it as an ordinary column)",
        "new": "has fresh values in the copy, none of them real",
        "keep": "is treated as an ordinary column",
    }[identifier.action].format(identifier.name)
    return f"column {identifier.name!r} ({identifier.why}) {what}"
