"""Certificates: witnesses as plain arrays, and the file that holds them.

``docs/reference/certificate.md`` describes the arrays and the bytes that are hashed.
The seal finds accidental changes; it is no signature, and the checker does not rely on
it: it adds every witness up again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.errors import InputError
from evosdc.results import Certificate
from evosdc.table import Origin, Table
from evosdc.table.attackers import KINDS, LONE, lone_respondents
from evosdc.table.shares import Coalition
from evosdc.table.status import PRIMARY, SECONDARY

# Error up to which a witness that could not be made exact is accepted, as a share of
# its move.
FLOATING_TOLERANCE = 1e-8
_ARRAYS = tuple(field.name for field in fields(Certificate))
_FORMAT = "evosdc-certificate 3"
# This format states the rules in a sentence only, which cannot be compared.
_EARLIER_FORMAT = "evosdc-certificate 2"
# The order in which the levels of accepted cells are stored.
LEVELS = ("upl", "lpl", "spl")
# Settings on what made cells sensitive, which must equal those of the table, with their
# names in messages.
ORIGIN: Mapping[str, str] = {
    "rules": "rules",
    "floor": "least levels",
    "waived": "consents",
    "ring": "rings of linked tables",
    "count_zeros": "counting of contributors of zero",
}
# What each fingerprint covers, as messages name it.
GROUPS: Mapping[str, str] = {
    "cells": "the cells and their order",
    "values": "values",
    "bounds": "bounds (lower, upper)",
    "levels": "protection levels (lpl, upl, spl)",
    "sensitive": "which cells are sensitive (status u)",
    "equations": "equations",
    "respondents": "lone respondents",
}
_END_OF_WORD, _END_OF_LINE = b"\x1f", b"\x1e"
_MASKS = ("hidden", "known", "wished")
_TEXTS = ("format", "claim", "settings", "digests", "digest", "seal")
_SWITCHES = ("strict", "secondaries", "insiders", "whole", "fractions", "counts")
_SETTINGS = (*_SWITCHES, "tolerance", "bounds", "threshold")
# Defaults of settings that files of earlier versions do not have.
_OPTIONAL: Mapping[str, Any] = {
    "fractions": False,
    "attackers": LONE,
    "coalitions": [],
    "accepted": [],
}
# A file that states a larger tolerance, as a share of a move, is refused: beyond
# rounding errors a witness proves nothing.
_MAX_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Witness:
    """A deviation that moves `cell` in direction `sign`.

    It adds ``numerators[j] / denominator`` to ``indices[j]``; `method` is how it was
    found.
    """

    cell: int
    sign: int
    indices: NDArray[np.int64]
    numerators: list[int]
    denominator: int
    method: str


def witness_of(certificate: Certificate, number: int, method: str = "") -> Witness:
    """Return one witness of a certificate."""
    c = certificate
    part = slice(int(c.indptr[number]), int(c.indptr[number + 1]))
    return Witness(
        int(c.cells[number]),
        int(c.signs[number]),
        c.indices[part],
        c.numerators[part].tolist(),
        int(c.denominators[number]),
        method,
    )


def assemble(witnesses: Sequence[Witness]) -> Certificate:
    """Put witnesses together."""
    indices = [np.empty(0, dtype=np.int64), *(w.indices for w in witnesses)]
    return Certificate(
        cells=np.array([w.cell for w in witnesses], dtype=np.int64),
        signs=np.array([w.sign for w in witnesses], dtype=np.int8),
        indptr=_starts([len(w.numerators) for w in witnesses]),
        indices=np.concatenate(indices).astype(np.int64),
        numerators=_integers([x for w in witnesses for x in w.numerators]),
        denominators=_integers([w.denominator for w in witnesses]),
    )


def joined(parts: Sequence[Certificate]) -> Certificate:
    """Put the witnesses of several certificates together."""
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in _ARRAYS
        if name != "indptr"
    }
    sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    return Certificate(indptr=_starts(sizes), **arrays)


def _starts(sizes: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def _integers(numbers: Sequence[int]) -> NDArray[Any]:
    """Return an int64 array where the numbers fit, else one of Python integers."""
    if not numbers or max(max(numbers), -min(numbers)) < 2**63:
        return np.array(numbers, dtype=np.int64)
    out = np.empty(len(numbers), dtype=object)
    out[:] = numbers
    return out


def witness_arrays(certificate: Certificate) -> dict[str, NDArray[Any]]:
    """Return the witnesses as arrays; integers beyond 64 bits become text."""
    arrays = {name: getattr(certificate, name) for name in _ARRAYS}
    return {k: v.astype(str) if v.dtype == object else v for k, v in arrays.items()}


def certificate_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Certificate:
    """Return the witnesses that `witness_arrays` gave."""
    missing = [name for name in _ARRAYS if name not in arrays]
    if missing:
        raise InputError(
            f"a certificate without {', '.join(missing)}",
            expected=f"the arrays {', '.join(_ARRAYS)}",
            hint="give a certificate file that this package wrote",
        )

    def integers(numbers: NDArray[Any]) -> NDArray[Any]:
        if numbers.dtype.kind == "U":
            return _integers([int(x) for x in numbers.tolist()])
        return np.asarray(numbers, dtype=np.int64)

    return Certificate(
        cells=np.asarray(arrays["cells"], dtype=np.int64),
        signs=np.asarray(arrays["signs"], dtype=np.int8),
        indptr=np.asarray(arrays["indptr"], dtype=np.int64),
        indices=np.asarray(arrays["indices"], dtype=np.int64),
        numerators=integers(arrays["numerators"]),
        denominators=integers(arrays["denominators"]),
    )


def certificate_arrays(
    certificate: Certificate,
    *,
    table: Table,
    claim: Mapping[str, str],
    strict: bool,
    secondaries: bool,
    insiders: bool,
    attackers: str = LONE,
    coalitions: Sequence[Coalition] = (),
    known: NDArray[np.bool_] | None = None,
    wished: NDArray[np.bool_] | None = None,
    accepted: NDArray[np.bool_] | None = None,
    whole: bool | None = None,
    fractions: bool = False,
    tolerance: float = 0.0,
) -> dict[str, NDArray[Any]]:
    """Return a certificate file as arrays that need no pickling.

    They hold no values of the table, only fingerprints of it.

    Parameters
    ----------
    table
        The table as it was judged, with the statuses of the pattern.
    claim
        What the verdict states.
    strict, secondaries, insiders, known, whole, fractions
        How the table was judged; see `evosdc.attack.judge` and `verify`.
    attackers, coalitions
        The attackers other than the public, as `find_attackers` takes them.
    wished
        Cells that are sensitive by request, not by the table.
    accepted
        Cells whose levels are lower than those of the table that was given, by request.
    tolerance
        The verdict's; 0 where every witness is exact.
    """
    none = np.zeros(len(table), dtype=bool)
    requested = none if wished is None else wished.astype(bool)
    respondent = lone_respondents(table) if insiders else np.full(len(table), -1)
    given = table.replace(status=np.where(requested, SECONDARY, table.status))
    digests = table_digests(given, respondent)
    settings = {
        "strict": strict,
        "secondaries": secondaries,
        "insiders": insiders,
        "attackers": attackers,
        "coalitions": [[one.name, *one.members] for one in coalitions],
        "accepted": [
            [cell, *(float(getattr(table, name)[cell]) for name in LEVELS)]
            for cell in np.flatnonzero(none if accepted is None else accepted).tolist()
        ],
        "whole": table.origin.in_whole if whole is None else whole,
        "fractions": fractions,
        "tolerance": max(tolerance, FLOATING_TOLERANCE) if tolerance else 0.0,
        "counts": table.origin.counts,
        "bounds": table.origin.bounds,
        "threshold": table.origin.threshold,
    }
    origin = table.origin.as_json()
    settings |= {name: origin[name] for name in ORIGIN}
    arrays = {
        "format": np.array(_FORMAT),
        **witness_arrays(certificate),
        "hidden": table.hidden,
        "known": none if known is None else known.astype(bool),
        "wished": requested,
        "respondent": numbered(respondent),
        "claim": np.array(json.dumps(dict(claim), ensure_ascii=False)),
        "settings": np.array(json.dumps(settings)),
        "digests": np.array(json.dumps(digests)),
        "digest": np.array(digest_of(digests)),
    }
    return {**arrays, "seal": np.array(seal_of(arrays))}


def table_digests(table: Table, respondent: NDArray[np.int64]) -> dict[str, str]:
    """Return fingerprints of a table by kind of column, as hexadecimal SHA-256.

    `respondent` numbers the lone respondents that are attackers, -1 for none.
    """
    parts = {
        "cells": _cells(table),
        "values": _doubles(table.value),
        "bounds": _doubles(table.lower) + _doubles(table.upper),
        "levels": _doubles(table.lpl) + _doubles(table.upl) + _doubles(table.spl),
        "sensitive": (table.status == PRIMARY).astype("u1").tobytes(),
        "equations": _equations(table),
        "respondents": numbered(respondent).astype("<i8").tobytes(),
    }
    return {name: sha256(parts[name]).hexdigest() for name in GROUPS}


def digest_of(digests: Mapping[str, str]) -> str:
    """Return the fingerprint of all fingerprints of a table."""
    lines = "".join(f"{name} {digests[name]}\n" for name in GROUPS)
    return sha256(lines.encode()).hexdigest()


def seal_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the fingerprint of all arrays except the seal, in the order of names.

    Each array gives its name, type and shape as text, each followed by a zero byte, and
    then its bytes, little-endian and in row-major order.
    """
    digest = sha256()
    for name in sorted(arrays):
        if name == "seal":
            continue
        array = np.asarray(arrays[name])
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        array = array.reshape(np.shape(arrays[name]))
        shape = ",".join(map(str, array.shape))
        for word in (name, array.dtype.str, shape):
            digest.update(word.encode() + b"\0")
        digest.update(array.tobytes())
    return digest.hexdigest()


