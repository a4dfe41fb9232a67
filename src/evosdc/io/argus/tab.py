"""Tables of tau-Argus: ``.tab`` files with their ``.rda`` (its intermediate format)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evosdc.errors import InputError, TableError, refuse_unknown
from evosdc.io.argus.hrc import write_hrc
from evosdc.io.argus.rda import Description, description_of, read_rda
from evosdc.io.delimited import (
    format_numbers,
    line_finder,
    parse_rows,
    with_numbers,
    write_csv,
)
from evosdc.io.encoding import read_text
from evosdc.io.frames import (
    HIDDEN_MARK,
    frame_of,
    published_frame,
    refuse_unlabelled,
)
from evosdc.io.from_frame import table_from_frame
from evosdc.io.labelled import refuse_other_equations
from evosdc.io.paths import PathLike, refuse_companion, refuse_existing, write_text
from evosdc.table import Hierarchy, Table
from evosdc.table.status import FIXED, LEVELS, PRIMARY

# The letters of an .rda that names none; M is a secondary in tau-Argus.
_LETTERS = {"safe": "s", "unsafe": "u", "protect": "p"}
# Roles of an .rda that a table cannot hold.
_UNUSED_ROLES = ("maxscore", "shadow", "weight", "holding", "request")
_MEANING = {"safe": "s", "unsafe": "u", "protect": "z"}


def read_tab(
    path: PathLike,
    rda: PathLike | None = None,
    *,
    value: str | None = None,
    missing: Literal["error", "empty"] = "empty",
    level_percent: float | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    flat: Collection[str] = (),
) -> Table:
    """Read a table; by default its ``.rda`` has the same name.

    Combinations of codes that are not in the file are empty cells, as in tau-Argus,
    and totals that are not in it are computed.

    Parameters
    ----------
    value
        The response, if there are several; a table of frequencies needs none.
    level_percent
        The levels, as a percentage of the value, of unsafe cells that have none.
    flat
        Variables without sub-totals beyond their hierarchy, even if some rows are sums
        of others.
    """
    description = read_rda(rda or description_of(path, "table"), of_table=True)
    frame = read_tab_frame(path, description)
    names = [v.name for v in description.with_role("code")]
    if not names:
        raise InputError(
            f"the .rda of {path} has no spanning variable",
            expected="at least one variable with <RECODEABLE>",
            hint="add <RECODEABLE> to the variables of codes",
        )
    columns: dict[str, Any] = {name: frame[name] for name in names}
    response = _response(description, value)
    columns["value"] = frame[response]
    for role, column in (
        ("cost", "weight"),
        ("lpl", "lpl"),
        ("upl", "upl"),
        ("frequency", "frequency"),
    ):
        for variable in description.with_role(role)[:1]:
            columns[column] = frame[variable.name]
    for variable in description.with_role("status")[:1]:
        columns["status"] = _statuses(frame[variable.name], description)
    trees = dict(hierarchies or {})
    for name in names:
        if name not in trees:
            codes = frame[name].unique().drop_null().to_pylist()
            tree = description.hierarchy(name, codes)
            if tree is not None:
                trees[name] = tree
    table = table_from_frame(
        columns,
        dimensions=names,
        hierarchies=trees,
        totals={v.name: v.total for v in description.with_role("code")},
        missing=missing,
        level_percent=level_percent,
        name=response,
        flat=flat,
    )
    unused = description.not_used(dict.fromkeys(_UNUSED_ROLES), None)
    return replace(table, notes=(*table.notes, *unused))


def read_tab_frame(path: PathLike, description: Description) -> Any:
    """Read codes of a ``.tab`` as text and the rest as numbers, named as in its .rda.

    Contributions (``<MAXSCORE>``) and shadow variables are included.
    """
    separator = description.separator or ";"
    names = [v.name for v in description.variables]
    text = read_text(path)
    if not text.strip():
        raise InputError(
            f"{path} has no rows",
            expected="one row per cell",
            hint="check that the program that wrote it ended well",
        )
    first = text.lstrip().partition("\n")[0].rstrip()
    # Some programs end every line with a separator.
    extra = [""] * (first.endswith(separator) and first.count(separator) == len(names))
    frame = parse_rows(text, [*names, *extra], separator, str(path), header=False)
    columns = {}
    for name in names:
        texts = pc.utf8_trim_whitespace(frame[name])
        columns[name] = pc.if_else(pc.equal(texts, ""), None, texts)
    return with_numbers(
        pa.table(columns),
        [v.name for v in description.variables if v.is_number],
        separator,
        line_finder(path, text, separator, header=False),
        decimals=description.with_decimals,
    )


def write_tab(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a ``.tab``, its ``.rda`` and a ``.hrc`` for each hierarchical dimension.

    Columns are the codes, value, frequency where known, cost, lower and upper level and
    status: ``s`` safe, ``u`` unsafe, ``p`` protected, ``m`` secondary.

    Raises
    ------
    TableError
        For what the format cannot hold: external bounds other than the default, sliding
        levels, and equations that labels do not imply. Dropping them would change what
        is safe.
    """
    _refuse_unwritable(table)
    refuse_other_equations(table)
    p, *sides = tab_files(path, table)
    refuse_existing(p, force)
    for side in sides:
        refuse_companion(side, p, force)
    frame = frame_of(table)
    counted = ["frequency"] * (table.frequency is not None)
    names = [*(d.name for d in table.dimensions), "value", *counted]
    frame = frame.select([*names, "weight", *LEVELS[:2], "status"])
    roles = [("frequency", "<FREQUENCY>")] * len(counted)
    for name, role, numbers in (
        ("cost", "COST", table.weight),
        ("lpl", "LOWERPL", table.lpl),
        ("upl", "UPPERPL", table.upl),
    ):
        roles.append((name, f"<NUMERIC> <{role}>{_decimals(numbers)}"))
    _write(p, table, frame, table.status, roles, unsafe=PRIMARY, force=force)


