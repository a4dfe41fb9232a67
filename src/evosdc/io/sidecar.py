"""Side files: ``NAME.json`` holds what the file ``NAME`` of a table cannot.

Rules, prior knowledge, hierarchies and contributors are kept with the table, whatever
its format; Parquet holds the same text in its metadata. A digest of the cells
identifies the table that a side file was written with. With any other table it is an
error: the rules of one table do not hold for another, and to ignore them would lose
what was known.
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
_NOT_DIGESTED = ("cell_id", "weight", "cost")
# Other programs that save the file keep 15 digits at least.
_DIGITS = 12
# The columns of a table that JJ and .tab files lack.
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
# The bounds of cells that have none.
_UNBOUNDED = {"lower": -np.inf, "upper": np.inf}


@dataclass(frozen=True, eq=False)
class Sidecar:
    """The content of a side file.

    Attributes
    ----------
    source
        The side file, or the Parquet file whose metadata hold it.
    digest
        Digest of the cells that it was written with.
    hierarchies, absent
        For labelled tables: the hierarchy of each dimension, and what an inner cell
        that is not in the file means ("empty" or "error").
    columns
        For JJ and .tab files: the columns that they lack.
    """

    source: Path
    digest: str
    name: str
    origin: Origin
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    absent: Literal["error", "empty"] = "error"
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def refuse_other(self, frame: Any, value: str) -> None:
        """Raise unless the columns are those that the side file was written with."""
        try:
            digest = _frame_digest(frame, list(self.hierarchies), value)
        except (EvosdcError, KeyError, TypeError, ValueError) as error:
            raise self._other_table() from error
        if digest != self.digest:
            raise self._other_table()

    def apply_to(self, table: Table, *, labels: bool) -> Table:
        """Return the table of a JJ or ``.tab`` file with the content of this file."""
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
            "values, statuses, levels or bounds differ",
            expected="the table and the side file of one run, as they were written",
            hint=_advice(self.source),
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
                f"{source} was written by another version, without a digest of its "
                "table",
                expected=f"version {_VERSION} of {_FORMAT}, with a digest of the cells",
                hint=_advice(source),
            )
        if data["format"] != _FORMAT or data["absent"] not in ("error", "empty"):
            raise ValueError
        if data["content"] != _content_digest(data):
            raise InputError(
                f"{source} was changed after it was written",
                expected="the side file as evosdc wrote it",
                hint=_advice(source),
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
            expected="JSON as evosdc writes it with a table",
            hint=_advice(source),
        ) from error


def refuse_sidecar(path: Path, force: bool) -> Path:
    """Return the path of the side file of a table that is to be written.

    Raises
    ------
    InputError
        If the file exists, unless evosdc wrote it and `force` says to replace it.
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
            f"{side} was not written by evosdc, and has the name of the side file",
            expected="a name whose side file is free",
            hint="give another name, or move that file away",
        )
    return side


def describe(table: Table, frame: Any) -> str:
    """Return the text of the side file of a labelled table with columns `frame`."""
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
    """Write a JJ or ``.tab`` file and, if it cannot hold all, its side file.

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
    for name in _UNBOUNDED:  # JSON has no infinity
        columns[name] = [None if np.isinf(x) else x for x in columns[name]]
    text = None
    if table.origin != Origin(bounds="columns") or set(columns) > set(_UNBOUNDED):
        digest = _table_digest(table, labels=labels)
        text = _text(table, digest, columns=columns)
    write_together(path, text, lambda: write(path, table, force=force), force=force)
    return [path] if text is None else [path, sidecar_path(path)]


def write_together(
    path: Path, text: str | None, write: Callable[[], None], *, force: bool
) -> None:
    """Write the file of a table and its side file, or neither.

    Two files cannot be renamed at once. Whenever the run is killed, there remain the
    old pair, the new pair, a side file without a table, or two files that do not belong
    together, which is an error on reading: never a table without its rules.

    Parameters
    ----------
    text
        The side file; if None, that of an earlier table is removed.
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
    """Return the digest of a whole side file, which must not be edited."""
    said = {name: part for name, part in data.items() if name != "content"}
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _advice(source: Path) -> str:
    """Return what to do about a side file that cannot be used."""
    remove = (
        f"delete {source.name}"
        if source.suffix == ".json"
        else f"write the columns without the metadata {METADATA.decode()!r}"
    )
    return (
        "tabulate the records again (manual changes belong in --hide, --publish or "
        f"--apriori); or {remove} to read the table as it stands, without its rules, "
        "with --hierarchy for its sub-totals"
    )


def _column(name: str, numbers: Sequence[Any]) -> NDArray[Any]:
    column = np.array(numbers, dtype=_COLUMNS[name])
    if name not in _UNBOUNDED:
        return column
    return np.where(np.isnan(column), _UNBOUNDED[name], column)


def _tree(total: str, pairs: Sequence[Sequence[str]]) -> Hierarchy:
    """Return a hierarchy with its nodes in the order in which they were written."""
    node = {total: 0}
    parents = [-1]
    for code, parent in pairs:
        parents.append(node[parent])
        node[str(code)] = len(parents) - 1
    return Hierarchy((total, *(str(code) for code, _ in pairs)), tuple(parents))


def _frame_digest(frame: Any, dimensions: Sequence[str], value: str) -> str:
    """Return the digest of labels, values and all else that a verdict depends on."""
    found = sha256()
    for name in dimensions:
        codes, rows = code_column(frame, name)
        _add(found, name, codes, rows.astype(np.int64))
    _add(found, "value", _rounded(number_column(frame, value)))
    for name in sorted(set(RESERVED) - set(_NOT_DIGESTED)):
        if name == value or name not in frame.column_names:
            continue
        if name in TEXTS:
            _add(found, name, [word or "" for word in frame[name].to_pylist()])
        else:
            _add(found, name, _rounded(number_column(frame, name)))
    return found.hexdigest()


def _table_digest(table: Table, *, labels: bool) -> str:
    """Return the digest of what a JJ or ``.tab`` file holds, with the equations.

    Bounds are in the side file, as JJ has no infinite ones.
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
    """Add a column to a digest; its length separates it from the next."""
    found.update(json.dumps([name, *map(len, parts)]).encode())
    for part in parts:
        raw = part.tobytes() if isinstance(part, np.ndarray) else json.dumps(part)
        found.update(raw if isinstance(raw, bytes) else raw.encode())


def _rounded(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers to twelve digits, with one kind of zero and of blank."""
    whole = np.asarray(numbers, dtype=np.float64)
    finite = np.isfinite(whole)
    rounded = significant(np.where(finite, whole, 0.0), _DIGITS) + 0.0
    return np.where(finite, rounded, np.where(np.isnan(whole), np.nan, whole))
