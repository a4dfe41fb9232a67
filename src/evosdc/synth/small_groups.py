"""What a copy shows of small groups, in numbers and names of columns, never levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from evosdc.metrics.binning import as_numbers
from evosdc.metrics.coded_numbers import as_coded, is_text
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes, Ints, cell_numbers, seen_cells, strides
from evosdc.synth.data.identifiers import Identifier

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

    Attributes
    ----------
    least
        The smallest group that may be shown; 0 where nothing was guarded.
    pooled, replaced
        Levels of few people by column: pooled, or shown as one that enough people have.
    missing
        Columns in which so few values are missing that none is in the copy.
    tails
        People by column whose number lies beyond what `least` people reach.
    identifiers
        Columns that say who somebody is.
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
    def made_anew(self) -> list[str]:
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
        if not self.guarded:
            parts = ["not guarded"]
        else:
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
        """Say it in plain words, the loudest first."""
        out = [_identified(i) for i in self.identifiers]
        if not self.guarded:
            return [*out, "small groups: not guarded; rare people may be copied whole"]
        few = f"fewer than {self.least} people have"
        out += [
            f"{_many(n, 'level')} of {name!r} that {few} {_was(n)} pooled"
            for name, n in self.pooled.items()
        ]
        out += [
            f"{_many(n, 'level')} of {name!r} that {few} {_was(n)} replaced by one "
            "that enough people have"
            for name, n in self.replaced.items()
        ]
        out += [
            f"the tails of {name!r} are coded: {n} {_respondents(n)} beyond what "
            f"{self.least} people reach"
            for name, n in self.tails.items()
        ]
        if self.missing:
            out.append(
                "too few values are missing to show that any is: "
                + ", ".join(self.missing)
            )
        if self.kept:
            out.append(
                "columns that are not synthesised are real people's: "
                + ", ".join(self.kept)
            )
        pairs = [p for p in self.pairs if p.few]
        if pairs:
            total, shown = sum(p.few for p in pairs), sum(p.shown for p in pairs)
            chance = sum(p.chance for p in pairs)
            out.append(
                f"of {total:,} pairs of values that {few} the copy shows {shown:,}; "
                f"chance alone would show {chance:,.0f}"
            )
        return out


def describe(
    original: pa.Table,
    synthetic: pa.Table,
    domain: Domain,
    least: int,
    identifiers: Sequence[Identifier],
    pairs: Sequence[PairCount],
    kept: Sequence[str],
) -> SmallGroups:
    """Compare a copy with its original as far as small groups go."""
    numbers = tuple(
        Numbers(v.name, _moments(original[v.name]), _moments(synthetic.column(v.name)))
        for v in domain.variables
        if v.edges is not None
    )
    if least < 2:
        return SmallGroups(0, identifiers=tuple(identifiers), numbers=numbers)
    cared = [(v.name, v.care) for v in domain.variables]
    return SmallGroups(
        least,
        {name: c.pooled for name, c in cared if c.pooled},
        {name: c.replaced for name, c in cared if c.replaced},
        tuple(name for name, c in cared if c.missing),
        {name: c.tails for name, c in cared if c.tails},
        tuple(identifiers),
        tuple(kept),
        tuple(
            _rare_levels(v.name, original[v.name], synthetic.column(v.name), least)
            for v in domain.variables
            if v.edges is None
        ),
        tuple(pairs),
        numbers,
    )


def count_pairs(
    original: Codes, synthetic: Codes, domain: Domain, least: int
) -> list[PairCount]:
    """Count, pair by pair of columns, cells that few people have and a copy shows."""
    if least < 2:
        return []
    sizes, names = domain.sizes, domain.names
    out = []
    for a, b in combinations(range(len(sizes)), 2):
        few, shown, chance = _small_cells(original, synthetic, sizes, (a, b), least)
        if few:
            out.append(PairCount(names[a], names[b], few, shown, chance))
    return out


def _small_cells(
    original: Codes, synthetic: Codes, sizes: Ints, pair: tuple[int, int], least: int
) -> tuple[int, int, float]:
    stride, cells = strides(sizes, pair)
    seen, count, _ = seen_cells(cell_numbers(original, stride), cells)
    rare = seen[count < least]
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
    name: str, original: pa.ChunkedArray, synthetic: pa.ChunkedArray, least: int
) -> ColumnCount:
    counts = _plain(original).value_counts()
    rare = np.asarray(counts.field("counts")) < least
    mine = counts.field("values").filter(pa.array(rare)).to_pylist()
    there = set(_plain(synthetic).unique().to_pylist())
    return ColumnCount(name, len(mine), sum(value in there for value in mine))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    column = column.drop_null()
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


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


def _many(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


def _was(n: int) -> str:
    return "was" if n == 1 else "were"


def _respondents(n: int) -> str:
    return "person lies" if n == 1 else "people lie"
