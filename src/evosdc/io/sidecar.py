"""Side files: what the file of a table cannot hold, in ``NAME.json`` beside it.

Rules, prior knowledge, hierarchies and contributors travel with the table, whatever its
format; Parquet holds the same text in its metadata. A digest of the cells says
which table a side file was written with. Beside any other table it is an error: the
rules of one table say nothing about another, and reading it without them would say
less than was known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.errors import EvosdcError, InputError
from evosdc.io.columns import code_column, number_column
from evosdc.io.encoding import read_text
from evosdc.io.frames import frame_of
from evosdc.io.from_frame import RESERVED
from evosdc.io.paths import open_output, refuse_existing, write_text
from evosdc.table import Contributions, Hierarchy, Origin, Table, missing_cells
from evosdc.table.contributions import AMOUNTS, COLUMNS, CONTRIBUTING, CONTRIBUTORS
from evosdc.table.rounding import significant
from evosdc.table.status import LEVELS

METADATA = b"evosdc"
_FORMAT = "evosdc-table"
# Formats of version 0.1: "evosdc-table" 1 and 2 without a digest, "evosdc-origin" with
# one of the values alone.
_FORMATS = (_FORMAT, "evosdc-origin")
_VERSION = 3
TEXTS = ("status", "respondent", *CONTRIBUTORS)
# Costs change no verdict, and cells are numbered when the file is read.
_FREE = ("cell_id", "weight", "cost")
# Programs that write a file again keep 15 digits.
_DIGITS = 12
# What JJ and .tab files have no column for.
_COLUMNS: dict[str, Any] = {
    "lower": np.float64,
    "upper": np.float64,
    "frequency": np.int64,
    "holdings": np.int64,
    "respondent": str,
    "unshown": bool,
    CONTRIBUTING: np.int64,
    **dict.fromkeys(CONTRIBUTORS, str),
    **dict.fromkeys(AMOUNTS, np.float64),
}
# What no bound is.
_OPEN = {"lower": -np.inf, "upper": np.inf}


@dataclass(frozen=True, eq=False)
class Sidecar:
    """What a side file says.

    Attributes
    ----------
    source
        The side file, or the Parquet file in whose metadata it stands.
    digest
        Of the cells that it was written with.
    hierarchies, absent
        Of labelled tables: the tree of each dimension, and what an inner cell that is
        not in the file means ("empty" or "error").
    columns
        Of JJ and .tab files: what they have no column for.
    """

    source: Path
    digest: str
    name: str
    origin: Origin
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    absent: Literal["error", "empty"] = "error"
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def refuse_other(self, frame: Any, value: str) -> None:
        """Raise where columns are not those that the side file was written with."""
        try:
            digest = _frame_digest(frame, list(self.hierarchies), value)
        except (EvosdcError, KeyError, TypeError, ValueError) as error:
            raise self._other_table() from error
        if digest != self.digest:
            raise self._other_table()

    def apply_to(self, table: Table, *, labels: bool) -> Table:
        """Return the table of a JJ or ``.tab`` file with what the side file says."""
        if self.digest != _table_digest(table, labels=labels):
            raise self._other_table()
        plain = {n: column for n, column in self.columns.items() if n not in COLUMNS}
        return table.replace(
            origin=self.origin,
            name=self.name,
            contributions=Contributions.of_columns(self.columns),
            **plain,
        )

    def _other_table(self) -> InputError:
        return InputError(
            f"{self.source} was not written with the table as it is now: cells, "
            "values, statuses, levels or bounds are others",
            expected="the table and the side file of one run, as they were written",
            hint=_without(self.source),
        )


def sidecar_path(path: Path) -> Path:
    """Name of the side file."""
    return path.with_name(path.name + ".json")


def read_sidecar(path: Path) -> Sidecar | None:
    """Read the side file of a table, if there is one."""
    side = sidecar_path(path)
    return parse_sidecar(read_text(side), side) if side.exists() else None


def parse_sidecar(text: str, source: Path) -> Sidecar:
    """Read what `describe` or `write_with_sidecar` wrote."""
    try:
        data = json.loads(text)
        if data["format"] in _FORMATS and data.get("version") != _VERSION:
            raise InputError(
                f"{source} was written by another version, which did not say of which "
                "table it is",
                expected=f"version {_VERSION} of {_FORMAT}, with a digest of the cells",
                hint=_without(source),
            )
        if data["format"] != _FORMAT or data["absent"] not in ("error", "empty"):
            raise ValueError
        if data["content"] != _content_digest(data):
            raise InputError(
                f"{source} was changed after it was written",
                expected="the side file as evosdc wrote it",
                hint=_without(source),
            )
        return Sidecar(
            source=source,
            digest=str(data["digest"]),
            name=str(data["name"]),
            origin=Origin.from_json(data["origin"]),
            hierarchies={
                str(d["name"]): _tree(str(d["total"]), d["parents"])
                for d in data["dimensions"]
            },
            absent=data["absent"],
            columns={
                str(name): _column(name, column)
                for name, column in data["columns"].items()
            },
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{source} does not describe a table",
            expected="JSON as evosdc writes it beside a table",
            hint=_without(source),
        ) from error


def refuse_sidecar(path: Path, force: bool) -> Path:
    """Return the side file of a table that is to be written.

    Raises
    ------
    InputError
        Where there is one, unless it is ours and `force` says to replace it.
    """
    side = refuse_existing(sidecar_path(path), force)
    if not side.exists():
        return side
    try:
        ours = json.loads(read_text(side))["format"] in _FORMATS
    except (EvosdcError, ValueError, KeyError, TypeError):
        ours = False
    if not ours:
        raise InputError(
            f"{side} was not written by evosdc, and is where the side file goes",
            expected="a name whose side file is free",
            hint="give another name, or move that file away",
        )
    return side


def describe(table: Table, frame: Any) -> str:
    """Return the side file of a labelled table whose columns are in `frame`."""
    names = [d.name for d in table.dimensions]
    absent = missing_cells(table.dimensions, table.codes, most=1)
    return _text(
        table,
        _frame_digest(frame, names, "value"),
        absent="empty" if absent else "error",
        # Code and parent of each node; JSON keeps their order.
        dimensions=[
            {
                "name": d.name,
                "total": d.hierarchy.total,
                "parents": [
                    [code, d.hierarchy.codes[parent]]
                    for code, parent in zip(
                        d.hierarchy.codes[1:], d.hierarchy.parents[1:], strict=True
                    )
                ],
            }
            for d in table.dimensions
        ],
    )


def write_with_sidecar(
    path: Path,
    table: Table,
    write: Callable[..., None],
    *,
    labels: bool = False,
    force: bool,
) -> list[Path]:
    """Write a JJ or ``.tab`` file and, where it cannot hold all, its side file.

    Parameters
    ----------
    write
        Writes the file: takes a path, the table and ``force``.
    labels
        Whether the format holds the labels of cells.

    Returns
    -------
    :
        The file, and the side file where there is one.
    """
    said = {name: getattr(table, name) for name in _COLUMNS if name not in COLUMNS}
    if table.contributions is not None:
        said |= table.contributions.columns()
    columns = {n: column.tolist() for n, column in said.items() if column is not None}
    for name in _OPEN:  # JSON has no infinity
        columns[name] = [None if np.isinf(x) else x for x in columns[name]]
    text = None
    if table.origin != Origin(bounds="columns") or set(columns) > set(_OPEN):
        digest = _table_digest(table, labels=labels)
        text = _text(table, digest, columns=columns)
    write_together(path, text, lambda: write(path, table, force=force), force=force)
    return [path] if text is None else [path, sidecar_path(path)]


def write_together(
    path: Path, text: str | None, write: Callable[[], None], *, force: bool
) -> None:
    """Write the file of a table and its side file, or neither.

    Two files cannot be renamed at once. Whenever the run is killed, what is left is one
    of the two pairs, a side file without a table, or two files that do not fit, which
    is an error for whoever reads them: never a table without the rules it was made by.

    Parameters
    ----------
    text
        Of the side file; None where there is none, and one of an earlier table goes.
    write
        Writes the table.
    """
    refuse_existing(path, force)
    side = refuse_sidecar(path, force)
    if text is None:
        write()
        side.unlink(missing_ok=True)
    elif side.exists():
        with open_output(side, force) as stream:
            stream.write(text.encode("utf-8"))
            write()
    else:
        write_text(side, text)
        try:
            write()
        except BaseException:
            side.unlink(missing_ok=True)
            raise


def _text(table: Table, digest: str, **parts: Any) -> str:
    data = {
        "format": _FORMAT,
        "version": _VERSION,
        "name": table.name,
        "digest": digest,
        "origin": table.origin.as_json(),
        "absent": "error",
        "dimensions": [],
        "columns": {},
        **parts,
    }
    data["content"] = _content_digest(data)
    indent = 1 if data["dimensions"] else None
    return json.dumps(data, ensure_ascii=False, indent=indent) + "\n"


def _content_digest(data: Mapping[str, Any]) -> str:
    """Fingerprint of all that a side file says: edited rules marked no cell."""
    said = {name: part for name, part in data.items() if name != "content"}
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _without(source: Path) -> str:
    """Say what to do about a side file that cannot be used."""
    away = (
        f"delete {source.name}"
        if source.suffix == ".json"
        else f"write the columns without the metadata {METADATA.decode()!r}"
    )
    return (
        "tabulate the records again (changes by hand belong in --hide, --publish or "
        f"--apriori); or {away} to read the table as it stands, without its rules, "
        "with --hierarchy for its sub-totals"
    )


def _column(name: str, numbers: Sequence[Any]) -> NDArray[Any]:
    column = np.array(numbers, dtype=_COLUMNS[name])
    return np.where(np.isnan(column), _OPEN[name], column) if name in _OPEN else column


def _tree(total: str, pairs: Sequence[Sequence[str]]) -> Hierarchy:
    """Nodes in the order written, so that a table comes back exactly as it was."""
    node = {total: 0}
    parents = [-1]
    for code, parent in pairs:
        parents.append(node[parent])
        node[str(code)] = len(parents) - 1
    return Hierarchy((total, *(str(code) for code, _ in pairs)), tuple(parents))


def _frame_digest(frame: Any, dimensions: Sequence[str], value: str) -> str:
    """Fingerprint of labels, values and all else that a verdict depends on."""
    found = sha256()
    for name in dimensions:
        codes, rows = code_column(frame, name)
        _add(found, name, codes, rows.astype(np.int64))
    _add(found, "value", _rounded(number_column(frame, value)))
    for name in sorted(set(RESERVED) - set(_FREE)):
        if name == value or name not in frame.column_names:
            continue
        if name in TEXTS:
            _add(found, name, [word or "" for word in frame[name].to_pylist()])
        else:
            _add(found, name, _rounded(number_column(frame, name)))
    return found.hexdigest()


def _table_digest(table: Table, *, labels: bool) -> str:
    """Fingerprint of what a JJ or ``.tab`` file holds of a table, and its equations.

    Bounds stand in the side file; JJ has no infinite ones.
    """
    names = [d.name for d in table.dimensions] if labels else []
    held = [*names, "value", "status", *LEVELS]
    held += ["frequency"] * (labels and table.frequency is not None)
    cells = _frame_digest(frame_of(table).select(held), names, "value")
    found = sha256(cells.encode())
    rows = sparse.csr_array(table.matrix, copy=True)
    rows.eliminate_zeros()
    rows.sort_indices()
    rhs = table.rhs
    if labels:
        # Equations follow the order of the codes, which a .tab file does not keep.
        cuts = list(pairwise(rows.indptr.tolist()))
        order = sorted(
            range(len(cuts)), key=lambda k: rows.indices[slice(*cuts[k])].tolist()
        )
        rows, rhs = rows[order], rhs[order]
    _add(found, "rows", rows.indptr.astype(np.int64), rows.indices.astype(np.int64))
    _add(found, "equations", _rounded(rows.data), _rounded(rhs))
    return found.hexdigest()


def _add(found: Any, name: str, *parts: Sequence[str] | NDArray[Any]) -> None:
    """Add one column to a fingerprint; lengths keep columns apart."""
    found.update(json.dumps([name, *map(len, parts)]).encode())
    for part in parts:
        raw = part.tobytes() if isinstance(part, np.ndarray) else json.dumps(part)
        found.update(raw if isinstance(raw, bytes) else raw.encode())


def _rounded(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers to twelve digits; one zero, and one blank."""
    whole = np.asarray(numbers, dtype=np.float64)
    finite = np.isfinite(whole)
    rounded = significant(np.where(finite, whole, 0.0), _DIGITS) + 0.0
    return np.where(finite, rounded, np.where(np.isnan(whole), np.nan, whole))
