"""Respondents who share what they know: a file with one member per row."""

from __future__ import annotations

from evosdc.errors import InputError
from evosdc.io.paths import PathLike
from evosdc.io.tabular import read_columns
from evosdc.table.codes import tidy_code
from evosdc.table.shares import Coalition

_COLUMNS = ("coalition", "member")


def read_coalitions(path: PathLike) -> tuple[Coalition, ...]:
    """Read columns ``coalition`` and ``member``; see `Coalition` for what members are.

    No names of respondents: the table has none, and hashes of names cannot be made
    without its records.
    """
    frame = read_columns(path)
    if sorted(frame.column_names) != sorted(_COLUMNS):
        raise InputError(
            f"{path} has the columns {', '.join(map(repr, frame.column_names))}",
            expected=f"the columns {' and '.join(map(repr, _COLUMNS))}",
            hint='write one row per member, such as: A,"region=North,size=small"',
        )
    members: dict[str, list[str]] = {}
    for row in frame.to_pylist():
        name, member = (tidy_code(str(row[column] or "")) for column in _COLUMNS)
        if not name or not member:
            raise InputError(
                f"{path} has a row without a coalition or without a member",
                expected="both in every row",
            )
        members.setdefault(name, []).append(member)
    if not members:
        raise InputError(f"{path} names no coalition", expected="one row per member")
    return tuple(Coalition(name, tuple(found)) for name, found in members.items())
