"""Data of the shapes that Chen (2020) used: from the user's files, or made up.

The surveys of the thesis are licensed and cannot be handed on. What a genetic search
meets is the number of records, of variables and of their levels, and how far the data
are from independence; those are repeated here. Columns of a user's file are coarsened
to the wanted number of levels; without files a seeded population of latent classes
takes their place. Of several draws that one is kept whose copy by independent margins
is about as far away as the source says of its own. How far a search gets depends on
the survey, and the source drew each of its sets from another one (section 5.2), so the
sets of the crossovers are drawn three times: from one file, from a second one where
there is one, and made up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.io import read_records
from evosdc.synth.data.encoding import Codes
from evosdc.synth.objective.options import parse_objective
from evosdc.synth.objective.split_halves import distances
from evosdc.synth.search.initial import univariate

_MOST_LEVELS = 60
_COLUMNS = 10
_CENSUS_COLUMNS = 5
_CENSUS_ROWS = 10_000
_CLASSES = 6
_DRAWS = 60


Origin = Literal["first", "second", "made up"]


@dataclass(frozen=True)
class Shape:
    """Records and levels of each variable; the last variable is the target.

    `start` is the published distance of a copy by independent margins, by `objective`;
    `origin` says which of the user's files, or that it is made up whatever there is;
    `part_of` names a larger set whose first records these are.
    """

    rows: int
    levels: tuple[int, ...]
    source: str
    objective: str
    start: float
    origin: Origin = "first"
    part_of: str = ""


_TABLES = "jsd:2,3,4"
_FULL = "jsd:full"
SHAPES = {
    "data1": Shape(1000, (2,) * 10, "5.2 and 5.3, data 1", _TABLES, 0.08),
    "data2": Shape(
        1000, (4, 4, 4, 3, *(2,) * 6), "5.2 and 5.3, data 2", _TABLES, 0.2259
    ),
    "data3": Shape(
        1000, (11, 9, 6, 6, 4, 4, *(2,) * 4), "5.2, 5.3, 5.6, data 3", _TABLES, 0.261
    ),
    "binary4": Shape(1000, (2, 2, 2, 2), "5.5, data 1", _FULL, 0.2958),
    "mixed4": Shape(1000, (11, 9, 6, 2), "5.5, data 2", _FULL, 0.7633),
    "pairs4": Shape(1000, (10, 9, 2, 2), "5.5, data 3", _FULL, 0.6269),
    "four": Shape(1000, (6, 3, 3, 2), "5.4", _FULL, 0.3),
    "tiny": Shape(100, (6, 3, 3, 2), "4.2, table 4.4", "jsd:2", 0.15),
    "census": Shape(82_851, (29, 10, 5, 2, 3), "5.7 and 7.2.4", _FULL, 0.3),
}
_ORIGINS: tuple[tuple[str, Origin], ...] = (("made", "made up"), ("other", "second"))
SHAPES |= {
    f"{name}{k}": replace(SHAPES[f"data{k}"], origin=origin)
    for name, origin in _ORIGINS
    for k in (1, 2, 3)
}
SHAPES |= {
    f"{name}-{word}": replace(SHAPES[name], origin=origin)
    for name in ("tiny", "four", "mixed4")
    for word, origin in _ORIGINS
}
# Section 5.1: "the same four attributes as the toy dataset but with 1000 cases".
SHAPES |= {
    f"toy{end}": replace(
        SHAPES[f"four{end}"], rows=32, source="5.1", part_of=f"four{end}"
    )
    for end in ("", "-made", "-other")
}
# Populations that samples are drawn from, for the risk of equation 4.10.
SHAPES |= {
    "people": replace(SHAPES["census"], rows=50_000, origin="made up", source="4.7.2"),
    "people-other": Shape(5000, (11, 9, 6, 2), "4.7.2", _FULL, 0.5, "second"),
}


@dataclass(frozen=True)
class Material:
    """Where the data come from: the user's files, or a made-up population.

    Attributes
    ----------
    first
        The longest file with enough columns, for the sets of a thousand records.
    second
        The second longest, for the sets of another survey; else the first again.
    census
        A file of five variables and many records, its last one the target.
    """

    first: Any = None
    second: Any = None
    census: Any = None
    words: str = "made-up population of latent classes"
    _made: dict[str, Any] = field(default_factory=dict, compare=False)

    def table(self, name: str) -> Any:
        """Return a data set as an Arrow table of text."""
        if name not in SHAPES:
            raise InputError(
                f"there is no data set {name!r} in this experiment",
                expected=f"one of {', '.join(SHAPES)}",
            )
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Any:
        shape = SHAPES[name]
        rng = np.random.default_rng([2020, list(SHAPES).index(name)])
        if shape.part_of:
            return self.table(shape.part_of).slice(0, shape.rows)
        if name == "census" and self.census is not None:
            return self.census
        file = self.second if shape.origin == "second" else self.first
        if file is None or shape.origin == "made up":
            draws = [invented(shape, rng) for _ in range(_DRAWS)]
        else:
            draws = list(sampled(file, shape, rng))
        return _as_table(
            min(draws, key=lambda d: abs(distance_of_margins(d, shape) - shape.start))
        )


def find_material(folder: Path | None) -> Material:
    """Read the CSV files of a folder and choose what each is good for."""
    if folder is None:
        return Material()
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", expected="a folder of CSVs")
    files = sorted(folder.glob("*.csv"))
    if not files:
        raise InputError(f"{folder} has no CSV file", expected="microdata as .csv")
    tables = {path: _categories(read_records(path).frame) for path in files}
    wide = [path for path, table in tables.items() if table.num_columns >= _COLUMNS]
    if not wide:
        most = max(table.num_columns for table in tables.values())
        raise InputError(
            f"the files of {folder} have at most {most} columns of categories",
            expected=f"a file with {_COLUMNS} or more",
        )
    wide.sort(key=lambda path: tables[path].num_rows, reverse=True)
    first, second = wide[0], wide[min(1, len(wide) - 1)]
    narrow = [
        path
        for path, table in tables.items()
        if table.num_columns == _CENSUS_COLUMNS and table.num_rows >= _CENSUS_ROWS
    ]
    census = max(narrow, key=lambda p: tables[p].num_rows) if narrow else None
    words = f"columns of {first.name}; other1 to other3 of {second.name}"
    if census is None:
        return Material(tables[first], tables[second], None, words)
    table = tables[census]
    words += f"; as census {census.name} as it is, {table.num_rows:,} records"
    return Material(tables[first], tables[second], table, words)


def distance_of_margins(codes: Codes, shape: Shape) -> float:
    """Return how far a copy by independent margins is from the data."""
    rng = np.random.default_rng(0)
    sizes = codes.max(axis=0).astype(np.int64) + 1
    copy = univariate(codes, sizes, rng, len(codes))
    found = distances(codes, copy, sizes, parse_objective(shape.objective))
    return float(np.sqrt((found**2).mean()))


def sampled(table: Any, shape: Shape, rng: np.random.Generator) -> Iterator[Codes]:
    """Draw records and columns, coarsened until they have the shape, several times."""
    if table.num_rows < shape.rows and shape.rows < _CENSUS_ROWS:
        raise InputError(
            f"a file for the sets has {table.num_rows} records",
            expected=f"{shape.rows} or more",
        )
    columns = [_coded(table[name]) for name in table.column_names]
    for _ in range(_DRAWS):
        rows = rng.permutation(table.num_rows)[: shape.rows]
        drawn = [columns[j][rows] for j in rng.permutation(len(columns))]
        yield _shaped(drawn, shape)


def _shaped(columns: list[NDArray[np.int64]], shape: Shape) -> Codes:
    """Give each variable the first column with enough levels, most levels first."""
    free = {j: len(np.unique(column)) for j, column in enumerate(columns)}
    out = np.empty((len(columns[0]), len(shape.levels)), np.int16)
    for j in np.argsort([-k for k in shape.levels], kind="stable"):
        wanted = shape.levels[j]
        # Where no column has as many levels, the richest one is taken as it is.
        at = next((i for i, k in free.items() if k >= wanted), None)
        if at is None:
            at = max(free, key=free.__getitem__)
        del free[at]
        out[:, j] = coarsened(columns[at], wanted)
    return out


def coarsened(codes: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    """Put the two smallest neighbouring levels together until there are so many."""
    _, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    parts = [[size, 1] for size in counts.tolist()]
    while len(parts) > levels:
        sizes = [a[0] + b[0] for a, b in itertools.pairwise(parts)]
        at = sizes.index(min(sizes))
        size, count = parts.pop(at + 1)
        parts[at][0] += size
        parts[at][1] += count
    group = np.repeat(np.arange(len(parts)), [count for _, count in parts])
    return group[inverse.ravel()]


def invented(shape: Shape, rng: np.random.Generator) -> Codes:
    """Draw records of a population of latent classes that differ more or less."""
    latent = rng.choice(_CLASSES, shape.rows, p=rng.dirichlet(np.full(_CLASSES, 2.0)))
    apart = rng.random()
    out = np.empty((shape.rows, len(shape.levels)), np.int16)
    for j, levels in enumerate(shape.levels):
        common = rng.dirichlet(np.full(levels, 2.0))
        own = rng.dirichlet(np.full(levels, 0.5), _CLASSES)
        shares = ((1 - apart) * common + apart * own).cumsum(axis=1)
        chosen = (rng.random(shape.rows)[:, None] > shares[latent]).sum(axis=1)
        out[:, j] = np.minimum(chosen, levels - 1)
    return out


def _categories(table: Any) -> Any:
    """Keep columns with several levels but not too many."""
    kept = [
        name
        for name in table.column_names
        if 1 < len(np.unique(_coded(table[name]))) <= _MOST_LEVELS
    ]
    return table.select(kept)


def _coded(column: Any) -> NDArray[np.int64]:
    words = np.asarray(column.to_pylist(), dtype=object).astype(str)
    return np.unique(words, return_inverse=True)[1].ravel().astype(np.int64)


def _as_table(codes: Codes) -> Any:
    import pyarrow as pa

    columns = range(codes.shape[1])
    return pa.table({f"v{j + 1}": codes[:, j].astype(str) for j in columns})
