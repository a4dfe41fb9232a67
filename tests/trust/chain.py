"""The whole chain on a random case: tabulate, protect, publish, and then attack."""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
from independent_attack import Finding, attack, read_published
from naive_tables import Cell, Key, tabulate
from random_cases import Case

import evosdc
from builders import options_of
from evosdc.cli import main
from evosdc.errors import EvosdcError
from evosdc.table import Hierarchy

EVALUATIONS = 20
NOT_JUDGED = "combinations of whole numbers were not judged"


@dataclass
class Outcome:
    """What the chain said of a case, and what the attacker found."""

    safe: bool | None = None
    refused: str = ""
    fractions: bool = False
    findings: list[Finding] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    audits: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    published: dict[Key, float | None] = field(default_factory=dict)
    cells: dict[Key, Cell] = field(default_factory=dict)

    @property
    def contradicted(self) -> bool:
        """Whether the chain called safe what the attacker opened."""
        return self.safe is True and bool(self.findings)


def frame_of(case: Case) -> pa.Table:
    """The records as the package gets them."""
    design = case.design
    columns: dict[str, Any] = {
        name: [record.codes[name] for record in case.records] for name in design.names
    }
    for name, level, depth in _upper_levels(case):
        columns[level] = [_above(design, name, code, depth) for code in columns[name]]
    columns["v"] = [float(record.value) for record in case.records]
    columns["w"] = [float(record.weight) for record in case.records]
    columns["h"] = [record.holding for record in case.records]
    columns["r"] = [record.request for record in case.records]
    return pa.table(columns)


def _upper_levels(case: Case) -> list[tuple[str, str, int]]:
    """Columns of the levels above the finest: variable, column, depth."""
    if not case.design.levels:
        return []
    return [
        (name, f"{name}_{depth}", depth)
        for name in case.design.names
        for depth in range(1, case.design.deepest(name))
    ]


def _above(design: Any, name: str, code: str, depth: int) -> str:
    while design.depth(name, code) > depth:
        code = design.trees[name][code]
    return code


def _level_columns(case: Case, name: str) -> list[str]:
    """The columns of a variable, from coarse to fine."""
    return [*(level for of, level, _ in _upper_levels(case) if of == name), name]


def write_records(case: Case, path: Path) -> None:
    """Write the records as a case says: encoding, separator, marks, line ends."""
    text = case.text
    plain = frame_of(case)

    def words(column: str, value: Any) -> str:
        if not isinstance(value, float):
            return str(value)
        number = format(value, ".2f") if column == "v" else repr(value)
        return number.replace(".", text.decimal)

    rows = [plain.column_names]
    rows += [[words(k, v) for k, v in row.items()] for row in plain.to_pylist()]
    lines = "".join(text.separator.join(row) + text.ends for row in rows)
    path.write_bytes(lines.encode(text.encoding))


def run(case: Case) -> Outcome:
    """Send a case through the chain, and attack what comes out."""
    outcome = Outcome(cells=tabulate(case.records, case.design))
    try:
        rows = (
            _by_command(case, outcome) if case.by_command else _by_call(case, outcome)
        )
    except EvosdcError as error:
        outcome.refused = f"{type(error).__name__}: {error}"
        return outcome
    design = case.design
    outcome.published = read_published(rows, design)
    outcome.marks += _differences(outcome)
    known = replace(case.knowledge, fractions=outcome.fractions)
    outcome.findings = attack(outcome.published, outcome.cells, design, known)
    return outcome


def _tabulate_options(case: Case) -> dict[str, Any]:
    design = case.design
    asks = any(rule.startswith("req") for rule in design.rules)
    return {
        "value": "v" if design.magnitudes else None,
        "weight": "w" if design.weighted else None,
        "holding": "h" if design.holdings else None,
        "request": "r" if asks else None,
        "floor": None if design.least is None else float(design.least),
    }


def _trees(case: Case) -> dict[str, dict[str, str]]:
    """Hierarchies that are not flat: the others are read off the records."""
    if case.design.levels:
        return {}
    return {
        name: tree
        for name, tree in case.design.trees.items()
        if any(parent != "Total" for parent in tree.values())
    }


def tabulated(case: Case, spans: list[list[str]]) -> Any:
    """Tabulate some spans of a case by the package."""
    trees: dict[str, Any] = {
        name: Hierarchy.from_parents(tree)
        for name, tree in _trees(case).items()
        if any(name in span for span in spans)
    }
    names = {name for span in spans for name in span}
    trees |= _declared(case)
    return evosdc.tabulate(
        frame_of(case),
        spans,
        rules=list(case.design.rules),
        **options_of(
            "tabulate",
            hierarchies=trees,
            flat=[name for name in case.design.names if name in names - set(trees)],
            consent=sorted(case.design.waiver),
            **_tabulate_options(case),
        ),
    )


