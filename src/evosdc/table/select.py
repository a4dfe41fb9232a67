"""Cells by label: which cells do codes, or patterns of codes, stand for?"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.table.codes import tidy_code
from evosdc.table.table import Table

NUMBER = "cell_id"


def select(table: Table, label: Mapping[str, str]) -> NDArray[np.bool_]:
    """Return which cells have these codes.

    Parameters
    ----------
    label
        A code a dimension; ``*``, ``?`` and ``[abc]`` stand for any letters, any one
        letter, one of these. Dimensions that are not named may have any code. Tables
        without labels know ``cell_id``, the number of a cell.

    Raises
    ------
    InputError
        For a dimension that the table has not, and where no cell has the codes.
    """
    chosen = np.ones(len(table), dtype=bool)
    position = {d.name: k for k, d in enumerate(table.dimensions)}
    for name, written in label.items():
        wanted = tidy_code(written)
        if name in position:
            k = position[name]
            codes = table.dimensions[k].hierarchy.codes
            fits = np.array([fnmatchcase(code, wanted) for code in codes])
            chosen &= fits[table.codes[:, k]]
        elif name == NUMBER:
            chosen &= [fnmatchcase(str(cell), wanted) for cell in range(len(table))]
        else:
            raise InputError(
                f"the table has no dimension {name!r}",
                expected=f"one of {', '.join([*position, NUMBER])}",
                hint="correct the label",
            )
    if not chosen.any():
        words = ",".join(f"{name}={code}" for name, code in label.items())
        raise InputError(
            f"no cell of the table is {words!r}",
            expected="codes of the table, such as "
            f"{table.label(0) if position else f'{NUMBER}=0'}",
            hint="check the spelling; the total has a code of its own, and * fits all",
        )
    return chosen
