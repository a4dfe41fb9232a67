"""What a certificate must have been judged for, whatever it says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evosdc.errors import InputError
from evosdc.options.objects import Attackers
from evosdc.table.attackers import KINDS, PUBLIC
from evosdc.table.shares import Coalition


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Against whom, and how far, cells must have been judged at least.

    Attributes
    ----------
    attackers
        One of `KINDS`, of which each includes those before it.
    coalitions
        Each with the very members that the certificate names.
    strict, secondaries
        Whether levels must be exceeded, and other hidden cells judged as well.
    """

    attackers: str = PUBLIC
    coalitions: Sequence[Coalition] = ()
    strict: bool = False
    secondaries: bool = False

    def __post_init__(self) -> None:
        if self.attackers not in KINDS:
            raise InputError(
                f"attackers are {self.attackers!r}",
                expected=f"one of {', '.join(KINDS)}",
            )

    @classmethod
    def of(
        cls,
        options: Attackers,
        coalitions: Sequence[Coalition],
        usual: str = PUBLIC,
    ) -> Asked:
        """Return what options ask for, with the coalitions that they name.

        `usual` are the attackers where the options leave them open.
        """
        return cls(
            attackers=options.who or usual,
            coalitions=coalitions,
            strict=options.strict,
            secondaries=options.protect_secondaries,
        )

    @property
    def beyond_public(self) -> bool:
        """Whether others than the public are asked about, even if none is found."""
        return self.attackers != PUBLIC or bool(self.coalitions)

    def faults(self, settings: Mapping[str, Any]) -> list[str]:
        """Say what a certificate with these settings was not judged for."""
        kind = settings["attackers"] if settings["insiders"] else PUBLIC
        missing: list[str] = []
        if KINDS.index(kind) < KINDS.index(self.attackers):
            missing.append(f"attackers {self.attackers}, but {kind}")
        judged = {frozenset(members) for _, *members in settings["coalitions"]}
        missing += [
            f"coalition {one.name!r} with these members"
            for one in self.coalitions
            if not settings["insiders"] or frozenset(one.members) not in judged
        ]
        if self.strict and not settings["strict"]:
            missing.append("levels that are exceeded (strict), but reached")
        if self.secondaries and not settings["secondaries"]:
            missing.append("secondaries")
        return [
            f"the certificate was not judged for {what}; it must be made again, by "
            "protect or audit with the same option"
            for what in missing
        ]
