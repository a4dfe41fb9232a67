"""Files of columns as Arrow tables, and their columns as codes, numbers and text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.formats import CSV
from evosdc.io.delimited import read_csv
from evosdc.io.numbers import inexact, read_numbers
from evosdc.io.paths import PathLike, open_output
from evosdc.io.suffixes import format_to_read, load
from evosdc.table.hierarchy import look_alikes, merged_note, tidy_code


def read_columns(
    path: PathLike, *, numbers: Collection[str] = (), from_evosdc: bool = False
) -> Any:
    """Read a CSV file as text (see `read_csv`), any other file as it is."""
    form = format_to_read(path, "columns")
    if form is CSV:
        return read_csv(path, numbers=numbers, from_evosdc=from_evosdc)
    return load(form.read["columns"])(path)


def read_parquet(path: PathLike) -> Any:
    """Read a Parquet file as an Arrow table."""
    try:
        return pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path} is not a Parquet file that can be read",
            expected="a complete Parquet file",
            hint="write it again, or give CSV",
        ) from error


def write_parquet(
    path: PathLike, frame: Any, *, force: bool = False, public: bool = False
) -> None:
    """Write an Arrow table as a Parquet file; `public` as in `open_output`."""
    with open_output(path, force, public=public) as stream:
        pq.write_table(frame, stream)


def code_column(frame: Any, name: str) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct codes in order of appearance, and each row's number of one.

    Codes are text: whole numbers lose their ``.0``, and blanks around are removed.
    """
    codes, rows, _ = read_codes(frame, name)
    return codes, rows


def read_codes(frame: Any, name: str) -> tuple[list[str], NDArray[np.int64], list[str]]:
    """Return what `code_column` returns, with notes on codes that look alike."""
    column = _flat(frame[name])
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(
            f"row {row + 1} has no code in column {name!r}",
            expected="a code in every row",
            hint="fill it in, or remove the row",
        )
    if pa.types.is_floating(column.type):
        numbers = column.to_numpy(zero_copy_only=False)
        if not np.all(numbers == np.rint(numbers)):
            raise InputError(
                f"column {name!r} holds numbers with decimals",
                expected="codes",
                hint="name the dimensions, or give the codes as text",
            )
        column = pa.array(numbers.astype(np.int64))
    encoded = pc.cast(column, pa.string()).dictionary_encode()
    written = encoded.dictionary.to_pylist()
    numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    tidy = [tidy_code(text) for text in written]
    codes = list(dict.fromkeys(tidy))
    place = {code: number for number, code in enumerate(codes)}
    rows = np.array([place[code] for code in tidy], dtype=np.int64)[numbers]
    if "" in codes:
        row = int(np.argmax(rows == codes.index("")))
        raise InputError(
            f"row {row + 1} has a blank code in column {name!r}",
            expected="a code in every row",
            hint="fill it in, or remove the row",
        )
    note = merged_note(name, written, tidy)
    return codes, rows, [note] * bool(note) + look_alikes(name, codes)


def number_column(frame: Any, name: str) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where blank; see `evosdc.io.numbers` for text."""
    column = _flat(frame[name])
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if _is_text(kind):
        column = read_numbers({name: column}, None, lambda row: f"row {row + 1}")[name]
    elif not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    ):
        raise InputError(
            f"column {name!r} holds {kind}",
            expected="numbers",
            hint="convert the column to numbers",
        )
    numbers = pc.cast(column, pa.float64(), safe=False)
    if pa.types.is_integer(kind):
        same = pc.equal(pc.cast(numbers, kind, safe=False), column)
        if not pc.all(same).as_py():
            row = int(pc.index(same, pa.scalar(False)).as_py())
            raise inexact(name).error(f"row {row + 1}")
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64).copy()


def lowercase_column(frame: Any, name: str) -> NDArray[np.str_]:
    """Return a column as text in lower case without blanks around; '' where null."""
    texts = pc.fill_null(pc.cast(_flat(frame[name]), pa.string()), "")
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return np.array(lower.to_pylist(), dtype=str)


def _flat(column: Any) -> Any:
    """Return a column as one array, dictionaries decoded."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else array
    if pa.types.is_dictionary(array.type):
        array = array.dictionary.cast(pa.string()).take(array.indices)
    return array.cast(pa.string()) if _is_text(array.type) else array


def _is_text(kind: Any) -> bool:

    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    )
