"""How a table was made: what a verdict must state that the cells do not show.

It is stored with the table, in the side file of a CSV and in the metadata of Parquet,
so that it is known when the table is judged later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

# The default of prior knowledge.
AUTO = "auto"
T = TypeVar("T")


class Axis(NamedTuple):
    """A variable of one of several linked tables, with the codes that the table shows.

    Attributes
    ----------
    variable
        The dimension of the joint table.
    column
        Its name in the table itself: a level of the variable has its own name.
    codes
        The codes that the table shows; empty where it shows all of them.
    """

    variable: str
    column: str
    codes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dominated:
    """Numbers of cells that one contributor dominates without being alone there.

    The others contribute less than `limit` times as much. `sensitive` cells are hidden
    in any case, `others` need not be.
    """

    limit: float
    sensitive: int
    others: int


@dataclass(frozen=True)
class Origin:
    """How a table was made.

    Attributes
    ----------
    rules
        The primary rules and how many cells each marked. None where the table was given
        with its statuses; empty where the user decided that no rule applies.
    counts
        Whether cells count people or firms: whole numbers, known to be so.
    whole
        Whether everyone knows that the values, though not counts, are whole numbers;
        None where that was not determined.
    raised
        How many cells had levels that were raised to whole numbers.
    count_zeros
        Whether contributors of zero count for the minimum frequency; None where they
        are unknown, and for counts.
    dominated
        Cells that one contributor dominates; None where contributions are unknown.
    zeros
        Whether empty cells are listed and may be hidden, so that a hidden cell need not
        have a contributor.
    bounds
        What everyone knows of a cell beforehand, as `evosdc.table.knowledge` reads it.
    threshold
        The minimum frequency, where it is published: hidden sensitive counts are then
        known to be below it.
    floor
        The least level of a sensitive cell; 0 where none was set.
    waived
        How many contributors consented, so that rules do not protect them.
    by_hand
        Descriptions of changes after the rules: an a-priori file, levels by a
        percentage.
    ring
        Whether linked tables in a ring were made one by one: what follows from cells
        that none of them shows cannot be judged.
    weighting
        A description of how records were weighted; blank where weights were not
        considered.
    source
        A fingerprint of the records, the same for all tables made of them.
    tables
        The linked tables that it consists of, where the codes of its cells do not
        determine them: tables that show other levels of the same variables.
    unlinked
        Descriptions of variables of linked tables that were taken for unrelated without
        being certain. None where that was not determined.
    """

    rules: tuple[tuple[str, int], ...] | None = None
    counts: bool = False
    whole: bool | None = None
    raised: int = 0
    count_zeros: bool | None = None
    dominated: Dominated | None = None
    zeros: bool = False
    bounds: str = AUTO
    threshold: int | None = None
    floor: float = 0.0
    waived: int = 0
    by_hand: tuple[str, ...] = ()
    ring: bool = False
    weighting: str = ""
    source: str = ""
    tables: tuple[tuple[Axis, ...], ...] = ()
    unlinked: tuple[str, ...] | None = None

    @property
    def in_whole(self) -> bool:
        """Whether attackers know that cells are whole numbers."""
        return self.counts or self.whole is True

    def as_json(self) -> dict[str, Any]:
        """Return what a side file holds."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Origin:
        """Read back what `as_json` gave; a field that is not there has its default.

        Raises
        ------
        ValueError, TypeError, KeyError
            For anything else.
        """
        kinds = get_type_hints(cls)
        given = {name: data[name] for name in kinds if name in data}
        return cls(**{name: _read(part, kinds[name]) for name, part in given.items()})

    @classmethod
    def joint(cls, parts: Iterable[Origin]) -> Origin:
        """Return the origin of linked tables; `link_tables` says which they are."""
        origins = list(parts)
        if len(origins) == 1:
            return origins[0]
        marked: dict[str, int] = {}
        for rule, count in (r for o in origins for r in o.rules or ()):
            marked[rule] = marked.get(rule, 0) + count
        known = all(o.rules is not None for o in origins)
        return cls(
            rules=tuple(marked.items()) if known else None,
            counts=all(o.counts for o in origins),
            whole=_agreed([o.in_whole if o.counts else o.whole for o in origins], None),
            raised=sum(o.raised for o in origins),
            count_zeros=_agreed([o.count_zeros for o in origins], None),
            dominated=_together([o.dominated for o in origins]),
            zeros=any(o.zeros for o in origins),
            bounds=_agreed([o.bounds for o in origins], "columns"),
            threshold=_agreed([o.threshold for o in origins], None),
            floor=max(o.floor for o in origins),
            waived=max(o.waived for o in origins),
            by_hand=tuple(dict.fromkeys(w for o in origins for w in o.by_hand)),
            ring=any(o.ring for o in origins),
            weighting="; ".join(
                dict.fromkeys(o.weighting for o in origins if o.weighting)
            ),
            source=_agreed([o.source for o in origins], ""),
        )


def _read(given: Any, kind: Any) -> Any:
    """Read a value of a type from JSON."""
    if kind in (bool, int, float, str):
        return kind(given)
    parts = get_args(kind)
    if get_origin(kind) is UnionType:
        return None if given is None else _read(given, parts[0])
    if get_origin(kind) is not tuple:
        kinds = get_type_hints(kind)
        named = given if isinstance(given, Mapping) else zip(kinds, given, strict=True)
        read = {name: _read(part, kinds[name]) for name, part in dict(named).items()}
        return kind(**read)
    if parts[-1] is Ellipsis:
        return tuple(_read(part, parts[0]) for part in given)
    return tuple(_read(part, kind) for part, kind in zip(given, parts, strict=True))


def _agreed(values: Sequence[T], otherwise: T) -> T:
    """Return the common value, or `otherwise` where values differ."""
    return values[0] if len(set(values)) == 1 else otherwise


def _together(parts: Sequence[Dominated | None]) -> Dominated | None:
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return Dominated(
        max(part.limit for part in known),
        sum(part.sensitive for part in known),
        sum(part.others for part in known),
    )
