"""Certificates as they are put together and as plain arrays for files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.seal import digest_of, numbered, seal_of, table_digests
from evosdc.errors import InputError
from evosdc.results import Certificate
from evosdc.table import Table
from evosdc.table.attackers import LONE, lone_respondents
from evosdc.table.shares import Coalition
from evosdc.table.status import SECONDARY

FORMAT = "evosdc-certificate 3"
LEVELS = ("upl", "lpl", "spl")
# Settings that say what made cells sensitive, in words: they must be the table's.
ORIGIN: Mapping[str, str] = {
    "rules": "rules",
    "floor": "least levels",
    "waived": "consents",
    "ring": "rings of linked tables",
    "count_zeros": "counting of contributors of zero",
}

# A witness that could not be made exact is taken up to this share of its move.
FLOATING = 1e-8


@dataclass(frozen=True, eq=False)
class Witness:
    """A deviation that moves `cell` in direction `sign`.

    It adds ``numerators[j] / denominator`` to ``indices[j]``; `way` is the means by
    which it was found.
    """

    cell: int
    sign: int
    indices: NDArray[np.int64]
    numerators: list[int]
    denominator: int
    way: str


def assemble(witnesses: Sequence[Witness]) -> Certificate:
    """Put witnesses together."""
    sizes = [len(w.numerators) for w in witnesses]
    return Certificate(
        cells=np.array([w.cell for w in witnesses], dtype=np.int64),
        signs=np.array([w.sign for w in witnesses], dtype=np.int8),
        indptr=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
        indices=(
            np.concatenate([w.indices for w in witnesses]).astype(np.int64)
            if witnesses
            else np.empty(0, dtype=np.int64)
        ),
        numerators=whole_numbers([x for w in witnesses for x in w.numerators]),
        denominators=whole_numbers([w.denominator for w in witnesses]),
    )


def joined(parts: Sequence[Certificate]) -> Certificate:
    """Put the witnesses of several certificates together."""
    sizes = np.concatenate([np.diff(p.indptr) for p in parts])
    return Certificate(
        cells=np.concatenate([p.cells for p in parts]),
        signs=np.concatenate([p.signs for p in parts]),
        indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        indices=np.concatenate([p.indices for p in parts]),
        numerators=np.concatenate([p.numerators for p in parts]),
        denominators=np.concatenate([p.denominators for p in parts]),
    )


def whole_numbers(numbers: Sequence[int]) -> NDArray[Any]:
    """Return an int64 array where the numbers fit, else one of Python integers."""
    if not numbers or max(max(numbers), -min(numbers)) < 2**63:
        return np.array(numbers, dtype=np.int64)
    out = np.empty(len(numbers), dtype=object)
    out[:] = numbers
    return out


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
    """Return a certificate and all that it is of, as arrays without pickling.

    ``docs/reference/certificate.md`` says what is in them. Values are not: of the table
    there are only fingerprints.

    Parameters
    ----------
    table
        The table as it was judged, with the statuses of the pattern.
    claim
        What the verdict states.
    strict, secondaries, insiders, known, whole, fractions
        As the verdict was reached; see `evosdc.attack.judge` and `verify`.
    attackers, coalitions
        Who the attackers beside the public are, for
        `evosdc.table.attackers.find_attackers`.
    wished
        Cells that are sensitive by request, not by the table.
    accepted
        Cells whose levels are lower than those of the table that was given, by request.
    tolerance
        The verdict's; 0 where every witness is exact.
    """
    none = np.zeros(len(table), dtype=bool)
    asked = none if wished is None else wished.astype(bool)
    respondent = lone_respondents(table) if insiders else np.full(len(table), -1)
    own = table.replace(status=np.where(asked, SECONDARY, table.status))
    digests = table_digests(own, respondent)
    settings = {
        "strict": strict,
        "secondaries": secondaries,
        "insiders": insiders,
        "attackers": attackers,
        "coalitions": [[one.name, *one.members] for one in coalitions],
        "accepted": []
        if accepted is None
        else [
            [cell, *(float(getattr(table, name)[cell]) for name in LEVELS)]
            for cell in np.flatnonzero(accepted).tolist()
        ],
        "whole": table.origin.in_whole if whole is None else whole,
        "fractions": fractions,
        "tolerance": max(tolerance, FLOATING) if tolerance else 0.0,
        "counts": table.origin.counts,
        "bounds": table.origin.bounds,
        "threshold": table.origin.threshold,
    }
    origin = table.origin.as_json()
    settings |= {name: origin[name] for name in ORIGIN}
    arrays = {
        "format": np.array(FORMAT),
        **witness_arrays(certificate),
        "hidden": table.hidden,
        "known": none if known is None else known.astype(bool),
        "wished": asked,
        "respondent": numbered(respondent),
        "claim": np.array(json.dumps(dict(claim), ensure_ascii=False)),
        "settings": np.array(json.dumps(settings)),
        "digests": np.array(json.dumps(digests)),
        "digest": np.array(digest_of(digests)),
    }
    return {**arrays, "seal": np.array(seal_of(arrays))}


def witness_arrays(certificate: Certificate) -> dict[str, NDArray[Any]]:
    """Return the witnesses alone; whole numbers beyond 64 bits become text."""

    def plain(numbers: NDArray[Any]) -> NDArray[Any]:
        return numbers.astype(str) if numbers.dtype == object else numbers

    return {
        "cells": certificate.cells,
        "signs": certificate.signs,
        "indptr": certificate.indptr,
        "indices": certificate.indices,
        "numerators": plain(certificate.numerators),
        "denominators": plain(certificate.denominators),
    }


def certificate_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Certificate:
    """Return the witnesses that `certificate_arrays` wrote."""
    names = ("cells", "signs", "indptr", "indices", "numerators", "denominators")
    missing = [name for name in names if name not in arrays]
    if missing:
        raise InputError(
            f"a certificate without {', '.join(missing)}",
            expected=f"the arrays {', '.join(names)}",
            hint="give a certificate file that this package wrote",
        )

    def whole(numbers: NDArray[Any]) -> NDArray[Any]:
        if numbers.dtype.kind == "U":
            return whole_numbers([int(x) for x in numbers.tolist()])
        return np.asarray(numbers, dtype=np.int64)

    return Certificate(
        cells=np.asarray(arrays["cells"], dtype=np.int64),
        signs=np.asarray(arrays["signs"], dtype=np.int8),
        indptr=np.asarray(arrays["indptr"], dtype=np.int64),
        indices=np.asarray(arrays["indices"], dtype=np.int64),
        numerators=whole(arrays["numerators"]),
        denominators=whole(arrays["denominators"]),
    )
