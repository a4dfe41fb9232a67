"""Who a lone respondent is, without a name: hashes keyed by the records themselves.

The key is made of all records, so that nobody without them can test a name against a
hash, every table of the same records has the same hashes, and a run repeats exactly.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DIGITS = 16


@dataclass(frozen=True)
class Identity:
    """The key of a set of records, and a fingerprint that does not give it away."""

    key: bytes
    source: str

    @classmethod
    def of(cls, connection: Any) -> Identity:
        """Look at all records of the view ``raw`` once, in any order."""
        found = connection.sql(
            "SELECT count(*), sum(hash(raw)::HUGEINT), bit_xor(hash(raw)) FROM raw"
        ).fetchall()[0]
        seed = repr(found).encode()
        return cls(
            key=sha256(b"respondents" + seed).digest(),
            source=sha256(b"records" + seed).hexdigest()[:_DIGITS],
        )

    def hashes(
        self, numbers: NDArray[Any], names: Sequence[str] | dict[int, str] | None = None
    ) -> NDArray[np.str_]:
        """Hash each number that is not 0, or the name it stands for; else blank."""
        distinct, place = np.unique(numbers, return_inverse=True)
        words = [
            ""
            if number == 0
            else self._hash(str(number) if names is None else names[number])
            for number in distinct.tolist()
        ]
        return np.array(words, dtype=f"U{_DIGITS}")[place]

    def _hash(self, word: str) -> str:
        return hmac.new(self.key, word.encode(), "sha256").hexdigest()[:_DIGITS]
