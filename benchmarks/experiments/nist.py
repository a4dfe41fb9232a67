"""NIST's board of synthesisers, with ours on it: excerpts of an American survey.

The board (Collaborative Research Cycle) holds some three hundred synthetic versions of
three excerpts, by about thirty libraries. Two figures are looked at here: the
k-marginal score, 1000 where all tables of an area and two features are alike, and which
share of the records is that of a lone person of the original. Both are written after
their published definitions. The data are read from a directory and are not part of the
project: ``TARGET.csv.gz`` and ``crc_scores.csv``.
"""

from __future__ import annotations

import csv
import gzip
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.experiments.nist_page import write_nist
from benchmarks.experiments.nist_rules import impossible_records
from benchmarks.experiments.pieces import Pieces
from benchmarks.experiments.provenance import provenance_now
from evosdc.errors import InputError
from evosdc.synth import Synthesiser

AREA = "PUMA"
# Detailed codes, which the score leaves to their categories.
_DETAILED = "INDP"
_NUMBERS = ("AGEP", "PINCP", "POVPIP", "DENSITY", "PWGTP", "WGTP")
_TOP = {"POVPIP": 501.0}
_BINS = 20
# Samples that are drawn from the original: one is off by a point or two.
_DRAWS = 20
_FAMILY = "SEX MSP RAC1P OWN_RENT PINCP_DECILE HISP PUMA AGEP NOC NPF POVPIP"
_INDUSTRY = "SEX MSP RAC1P OWN_RENT PINCP_DECILE EDU HISP PUMA INDP_CAT"
_PEOPLE = "AGEP RAC1P MSP SEX HOUSING_TYPE OWN_RENT DVET DEYE PINCP_DECILE EDU"
_MOST = (
    "PUMA AGEP SEX MSP HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT INDP INDP_CAT EDU "
    "PINCP PINCP_DECILE POVPIP DVET DREM DPHY DEYE DEAR"
)
SETS: dict[str, list[str] | None] = {
    "industry-focused": _INDUSTRY.split(),
    "demographic-focused": _PEOPLE.split(),
    "family-focused": _FAMILY.split(),
    "custom-features-21": _MOST.split(),
    "all-features": None,
}

Columns = Mapping[str, NDArray[np.str_]]


@dataclass(frozen=True)
class Entry:
    """A line of the board: a synthesiser on a set of features.

    `matched` is the share of all records, in per cent, that are lone people's and stand
    whole in the copy; `impossible` how many of its records cannot be, where we know.
    """

    features: str
    library: str
    algorithm: str
    epsilon: str
    seed: str
    score: float
    matched: float
    seconds: float = 0.0
    impossible: int | None = None


def conduct(
    output: Path,
    *,
    data: Path | None,
    seeds: int,
    time_limit: float,
    families: Sequence[str],
    target: str,
    command: str,
    on_row: Callable[[Entry], object],
    force: bool = False,
) -> list[Path]:
    """Synthesise every set of features and write the board with our lines on it.

    Lines that the directory has already are not made again, but with `force`.
    """
    if data is None:
        raise InputError(
            "no data are given",
            expected=f"a directory with {target}.csv.gz and crc_scores.csv",
            hint="--data DIR; the files are those of NIST's research cycle",
        )
    unknown = [f for f in families if f not in SETS]
    if unknown:
        raise InputError(f"unknown features {unknown[0]!r}", expected=", ".join(SETS))
    original = read_excerpt(data / f"{target}.csv.gz")
    board = read_board(data / "crc_scores.csv", target)
    pieces = Pieces(
        output / "nist.csv", Entry, lambda e: (e.features, e.seed), again=force
    )
    for name in families or SETS:
        names = [n for n in SETS[name] or original if n in original]
        columns = {n: original[n] for n in names}
        for seed in range(seeds + 1):
            if (name, str(seed or "")) in pieces:
                continue
            entry = (
                ours(name, columns, seed, time_limit)
                if seed
                else bootstrap(name, columns)
            )
            pieces.add([entry])
            on_row(entry)
    shown = {e.features for e in pieces.rows}
    entries = [*(e for e in board if e.features in shown), *pieces.rows]
    made = sum(e.library == "evosdc" for e in entries)
    return write_nist(output, target, entries, provenance_now(command, made))


def read_excerpt(path: Path) -> dict[str, NDArray[np.str_]]:
    """Read an excerpt as text, column by column."""
    try:
        with gzip.open(path, "rt", newline="") as file:
            head, *rows = csv.reader(file)
    except OSError:
        raise InputError(f"cannot read {path}", expected="an excerpt of NIST") from None
    return {name: np.array(values) for name, *values in zip(head, *rows, strict=True)}


def read_board(path: Path, target: str) -> list[Entry]:
    """Read the published lines of one excerpt."""
    try:
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
    except OSError:
        raise InputError(f"cannot read {path}", expected="the board of NIST") from None
    return [
        Entry(
            line["feature_set"],
            line["library"],
            line["algorithm"],
            line["epsilon"],
            "",
            float(line["k_marginal"]),
            float(line["unique_matched_pct_of_all"]),
        )
        for line in lines
        if line["target"] == target
    ]


