"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from evosdc.errors import InputError

if TYPE_CHECKING:
    from evosdc.api import Attacker

# As `evosdc.io.suffixes` has them, which a test compares: importing it takes longer
# than showing a help text.
TABLES = ".csv, .tsv, .txt, .dat, .parquet, .pq, .jj or .tab"
ADDRESS = "or postgresql://host/database?table=NAME"
RECORDS = ".csv, .tsv, .txt, .dat, .parquet, .pq or .asc"
HIERARCHIES = ".csv, .tsv, .txt, .dat, .parquet, .pq or .hrc"
FORCE = typer.Option(False, "--force", help="Overwrite existing output.")
JSON = typer.Option(False, "--json", help="Print one JSON object and nothing else.")
CHECKPOINT = typer.Option(
    None,
    "--checkpoint",
    metavar="FILE",
    help="Where to write what a run has every 10 seconds, until the answer is written "
    "(default: in DIR/confidential, if the run may take over a minute).",
)
NO_CHECKPOINT = typer.Option(
    False, "--no-checkpoint", help="Write none: a run that is killed is lost."
)
RESUME = typer.Option(
    False,
    "--resume",
    help="Go on from the checkpoint of a run that was killed; what it spent counts.",
)
CLUSTER = typer.Option(
    None,
    metavar="ADDRESS",
    help="Dask workers in place of processes, by their scheduler: tcp://host:8786. "
    "The cells of the table are sent to them.",
)
JUDGE_WORKERS = typer.Option(
    None,
    help="Processes at most (default: all cores), where judging takes long: tables "
    "that are no two-dimensional networks.",
)
CUT_WORKERS = typer.Option(
    None,
    help="Processes at most (default: all cores), where attacks take long: tables "
    "that are no two-dimensional networks.",
)
SEED = typer.Option(0, "--seed", help="Root of all randomness.")
STRICT = typer.Option(
    False, "--strict", help="Levels must be exceeded, not only reached."
)
ATTACKERS = typer.Option(
    None,
    "--attackers",
    metavar="public|lone|pairs",
    help="Against everyone; lone respondents too, who know their own cells (default: "
    "where the table says who contributes); or pairs, the two largest contributors of "
    "each cell, too (tabulate --contributions).",
)
SINGLETONS = typer.Option(
    None,
    "--singletons/--no-singletons",
    hidden=True,
    help="Former name of --attackers lone and --attackers public.",
)
COALITION = typer.Option(
    None,
    "--coalition",
    metavar="FILE",
    help="Respondents who share what they know, too: columns coalition and member, a "
    'member being a cell ("region=North,size=s": who is alone or largest there).',
)
BOUNDS = typer.Option(
    None,
    "--bounds",
    help="What everyone knows of a cell: auto, 0:inf, percent:50 or columns "
    "(default: what the table says, else auto).",
)
COUNTS = typer.Option(
    None,
    "--counts/--magnitudes",
    help="Cells count people or firms: whole, at least 1 where listed "
    "(default: what the table says).",
)
THRESHOLD = typer.Option(
    None,
    "--threshold",
    help="The minimum frequency, if it is published: sensitive counts are known to "
    "be below it.",
)
WHOLE_NUMBERS = typer.Option(
    None,
    "--whole-numbers/--no-whole-numbers",
    help="Attackers know that the values are whole numbers, such as employees "
    "(default: where all of them are).",
)
EARLIER = typer.Option(
    [],
    "--earlier",
    help="published.csv of an earlier run: everyone has it. May be given again.",
)
NO_RULE = typer.Option(
    [],
    "--rule",
    help="none: no rule applies to this table, so nothing is judged. Rules belong to: "
    "evosdc tabulate.",
)
HIERARCHY = typer.Option(
    [],
    "--hierarchy",
    help=f"NAME=FILE: tree of codes ({HIERARCHIES}); columns go from coarse to fine.",
)
TOTAL = typer.Option(
    None,
    "--total",
    help="Code of the totals (default: Total, else found by name or by the numbers).",
)
FLAT = typer.Option(
    [],
    "--flat",
    help="Dimensions without sub-totals, though some codes are sums of others.",
)
LINK = typer.Option(
    [],
    "--link",
    help="A21=A88: variables of several tables that are one, by levels or by another "
    "name; A21=none: it is unrelated to all others.",
)
MISSING = typer.Option(
    None, "--missing", help="What an absent inner cell means: error or empty."
)
APRIORI = typer.Option(
    None, "--apriori", help="tau-Argus .hst file: statuses, costs and levels of cells."
)
VALUE = typer.Option(
    None, "--value", help="Column of values in labelled files (default: value)."
)
LEVEL_PERCENT = typer.Option(
    None,
    "--level-percent",
    help="Levels of primaries that have none, as a percentage of the value.",
)


def attacker(
    strict: bool,
    attackers: str | None,
    singletons: bool | None,
    coalition: Path | None,
    secondaries: bool,
) -> Attacker:
    """Read against whom cells are protected."""
    from evosdc.api import Attacker
    from evosdc.io.cells import read_coalitions

    kind: Any = attackers
    return Attacker(
        strict=strict,
        attackers=kind,
        coalitions=() if coalition is None else read_coalitions(coalition),
        secondaries=secondaries,
        singletons=singletons,
    )


def names(text: str) -> list[str]:
    """Read ``a,b,c``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """Read ``name=value`` texts."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name or not value:
            raise InputError(
                f"{option} got {text!r}", expected="NAME=VALUE, for example a=b"
            )
        if name in found:
            raise InputError(
                f"{option} names {name!r} twice", expected="each name once"
            )
        found[name] = value
    return found


def numbers(texts: Iterable[str], option: str) -> dict[str, int]:
    """Read ``name=number`` texts."""
    found: dict[str, int] = {}
    for name, text in pairs(texts, option).items():
        if not text.isdecimal():
            raise InputError(
                f"{option} got {name}={text}", expected="NAME=N with a whole number N"
            )
        found[name] = int(text)
    return found


def reading_options(
    hierarchy: list[str],
    total: str | None,
    missing: str | None,
    value: str | None = None,
    level_percent: float | None = None,
    flat: Iterable[str] = (),
) -> dict[str, Any]:
    """Turn the shared options into arguments of `evosdc.io.read_table`."""
    from evosdc.io import read_hierarchy

    options: dict[str, Any] = {"totals": total}
    loose = [name for text in flat for name in names(text)]
    if loose:
        options["flat"] = loose
    trees = pairs(hierarchy, "--hierarchy")
    if trees:
        options["hierarchies"] = {
            name: read_hierarchy(path, **({"total": total} if total else {}))
            for name, path in trees.items()
        }
    if missing is not None:
        if missing not in ("error", "empty"):
            raise InputError(f"--missing is {missing!r}", expected="error or empty")
        options["missing"] = missing
    if value is not None:
        options["value"] = value
    if level_percent is not None:
        if not 0 < level_percent < float("inf"):
            raise InputError(
                f"--level-percent is {level_percent}", expected="a number above 0"
            )
        options["level_percent"] = level_percent
    return options
