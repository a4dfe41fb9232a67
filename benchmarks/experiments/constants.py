"""Numeric constants of `suppress/`: where they are, and what half and twice do.

Methods choose algorithms and shares of their time by constants at the top of modules.
They are found in the syntax tree. A kernel is compiled with the values of its module,
and defaults and other constants are computed once: what only those read is frozen, and
can be measured by editing the source alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any
from unittest.mock import patch

import numpy as np

import evosdc
from benchmarks.experiments.families import TUNING, chosen, draw
from benchmarks.experiments.family_runs import costs_of, made_by
from benchmarks.experiments.searches import (
    KEY,
    SAFE,
    OnRow,
    Plan,
    Records,
    run,
    warm_up,
)
from benchmarks.experiments.statistics import group
from benchmarks.experiments.store import Row
from benchmarks.experiments.write import (
    markdown_table,
    write_rows,
    write_under_remarks,
)
from evosdc.errors import InputError

FACTORS = (0.5, 1.0, 2.0)
_ROOT = Path(evosdc.__file__).parent
_KERNEL, _IMPORT = "kernel", "import"


@dataclass(frozen=True)
class Constant:
    """A number, or a tuple of them, that a module gives a name.

    Attributes
    ----------
    frozen
        What has read it for good when the package is loaded: ``kernel``, ``import``.
    live
        Whether functions read it each time that they run.
    """

    file: str
    name: str
    value: Any
    comment: str
    frozen: str
    live: bool

    @property
    def status(self) -> str:
        """Whether another value takes effect."""
        if not self.frozen:
            return "live" if self.live else "not used"
        return f"{'partly ' if self.live else ''}frozen ({self.frozen})"

    def times(self, factor: float) -> Any:
        """Return the value so many times; whole numbers stay whole and above 0."""
        if isinstance(self.value, tuple):
            return tuple(_times(one, factor) for one in self.value)
        return _times(self.value, factor)


def _times(value: float, factor: float) -> float:
    if isinstance(value, int) and value > 0:
        return max(1, round(value * factor))
    return type(value)(value * factor)


@cache
def find() -> tuple[Constant, ...]:
    """List the numeric constants of the modules of `suppress/`."""
    found = []
    for path in sorted((_ROOT / "suppress").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            comment = _comment(text.splitlines(), node)
            numbers = [(name, _number(given)) for name, given in _assigned(node)]
            if not _codes([value for _, value in numbers]):
                found += [
                    _constant(path, name, value, comment)
                    for name, value in numbers
                    if value is not None
                ]
    return tuple(found)


def _codes(values: list[Any]) -> bool:
    """Whether names are given numbers in a row, which stand for kinds of things."""
    several = len(values) > 1 and all(type(one) is int for one in values)
    return several and set(np.abs(np.diff(values)).tolist()) == {1}


def _constant(path: Path, name: str, value: Any, comment: str) -> Constant:
    readers = _readers().get(f"{_module(path)}.{name}", [])
    ways = {way for _, _, ways in readers for way in ways}
    frozen = " and ".join(sorted(ways & {_KERNEL, _IMPORT}))
    file = path.relative_to(_ROOT).as_posix()
    return Constant(file, name, value, comment, frozen, "" in ways)


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the capital names that a statement gives a value, with the value."""
    pairs: list[tuple[ast.expr, ast.expr]]
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        pairs = [(node.target, node.value)]
    elif isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    else:
        return
    for target, value in pairs:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs += zip(target.elts, value.elts, strict=True)
        elif isinstance(target, ast.Name) and target.id.isupper():
            yield target.id, value


def _number(node: ast.expr) -> Any:
    """Return a number, or a tuple of numbers, that is written out."""
    numbers = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple)
    between = (ast.operator, ast.unaryop, ast.expr_context)
    if not all(isinstance(part, (*numbers, *between)) for part in ast.walk(node)):
        return None
    value = eval(compile(ast.Expression(node), "", "eval"), {})
    parts = value if isinstance(value, tuple) else (value,)
    return value if parts and all(type(one) in (int, float) for one in parts) else None


def _comment(lines: Sequence[str], node: ast.stmt) -> str:
    """Return the comment above a group of statements and the one beside this one."""
    first = node.lineno - 1
    while first and lines[first - 1].strip() and not lines[first - 1].startswith("#"):
        first -= 1
    at = first
    while at and lines[at - 1].startswith("#"):
        at -= 1
    beside = lines[(node.end_lineno or 1) - 1][node.end_col_offset or 0 :].strip()
    return " ".join(line.lstrip("# ") for line in (*lines[at:first], beside) if line)


def _module(path: Path) -> str:
    return ".".join(path.relative_to(_ROOT.parent).with_suffix("").parts)


@cache
def _readers() -> dict[str, list[tuple[str, str, set[str]]]]:
    """List who reads each name of the package: module, what it says, and how."""
    found: dict[str, list[tuple[str, str, set[str]]]] = {}
    for path in sorted(_ROOT.rglob("*.py")):
        text, module = path.read_text(encoding="utf-8"), _module(path)
        if "suppress" not in f"{module} {text}":
            continue
        tree = ast.parse(text)
        ways: dict[str, set[str]] = {}
        _read(tree, _IMPORT, ways)
        imported = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for name, how in ways.items():
            first, _, rest = name.partition(".")
            # Who reads a name of a module by that of the module has no copy of it.
            place = (imported.get(first, ""), rest) if rest else (module, name)
            origin = imported.get(name, ".".join(place))
            found.setdefault(origin, []).append((*place, how))
    return found


