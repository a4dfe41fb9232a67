"""The objects of options of the verbs for tables: each option in one of them, once.

`evosdc.options.tables` says which verb takes which of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, TypeAlias

from evosdc.formats import suffix_list
from evosdc.options.declare import OptionObject, option

Paths: TypeAlias = str | PathLike
Labels: TypeAlias = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None
CostFactors: TypeAlias = (
    Mapping[str, Any] | Sequence[str | tuple[Any, float | None]] | str | None
)

FILES_OF_CODES = suffix_list("hierarchy", reading=True)


@dataclass(frozen=True, kw_only=True)
class Read(OptionObject):
    """How a table, or the records of one, are read."""

    dimensions: Sequence[str] | None = option(
        None,
        "Columns of codes (default: all that are not recognised as something else).",
    )
    hierarchies: Mapping[str, Any] | None = option(
        None,
        f"NAME=FILE: tree of codes ({FILES_OF_CODES}); columns go from coarse to fine. "
        "Of records also NAME=COLUMNS: A88=A10,A21,A88.",
        flag="--hierarchy",
        metavar="NAME=FILE",
        form="trees",
    )
    totals: Mapping[str, str] | str | None = option(
        None,
        "Code of the totals (default: Total, of tables else found by name or by the "
        "numbers).",
        flag="--total",
        form="text",
    )
    value: str | None = option(
        None, "Column of values in labelled files (default: value)."
    )
    missing: Literal["error", "empty"] | None = option(
        None,
        "What an absent inner cell means: error or empty.",
        metavar="error|empty",
    )
    flat: Collection[str] = option(
        (), "Variables without sub-totals, though some codes look like totals or sums."
    )
    level_percent: float | None = option(
        None,
        "Levels of primaries that have none, as a percentage of the value.",
        above=0,
        below=float("inf"),
    )
    apriori: Paths | None = option(
        None,
        "tau-Argus .hst file: statuses, costs and levels of cells.",
        metavar="FILE",
    )
    link: Mapping[str, str] | None = option(
        None,
        "A21=A88: variables of several tables that are one, by levels or by another "
        "name; A21=none: it is unrelated to all others.",
        metavar="NAME=NAME",
    )
    digits: Mapping[str, int] | None = option(
        None,
        "NAME=N: codes of the records have N digits, leading zeros were lost (7 is "
        "07).",
        metavar="NAME=N",
    )
    memory_limit: str | None = option(
        None,
        "Memory for reading records before they are spilled to disk, such as 3GB.",
    )
    rules: Literal["none"] | Sequence[str] | None = option(
        None,
        "none: no rule applies to this table, so nothing is judged. Rules belong to "
        "tabulate.",
        flag="--rule",
        metavar="none",
        form="texts",
    )


@dataclass(frozen=True, kw_only=True)
class Prior(OptionObject):
    """What everyone knows of the cells beforehand."""

    bounds: str | None = option(
        None,
        "What everyone knows of a cell: auto (counts at least 1, magnitudes not "
        "negative unless one is), 0:inf, percent:50 or columns (default: what the "
        "table says, else auto).",
        flag="--prior",
        former="--bounds",
    )
    counts: bool | None = option(
        None,
        "Cells count people or firms: whole, at least 1 where listed (default: what "
        "the table says).",
        flag="--counts/--magnitudes",
    )
    published_threshold: int | None = option(
        None,
        "The minimum frequency, if it is published: sensitive counts are known to be "
        "below it.",
        former="--threshold",
    )
    whole_numbers: bool | None = option(
        None,
        "Attackers know that the values are whole numbers, such as employees "
        "(default: where all of them are).",
        flag="--whole-numbers/--no-whole-numbers",
    )
    already_published: Any = option(
        None,
        "published.csv of an earlier run, as a file or a frame: everyone has it. "
        "Several may be given.",
        former="--earlier",
        metavar="FILE",
        form="files",
    )


@dataclass(frozen=True, kw_only=True)
class Attackers(OptionObject):
    """Against whom, and how far, cells are protected, judged, or must have been."""

    who: Literal["public", "lone", "pairs"] | None = option(
        None,
        "public: everyone; lone: lone respondents too, who know their own cells "
        "(default: where the table says who contributes, of verify whom the "
        "certificate names); pairs: the two largest contributors of each cell, too "
        "(tabulate --contributions).",
        flag="--attackers",
        former={
            "--singletons": ("--attackers", "lone"),
            "--no-singletons": ("--attackers", "public"),
        },
        metavar="public|lone|pairs",
    )
    coalitions: Any = option(
        (),
        "Respondents who share what they know, too: a list of Coalition, or a file "
        "with columns coalition and member, a member being a cell "
        '("region=North,size=s": who is alone or largest there).',
        flag="--coalition",
        metavar="FILE",
        form="file",
    )
    strict: bool = option(False, "Levels must be exceeded, not only reached.")
    protect_secondaries: bool = option(
        False,
        "Secondaries must be safe too: nobody can work one out exactly, and those "
        "with levels of their own keep them.",
        former="--secondaries",
    )


@dataclass(frozen=True, kw_only=True)
class CellRequests(OptionObject):
    """What is asked of single cells, by label, and what suppressing a cell costs."""

    hide: Labels = option(
        None,
        "Cells that must be hidden: region=North,size=s*, or @FILE.csv.",
        metavar="LABEL",
        form="texts",
    )
    publish: Labels = option(
        None,
        "Cells that must be published, likewise.",
        metavar="LABEL",
        form="texts",
    )
    cost_factor: CostFactors = option(
        None,
        "LABEL=FACTOR: times the cost of these cells, such as region=North=5; above 1 "
        "keeps them, below 1 hides them first.",
        former="--prefer",
        metavar="LABEL=FACTOR",
        form="texts",
    )
    accept: Labels = option(
        None,
        "Sensitive cells, as for hide, for which lower levels are accepted where no "
        "pattern gives theirs.",
        metavar="LABEL",
        form="texts",
    )
    keep_secondaries: bool = option(
        False,
        "Secondaries of the table stay hidden; implied by an a-priori file.",
    )
    cost: str = option(
        "weight",
        "What suppressing a cell costs: weight, value, frequency, unit or boxcox:L.",
    )


@dataclass(frozen=True, kw_only=True)
class Stop(OptionObject):
    """When a search ends before its time limit: as soon as one of these holds."""

    evaluations: int | None = option(
        None,
        "Patterns the search may build: repeats exactly. There is no time limit then "
        "unless one is given.",
        above=0,
    )
    gap: float = option(
        0.0,
        "Stop when proven this close to the optimum, such as 0.01.",
        least=0,
        below=1,
    )


@dataclass(frozen=True, kw_only=True)
class Run(OptionObject):
    """How a run is carried out: where, what it tells, and what it leaves behind."""

    cluster: Any = option(
        None,
        "Dask workers in place of processes, by their scheduler: tcp://host:8786. The "
        "cells of the table are sent to them.",
        metavar="ADDRESS",
        form="text",
    )
    checkpoint: Any = option(
        None,
        "File that the best pattern so far is written to every 10 seconds, until the "
        "answer is there. It is confidential. The command line writes one in "
        "DIR/confidential, if the run may take over a minute.",
        metavar="FILE",
        form="file",
    )
    resume: bool = option(
        False,
        "Go on from the checkpoint of a run that was killed; what it spent counts.",
    )
    method_options: Mapping[str, Any] | None = option(
        None,
        "NAME=VALUE: a parameter of the method.",
        flag="--method-option",
        former="--option",
        metavar="NAME=VALUE",
    )
    on_progress: Callable[..., None] | None = option(
        None, "Called with every improvement.", flag=""
    )
    on_pattern: Callable[..., None] | None = option(
        None,
        "Called with the table and its final statuses before it is judged.",
        flag="",
    )


@dataclass(frozen=True, kw_only=True)
class Contributors(OptionObject):
    """Who stands behind the cells: roles of columns of the records, and consent."""

    weight: str | None = option(
        None,
        "Column of sampling weights (default: what the .rda of tau-Argus files "
        "names); none leaves those out. Records of weight 0 stand for nobody.",
    )
    holding: str | None = option(None, "Column that groups contributors.")
    request: str | None = option(
        None, "Column of contributors that asked for protection."
    )
    shadow: str | None = option(
        None, "Column that rules look at, where it is not the response."
    )
    cost: str | None = option(
        None,
        "What suppressing a cell costs: value (the default), frequency, unit, or a "
        "column to add up.",
    )
    consent: Sequence[str] | Paths = option(
        (),
        "Holdings that consented to be recognised, or a file with one on each line: "
        "rules pass them over.",
        former="--waiver",
        metavar="FILE",
        form="file",
    )
    count_zeros: bool = option(
        False,
        "Contributors of zero count for the minimum frequency of a magnitude.",
    )
    floor: float | None = option(
        None,
        "Least level of rules with a share of the value (default: 1 for counts, else "
        "a hundredth of the mean contribution).",
        least=0,
    )
    contributions: bool = option(
        False,
        "Keep the two largest contributors of each cell, as keyed hashes, and what "
        "they contribute: for protect --attackers pairs.",
    )


OBJECTS: dict[str, type[OptionObject]] = {
    "stop": Stop,
    "attackers": Attackers,
    "cells": CellRequests,
    "prior": Prior,
    "read": Read,
    "run": Run,
    "contributors": Contributors,
}
for _kind in OBJECTS.values():
    _kind.document()
