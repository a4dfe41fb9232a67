"""The judge's word on a table, against everyone and each attacker who knows more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evosdc.attack import judge, judge_insiders
from evosdc.attack.hints import Hint
from evosdc.parallel import Help
from evosdc.results import Certificate, Verdict
from evosdc.table import Table
from evosdc.table.attackers import knows_contributors

_RING = "what linked tables in a ring say together of cells that none of them shows"


def judge_all(
    table: Table,
    *,
    strict: bool,
    secondaries: bool,
    singletons: bool | None,
    known: NDArray[np.bool_] | None = None,
    deadline: float | None = None,
    hints: Sequence[Hint] = (),
    help: Help | None = None,
    seen: Certificate | None = None,
) -> tuple[Verdict, Certificate]:
    """Ask the judge, with each lone respondent as attacker too unless told not to.

    Nothing judged is SAFE only where rules looked and found nothing.
    """
    verdict, certificate = judge(
        table,
        strict=strict,
        secondaries=secondaries,
        known=known,
        deadline=deadline,
        hints=hints,
        help=help,
        seen=seen,
    )
    if guarded(table, singletons):
        verdict, certificate = judge_insiders(
            table,
            verdict,
            certificate,
            strict=strict,
            known=known,
            deadline=deadline,
            hints=hints,
            help=help,
        )
    if not verdict.judged and not table.origin.rules:
        verdict = replace(verdict, safe=None)
    if verdict.safe and verdict.judged and table.origin.ring:
        verdict = replace(verdict, safe=None, open=(_RING,))
    return verdict, certificate


def guarded(table: Table, singletons: bool | None) -> bool:
    """Whether lone respondents are attackers: by default where they are known."""
    return knows_contributors(table) if singletons is None else singletons
