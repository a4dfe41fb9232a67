"""What a result must have to be written down, and whether it may leave the office."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from evosdc.table import Table


class Releasable(Protocol):
    """What is needed of a `evosdc.results.Protection` to write it down."""

    @property
    def table(self) -> Table:
        """The table with its final statuses."""

    @property
    def record(self) -> Sequence[Any]:
        """Entries of the run record."""

    @property
    def verdict(self) -> Any:
        """The judge's word: `word`, `judged` and `next_steps`."""

    @property
    def claim(self) -> Any:
        """What was proved: `as_json`."""

    @property
    def notes(self) -> Sequence[str]:
        """What else there is to say."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """How the run was asked for."""

    @property
    def version(self) -> str:
        """Which version of the package it was."""


def may_leave(protection: Releasable) -> bool:
    """Whether a result may be published.

    The verdict must be SAFE, and about something: cells that were judged, or rules
    under which there were none.
    """
    verdict = protection.verdict
    asked = bool(verdict.judged or protection.table.origin.rules)
    return bool(verdict.word == "SAFE" and asked)