def numbered(respondent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number respondents from 0 in the order of their first cells; -1 for none."""
    out = np.full(len(respondent), -1, dtype=np.int64)
    alone = np.flatnonzero(respondent >= 0)
    if len(alone):
        _, first, group = np.unique(
            respondent[alone], return_index=True, return_inverse=True
        )
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        out[alone] = rank[group]
    return out


def _cells(table: Table) -> bytes:
    """Names of the dimensions, then the codes (or else the number) of each cell."""
    if not table.dimensions:
        lines = [[str(cell)] for cell in range(len(table))]
    else:
        words = [d.hierarchy.codes for d in table.dimensions]
        lines = [
            [words[k][c].strip() for k, c in enumerate(row)]
            for row in table.codes.tolist()
        ]
    head = [d.name for d in table.dimensions]
    return b"".join(
        b"".join(word.encode() + _END_OF_WORD for word in line) + _END_OF_LINE
        for line in [head, *lines]
    )


def _doubles(numbers: NDArray[np.float64]) -> bytes:
    # Adding 0 turns a negative zero into a positive one.
    return (numbers + 0.0).astype("<f8").tobytes()


def _equations(table: Table) -> bytes:
    """The distinct equations in the order of their bytes."""
    rows = sparse.csr_array(table.matrix, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    rows.sort_indices()
    cells, factors = rows.indices.astype("<i8"), rows.data.astype("<f8")
    right = (table.rhs + 0.0).astype("<f8")
    found = {
        np.array([b - a], "<i8").tobytes()
        + cells[a:b].tobytes()
        + factors[a:b].tobytes()
        + right[row : row + 1].tobytes()
        for row, (a, b) in enumerate(pairwise(rows.indptr.tolist()))
        if a < b
    }
    return b"".join(sorted(found))


@dataclass(frozen=True, eq=False)
class Proof:
    """A certificate file: witnesses, their table, and what they should prove.

    Attributes
    ----------
    claim
        The sentences of the verdict by name, as the writer of the file put them; they
        are not checked.
    settings
        How levels are read and who attacks: strict, secondaries, insiders, whole,
        fractions, tolerance; the prior knowledge: counts, bounds, threshold; and,
        unless the file is of an earlier format, what made cells sensitive (`ORIGIN`).
    hidden, known, wished
        Which cells are not published, which of them attackers know nevertheless, and
        which are sensitive by request and not by the table.
    respondent
        Number of the lone respondent of each cell, -1 for none.
    digests, digest
        Fingerprints of the table.
    sealed
        Whether the seal is that of the arrays.
    """

    certificate: Certificate
    claim: Mapping[str, str]
    settings: Mapping[str, Any]
    hidden: NDArray[np.bool_]
    known: NDArray[np.bool_]
    wished: NDArray[np.bool_]
    respondent: NDArray[np.int64]
    digests: Mapping[str, str]
    digest: str
    sealed: bool


def read_proof(arrays: Mapping[str, NDArray[Any]]) -> Proof:
    """Read what `certificate_arrays` gave.

    Raises
    ------
    InputError
        For a file of an earlier format, and for one that cannot be read as this one.
    """
    if "format" not in arrays:
        raise InputError(
            "the certificate has witnesses alone (format 1): it does not say of which "
            "table they are, nor what they should prove",
            expected=f"a file of format {_FORMAT!r}",
            hint="protect or audit the table again to write one",
        )
    found = str(arrays["format"])[:40]
    if found not in (_FORMAT, _EARLIER_FORMAT):
        raise InputError(
            f"the certificate has format {found!r}",
            expected=f"{_FORMAT!r} or {_EARLIER_FORMAT!r}",
            hint="use the version of evosdc that wrote it, or protect the table again",
        )
    try:
        text = {name: str(arrays[name].item()) for name in _TEXTS}
        claim = {
            _one_line(k): _one_line(v) for k, v in json.loads(text["claim"]).items()
        }
        given = {**_OPTIONAL, **json.loads(text["settings"])}
        settings = {name: given[name] for name in _SETTINGS}
        digests = {name: str(json.loads(text["digests"])[name]) for name in GROUPS}
        if found == _FORMAT:
            settings |= origin_settings({name: given[name] for name in ORIGIN})
        if not all(isinstance(settings[name], bool) for name in _SWITCHES):
            raise ValueError("settings")
        tolerance = float(settings["tolerance"])
        if not 0 <= tolerance <= _MAX_TOLERANCE:
            raise ValueError("tolerance")
        settings["bounds"] = str(settings["bounds"])
        settings |= _attackers_and_accepted(given)
        if settings["threshold"] is not None:
            settings["threshold"] = int(settings["threshold"])
        masks = [np.asarray(arrays[name]) for name in _MASKS]
        respondent = np.asarray(arrays["respondent"])
        if any(mask.dtype != bool or mask.ndim != 1 for mask in masks):
            raise ValueError("masks")
        if respondent.dtype.kind != "i" or respondent.ndim != 1:
            raise ValueError("respondent")
        certificate = certificate_from_arrays(arrays)
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(
            f"the certificate cannot be read ({type(error).__name__} in its arrays)",
            expected="the arrays of docs/reference/certificate.md",
            hint="protect or audit the table again to write one",
        ) from error
    return Proof(
        certificate=certificate,
        claim=claim,
        settings=settings,
        hidden=masks[0],
        known=masks[1],
        wished=masks[2],
        respondent=respondent.astype(np.int64),
        digests=digests,
        digest=text["digest"],
        sealed=text["seal"] == seal_of(arrays),
    )


def origin_settings(origin: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of `ORIGIN`; an empty list of rules counts as none."""
    read = Origin.from_json(origin).as_json()
    return {name: read[name] or None for name in ORIGIN}


def _attackers_and_accepted(given: Mapping[str, Any]) -> dict[str, Any]:
    """Read the attackers other than the public, and levels lowered on request."""
    listed = given["coalitions"]
    if not isinstance(listed, list) or not all(
        isinstance(one, list) and len(one) > 1 for one in listed
    ):
        raise ValueError("coalitions")
    if given["attackers"] not in KINDS:
        raise ValueError("attackers")
    return {
        "attackers": str(given["attackers"]),
        "coalitions": [[str(name) for name in one] for one in given["coalitions"]],
        "accepted": [
            (int(cell), float(up), float(down), float(width))
            for cell, up, down, width in given["accepted"]
        ],
    }


def _one_line(text: Any) -> str:
    """Return text of a certificate as one line of printable characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
