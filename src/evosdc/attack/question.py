"""What the judge decides: which levels of a table, against which knowledge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.checker import CheckReport, verify
from evosdc.attack.demands import JudgedLevels, counts_whole, judged_levels
from evosdc.attack.model import AttackModel, Beliefs
from evosdc.compile.clock import moment
from evosdc.results import Certificate
from evosdc.table import Table

# The final check may exceed the deadline by this much.
_CHECK_GRACE_SECONDS = 0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """The cells of a table to judge, how levels are read, and what the attacker knows.

    Attributes
    ----------
    strict, secondaries, among, known
        As for `evosdc.attack.judge`.
    whole
        Whether only tables of whole numbers are possible.
    believes
        How far above and below its value the attacker believes some cells at most.
    room
        How far down cells must be movable at most, for an attacker who contributes to
        them: see `evosdc.table.attackers.OwnShares`.
    """

    table: Table
    strict: bool = False
    secondaries: bool = False
    whole: bool = False
    known: NDArray[np.bool_] | None = None
    among: NDArray[np.bool_] | None = None
    believes: Beliefs = field(default_factory=dict)
    room: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, *, whole: bool | None = None, **others: Any) -> Question:
        """Return a question; the origin of the table decides where `whole` is None."""
        return cls(table=table, whole=counts_whole(table, whole), **others)

    @cached_property
    def levels(self) -> JudgedLevels:
        """The levels that must be reached."""
        return judged_levels(
            self.table,
            self.strict,
            self.secondaries,
            whole=self.whole,
            among=self.among,
            room=self.room,
        )

    @cached_property
    def model(self) -> AttackModel:
        """The attacker's view of the table."""
        return AttackModel.of(
            self.table,
            self.levels,
            known=self.known,
            in_whole=self.whole,
            believes=self.believes,
        )

    def check(
        self, certificate: Certificate, *, until: float | None, **how: Any
    ) -> CheckReport:
        """Return the checker's report on a certificate; `how` are keywords of it."""
        return verify(
            self.table,
            certificate,
            strict=self.strict,
            secondaries=self.secondaries,
            known=self.known,
            whole=self.whole,
            among=self.among,
            room=self.room,
            deadline=until,
            **how,
        )


def end_of_check(deadline: float | None) -> float | None:
    """Return the moment by which a check that starts now must end."""
    return None if deadline is None else max(deadline, moment() + _CHECK_GRACE_SECONDS)
