"""Microdata of tau-Argus: fixed-format and free-format ``.asc`` files as frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evosdc.errors import InputError, refuse_unknown
from evosdc.io.argus.rda import DescribedVariable, Description
from evosdc.io.delimited import with_numbers
from evosdc.io.encoding import line_error, text_blocks
from evosdc.io.paths import PathLike


def read_asc(
    path: PathLike, description: Description, *, names: Sequence[str] | None = None
) -> Any:
    """Read records as an Arrow table: codes as text, responses and weights as numbers.

    As in tau-Argus, a number without a decimal mark is a whole number, whatever
    ``<DECIMALS>`` says, and a missing code of a spanning variable is a code like any
    other, so that such records count in the totals; elsewhere missing codes become
    null, and so do blanks. The file is split into columns in blocks, so that its text
    is never in memory as a whole.

    Parameters
    ----------
    path
        The file of records.
    description
        Its ``.rda`` file, read with `evosdc.io.argus.rda.read_rda`.
    names
        The variables to read; all if None.
    """
    known = [v.name for v in description.variables]
    missing = f"there is no variable {{}} in the description of {path}"
    refuse_unknown(names or (), known, missing)
    wanted = [
        (k, v)
        for k, v in enumerate(description.variables)
        if names is None or v.name in names
    ]
    parts = []
    line = 1
    for lines in _blocks(path):
        block = _Block(path, line, lines, description)
        parts.append(
            pa.table({v.name: block.column(position, v) for position, v in wanted})
        )
        line += len(lines)
    if not parts:
        raise InputError(
            f"{path} has no records",
            expected="one record on each line",
            hint="check that the program that wrote it ended well",
        )
    return with_numbers(
        pa.concat_tables(parts),
        [v.name for _, v in wanted if v.is_number],
        description.separator,
        lambda row: f"{path}, line {row + 1}",
        decimals=description.with_decimals,
    )


class _Block:
    """Some lines of a file, split into fields."""

    def __init__(
        self, path: PathLike, first: int, lines: list[str], description: Description
    ) -> None:

        self.path, self.first = path, first
        self.lines = pa.array(lines, pa.string())
        self.fields: list[Any] | None = None
        if description.separator is not None:
            self.fields = self._split(description.separator, len(description.variables))

    def _split(self, separator: str, count: int) -> list[Any]:

        parts = pc.split_pattern(self.lines, separator)
        wrong = pc.not_equal(pc.list_value_length(parts), count)
        if pc.any(wrong).as_py():
            row = int(pc.index(wrong, pa.scalar(True)).as_py())
            raise line_error(
                self.path,
                self.first + row,
                f"{len(parts[row])} fields",
                expected=f"{count} fields separated by {separator!r}",
                hint="compare the file with its .rda",
            )
        return [pc.list_element(parts, k) for k in range(count)]

    def _refuse_beyond(self, variable: DescribedVariable) -> None:
        """Refuse a description of longer lines: it belongs to another file."""
        longest = pc.max(pc.utf8_length(self.lines)).as_py()
        if variable.start > longest:
            raise InputError(
                f"{self.path}: variable {variable.name!r} begins at position "
                f"{variable.start}, and no line from line {self.first} on has more "
                f"than {longest} characters",
                expected="the .rda that was written with the records",
                hint="compare the file with its .rda; remove variables from the .rda "
                "that the file does not have",
            )

    def column(self, position: int, variable: DescribedVariable) -> Any:
        """Return the text of one variable; null for blanks and missing codes."""
        if self.fields is None:
            start = variable.start - 1
            self._refuse_beyond(variable)
            field = pc.utf8_slice_codeunits(self.lines, start, start + variable.width)
        else:
            field = self.fields[position]
        texts = pc.utf8_trim(pc.utf8_trim_whitespace(field), '"')
        unknown = () if variable.is_code else variable.missing
        absent = pc.is_in(texts, pa.array(["", *unknown]))
        return pc.if_else(absent, None, texts)


def _blocks(path: PathLike) -> Iterator[list[str]]:
    """Yield the lines of a file in blocks, without blank lines at its end."""
    blank: list[str] = []
    for block in text_blocks(path):
        lines = blank + block.removesuffix("\n").split("\n")
        full = len(lines)
        while full and not lines[full - 1].strip("\x1a \t"):
            full -= 1
        blank = lines[full:]
        if full:
            yield lines[:full]
