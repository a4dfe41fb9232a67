"""Which mark separates decimals and which thousands, decided from whole columns.

A single number is often ambiguous: ``1.234`` may be 1234. So the shapes of all numbers
of a column are compared (``-17.5`` has the shape ``-00.0``) with every style in which
all of them are numbers. Where two styles read a number differently, the rest of the
column, the other columns of the file and the separator between columns decide; where
they do not, the file is refused, as a wrong guess would change the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evosdc.errors import InputError

MINUS = "\u2212"
# Blanks between thousands (plain, non-breaking, narrow, thin) or around numbers.
BLANKS = " \u00a0\u202f\u2009"
AROUND = BLANKS + "\t\n\r\x0b\x0c\u2007"
_QUOTES = "'\u2019"
_ALL_MARKS = frozenset(f".,{MINUS}{BLANKS}{_QUOTES}")
_SIGN = f"[-+{MINUS}]?"
_WORDS = re.compile("[-+]?(nan|inf|infinity)")
# Whole numbers of fewer digits are exact in double precision.
EXACT_DIGITS = 15


@dataclass(frozen=True)
class Style:
    """A way to write numbers: the decimal mark, and the marks between thousands."""

    decimal: str
    groups: str = ""

    @cached_property
    def _grouped(self) -> re.Pattern[str]:
        return re.compile(f"{_SIGN}0{{1,3}}([{re.escape(self.groups)}]000)+")

    @cached_property
    def _number(self) -> re.Pattern[str]:
        mark = re.escape(self.decimal)
        single = f"{_SIGN}(0+({mark}0*)?|{mark}0+)(e[-+]?0+)?"
        if not self.groups:
            return re.compile(single)
        return re.compile(f"{single}|{self._grouped.pattern}({mark}0*)?")

    def fits(self, shape: str) -> bool:
        """Whether a shape is one of a number; no grouped number begins with 0."""
        if _WORDS.fullmatch(shape, 1):
            return True
        if shape[0] == "0" and self.groups and self._grouped.match(shape, 1):
            return False
        return self._number.fullmatch(shape, 1) is not None

    def groups_thousands(self, shapes: Collection[str]) -> bool:
        """Whether some number has marks between thousands."""
        return bool(self.groups) and any(self._grouped.match(s, 1) for s in shapes)

    def mixes_groups(self, shapes: Collection[str]) -> bool:
        """Whether some numbers have marks between thousands and others lack them."""
        return self.groups_thousands(shapes) and any(
            re.match(f"N{_SIGN}0000", shape) for shape in shapes
        )

    @property
    def replaced(self) -> tuple[str, str]:
        """The marks to replace and their replacements, as in SQL's ``translate``."""
        decimal = self.decimal if self.decimal != "." else ""
        return MINUS + decimal + self.groups, "-" + "." * len(decimal)

    def plain(self, text: str) -> str:
        """Return a number, or the shape of one, with a decimal point at most."""
        old, new = self.replaced
        return text.translate(str.maketrans(old[: len(new)], new, old[len(new) :]))

    def plain_column(self, texts: Any) -> Any:
        """Return an Arrow column of numbers with decimal points at most."""
        old, new = self.replaced
        for mark in old[len(new) :]:
            texts = pc.replace_substring(texts, mark, "")
        for mark, sign in zip(old, new, strict=False):
            texts = pc.replace_substring(texts, mark, sign)
        return texts


PLAIN = Style(".")
STYLES = (
    PLAIN,
    *(Style(".", groups) for groups in (",", BLANKS, _QUOTES)),
    Style(","),
    *(Style(",", groups) for groups in (".", BLANKS, _QUOTES)),
)


class Unreadable(Exception):  # noqa: N818
    """Numbers that cannot be read: those of some shapes."""

    def __init__(
        self,
        column: str,
        what: str,
        *,
        expected: str,
        hint: str,
        shapes: Collection[str] = (),
    ) -> None:
        super().__init__(what)
        self.column, self.what, self.expected, self.hint = column, what, expected, hint
        self.shapes = frozenset(shapes)

    def error(self, where: str) -> InputError:
        """Return the error of a user, `where` being a file and line, or a row."""
        # The text itself may be half a confidential value: it is not shown.
        return InputError(
            f"{where}: column {self.column!r} {self.what}",
            expected=self.expected,
            hint=self.hint,
        )


def choose_styles(
    columns: Mapping[str, Collection[str]],
    separator: str | None,
    decimals: Collection[str] = (),
) -> dict[str, Style]:
    """Return the style of each column of numbers.

    Parameters
    ----------
    columns
        The distinct shapes of each column, as `shapes_of` makes them.
    separator
        The separator of the columns, None where there is no file. Programs that
        separate columns by commas write decimal points, those that separate them by
        semicolons write decimal commas; that decides only where all numbers of a
        column have the mark.
    decimals
        Columns that are known to have decimals.

    Raises
    ------
    Unreadable
        For the first column that is not of numbers, or may be read in two ways.
    """
    fitting = {name: _fitting(name, sorted(shapes)) for name, shapes in columns.items()}
    marks = [{style.decimal for style in styles} for styles in fitting.values()]
    sure = {mark for one in marks if len(one) == 1 for mark in one}
    chosen: dict[str, Style] = {}
    for name, styles in fitting.items():
        shapes = sorted(columns[name])
        if len(sure) == 1 and _differ(styles, shapes):
            styles = [s for s in styles if s.decimal in sure] or styles
        if name in decimals and _differ(styles, shapes):
            styles = [s for s in styles if not s.groups_thousands(shapes)] or styles
        if _differ(styles, shapes):
            usual = {",": ".", None: ".", ";": ","}.get(separator)
            if usual and all(usual in shape for shape in shapes):
                styles = [s for s in styles if s.decimal == usual] or styles
        if _differ(styles, shapes):
            raise Unreadable(
                name,
                "has numbers whose point or comma may separate thousands or decimals, "
                "and nothing in the file decides",
                expected="numbers that can be read in one way only",
                hint="remove the marks between thousands; if they are decimal marks, "
                "write another number of decimals in some row (12.0000)",
                shapes=[shape for shape in shapes if _differ(styles, [shape])],
            )
        chosen[name] = styles[0]
    return chosen


