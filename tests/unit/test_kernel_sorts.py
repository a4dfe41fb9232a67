"""No kernel sorts by NumPy.

Numba compiles NumPy's sorts for seconds, and they leave equal numbers in an order of
their own: another one compiled than interpreted, so that small jobs would differ.
"""

from __future__ import annotations

import ast
from pathlib import Path

import evosdc

SORTS = {"sort", "argsort", "lexsort", "unique"}


def is_kernel(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        "kernel" in ast.unparse(decorator) for decorator in node.decorator_list
    )


def test_kernels_sort_by_a_kernel() -> None:
    found, kernels = [], 0
    for path in sorted(Path(evosdc.__file__).parent.rglob("*.py")):
        for node in filter(is_kernel, ast.walk(ast.parse(path.read_text("utf-8")))):
            kernels += 1
            found += [
                f"{path.name}:{call.lineno}"
                for call in ast.walk(node)
                if isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in SORTS
            ]
    assert kernels > 100
    assert found == []
