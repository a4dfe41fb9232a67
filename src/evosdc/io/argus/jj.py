"""JJ files, as tau-Argus reads and writes them.

::

    0
    number of cells
    index value weight status lower upper lpl upl spl          (one line per cell)
    number of equations
    rhs n : cell (coefficient) cell (coefficient) ...          (one line per equation)

Cells are numbered from 0 in order; statuses are ``s`` safe, ``u`` primary, ``m``
secondary and ``z`` fixed; bounds are absolute and levels are distances. Totals have
coefficient -1 and parts 1.

A well-formed file is read with array operations only. Any other is read again field by
field, which either succeeds or says what is wrong in which line.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv
from scipy import sparse

from evosdc.errors import InputError
from evosdc.io.delimited import format_numbers, line_bytes
from evosdc.io.encoding import line_error, read_text
from evosdc.io.paths import PathLike, open_output
from evosdc.table import Origin, Table
from evosdc.table.status import STATUSES

# Solvers write "no bound" as a number that no value reaches.
INFINITE = 1e20
_CHUNK = 100_000
# The numbers of a cell line in order, without its index and its status.
_NUMBERS = (
    "value",
    "weight",
    "lower bound",
    "upper bound",
    "lower level",
    "upper level",
    "sliding level",
)
_FIELDS = ("index", *_NUMBERS[:2], "status", *_NUMBERS[2:])
_CELL_LINE = "index value weight status lb ub lpl upl spl"
_EQUATION_LINE = "rhs n : cell (coef) cell (coef) ..."
_NUMBER = re.compile(
    r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,4})?|[-+]?inf(inity)?", re.I | re.A
)
_PARTS = re.compile(r"[():]|[^\s():]+")
_EQUATION_MARKS = b"0123456789 .-+eE():\r\n\t"
_BLANKS_FOR_MARKS = bytes.maketrans(b"():", b"   ")
_ODD_BLANKS = (b"  ", b"\t", b" \n", b" \r", b"\n ")


@dataclass(frozen=True, eq=False)
class _Content:
    """Cells (one row each, with columns `_NUMBERS`), statuses and equations."""

    numbers: NDArray[np.float64]
    status: NDArray[np.str_]
    rhs: NDArray[np.float64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]


def read_jj(path: PathLike) -> Table:
    """Read a table from a JJ file (packed or not).

    Bounds of 1e20 and beyond, ``inf`` and ``-inf`` mean no bound.

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
        notes=_free_cells(matrix),
    )


def _free_cells(matrix: Any) -> list[str]:
    """Return a note on the cells that are in no equation."""
    free = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) == 0)
    if not len(free):
        return []
    verb = "cell is" if len(free) == 1 else "cells are"
    return [
        f"{len(free):,} {verb} in no equation, the first cell {free[0]}: if it is a "
        "total, the file does not say of what, and its parts are not protected by it"
    ]


