"""Descriptions of tau-Argus data: ``.rda`` files for microdata and for tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from evosdc.errors import InputError, refuse_unknown
from evosdc.io.argus.hrc import hierarchy_from_levels, read_hrc
from evosdc.io.encoding import line_error, read_text
from evosdc.io.paths import PathLike, file_named
from evosdc.io.suffixes import find_description, unpacked_name
from evosdc.table import TOTAL, Hierarchy

# The role of a variable; in microdata it can be code and response at once.
ROLES = {
    "NUMERIC": "response",
    "SHADOW": "shadow",
    "COST": "cost",
    "COSTVAR": "cost",
    "LOWERPL": "lpl",
    "UPPERPL": "upl",
    "FREQUENCY": "frequency",
    "MAXSCORE": "maxscore",
    "STATUS": "status",
    "WEIGHT": "weight",
    "HOLDING": "holding",
    "REQUEST": "request",
    "RECORDKEY": "recordkey",
}
# Roles of numeric variables.
NUMERIC = frozenset(
    ("response", "shadow", "cost", "lpl", "upl", "frequency", "maxscore", "weight")
)
# Properties with one value, and the attribute of a variable that holds it.
_ONE_VALUE = {
    "TOTCODE": "total",
    "CODELIST": "codelist",
    "HIERCODELIST": "hierarchy_file",
    "HIERLEADSTRING": "lead",
}
_TOKEN = re.compile(r'"([^"]*)"|(<[^>]*>)|([^\s<]+)')


@dataclass(frozen=True)
class DescribedVariable:
    """One variable of an ``.rda`` file.

    Attributes
    ----------
    start, width
        Position in a fixed-format file, from 1, and length; 0 in free format.
    missing
        Codes that mean "unknown", stripped.
    roles
        Besides ``code`` for a spanning variable, the values of `ROLES`.
    levels
        Digits of each level, where the code itself is hierarchical.
    hierarchy_file, lead
        The ``.hrc`` file and its lead string, where the hierarchy is in a file.
    requests
        Values of the request variable that ask for protection.
    """

    name: str
    start: int = 0
    width: int = 0
    missing: tuple[str, ...] = ()
    roles: frozenset[str] = frozenset()
    total: str = TOTAL
    codelist: str | None = None
    levels: tuple[int, ...] = ()
    hierarchy_file: str | None = None
    lead: str = "@"
    decimals: int = 0
    requests: tuple[str, ...] = ()
    distances: tuple[int, ...] = ()
    hierarchical: bool = False

    @property
    def is_code(self) -> bool:
        """Whether the variable can span a table."""
        return "code" in self.roles

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, not codes."""
        return bool(self.roles & NUMERIC) and not self.is_code


@dataclass(frozen=True)
class Description:
    """An ``.rda`` file: the variables in order, the separator, the status letters."""

    variables: tuple[DescribedVariable, ...]
    separator: str | None = None
    statuses: dict[str, str] = field(default_factory=dict)
    folder: Path = Path()

    @property
    def with_decimals(self) -> list[str]:
        """Names of the variables that are said to have decimals."""
        return [v.name for v in self.variables if v.decimals > 0]

    def with_role(self, role: str) -> list[DescribedVariable]:
        """Variables of a role, in order."""
        return [v for v in self.variables if role in v.roles]

    def not_used(self, used: Mapping[str, str | None], total: str | None) -> list[str]:
        """Return notes on what is described and has no effect.

        Parameters
        ----------
        used
            The variable used for each role, if any; other roles are not reported.
        total
            The code of the total of every variable, None if it is that described.
        """
        notes: list[str] = []
        for role, taken in used.items():
            others = [v.name for v in self.with_role(role) if v.name != taken]
            if others:
                notes.append(
                    f"the description names {', '.join(map(repr, others))} as {role}: "
                    "not used"
                )
        for v in self.variables:
            if v.hierarchical and not v.levels and v.hierarchy_file is None:
                notes.append(
                    f"the description calls {v.name!r} hierarchical and names no "
                    "levels: its codes are read without hierarchy"
                )
            if v.distances:
                notes.append(f"the description has distances for {v.name!r}: not used")
            if v.is_code and total is not None and v.total not in (TOTAL, total):
                notes.append(
                    f"the description calls the total of {v.name!r} {v.total!r}: here "
                    f"it is {total!r} (--total)"
                )
        return notes

    def hierarchy(
        self, name: str, codes: Any = (), *, total: str | None = None
    ) -> Hierarchy | None:
        """Return the hierarchy of a variable, None if it is flat.

        `codes` are those in the data, needed if their digits define the hierarchy;
        `total` is the code of its root, if it is not that of the file.
        """
        known = {v.name: v for v in self.variables}
        refuse_unknown([name], known, "there is no variable {}")
        variable = known[name]
        root = variable.total if total is None else total
        if variable.levels:
            return hierarchy_from_levels(codes, variable.levels, total=root)
        if variable.hierarchy_file is None:
            return None
        # It may be a path of Windows or of another machine: look in this folder too.
        named = Path(variable.hierarchy_file.replace("\\", "/"))
        if not named.is_file():
            here = file_named(self.folder, named.name)
            named = self.folder / named.name if here is None else here
        return read_hrc(named, lead=variable.lead, total=root)


