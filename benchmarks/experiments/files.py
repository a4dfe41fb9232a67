"""The files of records that an experiment is run on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evosdc.errors import InputError


def csv_files(data: Path | None, names: Sequence[str]) -> list[Path]:
    """Return the CSV files of a directory, those of the given names if there are any.

    The name of a file is that without its ending.
    """
    if data is None:
        raise InputError("no data are given", hint="name a directory: --data DIRECTORY")
    there = sorted(data.glob("*.csv"))
    chosen = [path for path in there if not names or path.stem in names]
    if not chosen:
        raise InputError(
            f"{data} has {', '.join(p.stem for p in there) or 'no CSV file'}",
            expected=f"{', '.join(names) or 'some file'}.csv",
            hint="name another --data, or other --families",
        )
    return chosen
