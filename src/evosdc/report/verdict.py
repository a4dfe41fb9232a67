"""What pages and terminal say of a verdict, its claim, a gap and a run cut short.

Nothing here writes a value, a cost or an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evosdc.report.kit.parts import bullets, count, esc, named_rows, section
from evosdc.results import Claim, TableVerdict, Verdict
from evosdc.table import Table
from evosdc.table.status import SAFE

if TYPE_CHECKING:
    from evosdc.results.tables import Protection

# With fewer secondaries than this, hiding all of them is no sign of a search cut short.
_MIN_SECONDARIES = 10
_CUT_SHORT = ("time limit", "interrupted")
# With a larger gap than this, the bound says nothing about the cost.
_MAX_GAP = 0.99
# A gap above this is explained, with what to try.
_WIDE_GAP = 0.2


@dataclass(frozen=True)
class Headline:
    """A verdict in one line and one paragraph.

    Attributes
    ----------
    word
        SAFE, EXPOSED or NOT JUDGED.
    kind
        The class of the banner: safe, bad or open.
    why
        What was found, to stand after the word.
    text
        What that means.
    """

    word: str
    kind: str
    why: str
    text: str

    @property
    def line(self) -> str:
        """The word and why."""
        return f"{self.word}: {self.why}"


def headline(verdict: Verdict, table: Table | None = None) -> Headline:
    """Put a verdict into words; without rules nothing is safe that was not judged."""
    if table is None or not isinstance(verdict, TableVerdict):
        return Headline(
            verdict.word,
            {True: "safe", False: "bad", None: "open"}[verdict.ok],
            "; ".join(verdict.reasons) or "nothing speaks against it",
            "What was tested stands below."
            if verdict.ok
            else "Do not publish this as it is.",
        )
    rules = ", ".join(rule for rule, _ in table.origin.rules or ())
    if verdict.word == "EXPOSED":
        cells = len(verdict.exposed_cells)
        return Headline(
            "EXPOSED",
            "bad",
            f"{cells:,} of {count(verdict.judged, 'cell')}",
            f"Of {count(verdict.judged, 'cell')} judged, {cells:,} can be worked out "
            "more closely than the protection levels allow. Do not publish this table "
            "as it is.",
        )
    if verdict.open and table.origin.ring:
        return Headline(
            "NOT JUDGED",
            "open",
            "the linked tables hang together in a ring",
            "Each was made on its own. What they say together of cells that none of "
            "them shows cannot be judged from them: tabulate them together from the "
            "records.",
        )
    if verdict.open:
        return Headline(
            "NOT JUDGED",
            "open",
            f"{count(len(verdict.open), 'cell')} undecided",
            "Time ran out, or the solver did not decide. Until every sensitive cell is "
            "decided nothing may be published.",
        )
    if not verdict.judged and not rules:
        return Headline(
            "NOT JUDGED",
            "open",
            "no rule said which cells are sensitive",
            "No cell is marked as sensitive and no rule looked for any, so there was "
            "nothing to judge. That says nothing about whether the table may be "
            "published.",
        )
    if verdict.word != "SAFE":
        return Headline(
            "NOT JUDGED",
            "open",
            "the question was not answered",
            "Nothing may be published before it is.",
        )
    if not verdict.judged:
        return Headline(
            "SAFE",
            "safe",
            f"no cell is sensitive under {rules}",
            "The rules found nothing to protect, so every cell can be published.",
        )
    reach = "beyond" if verdict.strict else "at least to"
    return Headline(
        "SAFE",
        "safe",
        f"{count(verdict.judged, 'sensitive cell')} judged",
        f"All {count(verdict.judged, 'cell')} judged are protected. Whoever knows the "
        "published cells, the equations and the bounds still finds an interval for "
        f"each of them that reaches {reach} its protection levels.",
    )


def describe(table: Table) -> list[str]:
    """Return the dimensions of a table and its numbers of cells and equations."""
    names = " × ".join(
        f"{esc(d.name)} ({count(len(d.hierarchy), 'code')})" for d in table.dimensions
    )
    return [
        names or "no labels",
        count(len(table), "cell"),
        count(table.matrix.shape[0], "equation"),
    ]


def next_section(verdict: Verdict) -> str:
    """Write what to do about a verdict that is not SAFE; no label and no value."""
    if not verdict.next_steps:
        return ""
    return section("What to do next", bullets(verdict.next_steps))


def claim_section(claim: Claim, done: str) -> str:
    """Write the questions of a claim with their answers; `done` is proved, or asked."""
    return section(f"What was {done}, against whom", named_rows(claim.rows(), "claim"))


def cut_before_use(protection: Protection) -> str | None:
    """Say so where a run was cut before it found anything: everything is hidden."""
    left = bool(np.any(protection.table.status == SAFE))
    if (
        left
        or protection.reason not in _CUT_SHORT
        or protection.secondaries < _MIN_SECONDARIES
    ):
        return None
    cause = (
        "The limit of time cut the search"
        if protection.reason == "time limit"
        else "The search was interrupted"
    )
    return (
        f"{cause} before it found anything useful: every cell that may be hidden is "
        "hidden."
    )


def bound_says_little(protection: Protection) -> bool:
    """Whether there is no lower bound that is worth a percentage."""
    bound, gap = protection.lower_bound, protection.gap
    if protection.cost == 0:
        return False
    return bound is None or bound <= 0 or gap is None or gap > _MAX_GAP


def savings(protection: Protection) -> str:
    """Say how much of the cost could be saved at most."""
    if protection.cost == 0:
        return "nothing could be saved"
    if bound_says_little(protection):
        return "the lower bound says little about it"
    assert protection.gap is not None
    return f"at most {100 * protection.gap:.2f} % of it could be saved"


def wide_gap(protection: Protection) -> str | None:
    """Say what a wide gap means and what to try; None where it is not wide."""
    gap = protection.gap
    if protection.cost == 0 or (gap is not None and gap <= _WIDE_GAP):
        return None
    if gap is None:
        return (
            "No lower bound is known, so nothing says how far the pattern is from the "
            "cheapest one. To try: --method auto, which looks for both."
        )
    longer = (
        "a longer --time-limit, which lowers the cost and raises the bound"
        if protection.reason in _CUT_SHORT
        else "--method auto with a longer --time-limit, which lowers the cost and "
        "raises the bound"
    )
    return (
        f"A gap of more than {100 * _WIDE_GAP:.0f} % says that little is proven yet, "
        "not that the pattern is expensive: the cheapest safe pattern costs something "
        "between the lower bound and this cost, and bounds of large tables rise "
        f"slowly. To try: {longer}; more --workers; fewer levels of detail in one "
        "table."
    )
