"""Who consented to be recognised: a file with a contributor on each line."""

from __future__ import annotations

from evosdc.errors import InputError
from evosdc.io.encoding import read_text
from evosdc.io.paths import PathLike


def read_waiver(path: PathLike) -> list[str]:
    """Read the contributors, as the column of holdings names them, each once."""
    lines = (line.strip() for line in read_text(path).split("\n"))
    found = list(dict.fromkeys(line for line in lines if line))
    if not found:
        raise InputError(
            f"{path} names no contributor",
            expected="one contributor on each line",
            hint="leave the waiver out if nobody consented",
        )
    return found