def has_marks(shapes: Collection[str]) -> bool:
    """Whether any number has a mark, be it between thousands or before decimals."""
    return any(set(shape) & _ALL_MARKS for shape in shapes)


def may_be_numbers(shapes: Collection[str]) -> bool:
    """Whether there is a style in which all shapes are numbers."""
    return any(all(map(style.fits, shapes)) for style in STYLES)


def _differ(styles: Sequence[Style], shapes: Sequence[str]) -> bool:
    """Whether styles read the same shapes as different numbers."""
    return len({tuple(map(style.plain, shapes)) for style in styles}) > 1


def _fitting(name: str, shapes: Sequence[str]) -> list[Style]:
    """Return the styles in which all shapes are numbers."""
    refuse_non_numbers(name, shapes, STYLES)
    fitting = [style for style in STYLES if all(map(style.fits, shapes))]
    if not fitting:
        first = next(style for style in STYLES if style.fits(shapes[0]))
        raise Unreadable(
            name,
            "has both decimal points and decimal commas, or several marks between "
            "thousands",
            expected="one way to write the numbers of a column",
            hint="write them all in the same way",
            shapes=[shape for shape in shapes if not first.fits(shape)],
        )
    # A program that separates thousands does so in every number.
    return [style for style in fitting if not style.mixes_groups(shapes)] or fitting


def refuse_non_numbers(
    name: str, shapes: Sequence[str], styles: Sequence[Style]
) -> None:
    """Raise for shapes that are numbers in no style."""
    strange = [s for s in shapes if not any(style.fits(s) for style in styles)]
    if strange:
        raise Unreadable(
            name,
            "is not a number",
            expected="a number such as 12.5, or 12,5 where that is unambiguous",
            hint="remove units, percent signs and other marks",
            shapes=strange,
        )


def shapes_of(texts: Any) -> Any:
    """Return the shapes of a column of text; blanks become null.

    The first character is 0 for a number that begins with 0, which no grouped number
    does, and N for others; then each digit is replaced by 0.
    """
    trimmed = trim(texts)
    digits = pc.replace_substring_regex(trimmed, "[0-9]", "0")
    zero = pc.match_substring_regex(trimmed, f"^{_SIGN}0")
    first = pc.if_else(zero, "0", "N")
    joined = pc.binary_join_element_wise(first, pc.utf8_lower(digits), "")
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), joined)


def trim(texts: Any) -> Any:
    """Return a column of text without blanks of any kind around each entry."""
    around = f"^[{AROUND}]+|[{AROUND}]+$"
    return pc.replace_substring_regex(texts, around, "")


def plain_numbers(
    columns: Mapping[str, Any],
    separator: str | None,
    where: Callable[[int], str],
    *,
    decimals: Collection[str] = (),
    from_evosdc: bool = False,
) -> dict[str, Any]:
    """Return columns of text with decimal points and no other mark; blanks are null.

    Parameters
    ----------
    columns
        Arrow arrays of text by name.
    separator, decimals
        As in `choose_styles`.
    where
        Says where a row is, for messages: the file and the line.
    from_evosdc
        Whether evosdc may have written them: where all numbers fit decimal points
        and no other mark, they are read so.
    """
    shapes = {name: shapes_of(texts) for name, texts in columns.items()}
    distinct = {
        name: column.unique().drop_null().to_pylist() for name, column in shapes.items()
    }
    doubtful = {
        name: found
        for name, found in distinct.items()
        if not (from_evosdc and all(map(PLAIN.fits, found)))
    }
    try:
        styles = choose_styles(doubtful, separator, decimals)
    except Unreadable as error:
        bad = pc.is_in(shapes[error.column], pa.array(sorted(error.shapes)))
        row = int(pc.index(bad, pa.scalar(True)).as_py())
        raise error.error(where(row)) from None
    return {
        name: pc.if_else(
            shapes[name].is_valid(),
            styles.get(name, PLAIN).plain_column(trim(texts)),
            None,
        )
        for name, texts in columns.items()
    }


def read_numbers(
    columns: Mapping[str, Any],
    separator: str | None,
    where: Callable[[int], str],
    *,
    decimals: Collection[str] = (),
    from_evosdc: bool = False,
) -> dict[str, Any]:
    """Return columns of text as columns of numbers: see `plain_numbers`."""
    texts = plain_numbers(
        columns, separator, where, decimals=decimals, from_evosdc=from_evosdc
    )
    numbers = {name: pc.cast(column, pa.float64()) for name, column in texts.items()}
    for name, column in texts.items():
        long = pc.match_substring_regex(column, f"^[-+]?[0-9]{{{EXACT_DIGITS + 1},}}$")
        rows = pc.fill_null(long, False).to_numpy(zero_copy_only=False)
        for row in map(int, np.flatnonzero(rows)):
            if int(numbers[name][row].as_py()) != int(column[row].as_py()):
                raise inexact(name).error(where(row))
    return numbers


def inexact(column: str) -> Unreadable:
    """Describe a whole number of more digits than double precision keeps."""
    return Unreadable(
        column,
        "has a whole number of more digits than can be kept",
        expected=f"whole numbers up to {2**53:,}",
        hint="give the values in thousands or millions",
    )