def write_published_tab(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a ``.tab`` that may be published, its ``.rda`` and its ``.hrc`` files.

    Columns are the codes, the value, blank where hidden, and the status: ``s``
    published, ``p`` published and fixed, ``x`` hidden, primaries and secondaries alike.
    There are no costs, levels and frequencies.
    """
    refuse_names(table)
    p, *sides = tab_files(path, table)
    for output in (p, *sides):
        refuse_existing(output, force)
    letters = np.where(table.hidden, HIDDEN_MARK, table.status)
    frame = published_frame(table)
    _write(p, table, frame, letters, [], unsafe=HIDDEN_MARK, force=force, public=True)


def tab_files(path: PathLike, table: Table) -> list[Path]:
    """Name the files of a table: the table first, its ``.rda``, its hierarchies."""
    p = Path(path)
    return [p, p.with_suffix(".rda"), *_tree_files(p, table).values()]


def _write(
    path: Path,
    table: Table,
    frame: Any,
    status: NDArray[np.str_],
    roles: Sequence[tuple[str, str]],
    *,
    unsafe: str,
    force: bool,
    public: bool = False,
) -> None:
    """Write the columns of a table with the letters of tau-Argus, and their ``.rda``.

    `roles` are the properties of the columns between the response and the status.
    """
    letters = np.where(status == FIXED, "p", status).astype(object)
    frame = frame.set_column(
        frame.column_names.index("status"), "status", pa.array(letters, pa.string())
    )
    trees = _tree_files(path, table)
    lines = ['<SEPARATOR> ";"', "<SAFE> s", f"<UNSAFE> {unsafe}", "<PROTECT> p"]
    for d in table.dimensions:
        lines += [d.name, "  <RECODEABLE>", f'  <TOTCODE> "{d.hierarchy.total}"']
        if d.name in trees:
            lines += [
                "  <HIERARCHICAL>",
                f'  <HIERCODELIST> "{trees[d.name].name}"',
                '  <HIERLEADSTRING> "@"',
            ]
            write_hrc(trees[d.name], d.hierarchy, force=force, public=public)
    response = (_response_name(table), f"<NUMERIC>{_decimals(table.value)}")
    for name, properties in (response, *roles, ("status", "<STATUS>")):
        lines += [name, f"  {properties}"]
    text = "".join(line + "\n" for line in lines)
    write_text(path.with_suffix(".rda"), text, force, public=public)
    write_csv(path, frame, separator=";", force=force, header=False, public=public)


def _tree_files(path: Path, table: Table) -> dict[str, Path]:
    """Return the file of each hierarchy; numbers suit any name of a dimension."""
    return {
        d.name: path.with_name(f"{path.stem}-{k}.hrc")
        for k, d in enumerate(table.dimensions, 1)
        if not d.hierarchy.is_flat
    }


def _decimals(numbers: NDArray[np.float64]) -> str:
    """Return the property of decimals, so that 1.234 is not read as 1234."""
    shown = format_numbers(numbers[np.isfinite(numbers)]).to_pylist()
    digits = [len(text.partition(".")[2]) for text in shown if "e" not in text]
    return f"\n  <DECIMALS> {max(digits)}" if any(digits) else ""


def _response_name(table: Table) -> str:
    """Return the name of the response without blanks, unlike any other column."""
    name = "_".join(table.name.split()) or "value"
    others = {d.name for d in table.dimensions}
    others |= {"frequency", "cost", "lpl", "upl", "status"}
    return name if name not in others else f"{name}_value"


def refuse_names(table: Table) -> None:
    """Refuse a table whose dimensions an ``.rda`` cannot name."""
    refuse_unlabelled(table, ".tab")
    for d in table.dimensions:
        if any(c.isspace() or c in '<>"' for c in d.name):
            raise InputError(
                f"dimension {d.name!r} has a name with blanks or brackets",
                expected="names of one word in .rda files",
                hint="rename the dimension",
            )


def _refuse_unwritable(table: Table) -> None:
    refuse_names(table)
    usual = np.where(table.value >= 0, 0.0, -np.inf)
    if (
        np.any(table.spl)
        or not np.array_equal(table.lower, usual)
        or not np.all(np.isposinf(table.upper))
    ):
        raise TableError(
            "the table has external bounds or sliding levels",
            expected="what a .tab file can hold: values, costs, lpl, upl and statuses",
            hint="write it as .jj, .csv or .parquet",
        )


def _response(description: Description, value: str | None) -> str:
    responses = [v.name for v in description.with_role("response") if not v.is_code]
    responses = responses or [v.name for v in description.with_role("frequency")]
    if value is not None:
        refuse_unknown([value], responses, "there is no response {}")
    elif len(responses) != 1:
        raise InputError(
            f"the table has {len(responses)} responses",
            expected="one, or the name of one",
            hint=f"choose one with value=...: {', '.join(responses)}",
        )
    return value or responses[0]


def _statuses(column: Any, description: Description) -> list[str | None]:
    """Translate the letters of statuses; unknown ones are kept for the message."""
    letters = _LETTERS | description.statuses
    meaning = {letters[kind].casefold(): _MEANING[kind] for kind in _MEANING}
    meaning = {"m": "m"} | meaning
    return [
        None if text is None else meaning.get(text.casefold(), f"{text} in the file")
        for text in column.to_pylist()
    ]
