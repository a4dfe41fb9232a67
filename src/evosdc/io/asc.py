"""Microdata of tau-Argus: fixed-format and free-format ``.asc`` files as frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evosdc.errors import InputError
from evosdc.io.paths import PathLike, open_input
from evosdc.io.rda import Description, Variable

_BLOCK = 1 << 26  # bytes of a file held at a time
_NUMERIC = frozenset(("response", "weight", "shadow", "cost"))


def read_asc(
    path: PathLike, description: Description, *, names: Sequence[str] | None = None
) -> Any:
    """Read records as an Arrow table: codes as text, responses and weights as numbers.

    A number with a point is read as it stands; one without is a whole number, whatever
    ``<DECIMALS>`` says, as tau-Argus does. A missing code of a spanning variable is a
    code like any other, so that such records count in the totals, as in tau-Argus;
    elsewhere missing codes become null, and so do blanks. The file is read in blocks,
    so its text never stands in memory at once.

    Parameters
    ----------
    path
        The file of records.
    description
        Its ``.rda`` file, read with `evosdc.io.rda.read_rda`.
    names
        The variables to read; all where None.
    """
    import pyarrow as pa

    known = [v.name for v in description.variables]
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        raise InputError(
            f"there is no variable {unknown[0]!r} in the description of {path}",
            expected=f"some of {', '.join(known)}",
            hint="check the spelling",
        )
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
    return pa.concat_tables(parts)


class _Block:
    """Some lines of a file, cut into fields."""

    def __init__(
        self, path: PathLike, first: int, lines: list[str], description: Description
    ) -> None:
        import pyarrow as pa

        self.path, self.first = path, first
        self.lines = pa.array(lines, pa.string())
        self.fields: list[Any] | None = None
        if description.separator is not None:
            self.fields = self._split(description.separator, len(description.variables))

    def _split(self, separator: str, count: int) -> list[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = pc.split_pattern(self.lines, separator)
        wrong = pc.not_equal(pc.list_value_length(parts), count)
        if pc.any(wrong).as_py():
            row = int(pc.index(wrong, pa.scalar(True)).as_py())
            raise InputError(
                f"{self.path}, line {self.first + row}: {len(parts[row])} fields",
                expected=f"{count} fields separated by {separator!r}",
                hint="compare the file with its .rda",
            )
        return [pc.list_element(parts, k) for k in range(count)]

    def _refuse_beyond(self, variable: Variable) -> None:
        """Refuse a description of longer lines: it is of another file, or outdated."""
        import pyarrow.compute as pc

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

    def column(self, position: int, variable: Variable) -> Any:
        """Return one variable; null for blanks and for values that are missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.fields is None:
            start = variable.start - 1
            self._refuse_beyond(variable)
            field = pc.utf8_slice_codeunits(self.lines, start, start + variable.width)
        else:
            field = self.fields[position]
        words = pc.utf8_trim(pc.utf8_trim_whitespace(field), '"')
        unknown = () if variable.is_code else variable.missing
        absent = pc.is_in(words, pa.array(["", *unknown]))
        words = pc.if_else(absent, None, words)
        if not variable.roles & _NUMERIC or variable.is_code:
            return words
        if self.fields is not None:
            words = pc.replace_substring(words, ",", ".")
        try:
            return pc.cast(words, pa.float64())
        except pa.ArrowInvalid:
            pass
        plain = pc.match_substring_regex(
            words, r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"
        )
        numbers = np.asarray(plain.fill_null(True).to_numpy(zero_copy_only=False))
        if numbers.all():  # a leading plus sign, which Arrow does not take
            return pc.cast(pc.utf8_ltrim(words, "+"), pa.float64())
        raise InputError(
            f"{self.path}, line {self.first + int(np.argmin(numbers))}: variable "
            f"{variable.name!r} is not a number",
            expected=f"a number at position {variable.start or position + 1}",
            hint="compare the file with its .rda",
        )


def _blocks(path: PathLike) -> Iterator[list[str]]:
    """Lines of a file, some megabytes at a time, blank last lines left out."""
    with open_input(path) as stream:
        rest = b""
        while block := stream.read(_BLOCK):
            block = rest + block
            end = block.rfind(b"\n") + 1
            rest = block[end:]
            if end:
                yield _lines(block[:end])
        if rest.strip():
            yield _lines(rest)


def _lines(block: bytes) -> list[str]:
    try:
        text = block.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = block.decode("latin-1")
    lines = text.replace("\r\n", "\n").split("\n")
    while lines and not lines[-1].strip("\x1a \t"):
        lines.pop()
    return lines
