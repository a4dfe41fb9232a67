"""Where a table came from: what a verdict on it has to say and cells cannot.

It travels with the table, in the side file of a CSV and in the metadata of Parquet, so
that whoever judges the table later says what was known when it was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

# How prior knowledge is set where nobody says otherwise.
AUTO = "auto"
T = TypeVar("T")


class Axis(NamedTuple):
    """A variable of one of several linked tables, as far as this table shows it.

    Attributes
    ----------
    variable
        The dimension of the joint table.
    column
        What the table itself calls it: a level of the variable has its own name.
    codes
        The codes that the table shows; empty where it shows all of them.
    """

    variable: str
    column: str
    codes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dominated:
    """How many cells one contributor dominates without being alone there.

    The others have less than `limit` times what it has. `sensitive` cells are hidden in
    any case, `others` may be.
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
        The primary rules and how many cells each marked. None where the table came
        ready-made with its statuses; empty where somebody decided that no rule applies.
    counts
        Whether cells count people or firms: whole numbers, known to be so.
    whole
        Whether everyone knows that the values are whole numbers, though they count
        nothing; None where nobody looked.
    raised
        How many cells had levels that were raised to whole numbers.
    count_zeros
        Whether contributors of zero count for the minimum frequency; None where
        nothing is known of them, and for counts.
    dominated
        Cells that one contributor dominates; None where contributions are not known.
    zeros
        Whether empty cells are listed and may be hidden, so that nobody knows of a
        hidden cell that somebody is in it.
    bounds
        What everyone knows of a cell beforehand, as `evosdc.table.knowledge` reads it.
    threshold
        The minimum frequency, where it is published: hidden sensitive counts are then
        known to be below it.
    floor
        The least level of a sensitive cell; 0 where nobody set one.
    waived
        How many contributors consented, so that rules passed them over.
    by_hand
        What was changed after the rules, in words: an a-priori file, levels by a
        percentage.
    ring
        Whether it is of linked tables in a ring, made one by one: what follows from the
        cells that none of them shows cannot be judged.
    weighting
        How records were weighted, in words; blank where nothing said that they could.
    source
        A fingerprint of the records, the same for all tables made of them.
    tables
        The linked tables that it is made of, where the codes of its cells do not tell:
        tables that show other levels of the same variables. Empty where they do.
    unlinked
        Variables of linked tables that were judged as unrelated although nobody could
        be sure of it, in words. None where nobody looked.
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
    """Read what JSON gave back as a value of a type."""
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


def _agreed(said: Sequence[T], otherwise: T) -> T:
    """What all say; `otherwise` where they do not say the same."""
    return said[0] if len(set(said)) == 1 else otherwise


def _together(parts: Sequence[Dominated | None]) -> Dominated | None:
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return Dominated(
        max(part.limit for part in known),
        sum(part.sensitive for part in known),
        sum(part.others for part in known),
    )
