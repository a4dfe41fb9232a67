"""Read a JJ file word by word: any layout of blanks, and an error with its line."""

from __future__ import annotations

import re
from typing import NoReturn

import numpy as np

from evosdc.errors import InputError
from evosdc.io._jj_content import NUMBERS, Content

_CELL_LINE = "index value weight status lb ub lpl upl spl"
_EQUATION_LINE = "rhs n : cell (coef) cell (coef) ..."
_NUMBER = re.compile(
    r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,4})?|[-+]?inf(inity)?", re.I | re.A
)
_PARTS = re.compile(r"[():]|[^\s():]+")
_FIELDS = ("index", NUMBERS[0], NUMBERS[1], "status", *NUMBERS[2:])


def read_carefully(raw: bytes, name: str) -> Content:
    """Content of a JJ file, or an `InputError` that names the line."""
    return _Reader(raw, name).read()


class _Reader:
    def __init__(self, raw: bytes, name: str) -> None:
        self.name = name
        text = raw.decode().split("\n")
        self.lines = [(k, line) for k, line in enumerate(text, 1) if line.strip()]
        self.next = 0
        self.line = 1

    def read(self) -> Content:
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
        numbers = np.empty((n, len(NUMBERS)))
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
        return Content(
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
        raise InputError(
            f"{self.name}, line {self.line}: {what}",
            expected=expected,
            hint=hint or f"correct line {self.line}, or write the file again",
        )

    def _count(self, what: str, least: int) -> int:
        word = self._take(what).strip()
        # A line a cell and an equation: a larger count must not ask for memory.
        left = len(self.lines) - self.next
        if re.fullmatch(r"\d{1,12}", word) is None or int(word) < least:
            self._fail(f"{word[:30]!r} for {what}", f"a whole number from {least}")
        if int(word) > left:
            self._fail(
                f"{what} is {word}, but only {left} lines follow",
                "a line for each",
                "the file is cut off or the count is wrong",
            )
        return int(word)

    def _cell(self, cell: int, n: int, numbers: np.ndarray) -> str:
        words = self._take(f"cell {cell} of {n}").split()
        line = f"cell {cell} of {n}: {_CELL_LINE}"
        if words[0] != str(cell):
            self._fail(
                f"cell index {words[0][:30]!r}",
                f"{cell}: cells are numbered from 0 in order, {n} in all",
                "number the cells anew, or correct the number of cells",
            )
        if len(words) != len(_FIELDS):
            self._fail(f"{len(words)} fields", f"{len(_FIELDS)} fields, {line}")
        column = 0
        for field, word in zip(_FIELDS, words, strict=True):
            if field in ("index", "status"):
                continue
            # The word may be half a confidential value: it is not shown.
            if _NUMBER.fullmatch(word) is None:
                self._fail(
                    f"the {field} of cell {cell} is not a number",
                    "a number with a decimal point, or inf for a bound",
                )
            numbers[cell, column] = float(word)
            column += 1
        if words[3].lower() not in ("s", "u", "m", "z"):
            self._fail(
                f"status {words[3][:30]!r} of cell {cell}",
                "s (safe), u (primary), m (secondary) or z (fixed)",
            )
        return words[3].lower()

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
