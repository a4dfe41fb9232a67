"""A certificate file against its table, for the library and the command line.

Neither a searcher nor a solver is loaded: what checks a proof is small enough to read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evosdc.attack import (
    Proof,
    ProofReport,
    Requirements,
    check_proof,
    read_proof,
)
from evosdc.io.archive import read_arrays
from evosdc.io.cells import read_published
from evosdc.io.paths import PathLike
from evosdc.results.folder import CERTIFICATE, CONFIDENTIAL
from evosdc.table import Table


def verified(
    table: Table,
    certificate: PathLike | Proof,
    *,
    published: Any,
    requirements: Requirements,
) -> ProofReport:
    """Check a certificate, its file, or that of a folder, against a table.

    `published` is the file or frame of a publication, None for none.
    """
    proof = certificate if isinstance(certificate, Proof) else _read(certificate)
    hidden = None if published is None else read_published(published, table)
    return check_proof(table, proof, published=hidden, requirements=requirements)


def _read(certificate: PathLike) -> Proof:
    path = Path(certificate)
    if path.is_dir():
        path = path / CONFIDENTIAL / CERTIFICATE
    return read_proof(read_arrays(path))
