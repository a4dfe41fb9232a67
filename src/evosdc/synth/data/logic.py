"""What holds in every record: derived columns and impossible combinations."""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.options import copies


@dataclass(frozen=True)
class Logic(copies.Logic):
    __doc__ = copies.Logic.__doc__

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
