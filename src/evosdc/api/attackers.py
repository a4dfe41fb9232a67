"""Against whom cells are protected: what is asked, with what a table says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evosdc.io.cells import coalitions_of
from evosdc.options import tables as options
from evosdc.table import Coalition, Table
from evosdc.table.attackers import (
    LONE,
    PUBLIC,
    AttackerKnowledge,
    find_attackers,
    knows_contributors,
)


@dataclass(frozen=True, eq=False)
class Against:
    """Attackers of a table: `kind` is never open, and coalitions are read."""

    kind: str
    coalitions: tuple[Coalition, ...]
    strict: bool
    secondaries: bool

    @classmethod
    def asked(cls, asked: options.Attackers, table: Table) -> Against:
        """Return who is asked about; of some tables nobody knows any contributor."""
        usual = LONE if knows_contributors(table) else PUBLIC
        return cls(
            kind=asked.who or usual,
            coalitions=coalitions_of(asked.coalitions),
            strict=asked.strict,
            secondaries=asked.protect_secondaries,
        )

    @property
    def beside_public(self) -> bool:
        """Whether anybody is asked about beside the public, even if nobody is found."""
        return self.kind != PUBLIC or bool(self.coalitions)

    def of(self, table: Table) -> AttackerKnowledge:
        """Return the attackers of a table, the public first."""
        return find_attackers(table, self.kind, self.coalitions)

    def settings(self) -> dict[str, Any]:
        """Write the attackers down, by the names of options."""
        return {
            "attackers": self.kind,
            "coalitions": [[one.name, *one.members] for one in self.coalitions],
            "strict": self.strict,
            "protect_secondaries": self.secondaries,
        }
