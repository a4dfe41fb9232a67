"""What a run gives back: plain data, shared by the judge, the verbs and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.evolution.record import Entry
from evosdc.table import Table
from evosdc.table.status import SECONDARY


@dataclass(frozen=True)
class Exposure:
    """A cell that an attacker can estimate too closely.

    `low` and `high` are the ends of the attacker's interval. They are confidential:
    they are given to the owner of the table and never logged. `reason` says why where
    the judge could not decide; the cell then counts as exposed.
    """

    cell: int
    label: str
    low: float = field(repr=False)
    high: float = field(repr=False)
    needed_low: float = field(repr=False)
    needed_high: float = field(repr=False)
    needed_width: float = field(repr=False)
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """The judge's word on a pattern.

    Attributes
    ----------
    safe
        Every level of every cell judged is covered.
    exposed
        The cells that are not, by number.
    judged
        How many cells were judged.
    exact
        Whether every witness was verified in exact rational arithmetic.
    tolerance
        Where `exact` is false: the largest error of a witness, as a share of the cell.
    strict
        Whether levels had to be exceeded, not only reached.
    ways
        How many witnesses each means of proof gave, for people.
    insiders
        How many lone respondents were taken for attackers too; None where not asked.
    """

    safe: bool
    exposed: tuple[Exposure, ...]
    judged: int
    exact: bool
    tolerance: float
    strict: bool
    ways: Mapping[str, int] = field(default_factory=dict)
    insiders: int | None = None


@dataclass(frozen=True, eq=False)
class Certificate:
    """Witness tables: for each level a deviation of the hidden cells that covers it.

    Witness `w` moves cell ``cells[w]`` in direction ``signs[w]``: it adds
    ``numerators[j] / denominators[w]`` to cell ``indices[j]`` for ``j`` in
    ``indptr[w]:indptr[w + 1]`` and leaves the others alone. Anyone can check it by
    adding numbers up.
    """

    cells: NDArray[np.int64]
    signs: NDArray[np.int8]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    numerators: NDArray[Any]  # int64, or Python integers where those do not suffice
    denominators: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Protection:
    """A protected table, its cost, its bound and the judge's verdict.

    `pattern` and `published` are frames of the kind that was given to `protect`: every
    cell with its status, and the table as it may be published, hidden values blank.
    """

    table: Table
    method: str
    cost: float
    lower_bound: float | None
    gap: float | None
    verdict: Verdict
    certificate: Certificate = field(repr=False)
    record: tuple[Entry, ...] = field(repr=False)
    seconds: float
    evaluations: int
    seed: int
    version: str
    reason: str
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    # Kept out of logs and tracebacks: the pattern holds the confidential values.
    pattern: Any = field(default=None, repr=False)
    published: Any = field(default=None, repr=False)

    @property
    def safe(self) -> bool:
        """Whether the judge found every sensitive cell protected."""
        return self.verdict.safe

    @property
    def secondaries(self) -> int:
        """How many cells are hidden beyond the sensitive ones."""
        return int((self.table.status == SECONDARY).sum())

    def summary(self) -> dict[str, Any]:
        """Return the object that ``evosdc protect --json`` prints."""
        return {
            "method": self.method,
            "cost": self.cost,
            "secondaries": self.secondaries,
            "primaries": len(self.table.primaries),
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "safe": self.safe,
            "exposed": len(self.verdict.exposed),
            "seconds": round(self.seconds, 3),
            "evaluations": self.evaluations,
            "seed": self.seed,
            "version": self.version,
            "settings": dict(self.settings),
            "notes": list(self.notes),
        }
