"""Read a well-formed JJ file with array operations only.

Gives up (returns None) on anything unusual; `evosdc.io._jj_careful` then reads the
file word by word and either makes sense of it or says what is wrong and where.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.io._jj_content import Content

_EQUATION_MARKS = b"0123456789 .-+eE():\r\n\t"
_BLANKS_FOR_MARKS = bytes.maketrans(b"():", b"   ")
_ODD_BLANKS = (b"  ", b"\t", b" \n", b" \r", b"\n ")


def read_fast(raw: bytes) -> Content | None:
    """Content of a plain JJ file, None where a careful look is needed."""
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
    return Content(*cells, *equations)


def _cells(block: bytes, n: int) -> tuple[NDArray[np.float64], NDArray[np.str_]] | None:
    from pyarrow import ArrowInvalid, BufferReader, float64, int64, string
    from pyarrow import csv as arrow_csv

    if any(odd in block for odd in _ODD_BLANKS):
        block = re.sub(rb"[ \t]+", b" ", block)
        block = re.sub(rb"(?m)^ | (?=\r?$)", b"", block)
    names = ["index", "value", "weight", "status", "lb", "ub", "lpl", "upl", "spl"]
    kinds = {name: float64() for name in names} | {"index": int64()}
    try:
        frame = arrow_csv.read_csv(
            BufferReader(block),
            read_options=arrow_csv.ReadOptions(column_names=names),
            parse_options=arrow_csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=arrow_csv.ConvertOptions(
                column_types=kinds | {"status": string()}, null_values=[]
            ),
        )
    except ArrowInvalid:
        return None
    if frame.num_rows != n:
        return None
    if not np.array_equal(frame["index"].to_numpy(), np.arange(n)):
        return None
    letters = np.char.lower(frame["status"].to_numpy().astype("U2"))
    if not np.isin(letters, ("s", "u", "m", "z")).all():
        return None
    numeric = [name for name in names if name not in ("index", "status")]
    numbers = np.column_stack([frame[name].to_numpy() for name in numeric])
    if np.isnan(numbers).any():
        return None
    return numbers, letters.astype("U1")


def _equations(block: bytes, lines: NDArray[np.int64], n: int) -> Any:
    """Right-hand sides, row pointers, cells and coefficients; None where unsure."""
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
    words = _word_starts(plain)
    with warnings.catch_warnings():
        # An unreadable word ends the reading early, which the count below notices.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            numbers = np.fromstring(plain.decode("ascii"), dtype=np.float64, sep=" ")
        except ValueError:
            return None
    terms = len(opening)
    if len(numbers) != 2 * m + 2 * terms or len(words) != len(numbers):
        return None
    indptr = np.searchsorted(opening, lines).astype(np.int64)
    start = 2 * np.arange(m) + 2 * indptr[:-1]
    row = np.repeat(np.arange(m), np.diff(indptr))
    coefficient = 2 * (row + 1) + 2 * np.arange(terms) + 1
    # Each mark must stand exactly where the grammar puts it among the words.
    grammar = (
        np.array_equal(np.searchsorted(words, lines[:-1]), start)
        and np.array_equal(np.searchsorted(words, colon), start + 2)
        and np.array_equal(np.searchsorted(words, opening), coefficient)
        and np.array_equal(np.searchsorted(words, closing), coefficient + 1)
        and np.array_equal(numbers[start + 1], np.diff(indptr))
    )
    cells = numbers[coefficient - 1]
    if not grammar or not ((cells >= 0) & (cells < n) & (cells % 1 == 0)).all():
        return None
    indices = cells.astype(np.int32)
    return numbers[start], indptr, indices, numbers[coefficient]


def _word_starts(plain: bytes) -> NDArray[np.int64]:
    """Positions of the first mark of each word."""
    filled = np.frombuffer(plain, dtype=np.uint8) > ord(" ")
    begins = filled.copy()
    begins[1:] &= ~filled[:-1]
    return np.flatnonzero(begins)
