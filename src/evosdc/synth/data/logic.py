"""What holds in every record: derived columns and impossible combinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evosdc.errors import InputError
from evosdc.options import check_types


@dataclass(frozen=True)
class Logic:
    """What a copy keeps to.

    Attributes
    ----------
    derive
        Derived columns that you know, such as
        ``"bmi = round(weight / (height / 100) ** 2, 1)"``.
    find_derived
        Look for columns that others determine, and compute them from the copy.
    learn_rules
        Learn pairs of values that never occur although many were to be expected, and
        have none in the copy.
    refuse
        What was found but is not so: names of columns that are not derived, and pairs
        of columns, ``"a,b"``, of which no combination is impossible.
    """

    derive: Sequence[str] = ()
    find_derived: bool = True
    learn_rules: bool = True
    refuse: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("derive", "refuse"):
            if isinstance(getattr(self, name), str):
                raise InputError(
                    f"{name} is one text", expected="a list of texts, one for each"
                )

    @property
    def not_derived(self) -> set[str]:
        """Columns that are not derived, whatever is found."""
        return {text.strip() for text in self.refuse if "," not in text}

    @property
    def possible(self) -> set[frozenset[str]]:
        """Pairs of columns of which no combination is impossible."""
        return {
            frozenset(part.strip() for part in text.split(","))
            for text in self.refuse
            if "," in text
        }
