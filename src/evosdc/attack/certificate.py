"""Witnesses, and certificates put together from them; as plain arrays for files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.results import Certificate

# Error up to which a witness that could not be made exact is accepted, as a share of
# its move.
FLOATING_TOLERANCE = 1e-8
_ARRAYS = tuple(field.name for field in fields(Certificate))


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
