"""JJ files, as tau-Argus reads and writes them.

::

    0
    number of cells
    index value weight status lower upper lpl upl spl          (a line per cell)
    number of equations
    rhs n : cell (coefficient) cell (coefficient) ...          (a line per equation)

Cells are numbered from 0 in order; statuses are ``s`` safe, ``u`` primary, ``m``
secondary and ``z`` fixed; bounds are absolute and levels are distances. Totals have
coefficient -1 and parts 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.errors import InputError
from evosdc.io._jj_careful import read_carefully
from evosdc.io._jj_content import NUMBERS, Content
from evosdc.io._jj_fast import read_fast
from evosdc.io.encoding import read_text
from evosdc.io.paths import PathLike, open_output
from evosdc.io.words import line_bytes, number_words
from evosdc.table import Origin, Table

# Files from solvers write "no bound" as a number that no value reaches.
INFINITE = 1e20
_CHUNK = 100_000


def read_jj(path: PathLike) -> Table:
    """Read a table from a JJ file (packed or not).

    Bounds of 1e20 and beyond, and the words ``inf`` and ``-inf``, mean no bound.

    Raises
    ------
    InputError
        With the line, what was found there and what was expected.
    """
    raw = read_text(path).encode()
    content = read_fast(raw) or read_carefully(raw, str(path))
    _refuse_infinite(content, path)
    value, weight, lower, upper, lpl, upl, spl = content.numbers.T.copy()
    matrix = _matrix(content, path)
    return Table.of(
        value,
        matrix,
        rhs=content.rhs,
        weight=weight,
        status=content.status,
        lower=np.where(lower <= -INFINITE, -np.inf, lower),
        upper=np.where(upper >= INFINITE, np.inf, upper),
        lpl=lpl,
        upl=upl,
        spl=spl,
        origin=Origin(bounds="columns"),
        notes=_loose(matrix),
    )


def _loose(matrix: Any) -> list[str]:
    """Say how many cells no equation ties to others."""
    free = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) == 0)
    if not len(free):
        return []
    verb = "cell stands" if len(free) == 1 else "cells stand"
    return [
        f"{len(free):,} {verb} in no equation, the first cell {free[0]}: if it is a "
        "total, the file does not say of what, and its parts are not protected by it"
    ]


def write_jj(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a table as a JJ file (packed where its name says so).

    JJ has no infinity: see `finite_bounds` for what is written instead.
    """
    lower, upper = finite_bounds(table)
    with open_output(path, force) as stream:
        stream.write(f"0\n{len(table)}\n".encode())
        for start in range(0, len(table), _CHUNK):
            part = slice(start, start + _CHUNK)
            stream.write(_cell_lines(table, lower, upper, part))
        m = table.matrix.shape[0]
        stream.write(f"{m}\n".encode())
        matrix = _totals_first(table.matrix)
        for start in range(0, m, _CHUNK):
            stream.write(_equation_lines(matrix, table.rhs, start, start + _CHUNK))


def finite_bounds(table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds with infinities replaced by ten times all there is in the table.

    A finite bound can only shrink the set of tables an attacker thinks possible, so a
    pattern that is safe with it is safe without: the choice is on the safe side. Ten
    times the sum of all values and of the largest level leaves room for every level,
    so that no pattern is refused because of it either.
    """
    levels = (table.lpl, table.upl, table.spl)
    largest = max(float(level.max()) for level in levels)
    total = float(np.abs(table.value).sum()) + largest
    far = float(np.ceil(10.0 * total + 1.0))
    lower = np.where(np.isneginf(table.lower), -far, table.lower)
    upper = np.where(np.isposinf(table.upper), far, table.upper)
    return lower, upper


def _refuse_infinite(content: Content, path: PathLike) -> None:
    """Only bounds may be infinite."""
    odd = ~np.isfinite(content.numbers)
    odd[:, 2:4] = False
    if odd.any():
        cell, column = (int(x) for x in np.argwhere(odd)[0])
        raise InputError(
            f"{path}: the {NUMBERS[column]} of cell {cell} is infinite",
            expected="finite numbers everywhere but in the bounds",
            hint=f"correct the line of cell {cell}",
        )


def _matrix(content: Content, path: PathLike) -> Any:
    """Equations as CSR, each cell once in each."""
    shape = (len(content.rhs), len(content.numbers))
    matrix = sparse.csr_array(
        (content.data, content.indices, content.indptr), shape=shape
    )
    matrix.sort_indices()
    row = np.repeat(np.arange(shape[0]), np.diff(matrix.indptr))
    again = (row[1:] == row[:-1]) & (matrix.indices[1:] == matrix.indices[:-1])
    if again.any():
        first = int(np.argmax(again))
        raise InputError(
            f"{path}: cell {int(matrix.indices[first])} stands twice in equation "
            f"{int(row[first])}",
            expected="each cell at most once in an equation",
            hint="add its coefficients up",
        )
    return matrix


def _cell_lines(
    table: Table,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    part: slice,
) -> bytes:
    import pyarrow as pa
    import pyarrow.compute as pc

    index = np.arange(len(table), dtype=np.int64)[part]
    numbers = (lower, upper, table.lpl, table.upl, table.spl)
    columns = [
        pc.cast(pa.array(index), pa.string()),
        number_words(table.value[part]),
        number_words(table.weight[part]),
        pa.array(table.status[part].astype(object)),
        *(number_words(column[part]) for column in numbers),
    ]
    return line_bytes(columns, " ")


def _totals_first(matrix: Any) -> Any:
    """Order the terms of each equation as tau-Argus does: the total, then the parts."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, matrix.data > 0, rows))
    return sparse.csr_array(
        (matrix.data[order], matrix.indices[order], matrix.indptr), shape=matrix.shape
    )


def _equation_lines(
    matrix: Any, rhs: NDArray[np.float64], start: int, stop: int
) -> bytes:
    import pyarrow as pa
    import pyarrow.compute as pc

    pointers = matrix.indptr[start : stop + 1]
    terms = slice(int(pointers[0]), int(pointers[-1]))
    cells = pc.cast(pa.array(matrix.indices[terms]), pa.string())
    words = pc.binary_join_element_wise(
        cells, pa.scalar("("), number_words(matrix.data[terms]), pa.scalar(")"), ""
    )
    words = pc.replace_substring(words, "(", " (")
    offsets = pa.array((pointers - pointers[0]).astype(np.int32))
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, words), " ")
    counts = pc.cast(pa.array(np.diff(pointers)), pa.string())
    heads = number_words(rhs[start:stop])
    return line_bytes([heads, counts, pa.scalar(":"), joined], " ")
