"""Formulas that users write for derived columns: arithmetic on columns of numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evosdc.arrays import Real
from evosdc.errors import InputError

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
    ast.Pow: np.power,
}
_CALLS: dict[str, Callable[..., Any]] = {
    "round": lambda x, digits=0: np.round(x, int(digits)),
    "floor": np.floor,
    "ceil": np.ceil,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "sqrt": np.sqrt,
    "log": np.log,
    "exp": np.exp,
}
_EXAMPLE = "bmi = round(weight / (height / 100) ** 2, 1)"


def parse_formula(text: str) -> tuple[str, ast.expr]:
    """Read ``name = expression``; return the name and the expression."""
    name, sign, formula = text.partition("=")
    name = name.strip()
    if not sign or not name or formula.startswith("="):
        raise InputError(
            f"cannot read the derived column {text!r}", expected=f"such as {_EXAMPLE!r}"
        )
    try:
        tree = ast.parse(formula.strip(), mode="eval").body
    except SyntaxError:
        raise InputError(
            f"cannot read the formula of {name!r}", expected=f"such as {_EXAMPLE!r}"
        ) from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            known = isinstance(node.func, ast.Name) and node.func.id in _CALLS
            if not known or node.keywords:
                raise InputError(
                    f"the formula of {name!r} calls something else than "
                    + ", ".join(_CALLS)
                )
    return name, tree


def columns_of(tree: ast.expr) -> list[str]:
    """Return the columns that a formula names, in order."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and id(node) not in called
    ]
    return list(dict.fromkeys(names))


def evaluate(tree: ast.expr, columns: Mapping[str, Real]) -> Real:
    """Return the value of a formula for each record."""
    with np.errstate(all="ignore"):
        out = np.asarray(_value(tree, columns), float)
    size = len(next(iter(columns.values()))) if columns else 0
    out = np.broadcast_to(out, (size,)).copy()
    out[~np.isfinite(out)] = np.nan
    return out


def _value(node: ast.expr, columns: Mapping[str, Real]) -> Any:
    if isinstance(node, ast.Name):
        return columns[node.id]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, columns)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        one, two = _value(node.left, columns), _value(node.right, columns)
        return _BINARY[type(node.op)](one, two)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _CALLS[node.func.id](*(_value(a, columns) for a in node.args))
    raise InputError(
        "a formula uses something other than numbers, columns and arithmetic",
        expected="+, -, *, /, //, %, ** and " + ", ".join(_CALLS),
    )