def _declared(case: Case) -> dict[str, list[str]]:
    """Hierarchies that are columns of the records."""
    if not case.design.levels:
        return {}
    return {
        name: columns
        for name in case.design.names
        if len(columns := _level_columns(case, name)) > 1
    }


def _tables(case: Case) -> list[list[str]]:
    """The columns that each table is made by."""
    return [case.design.columns(table) for table in range(len(case.design.spans))]


def _by_call(case: Case, outcome: Outcome) -> list[dict[str, Any]]:
    design = case.design
    made = tabulated(case, _tables(case))
    outcome.marks += compare_marks(made.table, case, outcome.cells)
    options = dict(case.options)
    if case.earlier:
        options["already_published"] = _earlier(case, outcome.cells)
    if case.hide:
        options["hide"] = dict(zip(design.names, case.hide, strict=True))
    given = made
    if "linked later" in case.kinds:
        given = [tabulated(case, [list(span)]) for span in design.spans]
    result = evosdc.protect(
        given,
        workers=1,
        **options_of("protect", evaluations=EVALUATIONS, **options),
    )
    outcome.safe = result.safe
    outcome.fractions = NOT_JUDGED in result.claim.knowledge
    outcome.said = [
        f"{result.table.label(e.cell)} {e.insider} [{e.low:g}, {e.high:g}] {e.reason}"
        for e in result.verdict.exposed
    ]
    outcome.said += [f"open: {label}" for label in result.verdict.open]
    outcome.said += [f"note: {note}" for note in result.notes]
    _audit_worse(case, made, result, outcome)
    return list(result.published.to_pylist())


def _audit_worse(case: Case, made: Any, result: Any, outcome: Outcome) -> None:
    """Audit worse patterns, and attack them: what the audit passes must hold.

    What the attack opens and the audit does not see goes to `audits`, and what only the
    audit sees to `alarms`.
    """
    cells = outcome.cells
    rng = random.Random(case.seed)
    options = {
        name: case.options[name]
        for name in (
            "strict",
            "protect_secondaries",
            "who",
            "bounds",
            "published_threshold",
        )
        if name in case.options
    }
    if case.earlier:
        options["already_published"] = _earlier(case, cells)
    knowledge = replace(case.knowledge, wished=frozenset())
    table = made.table
    keys = _keys(table, case)
    hidden = result.table.hidden
    if len(hidden) != len(table):
        return  # linked later, in a ring: without the cells that no table shows
    # What no table shows is hidden in any case, and the attacker here has none of it.
    spare = [
        int(i)
        for i in (hidden & table.shown).nonzero()[0]
        if result.table.status[i] != "u"
    ]
    patterns = [hidden.copy() for _ in range(2)]
    if spare:
        patterns[0][rng.choice(spare)] = False
    for i in range(len(table)):
        patterns[1][i] = table.status[i] == "u" or rng.random() < 0.35
    for pattern in patterns:
        word = evosdc.audit(made, pattern, **options_of("audit", **options))
        shown = {
            key: None if hides else float(value)
            for key, hides, value, there in zip(
                keys, pattern, table.value, table.shown, strict=True
            )
            if there
        }
        known = replace(knowledge, fractions=NOT_JUDGED in word.claim.knowledge)
        found = attack(shown, cells, case.design, known)
        open_to_all = {
            f.cell for f in found if f.who == "everyone" and f.what != "the whole group"
        }
        # Of empty cells beside a group in one category only one has to be possible.
        empty = {key for key in keys if key not in cells}
        listed = [key for key in keys if key in shown]
        said = {keys[e.cell] for e in word.verdict.exposed if not e.insider}
        exposed = [
            (keys[e.cell], e.insider, e.low, e.high) for e in word.verdict.exposed
        ]
        words = (
            f"audit {word.safe} {exposed[:3]}, attack {found[:2]}, hidden "
            f"{[k for k in listed if shown[k] is None]}"
        )
        if (found and word.safe is True) or open_to_all - said:
            outcome.audits.append(words)
        elif (not found and word.safe is not True) or said - open_to_all - empty:
            outcome.alarms.append(words)


def _keys(table: Any, case: Case) -> list[Key]:
    """The codes of each cell, in the order of the design."""
    names = [d.name for d in table.dimensions]
    order = [names.index(name) for name in case.design.names]
    found = []
    for row in table.codes.tolist():
        codes = [
            d.hierarchy.codes[c] for d, c in zip(table.dimensions, row, strict=True)
        ]
        found.append(tuple(codes[k] for k in order))
    return found