def write_jj(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a table as a JJ file, with `finite_bounds` as it has no infinity."""
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
    """Return the bounds with infinities replaced by ten times the sum of all values.

    A finite bound can only shrink the set of tables that an attacker thinks possible,
    so a pattern that is safe with it is safe without. Ten times the sum of all values
    and of the largest level allows every level, so that no pattern is refused because
    of it either.
    """
    levels = (table.lpl, table.upl, table.spl)
    largest = max(float(level.max()) for level in levels)
    total = float(np.abs(table.value).sum()) + largest
    far = float(np.ceil(10.0 * total + 1.0))
    lower = np.where(np.isneginf(table.lower), -far, table.lower)
    upper = np.where(np.isposinf(table.upper), far, table.upper)
    return lower, upper


def _refuse_infinite(content: _Content, path: PathLike) -> None:
    """Refuse infinite numbers other than bounds."""
    odd = ~np.isfinite(content.numbers)
    odd[:, 2:4] = False
    if odd.any():
        cell, column = (int(x) for x in np.argwhere(odd)[0])
        raise InputError(
            f"{path}: the {_NUMBERS[column]} of cell {cell} is infinite",
            expected="finite numbers everywhere but in the bounds",
            hint=f"correct the line of cell {cell}",
        )


def _matrix(content: _Content, path: PathLike) -> Any:
    """Return the equations as a sparse matrix; refuse cells repeated in one."""
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

    index = np.arange(len(table), dtype=np.int64)[part]
    numbers = (lower, upper, table.lpl, table.upl, table.spl)
    columns = [
        pc.cast(pa.array(index), pa.string()),
        format_numbers(table.value[part]),
        format_numbers(table.weight[part]),
        pa.array(table.status[part].astype(object)),
        *(format_numbers(column[part]) for column in numbers),
    ]
    return line_bytes(columns, " ")


def _totals_first(matrix: Any) -> Any:
    """Order the terms of each equation as tau-Argus does: total first, then parts."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.indices, matrix.data > 0, rows))
    return sparse.csr_array(
        (matrix.data[order], matrix.indices[order], matrix.indptr), shape=matrix.shape
    )


def _equation_lines(
    matrix: Any, rhs: NDArray[np.float64], start: int, stop: int
) -> bytes:

    pointers = matrix.indptr[start : stop + 1]
    terms = slice(int(pointers[0]), int(pointers[-1]))
    cells = pc.cast(pa.array(matrix.indices[terms]), pa.string())
    texts = pc.binary_join_element_wise(
        cells, pa.scalar("("), format_numbers(matrix.data[terms]), pa.scalar(")"), ""
    )
    texts = pc.replace_substring(texts, "(", " (")
    offsets = pa.array((pointers - pointers[0]).astype(np.int32))
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, texts), " ")
    counts = pc.cast(pa.array(np.diff(pointers)), pa.string())
    heads = format_numbers(rhs[start:stop])
    return line_bytes([heads, counts, pa.scalar(":"), joined], " ")


def read_fast(raw: bytes) -> _Content | None:
    """Return the content of a well-formed JJ file, None for any other."""
    head = re.match(rb"\s*0[ \t\r]*\n\s*(\d{1,12})[ \t\r]*\n", raw)
    if head is None:
        return None
    n = int(head[1])
    if not raw.endswith(b"\n"):
        raw += b"\n"
    ends = np.flatnonzero(np.frombuffer(raw, dtype=np.uint8) == ord("\n")) + 1
    first = int(np.searchsorted(ends, head.end()))
    if n < 1 or first + n + 1 >= len(ends):
        return None
    cells_end, equations_start = int(ends[first + n]), int(ends[first + n + 1])
    count = raw[cells_end:equations_start].strip()
    if re.fullmatch(rb"\d{1,12}", count) is None:
        return None
    m = int(count)
    if first + n + 1 + m >= len(ends):
        return None
    equations_end = int(ends[first + n + 1 + m])
    if raw[equations_end:].strip():
        return None
    cells = _cells(raw[head.end() : cells_end], n)
    if cells is None:
        return None
    lines = ends[first + n + 1 : first + n + 2 + m] - equations_start
    equations = _equations(raw[equations_start:equations_end], lines, n)
    if equations is None:
        return None
    return _Content(*cells, *equations)


def _cells(block: bytes, n: int) -> tuple[NDArray[np.float64], NDArray[np.str_]] | None:

    if any(odd in block for odd in _ODD_BLANKS):
        block = re.sub(rb"[ \t]+", b" ", block)
        block = re.sub(rb"(?m)^ | (?=\r?$)", b"", block)
    kinds = dict.fromkeys(_FIELDS, pa.float64()) | {"index": pa.int64()}
    try:
        frame = arrow_csv.read_csv(
            pa.BufferReader(block),
            read_options=arrow_csv.ReadOptions(column_names=list(_FIELDS)),
            parse_options=arrow_csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=arrow_csv.ConvertOptions(
                column_types=kinds | {"status": pa.string()}, null_values=[]
            ),
        )
    except pa.ArrowInvalid:
        return None
    if frame.num_rows != n:
        return None
    if not np.array_equal(frame["index"].to_numpy(), np.arange(n)):
        return None
    letters = np.char.lower(frame["status"].to_numpy().astype("U2"))
    if not np.isin(letters, STATUSES).all():
        return None
    numbers = np.column_stack([frame[name].to_numpy() for name in _NUMBERS])
    if np.isnan(numbers).any():
        return None
    return numbers, letters.astype("U1")


