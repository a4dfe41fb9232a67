"""What a run gives back: plain data, shared by the judge, the verbs and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from evosdc.evolution.record import Entry
from evosdc.table import Table
from evosdc.table.status import SECONDARY

# Why a cell is exposed that was published, now or before.
PUBLISHED = "published"


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
    # Who finds it: blank for everyone, else the cell of a lone respondent.
    insider: str = ""
    insider_cell: int = -1

    @property
    def share(self) -> float:
        """How much of its levels the cell has, from 0 to 1."""
        value = (self.low, self.high, self.needed_low, self.needed_high)
        if any(x != x for x in value):
            return 0.0
        asked = self.needed_high - self.needed_low
        wide = max(asked, self.needed_width)
        if wide <= 0:
            return 0.0
        had = min(self.high, self.needed_high) - max(self.low, self.needed_low)
        return max(0.0, min(1.0, had / wide))


@dataclass(frozen=True, repr=False)
class Verdict:
    """The judge's word on a pattern.

    Attributes
    ----------
    safe
        True where every level of every cell judged is covered, false where one is not.
        None where the question was not answered: there was no rule and nothing to
        judge, or time ran out (see `open`).
    exposed
        The cells that are not covered, once for each attacker that finds them.
    judged
        How many cells were judged.
    open
        Labels of the cells that time left undecided.
    exact
        Whether every witness was verified in exact rational arithmetic.
    tolerance
        Where `exact` is false: the largest error of a witness, as a share of the cell.
    strict
        Whether levels had to be exceeded, not only reached.
    proofs
        How many witnesses each means of proof gave.
    insiders
        How many lone respondents were taken for attackers too; None where not asked.
    next_steps
        What to do about a verdict that is not SAFE, a sentence for each reason.
    whole
        Where everyone knows that values are whole numbers: whether every witness is a
        table of whole numbers, or intervals were only rounded inwards to them. Else
        None.
    """

    safe: bool | None
    exposed: tuple[Exposure, ...]
    judged: int
    exact: bool
    tolerance: float
    strict: bool
    proofs: Mapping[str, int] = field(default_factory=dict)
    insiders: int | None = None
    open: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    whole: bool | None = None

    @property
    def word(self) -> str:
        """SAFE, EXPOSED or NOT JUDGED."""
        if self.safe is None:
            return "NOT JUDGED"
        return "SAFE" if self.safe else "EXPOSED"

    @property
    def exposed_cells(self) -> tuple[int, ...]:
        """The exposed cells, each once."""
        return tuple(dict.fromkeys(e.cell for e in self.exposed))

    @property
    def brief(self) -> str:
        """The word with the numbers of cells behind it: no label, no interval."""
        parts = [f"{self.judged:,} judged"]
        if self.exposed:
            parts.append(f"{len(self.exposed_cells):,} exposed")
        if self.open:
            parts.append(f"{len(self.open):,} open")
        return f"{self.word}: {', '.join(parts)}"

    def __repr__(self) -> str:
        proof = "exact" if self.exact else f"to {self.tolerance:.1e} of a cell"
        return f"Verdict({self.brief}; {proof})"


@dataclass(frozen=True)
class Claim:
    """What a verdict states: what was proved, against whom.

    A sentence for each question that an office has to answer for; see
    ``docs/explanation/safety.md``. Nothing is SAFE without it.

    Attributes
    ----------
    rules
        What made cells sensitive, and how many.
    levels
        How far each must be protected.
    knowledge
        What everyone is assumed to know of a cell beforehand.
    insiders
        Who attacks with knowledge of their own.
    publication
        What exactly leaves the office, and what was published before.
    strictness
        Whether levels are reached or exceeded.
    proof
        How it was shown, and what time left open.
    """

    rules: str
    levels: str
    knowledge: str
    insiders: str
    publication: str
    strictness: str
    proof: str

    QUESTIONS: ClassVar[Mapping[str, str]] = {
        "rules": "What made cells sensitive?",
        "levels": "How far must each be protected?",
        "knowledge": "What does everybody know of a cell beforehand?",
        "insiders": "Who attacks with knowledge of their own?",
        "publication": "What exactly leaves the office?",
        "strictness": "Levels reached or exceeded?",
        "proof": "How was it shown?",
    }

    def as_json(self) -> dict[str, str]:
        """Return the sentences by name, in the order of `QUESTIONS`."""
        return {name: getattr(self, name) for name in self.QUESTIONS}


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


@dataclass(frozen=True, eq=False, repr=False)
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
    claim: Claim
    certificate: Certificate = field(repr=False)
    record: tuple[Entry, ...] = field(repr=False)
    seconds: float
    evaluations: int
    seed: int
    version: str
    reason: str
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    # Cells that everyone has from earlier publications.
    known: NDArray[np.bool_] | None = field(default=None, repr=False)
    # The files of these, which a result is never written over.
    earlier: tuple[Path, ...] = field(default=(), repr=False)
    # Cells that are sensitive by request, not by a rule.
    wished: NDArray[np.bool_] | None = field(default=None, repr=False)
    # Cells whose levels were lowered to what can be had, by request.
    accepted: NDArray[np.bool_] | None = field(default=None, repr=False)
    # Kept out of logs and tracebacks: the pattern holds the confidential values.
    pattern: Any = field(default=None, repr=False)
    published: Any = field(default=None, repr=False)

    @property
    def safe(self) -> bool | None:
        """Whether the judge found every sensitive cell protected; None: not judged."""
        return self.verdict.safe

    @property
    def secondaries(self) -> int:
        """How many cells are hidden beyond the sensitive ones."""
        return int(((self.table.status == SECONDARY) & self.table.shown).sum())

    def visible(self) -> Protection:
        """Return the result with the cells that are shown only."""
        if self.table.unshown is None:
            return self
        number = np.cumsum(self.table.shown) - 1
        exposed = tuple(
            replace(
                e,
                cell=int(number[e.cell]),
                insider_cell=int(number[e.insider_cell]) if e.insider else -1,
            )
            for e in self.verdict.exposed
        )
        return replace(
            self,
            table=self.table.visible(),
            verdict=replace(self.verdict, exposed=exposed),
            known=None if self.known is None else self.known[self.table.shown],
            wished=None if self.wished is None else self.wished[self.table.shown],
            accepted=None if self.accepted is None else self.accepted[self.table.shown],
        )

    def __repr__(self) -> str:
        """Say what it is in one line, without the cost.

        The cost is a sum of hidden values, one equation more than the publication has,
        and what is shown by itself ends up in logs and shared notebooks.
        """
        gap = "unknown" if self.gap is None else f"{100 * self.gap:.2f} %"
        shown = self.table.shown
        primaries = int(shown[self.table.primaries].sum())
        return (
            f"Protection({self.verdict.brief}; {int(shown.sum()):,} cells, "
            f"{primaries:,} primaries, {self.secondaries:,} "
            f"secondaries; gap {gap}, by {self.method})"
        )

    def _repr_html_(self) -> str:
        """Show the verdict and what was proved in a notebook: no value, no cost."""
        # By name: reports are made of results, so that results cannot import them.
        card = import_module("evosdc.report").card_html
        return str(card(self.verdict, self.table, self.claim))

    def write(
        self,
        directory: str | PathLike[str],
        *,
        force: bool = False,
        also: str | Sequence[str] = (),
    ) -> Path:
        """Write the folder that ``evosdc protect -o`` writes.

        Parameters
        ----------
        directory
            Made where it is not there; refused where there is something in it.
        force
            Write to a folder with something in it: what an earlier run of evosdc left
            there is removed, other files are not.
        also
            Further formats: pivot, grid, sbs, tab, parquet, jj.

        Returns
        -------
        Path
            The folder of what is to be published: ``publish/``, or ``draft/`` where the
            verdict is not SAFE and nothing may leave the office.

        Warns
        -----
        UserWarning
            For results beside it that must not be published with it.
        """
        # By name: what writes results stands above them.
        writing = import_module("evosdc.api.writing")
        folder, warnings = writing.write_folder(self, directory, force=force, also=also)
        for line in warnings:
            warn(line, UserWarning, stacklevel=2)
        return Path(folder)

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
            "verdict": self.verdict.word,
            "exposed": len(self.verdict.exposed_cells),
            "open": len(self.verdict.open),
            "insiders": self.verdict.insiders,
            "next_steps": list(self.verdict.next_steps),
            "claim": self.claim.as_json(),
            "notes": list(self.notes),
            "seconds": round(self.seconds, 3),
            "evaluations": self.evaluations,
            "seed": self.seed,
            "version": self.version,
            "settings": dict(self.settings),
        }
