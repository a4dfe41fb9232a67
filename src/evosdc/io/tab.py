"""Tables of tau-Argus: ``.tab`` files with their ``.rda`` (its intermediate format)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError, TableError
from evosdc.io.delimited import line_finder, parse_rows, with_numbers, write_csv
from evosdc.io.encoding import read_text
from evosdc.io.frames import (
    HIDDEN_MARK,
    frame_of,
    published_frame,
    table_from_frame,
)
from evosdc.io.hrc import write_hrc
from evosdc.io.labelled import refuse_other_equations
from evosdc.io.paths import PathLike, refuse_existing, refuse_side, write_text
from evosdc.io.rda import Description, read_rda
from evosdc.io.words import number_words
from evosdc.table import Hierarchy, Table

# The letters of an .rda that names none; M is what tau-Argus calls a secondary.
_LETTERS = {"safe": "s", "unsafe": "u", "protect": "p"}
# Roles of an .rda that a table has no place for.
_WITHOUT_USE = ("maxscore", "shadow", "weight", "holding", "request")
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
    """Read a table; the ``.rda`` of the same name is used where none is given.

    Combinations of codes that are not in the file are empty cells, as in tau-Argus,
    and totals that are not in it are computed.

    Parameters
    ----------
    value
        The response, where there are several; a table of frequencies needs none.
    level_percent
        Levels, as a percentage of the value, of unsafe cells that have none.
    flat
        Variables without sub-totals beyond their hierarchy, even where some rows are
        sums of others.
    """
    description = _description(path, rda)
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
    unused = description.not_used(dict.fromkeys(_WITHOUT_USE), None)
    return replace(table, notes=(*table.notes, *unused))


def read_tab_frame(path: PathLike, description: Description) -> Any:
    """Read codes of a ``.tab`` as text and the rest as numbers, named as in its .rda.

    Contributions (``<MAXSCORE>``) and shadow variables are here for the rules.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    separator = description.separator or ";"
    names = [v.name for v in description.variables]
    text = read_text(path)
    if not text.strip():
        raise InputError(
            f"{path} has no rows",
            expected="a row per cell",
            hint="check that the program that wrote it ended well",
        )
    first = text.lstrip().partition("\n")[0].rstrip()
    # Some programs end every line with a separator.
    extra = [""] * (first.endswith(separator) and first.count(separator) == len(names))
    frame = parse_rows(text, [*names, *extra], separator, str(path), header=False)
    columns = {}
    for name in names:
        words = pc.utf8_trim_whitespace(frame[name])
        columns[name] = pc.if_else(pc.equal(words, ""), None, words)
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
        For what has no place in the format: external bounds other than the default,
        sliding levels, and equations that labels do not imply. Dropping them would
        change what is safe.
    """
    _refuse_unsayable(table)
    refuse_other_equations(table)
    p = Path(path)
    rda = p.with_suffix(".rda")
    trees = _tree_files(p, table)
    refuse_existing(p, force)
    for side in (rda, *trees.values()):
        refuse_side(side, p, force)
    frame = frame_of(table)
    names = [d.name for d in table.dimensions] + ["value"]
    names += ["frequency"] * (table.frequency is not None)
    frame = frame.select([*names, "weight", "lpl", "upl", "status"])
    import pyarrow as pa

    letters = np.where(table.status == "z", "p", table.status).astype(object)
    frame = frame.set_column(
        frame.column_names.index("status"), "status", pa.array(letters, pa.string())
    )
    for d in table.dimensions:
        if d.name in trees:
            write_hrc(trees[d.name], d.hierarchy, force=force)
    write_text(rda, _rda_text(table, {k: v.name for k, v in trees.items()}), force)
    write_csv(p, frame, separator=";", force=force, header=False)


def published_tab_files(path: PathLike, table: Table) -> list[Path]:
    """Name the files that `write_published_tab` writes, the table first."""
    p = Path(path)
    return [p, p.with_suffix(".rda"), *_tree_files(p, table).values()]


def write_published_tab(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a ``.tab`` that may be published, its ``.rda`` and its ``.hrc`` files.

    Columns are the codes, the value, blank where hidden, and the status: ``s``
    published, ``p`` published and fixed, ``x`` hidden, primaries and secondaries alike.
    There are no costs, levels and frequencies.
    """
    import pyarrow as pa

    refuse_names(table)
    trees = _tree_files(Path(path), table)
    for output in published_tab_files(path, table):
        refuse_existing(output, force)
    frame = published_frame(table)
    letters = np.where(table.status == "z", "p", "s").astype(object)
    letters[table.hidden] = HIDDEN_MARK
    frame = frame.set_column(
        frame.column_names.index("status"), "status", pa.array(letters, pa.string())
    )
    for d in table.dimensions:
        if d.name in trees:
            write_hrc(trees[d.name], d.hierarchy, force=force, public=True)
    lines = ['<SEPARATOR> ";"', "<SAFE> s", f"<UNSAFE> {HIDDEN_MARK}", "<PROTECT> p"]
    lines += _code_lines(table, {k: v.name for k, v in trees.items()})
    lines += [_response_name(table), f"  <NUMERIC>{_decimals(table.value)}"]
    lines += ["status", "  <STATUS>"]
    text = "".join(line + "\n" for line in lines)
    write_text(Path(path).with_suffix(".rda"), text, force, public=True)
    write_csv(path, frame, separator=";", force=force, header=False, public=True)