def _by_command(case: Case, outcome: Outcome) -> list[dict[str, Any]]:
    design = case.design
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_records(case, folder / "records.csv")
        words: list[Any] = ["tabulate", folder / "records.csv"]
        for span in _tables(case):
            words += ["--by", ",".join(span)]
        for variable, columns in _declared(case).items():
            words += ["--hierarchy", f"{variable}={','.join(columns)}"]
        for rule in design.rules:
            words += ["--rule", rule]
        for option, given in _tabulate_options(case).items():
            words += [] if given is None else [f"--{option}", given]
        for variable, tree in _trees(case).items():
            path = folder / f"{variable}.hrc"
            path.write_text("".join(_hrc(tree, "Total", "")))
            words += ["--hierarchy", f"{variable}={path}"]
        for variable in dict.fromkeys(name for span in _tables(case) for name in span):
            declared = variable in _trees(case) or variable in _declared(case)
            words += [] if declared else ["--flat", variable]
        if design.waiver:
            (folder / "waiver.txt").write_text("\n".join(sorted(design.waiver)) + "\n")
            words += ["--consent", folder / "waiver.txt"]
        end = ".csv" if case.seed % 2 else ".parquet"
        code, text = _call(*words, "-o", folder / f"table{end}")
        if code:
            outcome.refused = f"exit {code}: {text.strip()[-200:]}"
            raise EvosdcError(outcome.refused)
        words = ["protect", folder / f"table{end}", "-o", folder / "made"]
        words += ["--evaluations", EVALUATIONS, "--workers", 1]
        for option, given in case.options.items():
            names = {"who": "attackers", "bounds": "prior"}
            flag = f"--{names.get(option, option).replace('_', '-')}"
            words += [flag] if given is True else [flag, given]
        for variable in _trees(case):
            if end == ".csv":
                words += ["--hierarchy", f"{variable}={folder / variable}.hrc"]
        if case.earlier:
            pacsv.write_csv(_earlier(case, outcome.cells), folder / "earlier.csv")
            words += ["--already-published", folder / "earlier.csv"]
        code, text = _call(*words)
        if code not in (0, 3):
            raise EvosdcError(f"exit {code}: {text.strip()[-300:]}")
        outcome.safe = code == 0 or (None if "NOT JUDGED" in text else False)
        claim = json.loads((folder / "made/confidential/claim.json").read_text())
        outcome.fractions = NOT_JUDGED in claim["claim"]["knowledge"]
        outcome.said = [text.strip()[-600:]]
        place = folder / "made" / ("publish" if code == 0 else "draft")
        rows: list[dict[str, Any]] = []
        for path in sorted(place.glob("published*.csv")):
            with path.open(newline="") as file:
                rows += list(csv.DictReader(file))
        return rows


def _hrc(tree: dict[str, str], parent: str, lead: str) -> Iterator[str]:
    for code, above in tree.items():
        if above == parent:
            yield f"{lead}{code}\n"
            yield from _hrc(tree, code, lead + "@")


def _call(*words: Any) -> tuple[int, str]:
    """Call the command line in this process."""
    out = StringIO()
    with _arguments(["evosdc", *map(str, words)]):
        try:
            with redirect_stdout(out), redirect_stderr(out):
                main()
        except SystemExit as ended:
            return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


@contextmanager
def _arguments(words: list[str]) -> Iterator[None]:
    before, sys.argv = sys.argv, words
    try:
        yield
    finally:
        sys.argv = before


def _earlier(case: Case, cells: dict[Key, Cell]) -> pa.Table:
    columns: dict[str, Any] = {
        name: [key[k] for key in case.earlier]
        for k, name in enumerate(case.design.names)
    }
    columns["value"] = [float(cells[key].value) for key in case.earlier]
    return pa.table(columns)


def compare_marks(table: Any, case: Case, cells: dict[Key, Cell]) -> list[str]:
    """Where the naive marks and those of the package are not the same."""
    wrong, seen = [], set()
    for i, key in enumerate(_keys(table, case)):
        if not table.shown[i]:
            continue
        seen.add(key)
        cell = cells.get(key)
        if cell is None:
            if not (case.design.groups and table.value[i] == 0):
                wrong.append(f"{key} is listed and has no record")
            continue
        hit = table.status[i] == "u"
        if hit != cell.sensitive:
            wrong.append(f"{key}: sensitive {hit}, by hand {cell.sensitive}")
        for word, ours, theirs in (
            ("value", cell.value, table.value[i]),
            ("lpl", cell.lpl, table.lpl[i]),
            ("upl", cell.upl, table.upl[i]),
        ):
            if abs(float(ours) - theirs) > 1e-9 * max(1.0, abs(float(cell.size))):
                wrong.append(f"{key}: {word} {theirs!r}, by hand {float(ours)!r}")
    wrong += [f"{key} is not listed" for key in cells if key not in seen]
    return wrong


def _differences(outcome: Outcome) -> list[str]:
    """Where what is published is not what the records say."""
    wrong = []
    for key, value in outcome.published.items():
        true = float(outcome.cells[key].value) if key in outcome.cells else 0.0
        if value is not None and abs(value - true) > 1e-9 * max(1.0, abs(true)):
            wrong.append(f"{key} is published as {value!r} and is {true!r}")
    return wrong
