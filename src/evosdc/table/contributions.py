"""The two largest contributors of each cell and their contributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import TableError

# Names of the columns by which files hold them.
CONTRIBUTING: Final = "contributing"
CONTRIBUTORS: Final = ("contributor_1", "contributor_2")
AMOUNTS: Final = ("contribution_1", "contribution_2")
COLUMNS: Final = (CONTRIBUTING, *CONTRIBUTORS, *AMOUNTS)


@dataclass(frozen=True, eq=False)
class Contributions:
    """The largest contributors and contributions of each cell, confidential as records.

    A contributor is a holding where records belong to holdings, else a record. Its
    contribution is its share of the value of the cell, sampling weights applied.

    Attributes
    ----------
    count
        Number of contributors with a contribution other than zero; 0 where unknown, as
        in totals that were computed from a file.
    who
        The two largest as keyed hashes, one row per cell, the largest first; blank
        where there are fewer with a contribution other than zero.
    amount
        Their contributions, below which the cell cannot be. 0 where a contribution is
        negative, so that single contributions bound nothing.
    """

    count: NDArray[np.int64]
    who: NDArray[np.str_]
    amount: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.amount.shape != self.who.shape or np.any(
            ~np.isfinite(self.amount) | (self.amount < 0)
        ):
            raise TableError(
                "contributions that are negative, not finite, or of nobody",
                expected=f"two contributors per cell ({', '.join(COLUMNS)}) with "
                "contributions of 0 or more",
                hint="tabulate the records again",
            )

    def __len__(self) -> int:
        return len(self.count)

    def __getitem__(self, cells: Any) -> Contributions:
        return Contributions(self.count[cells], self.who[cells], self.amount[cells])

    def padded(self, extra: int) -> Contributions:
        """Append cells without known contributors."""
        return Contributions(
            np.append(self.count, np.zeros(extra, np.int64)),
            np.vstack([self.who, np.full((extra, 2), "")]),
            np.vstack([self.amount, np.zeros((extra, 2))]),
        )

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a file."""
        return {
            CONTRIBUTING: self.count,
            **dict(zip(CONTRIBUTORS, self.who.T, strict=True)),
            **dict(zip(AMOUNTS, self.amount.T, strict=True)),
        }

    @classmethod
    def of_columns(cls, columns: Mapping[str, NDArray[Any]]) -> Contributions | None:
        """Read the columns of a file; None where all are missing."""
        missing = [name for name in COLUMNS if name not in columns]
        if len(missing) == len(COLUMNS):
            return None
        if missing:
            raise TableError(
                f"contributions without the column {missing[0]!r}",
                expected=f"all of {', '.join(COLUMNS)}, or none",
                hint="tabulate the records again, or leave the others out",
            )
        return cls(
            columns[CONTRIBUTING],
            np.column_stack([columns[name] for name in CONTRIBUTORS]),
            np.column_stack([columns[name] for name in AMOUNTS]),
        )
