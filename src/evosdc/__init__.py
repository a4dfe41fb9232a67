"""Statistical disclosure control by evolutionary search.

Two jobs: *protect a table* (cell suppression with a certificate of safety) and
*synthesise microdata* (utility and disclosure risk as competing objectives).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

# Everything is loaded on first use, so that importing the package is instant.
_HOMES = {
    "tabulate": "evosdc.api",
    "protect": "evosdc.api",
    "audit": "evosdc.api",
    "bounds": "evosdc.api",
    "methods": "evosdc.api",
    "synthesise": "evosdc.api",
    "evaluate": "evosdc.api",
    "inspect": "evosdc.api",
    "Attacker": "evosdc.api",
    "Requests": "evosdc.api",
    "Stop": "evosdc.api",
    "Audit": "evosdc.api",
    "LowerBound": "evosdc.api",
    "MethodInfo": "evosdc.api",
    "Synthesis": "evosdc.api",
    "Tabulation": "evosdc.api",
    "Evaluation": "evosdc.metrics",
    "SyntheticClaim": "evosdc.results.synthetic",
    "Certificate": "evosdc.results",
    "Claim": "evosdc.results",
    "Exposure": "evosdc.results",
    "Protection": "evosdc.results",
    "Verdict": "evosdc.results",
    "EvosdcError": "evosdc.errors",
    "Synthesiser": "evosdc.synth",
    "Table": "evosdc.table",
    "Hierarchy": "evosdc.table",
    "Coalition": "evosdc.table",
    "Dimension": "evosdc.table",
}

__all__ = [
    "Attacker",
    "Audit",
    "Certificate",
    "Claim",
    "Coalition",
    "Dimension",
    "Evaluation",
    "EvosdcError",
    "Exposure",
    "Hierarchy",
    "LowerBound",
    "MethodInfo",
    "Protection",
    "Requests",
    "Stop",
    "Synthesis",
    "Synthesiser",
    "SyntheticClaim",
    "Table",
    "Tabulation",
    "Verdict",
    "__version__",
    "audit",
    "bounds",
    "errors",
    "evaluate",
    "inspect",
    "methods",
    "protect",
    "synthesise",
    "tabulate",
]

if TYPE_CHECKING:
    from evosdc import errors
    from evosdc.api.audit import Audit, audit
    from evosdc.api.bounds import LowerBound, bounds
    from evosdc.api.inspecting import inspect
    from evosdc.api.methods import MethodInfo, methods
    from evosdc.api.microdata import Synthesis, evaluate, synthesise
    from evosdc.api.options import Attacker, Requests, Stop
    from evosdc.api.protect import protect
    from evosdc.api.tabulate import Tabulation, tabulate
    from evosdc.errors import EvosdcError
    from evosdc.metrics import Evaluation
    from evosdc.results import Certificate, Claim, Exposure, Protection, Verdict
    from evosdc.results.synthetic import SyntheticClaim
    from evosdc.synth import Synthesiser
    from evosdc.table import Coalition, Dimension, Hierarchy, Table


def __getattr__(name: str) -> Any:
    if name == "errors":
        return import_module("evosdc.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'evosdc' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
