"""The options of the verbs for tables: what each of them takes.

Python's objects, the flags of the command line, the keys of `evosdc.toml`, the settings
in `claim.json` and the page of options in the reference are made of what is said here.
Nothing heavy is imported, so that help texts are quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from evosdc.options.declare import (
    DEFAULT_TIME_LIMIT,
    OptionObject,
    Seconds,
    option,
    time_limit_option,
)
from evosdc.options.objects import (
    OBJECTS,
    Attackers,
    CellRequests,
    Contributors,
    Prior,
    Read,
    Run,
    Stop,
)
from evosdc.options.rules import rules_help
from evosdc.options.verbs import KEYWORDS, Takes, taken

__all__ = [
    "AUDIT",
    "DEFAULT_TIME_LIMIT",
    "KEYWORDS",
    "LINK",
    "LOWER_BOUND",
    "OBJECTS",
    "PROTECT",
    "TABULATE",
    "VERBS",
    "VERIFY",
    "Attackers",
    "AuditKeywords",
    "BoundKeywords",
    "CellRequests",
    "Contributors",
    "Prior",
    "ProtectKeywords",
    "Read",
    "Run",
    "Seconds",
    "Stop",
    "TabulateKeywords",
    "VerbOptions",
    "settings",
]


@dataclass(frozen=True, kw_only=True)
class ProtectKeywords(OptionObject, verb="protect"):
    """Keywords of `protect`."""

    method: str = option("auto", "A name from: evosdc methods.")
    time_limit: Seconds = time_limit_option(
        "Seconds for everything after reading, compiling on first use aside; none for "
        "no limit (auto: 60, none with a budget of evaluations).",
        above=0,
    )
    seed: int = option(0, "Root of all randomness.", least=0)
    workers: int | None = option(
        None,
        "At most so many (default: all cores). Under a time limit each has a search "
        "of auto, hybrid, order-ga, other methods of orders, ls-ruin and ls-rebuild. "
        "On tables that are no networks they share sub-tables of hitas, attacks of "
        "optimal and of a hybrid without a limit, and the judge of all methods. "
        "Others search on one core.",
        least=1,
    )

    def seconds(self, stop: Stop) -> float | None:
        """Return the limit that holds; None for no limit."""
        usual = DEFAULT_TIME_LIMIT if stop.evaluations is None else None
        return usual if self.time_limit == "auto" else self.time_limit


_JUDGE_WORKERS = (
    "Processes at most (default: all cores), where judging takes long: tables that "
    "are no two-dimensional networks."
)


@dataclass(frozen=True, kw_only=True)
class AuditKeywords(OptionObject, verb="audit"):
    """Keywords of `audit`."""

    time_limit: Seconds = time_limit_option(
        "Seconds, none for no limit; cells not decided by then are open (auto: none).",
        least=0,
    )
    workers: int | None = option(None, _JUDGE_WORKERS, least=1)

    @property
    def seconds(self) -> float | None:
        """The limit that holds; None for no limit."""
        return None if self.time_limit == "auto" else self.time_limit


@dataclass(frozen=True, kw_only=True)
class BoundKeywords(OptionObject, verb="lower_bound"):
    """Keywords of `lower_bound`."""

    method: str = option(
        "cut", "node (rows, columns) or cut (stronger).", known=("node", "cut")
    )
    time_limit: Seconds = time_limit_option(
        "Seconds, none for no limit; the bound is valid whenever it stops (auto: 60).",
        least=0,
    )
    workers: int | None = option(
        None,
        "Processes at most (default: all cores), where attacks take long: tables that "
        "are no two-dimensional networks.",
        least=1,
    )

    @property
    def seconds(self) -> float | None:
        """The limit that holds; None for no limit."""
        return DEFAULT_TIME_LIMIT if self.time_limit == "auto" else self.time_limit


@dataclass(frozen=True, kw_only=True)
class TabulateKeywords(OptionObject, verb="tabulate"):
    """Keywords of `tabulate`."""

    rules: Any = option(
        (),
        rules_help(),
        flag="--rule",
        form="texts",
    )
    workers: int | None = option(
        None, "Threads that read records (default: all cores).", least=1
    )


_TABLE = tuple(
    one.name for one in fields(Read) if one.name not in ("digits", "memory_limit")
)
_RECORDS = (
    "hierarchies",
    "totals",
    "flat",
    "link",
    "apriori",
    "digits",
    "memory_limit",
)
_READ = Takes(Read, _TABLE)
_CLUSTER = Takes(Run, ("cluster",))
# The objects that each verb takes, by its keywords.
PROTECT = {
    KEYWORDS: Takes(ProtectKeywords),
    "stop": Takes(Stop),
    "attackers": Takes(Attackers),
    "cells": Takes(CellRequests),
    "prior": Takes(Prior),
    "read": _READ,
    "run": Takes(Run),
}
AUDIT = {
    KEYWORDS: Takes(AuditKeywords),
    "attackers": Takes(Attackers),
    "prior": Takes(Prior),
    "read": _READ,
    "run": _CLUSTER,
}
LOWER_BOUND = {
    KEYWORDS: Takes(BoundKeywords),
    "attackers": Takes(Attackers),
    "cells": Takes(CellRequests),
    "prior": Takes(Prior),
    "read": _READ,
    "run": _CLUSTER,
}
VERIFY = {
    "attackers": Takes(Attackers),
    "read": Takes(Read, tuple(name for name in _TABLE if name != "rules")),
}
# The links, and the tables that are linked, are arguments of `link` itself.
LINK = {
    "read": Takes(
        Read,
        tuple(name for name in _TABLE if name not in ("rules", "link", "apriori")),
    ),
}
TABULATE = {
    KEYWORDS: Takes(TabulateKeywords),
    "contributors": Takes(Contributors),
    "prior": Takes(Prior, ("bounds", "whole_numbers")),
    "read": Takes(Read, _RECORDS),
}
VERBS = {
    "tabulate": TABULATE,
    "protect": PROTECT,
    "audit": AUDIT,
    "verify": VERIFY,
    "lower_bound": LOWER_BOUND,
}


@dataclass(frozen=True, kw_only=True)
class VerbOptions:
    """All the objects of a verb, those that were not given with their defaults."""

    stop: Stop
    attackers: Attackers
    cells: CellRequests
    prior: Prior
    read: Read
    run: Run
    contributors: Contributors

    @classmethod
    def of(
        cls, takes: Mapping[str, Takes], **given: OptionObject | None
    ) -> VerbOptions:
        """Check what was given to a verb, by the names of its keywords."""
        return cls(
            **{
                name: taken(takes, name, given.get(name), kind)
                for name, kind in OBJECTS.items()
            }
        )

    @property
    def keeps_secondaries(self) -> bool:
        """Whether secondaries of the table stay hidden, as an a-priori file says."""
        return self.cells.keep_secondaries or self.read.apriori is not None


def settings(*given: OptionObject) -> dict[str, Any]:
    """Write options down by name."""
    return {
        one.name: getattr(options, one.name)
        for options in given
        for one in fields(options)  # type: ignore[arg-type]
    }
