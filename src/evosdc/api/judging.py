"""The judge's word on a table, against everyone and each attacker who knows more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evosdc.api.attackers import Against
from evosdc.attack import judge, judge_attackers
from evosdc.attack.hints import Hint
from evosdc.parallel import Workers
from evosdc.results import Certificate, TableVerdict
from evosdc.table import Table
from evosdc.table.attackers import AttackerKnowledge

_RING = "what linked tables in a ring say together of cells that none of them shows"


def judge_all(
    table: Table,
    asked: Against,
    *,
    attackers: AttackerKnowledge | None = None,
    known: NDArray[np.bool_] | None = None,
    deadline: float | None = None,
    hints: Sequence[Hint] = (),
    workers: Workers | None = None,
    seen: Certificate | None = None,
) -> tuple[TableVerdict, Certificate]:
    """Ask the judge, about everyone and about each attacker who knows more.

    Nothing judged is SAFE only where rules looked and found nothing. `attackers` are
    those that `asked` names, where they are known already.
    """
    verdict, certificate = judge(
        table,
        strict=asked.strict,
        secondaries=asked.secondaries,
        known=known,
        deadline=deadline,
        hints=hints,
        workers=workers,
        seen=seen,
    )
    if asked.beside_public:
        verdict, certificate = judge_attackers(
            table,
            verdict,
            certificate,
            strict=asked.strict,
            known=known,
            deadline=deadline,
            hints=hints,
            workers=workers,
            attackers=asked.of(table) if attackers is None else attackers,
        )
    if not verdict.judged and not table.origin.rules:
        verdict = replace(verdict, ok=None)
    if verdict.ok and verdict.judged and table.origin.ring:
        verdict = replace(verdict, ok=None, open=(_RING,))
    return verdict, certificate
