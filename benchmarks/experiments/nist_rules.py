"""Records of an excerpt that cannot be, by the dictionary of its features.

Every rule is one that the data dictionary says (who is under 15 has no marital status)
or that follows from what features mean (a family has more people than own children). A
rule whose features are not all there is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Columns = Mapping[str, NDArray[np.str_]]
Mask = NDArray[np.bool_]

_NONE = "N"


def _number(values: NDArray[np.str_]) -> NDArray[np.float64]:
    """Return texts as numbers; -1 for what is not applicable."""
    return np.where(values == _NONE, "-1", values).astype(float)


def _only_under(feature: str, age: int) -> Callable[[Columns], Mask]:
    """Not applicable to those under an age, and to nobody else."""

    def broken(columns: Columns) -> Mask:
        young = _number(columns["AGEP"]) < age
        return np.asarray(young != (columns[feature] == _NONE))

    return broken


def _all_under(feature: str, age: int) -> Callable[[Columns], Mask]:
    """Not applicable to those under an age, and to others too."""

    def broken(columns: Columns) -> Mask:
        young = _number(columns["AGEP"]) < age
        return np.asarray(young & (columns[feature] != _NONE))

    return broken


def _together(one: str, two: str) -> Callable[[Columns], Mask]:
    """Not applicable both or neither."""
    return lambda c: np.asarray((c[one] == _NONE) != (c[two] == _NONE))


def _in_quarters(columns: Columns) -> Mask:
    """Nobody in group quarters owns or rents, and everybody else does."""
    quarters = columns["HOUSING_TYPE"] != "1"
    return np.asarray(quarters != (columns["OWN_RENT"] == "0"))


def _quarters_without(feature: str, value: str) -> Callable[[Columns], Mask]:
    """In group quarters a feature has this value."""
    return lambda c: np.asarray((c["OWN_RENT"] == "0") & (c[feature] != value))


def _small_family(columns: Columns) -> Mask:
    """A family has more people than own children."""
    family, children = _number(columns["NPF"]), _number(columns["NOC"])
    return np.asarray((family >= 0) & (children >= family))


RULES: dict[str, tuple[tuple[str, ...], Callable[[Columns], Mask]]] = {
    "marital status from 15 on": (("AGEP", "MSP"), _only_under("MSP", 15)),
    "income from 15 on": (("AGEP", "PINCP"), _only_under("PINCP", 15)),
    "decile of income from 15 on": (
        ("AGEP", "PINCP_DECILE"),
        _only_under("PINCP_DECILE", 15),
    ),
    "income and its decile": (
        ("PINCP", "PINCP_DECILE"),
        _together("PINCP", "PINCP_DECILE"),
    ),
    "marital status and decile of income": (
        ("MSP", "PINCP_DECILE"),
        _together("MSP", "PINCP_DECILE"),
    ),
    "industry from 16 on": (("AGEP", "INDP_CAT"), _all_under("INDP_CAT", 16)),
    "industry and its category": (("INDP", "INDP_CAT"), _together("INDP", "INDP_CAT")),
    "education from 3 on": (("AGEP", "EDU"), _only_under("EDU", 3)),
    "memory from 5 on": (("AGEP", "DREM"), _only_under("DREM", 5)),
    "walking from 5 on": (("AGEP", "DPHY"), _only_under("DPHY", 5)),
    "veterans from 17 on": (("AGEP", "DVET"), _all_under("DVET", 17)),
    "housing and tenure": (("HOUSING_TYPE", "OWN_RENT"), _in_quarters),
    "no own children in quarters": (("OWN_RENT", "NOC"), _quarters_without("NOC", "N")),
    "no family in quarters": (("OWN_RENT", "NPF"), _quarters_without("NPF", "N")),
    "no housing weight in quarters": (
        ("OWN_RENT", "WGTP"),
        _quarters_without("WGTP", "0"),
    ),
    "more people than children": (("NPF", "NOC"), _small_family),
}


def impossible(columns: Columns) -> dict[str, int]:
    """Return how many records break each rule that some break."""
    out = {}
    for name, (features, broken) in RULES.items():
        if all(f in columns for f in features):
            many = int(broken(columns).sum())
            if many:
                out[name] = many
    return out


def impossible_records(columns: Columns) -> int:
    """Return how many records break some rule."""
    bad = np.zeros(len(next(iter(columns.values()))), bool)
    for features, broken in RULES.values():
        if all(f in columns for f in features):
            bad |= broken(columns)
    return int(bad.sum())
