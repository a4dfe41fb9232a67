"""What JJ and ``.tab`` files cannot hold: a side file ``NAME.json`` beside them.

Rules, prior knowledge and lone respondents travel with the table, whatever its format.
A side file that is not of the table beside it is an error, not a guess.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from evosdc.errors import InputError
from evosdc.io.encoding import read_text
from evosdc.io.paths import write_text
from evosdc.table import Origin, Table

_FORMAT = "evosdc-origin"
_KINDS: dict[str, Any] = {"respondent": str, "unshown": bool}
_COLUMNS = ("frequency", "holdings", "respondent", "unshown")


def beside(path: Path) -> Path:
    """Name of the side file."""
    return path.with_name(path.name + ".json")


def write_beside(path: Path, table: Table, *, force: bool) -> None:
    """Write what the format of `path` cannot hold, where there is any."""
    columns = {
        name: getattr(table, name).tolist()
        for name in _COLUMNS
        if getattr(table, name) is not None
    }
    if table.origin == Origin(bounds="columns") and not columns:
        return
    data = {
        "format": _FORMAT,
        "version": 1,
        "name": table.name,
        "cells": _digest(table),
        "origin": table.origin.as_json(),
        "lower": [None if np.isneginf(x) else x for x in table.lower.tolist()],
        "upper": [None if np.isposinf(x) else x for x in table.upper.tolist()],
        **columns,
    }
    write_text(beside(path), json.dumps(data) + "\n", force)


def with_beside(path: Path, table: Table) -> Table:
    """Return a table with what stands in the side file of `path`, if there is one."""
    side = beside(path)
    if not side.exists():
        return table
    try:
        data = json.loads(read_text(side))
        if data["format"] != _FORMAT:
            raise ValueError
        changes: dict[str, Any] = {
            "origin": Origin.from_json(data["origin"]),
            "name": str(data["name"]),
            "lower": np.array([-np.inf if x is None else x for x in data["lower"]]),
            "upper": np.array([np.inf if x is None else x for x in data["upper"]]),
        }
        for name in _COLUMNS:
            if name in data:
                kind: Any = _KINDS.get(name, np.int64)
                changes[name] = np.array(data[name], dtype=kind)
        cells = str(data["cells"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{side} does not describe the table beside it",
            expected="JSON as evosdc writes it",
            hint="remove it, or write the table again",
        ) from error
    if cells != _digest(table):
        raise InputError(
            f"{side} is of another table than {path.name}",
            expected="the side file that was written with the table",
            hint="remove it, or write the table again",
        )
    return table.replace(**changes)


def _digest(table: Table) -> str:
    """Fingerprint of the values, in the order of the file, to twelve digits."""
    words = ";".join(f"{x:.12g}" for x in table.value.tolist())
    return sha256(words.encode()).hexdigest()
