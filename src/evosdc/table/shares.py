"""What respondents, single or in coalitions, know of cells by contributing to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.table.index import select
from evosdc.table.table import Table

TABULATE_AGAIN: Final = "tabulate the records again with --contributions"


@dataclass(frozen=True)
class Coalition:
    """Respondents who share what they know of a table.

    Attributes
    ----------
    name
        Its name in messages.
    members
        Each a cell, as ``"region=North,size=small"``, for its lone respondent or else
        its largest contributor; or a keyed hash, as in the columns ``respondent``,
        ``contributor_1`` and ``contributor_2`` of the table.
    """

    name: str
    members: Sequence[str]

    def __post_init__(self) -> None:
        if isinstance(self.members, str):
            raise InputError(
                f"the members of coalition {self.name!r} are one text",
                expected="a list of cells or keyed hashes",
            )


# By cell of which somebody knows more than everyone: how far below its value they
# believe it to be at most, or None where they know it.
_Known = dict[int, float | None]


class Shares:
    """The cells in which respondents are alone, and their shares of other cells."""

    def __init__(self, table: Table, lone: NDArray[np.int64]) -> None:
        """Read them; `lone` numbers the lone respondent of each cell, -1 for none."""
        self._table, self._lone = table, lone
        self._many = int(self._lone.max(initial=-1)) + 1
        # Numbers of respondents: lone respondents first, then the others.
        self._number: dict[str, int] = {}
        self._alone: list[list[int]] = [[] for _ in range(self._many)]
        # By respondent and cell: its rank among contributors, and its contribution.
        self._parts: list[dict[int, tuple[int, float]]] = [{} for _ in self._alone]
        for cell in np.flatnonzero(self._lone >= 0).tolist():
            self._alone[self._lone[cell]].append(cell)
            if table.respondent is not None and table.respondent[cell]:
                self._number[str(table.respondent[cell])] = int(self._lone[cell])
        if table.contributions is None:
            return
        who, amount = table.contributions.who, table.contributions.amount
        for cell, (names, parts) in enumerate(
            zip(who.tolist(), amount.tolist(), strict=True)
        ):
            for rank, (name, part) in enumerate(zip(names, parts, strict=True), 1):
                if name:
                    number = self._number.setdefault(name, len(self._parts))
                    if number == len(self._parts):
                        self._alone.append([])
                        self._parts.append({})
                    # Records that agree in every column have the same hash, and know
                    # the same of a cell.
                    self._parts[number].setdefault(cell, (rank, part))

    def single(self, *, pairs: bool) -> list[tuple[int, _Known]]:
        """Return each lone respondent, and with `pairs` all who know more of a cell.

        Before what each knows comes its rank among the contributors of its first cell,
        which is 0 for a lone respondent.
        """
        if not pairs:
            return [(0, dict.fromkeys(cells)) for cells in self._alone[: self._many]]
        found: list[tuple[int, _Known]] = []
        for number, alone in enumerate(self._alone):
            known = self._known([number])
            if alone:
                found.append((0, known))
            elif known:
                rank, _ = self._parts[number][min(known)]
                found.append((rank, known))
        return found

    def coalition(self, given: Coalition) -> _Known:
        """Return what the members of a coalition know together."""
        if not given.members:
            raise InputError(
                f"coalition {given.name!r} has no members",
                expected="two respondents or more who share what they know",
            )
        members = {
            self._member(given.name, place, text)
            for place, text in enumerate(given.members, 1)
        }
        return self._known(sorted(members))

    def _known(self, members: Sequence[int]) -> _Known:
        """Return what some respondents know together."""
        table, contributions = self._table, self._table.contributions
        known: _Known = dict.fromkeys(c for m in members for c in self._alone[m])
        if contributions is None:
            return known
        shares: dict[int, list[float]] = {}
        for member in members:
            for cell, (_, part) in self._parts[member].items():
                shares.setdefault(cell, []).append(part)
        for cell, parts in shares.items():
            lower = float(table.lower[cell])
            own = sum(map(decimal_of, parts), Decimal(0))
            if cell in known:
                continue
            if len(parts) == contributions.count[cell]:
                known[cell] = None
            elif lower >= 0 and own > decimal_of(lower):
                known[cell] = max(0.0, float(decimal_of(table.value[cell]) - own))
        return known

    def _member(self, coalition: str, place: int, text: str) -> int:
        """Return the number of a member that is given by a cell or by a keyed hash."""
        table, name = self._table, f"member {place} of coalition {coalition!r}"
        if "=" not in text:
            if text not in self._number:
                raise InputError(
                    f"{name} is nobody whom the table knows",
                    expected="a cell such as region=North,size=small, or a keyed hash "
                    "of its columns 'respondent', 'contributor_1', 'contributor_2'",
                    hint="hashes are those of one set of records: look them up in this "
                    "very table",
                )
            return self._number[text]
        label = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
        cells = np.flatnonzero(select(table, label)).tolist()
        if len(cells) > 1 or len(label) != text.count(",") + 1:
            raise InputError(
                f"{name} stands for {len(cells):,} cells",
                expected="one cell, with a code for each dimension",
                hint="name them all, such as " + table.label(0).replace(", ", ","),
            )
        (cell,) = cells
        if self._lone[cell] >= 0:
            return int(self._lone[cell])
        if table.contributions is None:
            raise InputError(
                f"{name} is the largest contributor of {table.label(cell)}, and the "
                "table does not say who that is",
                expected="a cell with one contributor",
                hint=TABULATE_AGAIN,
            )
        largest = str(table.contributions.who[cell, 0])
        if not largest:
            raise InputError(
                f"{name}: nobody is known to contribute to {table.label(cell)}",
                expected="a cell with contributors that were tabulated",
                hint="name another cell",
            )
        return self._number[largest]


def decimal_of(number: float) -> Decimal:
    """Return a number as it was read: with the fewest digits that stand for it."""
    return Decimal(repr(float(number)))