def _read(node: ast.AST, way: str, ways: dict[str, set[str]]) -> None:
    """Note the names read: by a kernel, on import, or when a function runs."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        ways.setdefault(node.id, set()).add(way)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        ways.setdefault(f"{node.value.id}.{node.attr}", set()).add(way)
    inside: list[ast.AST] = []
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        inside = list(node.body) if isinstance(node.body, list) else [node.body]
    inner = "" if way == _IMPORT else way
    if isinstance(node, ast.FunctionDef):
        named = [ast.unparse(one).split("(")[0] for one in node.decorator_list]
        inner = _KERNEL if "kernel" in named else inner
    for child in ast.iter_child_nodes(node):
        _read(child, inner if child in inside else way, ways)


@contextmanager
def replaced(constant: Constant, value: Any) -> Iterator[None]:
    """Give a constant another value, in every module that reads it by name."""
    origin = f"{_module(_ROOT / constant.file)}.{constant.name}"
    with ExitStack() as stack:
        for module, called, _ in _readers()[origin]:
            stack.enter_context(patch.object(import_module(module), called, value))
        yield


def conduct(
    output: Path,
    *,
    measure: str,
    plan: Plan,
    tables: int | None,
    families: tuple[str, ...],
    command: str,
    force: bool,
    on_row: OnRow,
) -> list[Path]:
    """List the constants, and run the tuning half with another value of one of them.

    Parameters
    ----------
    measure
        The name of a constant, or ``FILE:NAME`` where several have it.
    """
    if plan.workers != (1,):
        raise InputError(
            "workers have the constants of the source", expected="--workers 1"
        )
    constants = find()
    listing = output / "constants.list.csv"
    records = Records(
        output, "constants", command, key=("constant", "factor", *KEY), force=force
    )
    write_rows(listing, constants)
    try:
        if measure:
            constant = _named(constants, measure)
            for name in chosen(TUNING, tables, families):
                _measure(records, constant, name, plan, on_row)
    finally:
        _write_page(records, constants)
    return [listing, *records.written()]


def _named(constants: Sequence[Constant], name: str) -> Constant:
    found = [c for c in constants if name in (c.name, f"{c.file}:{c.name}")]
    if len(found) != 1:
        places = ", ".join(f"{c.file}:{c.name}" for c in found)
        raise InputError(
            f"{len(found)} constants are called {name!r}",
            expected=f"one of {places}" if found else "a name of constants.list.csv",
        )
    if not found[0].live:
        raise InputError(
            f"{name} is {found[0].status}: another value has no effect on a run",
            expected="a constant that functions read when they run",
            hint="edit the source to measure it",
        )
    return found[0]


def _measure(
    records: Records, constant: Constant, name: str, plan: Plan, on_row: OnRow
) -> None:
    table = draw(name)
    records.describe(name, table)
    label = f"{constant.file}:{constant.name}"
    for key in plan.keys(name):
        for factor in FACTORS:
            if (label, factor, *key) in records.store:
                continue
            warm_up(key[2], key[1], key[4])
            with replaced(constant, constant.times(factor)):
                row = run(table, key)
            records.store.add({"constant": label, "factor": factor, **row})
            on_row(records.store.rows[-1])


def _write_page(records: Records, constants: Sequence[Constant]) -> None:
    listed = [
        [c.file, f"`{c.name}`", f"{c.value}", c.status, c.comment] for c in constants
    ]
    parts = [
        "# Constants of the searches",
        "Numbers at the top of modules of `suppress/`. *Frozen* are those that kernels "
        "are compiled with, or that others are computed from on import: another value "
        "takes effect in the source only. Measured ones were run on tables of the "
        "tuning half (see the families) at half, once and twice the value, one worker.",
    ]
    if len(records.store):
        parts += [made_by(records.provenance()), "## Measured", _measured(records)]
    head = ("file", "name", "value", "status", "comment")
    parts += ["## All", markdown_table(head, listed)]
    write_under_remarks(records.page, "\n\n".join(parts) + "\n\n")


def _measured(records: Records) -> str:
    setting = ("constant", "attackers", "method", "limit")
    lines = []
    for key, rows in group(records.store.rows, *setting).items():
        by_factor = {f: mine for (f,), mine in group(rows, "factor").items()}
        once = costs_of(by_factor.get(1.0, []))
        for factor, mine in sorted(by_factor.items()):
            if factor != 1.0:
                lines.append([*map(str, key), f"{factor:g}", *_ratios(mine, once)])
    head = (*setting, "times", "tables", "SAFE", "cost ratio, mean", "median", "worst")
    return markdown_table(head, lines)


def _ratios(rows: Sequence[Row], once: dict[str, float]) -> list[str]:
    """Costs beside those of the value in the source, on tables that both protect."""
    costs = costs_of(rows)
    ratio = [costs[t] / once[t] for t in costs if once.get(t) and costs[t] > 0]
    shown = (geometric_mean, median, max)
    safe = sum(row["verdict"] == SAFE for row in rows)
    return [
        str(len(group(rows, "table"))),
        f"{safe} of {len(rows)}",
        *(f"{of(ratio):.4f}" if ratio else "–" for of in shown),
    ]
