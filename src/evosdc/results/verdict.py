"""A verdict on a result, and the claim: a sentence for each question of the office."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

# Why a cell is exposed that was published, now or before.
PUBLISHED = "published"
# What a claim about a protected table answers: what was proved, against whom.
TABLE_QUESTIONS: Mapping[str, str] = {
    "rules": "What made cells sensitive?",
    "levels": "How far must each be protected?",
    "knowledge": "What does everybody know of a cell beforehand?",
    "insiders": "Who attacks with knowledge of their own?",
    "publication": "What exactly leaves the office?",
    "strictness": "Levels reached or exceeded?",
    "proof": "How was it shown?",
}
# What a claim about synthetic records answers.
RECORD_QUESTIONS: Mapping[str, str] = {
    "scenario": "What does an intruder know and want?",
    "coding": "How were values compared?",
    "small_groups": "What was done about small groups?",
    "closeness": "How near to the original may the copy come?",
    "holdout": "Were people attacked who are not in the data?",
    "guarantee": "Which formal guarantee is there?",
}


@dataclass(frozen=True, repr=False)
class Verdict:
    """What was found about a result: the same for tables and for synthetic records.

    Attributes
    ----------
    ok
        True where the result may leave the office, false where it may not, None where
        the question was not answered.
    reasons
        Why it is not true, a sentence for each reason.
    next_steps
        What to do about that, a sentence for each kind of reason.
    """

    ok: bool | None
    reasons: tuple[str, ...] = field(default=(), kw_only=True)
    next_steps: tuple[str, ...] = field(default=(), kw_only=True)

    WORDS: ClassVar[Mapping[bool | None, str]] = {
        True: "fit for release",
        False: "not fit for release",
        None: "not judged",
    }

    @property
    def word(self) -> str:
        """The verdict in a word or two."""
        return self.WORDS[self.ok]

    @property
    def brief(self) -> str:
        """The word and what is behind it: no label, no interval."""
        return self.word

    def summary(self) -> dict[str, Any]:
        """Return the part of a summary that is about the verdict."""
        return {
            "verdict": self.word,
            "reasons": list(self.reasons),
            "next_steps": list(self.next_steps),
        }

    def __repr__(self) -> str:
        return f"Verdict({self.brief})"


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
class TableVerdict(Verdict):
    """The judge's verdict on a pattern, with the findings that it rests on.

    `ok` is None where there was no rule and nothing to judge, or where time ran out
    (see `open`).

    Attributes
    ----------
    exposed
        The cells that are not covered, once for each attacker that finds them.
    judged
        How many cells were judged.
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
    open
        Labels of the cells that time left undecided.
    whole
        Where everyone knows that values are whole numbers: whether every witness is a
        table of whole numbers, or intervals were only rounded inwards to them. Else
        None.
    """

    exposed: tuple[Exposure, ...]
    judged: int
    exact: bool
    tolerance: float
    strict: bool
    proofs: Mapping[str, int] = field(default_factory=dict)
    insiders: int | None = None
    open: tuple[str, ...] = ()
    whole: bool | None = None

    WORDS: ClassVar[Mapping[bool | None, str]] = {
        True: "SAFE",
        False: "EXPOSED",
        None: "NOT JUDGED",
    }

    @property
    def safe(self) -> bool | None:
        """Whether every level of every cell judged is covered; None: not judged."""
        return self.ok

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


class Claim(Mapping[str, str]):
    """What a verdict states: a sentence for each question, in their order.

    The sentences are given, and read, by the names of the questions: those of a table
    (`TABLE_QUESTIONS`) or of synthetic records (`RECORD_QUESTIONS`), none left out; see
    ``docs/explanation/safety.md``. No result is SAFE or fit for release without it.

    Examples
    --------
    >>> import evosdc
    >>> cells = {"region": ["N", "S"], "value": [5, 20], "status": ["s", "s"]}
    >>> claim = evosdc.audit(cells, read=evosdc.Read(rules="none")).claim
    >>> claim.questions["strictness"], claim.strictness
    ('Levels reached or exceeded?', 'levels must be reached')
    """

    questions: Mapping[str, str]

    def __init__(self, **sentences: str) -> None:
        for questions in (TABLE_QUESTIONS, RECORD_QUESTIONS):
            if questions.keys() == sentences.keys():
                self.questions = questions
                self._sentences = {name: sentences[name] for name in questions}
                return
        raise TypeError(
            f"a claim answers {', '.join(TABLE_QUESTIONS)}, or "
            f"{', '.join(RECORD_QUESTIONS)}; these are {', '.join(sentences)}"
        )

    def __getitem__(self, name: str) -> str:
        return self._sentences[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sentences)

    def __len__(self) -> int:
        return len(self._sentences)

    def __getattr__(self, name: str) -> str:
        # Private names are looked for before there are sentences, as in copying.
        if name.startswith("_") or name not in self._sentences:
            raise AttributeError(f"a claim has no sentence {name!r}")
        return self._sentences[name]

    def __reduce__(self) -> Any:
        return _rebuilt, (dict(self._sentences),)

    def __repr__(self) -> str:
        return f"Claim({', '.join(f'{k}={v!r}' for k, v in self.items())})"

    def changed(self, **sentences: str) -> Claim:
        """Return the claim with other sentences for some questions."""
        return Claim(**{**self, **sentences})

    def rows(self) -> list[tuple[str, str]]:
        """Return each question with its sentence, for a page."""
        return [(self.questions[name], text) for name, text in self.items()]


def _rebuilt(sentences: Mapping[str, str]) -> Claim:
    return Claim(**sentences)
