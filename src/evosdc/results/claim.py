"""A claim: the questions that an office answers for, and a sentence for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