def _equations(block: bytes, lines: NDArray[np.int64], n: int) -> Any:
    """Return right-hand sides, row pointers, cells and coefficients, or None."""
    m = len(lines) - 1
    if block.translate(None, _EQUATION_MARKS):
        return None
    marks = np.frombuffer(block, dtype=np.uint8)
    colon = np.flatnonzero(marks == ord(":"))
    opening = np.flatnonzero(marks == ord("("))
    closing = np.flatnonzero(marks == ord(")"))
    if len(colon) != m or len(opening) != len(closing):
        return None
    plain = block.translate(_BLANKS_FOR_MARKS)
    texts = _number_starts(plain)
    with warnings.catch_warnings():
        # An unreadable number ends the reading early, which the count below shows.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            numbers = np.fromstring(plain.decode("ascii"), dtype=np.float64, sep=" ")
        except ValueError:
            return None
    terms = len(opening)
    if len(numbers) != 2 * m + 2 * terms or len(texts) != len(numbers):
        return None
    indptr = np.searchsorted(opening, lines).astype(np.int64)
    start = 2 * np.arange(m) + 2 * indptr[:-1]
    row = np.repeat(np.arange(m), np.diff(indptr))
    coefficient = 2 * (row + 1) + 2 * np.arange(terms) + 1
    # Each mark must be exactly where the grammar puts it among the numbers.
    grammar = (
        np.array_equal(np.searchsorted(texts, lines[:-1]), start)
        and np.array_equal(np.searchsorted(texts, colon), start + 2)
        and np.array_equal(np.searchsorted(texts, opening), coefficient)
        and np.array_equal(np.searchsorted(texts, closing), coefficient + 1)
        and np.array_equal(numbers[start + 1], np.diff(indptr))
    )
    cells = numbers[coefficient - 1]
    if not grammar or not ((cells >= 0) & (cells < n) & (cells % 1 == 0)).all():
        return None
    indices = cells.astype(np.int32)
    return numbers[start], indptr, indices, numbers[coefficient]


def _number_starts(plain: bytes) -> NDArray[np.int64]:
    """Return where each number begins."""
    filled = np.frombuffer(plain, dtype=np.uint8) > ord(" ")
    begins = filled.copy()
    begins[1:] &= ~filled[:-1]
    return np.flatnonzero(begins)


def read_carefully(raw: bytes, name: str) -> _Content:
    """Return the content of a JJ file, or raise an error that names the line."""
    return _Reader(raw, name).read()


