"""Numbers as text: the shortest word that reads back as the same double."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def number_words(values: NDArray[np.float64]) -> Any:
    """Arrow strings of numbers: whole numbers without a point, the others shortest."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = np.asarray(values, dtype=np.float64) + 0.0  # no minus zero in a file
    # Below 2**53 a whole double is an exact integer and is written as one.
    whole = (numbers == np.rint(numbers)) & (np.abs(numbers) < 2.0**53)
    integers = pc.cast(pa.array(np.where(whole, numbers, 0).astype(np.int64)), "string")
    return pc.if_else(pa.array(whole), integers, pc.cast(pa.array(numbers), "string"))


def number_word(value: float) -> str:
    """One number as `number_words` writes it."""
    return str(number_words(np.array([value]))[0].as_py())