def read_rda(path: PathLike, *, of_table: bool = False) -> Description:
    """Read the description of microdata or of a table.

    Microdata of fixed format have ``Name start length [missing ...]``; free format
    begins with ``<SEPARATOR>`` and has ``Name length [missing ...]``. Tables have
    ``Name [missing ...]``.
    """
    reader = _Reader(path, of_table)
    for number, line in enumerate(read_text(path).split("\n"), 1):
        tokens = [(a or b or c, bool(a)) for a, b, c in _TOKEN.findall(line)]
        if tokens:
            reader.line(number, tokens)
    return reader.description()


def description_of(path: PathLike, content: str) -> Path:
    """Return the ``.rda`` of a file, whatever the case of its name, or raise."""
    found = find_description(path)
    if found is None:
        wanted = Path(unpacked_name(path)).with_suffix(".rda")
        raise InputError(
            f"there is no {wanted} in the folder of {Path(path).name}",
            expected=f"the description of the {content}",
            hint="put the .rda file there, under the same name",
        )
    return found


class _Reader:
    def __init__(self, path: PathLike, of_table: bool) -> None:
        self.path = Path(path)
        self.number = 0
        self.of_table = of_table
        self.separator: str | None = ";" if of_table else None
        self.statuses: dict[str, str] = {}
        self.variables: list[DescribedVariable] = []

    def description(self) -> Description:
        if not self.variables:
            raise InputError(
                f"{self.path} names no variables",
                expected="one line per variable, followed by its properties",
                hint="check that this is an .rda file",
            )
        return Description(
            tuple(self.variables), self.separator, self.statuses, self.path.parent
        )

    def line(self, number: int, tokens: list[tuple[str, bool]]) -> None:
        self.number = number
        first, quoted = tokens[0]
        if not first.startswith("<") or quoted:
            self._variable([w for w, _ in tokens])
            return
        tags = [
            w[1:-1].strip().upper() for w, q in tokens if w.startswith("<") and not q
        ]
        values = [w for w, q in tokens if q or not w.startswith("<")]
        if tags[0] in ("SEPARATOR", "SAFE", "UNSAFE", "PROTECT"):
            self._heading(tags[0], values)
            return
        if not self.variables:
            self._fail(f"<{tags[0]}> before any variable", "a variable first")
        for tag in tags:
            self._property(tag, values)

    def _fail(self, what: str, expected: str, hint: str = "") -> NoReturn:
        raise line_error(self.path, self.number, what, expected=expected, hint=hint)

    def _heading(self, tag: str, values: list[str]) -> None:
        if len(values) != 1:
            self._fail(f"<{tag}> with {len(values)} values", f"one value after <{tag}>")
        if tag == "SEPARATOR":
            self.separator = {"\\t": "\t", "TAB": "\t"}.get(values[0], values[0])
            if len(self.separator) != 1 or self.separator in '\n\x00"':
                self._fail(
                    f"separator {values[0][:30]!r}", 'one character, such as ";"'
                )
        else:
            self.statuses[tag.lower()] = values[0]

    def _variable(self, tokens: list[str]) -> None:
        name, rest = tokens[0], tokens[1:]
        if any(v.name == name for v in self.variables):
            self._fail(f"variable {name!r} stands twice", "each variable once")
        # Where it begins, in fixed format, and how long it is; tables say neither.
        places = 0 if self.of_table else 2 if self.separator is None else 1
        if len(rest) < places or not all(token.isdecimal() for token in rest[:places]):
            fixed = places == 2
            self._fail(
                f"variable {name!r} has no {'start and ' * fixed}length",
                f"Name {'start ' * fixed}length [missing ...]",
                "a free-format file begins with <SEPARATOR>" * fixed,
            )
        start, width = (0, 0, *map(int, rest[:places]))[-2:]
        if places == 2 and (start < 1 or width < 1):
            self._fail(
                f"variable {name!r} starts at {start} and is {width} long",
                "a start of 1 or more and a length of 1 or more",
            )
        missing = _stripped(rest[places:])
        self.variables.append(DescribedVariable(name, start, width, missing))

    def _property(self, tag: str, values: list[str]) -> None:
        variable = self.variables[-1]
        changes: dict[str, Any] = {}
        if tag in ROLES:
            roles = variable.roles
            if tag in ("SHADOW", "COST", "COSTVAR", "LOWERPL", "UPPERPL"):
                roles = roles - {"response"}  # <NUMERIC> <COST> is a cost, no response
            changes["roles"] = roles | {ROLES[tag]}
            if tag == "REQUEST":
                changes["requests"] = _stripped(values)
        elif tag in ("RECODEABLE", "RECODABLE"):
            changes["roles"] = variable.roles | {"code"}
        elif tag in _ONE_VALUE:
            if len(values) != 1:
                self._fail(f"<{tag}> with {len(values)} values", "one value")
            changes[_ONE_VALUE[tag]] = values[0].strip()
        elif tag in ("HIERLEVELS", "DISTANCE", "DECIMALS"):
            if not values or not all(v.isdecimal() for v in values):
                self._fail(f"<{tag}> without whole numbers", f"<{tag}> and numbers")
            numbers = tuple(int(v) for v in values)
            if tag == "DECIMALS":
                changes["decimals"] = numbers[0]
            else:
                changes["levels" if tag == "HIERLEVELS" else "distances"] = numbers
        elif tag == "HIERARCHICAL":
            changes["hierarchical"] = True
        elif tag != "TRUNCABLE":
            self._fail(
                f"unknown property <{tag}>",
                "a property of tau-Argus, such as <RECODEABLE> or <NUMERIC>",
            )
        self.variables[-1] = replace(variable, **changes)


def _stripped(tokens: list[str]) -> tuple[str, ...]:
    return tuple(token.strip() for token in tokens if token.strip())
