"""Lists of cells by label, kept beside a table."""

from __future__ import annotations

from evosdc.io.columns import number_column
from evosdc.io.paths import PathLike
from evosdc.io.tabular import read_columns
from evosdc.table.codes import tidy_code

FACTOR = "factor"


def read_labels(path: PathLike) -> list[tuple[dict[str, str], float | None]]:
    """Read codes per row, and the factor of each where there is such a column.

    A column a dimension; a blank stands for any code.
    """
    frame = read_columns(path, numbers=(FACTOR,))
    factors: list[float | None] = [None] * frame.num_rows
    if FACTOR in frame.column_names:
        factors = list(number_column(frame, FACTOR).tolist())
        frame = frame.drop_columns([FACTOR])
    return [
        ({name: tidy_code(code) for name, code in row.items() if code}, factor)
        for row, factor in zip(frame.to_pylist(), factors, strict=True)
    ]
