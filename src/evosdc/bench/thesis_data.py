"""Data of the shapes that Chen (2020) used: from the user's files, or made up.

The surveys of the thesis are licensed and cannot be handed on. What a genetic search
meets is the number of records, of variables and of their levels, and those are
repeated here. Columns of a user's file are coarsened to the wanted number of levels;
without files a seeded population of latent classes takes their place.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.io import read_records

_MOST_LEVELS = 60
_CENSUS_COLUMNS = 5
_CENSUS_ROWS = 10_000
_CLASSES = 6


@dataclass(frozen=True)
class Shape:
    """Records and levels of each variable; the last variable is the target."""

    rows: int
    levels: tuple[int, ...]
    source: str


SHAPES = {
    "data1": Shape(1000, (2,) * 10, "sections 5.2 and 5.3: 10 binary"),
    "data2": Shape(1000, (4, 4, 4, 3, *(2,) * 6), "5.2 and 5.3: mixed to 4 levels"),
    "data3": Shape(
        1000, (11, 9, 6, 6, 4, 4, *(2,) * 4), "5.2, 5.3 and 5.6: mixed to 11 levels"
    ),
    "binary4": Shape(1000, (2, 2, 2, 2), "section 5.5, data 1"),
    "mixed4": Shape(1000, (11, 9, 6, 2), "section 5.5, data 2"),
    "pairs4": Shape(1000, (10, 9, 2, 2), "section 5.5, data 3"),
    "four": Shape(1000, (6, 3, 3, 2), "section 5.4"),
    "tiny": Shape(100, (6, 3, 3, 2), "section 4.2, table 4.4"),
    "census": Shape(82_851, (29, 10, 5, 2, 3), "sections 5.7 and 7.2.4"),
}


@dataclass(frozen=True)
class Material:
    """Where the data come from: the user's files, or a made-up population.

    Attributes
    ----------
    wide
        The file with the most columns, for the sets of a thousand records.
    census
        A file of five variables and many records, its last one the target.
    """

    wide: Any = None
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
        if name == "census" and self.census is not None:
            return self.census
        if self.wide is None:
            return _as_table(invented(shape, rng))
        return sampled(self.wide, shape, rng)


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
    wide = max(tables, key=lambda p: (tables[p].num_columns, tables[p].num_rows))
    narrow = [
        path
        for path, table in tables.items()
        if table.num_columns == _CENSUS_COLUMNS and table.num_rows >= _CENSUS_ROWS
    ]
    census = max(narrow, key=lambda p: tables[p].num_rows) if narrow else None
    named = dict.fromkeys(p.name for p in (wide, census) if p is not None)
    return Material(
        tables[wide],
        None if census is None else tables[census],
        "columns of " + " and ".join(named),
    )


def sampled(table: Any, shape: Shape, rng: np.random.Generator) -> Any:
    """Draw records and coarsen columns until they have the shape.

    Neighbouring levels are put together. A variable takes the free column that is most
    even after that, those with many levels first.
    """
    if table.num_rows < shape.rows and shape.rows < _CENSUS_ROWS:
        raise InputError(
            f"the widest file has {table.num_rows} records",
            expected=f"{shape.rows} or more",
        )
    rows = np.sort(rng.permutation(table.num_rows)[: shape.rows])
    codes = {name: _coded(table[name])[rows] for name in table.column_names}
    out = np.empty((len(rows), len(shape.levels)), np.int64)
    for j in np.argsort([-k for k in shape.levels], kind="stable"):
        if not codes:
            raise InputError(
                f"the widest file has too few columns for {len(shape.levels)} "
                "variables",
                expected="a column of categories for each",
            )
        made = {name: coarsened(c, shape.levels[j]) for name, c in codes.items()}
        name = max(made, key=lambda n: _entropy(made[n]))
        del codes[name]
        out[:, j] = made[name]
    return _as_table(out)


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


def _entropy(codes: NDArray[np.int64]) -> float:
    share = np.bincount(codes) / len(codes)
    return float(-(share[share > 0] * np.log(share[share > 0])).sum())


def invented(shape: Shape, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw records of a population of latent classes, uneven levels in each."""
    weights = rng.dirichlet(np.full(_CLASSES, 2.0))
    latent = rng.choice(_CLASSES, shape.rows, p=weights)
    out = np.empty((shape.rows, len(shape.levels)), np.int64)
    for j, levels in enumerate(shape.levels):
        shares = rng.dirichlet(np.full(levels, 0.8), _CLASSES).cumsum(axis=1)
        draw = rng.random(shape.rows)
        chosen = (draw[:, None] > shares[latent]).sum(axis=1)
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


def _as_table(codes: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    columns = range(codes.shape[1])
    return pa.table({f"v{j + 1}": codes[:, j].astype(str) for j in columns})
