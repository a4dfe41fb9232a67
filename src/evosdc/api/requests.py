"""Requests about cells: which must be hidden or shown, and what hiding each costs.

Users write them as labels in text, as mappings, or in files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack import Requirements
from evosdc.errors import InputError, RequestError
from evosdc.io import read_labels
from evosdc.io.cells import coalitions_of
from evosdc.options import tables as options
from evosdc.options.objects import CostFactors, Labels
from evosdc.suppress.problem.problem import room_of
from evosdc.table import Table
from evosdc.table.attackers import LONE, PUBLIC, knows_contributors
from evosdc.table.hierarchy import tidy_code
from evosdc.table.index import select
from evosdc.table.status import FIXED, PRIMARY

Label = Mapping[str, str]
_COSTS = "weight, value, frequency, unit or boxcox:L (for example boxcox:0.5)"
_FACTOR_HINT = "above 1 keeps cells, below 1 hides them first"


@dataclass(frozen=True)
class LabelRequests:
    """Cells by label: see `evosdc.table.index.select`.

    Attributes
    ----------
    hide
        Cells that must be hidden. They count as sensitive; those without levels must
        only not be worked out exactly.
    publish
        Cells that must be published.
    prefer
        Factors on the cost of cells: above 1 to keep them, below 1 to hide them first.
        Where several fit a cell they are multiplied.
    """

    hide: Sequence[Label] = ()
    publish: Sequence[Label] = ()
    prefer: Sequence[tuple[Label, float]] = ()

    def grant(self, table: Table, kept: NDArray[np.bool_]) -> Table:
        """Return the table with the requested cells sensitive or fixed.

        Parameters
        ----------
        kept
            Secondaries that stay hidden.

        Raises
        ------
        RequestError
            For a sensitive cell that must be published, for a cell that must be both,
            and for one that cannot be hidden.
        """
        hide, publish = _any_of(table, self.hide), _any_of(table, self.publish)
        _refuse(
            table,
            hide & publish,
            "both to be hidden and to be published",
            "one of the two",
        )
        _refuse(
            table,
            publish & (table.status == PRIMARY),
            "sensitive and must be published",
            "requests to publish that leave out sensitive cells",
        )
        _refuse(
            table,
            publish & kept,
            "secondaries to keep and must be published",
            "requests to publish that leave out the secondaries to keep",
        )
        _refuse(
            table,
            hide & (table.status == FIXED),
            "fixed and must be hidden",
            "requests to hide cells that are not fixed",
        )
        status = np.where(hide, PRIMARY, np.where(publish, FIXED, table.status))
        # Cells without levels must only not be worked out: the problem sees to that.
        refuse_known(table, hide)
        return table.replace(status=status)

    def factors(self, table: Table) -> NDArray[np.float64]:
        """What the cost of each cell is multiplied by."""
        factor = np.ones(len(table))
        for label, times in self.prefer:
            if not (isfinite(times) and times >= 0):
                raise RequestError(
                    f"a preference of {times} for {_words(label)}",
                    expected="a factor of 0 or more, 1 for no preference",
                )
            factor[select(table, label)] *= times
        return factor

    def settings(self) -> dict[str, list[str]]:
        """Write the requests down, as the command line takes them."""
        return {
            "hide": [_words(label) for label in self.hide],
            "publish": [_words(label) for label in self.publish],
            "prefer": [f"{_words(label)}={times:g}" for label, times in self.prefer],
        }


def refuse_known(table: Table, cells: NDArray[np.bool_]) -> None:
    """Refuse cells without levels whose value is known by their bounds."""
    up, down = room_of(table)
    bare = (table.upl == 0) & (table.lpl == 0) & (table.spl == 0)
    _refuse(
        table,
        cells & bare & (up == 0) & (down == 0),
        "known to everyone by its bounds and must be hidden",
        "cells whose bounds leave room",
    )


def _any_of(table: Table, labels: Sequence[Label]) -> NDArray[np.bool_]:
    chosen = np.zeros(len(table), dtype=bool)
    for label in labels:
        chosen |= select(table, label)
    return chosen


def _words(label: Label) -> str:
    return ",".join(f"{name}={code}" for name, code in label.items())


def _refuse(table: Table, bad: NDArray[np.bool_], what: str, expected: str) -> None:
    cells = np.flatnonzero(bad)
    if not len(cells):
        return
    shown = "; ".join(table.label(int(cell)) for cell in cells[:5])
    more = f" and {len(cells) - 5} more" if len(cells) > 5 else ""
    number = "1 cell is" if len(cells) == 1 else f"{len(cells)} cells are"
    raise RequestError(
        f"{number} {what}: {shown}{more}",
        expected=expected,
        hint="make the label narrower; a factor (--cost-factor) keeps cells where it "
        "can and contradicts nothing",
    )


def costs(table: Table, name: str = "weight") -> NDArray[np.float64]:
    """Price every cell.

    Parameters
    ----------
    name
        ``weight`` the table's own weights; ``value`` the absolute value (never below
        1, so that zeros are not free); ``frequency`` the number of contributors;
        ``unit`` 1 per cell; ``boxcox:L`` the value raised to the power L, or its
        logarithm for L = 0.
    """
    size = np.abs(table.value)
    if name == "weight":
        return table.weight.copy()
    if name == "value":
        return np.maximum(size, 1.0)
    if name == "unit":
        return np.ones(len(table))
    if name == "frequency":
        if table.frequency is None:
            raise InputError(
                "the table has no frequencies to take as costs",
                expected="a column or record of contributors per cell",
                hint="choose another --cost: " + _COSTS,
            )
        return np.maximum(table.frequency.astype(np.float64), 1.0)
    kind, _, power = name.partition(":")
    if kind == "boxcox":
        try:
            exponent = float(power)
        except ValueError:
            exponent = float("nan")
        if np.isfinite(exponent) and -10 <= exponent <= 10:
            base = np.maximum(size, 1.0)
            return np.log1p(base) if exponent == 0 else base**exponent
    raise InputError(f"cost {name!r} is not known", expected=_COSTS)


def read_requests(hide: Labels, publish: Labels, prefer: CostFactors) -> LabelRequests:
    """Read requests as users write them.

    A label is a mapping from dimension to code, or text such as
    ``"region=North,size=s*"``. Text that starts with ``@`` names a CSV file with one
    column per dimension, blank for any code, and a column ``factor`` for preferences.
    """
    return LabelRequests(
        hide=[label for label, _ in _labels(hide)],
        publish=[label for label, _ in _labels(publish)],
        prefer=list(_preferences(prefer)),
    )


def _labels(given: Labels) -> Iterator[tuple[Label, float | None]]:
    """Yield labels, with the factors that a file gives them."""
    for one in [given] if isinstance(given, (str, Mapping)) else given or ():
        if not isinstance(one, str):
            yield {k: str(v) for k, v in one.items()}, None
        elif one.startswith("@"):
            yield from read_labels(one[1:])
        else:
            yield _label(one), None


def _preferences(given: CostFactors) -> Iterator[tuple[Label, float]]:
    listed: Iterable[Any] = [given] if isinstance(given, str) else given or ()
    for pair in given.items() if isinstance(given, Mapping) else listed:
        if isinstance(pair, str):
            pair = _preference(pair)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(
                f"a preference is a {type(pair).__name__}",
                expected="a label and a factor, such as ('region=North', 5)",
                hint=_FACTOR_HINT,
            )
        one, times = pair
        for label, factor in _labels(one):
            number = times if factor is None else factor
            if number is None:
                raise InputError(
                    f"{one} has no column 'factor'",
                    expected="a factor for each label",
                    hint=f"add the column: {_FACTOR_HINT}",
                )
            if isinstance(number, bool) or not isinstance(number, Real):
                raise InputError(
                    f"the factor of a preference is a {type(number).__name__}",
                    expected="a number of 0 or more",
                    hint=_FACTOR_HINT,
                )
            yield label, float(number)


def _label(text: str) -> Label:
    label: dict[str, str] = {}
    for part in text.split(","):
        name, sign, code = (tidy_code(word) for word in part.partition("="))
        if not (name and sign and code) or name in label:
            raise InputError(
                f"a label is {text!r}",
                expected="DIMENSION=CODE, several with commas, such as "
                "region=North,size=small",
                hint="give codes with commas in them in a file: @FILE.csv",
            )
        label[name] = code
    return label


def _preference(text: str) -> tuple[str, float | None]:
    """Read ``region=North,size=small=5``, or ``@FILE`` with a column factor."""
    if text.startswith("@"):
        return text, None
    label, _, number = text.rpartition("=")
    try:
        return label, float(number)
    except ValueError:
        raise InputError(
            f"a preference is {text!r}",
            expected="a label and a factor, such as region=North=5",
            hint=_FACTOR_HINT,
        ) from None


def attackers_asked(given: options.Attackers, table: Table) -> Requirements:
    """Return who is asked about; of some tables nobody knows any contributor."""
    usual = LONE if knows_contributors(table) else PUBLIC
    return Requirements.of(given, coalitions_of(given.coalitions), usual)
