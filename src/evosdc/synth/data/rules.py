"""Combinations that cannot be: structural zeros and user rules.

A rule names what is forbidden. It is one of

- an expression: ``"age < 16 and marital != 'single'"``;
- a mapping from columns to values: ``{"sex": ["m"], "pregnant": ["yes"]}``;
- a tuple of columns: combinations of them that the original lacks are structural zeros;
- a pair of columns and a function of one dictionary that says whether it is forbidden.

Rules hold by construction: no candidate ever has a record that breaks one.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from evosdc.arrays import Flags, Int, Long
from evosdc.compile.kernels import kernel
from evosdc.errors import InputError
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes, cell_numbers, strides

_EQUALS = re.compile(r"(?<![=<>!])=(?!=)")
Predicate = Callable[[Mapping[str, Any]], bool]
Rule = str | Mapping[str, Any] | Sequence[Any]
# Forbidden cells of a table, by its variables.
Cells = tuple[tuple[int, ...], Flags]
_MAX_CELLS = 1 << 22
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class RuleIndex(NamedTuple):
    """Forbidden cells of some small tables; plain arrays for kernels."""

    stride: Long
    start: Long
    forbidden: Flags
    touch_start: Long
    touch: Int


def build_rules(
    rules: Sequence[Rule], domain: Domain, codes: Codes, learnt: Sequence[Cells] = ()
) -> RuleIndex:
    """Find the forbidden cells of each rule; those of others are `learnt`."""
    found = [*(_forbidden(rule, domain, codes) for rule in rules), *learnt]
    return index_cells(found, domain.sizes)


def index_cells(found: Sequence[Cells], sizes: Long) -> RuleIndex:
    """Index forbidden cells of some tables, given by their variables."""
    variables = len(sizes)
    stride = np.zeros((len(found), variables), np.int64)
    start = np.zeros(len(found) + 1, np.int64)
    for r, (members, cells) in enumerate(found):
        stride[r], _ = strides(sizes, members)
        start[r + 1] = start[r] + len(cells)
    touch = [
        [r for r, (members, _) in enumerate(found) if j in members]
        for j in range(variables)
    ]
    return RuleIndex(
        stride,
        start[:-1],
        np.concatenate([c for _, c in found]) if found else np.zeros(0, np.bool_),
        np.concatenate([[0], np.cumsum([len(t) for t in touch])]).astype(np.int64),
        np.array([r for t in touch for r in t], np.int32),
    )


def no_rules(variables: int) -> RuleIndex:
    """Return an index that forbids nothing."""
    return index_cells([], np.ones(variables, np.int64))


def broken(rules: RuleIndex, codes: Codes) -> Flags:
    """Say which records break a rule."""
    out = np.zeros(len(codes), bool)
    for r in range(len(rules.start)):
        out |= rules.forbidden[rules.start[r] + cell_numbers(codes, rules.stride[r])]
    return out


@kernel(inner=True)
def breaks(rules, record, j):  # type: ignore[no-untyped-def]
    """Say whether a record breaks a rule that variable `j` has a part in."""
    for w in range(rules.touch_start[j], rules.touch_start[j + 1]):
        r = rules.touch[w]
        number = np.int64(0)
        for v in range(len(record)):
            number += rules.stride[r, v] * np.int64(record[v])
        if rules.forbidden[rules.start[r] + number]:
            return True
    return False


def cut_points(rules: Sequence[Rule]) -> dict[str, list[float]]:
    """Return the numbers that expressions compare columns with.

    Bins are cut there, so that a bin lies on one side of each comparison.
    """
    out: dict[str, list[float]] = {}
    for rule in rules:
        if not isinstance(rule, str):
            continue
        for node in ast.walk(_parsed(rule).body):
            if not isinstance(node, ast.Compare):
                continue
            parts = [node.left, *node.comparators]
            names = [p.id for p in parts if isinstance(p, ast.Name)]
            numbers = [
                float(p.value)
                for p in parts
                if isinstance(p, ast.Constant) and isinstance(p.value, int | float)
            ]
            for name in names:
                out.setdefault(name, []).extend(
                    x for n in numbers for x in (n, np.nextafter(n, np.inf))
                )
    return out


def _forbidden(rule: Rule, domain: Domain, codes: Codes) -> Cells:
    if isinstance(rule, str):
        tree = _parsed(rule)
        names = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)})
        return _marked(names, domain, lambda row: bool(_value(tree.body, row)))
    if isinstance(rule, Mapping):
        values = {name: _listed(v) for name, v in rule.items()}
        listed = values.items()
        return _marked(
            list(values), domain, lambda r: all(r[n] in v for n, v in listed)
        )
    if len(rule) == 2 and callable(rule[1]):
        return _marked(list(rule[0]), domain, rule[1])
    members = tuple(domain.position(str(name)) for name in rule)
    stride, cells = _affordable(domain, members)
    out = np.ones(cells, bool)
    out[cell_numbers(codes, stride)] = False
    return members, out


def _marked(names: list[str], domain: Domain, predicate: Predicate) -> Cells:
    """Try the predicate on every cell; a bin is forbidden if either end is."""
    if not names:
        raise InputError("a rule names no column", hint="name the columns it is about")
    members = tuple(domain.position(name) for name in names)
    stride, cells = _affordable(domain, members)
    out = np.zeros(cells, bool)
    options = [
        [(level, value) for level in range(v.size) for value in v.samples(level)]
        for v in (domain.variables[j] for j in members)
    ]
    for choice in product(*options):
        row = {name: value for name, (_, value) in zip(names, choice, strict=True)}
        number = sum(
            int(stride[j]) * level
            for j, (level, _) in zip(members, choice, strict=True)
        )
        out[number] |= predicate(row)
    return members, out


def _affordable(domain: Domain, members: tuple[int, ...]) -> tuple[Long, int]:
    stride, cells = strides(domain.sizes, members)
    if cells > _MAX_CELLS:
        raise InputError(
            f"a rule covers {cells:,} combinations",
            expected=f"at most {_MAX_CELLS:,}",
            hint="split the rule or use fewer columns or levels",
        )
    return stride, cells


def _listed(value: Any) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset):
        return [value]
    return list(value)


def _parsed(rule: str, shown: str | None = None) -> ast.Expression:
    try:
        return ast.parse(rule.strip(), mode="eval")
    except (SyntaxError, ValueError):
        raise InputError(
            f"cannot read the rule {rule if shown is None else shown!r}",
            expected="an expression such as \"age < 16 and marital != 'single'\"",
            hint="compare columns by name; quote text and leave numbers bare",
        ) from None


def _value(node: ast.expr, row: Mapping[str, Any]) -> Any:
    """Evaluate the small language of rules; a missing value meets no comparison."""
    if isinstance(node, ast.Name):
        return row[node.id]
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(item, row) for item in node.elts]
    if isinstance(node, ast.BoolOp):
        results = (bool(_value(item, row)) for item in node.values)
        return all(results) if isinstance(node.op, ast.And) else any(results)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _value(node.operand, row)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, row)
    if isinstance(node, ast.Compare):
        return _compared(node, row)
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        return _computed(node, row)
    raise InputError(
        f"a rule says {ast.unparse(node)!r}",
        expected="comparisons, arithmetic, and, or, not and in",
        hint="in Python a pair of columns and a function may say anything more",
    )


def _computed(node: ast.BinOp, row: Mapping[str, Any]) -> Any:
    """Return a sum, a product and the like; nothing where a part is no number."""
    left, right = _value(node.left, row), _value(node.right, row)
    if isinstance(left, str | None) or isinstance(right, str | None):
        return None
    try:
        return _ARITHMETIC[type(node.op)](left, right)
    except ZeroDivisionError:
        return None


def _compared(node: ast.Compare, row: Mapping[str, Any]) -> bool:
    left = _value(node.left, row)
    for sign, item in zip(node.ops, node.comparators, strict=True):
        right = _value(item, row)
        if left is None or right is None:
            return False
        try:
            if not _COMPARE[type(sign)](left, right):
                return False
        except (TypeError, KeyError):
            raise InputError(
                "a rule compares values of different types",
                hint="quote text and leave numbers bare",
            ) from None
        left = right
    return True


def must_hold(text: str) -> str:
    """Turn what must hold, as the command line takes it, into what is forbidden.

    A single ``=`` is read as ``==``. It is read before it is turned round: brackets
    that do not match would change what "not" is about, and messages show it as given.
    """
    plain = _EQUALS.sub("==", text)
    _parsed(plain, shown=text)
    return f"not ({plain})"
