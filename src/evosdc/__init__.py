"""Statistical disclosure control by evolutionary search.

Two jobs: *protect a table* (cell suppression with a certificate of safety) and
*synthesise microdata* (utility and disclosure risk as competing objectives).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# The verbs are loaded on first use, so that importing the package is instant.
_VERBS = {
    "tabulate": "evosdc.api",
    "protect": "evosdc.api",
    "audit": "evosdc.api",
    "synthesise": "evosdc.api",
    "evaluate": "evosdc.api",
    "Synthesiser": "evosdc.synth",
    "Table": "evosdc.table",
    "Hierarchy": "evosdc.table",
    "Dimension": "evosdc.table",
}

__all__ = [
    "Dimension",
    "Hierarchy",
    "Synthesiser",
    "Table",
    "__version__",
    "audit",
    "evaluate",
    "protect",
    "synthesise",
    "tabulate",
]

if TYPE_CHECKING:
    from evosdc.api.audit import audit
    from evosdc.api.microdata import evaluate, synthesise
    from evosdc.api.protect import protect
    from evosdc.api.tabulate import tabulate
    from evosdc.synth import Synthesiser
    from evosdc.table import Dimension, Hierarchy, Table


def __getattr__(name: str) -> Any:
    if name not in _VERBS:
        raise AttributeError(f"module 'evosdc' has no attribute {name!r}")
    return getattr(import_module(_VERBS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
