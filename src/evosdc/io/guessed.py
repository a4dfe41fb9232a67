"""Which columns of a frame are dimensions, where nobody says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evosdc.errors import InputError
from evosdc.io.columns import read_codes
from evosdc.io.numbers import may_be_numbers, shapes_of
from evosdc.table.build import cell_keys
from evosdc.table.codes import tidy_code

# With fewer rows, any column may seem to be determined by the others.
_FEW_ROWS = 6


def guess_dimensions(frame: Any, value: str, reserved: Sequence[str]) -> list[str]:
    """Take every column that is not recognised for a dimension.

    Raises
    ------
    InputError
        For a column that is recognised but for the case of its name: read as codes,
        statuses would mark nothing. For a column of many numbers that the other
        columns determine: that is a property of the cells, not a dimension.
    """
    columns: list[str] = frame.column_names
    names = [c for c in columns if c not in reserved and c != value]
    known = {word.casefold(): word for word in (*reserved, value)}
    for name in names:
        meant = known.get(tidy_code(name).casefold())
        if meant is not None:
            raise InputError(
                f"column {name!r} is not {meant!r}, and would be read as codes",
                expected=f"the name {meant!r} exactly",
                hint="rename the column, or name the dimensions (dimensions=[...])",
            )
    if len(names) > 1:
        _refuse_properties(frame, names)
    return names


def _refuse_properties(frame: Any, names: Sequence[str]) -> None:
    import pyarrow as pa

    suspects = []
    codes = np.empty((frame.num_rows, len(names)), dtype=np.int64)
    for k, name in enumerate(names):
        words, codes[:, k], _ = read_codes(frame, name)
        many = frame.num_rows >= _FEW_ROWS and 2 * len(words) > frame.num_rows
        if many and may_be_numbers(shapes_of(pa.array(words)).to_pylist()):
            suspects.append(k)
    sizes = (codes.max(axis=0, initial=0) + 1).tolist()
    every = len(np.unique(cell_keys(sizes, codes)))
    for k in suspects:
        rest = cell_keys(sizes[:k] + sizes[k + 1 :], np.delete(codes, k, axis=1))
        # Rows that stand twice are another error, which is found later.
        if every == frame.num_rows == len(np.unique(rest)):
            others = ", ".join(name for name in names if name != names[k])
            raise InputError(
                f"column {names[k]!r} holds numbers that the columns {others} "
                "determine",
                expected="columns of codes: every combination has a row of its own",
                hint="remove the column if it is a property of the cells, or name the "
                "dimensions (dimensions=[...])",
            )
