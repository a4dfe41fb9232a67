"""A variable of numbers with codes among them, in a column of text.

Numbers are binned like any others, and each code is a level behind them: it comes back
as it is, and with whatever it comes together with in the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from evosdc.arrays import Real
from evosdc.metrics.coded_numbers import CodedNumbers, as_coded, written
from evosdc.options import copies
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.variable import Variable, make_variable


@dataclass(frozen=True, eq=False)
class CodedVariable(Variable):
    """Bins of numbers, then codes, then missing values.

    Attributes
    ----------
    plain
        The variable of the numbers alone.
    labels, code_level
        The codes, and their levels: of rare ones that of the largest level.
    written_decimals
        How many decimals the file writes; -1 where that differs.
    """

    plain: Variable | None = None
    labels: tuple[str, ...] = ()
    code_level: tuple[int, ...] = ()
    written_decimals: int = -1

    @property
    def ordered(self) -> bool:
        """Whether levels are numbers, in their order; the codes come after them."""
        return True

    def encode(self, column: pa.ChunkedArray) -> Codes:
        """Return the level of each value of a column."""
        assert self.plain is not None
        coded = as_coded(column, self.labels)
        known = ~np.isnan(coded.numbers)
        out = np.full(len(coded.numbers), -1, np.int64)
        numbers = pa.chunked_array([pa.array(coded.numbers[known], self.plain.type)])
        out[known] = self.plain.encode(numbers)
        # A code that the original does not have counts as the largest level.
        levels = np.array([*self.code_level, *[self.absent] * len(coded.labels)])
        is_code = coded.codes >= 0
        out[is_code] = levels[coded.codes[is_code]]
        out[coded.absent] = self.missing if self.missing >= 0 else self.absent
        return out.astype(np.int16)

    def decode(
        self, codes: Codes, rng: np.random.Generator, rank: Real | None = None
    ) -> pa.Array:
        """Write a number or a code for each level."""
        assert self.plain is not None
        inner = np.minimum(codes, self.plain.size - 1)
        drawn = self.plain.decode(inner, rng, rank)
        numbers = np.asarray(drawn.cast(pa.float64()), float)
        texts: list[Any] = list(written(numbers, self.written_decimals))
        for level, label in zip(self.code_level, self.labels, strict=True):
            if level >= self.plain.size:
                for i in np.flatnonzero(codes == level):
                    texts[i] = label
        if self.missing >= 0:
            for i in np.flatnonzero(codes == self.missing):
                texts[i] = None
        return pa.array(texts, pa.string()).cast(self.type)

    def read(self, column: pa.ChunkedArray) -> Real:
        """Return the numbers of a column; NaN for codes and where there is none."""
        return as_coded(column, self.labels).numbers

    def samples(self, level: int) -> list[Any]:
        """Return values that stand for a level in a rule: numbers, or a code."""
        assert self.plain is not None
        if level < self.plain.size:
            return self.plain.samples(level)
        if level == self.missing:
            return [None]
        return [self.labels[self.code_level.index(level)]]


def make_coded(
    name: str,
    column: pa.ChunkedArray,
    coded: CodedNumbers,
    coding: copies.Coding,
    bins: int | Sequence[float],
    cuts: Sequence[float],
) -> CodedVariable:
    """Group the numbers and codes of a column into levels."""
    fewest = max(1, coding.least)
    known = coded.numbers[~np.isnan(coded.numbers)]
    whole = bool((known == np.rint(known)).all())
    kind = pa.int64() if whole else pa.float64()
    numbers = pa.chunked_array([pa.array(known).cast(kind)])
    plain = make_variable(name, numbers, replace(coding, pool=0), bins, cuts)
    usual = int(np.bincount(plain.level, weights=plain.weight).argmax())
    counts = [int((coded.codes == k).sum()) for k in range(len(coded.labels))]
    levels: list[int] = []
    size = plain.size
    for count in counts:
        levels.append(size if count >= fewest else usual)
        size += count >= fewest
    gone = int(coded.absent.sum())
    missing = size if gone >= fewest else -1
    shown = [k for k, level in enumerate(levels) if level >= plain.size]
    rare = sum(count > 0 for count in counts) - len(shown)
    return CodedVariable(
        name,
        column.type,
        pa.array(
            [*written(np.asarray(plain.values, float), coded.decimals)]
            + [coded.labels[k] for k in shown]
        ),
        np.concatenate([plain.level, [levels[k] for k in shown]]).astype(np.int64),
        np.concatenate([plain.weight, [counts[k] for k in shown]]),
        size + (missing >= 0),
        missing=missing,
        edges=plain.edges,
        absent=usual,
        parts=plain.parts,
        decimals=plain.decimals,
        protection=replace(
            plain.protection, replaced=rare, missing=0 < gone < coding.least
        ),
        plain=plain,
        labels=coded.labels,
        code_level=tuple(levels),
        written_decimals=coded.decimals,
    )
