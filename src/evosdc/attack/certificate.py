"""Certificates as they are put together and as plain arrays for files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.results import Certificate

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


def certificate_arrays(certificate: Certificate) -> dict[str, NDArray[Any]]:
    """Return the certificate as arrays that can be saved without pickling.

    Whole numbers beyond 64 bits become decimal strings.
    """

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
    """Return the certificate that `certificate_arrays` wrote."""
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
