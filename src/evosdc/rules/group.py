"""Group disclosure: everybody of a group is in one category.

Whoever knows that somebody belongs to the group knows the category (attribute
disclosure). It follows from the empty cells of the other categories, so the full cell
and one empty cell become sensitive: see `evosdc.tabulation.groups`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evosdc.rules.rule import CellContributors, Marking


@dataclass(frozen=True)
class Group:
    """Unsafe when all of a group are in one category of `variable` (of any, if blank).

    Which cells these are depends on the table, not on the contributors of one cell, so
    tabulation marks them, not `apply`.

    Examples
    --------
    >>> import evosdc
    >>> people = {"town": ["A", "A", "B", "B"], "ill": ["y", "y", "y", "n"]}
    >>> rules = [evosdc.Group("ill")]
    >>> made = evosdc.tabulate(people, ["town", "ill"], rules=rules)
    >>> len(made.table.primaries) > 0
    True
    """

    variable: str = ""
    name: ClassVar[str] = "group"
    needs: ClassVar[int] = 0

    def apply(self, contributors: CellContributors) -> Marking:
        """Mark nothing: tabulation marks the cells."""
        n = len(contributors)
        return np.zeros(n, dtype=bool), np.zeros(n), np.zeros(n)
