"""The verb verify: is a certificate a proof, and of this table?"""

from __future__ import annotations

from typing import Any

from evosdc.api.sources import as_table, verb
from evosdc.attack import Proof, ProofReport, Requirements
from evosdc.io.cells import coalitions_of
from evosdc.io.paths import PathLike
from evosdc.options import tables as options
from evosdc.results.verified import verified


@verb(options.VERIFY)
def verify(
    table: Any,
    certificate: PathLike | Proof,
    *,
    published: Any = None,
    attackers: options.Attackers | None = None,
    read: options.Read | None = None,
) -> ProofReport:
    """Check a certificate against its table, by adding numbers up.

    Nothing is searched and no solver is used: whether every witness holds, covers what
    is claimed, and is of this very table.

    Parameters
    ----------
    table
        The table as it was given to `protect` or `audit`, in any of the kinds that
        these take.
    certificate
        The ``certificate.npz`` of a result, the folder of the result, or what
        `evosdc.attack.read_proof` reads.
    published
        The publication, as a file or a frame: it must hide what was proved.
    attackers
        Against whom, and how far, cells must have been judged at least: a certificate
        that was judged for less is refused. Without it nothing is asked beyond what
        the certificate says of itself.
    read
        How the table is read, as in `protect`.

    Returns
    -------
    ProofReport
        Its `holds` is True only where everything holds; else `faults` says what does
        not.

    Examples
    --------
    >>> import evosdc, tempfile
    >>> cells = {
    ...     "region": ["N", "S", "E"],
    ...     "value": [5, 20, 30],
    ...     "status": ["u", "s", "s"],
    ...     "upl": [2, 0, 0],
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stop = evosdc.Stop(evaluations=5)
    ...     written = evosdc.protect(cells, stop=stop).write(folder)
    ...     report = evosdc.verify(cells, folder)
    >>> report.holds, report.word
    (True, 'SAFE')
    """
    given = options.VerbOptions.of(options.VERIFY, attackers=attackers, read=read)
    required = Requirements.of(
        given.attackers, coalitions_of(given.attackers.coalitions)
    )
    cells = as_table(table, given.read)
    return verified(cells, certificate, published=published, requirements=required)