class _Reader:
    def __init__(self, raw: bytes, name: str) -> None:
        self.name = name
        text = raw.decode().split("\n")
        self.lines = [(k, line) for k, line in enumerate(text, 1) if line.strip()]
        self.next = 0
        self.line = 1

    def read(self) -> _Content:
        if not self.lines:
            raise InputError(
                f"{self.name} holds only blanks",
                expected="a JJ file, whose first line is 0",
                hint="check that the program that wrote it ended well",
            )
        first = self._take("the first line").strip()
        if first != "0":
            self._fail(
                f"the first line is {first[:30]!r}",
                "0, as in every JJ file",
                "check that this is a JJ file and not another format",
            )
        n = self._count("the number of cells", least=1)
        numbers = np.empty((n, len(_NUMBERS)))
        status = np.empty(n, dtype="U1")
        for cell in range(n):
            status[cell] = self._cell(cell, n, numbers)
        m = self._count("the number of equations", least=0)
        rhs = np.empty(m)
        indptr = np.zeros(m + 1, dtype=np.int64)
        indices: list[int] = []
        data: list[float] = []
        for row in range(m):
            rhs[row] = self._equation(row, m, n, indices, data)
            indptr[row + 1] = len(indices)
        if self.next < len(self.lines):
            self._take("")
            self._fail(
                "there is more after the last equation",
                "the end of the file",
                "correct the number of equations, or remove the rest",
            )
        return _Content(
            numbers, status, rhs, indptr, np.array(indices, np.int32), np.array(data)
        )

    def _take(self, what: str) -> str:
        if self.next == len(self.lines):
            self.line = self.lines[-1][0]
            self._fail(
                f"the file ends before {what}",
                what,
                "the file is cut off or a count in it is wrong: write it again",
            )
        self.line, text = self.lines[self.next]
        self.next += 1
        return text

    def _fail(self, what: str, expected: str, hint: str = "") -> NoReturn:
        hint = hint or f"correct line {self.line}, or write the file again"
        raise line_error(self.name, self.line, what, expected=expected, hint=hint)

    def _count(self, what: str, least: int) -> int:
        text = self._take(what).strip()
        # One line per cell and equation: a larger count must not allocate memory.
        left = len(self.lines) - self.next
        if re.fullmatch(r"\d{1,12}", text) is None or int(text) < least:
            self._fail(f"{text[:30]!r} for {what}", f"a whole number from {least}")
        if int(text) > left:
            self._fail(
                f"{what} is {text}, but only {left} lines follow",
                "a line for each",
                "the file is cut off or the count is wrong",
            )
        return int(text)

    def _cell(self, cell: int, n: int, numbers: np.ndarray) -> str:
        texts = self._take(f"cell {cell} of {n}").split()
        line = f"cell {cell} of {n}: {_CELL_LINE}"
        if texts[0] != str(cell):
            self._fail(
                f"cell index {texts[0][:30]!r}",
                f"{cell}: cells are numbered from 0 in order, {n} in all",
                "renumber the cells, or correct the number of cells",
            )
        if len(texts) != len(_FIELDS):
            self._fail(f"{len(texts)} fields", f"{len(_FIELDS)} fields, {line}")
        column = 0
        for field, text in zip(_FIELDS, texts, strict=True):
            if field in ("index", "status"):
                continue
            # The text may be half a confidential value: it is not shown.
            if _NUMBER.fullmatch(text) is None:
                self._fail(
                    f"the {field} of cell {cell} is not a number",
                    "a number with a decimal point, or inf for a bound",
                )
            numbers[cell, column] = float(text)
            column += 1
        if texts[3].lower() not in STATUSES:
            self._fail(
                f"status {texts[3][:30]!r} of cell {cell}",
                "s (safe), u (primary), m (secondary) or z (fixed)",
            )
        return texts[3].lower()

    def _equation(
        self, row: int, m: int, n: int, indices: list[int], data: list[float]
    ) -> float:
        parts = _PARTS.findall(self._take(f"equation {row} of {m}"))
        line = f"equation {row} of {m}: {_EQUATION_LINE}"
        if len(parts) < 3 or parts[2] != ":" or not parts[1].isdecimal():
            self._fail("the line does not begin like an equation", line)
        if _NUMBER.fullmatch(parts[0]) is None:
            self._fail(f"the right-hand side of equation {row} is not a number", line)
        terms = int(parts[1])
        if len(parts) - 3 != 4 * terms:
            self._fail(
                f"equation {row} says {terms} terms and has {(len(parts) - 3) / 4:g}",
                line,
                "the line is cut off or its number of terms is wrong",
            )
        for k in range(3, len(parts), 4):
            cell, opening, coefficient, closing = parts[k : k + 4]
            if opening != "(" or closing != ")":
                self._fail(f"a bracket is missing after cell {cell[:30]!r}", line)
            if not cell.isdecimal() or int(cell) >= n:
                self._fail(
                    f"cell {cell[:30]!r} in equation {row}", f"a cell from 0 to {n - 1}"
                )
            if _NUMBER.fullmatch(coefficient) is None:
                self._fail(
                    f"coefficient {coefficient[:30]!r} in equation {row}",
                    f"a number; {line}",
                )
            indices.append(int(cell))
            data.append(float(coefficient))
        return float(parts[0])
