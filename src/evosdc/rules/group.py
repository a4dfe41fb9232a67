"""Groups in which everybody is in one category: attribute disclosure without a name.

Whoever knows that somebody belongs to the group knows the category. The disclosure is
the empty cell beside the full one, so both become sensitive, and the empty one must be
possible: see `evosdc.tabulation.groups`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evosdc.rules.contributors import CellContributors, Marking


@dataclass(frozen=True)
class Group:
    """Unsafe when all of a group are in one category of `variable` (of any, if blank).

    Which cells these are is seen from the table, not from the contributors of one cell,
    so the rule marks none by itself: tabulation does.

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
        """Mark nothing: what is unsafe is seen from the table."""
        n = len(contributors)
        return np.zeros(n, dtype=bool), np.zeros(n), np.zeros(n)
