"""What a run is asked for, as objects: when to stop, against whom, and of which cells.

Every field is also a keyword of the verbs; a verb takes the object or the keywords.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, TypeAlias, TypeVar

from evosdc.api.requests import Labels, Preferences
from evosdc.errors import InputError
from evosdc.options import check_types
from evosdc.table import Coalition, Table
from evosdc.table.attackers import (
    LONE,
    PUBLIC,
    Attackers,
    find_attackers,
    knows_contributors,
)

DEFAULT_TIME_LIMIT = 60.0

Kind = TypeVar("Kind")
Kinds: TypeAlias = Literal["public", "lone", "pairs"]


class NotGiven:
    """The type of `NOT_GIVEN`, which no user has a reason to write."""

    def __repr__(self) -> str:
        return "not given"


NOT_GIVEN: Final = NotGiven()


@dataclass(frozen=True, kw_only=True)
class Stop:
    """When a search ends: as soon as one of these holds, or on Ctrl-C.

    Attributes
    ----------
    time_limit
        Seconds for all of it, compiling on first use aside; 60 unless `evaluations` is
        given. What the judge has no time for is said to be open.
    evaluations
        Patterns the search may build: the budget that repeats exactly.
    gap
        Stop when the answer is proven this close to the optimum; by default only when
        it is proven optimal.
    """

    time_limit: float | None = None
    evaluations: int | None = None
    gap: float = 0.0

    def __post_init__(self) -> None:
        check_types(self)
        for limit, name in (
            (self.time_limit, "time limit"),
            (self.evaluations, "evaluations"),
        ):
            # Written so that what is not a number is refused too.
            if limit is not None and not limit > 0:
                raise InputError(f"{name} is {limit}", expected="a number above 0")
        if not 0 <= self.gap < 1:
            raise InputError(f"gap is {self.gap}", expected="a share from 0 to below 1")

    @property
    def seconds(self) -> float | None:
        """The limit that holds: a minute where neither time nor evaluations are set."""
        if self.time_limit is None and self.evaluations is None:
            return DEFAULT_TIME_LIMIT
        return self.time_limit


@dataclass(frozen=True, kw_only=True, init=False)
class Attacker:
    """Against whom, and how far, cells are protected.

    Attributes
    ----------
    strict
        Levels must be exceeded, not only reached.
    attackers
        Who attacks beside everyone: ``"public"`` nobody, ``"lone"`` each lone
        respondent, who knows its own cells, ``"pairs"`` each contributor that is one of
        the two largest of a cell too. By default lone respondents, where the table says
        who contributes. See `evosdc.table.attackers`.
    coalitions
        Respondents who share what they know: attackers, too.
    secondaries
        Secondaries must be safe too: nobody can work one out exactly, and those with
        levels of their own keep them.
    """

    strict: bool
    attackers: Kinds | None
    coalitions: Sequence[Coalition]
    secondaries: bool

    def __init__(
        self,
        *,
        strict: bool = False,
        attackers: Kinds | None = None,
        coalitions: Sequence[Coalition] = (),
        secondaries: bool = False,
        singletons: bool | None = None,
    ) -> None:
        """Set the fields; `singletons` is a former name of two kinds of attackers."""
        if singletons is not None:
            if not isinstance(singletons, bool):
                raise InputError(
                    f"singletons is {singletons!r}", expected="true or false"
                )
            if attackers is not None:
                raise InputError(
                    "both attackers and singletons are given",
                    expected="one of the two",
                    hint="leave singletons out: attackers='lone' or 'public' says it",
                )
            attackers = LONE if singletons else PUBLIC
        values = (strict, attackers, coalitions, secondaries)
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)
        check_types(self)

    def of(self, table: Table) -> Attackers:
        """Return the attackers of a table, the public first."""
        return find_attackers(table, self.attackers, self.coalitions)

    def kind(self, table: Table) -> str:
        """Return which attackers are asked about; of some tables nobody knows any."""
        if self.attackers is not None:
            return self.attackers
        return LONE if knows_contributors(table) else PUBLIC

    def beside_public(self, table: Table) -> bool:
        """Whether anybody is asked about beside the public, even if nobody is found."""
        return self.kind(table) != PUBLIC or bool(self.coalitions)

    def settings(self, table: Table) -> dict[str, Any]:
        """Write the attackers down, by the names of options."""
        return {
            "attackers": self.kind(table),
            "coalitions": [[one.name, *one.members] for one in self.coalitions],
        }


@dataclass(frozen=True, kw_only=True)
class Requests:
    """What is asked of single cells, by label.

    Attributes
    ----------
    hide, publish
        Cells that must be hidden and cells that must be published:
        ``hide="region=North,size=s*"``, ``publish={"region": "Total"}``, or
        ``"@FILE"``. See `evosdc.api.requests`.
    prefer
        Factors on the cost of cells, above 1 to keep them and below 1 to hide them
        first: ``prefer={"region=North": 5}``.
    keep
        Cells that the table says are secondary stay hidden, as last year's pattern in
        an a-priori file; otherwise the search starts afresh.
    accept
        Sensitive cells whose levels are lowered to what some pattern gives, where none
        gives all of them. Without it such cells are listed and the answer is not SAFE.
    """

    hide: Labels = None
    publish: Labels = None
    prefer: Preferences = None
    keep: bool = False
    accept: Labels = None

    def __post_init__(self) -> None:
        check_types(self)


def one_way(
    kind: type[Kind],
    name: str,
    given: Kind | None,
    keywords: Mapping[str, Any],
    fields: Mapping[str, str] | None = None,
) -> Kind:
    """Return the object that was given, or the one that the keywords make.

    Parameters
    ----------
    name
        What the verb calls the object.
    keywords
        The verb's keywords with what was given for each, or `NOT_GIVEN`.
    fields
        Fields that are not called as the keyword is.
    """
    names = fields or {}
    flat = {
        names.get(keyword, keyword): value
        for keyword, value in keywords.items()
        if not isinstance(value, NotGiven)
    }
    if given is None:
        return kind(**flat)
    if not isinstance(given, kind):
        raise InputError(
            f"{name} is a {type(given).__name__}",
            expected=f"evosdc.{kind.__name__}(...), or the keywords "
            f"{', '.join(keywords)}",
        )
    if flat:
        field = next(iter(flat))
        keyword = next(k for k in keywords if names.get(k, k) == field)
        raise InputError(
            f"both {name} and {keyword} are given",
            expected="one of the two",
            hint=f"put it into {name}={kind.__name__}({field}=...)",
        )
    return given
