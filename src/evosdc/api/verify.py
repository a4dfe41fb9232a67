"""The verb verify: is a certificate a proof, and of this table?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from evosdc.api.sources import as_table
from evosdc.attack.asked import Asked
from evosdc.attack.proof import ProofReport
from evosdc.io import table_from_frame
from evosdc.options import checked
from evosdc.results.verified import verified
from evosdc.table import Coalition
from evosdc.table.attackers import PUBLIC


@checked(
    as_table, table_from_frame, least={"level_percent": 0}, unchecked=("hierarchies",)
)
def verify(
    table: Any,
    certificate: str | os.PathLike[str],
    *,
    published: Any = None,
    attackers: str = PUBLIC,
    coalitions: Sequence[Coalition] = (),
    strict: bool = False,
    secondaries: bool = False,
    **reading: Any,
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
        The ``certificate.npz`` of a result, or the folder of the result.
    published
        The publication, a file or a frame: it must hide what was proved.
    attackers, coalitions, strict, secondaries
        What the certificate must have been judged for at least, as in `Attacker`; one
        that was judged for less does not hold. Else it is what the certificate says.
    reading
        How to read a frame or a file, as in `protect`.

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
    ...     written = evosdc.protect(cells, evaluations=5).write(folder)
    ...     report = evosdc.verify(cells, folder)
    >>> report.holds, report.word
    (True, 'SAFE')
    """
    asked = Asked(
        attackers=attackers,
        coalitions=coalitions,
        strict=strict,
        secondaries=secondaries,
    )
    cells = as_table(table, **reading)
    return verified(cells, certificate, published=published, asked=asked)