def _tree_files(path: Path, table: Table) -> dict[str, Path]:
    """The file of each hierarchy, whatever letters the name of the dimension has."""
    return {
        d.name: path.with_name(f"{path.stem}-{k}.hrc")
        for k, d in enumerate(table.dimensions, 1)
        if not d.hierarchy.is_flat
    }


def _rda_text(table: Table, trees: Mapping[str, str]) -> str:
    lines = ['<SEPARATOR> ";"', "<SAFE> s", "<UNSAFE> u", "<PROTECT> p"]
    lines += _code_lines(table, trees)
    lines += [_response_name(table), f"  <NUMERIC>{_decimals(table.value)}"]
    if table.frequency is not None:
        lines += ["frequency", "  <FREQUENCY>"]
    for name, role, numbers in (
        ("cost", "COST", table.weight),
        ("lpl", "LOWERPL", table.lpl),
        ("upl", "UPPERPL", table.upl),
    ):
        lines += [name, f"  <NUMERIC> <{role}>{_decimals(numbers)}"]
    lines += ["status", "  <STATUS>"]
    return "".join(line + "\n" for line in lines)


def _decimals(numbers: NDArray[np.float64]) -> str:
    """Say that numbers have decimals, so that no reader takes 1.234 for 1234."""
    shown = number_words(numbers[np.isfinite(numbers)]).to_pylist()
    digits = [len(word.partition(".")[2]) for word in shown if "e" not in word]
    return f"\n  <DECIMALS> {max(digits)}" if any(digits) else ""


def _code_lines(table: Table, trees: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for d in table.dimensions:
        lines += [d.name, "  <RECODEABLE>", f'  <TOTCODE> "{d.hierarchy.total}"']
        if d.name in trees:
            lines += [
                "  <HIERARCHICAL>",
                f'  <HIERCODELIST> "{trees[d.name]}"',
                '  <HIERLEADSTRING> "@"',
            ]
    return lines


def _response_name(table: Table) -> str:
    """The response's name as one word, apart from the other columns."""
    name = "_".join(table.name.split()) or "value"
    others = {d.name for d in table.dimensions}
    others |= {"frequency", "cost", "lpl", "upl", "status"}
    return name if name not in others else f"{name}_value"


def refuse_names(table: Table) -> None:
    """Refuse a table whose dimensions an ``.rda`` cannot name."""
    if not table.dimensions:
        raise InputError(
            "the table has no labels",
            expected="a table with dimensions for .tab",
            hint="write it as .jj",
        )
    for d in table.dimensions:
        if any(c.isspace() or c in '<>"' for c in d.name):
            raise InputError(
                f"dimension {d.name!r} has a name with blanks or brackets",
                expected="names of one word in .rda files",
                hint="rename the dimension",
            )


def _refuse_unsayable(table: Table) -> None:
    refuse_names(table)
    usual = np.where(table.value >= 0, 0.0, -np.inf)
    if (
        np.any(table.spl)
        or not np.array_equal(table.lower, usual)
        or not np.all(np.isposinf(table.upper))
    ):
        raise TableError(
            "the table has external bounds or sliding levels",
            expected="what a .tab file can say: values, costs, lpl, upl and statuses",
            hint="write it as .jj, .csv or .parquet",
        )


def _description(path: PathLike, rda: PathLike | None) -> Description:
    if rda is not None:
        return read_rda(rda, of_table=True)
    p = Path(path)
    for suffix in (".rda", ".RDA", ".Rda"):
        if p.with_suffix(suffix).exists():
            return read_rda(p.with_suffix(suffix), of_table=True)
    raise InputError(
        f"there is no {p.with_suffix('.rda')} beside {p.name}",
        expected="the description of the table",
        hint="put the .rda file beside the .tab, under the same name",
    )


def _response(description: Description, value: str | None) -> str:
    responses = [v.name for v in description.with_role("response") if not v.is_code]
    responses = responses or [v.name for v in description.with_role("frequency")]
    if value is not None and value not in responses:
        raise InputError(
            f"there is no response {value!r}",
            expected=f"one of {', '.join(responses)}",
            hint="check the spelling",
        )
    if value is None and len(responses) != 1:
        raise InputError(
            f"the table has {len(responses)} responses",
            expected="one, or the name of one",
            hint=f"choose one with value=...: {', '.join(responses)}",
        )
    return value or responses[0]


def _statuses(column: Any, description: Description) -> list[str | None]:
    """Our letters for those of the file; others are left for the error message."""
    letters = _LETTERS | description.statuses
    meaning = {letters[kind].casefold(): _MEANING[kind] for kind in _MEANING}
    meaning = {"m": "m"} | meaning
    return [
        None if word is None else meaning.get(word.casefold(), f"{word} in the file")
        for word in column.to_pylist()
    ]