def ours(name: str, columns: Columns, seed: int, time_limit: float) -> Entry:
    """Make a copy with default settings and score it."""
    began = time.perf_counter()
    table = pa.table({n: typed(values) for n, values in columns.items()})
    model = Synthesiser(seed=seed, time_limit=time_limit).fit(table)
    seconds = time.perf_counter() - began
    made = {n: as_texts(model.sample()[n]) for n in columns}
    return Entry(
        name,
        "evosdc",
        "default",
        "",
        str(seed),
        k_marginal(columns, made),
        matches(columns, made),
        seconds,
        impossible_records(made),
    )


def bootstrap(name: str, columns: Columns) -> Entry:
    """Score the original drawn with replacement, the mean of several draws."""
    many = len(next(iter(columns.values())))
    rng = np.random.default_rng(1)
    drawn = [
        {n: values[rows] for n, values in columns.items()}
        for rows in rng.integers(0, many, (_DRAWS, many))
    ]
    return Entry(
        name,
        "bootstrap",
        f"drawn with replacement, mean of {_DRAWS}",
        "",
        "",
        float(np.mean([k_marginal(columns, made) for made in drawn])),
        float(np.mean([matches(columns, made) for made in drawn])),
        impossible=sum(impossible_records(made) for made in drawn),
    )


def typed(values: NDArray[np.str_]) -> pa.Array:
    """Return a column as a reader of CSV would: whole numbers where all are."""
    try:
        return pa.array(values.astype(np.int64))
    except ValueError:
        pass
    try:
        return pa.array(values.astype(float))
    except ValueError:
        return pa.array(values.tolist())


def as_texts(column: pa.ChunkedArray) -> NDArray[np.str_]:
    """Return a column as texts."""
    return np.array([str(value) for value in column.to_pylist()])


def k_marginal(original: Columns, made: Columns) -> float:
    """Return the score: 1000 less 500 times the mean L1 distance of the tables."""
    names = sorted(set(original) - {AREA, _DETAILED})
    area = [AREA] if AREA in original else []
    coded = {n: _codes(n, original[n], made[n]) for n in (*area, *names)}
    gaps = []
    for first, second in combinations(names, 2):
        one, two = (
            _cells([coded[n] for n in (*area, first, second)], k) for k in (0, 1)
        )
        size = int(max(one.max(), two.max())) + 1
        gaps.append(
            np.abs(
                np.bincount(one, minlength=size) / len(one)
                - np.bincount(two, minlength=size) / len(two)
            ).sum()
        )
    return float(500.0 * (2.0 - np.mean(gaps)))


def _cells(
    coded: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], k: int
) -> NDArray[np.int64]:
    out = np.zeros(len(coded[0][k]), np.int64)
    for pair in coded:
        out = out * (int(max(pair[0].max(), pair[1].max())) + 1) + pair[k]
    return out


def _codes(
    name: str, one: NDArray[np.str_], two: NDArray[np.str_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the values of a feature in both files, numbers in bins."""
    if name not in _NUMBERS:
        both = np.concatenate([_plain(one), _plain(two)])
        codes = np.unique(both, return_inverse=True)[1].astype(np.int64)
        return codes[: len(one)], codes[len(one) :]
    first, second = _amounts(one), _amounts(two)
    known = first[~np.isnan(first) & (first < _TOP.get(name, np.inf))]
    shares = np.linspace(0, 1, _BINS + 1)[1:-1]
    edges = np.unique(np.quantile(known, shares)) if len(known) else np.zeros(0)

    def binned(values: NDArray[np.float64]) -> NDArray[np.int64]:
        codes = np.searchsorted(edges, np.nan_to_num(values))
        codes = np.where(values >= _TOP.get(name, np.inf), _BINS + 1, codes)
        return np.where(np.isnan(values), _BINS + 2, codes).astype(np.int64)

    return binned(first), binned(second)


def _amounts(values: NDArray[np.str_]) -> NDArray[np.float64]:
    texts, place = np.unique(values, return_inverse=True)
    return np.array([_number(t) for t in texts])[place]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _plain(values: NDArray[np.str_]) -> NDArray[np.str_]:
    """Write numbers alike, however a file writes them."""
    texts, place = np.unique(values, return_inverse=True)
    numbers = [_number(t) for t in texts]
    alike = [t if n != n else f"{n:g}" for t, n in zip(texts, numbers, strict=True)]
    return np.array(alike)[place]


def matches(original: Columns, made: Columns) -> float:
    """Return how many records in a hundred are lone people's that are in the copy."""
    lines = [
        ["\x1f".join(row) for row in zip(*map(_plain, f.values()), strict=True)]
        for f in (original, made)
    ]
    seen, count = np.unique(np.array(lines[0]), return_counts=True)
    alone = seen[count == 1]
    return float(100.0 * np.isin(alone, np.array(lines[1])).sum() / len(lines[0]))
