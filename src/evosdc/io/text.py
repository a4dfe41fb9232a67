"""Columns as text: shortest numbers, quotes where needed, and lines as bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# A spreadsheet evaluates text that begins so, except a number (-5, +49, -1.5e3) and a
# single sign, such as the "-" of an empty cell.
_FORMULA = re.compile(r"[=+\-@\t\r](?=.*[^=+\-@\s])", re.DOTALL)
_SIGNED = re.compile(r"[+-]\s?\d+([.,]\d+)*([eE][+-]?\d+)?\s?%?")
_MOST_NAMED = 5


def formula_notes(columns: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Name the codes, and names of columns, that a spreadsheet takes for formulas."""
    found = [
        f"{name}={code!r}"
        for name, codes in columns.items()
        for code in codes
        if _is_formula(code)
    ]
    found = [f"column {name!r}" for name in columns if _is_formula(name)] + found
    if not found:
        return ()
    more = len(found) - _MOST_NAMED
    named = ", ".join(found[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    kind = "formulas" if len(found) > 1 else "a formula"
    return (
        f"a spreadsheet that opens the published files takes {named} for {kind}: "
        "import such columns as text, or rename the codes before you publish",
    )


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _SIGNED.fullmatch(text)


def text_columns(frames: Iterable[Any]) -> dict[str, dict[str, None]]:
    """Return the distinct texts of each column of Arrow tables; none of numbers."""
    found: dict[str, dict[str, None]] = {}
    for frame in frames:
        for name in frame.column_names:
            texts = pc.unique(frame[name])
            if pa.types.is_dictionary(texts.type):
                texts = texts.dictionary_decode()
            kind = texts.type
            text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
            seen = texts.drop_null().to_pylist() if text else ()
            found.setdefault(name, {}).update(dict.fromkeys(seen))
    return found


def format_numbers(values: NDArray[np.float64]) -> Any:
    """Return numbers as text: whole ones without a point, the others shortest."""
    numbers = np.asarray(values, dtype=np.float64) + 0.0  # no minus zero in a file
    # Below 2**53 a whole double is an exact integer and is written as one.
    whole = (numbers == np.rint(numbers)) & (np.abs(numbers) < 2.0**53)
    integers = pc.cast(pa.array(np.where(whole, numbers, 0).astype(np.int64)), "string")
    return pc.if_else(pa.array(whole), integers, pc.cast(pa.array(numbers), "string"))


def format_number(value: float) -> str:
    """Return one number as `format_numbers` writes it."""
    return str(format_numbers(np.array([value]))[0].as_py())


def quoted(texts: Any, separator: str) -> Any:
    """Quote the entries that a CSV reader would otherwise misread."""
    if pa.types.is_null(texts.type):
        # A column of nulls has a type without text functions.
        return pc.cast(texts, "string")
    odd = pc.match_substring_regex(texts, f'["\\r\\n{separator}]|^\\s|\\s$')
    mark = pa.scalar('"')
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(odd, pc.binary_join_element_wise(mark, doubled, mark, ""), texts)


def line_bytes(columns: Sequence[Any], separator: str) -> bytes:
    """Return the lines made of columns of text as bytes; null is blank."""
    joined = pc.binary_join_element_wise(
        *columns, separator, null_handling="replace", null_replacement=""
    )
    ended = pc.binary_join_element_wise(joined, pa.scalar("\n"), "")
    if isinstance(ended, pa.ChunkedArray):
        ended = pa.concat_arrays(ended.chunks)
    if not len(ended):
        return b""
    offsets = np.frombuffer(ended.buffers()[1], dtype=np.int32)
    first, last = offsets[ended.offset], offsets[ended.offset + len(ended)]
    return bytes(ended.buffers()[2][first:last])
